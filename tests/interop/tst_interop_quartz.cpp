// SPDX-License-Identifier: Apache-2.0
// Quartz's JDBC job store on MariaDB: its lock is a row that it keeps locked in a transaction. Its holder is seen and
// keeps ours out, and a force-release lets a scheduler that waits go on, within a second of its end: InnoDB wakes it.
#include "tests/interop/fetched.h"
#include "tests/live/mariadbfixture.h"
#include "tests/support/testmain.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

using namespace lockscope;
using namespace lockscope::interop;
using namespace Qt::StringLiterals;

class TestInteropQuartz : public testing::MariaDbFixture {
    Q_OBJECT

    std::unique_ptr<ForeignClient> m_program;
    QTemporaryDir m_files;
    const QString m_lock = u"mariadb:quartz.QRTZ_LOCKS#SCHED_NAME=shop,LOCK_NAME=TRIGGER_ACCESS"_s;

    [[nodiscard]] QStringList connect() const
    {
        return {u"--connect"_s, u"mariadb://root@127.0.0.1:%1"_s.arg(m_server->address().port), u"--json"_s};
    }
    QJsonObject lockscopectl(const QStringList &arguments, QByteArray *said = nullptr)
    {
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL), connect() + arguments);
        ctl.waitForFinished(testing::patienceMs);
        const auto answer = ctl.readAllStandardOutput();
        if (said)
            *said = answer + ctl.readAllStandardError();
        return QJsonDocument::fromJson(answer).object();
    }
    // Of the lock in the list: a row lock is in it once somebody waits.
    QJsonObject seen()
    {
        for (const auto lock : lockscopectl({u"locks"_s})["locks"_L1].toArray()) {
            if (lock.toObject()["lock"_L1] == m_lock)
                return lock.toObject();
        }
        return {};
    }
    QString connectionOf(const QByteArray &name)
    {
        for (const auto &line : m_program->everythingSaid().split('\n')) {
            if (line.startsWith("held " + name + ' '))
                return QString::fromLatin1(line.split(' ').value(2));
        }
        return {};
    }
    bool theyTake(const QByteArray &name)
    {
        m_program->tell("acquire " + name + " TRIGGER_ACCESS");
        return m_program->says("held " + name);
    }
    bool theyGiveBack(const QByteArray &name)
    {
        m_program->tell("release " + name);
        return m_program->says("released " + name);
    }

private slots:
    void initTestCase()
    {
        if (fetched("QUARTZ").isEmpty())
            QSKIP(whyNotFetched("QUARTZ").constData());
        qputenv("XDG_STATE_HOME", m_files.path().toUtf8());
        const auto problem = startServer();
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        QVERIFY(run(*m_admin, "CREATE DATABASE quartz"));
        const auto url = u"jdbc:mariadb://127.0.0.1:%1/quartz?user=root"_s.arg(m_server->address().port);
        m_program = std::make_unique<ForeignClient>(
            u"java"_s, QStringList{u"-XX:TieredStopAtLevel=1"_s, u"-cp"_s, fetched("QUARTZ") + u"/*"_s,
                                   clientFile(u"QuartzContenders.java"_s), url});
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid().constData());
        QVERIFY2(theyTake("first") && theyGiveBack("first"), m_program->everythingSaid().constData());
        m_program->tell("schedule before");
        QVERIFY2(m_program->says("scheduled before"), m_program->everythingSaid().constData());
    }
    void cleanup()
    {
        if (QTest::currentTestFailed() && m_program)
            qInfo("%s", m_program->everythingSaid().constData());
    }
    void cleanupTestCase()
    {
        m_program.reset();
        if (m_server)
            endServer();
    }

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

    void aForceReleaseLetsItsSchedulerGoOnWithinASecond()
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
