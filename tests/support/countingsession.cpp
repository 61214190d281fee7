// SPDX-License-Identifier: Apache-2.0
#include "tests/support/countingsession.h"

#include <QByteArrayList>

namespace lockscope::testing {

void CountingSession::reset()
{
    m_counts.clear();
    m_roundTrips = 0;
    m_events = 0;
}

int CountingSession::requests() const
{
    int all = 0;
    for (const auto &[kind, count] : m_counts)
        all += count;
    return all;
}

int CountingSession::count(RequestKind kind) const
{
    const auto at = m_counts.find(kind);
    return at == m_counts.end() ? 0 : at->second;
}

QByteArray CountingSession::spoken() const
{
    static constexpr const char *words[] = {"create", "remove", "get",  "set",     "exists", "children",
                                            "multi",  "sync",   "acls", "setAcls", "addAuth"};
    QByteArrayList parts;
    for (const auto &[kind, count] : m_counts)
        parts << QByteArray(words[static_cast<size_t>(kind)]) + ' ' + QByteArray::number(count);
    return parts.join(", ");
}

RequestFault CountingSession::fateOf(RequestKind kind)
{
    ++m_counts[kind];
    if (out() == 0)
        ++m_roundTrips;
    return RequestFault::Pass;
}

void CountingSession::fired(const zk::WatchEvent &event)
{
    if (event.kind != zk::EventKind::SessionOver)
        ++m_events;
}

} // namespace lockscope::testing
