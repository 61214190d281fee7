// SPDX-License-Identifier: Apache-2.0
// Every command sent and every event seen, newest last, at most `capacity` of them. Secrets never
// reach it. Loop thread only.
#pragma once

#include "core/base/bytes.h"

#include <deque>
#include <functional>

namespace lockscope::operate {

struct LogEntry {
    enum class Kind { Sent, Event, State };
    quint64 number = 0;
    std::chrono::system_clock::time_point time;
    ConnectionName connection;
    Kind kind = Kind::Sent;
    bool write = false;
    bool refused = false; // the gate said no; nothing was sent
    QString text;         // "getChildren /locks/orders watch", "SET orders-lock … NX PX 30000"
    QString outcome;      // "ok, 4 children", "NoNode", empty while out
    std::chrono::microseconds took{};
};

class CommandLog {
public:
    explicit CommandLog(std::size_t capacity = 5000) : m_capacity(capacity) {}

    // Returns the entry's number, for finish().
    quint64 add(LogEntry entry);
    void finish(quint64 number, const QString &outcome, std::chrono::microseconds took);
    [[nodiscard]] const std::deque<LogEntry> &entries() const { return m_entries; }
    // Called for each entry added and again when it is finished.
    void setListener(std::function<void(const LogEntry &)> listener) { m_listener = std::move(listener); }

private:
    std::size_t m_capacity;
    quint64 m_next = 1;
    std::deque<LogEntry> m_entries;
    std::function<void(const LogEntry &)> m_listener;
};

} // namespace lockscope::operate
