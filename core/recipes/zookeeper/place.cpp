#include "core/recipes/zookeeper/place.h"

#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

Place::Place(Janitor janitor, Reply<zk::Created> creating, Claim claim)
    : m_janitor(std::move(janitor)), m_claim(std::move(claim)), m_creating(std::move(creating))
{
}

Place::Place(Place &&other) noexcept
    : m_janitor(other.m_janitor), m_claim(std::move(other.m_claim)),
      m_creating(std::exchange(other.m_creating, std::nullopt)),
      m_created(std::exchange(other.m_created, std::nullopt)), m_mayBeGone(other.m_mayBeGone)
{
}

Place &Place::operator=(Place &&other) noexcept
{
    if (this == &other)
        return *this;
    leave();
    m_janitor = other.m_janitor;
    m_claim = std::move(other.m_claim);
    m_creating = std::exchange(other.m_creating, std::nullopt);
    m_created = std::exchange(other.m_created, std::nullopt);
    m_mayBeGone = other.m_mayBeGone;
    return *this;
}

void Place::settle(zk::Created created)
{
    m_creating.reset();
    m_created = std::move(created);
}

void Place::forget()
{
    m_creating.reset();
    m_created.reset();
}

void Place::leave()
{
    if (m_creating)
        m_janitor.followUp(*m_creating, m_claim);
    if (m_created)
        m_janitor.remove(*m_created, m_mayBeGone);
    forget();
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
