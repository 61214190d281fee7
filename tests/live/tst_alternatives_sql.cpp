// SPDX-License-Identifier: Apache-2.0
// KILL QUERY on a real MariaDB: a statement ends, and with it nothing that was locked.
#include "core/async/scope.h"
#include "core/inspect/mariadb/observer.h"
#include "core/mariadb/session.h"
#include "core/operate/releasemethod.h"
#include "core/operate/sql.h"
#include "mariadbfixture.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

using operate::ReleaseAction;

namespace {

Task<Result<operate::ForceReleasePlan>> offeredBy(operate::ForceReleasePlan plan, mariadb::Session *session,
                                                  Deadline deadline)
{
    auto looking = operate::withKillLosses(std::move(plan), session, deadline);
    auto full = co_await looking;
    co_return full;
}

} // namespace

namespace {

constexpr auto withoutBlocks = "this server cannot look and KILL QUERY in one statement: it is not offered there";

} // namespace

class TestAlternativesSql : public MariaDbFixture {
    Q_OBJECT

    const QByteArray row{"shop.stock#id=1"};
    const QByteArray name{"GET_LOCK#gentle"};
    QTemporaryDir m_folder;
    testing::KeepingSink m_sink;

    Result<inspect::LockSnapshot> readUntil(inspect::Observer &observer, const QByteArray &lock,
                                            mariadb::ConnectionId holder)
    {
        Result<inspect::LockSnapshot> read(Error{});
        for (int looks = 0; looks < 20; ++looks) {
            read = testing::finish(m_loop, observer.readNow(lock, soon()));
            if (read && !read->contenders.empty() && read->contenders[0].session == QString::number(holder)
                && read->waiterCount() > 0)
                break;
        }
        return read;
    }
    Result<operate::ForceReleaseOutcome> act(const operate::ForceReleasePlan &plan, inspect::Observer &observer,
                                             mariadb::Session &session)
    {
        operate::AuditFile audit(m_folder.filePath(QStringLiteral("audit.jsonl")));
        operate::ForceReleaseTools tools{
            .observer = &observer,
            .send = [&session](operate::ForceReleasePlan sent,
                               Deadline by) { return operate::sendRelease(std::move(sent), &session, by); },
            .audit = &audit,
            .loop = &m_loop};
        return testing::finish(m_loop, operate::forceRelease(plan, tools, QStringLiteral("a test"), soon()));
    }
    // A holds, B waits.
    Reply<mariadb::Rows> holdAndWait(mariadb::Session &holder, mariadb::Session &waiter, bool isNamed)
    {
        if (isNamed) {
            if (!run(holder, "SELECT GET_LOCK('gentle', 5)"))
                qFatal("not had");
        } else if (!run(holder, "START TRANSACTION")
                   || !run(holder, "SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE")
                   || !run(holder, "UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 1")
                   || !run(waiter, "START TRANSACTION")) {
            qFatal("not had");
        }
        auto waiting = send(waiter, isNamed ? "SELECT GET_LOCK('gentle', 100)"
                                            : "SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE");
        if (!someWait(1))
            qFatal("nobody waits");
        return waiting;
    }

    // The server has its statement.
    bool isRunning(mariadb::ConnectionId connection)
    {
        return QTest::qWaitFor(
            [&] {
                const auto rows =
                    run(*m_admin, "SELECT 1 FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' "
                                  "AND ID = "
                                      + QByteArray::number(connection));
                return rows && !rows->rows.empty();
            },
            patienceMs);
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_folder.path().toUtf8());
        SKIP_FOR(startServer());
    }
    void cleanupTestCase() { endServer(); }

    void aRunningStatementEndsAndItsHolderLives_data()
    {
        QTest::addColumn<bool>("named");
        QTest::newRow("row") << false;
        QTest::newRow("named lock") << true;
    }
    void aRunningStatementEndsAndItsHolderLives()
    {
        QFETCH(bool, named);
        if (!m_admin->features().blocks)
            QSKIP(withoutBlocks);
        const auto session = openConnected(), holder = openConnected(), waiter = openConnected();
        inspect::MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto waiting = holdAndWait(*holder, *waiter, named);
        const auto sleeping = send(*holder, "SELECT SLEEP(60)");
        const auto connection = holder->connectionId();
        QVERIFY(isRunning(connection)); // else it would be told to be idle
        const auto snapshot = readUntil(observer, named ? name : row, connection);
        QVERIFY2(snapshot, textOf(snapshot));
        const auto plan = operate::planWay(*snapshot, snapshot->contenders[0].id, ReleaseAction::KillQuery);
        QVERIFY2(plan, textOf(plan));
        const auto outcome = act(*plan, observer, *session);
        QVERIFY2(outcome && outcome->done && !outcome->released, textOf(outcome));
        QVERIFY(QTest::qWaitFor([&] { return sleeping.isComplete(); }, patienceMs));
        QVERIFY(!waiting.isComplete()); // it holds the lock still
        QVERIFY(run(*holder, "SELECT 1"));
        QCOMPARE(holder->connectionId(), connection);
        QVERIFY(run(*holder, named ? "SELECT RELEASE_LOCK('gentle')" : "COMMIT"));
        QVERIFY(QTest::qWaitFor([&] { return waiting.isComplete(); }, patienceMs));
        QVERIFY(waiting.value());
        (void)run(*waiter, named ? "SELECT RELEASE_LOCK('gentle')" : "ROLLBACK");
    }

    void aWaiterWaitsNoMoreAndTheHolderKeepsIt_data() { aRunningStatementEndsAndItsHolderLives_data(); }
    void aWaiterWaitsNoMoreAndTheHolderKeepsIt()
    {
        QFETCH(bool, named);
        if (!m_admin->features().blocks)
            QSKIP(withoutBlocks);
        const auto session = openConnected(), holder = openConnected(), waiter = openConnected();
        inspect::MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto waiting = holdAndWait(*holder, *waiter, named);
        const auto connection = waiter->connectionId();
        const auto snapshot = readUntil(observer, named ? name : row, holder->connectionId());
        QVERIFY2(snapshot, textOf(snapshot));
        const auto plan = operate::planWay(*snapshot, snapshot->contenders.back().id, ReleaseAction::KillWaiter);
        QVERIFY2(plan, textOf(plan));
        const auto outcome = act(*plan, observer, *session);
        QVERIFY2(outcome && outcome->done, textOf(outcome));
        QVERIFY(QTest::qWaitFor([&] { return waiting.isComplete(); }, patienceMs));
        QVERIFY(run(*waiter, "SELECT 1"));
        QCOMPARE(waiter->connectionId(), connection);
        QVERIFY(run(*holder, named ? "SELECT RELEASE_LOCK('gentle')" : "COMMIT"));
        (void)run(*waiter, "ROLLBACK");
    }

    // Without blocks it cannot look and KILL QUERY in one statement: there it is not offered, and the rest is.
    void serverWithoutBlocks_killQueryIsNotOffered()
    {
        class WithoutBlocks : public mariadb::ForwardingSession {
        public:
            using ForwardingSession::ForwardingSession;
            [[nodiscard]] mariadb::Features features() const override
            {
                auto all = inner().features();
                all.blocks = false;
                return all;
            }
        };
        const auto session = openConnected(), holder = openConnected(), waiter = openConnected();
        inspect::MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto waiting = holdAndWait(*holder, *waiter, true);
        const auto snapshot = readUntil(observer, name, holder->connectionId());
        QVERIFY2(snapshot, textOf(snapshot));
        const auto plan = operate::planWay(*snapshot, snapshot->contenders[0].id, ReleaseAction::KillQuery);
        QVERIFY2(plan, textOf(plan));
        const auto hasWay = [](const operate::ForceReleasePlan &one, ReleaseAction way) {
            return std::ranges::find(one.ways, way, &operate::OfferedAction::way) != one.ways.end();
        };
        const auto here = testing::finish(m_loop, offeredBy(*plan, session.get(), soon()));
        QVERIFY(here && hasWay(*here, ReleaseAction::Release));
        QCOMPARE(hasWay(*here, ReleaseAction::KillQuery), session->features().blocks);
        WithoutBlocks other(*session);
        const auto there = testing::finish(m_loop, offeredBy(*plan, &other, soon()));
        QVERIFY(there && !hasWay(*there, ReleaseAction::KillQuery) && hasWay(*there, ReleaseAction::Release));
        QVERIFY(run(*holder, "SELECT RELEASE_LOCK('gentle')"));
        QVERIFY(QTest::qWaitFor([&] { return waiting.isComplete(); }, patienceMs));
    }

    // There is no statement of it that could be ended.
    void anIdleHolderHasNoStatement()
    {
        if (!m_admin->features().blocks)
            QSKIP(withoutBlocks);
        const auto session = openConnected(), holder = openConnected(), waiter = openConnected();
        inspect::MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto waiting = holdAndWait(*holder, *waiter, true);
        const auto snapshot = readUntil(observer, name, holder->connectionId());
        QVERIFY2(snapshot, textOf(snapshot));
        const auto plan = operate::planWay(*snapshot, snapshot->contenders[0].id, ReleaseAction::KillQuery);
        QVERIFY2(plan, textOf(plan));
        const auto outcome = act(*plan, observer, *session);
        QCOMPARE(codeOf(outcome), code(ErrorCode::Refused));
        QVERIFY2(outcome.error().message.contains(QStringLiteral("it runs no statement")), textOf(outcome));
        QVERIFY(run(*holder, "SELECT RELEASE_LOCK('gentle')"));
        QVERIFY(QTest::qWaitFor([&] { return waiting.isComplete(); }, patienceMs));
    }
};

LOCKSCOPE_TEST(TestAlternativesSql)
#include "tst_alternatives_sql.moc"
