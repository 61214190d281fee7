// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/waiting.h"

#include "core/async/sleep.h"
#include "core/base/text.h"

#include <algorithm>

namespace lockscope::recipes {

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
