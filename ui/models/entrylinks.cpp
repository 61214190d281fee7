// SPDX-License-Identifier: Apache-2.0
#include "ui/models/entrylinks.h"

#include "ui/models/locksmodel.h"

namespace lockscope::ui {

using inspect::LockName;

void EntryLinks::apply(const Batch &batch)
{
    for (const auto &change : batch.locks) {
        const auto &name = change.lock.lock;
        if (const auto known = m_withCompanions.find(name); known != m_withCompanions.end()) {
            for (const auto &companion : known->second)
                m_companions.erase({name.connection, companion});
            m_withCompanions.erase(known);
        }
        if (change.kind == inspect::ChangeKind::Removed || change.lock.companions.empty())
            continue;
        for (const auto &companion : change.lock.companions)
            m_companions.insert_or_assign({name.connection, companion}, name);
        m_withCompanions.emplace(name, change.lock.companions);
    }
    for (const auto &connection : batch.sessionsOf)
        m_hosts[connection].clear();
    for (const auto &session : batch.sessions)
        m_hosts[session.connection].insert_or_assign(session.session, session.endpoint.value_or(QString()));
}

std::optional<LockName> EntryLinks::lockOf(const ConnectionName &connection, const QByteArray &entry,
                                           bool isPath) const
{
    constexpr int foldersUp = 2; // Curator's semaphore keeps its nodes in folders of its own
    LockName name{connection, entry};
    for (int up = 0; up <= (isPath ? foldersUp : 0); ++up) {
        if (m_locks && m_locks->snapshot(name))
            return name;
        if (const auto at = m_companions.find(name); at != m_companions.end())
            return at->second;
        if (isPath)
            name.name = ZPath(name.name).parent().bytes();
    }
    return std::nullopt;
}

QString EntryLinks::hostOf(const ConnectionName &connection, const QString &session) const
{
    const auto hosts = m_hosts.find(connection);
    if (hosts == m_hosts.end())
        return {};
    const auto at = hosts->second.find(session);
    return at == hosts->second.end() ? QString() : at->second;
}

} // namespace lockscope::ui
