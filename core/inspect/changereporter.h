// SPDX-License-Identifier: Apache-2.0
// Tells a sink of one connection: sessions, coverage, progress and cost, each only when it is not what was told last.
#pragma once

#include "core/inspect/observer.h"

namespace lockscope::inspect {

class ChangeReporter {
public:
    ChangeReporter(ConnectionName connection, ObserverSink &sink) : m_connection(std::move(connection)), m_sink(sink)
    {
    }

    void tell(std::vector<SessionSnapshot> now)
    {
        if (take(m_sessions, std::move(now)))
            m_sink.sessionsChanged(m_connection, m_sessions);
    }
    void tell(std::vector<Coverage> now)
    {
        if (take(m_coverage, std::move(now)))
            m_sink.coverageChanged(m_connection, m_coverage);
    }
    void tell(Progress now)
    {
        now.connection = m_connection;
        if (take(m_progress, std::move(now)))
            m_sink.progressed(m_progress);
    }
    void tell(Cost now)
    {
        if (take(m_cost, now))
            m_sink.costChanged(m_connection, m_cost);
    }

    // As told last.
    [[nodiscard]] const std::vector<SessionSnapshot> &sessions() const { return m_sessions; }
    [[nodiscard]] const std::vector<Coverage> &coverage() const { return m_coverage; }
    [[nodiscard]] const Progress &progress() const { return m_progress; }
    [[nodiscard]] const Cost &cost() const { return m_cost; }

private:
    template <class T>
    [[nodiscard]] static bool take(T &told, T now)
    {
        if (told == now)
            return false;
        told = std::move(now);
        return true;
    }

    ConnectionName m_connection;
    ObserverSink &m_sink;
    std::vector<SessionSnapshot> m_sessions;
    std::vector<Coverage> m_coverage;
    Progress m_progress;
    Cost m_cost;
};

} // namespace lockscope::inspect
