// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/recipes/zookeeper/queueentry.h"

namespace lockscope::recipes {

namespace {

std::optional<zk::Watch> watchFor(zk::Session *session, Listing how)
{
    if (how == Listing::Watched)
        return zk::Watch(session->loop());
    return std::nullopt;
}

// At its end the counter sticks (ZooKeeper 3.6 and later hand out 2147483647 again and again) or goes
// on with negative numbers (before): whoever comes then may be sorted before the holder.
bool isCounterSpent(const NodeName &node)
{
    const auto number = sequenceOf(node);
    return number && (*number < 0 || *number == std::numeric_limits<qint32>::max());
}

Error counterSpent(const ZPath &directory)
{
    const auto why = u"the counter of %1 is used up: its numbers no longer tell "
                     u"who came first; use another "
                     "directory, or remove and re-create this one"_s;
    return {ErrorCode::Server, why.arg(label(directory.bytes()))};
}

// The name read, if its number follows one of these.
std::optional<SequencedName> contender(const NodeName &name, const QByteArrayList &bases)
{
    for (const auto &base : bases) {
        if (auto read = readSequence(name, base))
            return read;
    }
    return std::nullopt;
}

// Where that name with that number is in a list that ascends; the end if it is not. Mostly the numbers follow each
// other, so that its distance from the first one is known.
zk::NameList::const_iterator placeOf(const NodeName &me, qint64 number, const zk::NameList &names)
{
    const auto numberAt = [](const NodeName &name) { return *sequenceOf(name); };
    if (names.empty())
        return names.end();
    const auto distance = number - numberAt(names.front());
    if (distance >= 0 && distance < std::ssize(names) && names.begin()[distance] == me)
        return names.begin() + distance;
    const auto at = std::lower_bound(names.begin(), names.end(), number,
                                     [&](const NodeName &name, qint64 wanted) { return numberAt(name) < wanted; });
    return at != names.end() && *at == me ? at : names.end();
}

} // namespace

Task<Result<Joined>> joinQueue(BackgroundCleanup cleanup, NodeClaim claim, Listing how, Deadline deadline,
                               std::function<void(Deadline by)> pipelined)
{
    auto *session = cleanup.session();
    const ZPath directory = claim.path.parent();
    std::optional<zk::Watch> watch;
    std::optional<Reply<zk::Children>> listing;
    const std::function<void(Deadline)> list = [&](Deadline by) {
        watch = watchFor(session, how);
        listing = session->children(directory, watch, by);
        if (pipelined)
            pipelined(by);
    };
    auto entry = co_await createEntry(cleanup, claim, deadline, list);
    if (!entry && entry.error().code == ErrorCode::NodeExists)
        co_return counterSpent(directory);
    if (!entry)
        co_return entry.error();
    if (isCounterSpent(entry->node()))
        co_return counterSpent(directory);
    auto reply = *listing;
    auto listed = co_await reply;
    if (listed) {
        Joined joined{std::move(*entry), {std::move(listed->names), watch}};
        co_return std::move(joined);
    }
    if (!isConnectionError(listed.error()) && listed.error().code != ErrorCode::NoNode)
        co_return listed.error();
    CO_TRY(auto &again, co_await listQueue(session, directory, how, deadline));
    Joined joined{std::move(*entry), std::move(again)};
    co_return std::move(joined);
}

Task<Result<Listed>> listQueue(zk::Session *session, const ZPath &directory, Listing how, Deadline deadline)
{
    for (;;) {
        auto watch = watchFor(session, how);
        auto listing = session->children(directory, watch, answerBy(*session, deadline));
        auto listed = co_await listing.taken();
        if (listed) {
            Listed queue{std::move(listed->names), std::move(watch)};
            co_return std::move(queue);
        }
        if (listed.error().code == ErrorCode::NoNode)
            co_return Listed();
        if (!isConnectionError(listed.error()))
            co_return listed.error();
        CO_TRY_VOID(co_await untilReconnected(session, deadline));
    }
}

std::vector<Queued> contendersIn(const Listed &queue, const QByteArrayList &bases)
{
    std::vector<Queued> contenders;
    contenders.reserve(queue.names.size());
    for (const auto &name : queue.names) {
        if (auto read = contender(name, bases))
            contenders.push_back({*std::move(read), Access::Exclusive});
    }
    sortQueue(contenders);
    return contenders;
}

std::vector<Queued> contendersBefore(const Listed &queue, const QByteArrayList &bases, const NodeName &me, int ahead)
{
    const auto &names = queue.names;
    auto mine = names.ascends() ? contender(me, bases) : std::nullopt;
    if (!mine || mine->sequence < 0) // what ascends has no signs
        return contendersIn(queue, bases);
    auto at = placeOf(me, mine->sequence, names);
    if (at == names.end())
        return {};
    // Filled from its end on, for the nearest ones count.
    std::vector<Queued> contenders(std::size_t(std::clamp<qint64>(ahead, 0, at - names.begin())) + 1);
    auto first = std::prev(contenders.end());
    first->node = *std::move(mine);
    while (at != names.begin() && first != contenders.begin()) {
        if (auto read = contender(*--at, bases))
            (--first)->node = *std::move(read);
    }
    contenders.erase(contenders.begin(), first);
    return contenders;
}

namespace {

// Long enough not to spin where a connection breaks again and again, short beside any round trip that matters.
constexpr auto pauseBeforeReconnecting = 20ms;

Error timedOut(const QString &what)
{
    return {ErrorCode::TimedOut, u"timed out "_s + what, true};
}

Error sessionOver(zk::SessionState state)
{
    if (state == zk::SessionState::AuthFailed)
        return {ErrorCode::AuthFailed, u"the server refused the credentials; the session is over"_s};
    return {ErrorCode::SessionExpired, u"the ZooKeeper session is over; open a new one"_s};
}

} // namespace

bool isOver(zk::SessionState state)
{
    return state != zk::SessionState::Connecting && state != zk::SessionState::Connected;
}

Deadline answerBy(const zk::Session &session, Deadline deadline)
{
    const auto timeout = std::max<std::chrono::milliseconds>(session.timeout(), 3s);
    const auto now = session.loop().now();
    return Deadline::at(std::clamp<Instant>(deadline.when(), now + timeout / 3, now + timeout));
}

Task<Result<void>> untilConnected(zk::Session *session, Deadline deadline)
{
    for (;;) {
        const auto state = session->state();
        if (state == zk::SessionState::Connected)
            co_return Result<void>();
        if (state != zk::SessionState::Connecting)
            co_return sessionOver(state);
        const Completion<bool> changed(session->loop());
        const auto subscription = session->onState([changed](zk::SessionState) { changed.complete(true); });
        changed.completeAt(deadline, false);
        const bool inTime = co_await changed;
        if (!inTime)
            co_return timedOut(u"waiting for a connection to ZooKeeper"_s);
    }
}

Task<Result<void>> untilReconnected(zk::Session *session, Deadline deadline)
{
    co_await sleepFor(session->loop(), pauseBeforeReconnecting);
    auto connected = co_await untilConnected(session, deadline);
    co_return connected;
}

namespace {

Result<void> afterEvent(const zk::Session &session, const zk::WatchEvent &event)
{
    if (event.kind == zk::EventKind::SessionOver)
        return sessionOver(session.state());
    return {};
}

Task<Result<void>> untilFiredAtAll(zk::Session *session, zk::Watch watch)
{
    co_await watch.event().arrival();
    co_return afterEvent(*session, watch.event().value());
}

Task<Result<void>> untilFiredInTime(zk::Session *session, zk::Watch watch, Deadline deadline)
{
    // The watch's own event is left alone: the session may still complete it when we have gone.
    const Completion<std::optional<zk::WatchEvent>> news(session->loop());
    watch.event().then([news](const zk::WatchEvent &event) { news.complete(event); });
    news.completeAt(deadline, std::nullopt);
    const auto event = co_await news;
    if (!event)
        co_return timedOut(u"waiting for the lock"_s);
    co_return afterEvent(*session, *event);
}

// Sets the watch, if the node stands. A frame that is gone before the wait: very many may wait at the same time.
Task<Result<void>> watchNode(zk::Session *session, const ZPath &node, const zk::Watch &watch, Deadline deadline)
{
    CO_TRY_VOID(co_await session->get(node, watch, answerBy(*session, deadline)));
    co_return Result<void>();
}

} // namespace

Error waitedFor(Error error, const ZPath &node)
{
    if (error.code != ErrorCode::TimedOut)
        return error;
    return {ErrorCode::TimedOut, u"it waits for the znode "_s + label(node.bytes(), 200), true, true};
}

// Without a deadline the wait is for the watch itself, and of very many who wait each has one completion less.
Task<Result<void>> untilFired(zk::Session *session, zk::Watch watch, Deadline deadline)
{
    return deadline.isNever() ? untilFiredAtAll(session, std::move(watch))
                              : untilFiredInTime(session, std::move(watch), deadline);
}

Task<Result<void>> untilGone(zk::Session *session, const ZPath &node, Deadline deadline)
{
    for (;;) {
        if (deadline.hasPassed(session->loop()))
            co_return waitedFor(timedOut({}), node);
        const zk::Watch watch(session->loop());
        auto step = co_await watchNode(session, node, watch, deadline);
        if (step) {
            if (deadline.isNever()) { // as untilFiredAtAll(), whose frame each of very many would keep
                co_await watch.event().arrival();
                step = afterEvent(*session, watch.event().value());
            } else {
                step = co_await untilFiredInTime(session, watch, deadline);
            }
            if (!step)
                co_return waitedFor(step.error(), node);
            if (watch.event().value().kind == zk::EventKind::Deleted)
                co_return step;
            continue; // its data changed: it still stands
        }
        if (step.error().code == ErrorCode::NoNode)
            co_return Result<void>();
        if (!isConnectionError(step.error()))
            co_return step;
        step = co_await untilReconnected(session, deadline);
        if (!step)
            co_return step;
    }
}

} // namespace lockscope::recipes
