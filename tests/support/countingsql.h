// SPDX-License-Identifier: Apache-2.0
// Counts the statements that go through an SQL session, and loses chosen ones.
#pragma once

#include "core/mariadb/session.h"

#include <map>

namespace lockscope::testing {

class CountingSql : public mariadb::ForwardingSession {
public:
    enum class Fault { LoseRequest, LoseReply };

    explicit CountingSql(mariadb::Session &inner) : ForwardingSession(inner) {}

    Reply<mariadb::Rows> execute(mariadb::Statement statement, Deadline deadline) override
    {
        const auto word = statement.text.split(' ').first();
        ++m_counts[word];
        if (m_fault && m_faultWord == word) {
            const auto fault = *std::exchange(m_fault, std::nullopt);
            Reply<mariadb::Rows> reply(loop());
            const Error lost{ErrorCode::UnknownOutcome, QStringLiteral("lost on the way, by the test"), true};
            if (fault == Fault::LoseRequest)
                reply.complete(lost);
            else
                inner().execute(std::move(statement), deadline).then([reply, lost](const Result<mariadb::Rows> &) {
                    reply.complete(lost);
                });
            return reply;
        }
        return inner().execute(std::move(statement), deadline);
    }
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
    void plan(const QByteArray &word, Fault fault)
    {
        m_faultWord = word;
        m_fault = fault;
    }

private:
    std::map<QByteArray, int> m_counts;
    int m_interrupts = 0;
    QByteArray m_faultWord;
    std::optional<Fault> m_fault;
};

} // namespace lockscope::testing
