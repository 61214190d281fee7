// SPDX-License-Identifier: Apache-2.0
#include "core/world/mariadb/namedlocks.h"

namespace lockscope::world {

NamedLocks::Outcome NamedLocks::lock(ConnectionNumber connection, const QByteArray &name, bool mayWait)
{
    auto &lock = m_locks[name];
    if (lock.count == 0)
        lock.holder = connection;
    if (lock.holder == connection) {
        ++lock.count;
        return Outcome::Granted;
    }
    if (!mayWait)
        return Outcome::Conflicts;
    lock.waiting.push_back(connection);
    m_waiting[connection] = name;
    return Outcome::Waits;
}

std::optional<ConnectionNumber> NamedLocks::chooseVictim(ConnectionNumber connection)
{
    auto victim = connection;
    for (auto next = connection;;) {
        const auto at = m_waiting.find(next);
        if (at == m_waiting.end())
            return std::nullopt;
        next = m_locks.at(at->second).holder;
        if (next == connection)
            break;
        if (m_timesVictim[next] < m_timesVictim[victim])
            victim = next;
    }
    ++m_timesVictim[victim];
    return victim;
}

void NamedLocks::stopWaiting(ConnectionNumber connection)
{
    const auto at = m_waiting.find(connection);
    if (at == m_waiting.end())
        return;
    std::erase(m_locks.at(at->second).waiting, connection);
    m_waiting.erase(at);
}

NamedLocks::Locks::iterator NamedLocks::passOn(Locks::iterator lock, std::vector<ConnectionNumber> &granted)
{
    auto &held = lock->second;
    if (held.waiting.empty())
        return m_locks.erase(lock);
    held.holder = held.waiting.front();
    held.count = 1;
    held.waiting.pop_front();
    m_waiting.erase(held.holder);
    granted.push_back(held.holder);
    return std::next(lock);
}

std::optional<bool> NamedLocks::release(ConnectionNumber connection, const QByteArray &name,
                                        std::vector<ConnectionNumber> &granted)
{
    const auto at = m_locks.find(name);
    if (at == m_locks.end())
        return std::nullopt;
    if (at->second.holder != connection)
        return false;
    if (--at->second.count == 0)
        passOn(at, granted);
    return true;
}

std::vector<ConnectionNumber> NamedLocks::releaseAll(ConnectionNumber connection)
{
    stopWaiting(connection);
    m_timesVictim.erase(connection);
    std::vector<ConnectionNumber> granted;
    for (auto at = m_locks.begin(); at != m_locks.end();)
        at = at->second.holder == connection ? passOn(at, granted) : std::next(at);
    return granted;
}

std::optional<ConnectionNumber> NamedLocks::holderOf(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? std::nullopt : std::optional(at->second.holder);
}

std::optional<ConnectionNumber> NamedLocks::blockerOf(ConnectionNumber connection) const
{
    const auto at = m_waiting.find(connection);
    return at == m_waiting.end() ? std::nullopt : holderOf(at->second);
}

std::optional<ConnectionNumber> NamedLocks::firstWaiterFor(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() || at->second.waiting.empty() ? std::nullopt
                                                             : std::optional(at->second.waiting.front());
}

std::deque<ConnectionNumber> NamedLocks::queueOf(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    if (at == m_locks.end())
        return {};
    auto queue = at->second.waiting;
    queue.push_front(at->second.holder);
    return queue;
}

std::vector<QByteArray> NamedLocks::names() const
{
    std::vector<QByteArray> all;
    for (const auto &[name, held] : m_locks)
        all.push_back(name);
    return all;
}

} // namespace lockscope::world
