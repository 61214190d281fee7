// SPDX-License-Identifier: Apache-2.0
// Quartz's JDBC job store on MariaDB: its lock is a row that it keeps locked in a transaction. Its holder is seen and
// keeps ours out, and a force-release lets a scheduler that waits go on, within a second of its end: InnoDB wakes it.
#include "tests/interop/sqlcross.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropQuartz : public SqlCross {
    Q_OBJECT

    const QString m_lock = u"mariadb:quartz.QRTZ_LOCKS#SCHED_NAME=shop,LOCK_NAME=TRIGGER_ACCESS"_s;

    // By its name: InnoDB tells which row it is only while it has the row's page at hand, and of a table as new as
    // this one it may not have that until somebody reads it (else the lock stands there by its place).
    QJsonObject seen()
    {
        (void)run(*m_admin, "SELECT COUNT(*) FROM quartz.QRTZ_LOCKS");
        return SqlCross::seen(m_lock);
    }
    QString connectionOf(const QByteArray &name) { return QString::fromLatin1(m_program->heldWord(name, 2)); }
    bool theyTake(const QByteArray &name) { return SqlCross::theyTake(name, "TRIGGER_ACCESS"); }

private slots:
    void initTestCase()
    {
        SKIP_FOR(whyNotFetched("QUARTZ"));
        OK(begin("QUARTZ", u"QuartzContenders.java"_s, u"quartz"_s));
        QVERIFY2(theyTake("first") && theyGiveBack("first"), m_program->everythingSaid().constData());
        m_program->tell("schedule before");
        QVERIFY2(m_program->says("scheduled before"), m_program->everythingSaid().constData());
    }
    void cleanup() { notifyWhatTheySaid(); }
    void cleanupTestCase() { end(); }

    void theirsIsSeenAndKeepsOursOut()
    {
        QVERIFY(theyTake("a"));
        QProcess waiter;
        waiter.start(QStringLiteral(LOCKSCOPECTL),
                     connect() + QStringList{u"acquire"_s, m_lock, u"--recipe"_s, u"sql-for-update"_s});
        QTRY_COMPARE_WITH_TIMEOUT(seen()["state"_L1].toString(), u"contended"_s, testing::patienceMs);
        const auto holder = seen()["contenders"_L1].toArray().at(0).toObject();
        QCOMPARE(holder["role"_L1].toString(), u"holder"_s);
        QCOMPARE(holder["session"_L1].toString(), connectionOf("a"));
        QCOMPARE(seen()["client"_L1].toString(), u"Quartz"_s);
        QVERIFY(waiter.readAllStandardOutput().isEmpty());
        QVERIFY(theyGiveBack("a"));
        QVERIFY(QTest::qWaitFor([&] { return waiter.bytesAvailable() > 0; }, testing::patienceMs));
        // And ours keeps their scheduler out.
        m_program->tell("schedule behind-ours");
        QTRY_COMPARE_WITH_TIMEOUT(seen()["state"_L1].toString(), u"contended"_s, testing::patienceMs);
        QVERIFY(!m_program->hasSaid("scheduled behind-ours"));
        waiter.terminate();
        QVERIFY(waiter.waitForFinished(testing::patienceMs));
        QVERIFY(QTest::qWaitFor([&] { return m_program->hasSaid("scheduled behind-ours"); }, 1000));
    }

    void schedulerContinuesSoonAfterAForceRelease()
    {
        QVERIFY(theyTake("stuck"));
        m_program->tell("schedule next");
        QTRY_COMPARE_WITH_TIMEOUT(seen()["state"_L1].toString(), u"contended"_s, testing::patienceMs);
        QVERIFY(!m_program->hasSaid("scheduled next"));
        const auto holder = seen()["contenders"_L1].toArray().at(0).toObject();
        QByteArray said;
        const auto forced =
            lockscopectl({u"force-release"_s, m_lock, u"--holder"_s, holder["id"_L1].toString(), u"--yes"_s}, &said);
        QVERIFY2(forced["released"_L1].toBool(), said.constData());
        QVERIFY(QTest::qWaitFor([&] { return m_program->hasSaid("scheduled next"); }, 1000));
        m_program->tell("release stuck");
        QVERIFY(m_program->says("failed stuck"));
    }
};

LOCKSCOPE_TEST(TestInteropQuartz)
#include "tst_interop_quartz.moc"
