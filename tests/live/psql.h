// SPDX-License-Identifier: Apache-2.0
// Sessions of psql beside lockscopectl: what the tests of PostgreSQL share.
#pragma once

#include "tests/support/ctlfixture.h"

namespace lockscope::testing {

using namespace Qt::StringLiterals;

// One session of psql: it reads statements one by one, and says when each is done.
class Psql {
public:
    explicit Psql(const QString &uri)
    {
        m_process.setProcessChannelMode(QProcess::MergedChannels);
        m_process.start(u"psql"_s, {u"-X"_s, u"-q"_s, u"-A"_s, u"-t"_s, uri});
        m_pid = ask("SELECT pg_backend_pid();");
    }
    ~Psql()
    {
        m_process.kill();
        m_process.waitForFinished();
    }

    // What the statements print, errors included. Waits for their end.
    QByteArray ask(const QByteArray &statements)
    {
        send(statements);
        return answer();
    }
    void send(const QByteArray &statements)
    {
        m_process.write(statements + "\n\\echo done" + QByteArray::number(++m_number) + '\n');
        m_process.waitForBytesWritten();
    }
    QByteArray answer()
    {
        const auto mark = "done" + QByteArray::number(m_number) + '\n';
        const QDeadlineTimer limit(patienceMs);
        while (!m_said.contains(mark) && !limit.hasExpired() && m_process.state() != QProcess::NotRunning) {
            m_process.waitForReadyRead(50);
            m_said += m_process.readAll();
        }
        m_said += m_process.readAll();
        const auto at = m_said.indexOf(mark);
        const auto said = at < 0 ? m_said : m_said.left(at);
        m_said = at < 0 ? QByteArray() : m_said.mid(at + mark.size());
        return said.trimmed();
    }
    [[nodiscard]] const QByteArray &pid() const { return m_pid; }

private:
    QProcess m_process;
    QByteArray m_pid, m_said;
    int m_number = 0;
};

} // namespace lockscope::testing
