#include "core/recipes/redis/lease.h"

#include "core/async/sleep.h"
#include "core/redis/client.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace std::chrono_literals;

Lease::Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
             std::function<void(Loss)> onEnd)
    : m_connection(&connection), m_ours(std::move(ours)), m_ttl(ttl), m_validUntil(validUntil(asked, ttl)),
      m_onEnd(std::move(onEnd)), m_keeping(connection.loop())
{
    m_keeping.launch(keep(asked));
}

bool Lease::isOver() const
{
    return m_isEnded || m_connection->loop().now() >= m_validUntil;
}

Instant Lease::validUntil(Instant asked, std::chrono::milliseconds ttl)
{
    return asked + ttl - ttl / 100 - 2ms;
}

Task<void> Lease::keep(Instant asked)
{
    auto &loop = m_connection->loop();
    auto next = asked + m_ttl / 3;
    for (;;) {
        auto pause = sleepUntil(loop, std::min<Instant>(next, m_validUntil));
        co_await pause;
        if (loop.now() >= m_validUntil) {
            end(Loss::LeaseOver);
            co_return;
        }
        const auto sent = loop.now();
        auto prolonging = m_connection->script(redis::loadScript("compare-and-expire"), {m_ours.key.bytes()},
                                               {m_ours.token.bytes(), QByteArray::number(qint64(m_ttl.count()))},
                                               Deadline::at(m_validUntil));
        const auto prolonged = co_await prolonging;
        if (!prolonged) {
            next = loop.now() + std::max<Duration>(m_ttl / 20, 1ms); // trouble: there is time to try again
        } else if (prolonged->integer == 1) {
            m_validUntil = validUntil(sent, m_ttl);
            next = sent + m_ttl / 3;
        } else {
            end(Loss::TakenAway);
            co_return;
        }
    }
}

void Lease::end(Loss loss)
{
    m_isEnded = true;
    m_onEnd(loss);
}

} // namespace lockscope::recipes
