// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/watchset.h"

#include "core/recipes/zookeeper/waiting.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

Error timedOut()
{
    return {ErrorCode::TimedOut, u"timed out waiting for the lock"_s, true};
}

} // namespace

WatchSet::WatchSet(zk::Session *session) : m_session(session), m_seen(std::make_shared<Seen>())
{
    m_states = session->onState([seen = std::weak_ptr<Seen>(m_seen)](zk::SessionState state) {
        const auto alive = seen.lock();
        if (!alive || state == zk::SessionState::Connected)
            return;
        alive->broken = true;
        if (alive->news)
            alive->news->complete(true);
    });
}

void WatchSet::watch(const ZPath &node, const zk::Watch &watch)
{
    // From now on, not from the answer on: the event may come before anybody looks at that.
    m_seen->nodes[node] = NodeState::Watched;
    watch.event().then([seen = std::weak_ptr<Seen>(m_seen), node](const zk::WatchEvent &event) {
        const auto alive = seen.lock();
        if (!alive)
            return;
        if (event.kind == zk::EventKind::SessionOver)
            alive->broken = true;
        else if (alive->nodes[node] != NodeState::Gone)
            alive->nodes[node] = event.kind == zk::EventKind::Deleted ? NodeState::Gone : NodeState::Changed;
        if (alive->news)
            alive->news->complete(true);
    });
}

Task<Result<void>> WatchSet::watchAll(std::vector<ZPath> nodes, Deadline deadline)
{
    const auto by = answerBy(*m_session, deadline);
    std::vector<ZPath> asked;
    std::vector<Reply<zk::Node>> replies;
    for (const auto &node : nodes) {
        const auto known = m_seen->nodes.find(node);
        if (known != m_seen->nodes.end() && known->second != NodeState::Changed)
            continue;
        const zk::Watch news(m_session->loop());
        watch(node, news);
        asked.push_back(node);
        replies.push_back(m_session->get(node, news, by));
    }
    std::optional<Error> trouble;
    for (size_t i = 0; i < asked.size(); ++i) {
        auto reading = replies[i];
        const auto read = co_await reading;
        if (read)
            continue;
        const ZPath &node = asked[i];
        if (read.error().code == ErrorCode::NoNode) {
            m_seen->nodes[node] = NodeState::Missing;
            continue;
        }
        m_seen->nodes.erase(node);
        m_seen->broken = true; // whatever was heard without this watch proves nothing
        if (!isConnectionError(read.error()))
            trouble = read.error();
    }
    if (trouble)
        co_return *trouble;
    co_return Result<void>();
}

bool WatchSet::is(const ZPath &node, NodeState state) const
{
    const auto known = m_seen->nodes.find(node);
    return known != m_seen->nodes.end() && known->second == state;
}

bool WatchSet::isQuiet(const std::vector<ZPath> &nodes) const
{
    return !m_seen->broken
           && std::ranges::all_of(nodes, [this](const ZPath &node) { return is(node, NodeState::Watched); });
}

// Data that changed means nothing; but it has to be watched again.
bool WatchSet::mustWatchAgain(const std::vector<ZPath> &nodes) const
{
    return std::ranges::any_of(nodes, [this](const ZPath &node) { return is(node, NodeState::Changed); });
}

Task<Result<void>> WatchSet::untilChange(std::vector<ZPath> nodes, Deadline deadline)
{
    while (!m_seen->broken) {
        if (deadline.hasPassed(m_session->loop()))
            co_return timedOut();
        const auto watched = co_await watchAll(nodes, deadline);
        if (!watched)
            co_return watched.error();
        if (isQuiet(nodes)) {
            const Completion<bool> news(m_session->loop());
            m_seen->news = news;
            news.completeAt(deadline, false);
            const bool inTime = co_await news;
            if (!inTime)
                co_return timedOut();
        }
        if (!m_seen->broken && !mustWatchAgain(nodes))
            co_return Result<void>();
    }
    const auto connected = co_await untilConnected(m_session, deadline);
    co_return connected;
}

bool WatchSet::sawGo(const ZPath &node, const ZPath &whileThisStood) const
{
    return !m_seen->broken && is(node, NodeState::Gone) && is(whileThisStood, NodeState::Watched);
}

} // namespace lockscope::recipes
