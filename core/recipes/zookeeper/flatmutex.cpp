// SPDX-License-Identifier: Apache-2.0
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
#include "core/recipes/zookeeper/locks.h"

#include "core/base/text.h"
#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

namespace {

constexpr auto separator = "_lock_";

// The lock "stock" is not the lock "in-stock": the whole name counts.
std::vector<Queued> contendersOf(const NodeName &base, const Listed &directory)
{
    auto queue = contendersIn(directory, {base.bytes()});
    std::erase_if(queue, [&base](const Queued &one) { return one.node.prefix() != base.bytes(); });
    return queue;
}

} // namespace

std::optional<Error> FlatMutex::objectionTo(const NodeName &lock)
{
    if (!lock.bytes().contains(separator))
        return std::nullopt;
    const auto why = u"a lock in the flat layout cannot be named \"%1\": \"_lock_\" separates name and number"_s;
    return Error{ErrorCode::BadInput, why.arg(label(lock.bytes()))};
}

Task<Result<QueueEntry>> FlatMutex::enter(Deadline deadline)
{
    const ZPath directory = path().parent();
    const NodeName base(path().name().bytes() + separator);
    NodeClaim claim;
    claim.path = directory.child(base);
    claim.data = hostAddress() + ' ' + uuidToken(random()); // the name does not tell ours from others'
    for (;;) {
        CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Plain, deadline)); // 1
        QueueEntry entry = std::move(joined.entry);
        Turn turn = turnInQueue(contendersOf(base, joined.takeQueue()), entry.node()); // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const ZPath predecessor = directory.child(*turn.predecessor);
            CO_TRY_VOID(co_await untilGone(session(), predecessor, deadline)); // 3
            CO_TRY(const auto &listed, co_await listQueue(session(), directory, Listing::Plain, deadline));
            turn = turnInQueue(contendersOf(base, listed), entry.node());
        }
        if (turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 4
    }
}

bool FlatMutex::minds(const ZPath &node) const
{
    const NodeName base(path().name().bytes() + separator);
    return isIn(path().parent(), node) && !contendersOf(base, onlyThat(node.name())).empty();
}

} // namespace lockscope::recipes
