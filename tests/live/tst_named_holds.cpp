// SPDX-License-Identifier: Apache-2.0
// A named lock of MariaDB or MySQL that its connection let go of and took again, by the same id: performance_schema
// has another word for each hold, and what was decided on for one is not done to the next.
#include "core/workspace/workspace.h"
#include "mariadbfixture.h"
#include "tests/support/finish.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

class TestNamedHolds : public MariaDbFixture {
    Q_OBJECT

    const inspect::LockName m_name{ConnectionName("db"), "GET_LOCK#nightly"};
    QTemporaryDir m_folder;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<mariadb::Session> m_holder;

    void open(bool isFollowed)
    {
        WorkspaceOptions options{.observe = isFollowed, .auditPath = m_folder.filePath(u"audit.jsonl"_s)};
        m_workspace = std::make_unique<Workspace>(m_loop, options, nullptr);
        QVERIFY(
            m_workspace->add(*parseConnection(u"db=mariadb://root@127.0.0.1:%1"_s.arg(m_server->address().port))));
        m_holder = openConnected();
        QVERIFY(run(*m_holder, "DO GET_LOCK('nightly', 1)"));
    }
    QByteArray id() const { return QByteArray::number(m_holder->connectionId()); }
    Result<operate::ForceReleasePlan> plan()
    {
        const auto lock = finish(m_loop, m_workspace->read(m_name, soon()));
        return lock ? finish(m_loop, m_workspace->planForceRelease(m_name, lock->contenders.front().id, soon()))
                    : Result<operate::ForceReleasePlan>(lock.error());
    }
    bool countStatements(bool yes)
    {
        return bool(run(*m_admin, QByteArray("UPDATE performance_schema.setup_consumers SET ENABLED = ")
                                      + (yes ? "'YES'" : "'NO'") + " WHERE NAME = 'events_statements_current'"));
    }
    bool isHeld() { return ask("SELECT IS_USED_LOCK('nightly')") == id(); }

private slots:
    void initTestCase() { SKIP_FOR(startServer()); }
    void cleanup()
    {
        m_workspace.reset();
        m_holder.reset();
        QVERIFY(countStatements(true));
    }
    void cleanupTestCase() { endServer(); }

    void newHoldIsNotReleased_data()
    {
        addColumns<QByteArrayList, bool>("meanwhile", "isReleased");
        // MariaDB by itself does not: a hold is then known by its place alone, of which 10.11 gives none twice.
        QTest::addColumn<bool>("areStatementsCounted");
        QTest::newRow("nothing happened") << QByteArrayList() << true << true;
        QTest::newRow("did something else")
            << QByteArrayList{"SELECT 1", "DO GET_LOCK('another', 1)"} << true << true;
        QTest::newRow("once more inside")
            << QByteArrayList{"DO GET_LOCK('nightly', 1)", "DO RELEASE_LOCK('nightly')"} << true << true;
        QTest::newRow("taken again") << QByteArrayList{"DO RELEASE_LOCK('nightly')", "DO GET_LOCK('nightly', 1)"}
                                     << false << true;
        QTest::newRow("taken again in one statement")
            << QByteArrayList{"SELECT CONCAT(RELEASE_LOCK('nightly'), GET_LOCK('nightly', 1))"} << false << true;
        QTest::newRow("did something else, not counted") << QByteArrayList{"SELECT 1"} << true << false;
        // What is taken in between gets the memory that the release frees: the place of a hold is an address.
        QTest::newRow("taken again, not counted")
            << QByteArrayList{"DO RELEASE_LOCK('nightly')", "DO GET_LOCK('another', 1)", "DO GET_LOCK('nightly', 1)",
                              "DO RELEASE_LOCK('another')"}
            << false << false;
    }
    void newHoldIsNotReleased()
    {
        QFETCH(const QByteArrayList, meanwhile);
        QFETCH(const bool, isReleased);
        QFETCH(const bool, areStatementsCounted);
        QVERIFY(countStatements(areStatementsCounted));
        open(false);
        const auto planned = plan();
        QVERIFY2(planned, textOf(planned));
        operate::BulkTarget target{
            .lock = m_name, .contender = planned->holder, .hold = planned->before.contenders.front().hold};
        QVERIFY(!target.hold.isEmpty());
        target.shown = planned->before.observed;
        for (const auto &statement : meanwhile)
            QVERIFY(run(*m_holder, statement));
        if (!isReleased) {
            const auto bulk = finish(m_loop, m_workspace->bulkRelease({target}, u"test"_s, {}));
            QVERIFY2(bulk && bulk->why.contains(u"acquired it again"_s), qPrintable(bulk->why));
        }
        const auto outcome = finish(m_loop, m_workspace->forceRelease(*planned, u"test"_s, soon()));
        QCOMPARE(bool(outcome), isReleased);
        if (!outcome)
            QVERIFY2(outcome.error().message.contains(u"acquired it again"_s), qPrintable(outcome.error().message));
        QCOMPARE(isHeld(), !isReleased);
    }

    // Between the last look and the KILL: what looks and kills compares it, too.
    void newHoldRightBeforeTheKillIsNotReleased()
    {
        open(false);
        auto planned = plan();
        QVERIFY2(planned, textOf(planned));
        QVERIFY(run(*m_holder, "SELECT CONCAT(RELEASE_LOCK('nightly'), GET_LOCK('nightly', 1))"));
        auto *link = m_workspace->find(m_name.connection);
        const auto sent = finish(m_loop, link->sendRelease(*planned, soon()));
        QVERIFY(!sent);
        QCOMPARE(sent.error().code, ErrorCode::Refused);
        QVERIFY(isHeld());
        planned = plan();
        QVERIFY2(planned, textOf(planned));
        QVERIFY(finish(m_loop, link->sendRelease(*planned, soon())));
        QVERIFY(!isHeld());
    }

    // Between two looks, which is when it was taken at the soonest.
    void sinceWhenItIsHeldIsTold()
    {
        open(true);
        const auto held = [this]() -> std::optional<inspect::Contender> {
            auto *link = m_workspace->find(m_name.connection);
            for (const auto &lock :
                 link && link->isConnected() ? link->observer().snapshots() : std::vector<inspect::LockSnapshot>()) {
                if (lock.lock == m_name)
                    return lock.contenders.front();
            }
            return std::nullopt;
        };
        QTRY_VERIFY_WITH_TIMEOUT(held(), patienceMs);
        const auto before = *held();
        QVERIFY(run(*m_holder, "SELECT CONCAT(RELEASE_LOCK('nightly'), GET_LOCK('nightly', 1))"));
        QTRY_VERIFY_WITH_TIMEOUT(held() && held()->hold != before.hold, patienceMs);
        QCOMPARE(held()->id, before.id);
        QVERIFY(held()->heldSince && held()->heldSince != before.heldSince);
    }
};

LOCKSCOPE_TEST(TestNamedHolds)
#include "tst_named_holds.moc"
