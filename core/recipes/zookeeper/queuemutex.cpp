// SPDX-License-Identifier: Apache-2.0
// The queue lock with a faster hand-off. Names, order and release are zk-mutex's; what differs is how a
// waiter learns that it is its turn. A server tells a session of changes in their order, so:
//   1. Join the queue: create an ephemeral sequential child "_c_<uuid>-lock-", and list the children in
//      the same pipeline.
//   2. The lowest number holds the lock.
//   3. Otherwise watch our own node, the child just before ours, and (unless that one is the lowest) the
//      child before it, until one of them goes. Far behind in a crowd this begins a moment later: who has
//      released and joins again sends all its requests when the next one has to send its own.
//   4. If the child before ours was the lowest when we listed, its going makes us the lowest: the lock is
//      ours, without asking again. Provided that our own node stood then (had it gone earlier, we would
//      have been told earlier) and that the connection never broke since that list.
//   5. Else list again and go to 2. Mostly the child before our predecessor went, and the list tells that
//      our predecessor is now the lowest, while that one still holds the lock: nobody waits for this list.
//   6. If our own node was taken away, go to 1: at the end of the queue.
//   7. To release, delete the node. It wakes the next one, and the one after it.
// One transaction that deletes our predecessor first and our own node second may, between the two events,
// look like a hand-off that is forced away at once: as after any force-release, ask whether it is still ours.
// Saves a round trip per hand-off, for one or two requests more; without network delay it gains nothing.
#include "core/recipes/zookeeper/locks.h"

namespace lockscope::recipes {

namespace {

Error timedOut()
{
    return {ErrorCode::TimedOut, u"timed out waiting for the lock"_s, true};
}

} // namespace

// A watch set: a few nodes: what became of them, in the order in which it happened.
//
// A server tells a session of changes in their order, and this keeps that order up to whoever asks
// here: an event counts from the moment it is handed on through the loop's queue, as the state of the
// session does. The order holds on one unbroken connection only. After a reconnect the server tells of
// what was missed in any order; then the watch set says that it was broken, and nothing that it saw may
// be built upon until its owner has listed again. Loop thread only; the session outlives it.
class WatchSet {
public:
    explicit WatchSet(zk::Session *session) : m_session(session), m_seen(std::make_shared<Seen>())
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

    // To be called right before listing: that list will know of whatever was missed.
    void startAnew() { m_seen->broken = false; }

    // Watches these nodes (only what is not watched yet is asked for, all pipelined and in this
    // order) and returns when one of them is gone, or when the connection broke and is back: then list
    // again. SessionExpired when it never will be back, TimedOut.
    Task<Result<void>> untilChange(std::vector<ZPath> nodes, Deadline deadline)
    {
        while (!m_seen->broken) {
            if (deadline.hasPassed(m_session->loop()))
                co_return timedOut();
            CO_TRY_VOID(co_await watchAll(nodes, deadline));
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

    // Whether its deletion was told of on the unbroken connection while this other node stood. Of two
    // nodes that go, the one that went first is told of first.
    [[nodiscard]] bool sawGo(const ZPath &node, const ZPath &whileThisStood) const
    {
        return !m_seen->broken && is(node, NodeState::Gone) && is(whileThisStood, NodeState::Watched);
    }

private:
    enum class NodeState {
        Watched,
        Changed, // its data did, and the watch is spent
        Gone,    // the watch told of its deletion
        Missing, // it was not there when it was to be watched: nobody knows since when
    };
    struct Seen {
        bool broken = false;
        std::map<ZPath, NodeState> nodes;
        std::optional<Completion<bool>> news;
    };

    void watch(const ZPath &node, const zk::Watch &watch)
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
    Task<Result<void>> watchAll(std::vector<ZPath> nodes, Deadline deadline)
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
    [[nodiscard]] bool is(const ZPath &node, NodeState state) const
    {
        const auto known = m_seen->nodes.find(node);
        return known != m_seen->nodes.end() && known->second == state;
    }
    // Whether all of them are watched, and the connection held.
    [[nodiscard]] bool isQuiet(const std::vector<ZPath> &nodes) const
    {
        return !m_seen->broken
               && std::ranges::all_of(nodes, [this](const ZPath &node) { return is(node, NodeState::Watched); });
    }
    // Data that changed means nothing; but it has to be watched again.
    [[nodiscard]] bool mustWatchAgain(const std::vector<ZPath> &nodes) const
    {
        return std::ranges::any_of(nodes, [this](const ZPath &node) { return is(node, NodeState::Changed); });
    }

    zk::Session *m_session;
    std::shared_ptr<Seen> m_seen;
    Subscription m_states;
};

namespace {

constexpr int countedAhead = 8;

struct Rank {
    Turn turn;         // ours
    Turn predecessors; // of whom we wait for
    int ahead = 0;     // of us, as far as they are counted
};

Rank rankOf(const Listed &children, const NodeName &me)
{
    const auto queue = mutexQueue(children, me, countedAhead);
    Rank rank{turnInQueue(queue, me), {}, static_cast<int>(queue.size()) - 1};
    if (rank.turn.kind == Turn::Kind::WaitFor)
        rank.predecessors = turnInQueue(queue, *rank.turn.predecessor);
    return rank;
}

// For how long the watches can wait of one whose join took so long: half of the time until the first of them is of
// use. That is when the last but two before us goes; each before it takes a round trip at least, and ours has begun
// with the join. Whole milliseconds, as timers have them: beside a near server none. Should all of them vanish at
// once, we hear of it so much later.
Duration leisure(const Rank &rank, Duration joining)
{
    constexpr Duration most = 2ms;
    const auto half = joining * std::max(rank.ahead - 3, 0) / 2;
    return std::min<Duration>(std::chrono::floor<std::chrono::milliseconds>(half), most);
}

} // namespace

Task<Result<QueueEntry>> EagerMutex::enter(Deadline deadline)
{
    for (;;) {
        WatchSet watchSet(session());
        const NodeClaim claim = mutexClaim(path(), random());
        const auto came = session()->loop().now();
        CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Plain, deadline)); // 1
        QueueEntry entry = std::move(joined.entry);
        Rank rank = rankOf(joined.takeQueue(), entry.node()); // 2
        const auto now = session()->loop().now();
        const auto pause = leisure(rank, now - came);
        if (pause > Duration::zero()) {
            co_await sleepUntil(session()->loop(), std::min(now + pause, deadline.when()));
        }
        while (rank.turn.kind == Turn::Kind::WaitFor) {
            const ZPath predecessor = path().child(*rank.turn.predecessor);
            std::vector<ZPath> watched{entry.path(), predecessor};
            if (rank.predecessors.kind == Turn::Kind::WaitFor)
                watched.push_back(path().child(*rank.predecessors.predecessor));
            const auto changed = co_await watchSet.untilChange(watched, deadline); // 3
            if (!changed)
                co_return waitedFor(changed.error(), predecessor);
            if (rank.predecessors.isMine() && watchSet.sawGo(predecessor, entry.path())) // 4
                co_return std::move(entry);
            watchSet.startAnew();
            CO_TRY(const auto &listed, co_await listQueue(session(), path(), Listing::Plain, deadline)); // 5
            rank = rankOf(listed, entry.node());
        }
        if (rank.turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 6
    }
}

bool EagerMutex::minds(const ZPath &node) const
{
    return isInMutexQueue(path(), node);
}

// The queue lock. Source: ZooKeeper recipes, "Locks"; names as Curator's InterProcessMutex.
//   1. Join the queue: create an ephemeral sequential child "_c_<uuid>-lock-", and list the children in
//      the same pipeline.
//   2. The lowest number holds the lock. (Read and write locks decide otherwise: theirs is the same queue.)
//   3. Otherwise watch the child just before ours, and only that one, until it goes; list again.
//      Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue, as Curator does.
//   5. To release, delete the node. The next one wakes up, and only that one.

namespace {

Turn turnInMutex(const Listed &queue, const NodeName &me)
{
    return turnInQueue(mutexQueue(queue, me), me);
}

// Our place in a queue, whose turn it is as we saw it last, and whom we wait for, if it is another's.
struct PlaceInQueue {
    QueueEntry entry;
    Turn::Kind turn = Turn::Kind::Gone;
    ZPath predecessor;

    void see(const Turn &seen, const ZPath &directory)
    {
        turn = seen.kind;
        predecessor = seen.predecessor ? directory.child(*seen.predecessor) : ZPath();
        // Without the room that a string has got while it grew.
        predecessor = ZPath(QByteArray(predecessor.bytes().constData(), predecessor.bytes().size()));
    }
};

// Steps 1 and 2, and the listing of step 3, in frames that are gone while very many wait.
Task<Result<PlaceInQueue>> takePlace(const BackgroundCleanup &cleanup, const QueueSpec &spec, Random *random,
                                     Deadline deadline)
{
    const NodeClaim claim = protectedClaim(*spec.directory, *spec.base, *random);
    CO_TRY(auto &joined, co_await joinQueue(cleanup, claim, Listing::Plain, deadline));
    const Turn turn = spec.turnOf(joined.takeQueue(), joined.entry.node());
    PlaceInQueue place{std::move(joined.entry), turn.kind, {}};
    place.see(turn, *spec.directory);
    co_return std::move(place);
}

Task<Result<void>> lookAgain(zk::Session *session, const QueueSpec &spec, PlaceInQueue *place, Deadline deadline)
{
    CO_TRY(const auto &listed, co_await listQueue(session, *spec.directory, Listing::Plain, deadline));
    place->see(spec.turnOf(listed, place->entry.node()), *spec.directory);
    co_return Result<void>();
}

} // namespace

QueueSpec mutexQueueSpec(const ZPath *directory)
{
    return {directory, &mutexBase, turnInMutex};
}

Task<Result<QueueEntry>> acquireInQueue(const BackgroundCleanup *cleanup, QueueSpec spec, Random *random,
                                        Deadline deadline)
{
    for (;;) {
        CO_TRY(auto &place, co_await takePlace(*cleanup, spec, random, deadline)); // 1, 2
        while (place.turn == Turn::Kind::WaitFor) {
            auto step = co_await untilGone(cleanup->session(), place.predecessor, deadline); // 3
            if (step)
                step = co_await lookAgain(cleanup->session(), spec, &place, deadline);
            if (!step)
                co_return step.error();
        }
        if (place.turn == Turn::Kind::Mine)
            co_return std::move(place.entry);
        place.entry.forget(); // 4
    }
}

Task<Result<QueueEntry>> QueueMutex::enter(Deadline deadline)
{
    // Without a frame of its own: of 100,000 who wait each would keep it.
    return acquireInQueue(&cleanup(), mutexQueueSpec(&path()), &random(), deadline);
}

bool QueueMutex::minds(const ZPath &node) const
{
    return isInMutexQueue(path(), node);
}

NodeClaim mutexClaim(const ZPath &directory, Random &random)
{
    return protectedClaim(directory, mutexBase, random);
}

namespace {

const QByteArrayList bases{"lock-", "__lock__"};

} // namespace

std::vector<Queued> mutexQueue(const Listed &children)
{
    return contendersIn(children, bases);
}

std::vector<Queued> mutexQueue(const Listed &children, const NodeName &me, int ahead)
{
    return contendersBefore(children, bases, me, ahead);
}

bool isInMutexQueue(const ZPath &directory, const ZPath &node)
{
    return isIn(directory, node) && !mutexQueue(onlyThat(node.name())).empty();
}

} // namespace lockscope::recipes
