#include "core/async/timerqueue.h"

namespace lockscope {

Timer TimerQueue::add(Instant when, std::function<void()> call)
{
    // The handle finds its entry again by moment and number, so it stays valid after the call ran.
    const Key key{when, m_nextId};
    addKept(when, std::move(call));
    auto drop = [pending = std::weak_ptr<Pending>(m_pending), key](void *) {
        const auto alive = pending.lock();
        if (!alive)
            return;
        const auto at = alive->find(key);
        if (at == alive->end())
            return;
        const auto keepUntilErased = std::move(at->second);
        alive->erase(at);
    };
    return Timer(std::shared_ptr<void>(nullptr, drop));
}

void TimerQueue::addKept(Instant when, std::function<void()> call)
{
    m_pending->emplace(Key{when, m_nextId++}, std::move(call));
}

std::optional<Instant> TimerQueue::next() const
{
    if (m_pending->empty())
        return std::nullopt;
    return m_pending->begin()->first.first;
}

std::function<void()> TimerQueue::takeDue(Instant now)
{
    if (m_pending->empty() || m_pending->begin()->first.first > now)
        return {};
    auto call = std::move(m_pending->begin()->second);
    m_pending->erase(m_pending->begin());
    return call;
}

} // namespace lockscope
