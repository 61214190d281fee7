// SPDX-License-Identifier: Apache-2.0
// A session on a real PostgreSQL through a cable: what ends a wait has its effect although it comes first.
#include "core/async/qtloop.h"
#include "core/postgresql/dialect.h"
#include "core/sandbox/server.h"
#include "tests/support/zookeeperfixture.h"
#include "tests/support/cable.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

class TestPostgreSqlSession : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { START_OR_SKIP(m_server, sandbox::makePostgreSql()); }
    void cleanupTestCase()
    {
        m_holder.reset();
        m_server.reset();
    }

    // On a busy machine the connection that cancels may be quicker than the statement; the server forgets it then.
    void cancelBeforeItsStatementIsSentAgain()
    {
        m_holder = open(m_server->address());
        QVERIFY(m_holder);
        const auto lock = statement("SELECT pg_advisory_lock(7)::text AS mine");
        QVERIFY(await(m_holder->execute(lock, Deadline::after(m_loop, 15s))));
        Cable cable(m_server->address());
        const auto waiter = open(cable.address());
        QVERIFY(waiter);
        const auto before = waiter->connectionId();
        cable.holdBack();
        const auto waiting = waiter->execute(lock, Deadline::after(m_loop, 50ms));
        // Its cancel has been there when it comes.
        const auto later = m_loop.callAt(m_loop.now() + 400ms, [&cable] { cable.letGo(); });
        const auto waited = await(waiting);
        QVERIFY(!waited);
        QVERIFY2(waited.error().code == ErrorCode::TimedOut, qPrintable(waited.error().message));
        QCOMPARE(waiter->connectionId(), before); // the connection stands
        const auto after = await(waiter->execute(statement("SELECT 1 AS one"), Deadline::after(m_loop, 15s)));
        QVERIFY2(after, after ? "" : qPrintable(after.error().message));
    }

    // All of a text is read before any of it runs, and all of it is undone where one fails.
    void aRefusalIsToldOfItsOwnStatement()
    {
        const auto session = open(m_server->address());
        QVERIFY(session);
        const auto connection = session->connectionId();
        const auto soon = Deadline::after(m_loop, 15s);
        const auto one = session->execute(statement("SELECT 1 AS one"), soon);
        const auto wrong = session->execute(statement("SELEC 2"), soon);
        const auto three = session->execute(statement("SELECT 3 AS three"), soon);
        const auto missing = session->execute(statement("SELECT * FROM nothing_here"), soon);
        const auto five = session->execute(statement("SELECT 5 AS five"), soon);
        const auto said = [](const Result<mariadb::Rows> &answer) {
            return answer ? answer->cell(0, answer->columns.value(0)).value_or("") : errorName(answer.error().code);
        };
        QCOMPARE(said(await(one)), QByteArray("1"));
        QCOMPARE(said(await(wrong)), errorName(ErrorCode::BadInput));
        QCOMPARE(said(await(three)), QByteArray("3"));
        QCOMPARE(said(await(missing)), errorName(ErrorCode::Unsupported));
        QCOMPARE(said(await(five)), QByteArray("5"));
        QCOMPARE(session->connectionId(), connection);
    }

private:
    static QByteArray errorName(ErrorCode code) { return "error " + QByteArray::number(static_cast<int>(code)); }
    static mariadb::Statement statement(const QByteArray &text) { return {text, {}, {}, false}; }
    std::unique_ptr<mariadb::Session> open(const HostPort &address)
    {
        mariadb::SessionOptions options;
        options.host = address;
        options.user = u"shop"_s;
        options.database = u"shop"_s;
        auto session = postgresql::openSession(m_loop, options);
        const bool isThere =
            QTest::qWaitFor([&] { return session->state() == mariadb::SessionState::Connected; }, 20'000);
        return isThere ? std::move(session) : nullptr;
    }

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<mariadb::Session> m_holder;
};

LOCKSCOPE_TEST(TestPostgreSqlSession)
#include "tst_postgresql_session.moc"
