// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observercrawl.h"

#include "core/async/sleep.h"
#include "core/inspect/lockterms.h"
#include "core/rules/turn.h"

#include <deque>

namespace lockscope::inspect {

using namespace std::chrono_literals;

namespace {

constexpr qint64 stretch = 64;        // znodes between two rests
constexpr qint64 reportEvery = 2'000; // znodes
constexpr auto retryAfter = 500ms;

struct Listing {
    ZPath path;
    Reply<zk::Children> reply;
};

// A node without a session may be part of a lock only if its name says so.
bool isWorthReading(const ZPath &path)
{
    const auto name = path.name();
    return recipes::readSequence(name) || saysLock(name.bytes()) || saysLock(path.parent().name().bytes());
}

bool isOver(const Error &error)
{
    return error.code == ErrorCode::SessionExpired || error.code == ErrorCode::AuthFailed
           || error.code == ErrorCode::Cancelled;
}

bool isBrokenConnection(const Error &error)
{
    return error.code == ErrorCode::NotConnected || error.code == ErrorCode::UnknownOutcome;
}

class Crawler {
public:
    Crawler(zk::Session &session, CrawlOptions options, std::function<void(const NamesByParent &)> found)
        : m_session(session), m_options(std::move(options)), m_found(std::move(found))
    {
        m_frontier.emplace_back(QByteArrayLiteral("/"));
    }

    Task<CrawlReport> run()
    {
        auto started = m_session.loop().now();
        while (!m_frontier.empty() || !m_out.empty()) {
            while (m_options.isPaused && m_options.isPaused()) {
                auto later = sleepFor(m_session.loop(), retryAfter);
                co_await later;
            }
            send();
            const Listing first = std::move(m_out.front());
            m_out.pop_front();
            auto listed = co_await first.reply;
            if (listed) {
                take(first.path, *listed);
            } else if (isOver(listed.error())) {
                m_report.sessionOver = true;
                break;
            } else if (isBrokenConnection(listed.error())) {
                m_frontier.push_front(first.path);
                auto later = sleepFor(m_session.loop(), retryAfter);
                co_await later;
            } else if (listed.error().code == ErrorCode::NoPermission) {
                refuse(first.path);
            }
            if (m_options.restTimes > 0 && m_report.seen % stretch == 0) {
                const auto worked = m_session.loop().now() - started;
                auto rest = sleepFor(m_session.loop(), worked * m_options.restTimes);
                co_await rest;
                started = m_session.loop().now();
            }
        }
        if (m_options.progressed)
            m_options.progressed(m_report.seen, m_report.seen);
        co_return std::move(m_report);
    }

private:
    void send()
    {
        while (!m_frontier.empty() && m_out.size() < m_options.inFlight) {
            auto path = std::move(m_frontier.front());
            m_frontier.pop_front();
            auto reply = m_session.children(path, {}, Deadline::never());
            m_out.push_back({std::move(path), std::move(reply)});
        }
    }

    void take(const ZPath &path, const zk::Children &listed)
    {
        ++m_report.seen;
        if (!path.isRoot() && (!listed.stat.ephemeralOwner.isNone() || isWorthReading(path)))
            m_report.suspects[path.parent()].push_back(path.name());
        for (const auto &name : listed.names) {
            const auto child = path.child(name);
            if (child.bytes() == "/zookeeper")
                continue;
            if (m_report.seen + static_cast<qint64>(m_frontier.size() + m_out.size()) >= m_options.most) {
                m_report.isCut = true;
                break;
            }
            m_frontier.push_back(child);
        }
        if (m_report.seen % reportEvery == 0) {
            if (m_options.progressed)
                m_options.progressed(m_report.seen,
                                     m_report.seen + static_cast<qint64>(m_frontier.size() + m_out.size()));
            m_found(m_report.suspects);
        }
    }

    void refuse(const ZPath &path)
    {
        ++m_report.seen;
        if (m_report.refused++ == 0)
            m_report.firstRefused = path;
    }

    zk::Session &m_session;
    CrawlOptions m_options;
    std::function<void(const NamesByParent &)> m_found;
    std::deque<ZPath> m_frontier;
    std::deque<Listing> m_out;
    CrawlReport m_report;
};

} // namespace

Task<CrawlReport> crawl(zk::Session &session, CrawlOptions options, std::function<void(const NamesByParent &)> found)
{
    Crawler crawler(session, std::move(options), std::move(found));
    auto report = co_await crawler.run();
    co_return report;
}

} // namespace lockscope::inspect
