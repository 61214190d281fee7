// SPDX-License-Identifier: Apache-2.0
// What the tests of MariaDB share: a private server, sessions on it, and waiting for answers.
#pragma once

#include "core/async/qtloop.h"
#include "core/mariadb/dialect.h"
#include "tests/support/patience.h"
#include "tests/support/startedserver.h"

#include <QTest>

// Inline: redisfixture.h has functions of the same names, and the tests of both are linked into one program.
namespace lockscope::testing::inline mariadbfixture {

using namespace std::chrono_literals;

inline mariadb::SessionOptions sqlOptionsFor(const HostPort &address)
{
    return mariadb::SessionOptions{.host = address, .user = QStringLiteral("root")};
}

inline bool becomes(const mariadb::Session &session, mariadb::SessionState state)
{
    return QTest::qWaitFor([&] { return session.state() == state; }, patienceMs);
}

template <class T>
QByteArray textOf(const Result<T> &result)
{
    return result ? QByteArray("no error") : result.error().message.toUtf8();
}

// -1 when it went well.
template <class T>
int codeOf(const Result<T> &result)
{
    return result ? -1 : static_cast<int>(result.error().code);
}

constexpr int code(ErrorCode wanted)
{
    return static_cast<int>(wanted);
}

// A server for all tests of a suite, and the session of somebody who looks on.
class MariaDbFixture : public QObject {
protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<mariadb::Session> m_admin;

    // What went wrong; empty if all is ready.
    QString startServer(sandbox::MariaDbOptions options = {})
    {
        if (const auto problem = startInto(m_server, sandbox::makeMariaDb(std::move(options))); !problem.isEmpty())
            return problem;
        m_admin = open();
        return becomes(*m_admin, mariadb::SessionState::Connected) ? QString() : m_admin->lastError();
    }
    std::unique_ptr<mariadb::Session> open()
    {
        return mariadb::openSession(m_loop, sqlOptionsFor(m_server->address()));
    }
    std::unique_ptr<mariadb::Session> openConnected()
    {
        auto session = open();
        if (!becomes(*session, mariadb::SessionState::Connected))
            qFatal("%s", qPrintable(session->lastError()));
        return session;
    }
    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 15s); }

    Result<mariadb::Rows> run(mariadb::Session &session, const QByteArray &text,
                              const QByteArrayList &parameters = {})
    {
        return answerOf(session.execute({text, parameters, std::nullopt, false}, soon()));
    }
    void must(mariadb::Session &session, const QByteArray &text, const QByteArrayList &parameters = {})
    {
        const auto done = run(session, text, parameters);
        if (!done)
            qFatal("%s: %s", text.constData(), textOf(done).constData());
    }
    // It may wait; it can be ended.
    static Reply<mariadb::Rows> send(mariadb::Session &session, const QByteArray &text)
    {
        return session.execute({text, {}, session.connectionId(), true}, Deadline::never());
    }
    // The first cell, or what went wrong.
    QByteArray ask(const QByteArray &text, const QByteArrayList &parameters = {})
    {
        const auto rows = run(*m_admin, text, parameters);
        if (!rows)
            return textOf(rows);
        return rows->rows.empty() ? QByteArray() : rows->rows.front().front().value_or("NULL");
    }
    bool kill(const mariadb::Session &session)
    {
        return bool(run(*m_admin, "KILL " + QByteArray::number(session.connectionId())));
    }
    // So many wait for a row or a named lock now: not those whose statement has begun and may be on its way there.
    bool someWait(int count)
    {
        return QTest::qWaitFor(
            [&] {
                const auto named =
                    ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'");
                const auto rows = run(*m_admin, "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
                return rows && named.toInt() + rows->cell(0, "value").value_or("-1").toInt() == count;
            },
            patienceMs);
    }
    // So many wait for a table now.
    bool waitForTables(int count)
    {
        return QTest::qWaitFor(
            [&] {
                return ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for table "
                           "metadata lock'")
                           .toInt()
                       == count;
            },
            patienceMs);
    }
    // No transaction is left.
    bool nothingIsHeld()
    {
        return eventuallyAsking(300ms,
                                [this] { return ask("SELECT COUNT(*) FROM information_schema.INNODB_TRX") == "0"; });
    }
    void endServer()
    {
        m_admin.reset();
        mariadb::waitForClosingSessions(10s);
        m_server.reset();
    }
};

} // namespace lockscope::testing::inline mariadbfixture
