// SPDX-License-Identifier: Apache-2.0
// Counts the statements that go through an SQL session, and loses chosen ones.
#pragma once

#include "core/mariadb/session.h"
#include "tests/support/decoratedport.h"

#include <map>

namespace lockscope::testing {

class CountingSql : public DecoratedPort<mariadb::ForwardingSession> {
public:
    using DecoratedPort::DecoratedPort;

    void interrupt(mariadb::ConnectionId connection) override
    {
        ++m_interrupts;
        inner().interrupt(connection);
    }

    // By the first word of a statement: "SELECT", "START", "COMMIT".
    [[nodiscard]] int count(const QByteArray &word) const
    {
        const auto at = m_counts.find(word);
        return at == m_counts.end() ? 0 : at->second;
    }
    [[nodiscard]] int statements() const
    {
        int all = 0;
        for (const auto &[word, count] : m_counts)
            all += count;
        return all;
    }
    [[nodiscard]] int interrupts() const { return m_interrupts; }
    void reset() { m_counts.clear(); }
    // The next statement that begins with that word.
    void plan(const QByteArray &word, RequestFault fault)
    {
        m_faultWord = word;
        m_fault = fault;
    }

protected:
    RequestFault faultFor(const Request &request) override
    {
        const auto word = std::get<Asked<mariadb::Statement>>(request).request.text.split(' ').first();
        ++m_counts[word];
        return m_faultWord == word ? std::exchange(m_fault, RequestFault::Pass) : RequestFault::Pass;
    }

private:
    std::map<QByteArray, int> m_counts;
    int m_interrupts = 0;
    QByteArray m_faultWord;
    RequestFault m_fault = RequestFault::Pass;
};

} // namespace lockscope::testing
