// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/queueentry.h"

#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

QueueEntry::QueueEntry(BackgroundCleanup cleanup, Reply<zk::Created> creating, NodeClaim claim)
{
    const bool comesAgain = claim.nameComesAgain();
    m_state = std::make_unique<State>(std::move(cleanup), comesAgain);
    m_state->asked = std::make_unique<Asked>(std::move(creating), std::move(claim));
}

QueueEntry &QueueEntry::operator=(QueueEntry &&other) noexcept
{
    if (this == &other)
        return *this;
    leave();
    m_state = std::move(other.m_state);
    return *this;
}

void QueueEntry::settle(OwnNode created)
{
    m_state->asked.reset();
    m_state->created = std::move(created);
}

void QueueEntry::forget()
{
    if (!m_state)
        return;
    m_state->asked.reset();
    m_state->created.reset();
}

void QueueEntry::leave()
{
    // Taken first: what it leaves behind may come back here.
    const auto left = std::move(m_state);
    if (!left)
        return;
    if (left->asked)
        left->cleanup.followUp(left->asked->creating, left->asked->claim);
    if (left->created)
        left->cleanup.remove(*left->created, left->mayBeAnothers());
}

Task<Result<QueueEntry>> createEntry(BackgroundCleanup cleanup, NodeClaim claim, Deadline deadline,
                                     std::function<void(Deadline by)> pipelined)
{
    auto *session = cleanup.session();
    const ZPath directory = claim.path.parent();
    auto connected = co_await untilConnected(session, deadline);
    while (connected) {
        const auto by = answerBy(*session, deadline);
        auto creating = session->create(claim.path, claim.data, claim.mode(), zk::openAcl(), by);
        if (pipelined)
            pipelined(by);
        QueueEntry entry(cleanup, creating, claim);
        const auto created = co_await creating;
        if (created) {
            entry.settle(*created);
            co_return std::move(entry);
        }
        const auto code = created.error().code;
        if (code == ErrorCode::UnknownOutcome) {
            const auto own = co_await findOwn(session, claim, deadline);
            if (!own)
                co_return own.error();
            if (*own) {
                entry.settle(**own);
                co_return std::move(entry);
            }
        }
        entry.forget();
        if (code == ErrorCode::NoNode) {
            connected = co_await makeDirectory(session, directory, claim.parentKind, deadline);
        } else if (isConnectionError(created.error())) {
            connected = co_await untilReconnected(session, deadline);
        } else {
            co_return created.error();
        }
    }
    co_return connected.error();
}

} // namespace lockscope::recipes
