// SPDX-License-Identifier: Apache-2.0
// lockscopectl acquire: taking, holding, running under, losing and giving back, on real servers.
#include "tests/support/cable.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QFile>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QTcpSocket>

class TestCtlAcquire : public QObject {
    Q_OBJECT

    Servers m_servers;
    int m_count = 0;

    QString freshLock() { return u"zk:/locks/acquire%1"_s.arg(++m_count); }
    QStringList acquire(const QString &lock, const QStringList &more = {}) const
    {
        const auto recipe = lock.startsWith(u"zk:"_s) ? u"zk-mutex"_s : u"redis-set-nx"_s;
        return m_servers.connect() + QStringList{u"acquire"_s, lock, u"--recipe"_s, recipe} + more;
    }
    int contenders(const QString &lock)
    {
        const auto listed =
            await(m_servers.session->children(ZPath(lock.mid(3).toUtf8()), std::nullopt, m_servers.soon()));
        return listed ? static_cast<int>(listed->names.size()) : -1;
    }
    static bool runs(pid_t process)
    {
        QFile status(u"/proc/%1/stat"_s.arg(process));
        // Who is dead and not yet asked for runs no more.
        return status.open(QIODevice::ReadOnly) && !status.readAll().contains(") Z ");
    }
    // How often the Redis was asked to SET.
    int setCalls()
    {
        QTcpSocket socket;
        socket.connectToHost(u"127.0.0.1"_s, m_servers.redis->address().port);
        socket.write("INFO commandstats\r\nPING\r\n");
        QByteArray said;
        while (!said.contains("+PONG") && socket.waitForReadyRead(patienceMs))
            said += socket.readAll();
        static const QRegularExpression calls(u"cmdstat_set:calls=([0-9]+)"_s);
        return calls.match(QString::fromLatin1(said)).captured(1).toInt();
    }
    static QStringList locks(int count)
    {
        return {u"zk:/locks/both%1"_s.arg(count), u"redis:both-lock%1"_s.arg(count)};
    }

private slots:
    void initTestCase() { SKIP_FOR(m_servers.start()); }
    void cleanupTestCase() { m_servers.stop(); }

    void aHoldHasTwoLinesOfJson()
    {
        for (const auto &lock : locks(++m_count)) {
            Ctl ctl(acquire(lock, {u"--hold"_s, u"50ms"_s, u"--json"_s}));
            const auto had = ctl.jsonLine();
            QCOMPARE(fields(had), sorted(words("acquired lock id fencingToken waitedMs schema")));
            QCOMPARE(had.value("acquired"_L1).toBool(), true);
            QCOMPARE(had.value("lock"_L1).toString(), lock);
            QCOMPARE(had.value("fencingToken"_L1).isString(), lock.startsWith(u"zk:"_s));
            const auto back = ctl.jsonLine();
            QCOMPARE(fields(back), sorted(words("released lock id heldMs reason schema")));
            QCOMPARE(back.value("reason"_L1).toString(), u"done"_s);
            QCOMPARE(back.value("id"_L1), had.value("id"_L1));
            QVERIFY(back.value("heldMs"_L1).toInt() >= 50);
            const auto ran = ctl.finish();
            QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        }
    }

    void interruptsGiveItBack_data()
    {
        const Rows<int> row("number");
        row("SIGINT", SIGINT);
        row("SIGTERM", SIGTERM);
        row("SIGHUP", SIGHUP);
        row("SIGQUIT", SIGQUIT);
        row("SIGUSR1", SIGUSR1);
    }
    void interruptsGiveItBack()
    {
        QFETCH(int, number);
        for (const auto &lock : locks(++m_count)) {
            Ctl ctl(acquire(lock, {u"--json"_s}));
            QVERIFY(ctl.jsonLine().value("acquired"_L1).toBool());
            ctl.signal(number);
            QCOMPARE(ctl.jsonLine().value("reason"_L1).toString(), u"interrupted"_s);
            QCOMPARE(ctl.finish().status, 0);
            if (lock.startsWith(u"zk:"_s))
                QCOMPARE(contenders(lock), 0);
            else
                QVERIFY(m_servers.run({u"show"_s, lock}).status == 1);
        }
    }

    void timedOutWaiterLeavesNothing()
    {
        for (const auto &lock : locks(++m_count)) {
            Ctl holder(acquire(lock, {u"--json"_s}));
            const auto had = holder.jsonLine();
            QVERIFY(had.value("acquired"_L1).toBool());
            const auto late = run(acquire(lock, {u"--wait"_s, u"150ms"_s, u"--json"_s}));
            QVERIFY2(late.status == 5, late.what());
            QVERIFY2(late.out.isEmpty() && late.err.count('\n') == 1, late.what());
            // For whom it waited: of ZooKeeper the node, which the id begins with.
            const auto whom = had.value("id"_L1).toString().section(u'@', 0, 0).toUtf8();
            QVERIFY2(late.err.contains("it waits for") && late.err.contains(whom), late.what());
            if (lock.startsWith(u"zk:"_s))
                QCOMPARE(contenders(lock), 1);
        }
    }

    void interruptedWhileWaitingLeavesNothing()
    {
        const auto lock = freshLock();
        Ctl holder(acquire(lock, {u"--json"_s}));
        QVERIFY(holder.jsonLine().value("acquired"_L1).toBool());
        Ctl waiter(acquire(lock));
        QTRY_COMPARE(contenders(lock), 2);
        waiter.signal(SIGINT);
        const auto ran = waiter.finish();
        QVERIFY2(ran.status == 1 && ran.err.contains("nothing was left behind"), ran.what());
        QCOMPARE(contenders(lock), 1);
    }

    // Who goes while the server is silent says what it may leave there.
    void possibleLeftoversOnASilentServerAreNamed()
    {
        const auto lock = locks(++m_count).last();
        Ctl holder(acquire(lock, {u"--ttl"_s, u"50s"_s, u"--json"_s}));
        QVERIFY(holder.jsonLine().value("acquired"_L1).toBool());
        const int before = setCalls();
        Ctl waiter(acquire(lock, {u"--ttl"_s, u"40s"_s}));
        // It tries all the time, so that one try is out when the server falls silent.
        QTRY_VERIFY_WITH_TIMEOUT(setCalls() >= before + 3, patienceMs);
        m_servers.redis->pause();
        const auto resume = qScopeGuard([this] { m_servers.redis->resume(); });
        QTest::qWait(300);
        waiter.signal(SIGTERM);
        holder.signal(SIGTERM);
        const auto waited = waiter.finish(), held = holder.finish();
        QVERIFY2(waited.status == 1 && !waited.err.contains("nothing was left behind"), waited.what());
        QVERIFY2(waited.err.contains("remains until its TTL expires (at most 40 s)"), waited.what());
        QVERIFY2(held.status == 1 && held.err.contains("remains until its TTL expires (at most 50 s)"), held.what());
        QVERIFY2(!held.out.contains("\"released\":true"), held.what());
    }

    void aCommandRunsUnderTheLock()
    {
        const auto lock = freshLock();
        const auto ran = run(acquire(
            lock, {u"--"_s, u"sh"_s, u"-c"_s, u"echo \"$LOCKSCOPE_LOCK/$LOCKSCOPE_FENCING_TOKEN\"; exit 7"_s}));
        QVERIFY2(ran.status == 7, ran.what());
        QVERIFY2(ran.out.contains("\n" + lock.toUtf8() + '/') && !ran.out.contains("/\n"), ran.what());
        QCOMPARE(contenders(lock), 0);
    }

    void underJsonTheCommandPrintsToStderr()
    {
        const auto ran = run(acquire(freshLock(), {u"--json"_s, u"--"_s, u"echo"_s, u"hello"_s}));
        QCOMPARE(ran.status, 0);
        QCOMPARE(ran.out.count('\n'), 2);
        QCOMPARE(ran.err, QByteArray("hello\n"));
    }

    void aCommandThatCannotStartGivesTheLockBack()
    {
        const auto lock = freshLock();
        const auto ran = run(acquire(lock, {u"--"_s, u"/no/such/program"_s}));
        QVERIFY2(ran.status == 1 && ran.err.contains("could not run"), ran.what());
        QCOMPARE(contenders(lock), 0);
    }

    void aCommandEndsBeforeTheLockIsGivenBack()
    {
        const auto lock = freshLock();
        Ctl ctl(acquire(lock, {u"--"_s, u"sh"_s, u"-c"_s,
                               u"trap 'echo stopping; exit 9' TERM; echo ready; while :; do sleep 0.02; done"_s}));
        QVERIFY(ctl.line().startsWith("acquired"));
        QCOMPARE(ctl.line(), QByteArray("ready"));
        ctl.signal(SIGTERM);
        QCOMPARE(ctl.line(), QByteArray("stopping"));
        QVERIFY(ctl.line().startsWith("released"));
        QCOMPARE(ctl.finish().status, 9);
    }

    void aLostLockEndsItsCommand()
    {
        const auto lock = freshLock();
        Ctl ctl(acquire(lock, {u"--json"_s, u"--"_s, u"sleep"_s, u"60"_s}));
        const auto id = ctl.jsonLine().value("id"_L1).toString();
        QVERIFY(!id.isEmpty());
        const auto node = ZPath(lock.mid(3).toUtf8()).child(NodeName(id.toUtf8()));
        QVERIFY(await(m_servers.session->remove(node, zk::anyVersion, m_servers.soon())));
        QCOMPARE(ctl.jsonLine().value("reason"_L1).toString(), u"lost"_s);
        const auto ran = ctl.finish();
        QVERIFY2(ran.status == 1 && ran.err.contains("it was removed"), ran.what());
    }

    // Also what the command started, and also when it does not heed SIGTERM.
    void aLostLockEndsAllOfItsCommand_data()
    {
        addRows<QString>("heeding", {{"none heeds SIGTERM", u"trap '' TERM; "_s}, {"only the command does", {}}});
    }
    void aLostLockEndsAllOfItsCommand()
    {
        QFETCH(QString, heeding);
        QTemporaryDir folder;
        const auto file = folder.filePath(u"started"_s);
        const auto lock = freshLock();
        Ctl ctl(acquire(lock, {u"--json"_s, u"--"_s, u"sh"_s, u"-c"_s,
                               heeding
                                   + u"sh -c 'trap \"\" TERM; echo $$ > %1.new; mv %1.new %1; "
                                     u"while :; do sleep 1; done'; exit 3"_s.arg(file)}));
        const auto id = ctl.jsonLine().value("id"_L1).toString();
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), patienceMs);
        QFile started(file);
        QVERIFY(started.open(QIODevice::ReadOnly));
        const auto process = static_cast<pid_t>(started.readAll().trimmed().toInt());
        QVERIFY(process > 0 && ::kill(process, 0) == 0);
        const auto node = ZPath(lock.mid(3).toUtf8()).child(NodeName(id.toUtf8()));
        QVERIFY(await(m_servers.session->remove(node, zk::anyVersion, m_servers.soon())));
        QCOMPARE(ctl.jsonLine().value("reason"_L1).toString(), u"lost"_s);
        QCOMPARE(ctl.finish().status, 1);
        QTRY_VERIFY_WITH_TIMEOUT(!runs(process), patienceMs);
    }

    void aCommandDiesWithUs()
    {
        QTemporaryDir folder;
        const auto file = folder.filePath(u"started"_s);
        Ctl ctl(acquire(freshLock(), {u"--json"_s, u"--"_s, u"sh"_s, u"-c"_s,
                                      u"echo $$ > %1.new; mv %1.new %1; exec sleep 600"_s.arg(file)}));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), patienceMs);
        QFile started(file);
        QVERIFY(started.open(QIODevice::ReadOnly));
        const auto process = static_cast<pid_t>(started.readAll().trimmed().toInt());
        QVERIFY(process > 0 && runs(process));
        ctl.signal(SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!runs(process), patienceMs);
    }

    // In a session of its own, and left behind by its parent.
    void allThatACommandStartedDiesWithUs()
    {
        QTemporaryDir folder;
        const auto file = folder.filePath(u"started"_s);
        Ctl ctl(acquire(freshLock(),
                        {u"--json"_s, u"--"_s, u"sh"_s, u"-c"_s,
                         u"sleep 600 & a=$!; setsid sleep 600 & b=$!; (setsid sh -c 'echo $$ > %1.c; sleep 600' &); "
                         u"while [ ! -s %1.c ]; do sleep 0.05; done; echo $$ $a $b $(cat %1.c) > %1.new; "
                         u"mv %1.new %1; sleep 600"_s.arg(file)}));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), patienceMs);
        QFile started(file);
        QVERIFY(started.open(QIODevice::ReadOnly));
        const auto all = started.readAll().simplified().split(' ');
        QCOMPARE(all.size(), 4);
        for (const auto &process : all)
            QVERIFY(runs(process.toInt()));
        ctl.signal(SIGKILL);
        for (const auto &process : all)
            QTRY_VERIFY_WITH_TIMEOUT(!runs(process.toInt()), patienceMs);
    }

    // Its node is gone, the answer that says so is lost.
    void aReleaseWithoutAnAnswerIsFollowedUp()
    {
        Cable cable(m_servers.zooKeeper->address());
        QTemporaryDir folder;
        const auto file = folder.filePath(u"end"_s);
        const auto lock = freshLock();
        Ctl ctl({u"--connect"_s, u"zk=zk://127.0.0.1:%1?admin=1"_s.arg(cable.address().port), u"acquire"_s, lock,
                 u"--recipe"_s, u"zk-mutex"_s, u"--"_s, u"sh"_s, u"-c"_s,
                 u"while [ ! -e %1 ]; do sleep 0.05; done; exit 7"_s.arg(file)});
        QTRY_VERIFY_WITH_TIMEOUT(contenders(lock) == 1, patienceMs);
        cable.holdBack();
        QVERIFY(QFile(file).open(QIODevice::WriteOnly));
        QTRY_VERIFY_WITH_TIMEOUT(contenders(lock) == 0, patienceMs);
        cable.cut();
        cable.mend();
        QTRY_VERIFY_WITH_TIMEOUT(ctl.pid() == 0, patienceMs);
        const auto ran = ctl.finish();
        QVERIFY2(ran.status == 7 && ran.out.contains("released"), ran.what());
    }

    void aRedisHolderNoticesAsWell()
    {
        Ctl ctl(acquire(u"redis:noticed-lock"_s, {u"--json"_s}));
        const auto id = ctl.jsonLine().value("id"_L1).toString();
        const auto forced =
            m_servers.run({u"force-release"_s, u"redis:noticed-lock"_s, u"--holder"_s, id, u"--yes"_s});
        QVERIFY2(forced.status == 0, forced.what());
        QCOMPARE(ctl.jsonLine().value("reason"_L1).toString(), u"lost"_s);
        QCOMPARE(ctl.finish().status, 1);
    }

    void readOnlyTakesNothing()
    {
        const auto lock = freshLock();
        const auto ran = run(acquire(lock, {u"--read-only"_s}));
        QVERIFY2(ran.status == 4 && ran.err.count('\n') == 1, ran.what());
        QCOMPARE(contenders(lock), -1);
    }

    void theOtherBackendsRecipeIsRefused()
    {
        const auto ran = m_servers.run({u"acquire"_s, u"redis:x-lock"_s, u"--recipe"_s, u"zk-mutex"_s});
        QVERIFY2(ran.status == 2 || ran.status == 1, ran.what());
        QVERIFY2(ran.err.count('\n') == 1, ran.what());
    }

    void secretsReachNeitherTheCommandNorPs()
    {
        const auto uri = u"other=zk://bob:hunter2@127.0.0.1:%1"_s.arg(m_servers.zooKeeper->address().port);
        Ctl ctl({u"--connect"_s, uri, u"acquire"_s, u"other:/locks/secret"_s, u"--recipe"_s, u"zk-mutex"_s, u"--"_s,
                 u"sh"_s, u"-c"_s, u"env | grep -c hunter; echo ready; sleep 60"_s},
                {{u"LOCKSCOPE_PASSWORD_ELSE"_s, u"hunter3"_s}});
        QVERIFY(ctl.line().startsWith("acquired"));
        QCOMPARE(ctl.line(), QByteArray("0"));
        QCOMPARE(ctl.line(), QByteArray("ready"));
        QFile commandLine(u"/proc/%1/cmdline"_s.arg(ctl.pid()));
        QVERIFY(commandLine.open(QIODevice::ReadOnly));
        const auto shown = commandLine.readAll();
        QVERIFY2(shown.contains("bob:*******@") && !shown.contains("hunter2"), shown.constData());
        ctl.signal(SIGTERM);
        const auto ran = ctl.finish();
        QVERIFY2(!ran.err.contains("hunter") && !ran.out.contains("hunter2"), ran.what());
    }

    void whenNobodyReadsTheLockIsStillGivenBack()
    {
        const auto lock = freshLock();
        Ctl ctl(acquire(lock, {u"--hold"_s, u"200ms"_s}));
        QVERIFY(ctl.line().startsWith("acquired"));
        ctl.closeOutput();
        QCOMPARE(ctl.finish().status, 0);
        QCOMPARE(contenders(lock), 0);
    }
};

LOCKSCOPE_TEST(TestCtlAcquire)
#include "tst_ctl_acquire.moc"
