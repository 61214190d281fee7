// SPDX-License-Identifier: Apache-2.0
// QueueEntry: our node in the queue, as a guard. When it goes out of scope the node is taken away in the
// background, also while the reply to its create is still out. Loop thread only.
#pragma once

#include "core/recipes/lockbase.h"
#include "core/zookeeper/session.h"
#include "core/rules/turn.h"

namespace lockscope::recipes {

// One create of ours, and how to recognise its node even if the reply never came.
struct NodeClaim {
    ZPath path;      // as asked for; a sequential one without its number
    QByteArray data; // our mark, unless the name itself is unique
    bool sequential = true;
    bool isUnique = false; // the name holds a random token: it is nobody else's, now or ever
    // What a missing parent is created as: what the recipe's own client creates.
    zk::CreateMode parentKind = zk::CreateMode::Persistent;

    [[nodiscard]] zk::CreateMode mode() const
    {
        return sequential ? zk::CreateMode::EphemeralSequential : zk::CreateMode::Ephemeral;
    }
    // Whether a node of somebody else may come to have this name: then a removal looks first whose it is. (A number
    // comes once for as long as its directory stands.)
    [[nodiscard]] bool nameComesAgain() const { return !sequential && !isUnique; }
};

// A node of ours, by what never comes again: who waits keeps this of it for as long, and not the rest of its stat.
struct OwnNode {
    OwnNode(zk::Created created)
        : path(std::move(created.path)), czxid(created.stat.czxid), owner(created.stat.ephemeralOwner)
    {
    }
    ZPath path; // with the sequence number the server gave
    qint64 czxid;
    zk::SessionId owner;
};

// Curator's: "_c_<uuid>-" before the name makes it ours among all others; the data is this host's address.
[[nodiscard]] NodeClaim protectedClaim(const ZPath &directory, const QByteArray &name, Random &random);

// Looks for the claim's node after a reply was lost: sync, list, compare name, data and owner. Empty
// if there is none; then there never will be, because the server answers a session in order (also
// over a new connection). Keeps trying over broken connections until the deadline.
[[nodiscard]] Task<Result<std::optional<zk::Created>>> findOwn(zk::Session *session, NodeClaim claim,
                                                               Deadline deadline);

// Whether this very node still stands, by czxid and owner, and not another that got its name. One try. What was done
// to it before it was asked is seen (sync): a follower may still show a node that was replaced already.
[[nodiscard]] Task<Result<bool>> stillStands(zk::Session *session, OwnNode node, Deadline by);

// Creates a directory and what is missing above it. Somebody else creating or reaping the same
// directories at the same time is no error.
[[nodiscard]] Task<Result<void>> makeDirectory(zk::Session *session, ZPath path, zk::CreateMode kind,
                                               Deadline deadline);

// Takes away nodes that nobody wants any more, in the background: retries over broken connections until each is gone
// or the session is over (then the server takes it away). A create whose reply is still out is followed up: whatever
// it made is found and removed. Loop thread only; the session outlives it.
class BackgroundCleanup {
public:
    explicit BackgroundCleanup(zk::Session &session) : m_session(&session), m_waitGroup(session.loop()) {}

    [[nodiscard]] zk::Session *session() const { return m_session; }
    // Removes that node, and no other that may have got its name meanwhile. `looksFirst`: its name may be
    // another's by now, because it comes again, or because a removal was sent before and its outcome is unknown.
    void remove(OwnNode node, bool looksFirst) const;
    void followUp(Reply<zk::Created> creating, NodeClaim claim) const;
    // Completes when there is nothing left to do: true if everything is gone, false if something could
    // not be removed or the deadline passed first.
    [[nodiscard]] Completion<bool> tidy(Deadline deadline) const { return m_waitGroup.finished(deadline); }

private:
    zk::Session *m_session;
    WaitGroup m_waitGroup;
};

class QueueEntry {
public:
    // A create is out: whatever it makes is ours.
    QueueEntry(BackgroundCleanup cleanup, Reply<zk::Created> creating, NodeClaim claim);
    ~QueueEntry() { leave(); }
    QueueEntry(QueueEntry &&other) noexcept = default;
    QueueEntry &operator=(QueueEntry &&other) noexcept;

    // The node stands.
    void settle(OwnNode created);
    // There is nothing (any more) to take away.
    void forget();
    // A removal has been sent: whoever takes the node away has to look first whether it still is ours.
    void doubt() { m_state->mayBeGone = true; }
    // That removal was refused.
    void trust() { m_state->mayBeGone = false; }

    // Whether whoever removes the node has to look first whose it is.
    [[nodiscard]] bool mayBeAnothers() const { return m_state->mayBeAnothers(); }

    [[nodiscard]] bool stands() const { return m_state && m_state->created.has_value(); }
    // Only while it stands.
    [[nodiscard]] const OwnNode &created() const { return *m_state->created; }
    [[nodiscard]] const ZPath &path() const { return m_state->created->path; }
    [[nodiscard]] NodeName node() const { return m_state->created->path.name(); }

private:
    void leave();

    struct Asked : OnFreeList {
        Asked(Reply<zk::Created> creating_, NodeClaim claim_)
            : creating(std::move(creating_)), claim(std::move(claim_))
        {
        }
        Reply<zk::Created> creating;
        NodeClaim claim;
    };
    // Behind a pointer: it is handed through half a dozen coroutines, each of which has room for two of it.
    struct State : OnFreeList {
        State(BackgroundCleanup cleanup_, bool nameComesAgain_)
            : cleanup(std::move(cleanup_)), nameComesAgain(nameComesAgain_)
        {
        }
        BackgroundCleanup cleanup;
        bool nameComesAgain;          // the claim's
        std::unique_ptr<Asked> asked; // while the reply is out: of very many who wait each would keep its words
        std::optional<OwnNode> created;
        bool mayBeGone = false;
        [[nodiscard]] bool mayBeAnothers() const { return mayBeGone || nameComesAgain; }
    };
    std::unique_ptr<State> m_state; // null when moved from
};

// Makes the claim's node and comes back with it, whatever happens on the way: missing directories are made, a lost
// reply is followed up (found: adopted; not found: created again). All nodes are open to everybody (world:anyone), as
// the clients' own defaults are; ZooKeeper's ACLs are not inherited. `pipelined`, if given, is called right after
// each create was sent, with the deadline of its requests.
[[nodiscard]] Task<Result<QueueEntry>> createEntry(BackgroundCleanup cleanup, NodeClaim claim, Deadline deadline,
                                                   std::function<void(Deadline by)> pipelined = {});

// The waits that every ZooKeeper recipe is made of. Loop thread only; the session outlives them.

// Whether a session in this state is over for good: neither connected nor about to be.
[[nodiscard]] bool isOver(zk::SessionState state);

// Until when one request may take. A request that is out when a lock's deadline passes is given a little longer (a
// third of the session timeout), because knowing what it did is worth more than being punctual; and a request without
// limit is given up after a session timeout, because a server silent for so long has forgotten us.
[[nodiscard]] Deadline answerBy(const zk::Session &session, Deadline deadline);

// Returns at once when connected. SessionExpired or AuthFailed when it never will be again, TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(zk::Session *session, Deadline deadline);

// A short pause between two tries, then untilConnected.
[[nodiscard]] Task<Result<void>> untilReconnected(zk::Session *session, Deadline deadline);

// Until the watch fires. SessionExpired when it never will, TimedOut.
[[nodiscard]] Task<Result<void>> untilFired(zk::Session *session, zk::Watch watch, Deadline deadline);

// Until the node is gone, by a data watch on it; at once if it is gone already. get, not exists: that would leave a
// watch behind on a node that does not exist. NoPermission when we may not read it. The path outlives the wait.
[[nodiscard]] Task<Result<void>> untilGone(zk::Session *session, const ZPath &node, Deadline deadline);

// The same error, and if it is a time-out: which node was waited for.
[[nodiscard]] Error waitedFor(Error error, const ZPath &node);

// The first step of every queue lock: join the queue and list it, in one round trip. Loop thread only.
enum class Listing {
    Plain,
    Watched, // with a watch on the children
};
struct Listed {
    zk::NameList names;
    std::optional<zk::Watch> watch; // Watched, unless the directory is gone
};
[[nodiscard]] inline Listed onlyThat(const NodeName &name)
{
    return {zk::NameList(std::vector<NodeName>{name}), std::nullopt};
}
struct Joined {
    QueueEntry entry;
    Listed queue;

    // Gives the list away: a thousand waiters of one process must not each keep a list of a thousand names.
    [[nodiscard]] Listed takeQueue() { return std::exchange(queue, {}); }
};

// Creates the claim's node and lists the directory; both leave together, and because a server answers a session in
// order, the list knows the node. Server error when the directory's counter is used up: numbers no longer tell then
// who came first. `pipelined`, if given, is called after each pair, as above.
[[nodiscard]] Task<Result<Joined>> joinQueue(BackgroundCleanup cleanup, NodeClaim claim, Listing how,
                                             Deadline deadline, std::function<void(Deadline by)> pipelined = {});

// The directory's children now; none if it is gone. Keeps trying over broken connections. The path outlives the task.
[[nodiscard]] Task<Result<Listed>> listQueue(zk::Session *session, const ZPath &directory, Listing how,
                                             Deadline deadline);

// The contenders among the children: those whose number follows one of these base names; the rest is
// no business of ours. Sorted.
[[nodiscard]] std::vector<Queued> contendersIn(const Listed &queue, const QByteArrayList &bases);
// Enough of them to tell whether it is the turn of `me` and whom it waits for: at least `ahead` of those before it,
// as far as there are so many. Quick on a list that is known to ascend.
[[nodiscard]] std::vector<Queued> contendersBefore(const Listed &queue, const QByteArrayList &bases,
                                                   const NodeName &me, int ahead = 1);

} // namespace lockscope::recipes
