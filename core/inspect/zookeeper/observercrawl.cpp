// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observercrawl.h"

#include "core/base/text.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/observer.h"
#include "core/rules/turn.h"

#include <deque>

namespace lockscope::inspect {

QByteArray searchRoot(const QByteArray &glob)
{
    const auto isLiteral = [](char c) { return c != '*' && c != '?' && c != '[' && c != '\\'; };
    const auto literal = glob.left(std::ranges::find_if_not(glob, isLiteral) - glob.begin());
    const auto slash = literal.indexOf('/');
    // Before a path there is nothing, or a connection's name.
    if (slash < 0 || (slash > 0 && literal.at(slash - 1) != ':'))
        return {};
    const auto path = literal.mid(slash);
    return path.left(path.lastIndexOf('/'));
}

NamesByParent ephemeralsBelow(const zk::Evidence &evidence, const QByteArray &chroot)
{
    const QByteArray prefix = chroot == "/" ? QByteArray() : chroot;
    NamesByParent names;
    for (const auto &[session, paths] : evidence.ephemerals) {
        for (const auto &full : paths) {
            const auto &bytes = full.bytes();
            // "/apps" is above "/apps/x" and not above "/apps2/x".
            if (!bytes.startsWith(prefix) || bytes.size() <= prefix.size() + 1 || bytes.at(prefix.size()) != '/')
                continue;
            const ZPath path(bytes.mid(prefix.size()));
            names[path.parent()].push_back(path.name());
        }
    }
    return names;
}

Candidates candidates(const NamesByParent &names)
{
    Candidates found;
    for (const auto &[parent, children] : names) {
        const auto directory = candidateDirectory(parent, children);
        if (!directory)
            continue;
        auto &nodes = found[*directory];
        for (const auto &name : children)
            nodes.push_back(parent.child(name));
    }
    for (auto &[directory, nodes] : found)
        std::ranges::sort(nodes);
    return found;
}

namespace {

constexpr qint64 znodesPerStretch = 64; // znodes between two rests
constexpr Duration mostWork = 64ms;     // of a stretch: what took longer was waiting
constexpr Duration leastRest = 200ms;   // where there is any
constexpr std::size_t smallFolder = 100;
constexpr std::size_t mostSampled = 32;            // children of a large folder that show what the others may be
constexpr qint64 reportEvery = 2'000;              // znodes
constexpr qint64 mostBytesOut = 8LL * 1024 * 1024; // that may be on their way at a time
constexpr auto retryAfter = 500ms;

// Some znodes that are opened to see what others like them may be: children of a large folder for all of its
// children, and what is below them for what is below the others.
struct Sample {
    std::vector<NodeName> others;
    std::size_t seen = 0;
    std::size_t open = 0;
    bool arePromising = false;
    std::shared_ptr<Sample> below; // of a large folder's

    [[nodiscard]] bool showsLeaves() const { return seen >= mostSampled && open == 0 && !arePromising; }
};

struct Ahead {
    ZPath path;
    std::shared_ptr<Sample> sample;            // that it belongs to, or none
    std::shared_ptr<const Sample> likeThese{}; // what its children may be, if it is one of the others
};

struct Listing : Ahead {
    Reply<zk::Children> reply;
    std::shared_ptr<const ReadAnswer> read; // in place of a request
};

// As it would be listed.
zk::Children listingOf(const DirectoryView &read)
{
    auto names = mapped<std::vector<NodeName>>(read.children, &ZnodeView::name);
    return {std::move(names), read.stat};
}

std::vector<NodeName> ephemeralsIn(const DirectoryView &read)
{
    std::vector<NodeName> names;
    for (const auto &child : read.children)
        if (!child.stat.ephemeralOwner.isNone())
            names.push_back(child.name);
    std::ranges::sort(names);
    return names;
}

// A node without a session may be part of a lock only if its name says so.
bool isWorthReading(const ZPath &path)
{
    const auto name = path.name();
    return recipes::readSequence(name) || saysLock(name.bytes()) || saysLock(path.parent().name().bytes())
           || isHelixScope(path.parent());
}

// In the order in which they are asked.
enum class Rank { Lock, Small, Sampled, Large, Leaf };
constexpr std::size_t ranks = 5;

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
        ahead(Rank::Lock).push_back({m_options.from, {}, {}});
    }

    Task<CrawlReport> run()
    {
        auto started = m_session.loop().now();
        for (;;) {
            send();
            if (m_out.empty())
                break;
            const Listing first = std::move(m_out.front());
            m_out.pop_front();
            auto listed = co_await first.reply;
            if (listed) {
                take(first, *listed);
            } else if (isOver(listed.error())) {
                m_report.sessionOver = true;
                break;
            } else if (isBrokenConnection(listed.error())) {
                ahead(Rank::Lock).push_front(first);
                --m_asked;
                co_await sleepFor(m_session.loop(), retryAfter);
                continue;
            } else if (listed.error().code == ErrorCode::NoPermission) {
                // Who may not list or read it is still told whose it is; from ZooKeeper 3.9.3 on that it is there.
                auto looking = m_session.exists(first.path, {}, Deadline::never());
                auto stat = co_await looking;
                if (stat || stat.error().code == ErrorCode::NoPermission)
                    takeUnreadable(first, stat);
            } else if (listed.error().code != ErrorCode::NoNode && m_report.failed++ == 0) {
                m_report.failure = listed.error().message;
            }
            settle(first);
            if (m_options.restTimes > 0 && m_report.seen % znodesPerStretch == 0) {
                const auto worked = std::min<Duration>(m_session.loop().now() - started, mostWork);
                const auto pause = std::max<Duration>(worked * m_options.restTimes, leastRest);
                m_report.took += worked + pause;
                co_await sleepFor(m_session.loop(), pause);
                started = m_session.loop().now();
            }
        }
        m_report.isCut = !m_report.sessionOver && waiting() > 0;
        if (m_options.progressed)
            m_options.progressed(m_report.seen, m_report.seen, m_asked);
        co_return std::move(m_report);
    }

private:
    std::deque<Ahead> &ahead(Rank rank) { return m_ahead[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] qint64 waiting() const
    {
        qint64 all = 0;
        for (const auto &queue : m_ahead)
            all += static_cast<qint64>(queue.size());
        return all;
    }

    void send()
    {
        for (auto &queue : m_ahead) {
            while (!queue.empty() && m_out.size() < mostOut() && m_asked < m_options.most
                   && m_bytes < m_options.mostBytes) {
                auto next = std::move(queue.front());
                queue.pop_front();
                auto read = m_options.readAlready ? m_options.readAlready(next.path) : nullptr;
                auto reply = read ? Reply<zk::Children>(m_session.loop()) : ask(next.path);
                if (read)
                    reply.complete(listingOf(read->view));
                m_out.push_back({std::move(next), std::move(reply), std::move(read)});
            }
        }
    }

    // Fewer where one answer is large: all of them have to be kept.
    [[nodiscard]] std::size_t mostOut() const
    {
        const auto fitting = static_cast<std::size_t>(mostBytesOut / std::max<qint64>(m_largest, 1));
        return std::clamp<std::size_t>(fitting, 1, m_options.inFlight);
    }

    void weigh(const ZPath &path, const zk::Children &listed)
    {
        qint64 bytes = 0;
        for (const auto &name : listed.names)
            bytes += name.bytes().size() + path.bytes().size();
        m_bytes += bytes;
        m_largest = std::max(m_largest, bytes);
    }

    Reply<zk::Children> ask(const ZPath &path)
    {
        ++m_asked;
        return m_session.children(path, {}, Deadline::never());
    }

    void take(const Listing &asked, const zk::Children &listed)
    {
        ++m_report.seen;
        const auto &path = asked.path;
        weigh(path, listed);
        const bool isEphemeral = !listed.stat.ephemeralOwner.isNone();
        // One that has children and no number is a folder of locks: none of its siblings need be read for its sake.
        const bool isFolder = listed.stat.numChildren > 0 && !recipes::readSequence(path.name());
        if (!path.isRoot() && (isEphemeral || (!isFolder && isWorthReading(path))))
            suspect(path);
        if (asked.sample) {
            ++asked.sample->seen;
            asked.sample->arePromising |= isEphemeral || listed.stat.numChildren > 0;
        }
        auto names = listed.names.toVector();
        const bool isLarge = names.size() > smallFolder && !isNamedSo(path);
        const bool hasEphemerals = passOverEphemerals(asked, names);
        if (isLarge)
            takeLarge(path, names, hasEphemerals);
        else
            takeSmall(asked, names, hasEphemerals);
        if (m_report.seen % reportEvery == 0) {
            const auto known = m_report.seen + waiting() + static_cast<qint64>(m_out.size());
            if (m_options.progressed)
                m_options.progressed(m_report.seen, known, m_asked);
            m_found(m_report.suspects);
        }
    }

    // There is nothing below them; they are suspects. Whether there are any.
    bool passOverEphemerals(const Listing &asked, std::vector<NodeName> &names)
    {
        auto ephemerals = knownEphemerals(asked.path);
        // From ZooKeeper 3.9.3 on the stat of a child that may not be read is hidden: then only dump names its owner.
        if (asked.read) {
            const auto read = ephemeralsIn(asked.read->view);
            ephemerals.insert(ephemerals.end(), read.begin(), read.end());
            std::ranges::sort(ephemerals);
        }
        if (ephemerals.empty())
            return false;
        const auto passed = std::erase_if(names, [&](const NodeName &name) {
            const bool isEphemeral = std::ranges::binary_search(ephemerals, name);
            if (isEphemeral)
                suspect(asked.path.child(name));
            return isEphemeral;
        });
        return passed > 0;
    }

    [[nodiscard]] std::vector<NodeName> knownEphemerals(const ZPath &folder) const
    {
        if (!m_options.ephemerals)
            return {};
        const auto known = m_options.ephemerals->find(folder);
        return known == m_options.ephemerals->end() ? std::vector<NodeName>() : known->second;
    }

    static bool isServersOwn(const ZPath &path) { return path.bytes() == "/zookeeper"; }
    static bool isNamedSo(const ZPath &path) { return !path.isRoot() && saysLock(path.name().bytes()); }

    // `hasEphemerals`: beside the names, and done with.
    void takeSmall(const Listing &asked, const std::vector<NodeName> &names, bool hasEphemerals)
    {
        const bool areLeaves = !m_options.opensLeaves && asked.likeThese && asked.likeThese->showsLeaves();
        const bool isNamed = isNamedSo(asked.path);
        const auto below = asked.sample ? asked.sample->below : nullptr;
        if (below)
            below->arePromising |= hasEphemerals;
        for (const auto &name : names) {
            if (isNamed || saysLock(name.bytes())) {
                enqueue(Rank::Lock, asked.path.child(name));
            } else if (areLeaves) {
                leaveUnopened(asked.path, name);
            } else {
                if (below)
                    ++below->open;
                enqueue(Rank::Small, asked.path.child(name), below);
            }
        }
    }

    // Some from all over it, for its names may be in any order; only of those that are asked, or nobody would decide.
    void takeLarge(const ZPath &path, const std::vector<NodeName> &names, bool hasEphemerals)
    {
        std::vector<NodeName> unnamed;
        for (const auto &name : names) {
            if (saysLock(name.bytes()))
                enqueue(Rank::Lock, path.child(name));
            else if (!path.isRoot() || !isServersOwn(path.child(name)))
                unnamed.push_back(name);
        }
        const auto sample = std::make_shared<Sample>();
        sample->arePromising = hasEphemerals;
        sample->below = std::make_shared<Sample>();
        const auto step = std::max<std::size_t>(1, unnamed.size() / mostSampled);
        for (std::size_t i = 0; i < unnamed.size(); ++i) {
            if (i % step == 0 && sample->open < mostSampled) {
                ++sample->open;
                enqueue(Rank::Sampled, path.child(unnamed[i]), sample);
            } else {
                sample->others.push_back(unnamed[i]);
            }
        }
    }

    // The last of a sample decides about the others.
    void settle(const Listing &asked)
    {
        if (!asked.sample || --asked.sample->open > 0)
            return;
        const auto folder = asked.path.parent();
        for (const auto &name : asked.sample->others) {
            if (asked.sample->arePromising)
                enqueue(Rank::Large, folder.child(name), nullptr, asked.sample->below);
            else if (m_options.opensLeaves)
                enqueue(Rank::Leaf, folder.child(name));
            else
                leaveUnopened(folder, name);
        }
        asked.sample->others.clear();
    }

    // Neither its name nor its folder's says that it is a lock. Of a hundred thousand no path is made.
    void leaveUnopened(const ZPath &folder, const NodeName &name)
    {
        ++m_report.unopened;
        if (recipes::sequenceOf(name))
            m_report.suspects[folder].push_back(name);
    }

    void enqueue(Rank rank, ZPath child, std::shared_ptr<Sample> sample = {},
                 std::shared_ptr<const Sample> likeThese = {})
    {
        if (!isServersOwn(child))
            ahead(rank).push_back({std::move(child), std::move(sample), std::move(likeThese)});
    }

    void takeUnreadable(const Listing &asked, const Result<zk::Stat> &stat)
    {
        const bool isEphemeral = stat && !stat->ephemeralOwner.isNone();
        if (!asked.path.isRoot() && (isEphemeral || isWorthReading(asked.path)))
            suspect(asked.path);
        ++m_report.seen;
        if (asked.sample) {
            ++asked.sample->seen;
            asked.sample->arePromising = true;
        }
        // An ephemeral has nothing below it; neither has a node without children.
        const bool mayHaveMore = !stat || (!isEphemeral && stat->numChildren > 0);
        if (mayHaveMore)
            m_report.refused.insert(asked.path);
    }

    void suspect(const ZPath &path) { m_report.suspects[path.parent()].push_back(path.name()); }

    zk::Session &m_session;
    CrawlOptions m_options;
    std::function<void(const NamesByParent &)> m_found;
    std::array<std::deque<Ahead>, ranks> m_ahead;
    std::deque<Listing> m_out;
    qint64 m_asked = 0;
    qint64 m_bytes = 0, m_largest = 0; // of listings: of all, and of one
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
