// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/place.h"

#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

Place::Place(Janitor janitor, Reply<zk::Created> creating, Claim claim)
    : m_state(std::make_unique<State>(State{std::move(janitor), std::move(claim), std::move(creating), {}}))
{
}

Place &Place::operator=(Place &&other) noexcept
{
    if (this == &other)
        return *this;
    leave();
    m_state = std::move(other.m_state);
    return *this;
}

void Place::settle(zk::Created created)
{
    m_state->creating.reset();
    m_state->created = std::move(created);
}

void Place::forget()
{
    if (!m_state)
        return;
    m_state->creating.reset();
    m_state->created.reset();
}

void Place::leave()
{
    // Taken first: what it leaves behind may come back here.
    const auto left = std::move(m_state);
    if (!left)
        return;
    if (left->creating)
        left->janitor.followUp(*left->creating, left->claim);
    if (left->created)
        left->janitor.remove(*left->created, left->mayBeAnothers());
}

Task<Result<Place>> claimPlace(Janitor janitor, Claim claim, Deadline deadline,
                               std::function<void(Deadline by)> inTheSameBreath)
{
    auto *session = janitor.session();
    const ZPath directory = claim.path.parent();
    auto connected = co_await untilConnected(session, deadline);
    while (connected) {
        const auto by = answerBy(*session, deadline);
        auto creating = session->create(claim.path, claim.data, claim.mode(), zk::openAcl(), by);
        if (inTheSameBreath)
            inTheSameBreath(by);
        Place place(janitor, creating, claim);
        const auto created = co_await creating;
        if (created) {
            place.settle(*created);
            co_return std::move(place);
        }
        const auto code = created.error().code;
        if (code == ErrorCode::UnknownOutcome) {
            const auto own = co_await findOwn(session, claim, deadline);
            if (!own)
                co_return own.error();
            if (*own) {
                place.settle(**own);
                co_return std::move(place);
            }
        }
        place.forget();
        if (code == ErrorCode::NoNode) {
            connected = co_await makeDirectory(session, directory, claim.parentKind, deadline);
        } else if (isConnectionTrouble(created.error())) {
            connected = co_await untilReconnected(session, deadline);
        } else {
            co_return created.error();
        }
    }
    co_return connected.error();
}

} // namespace lockscope::recipes
