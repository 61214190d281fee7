// SPDX-License-Identifier: Apache-2.0
// Tells a sink of one connection: sessions, coverage, progress and cost, each only when it is not what was told last.
#pragma once

#include "core/inspect/observer.h"

#include <tuple>

namespace lockscope::inspect {

class ChangeReporter {
public:
    ChangeReporter(const ConnectionName &connection, ObserverSink &sink) : m_sink(sink)
    {
        std::apply([&connection](auto &...last) { ((last.connection = connection), ...); }, m_last);
    }

    void tell(std::vector<SessionSnapshot> now) { notifyIfNew(SessionsSeen{{}, std::move(now)}); }
    void tell(std::vector<Coverage> now) { notifyIfNew(CoverageSeen{{}, std::move(now)}); }
    void tell(Progress now) { notifyIfNew(std::move(now)); }
    void tell(Cost now) { notifyIfNew(std::move(now)); }

    // As told last.
    [[nodiscard]] const std::vector<SessionSnapshot> &sessions() const { return last<SessionsSeen>().sessions; }
    [[nodiscard]] const std::vector<Coverage> &coverage() const { return last<CoverageSeen>().coverage; }
    [[nodiscard]] const Progress &progress() const { return last<Progress>(); }

private:
    template <class T>
    [[nodiscard]] const T &last() const
    {
        return std::get<T>(m_last);
    }
    template <class T>
    void notifyIfNew(T now)
    {
        auto &last = std::get<T>(m_last);
        now.connection = last.connection;
        if (now == last)
            return;
        last = std::move(now);
        m_sink.take(last);
    }

    std::tuple<SessionsSeen, CoverageSeen, Progress, Cost> m_last;
    ObserverSink &m_sink;
};

} // namespace lockscope::inspect
