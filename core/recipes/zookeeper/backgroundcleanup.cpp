// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/backgroundcleanup.h"

#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

namespace {

bool isOver(const Error &error)
{
    return error.code == ErrorCode::SessionExpired || error.code == ErrorCode::AuthFailed;
}

// True when the node is certainly gone.
Task<bool> takeAway(zk::Session *session, OwnNode node, bool looksFirst)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(session, never);
        if (!connected)
            co_return isOver(connected.error());
        const auto by = answerBy(*session, never);
        std::optional<Error> trouble;
        if (looksFirst) {
            const auto stands = co_await stillStands(session, node, by);
            if (stands && !*stands)
                co_return true;
            if (!stands)
                trouble = stands.error();
        }
        if (!trouble) {
            auto removal = session->remove(node.path, zk::anyVersion, by);
            const auto removed = co_await removal;
            if (removed)
                co_return true;
            trouble = removed.error();
            looksFirst = looksFirst || trouble->code == ErrorCode::UnknownOutcome; // it may be another's by now
        }
        if (trouble->code == ErrorCode::NoNode || isOver(*trouble))
            co_return true;
        if (!isConnectionError(*trouble)) {
            qCWarning(logZooKeeper).noquote()
                << "session" << session->id().text() << "cannot take away" << label(node.path.bytes()) << "-"
                << trouble->message << "- it goes with the session";
            co_return false;
        }
        (void)co_await untilReconnected(session, never);
    }
}

// True when what the create made (if anything) is certainly gone.
Task<bool> clearUp(zk::Session *session, Reply<zk::Created> creating, NodeClaim claim)
{
    const auto created = co_await creating;
    std::optional<zk::Created> node;
    if (created) {
        node = *created;
    } else if (created.error().code == ErrorCode::UnknownOutcome) {
        const auto never = Deadline::never();
        const auto found = co_await findOwn(session, claim, never);
        if (!found)
            co_return isOver(found.error());
        node = *found;
    }
    if (!node)
        co_return true;
    const OwnNode ours(*node);
    const bool gone = co_await takeAway(session, ours, claim.nameComesAgain());
    co_return gone;
}

} // namespace

void BackgroundCleanup::remove(OwnNode node, bool looksFirst) const
{
    m_waitGroup.add(m_session->background(), takeAway(m_session, std::move(node), looksFirst));
}

void BackgroundCleanup::followUp(Reply<zk::Created> creating, NodeClaim claim) const
{
    m_waitGroup.add(m_session->background(), clearUp(m_session, std::move(creating), std::move(claim)));
}

} // namespace lockscope::recipes
