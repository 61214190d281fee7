// SPDX-License-Identifier: Apache-2.0
// What lockscopectl says at the end: no more than was read, understood and shown.
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

class TestCtlClosing : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_redis;
    QTemporaryDir m_folder;

    bool redis(const QStringList &command) const
    {
        return QProcess::execute(u"redis-cli"_s,
                                 QStringList{u"-p"_s, QString::number(m_redis->address().port)} + command)
               == 0;
    }
    [[nodiscard]] QStringList connect() const
    {
        return {u"--connect"_s, u"redis://127.0.0.1:%1"_s.arg(m_redis->address().port)};
    }

private slots:
    void initTestCase() { START_OR_SKIP(m_redis, sandbox::makeRedis({})); }
    void cleanupTestCase() { m_redis.reset(); }
    void init() { QVERIFY(redis({u"FLUSHALL"_s})); }

    void emptyServerHasNoLocks()
    {
        const auto locks = run(connect() + QStringList{u"locks"_s});
        QVERIFY2(locks.out.startsWith("no locks found\n"), locks.what());
        const auto findings = run(connect() + QStringList{u"findings"_s});
        QVERIFY2(findings.out.startsWith("no problems found\n"), findings.what());
        const auto graph = run(connect() + QStringList{u"graph"_s});
        QVERIFY2(graph.out.startsWith("no waiting client found; 0 locks are held"), graph.what());
    }

    // By its name it is a measure, by its value a lock. It never ends by itself.
    void hiddenLockWithAFindingIsReported()
    {
        QVERIFY(redis({u"SET"_s, u"stats:lock:nightly"_s, u"b0f1c2d3e4a5968778695a4b3c2d1e0f"_s}));
        const QByteArray hidden("1 low-confidence lock is hidden: stats:lock:nightly; "
                                "the worst finding is critical no-ttl; --all shows them");
        for (const auto &command : {u"locks"_s, u"findings"_s, u"graph"_s}) {
            const auto ran = run(connect() + QStringList{command});
            QVERIFY2(ran.status == 0 && ran.out.contains(hidden), ran.what());
            const auto json = run(connect() + QStringList{command, u"--json"_s}).json();
            QCOMPARE(json["hidden"_L1][u"count"_s].toInteger(), 1);
            QCOMPARE(json["hidden"_L1][u"worst"_s].toString(), u"critical no-ttl"_s);
            const auto all = run(connect() + QStringList{command, u"--all"_s});
            QVERIFY2(!all.out.contains("hidden")
                         && all.out.contains(command == u"graph"_s ? "1 lock is held" : "stats:lock:nightly"),
                     all.what());
        }
        const auto locks = run(connect() + QStringList{u"locks"_s});
        QVERIFY2(!locks.out.contains("no locks found"), locks.what());
        const auto findings = run(connect() + QStringList{u"findings"_s});
        QVERIFY2(findings.out.startsWith("no problems found among the locks that are shown\n"), findings.what());
    }

    // A replay knows what was hidden when it was recorded.
    void replayReportsWhatWasHidden()
    {
        QVERIFY(redis({u"SET"_s, u"stats:lock:nightly"_s, u"b0f1c2d3e4a5968778695a4b3c2d1e0f"_s}));
        const auto file = m_folder.filePath(u"hidden.lockscope"_s);
        const auto recorded = run(connect() + QStringList{u"record"_s, file, u"--for"_s, u"2s"_s});
        QVERIFY2(recorded.status == 0, recorded.what());
        const auto ran = run({u"replay"_s, file, u"findings"_s});
        QVERIFY2(ran.status == 0 && ran.out.contains("1 low-confidence lock is hidden"), ran.what());
        QVERIFY2(ran.out.startsWith("no problems found among the locks that are shown\n"), ran.what());
        const auto lock = run({u"replay"_s, file, u"show"_s, u"redis:stats:lock:nightly"_s});
        QVERIFY2(
            lock.status == 1
                && lock.err.contains("it may be hidden: 1 low-confidence lock was not recorded, and record --all"),
            lock.what());
        const auto live = run(connect() + QStringList{u"show"_s, u"redis:stats:lock:nightly"_s});
        QVERIFY2(live.status == 0 && live.out.contains("other commands hide this lock"), live.what());
    }
};

LOCKSCOPE_TEST(TestCtlClosing)
#include "tst_ctl_closing.moc"
