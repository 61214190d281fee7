#include "core/async/timerqueue.h"

namespace lockscope {

Timer TimerQueue::add(Instant when, std::function<void()> call)
{
    const auto id = m_nextId++;
    m_pending->emplace(when, std::make_pair(id, std::move(call)));
    // The handle finds its entry again by moment and number, so it stays valid after the call ran.
    auto drop = [pending = std::weak_ptr<Pending>(m_pending), when, id](void *) {
        auto alive = pending.lock();
        if (!alive)
            return;
        auto [from, to] = alive->equal_range(when);
        for (auto at = from; at != to; ++at) {
            if (at->second.first == id) {
                const auto keepUntilErased = std::move(at->second.second);
                alive->erase(at);
                return;
            }
        }
    };
    return Timer(std::shared_ptr<void>(nullptr, drop));
}

std::optional<Instant> TimerQueue::next() const
{
    if (m_pending->empty())
        return std::nullopt;
    return m_pending->begin()->first;
}

std::function<void()> TimerQueue::takeDue(Instant now)
{
    if (m_pending->empty() || m_pending->begin()->first > now)
        return {};
    auto call = std::move(m_pending->begin()->second.second);
    m_pending->erase(m_pending->begin());
    return call;
}

} // namespace lockscope
