// SPDX-License-Identifier: Apache-2.0
// The locks on ZooKeeper that textbooks and tutorials describe, and from a recipe's id to its class.
#include "core/base/text.h"
#include "core/recipes/curator/locks.h"
#include "core/recipes/make.h"
#include "core/recipes/zookeeper/locks.h"

namespace lockscope::recipes {

namespace {

// The simple lock. Source: Hunt et al., "ZooKeeper: Wait-free Coordination" (2010), section 2.4.
//   1. Create the lock's node, ephemeral. Whoever succeeds holds the lock.
//   2. It exists already: watch it until it goes. Go to 1.
//   3. To release, look whether the node still is our own, by czxid and owner (sync and exists, in one
//      pipeline), and delete it; if it is not, there is nothing to release.
//
// Not fair, and one release wakes everybody. Between two holders the node has the same name, and a delete names
// nothing else. The look keeps a holder that was released by force before it began to release from deleting the next
// one's node. Whoever is released by force, and succeeded, between its look and its delete still does: a round trip,
// and what its server lags behind the leader. Who needs no gap gives the lock a session of its own and closes that.

// zk-ephemeral: the simple lock, one plain ephemeral node.
class EphemeralLock : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override
    {
        NodeClaim claim;
        claim.path = path();
        claim.sequential = false;
        claim.data = hostAddress() + ' ' + uuidToken(random()); // all of them have one name: this tells ours
        for (;;) {
            auto claimed = co_await createEntry(cleanup(), claim, deadline); // 1
            if (claimed || claimed.error().code != ErrorCode::NodeExists)
                co_return claimed;
            CO_TRY_VOID(co_await untilGone(session(), path(), deadline)); // 2
        }
    }

    [[nodiscard]] bool minds(const ZPath &node) const override { return node == path(); }
};

// What the queue locks below share; each has the steps that these numbers are of.
class TextbookQueue : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    // Its node to be, in the directory of the queue.
    [[nodiscard]] virtual NodeClaim newClaim() = 0;
    [[nodiscard]] virtual Turn turnOf(const Listed &queue, const NodeName &me) const = 0;
    // Watched: it waits for any change of the queue, not for its predecessor alone.
    [[nodiscard]] virtual Listing listing() const { return Listing::Plain; }

private:
    Task<Result<QueueEntry>> enter(Deadline deadline) override
    {
        const NodeClaim claim = newClaim();
        const ZPath directory = claim.path.parent();
        for (;;) {
            CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, listing(), deadline)); // 1
            QueueEntry entry = std::move(joined.entry);
            std::optional<zk::Watch> news = joined.queue.watch;
            Turn turn = turnOf(joined.takeQueue(), entry.node()); // 2
            while (turn.kind == Turn::Kind::WaitFor) {            // 3
                const ZPath predecessor = directory.child(*turn.predecessor);
                if (news) {
                    const auto changed = co_await untilFired(session(), *std::exchange(news, std::nullopt), deadline);
                    if (!changed)
                        co_return waitedFor(changed.error(), predecessor);
                } else {
                    CO_TRY_VOID(co_await untilGone(session(), predecessor, deadline));
                }
                CO_TRY(auto &listed, co_await listQueue(session(), directory, listing(), deadline));
                news = std::move(listed.watch);
                turn = turnOf(listed, entry.node());
            }
            if (turn.isMine())
                co_return std::move(entry);
            entry.forget(); // 4
        }
    }
};

// The queue lock with the herd effect; for teaching and for comparison with zk-mutex. Source: the
// remark on the herd effect in the ZooKeeper recipes, "Locks".
//   1. Join the queue: create an ephemeral sequential child "herd-", and pipelined with it list the
//      children with a watch on them.
//   2. The lowest number holds the lock.
//   3. Otherwise wait until any child comes or goes, list again with a watch. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. Everybody wakes up, one of them gets in.

const QByteArrayList herdBases{"herd-"};

// zk-herd-mutex: the queue lock as it should not be done, every waiter watches the whole queue.
class HerdMutex final : public TextbookQueue {
public:
    using TextbookQueue::TextbookQueue;

private:
    [[nodiscard]] NodeClaim newClaim() override
    {
        NodeClaim claim;
        claim.path = path().child(NodeName(herdBases.front()));
        claim.data = hostAddress() + ' ' + uuidToken(random()); // the name does not tell ours from others'
        return claim;
    }
    [[nodiscard]] Turn turnOf(const Listed &queue, const NodeName &me) const override
    {
        return turnInQueue(contendersBefore(queue, herdBases, me), me);
    }
    [[nodiscard]] Listing listing() const override { return Listing::Watched; }
    [[nodiscard]] bool minds(const ZPath &node) const override
    {
        return isIn(path(), node) && !contendersIn(onlyThat(node.name()), herdBases).empty();
    }
};

// The queue lock of many a tutorial, several locks in one directory: the lock /locks/stock is the queue of
// the nodes /locks/stock_lock_<seq>. Those tutorials split a node's name at the first "_lock_", hence no
// name of a lock may contain that; and when they wake up they believe that it is their turn. Here:
//   1. Join the queue: create an ephemeral sequential node "<lock>_lock_" in the directory, and list the
//      directory pipelined with it.
//   2. Of the nodes with our lock's name (all locks share one counter, so their numbers have gaps), the
//      lowest number holds it.
//   3. Otherwise watch the one just before ours, and only that one, until it goes; list again. Go to 2:
//      it may have been a waiter that gave up.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. The next one wakes up, and only that one.

constexpr auto separator = "_lock_";

// zk-flat-mutex: several locks in one directory, each a queue of the nodes that carry its name.
class FlatMutex final : public TextbookQueue {
public:
    using TextbookQueue::TextbookQueue;

    // Why a lock cannot have this name, if it cannot.
    [[nodiscard]] static std::optional<Error> objectionTo(const NodeName &lock)
    {
        if (!lock.bytes().contains(separator))
            return std::nullopt;
        const auto why = u"a lock in the flat layout cannot be named \"%1\": \"_lock_\" separates name and number"_s;
        return Error{ErrorCode::BadInput, why.arg(label(lock.bytes()))};
    }

private:
    [[nodiscard]] QByteArray base() const { return path().name().bytes() + separator; }
    // The lock "stock" is not the lock "in-stock": the whole name counts.
    [[nodiscard]] std::vector<Queued> contendersOf(const Listed &directory) const
    {
        auto queue = contendersIn(directory, {base()});
        std::erase_if(queue, [base = base()](const Queued &one) { return one.node.prefix() != base; });
        return queue;
    }
    [[nodiscard]] NodeClaim newClaim() override
    {
        NodeClaim claim;
        claim.path = path().parent().child(NodeName(base()));
        claim.data = hostAddress() + ' ' + uuidToken(random()); // the name does not tell ours from others'
        return claim;
    }
    [[nodiscard]] Turn turnOf(const Listed &queue, const NodeName &me) const override
    {
        return turnInQueue(contendersOf(queue), me);
    }
    [[nodiscard]] bool minds(const ZPath &node) const override
    {
        return isIn(path().parent(), node) && !contendersOf(onlyThat(node.name())).empty();
    }
};

// The shared lock without the herd. Source: "From Paxos to ZooKeeper" (Ni Chao, 2015), shared locks, the
// improvement; the same as the ZooKeeper recipes, "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<host>-R-" to read or "<host>-W-" to write,
//      and list the children pipelined with it.
//   2. A reader is in when no writer has a lower number, a writer when nobody has.
//   3. Otherwise a reader watches the last writer before it, a writer the child just before it, whatever
//      that is; only that one, until it goes; list again. Go to 2: there may be others before it.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. It wakes whoever watches it: the writer behind it, or the readers
//      behind the writer that it was, and those get in together.

// The wire layout of the textbook's shared lock: <host>-R-<seq> for a reader, <host>-W-<seq> for a writer.
constexpr auto reader = "-R-";
constexpr auto writer = "-W-";

// Readers and writers among the children, whatever their host. Sorted.
std::vector<Queued> sharedQueue(const Listed &children)
{
    std::vector<Queued> queue;
    queue.reserve(children.names.size());
    for (const auto &name : children.names) {
        if (const auto read = readSequence(name, reader))
            queue.push_back({*read, Access::Shared});
        else if (const auto write = readSequence(name, writer))
            queue.push_back({*write, Access::Exclusive});
    }
    sortQueue(queue);
    return queue;
}

// zk-shared: the read/write lock, each waiter watches one node.
class SharedLock : public TextbookQueue {
public:
    SharedLock(zk::Session &session, ZPath path, Random random, Access access)
        : TextbookQueue(session, std::move(path), std::move(random)), m_access(access)
    {
    }

private:
    // Its data tells it from the others of this host.
    [[nodiscard]] NodeClaim newClaim() override
    {
        const QByteArray address = hostAddress();
        const QByteArray host = address.isEmpty() ? QByteArray("localhost") : address;
        NodeClaim claim;
        claim.path = path().child(NodeName(host + (m_access == Access::Shared ? reader : writer)));
        claim.data = host + ' ' + uuidToken(random());
        return claim;
    }
    [[nodiscard]] Turn turnOf(const Listed &queue, const NodeName &me) const override
    {
        return turnInReadWriteQueue(sharedQueue(queue), me);
    }
    [[nodiscard]] bool minds(const ZPath &node) const override
    {
        return isIn(path(), node) && !sharedQueue(onlyThat(node.name())).empty();
    }

    Access m_access;
};

// The shared lock with the herd effect; for teaching and for comparison with zk-shared. Source: "From Paxos
// to ZooKeeper" (Ni Chao, 2015), shared locks; the order is that of the ZooKeeper recipes, "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<host>-R-" to read or "<host>-W-" to write,
//      and pipelined with it list the children with a watch on them.
//   2. A reader is in when no writer has a lower number, a writer when nobody has.
//   3. Otherwise wait until any child comes or goes, list again with a watch. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. Everybody wakes up, whoever may get in.

// zk-shared-herd: the read/write lock as the textbook gives it first, every waiter watches the whole queue.
class SharedHerd final : public SharedLock {
public:
    using SharedLock::SharedLock;

private:
    [[nodiscard]] Listing listing() const override { return Listing::Watched; }
};

using MadeOnZooKeeper = std::unique_ptr<Lock> (*)(zk::Session &, const ZPath &, const AcquireOptions &, Random);

template <class Recipe>
std::unique_ptr<Lock> plain(zk::Session &session, const ZPath &lock, const AcquireOptions &, Random random)
{
    return std::make_unique<Recipe>(session, lock, std::move(random));
}

template <class Recipe>
std::unique_ptr<Lock> shared(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return std::make_unique<Recipe>(session, lock, std::move(random),
                                    options.readMode ? Access::Shared : Access::Exclusive);
}

template <class Reader, class Writer>
std::unique_ptr<Lock> either(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return (options.readMode ? plain<Reader> : plain<Writer>)(session, lock, options, std::move(random));
}

template <class Recipe>
std::unique_ptr<Lock> counted(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return std::make_unique<Recipe>(session, lock, options.limit, std::move(random));
}

std::unique_ptr<Lock> pool(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return kazoo::makeSemaphore(session, lock, options.limit, std::move(random), options.isLimitGiven);
}

template <kazoo::Kind exclusive>
std::unique_ptr<Lock> queued(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return kazoo::makeQueueLock(session, lock, std::move(random),
                                options.readMode ? kazoo::Kind::ReadLock : exclusive);
}

// Whoever has one of ShedLock's has written to the node itself, and sees nothing of what is below.
std::optional<Error> objectionTo(const ZPath &lock)
{
    if (!lock.bytes().startsWith('/') || lock.isRoot())
        return Error{ErrorCode::BadInput, u"\"%1\" is not the path of a lock"_s.arg(label(lock.bytes()))};
    if (lock.parent().name().bytes() == "shedlock")
        return Error{
            ErrorCode::Unsupported,
            u"%1 lies in a folder named shedlock, as the locks of ShedLock do, and no recipe here takes those. "
            u"If it is one, a lock taken below it would hold in parallel with a client that ShedLock let in"_s.arg(
                label(lock.bytes()))};
    return std::nullopt;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, BackendKind::ZooKeeper, options))
        return *no;
    if (const auto no = objectionTo(lock))
        return *no;
    if (const auto no = recipeOf(id).shape == Shape::FlatQueue ? FlatMutex::objectionTo(lock.name()) : std::nullopt)
        return *no;
    static const std::map<QByteArray, MadeOnZooKeeper> makers{
        {"zk-ephemeral", plain<EphemeralLock>},
        {"zk-herd-mutex", plain<HerdMutex>},
        {"zk-mutex", plain<QueueMutex>},
        {"zk-eager-mutex", plain<EagerMutex>},
        {"zk-flat-mutex", plain<FlatMutex>},
        {"zk-shared-herd", shared<SharedHerd>},
        {"zk-shared", shared<SharedLock>},
        {"curator-mutex", plain<CuratorMutex>},
        {"curator-semaphore-mutex", counted<CuratorSemaphore>}, // with one permit
        {"curator-rwlock", either<CuratorReadLock, CuratorWriteLock>},
        {"curator-semaphore", counted<CuratorSemaphore>},
        {"kazoo-lock", queued<kazoo::Kind::Lock>},
        {"kazoo-rwlock", queued<kazoo::Kind::WriteLock>},
        {"kazoo-semaphore", pool},
    };
    const auto maker = makers.find(id);
    if (maker == makers.end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(label(id))};
    return maker->second(session, lock, options, std::move(random));
}

} // namespace lockscope::recipes
