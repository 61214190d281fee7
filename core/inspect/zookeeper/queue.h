// SPDX-License-Identifier: Apache-2.0
// The queue locks of a directory: sorted, judged by the recipes' own decision, joined with what the
// servers said about watches.
#pragma once

#include "core/base/text.h"
#include "core/inspect/zookeeper/recognise.h"
#include "core/rules/turn.h"

namespace lockscope::inspect {

// The layouts of queue locks, one row each: how a child's name looks, and what a directory of such children is (the
// rules of docs/layouts.md, "Rules for ZooKeeper"). The rows are in resources/rules/zookeeper-layouts.json.

// The shapes that clients give to node names.

// What a client puts before a name to know its own node again: Curator's "_c_<uuid36>-", go-zookeeper's
// "_c_<hex32>-", kazoo's "<hex32>".
enum class Protection { None, Dashed, Plain, Kazoo };
struct ProtectedName {
    Protection kind = Protection::None;
    qsizetype length = 0;
};
[[nodiscard]] ProtectedName readProtection(QByteArrayView name);
[[nodiscard]] qsizetype lengthOf(Protection protection);

// Without the random ids in it, by which clients know their own nodes.
[[nodiscard]] QByteArray withoutUuids(QByteArray text);

// The number behind `base` when `base` ends exactly `before` bytes into the name.
[[nodiscard]] std::optional<recipes::SequencedName> sequenceAt(const NodeName &name, qsizetype before,
                                                               const QByteArray &base);

struct Layout;

struct LayoutMatch {
    const Layout *layout = nullptr;
    recipes::SequencedName sequence;
    recipes::Access access = recipes::Access::Exclusive;
    QByteArray group = {}; // what in the name tells one lock of the directory from another: see Layout::Extent
};

struct Member {
    const ZnodeView *node = nullptr;
    LayoutMatch match;
};

// How a queue decides who holds it; the decisions themselves are in core/rules/turn.h.
enum class Discipline {
    Mutex,            // the lowest; each waits for the one before
    CuratorReadWrite, // a reader watches the lowest writer
    ReadWrite,        // a reader watches the nearest writer before it
    Herd,             // the lowest; all watch the children
    NoQueue,          // whoever meets a conflict deletes its own node and tries again later
};

struct Description {
    QByteArray recipe;
    std::optional<QString> client = {};
    QString form = {}; // how the names look: "_c_<uuid>-lock-<seq>"
    QString note = {}; // more to say in `why`, or empty
    Confidence confidence = Confidence::Low;
    Discipline discipline = Discipline::Mutex;
    Mode mode = Mode::Exclusive; // of those that do not share
    // Whether the watches expected are sure enough to call another one wrong.
    bool watchesAreCertain = false;
    // Whether somebody may watch the children instead of its predecessor.
    bool mayWatchChildren = false;
    // Semaphores of this layout do not say how many may enter.
    bool maybeSemaphore = false;
    QByteArray recipeOfSemaphore = {}; // where the watches show that it is one; empty: the same
};

// A name that is `base` and a number, behind what its client puts before.
struct NameForm {
    QByteArray base;
    Protection protection = Protection::None;
    recipes::Access access = recipes::Access::Exclusive;
};

struct Layout {
    // What is one lock: the directory, or the children of one group (Flat: always under the group's name; Siblings:
    // under the directory's where there is one group only).
    enum class Extent { Directory, Flat, Siblings };
    // Layouts that have a queue in common wait behind each other in one directory.
    enum Queue : unsigned { OwnQueue = 0, CuratorLikeQueue = 1, KazooQueue = 2, RecipeQueue = 4 };

    QByteArray id = {};
    std::vector<NameForm> names = {};
    bool isEphemeralOnly = false;
    QByteArray below = {}; // the name that the directory's parent must have; empty: any
    // In place of `names`, where they cannot say it.
    std::optional<LayoutMatch> (*matches)(const Layout &layout, const ZnodeView &node) = nullptr;

    Description description;
    // What the members, or the place, say beyond that.
    void (*refine)(Description &description, const std::vector<Member> &members, const ZPath &directory) = nullptr;

    Extent extent = Extent::Directory;
    unsigned queues = OwnQueue;
    // Persistent children are contenders that outlive their session, not messages: the names are the client's own.
    bool isUnmistakable = false;
    bool breaksBesideForeignNodes = false;
    bool seesOnlyItsOwnNames = false; // other clients' only if it was told their pattern
    bool mayShareNumbers = false;     // equal numbers do not mean that the counter has run over
    bool liesAmongFolders = false;    // other children are no strangers
    // Its clients wait for any child whose text behind their base name sorts before their own number.
    bool countsEveryChild = false;

    [[nodiscard]] std::optional<LayoutMatch> matchLayout(const ZnodeView &node, const ZPath &directory) const;
    // By `names` alone.
    [[nodiscard]] std::optional<LayoutMatch> matchName(const NodeName &name) const;
    [[nodiscard]] Description describe(const std::vector<Member> &members, const ZPath &directory) const;
    [[nodiscard]] bool queuesWith(const Layout &other) const { return this == &other || (queues & other.queues); }
};

// All of them, in the order in which they are asked.
[[nodiscard]] const std::vector<Layout> &layouts();
// One of them, by a name that is there.
[[nodiscard]] const Layout &layoutNamed(QByteArrayView name);
// What the first layout that fits says.
[[nodiscard]] std::optional<LayoutMatch> matchLayout(const ZnodeView &node, const ZPath &directory);

// Nodes of well-known systems that look like locks and are none (rule 24 of docs/layouts.md).
[[nodiscard]] bool isNoLockDirectory(const ZPath &directory);
[[nodiscard]] bool isNoLock(const ZPath &directory, const NodeName &name);
// What that node is, is known: it needs no explanation.
[[nodiscard]] bool isKnownEntry(const ZPath &directory, const NodeName &name);

// Whose turn it is where nobody queues (Discipline::NoQueue).
[[nodiscard]] recipes::Turn turnWithoutQueue(const std::vector<recipes::Queued> &queue, const NodeName &me);

// Curator's request to the holder to let go.
[[nodiscard]] bool isRevocation(const ZnodeView &node);

// From a znode to a contender, and the pieces of a snapshot that all ZooKeeper locks share.
[[nodiscard]] ServerTime momentOf(std::chrono::milliseconds sinceEpoch);
// Nothing, where that may not be known.
[[nodiscard]] std::optional<ServerTime> madeAt(const ZnodeView &node);

// Name, session, endpoint, identity and guard of a node; neither role nor ages.
[[nodiscard]] Contender contenderOf(const ZnodeView &node, const ZPath &directory, const ServerView &servers);

// A queue node's hold: since we saw it become the head; else its age is the most it can be. Exact
// without having seen it for the first node that the directory ever had.
void markHolder(Contender &contender, const ZnodeView &node, const RecogniseContext &context);
void markWaiter(Contender &contender, const ZnodeView &node);

// Sets positions in the given order, and the state from who holds and who waits.
void numberAndJudge(LockSnapshot &lock);

// A snapshot with all that comes from the context; state free, nobody in it.
[[nodiscard]] LockSnapshot emptySnapshot(const QByteArray &name, const RecogniseContext &context);

// Children that no rule of the lock's recipe knows.
void addForeignNodes(LockSnapshot &lock, const std::vector<const ZnodeView *> &nodes, bool breaksTheRecipe);
void addPersistentNode(LockSnapshot &lock, const QByteArray &id);

// What else is known of the directory that a queue is in.
struct QueueFolder {
    std::vector<const ZnodeView *> others = {}; // its children that are not of the queue
    qint64 created = 0;                         // how many children it has had; 0: not known
};

// One lock from the members of one layout (and of those that queue together with it).
[[nodiscard]] LockSnapshot queueLock(const QByteArray &name, const Description &description,
                                     std::vector<Member> members, const ZPath &directory,
                                     const RecogniseContext &context, const QueueFolder &folder = {});

// The members of a queue in order, each with its turn.
struct Placed {
    Member member;
    recipes::Turn turn;
};
[[nodiscard]] std::vector<Placed> place(const Description &description, std::vector<Member> members, int permits);

// Nodes whose numbers are their clients' own: they are in no queue.
using OwnNumbered = std::set<const ZnodeView *>;
// All queue locks of a directory; `foreign` receives its children that belong to none of them.
struct QueueLocks {
    std::vector<LockSnapshot> locks;
    OwnNumbered ownNumbered;
    bool claimsDirectory = false; // the directory is one lock: whatever else lies in it is foreign
};
[[nodiscard]] QueueLocks queueLocks(const DirectoryView &directory, const RecogniseContext &context);

// What the first of a queue waits for all the same: then no client of that queue holds the lock.
//
// A client holds when its own order says so, which need not be ours. Two things tell: a server that lists the watch
// its session has on another node, and the order of a client that counts every child of the directory.

// Who watches whom in one queue, as far as the servers' answers prove it.

// A view: lives no longer than the queue and the context it is made of.
class Watching {
public:
    Watching(const std::vector<Placed> &queue, ZPath directory, const RecogniseContext &context);

    // A session that has several nodes in the lock may be waiting with any of them.
    [[nodiscard]] bool isProvable(const ZnodeView &node) const
    {
        const auto owner = node.stat.ephemeralOwner;
        return !owner.isNone() && !m_servers.isOurs(owner) && m_nodesOf.at(owner) == 1;
    }
    // The same, where the servers were asked at least so long after the node was made.
    [[nodiscard]] bool isProvableSince(const ZnodeView &node, std::chrono::milliseconds settled) const;
    // The other nodes of the queue that its session watches, in queue order.
    [[nodiscard]] std::vector<size_t> watchedBy(const ZnodeView &node) const;
    // Whether the node's session watches that child of the directory.
    [[nodiscard]] bool watches(const ZnodeView &node, const NodeName &child) const
    {
        return m_servers.watches(node.stat.ephemeralOwner, m_directory.child(child));
    }
    [[nodiscard]] const ServerView &servers() const { return m_servers; }

private:
    const std::vector<Placed> &m_queue;
    ZPath m_directory;
    ServerView m_servers;
    std::map<zk::SessionId, int> m_nodesOf;
    std::map<zk::SessionId, std::vector<size_t>> m_watchedBy;
};

struct Obstacle {
    NodeName node;
    Evidence evidence = Evidence::Inferred;
    bool isContender = false;
    bool isCertain = true; // no earlier wait of the session can have left the watch
};

// Empty where nothing shows that queue[i], whose turn it is by the recipe, waits.
[[nodiscard]] std::optional<Obstacle> obstacleOf(const std::vector<Placed> &queue, size_t i, const Watching &watching,
                                                 const QueueFolder &folder);

// A contender whose turn it is and what it waits for, by its place in the queue.
using Obstacles = std::map<size_t, Obstacle>;
// What is to be said of them, once it is known who holds.
void addObstacleFindings(LockSnapshot &lock, const std::vector<Placed> &queue, const Obstacles &obstacles);

// Locks that are one node: plain ephemerals, leader nodes of known systems, nodes that say until when
// they are locked.
[[nodiscard]] std::vector<LockSnapshot> plainLocks(const DirectoryView &directory, const OwnNumbered &ownNumbered,
                                                   const RecogniseContext &context);
[[nodiscard]] std::vector<LockSnapshot> leaseLocks(const DirectoryView &directory, const RecogniseContext &context);
// Leader nodes of HDFS, YARN, Kafka and HBase, by name and place alone.
[[nodiscard]] bool isLeaderNode(const ZPath &directory, const NodeName &name);

// Semaphores that are more than one directory: Curator's (locks and leases), kazoo's (pool and guard).
[[nodiscard]] std::optional<LockSnapshot> curatorSemaphore(const DirectoryView &directory,
                                                           const RecogniseContext &context);
[[nodiscard]] std::optional<LockSnapshot> kazooSemaphore(const DirectoryView &directory,
                                                         const RecogniseContext &context);
// "<name>-__lock__", beside the pool.
[[nodiscard]] QByteArray kazooGuardName(const ZPath &pool);

} // namespace lockscope::inspect
