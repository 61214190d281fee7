// SPDX-License-Identifier: Apache-2.0
// ShedLock's JDBC provider and Liquibase on MariaDB: their locks are rows that say who holds. Each is seen as what it
// is, for as long as it is held. Of Liquibase the one who waits is in soon after the row was cleared; of ShedLock
// nobody waits: who comes after its time was ended gets in.
#include "tests/interop/sqlcross.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropSqlTables : public SqlCross {
    Q_OBJECT

    const QString m_shedLock = u"mariadb:SHEDLOCK#jobs.shedlock#report"_s;
    const QString m_liquibase = u"mariadb:LIQUIBASE#jobs.DATABASECHANGELOGLOCK"_s;

    static QString holderOf(const QJsonObject &lock)
    {
        return lock["contenders"_L1].toArray().at(0).toObject()["id"_L1].toString();
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(whyNotFetched("SQL_TABLES"));
        OK(begin("SQL_TABLES", u"SqlTableContenders.java"_s, u"jobs"_s));
    }
    void cleanup() { notifyWhatTheySaid(); }
    void cleanupTestCase() { end(); }

    void shedLockIsSeenWhileItIsHeld()
    {
        QVERIFY(theyTake("a", "shedlock report"));
        const auto lock = seen(m_shedLock);
        QCOMPARE(lock["recipe"_L1].toString(), u"sql-shedlock"_s);
        QCOMPARE(lock["client"_L1].toString(), u"ShedLock"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        QCOMPARE(lock["contenders"_L1].toArray().size(), 1);
        m_program->tell("acquire b shedlock report");
        QVERIFY(m_program->says("refused b"));
        QVERIFY(theyGiveBack("a"));
        QTRY_VERIFY_WITH_TIMEOUT(seen(m_shedLock)["state"_L1] != "held"_L1, testing::patienceMs);
        QVERIFY(theyTake("b", "shedlock report"));
        QVERIFY(theyGiveBack("b"));
    }

    void shedLocksTimeIsEndedAndWhoComesNextGetsIn()
    {
        QVERIFY(theyTake("e", "shedlock report"));
        const auto lock = seen(m_shedLock);
        const QStringList force{u"force-release"_s, m_shedLock, u"--holder"_s, holderOf(lock), u"--yes"_s};
        QByteArray said;
        lockscopectl(force, &said);
        QVERIFY2(said.contains("nothing was sent") && said.contains("on the same host"), said.constData());
        QCOMPARE(seen(m_shedLock)["state"_L1].toString(), u"held"_s);
        const auto forced = lockscopectl(force + QStringList{u"--not-exact"_s}, &said);
        QVERIFY2(forced["released"_L1].toBool(), said.constData());
        QVERIFY(seen(m_shedLock)["state"_L1] != "held"_L1);
        QVERIFY(theyTake("f", "shedlock report"));
        QVERIFY(holderOf(seen(m_shedLock)) != holderOf(lock));
        QVERIFY(theyGiveBack("f"));
    }

    void liquibaseIsSeenAndTheNextOneGetsIn()
    {
        QVERIFY(theyTake("c", "liquibase"));
        const auto lock = seen(m_liquibase);
        QCOMPARE(lock["recipe"_L1].toString(), u"sql-liquibase"_s);
        QCOMPARE(lock["client"_L1].toString(), u"Liquibase"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        m_program->tell("acquire d liquibase");
        QVERIFY(m_program->says("Waiting"));
        QVERIFY(!m_program->hasSaid("held d"));
        QByteArray said;
        const auto forced = lockscopectl(
            {u"force-release"_s, m_liquibase, u"--holder"_s, holderOf(lock), u"--yes"_s, u"--not-exact"_s}, &said);
        QVERIFY2(forced["released"_L1].toBool(), said.constData());
        QVERIFY(m_program->says("held d"));
        QVERIFY(holderOf(seen(m_liquibase)) != holderOf(lock));
        QVERIFY(theyGiveBack("d"));
        QTRY_VERIFY_WITH_TIMEOUT(seen(m_liquibase)["state"_L1] != "held"_L1, testing::patienceMs);
    }
};

LOCKSCOPE_TEST(TestInteropSqlTables)
#include "tst_interop_sqltables.moc"
