// SPDX-License-Identifier: Apache-2.0
// lockscopectl force-release on real servers: whatever is refused leaves the lock untouched, down to
// the zxids; what is done is done to the one asked for, recorded, and reported.
#include "tests/support/testmain.h"
#include "tests/support/asked.h"
#include "tests/support/ctlfixture.h"

#include "core/redis/client.h"

#include <QTcpServer>

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;

class TestCtlForceRelease : public QObject {
    Q_OBJECT

    Servers m_servers;
    int m_count = 0;
    QString m_lock;
    std::vector<std::unique_ptr<Ctl>> m_queue; // a holder and its waiters, in order
    QStringList m_ids;

    QByteArray path() const { return m_lock.mid(3).toUtf8(); }
    Ran force(const QString &holder, const QStringList &more = {u"--yes"_s}) const
    {
        return m_servers.run(QStringList{u"force-release"_s, m_lock, u"--holder"_s, holder} + more);
    }
    QJsonArray contenders() const
    {
        const auto shown = m_servers.run({u"show"_s, m_lock, u"--json"_s});
        return shown.json().value("lock"_L1).toObject().value("contenders"_L1).toArray();
    }
    QJsonArray records() const { return run({u"audit"_s, u"--json"_s}).json().value("records"_L1).toArray(); }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        if (!why.isEmpty())
            QSKIP(qPrintable(why));
    }
    void cleanupTestCase() { m_servers.stop(); }

    void init()
    {
        m_lock = u"zk:/locks/forced%1"_s.arg(++m_count);
        const auto arguments =
            m_servers.connect() + QStringList{u"acquire"_s, m_lock, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s};
        for (int n = 0; n < 3; ++n) {
            m_queue.push_back(std::make_unique<Ctl>(arguments));
            if (n == 0)
                QVERIFY(m_queue.front()->jsonLine().value("acquired"_L1).toBool());
            QTRY_COMPARE(m_servers.childrenWithZxids(path()).size(), n + 2);
        }
        m_ids.clear();
        for (const auto &contender : contenders())
            m_ids << contender.toObject().value("id"_L1).toString();
        QCOMPARE(m_ids.size(), 3);
        QFile::remove(m_servers.state.filePath(u"lockscope/audit.jsonl"_s));
        QFile::remove(m_servers.state.filePath(u"lockscope/audit.jsonl.head"_s));
    }
    void cleanup()
    {
        for (const auto &ctl : m_queue)
            ctl->signal(SIGTERM);
        for (const auto &ctl : m_queue)
            (void)ctl->finish();
        m_queue.clear();
    }

    void refusedReleaseLeavesTheLockUntouched_data()
    {
        QTest::addColumn<QString>("who"); // an id, or the index of a contender
        QTest::addColumn<QStringList>("options");
        QTest::newRow("yesterday's id") << u"_c_11111111-2222-3333-4444-555555555555-lock-0000000000"_s
                                        << QStringList{u"--yes"_s};
        QTest::newRow("a waiter's id") << u"1"_s << QStringList{u"--yes"_s};
        QTest::newRow("read-only") << u"0"_s << QStringList{u"--yes"_s, u"--read-only"_s};
        QTest::newRow("not confirmed") << u"0"_s << QStringList{};
        QTest::newRow("not confirmed, with a reason") << u"0"_s << QStringList{u"--reason"_s, u"stuck"_s};
    }
    void refusedReleaseLeavesTheLockUntouched()
    {
        QFETCH(QString, who);
        QFETCH(QStringList, options);
        const auto before = m_servers.childrenWithZxids(path());
        const auto id = who.size() == 1 ? m_ids[who.toInt()] : who;
        for (const bool json : {false, true}) {
            const auto ran = force(id, json ? options + QStringList{u"--json"_s} : options);
            QVERIFY2(ran.status == 4, ran.what());
            QVERIFY2(ran.err.count('\n') == 1, ran.what());
            if (json)
                QCOMPARE(ran.json().value("released"_L1), QJsonValue(false));
        }
        QCOMPARE(m_servers.childrenWithZxids(path()), before);
        QVERIFY(records().isEmpty());
    }

    // Who thinks for a while before the answer: no server is waited for then.
    void confirmationIsNotMixedWithWaitNotices_data()
    {
        QTest::addColumn<bool>("interrupts");
        QTest::newRow("says no") << false;
        QTest::newRow("Ctrl-C") << true;
    }
    void confirmationIsNotMixedWithWaitNotices()
    {
        QFETCH(bool, interrupts);
        const auto before = m_servers.childrenWithZxids(path());
        AskedCommand asks(m_servers.connect() + QStringList{u"force-release"_s, m_lock, u"--holder"_s, m_ids[0]});
        QVERIFY2(asks.says("Type yes to release: "), asks.said());
        // Another, started later, has waited long enough for a server to say so.
        QTcpServer silent;
        QVERIFY(silent.listen(QHostAddress::LocalHost));
        AskedCommand waits(
            {u"show"_s, u"redis:orders"_s, u"--connect"_s, u"redis=redis://127.0.0.1:%1"_s.arg(silent.serverPort())});
        QVERIFY2(waits.says("waiting for"), waits.said());
        QCOMPARE(interrupts ? asks.interrupt() : asks.answer("no"), 4);
        QVERIFY2(asks.said().contains("\nlockscopectl: force-release: not confirmed; nothing was sent"), asks.said());
        QCOMPARE(m_servers.childrenWithZxids(path()), before);
        QVERIFY(records().isEmpty());
        QVERIFY2(!asks.said().contains("waiting for"), asks.said());
    }

    // By its id it is the same hold; what was confirmed is the one that was shown.
    void newHoldDuringTheQuestionIsNotReleased_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QByteArray>("question");
        QTest::newRow("text") << QStringList() << QByteArray("Type yes to release: ");
        QTest::newRow("json") << QStringList{u"--json"_s} << QByteArray("Type yes to release: ");
        QTest::newRow("gentler") << QStringList{u"--method"_s, u"shorten-ttl"_s} << QByteArray("Type yes to ");
    }
    void newHoldDuringTheQuestionIsNotReleased()
    {
        QFETCH(QStringList, options);
        QFETCH(QByteArray, question);
        redis::ConnectionOptions to;
        to.host = m_servers.redis->address();
        const auto client = redis::openConnection(m_servers.loop, to);
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        const auto ask = [&](const redis::Command &command) {
            return testing::await(client->command(command, m_servers.soon()));
        };
        const QByteArray thread = "c8b9e7b0-8f6e-4d5e-a7a5-11d0f0a0b0c0:45";
        const auto take = [&] { return ask({"HSET", "pooled", thread, "1"}) && ask({"PEXPIRE", "pooled", "60000"}); };
        QVERIFY(take());
        const QStringList force{u"force-release"_s, u"redis:pooled"_s, u"--holder"_s, QString::fromUtf8(thread)};
        AskedCommand asks(m_servers.connect() + force + options);
        QVERIFY2(asks.says(question), asks.said());
        QVERIFY(ask({"DEL", "pooled"}));
        QVERIFY2(asks.says("no longer appears as the holder"), asks.said());
        QVERIFY(take());
        QVERIFY2(asks.says("released the lock and acquired it again"), asks.said());
        QCOMPARE(asks.said().count(question), 3);
        const int status = asks.answer("yes");
        QVERIFY2(status == 4, asks.said());
        QVERIFY2(asks.said().contains("acquired it again. Nothing was changed"), asks.said());
        const auto left = ask({"PTTL", "pooled"});
        QVERIFY(left && left->integer > 30'000);
        QVERIFY(ask({"DEL", "pooled"}));
        QVERIFY(records().isEmpty());
    }

    void aDryRunSaysEverythingAndDoesNothing()
    {
        const auto before = m_servers.childrenWithZxids(path());
        const auto ran = force(m_ids[0], {u"--dry-run"_s, u"--json"_s, u"--reason"_s, u"a look"_s});
        QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        const auto json = ran.json();
        for (const auto &field :
             words("released lock holder commands guard nextHolder warnings reason dryRun schema"))
            QVERIFY2(json.contains(field), qPrintable(field));
        QCOMPARE(json.value("released"_L1), QJsonValue(false));
        QCOMPARE(json.value("dryRun"_L1), QJsonValue(true));
        QCOMPARE(json.value("lock"_L1).toString(), m_lock);
        QCOMPARE(json.value("holder"_L1).toString(), m_ids[0]);
        QCOMPARE(json.value("nextHolder"_L1).toString(), m_ids[1]);
        QCOMPARE(json.value("reason"_L1).toString(), u"a look"_s);
        const auto commands = json.value("commands"_L1).toArray();
        QVERIFY2(commands.last().toString().contains(u"delete "_s + m_lock.mid(3) + u'/' + m_ids[0]), ran.what());
        QVERIFY2(json.value("warnings"_L1).toArray().first().toString().contains(u"may still act as if"_s),
                 ran.what());
        QCOMPARE(m_servers.childrenWithZxids(path()), before);
        QVERIFY(records().isEmpty());
        // With --read-only it still only looks.
        QCOMPARE(force(m_ids[0], {u"--dry-run"_s, u"--read-only"_s}).status, 0);
    }

    void aRehearsalSaysWhoIsNextAndOnlyLooks()
    {
        const auto before = m_servers.childrenWithZxids(path());
        const auto ran = m_servers.run({u"rehearse"_s, m_lock, u"--holder"_s, m_ids[0], u"--json"_s});
        QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        const auto json = ran.json();
        QCOMPARE(fields(json),
                 sorted(words("lock holder next nextHolder granted woken wastedWakeups wokenObserved otherLocksLost "
                              "otherLocksComplete assumed schema")));
        QCOMPARE(json.value("next"_L1).toString(), u"certain"_s);
        QCOMPARE(json.value("nextHolder"_L1).toString(), m_ids[1]);
        QCOMPARE(json.value("woken"_L1).toInt(), 1);
        QVERIFY(json.value("otherLocksLost"_L1).toArray().isEmpty());
        const auto told = m_servers.run({u"rehearse"_s, m_lock, u"--holder"_s, m_ids[0]});
        QVERIFY2(told.status == 0 && told.out.contains(m_ids[1].toUtf8() + " at "), told.what());
        QVERIFY2(told.out.contains("gets it next; 1 client is woken; no other lock is lost"), told.what());
        const auto named = m_servers.run({u"rehearse"_s, m_lock, u"--holder"_s, m_ids[0], u"--label"_s,
                                          m_ids[0] + u"=billing"_s, u"--label"_s, m_ids[1] + u"=stock"_s});
        QVERIFY2(named.status == 0 && named.out.contains("(billing): " + m_ids[1].toUtf8() + " (stock) at "),
                 named.what());
        const auto dry = force(m_ids[0], {u"--dry-run"_s, u"--label"_s, m_ids[0] + u"=billing"_s});
        QVERIFY2(dry.status == 0 && dry.out.contains(m_ids[0].toUtf8() + " (billing)"), dry.what());
        // As force-release refuses it.
        QCOMPARE(m_servers.run({u"rehearse"_s, m_lock, u"--holder"_s, m_ids[1]}).status, 4);
        QCOMPARE(m_servers.run({u"rehearse"_s, m_lock}).status, 2);
        QCOMPARE(m_servers.childrenWithZxids(path()), before);
        QVERIFY(records().isEmpty());
    }

    void theNextOneWakesAndTheHolderIsTold()
    {
        const auto ran = force(m_ids[0], {u"--yes"_s, u"--json"_s, u"--reason"_s, u"stuck since noon"_s});
        QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        QCOMPARE(ran.json().value("released"_L1), QJsonValue(true));
        const auto next = m_queue[1]->jsonLine();
        QCOMPARE(next.value("acquired"_L1), QJsonValue(true));
        QCOMPARE(next.value("id"_L1).toString(), m_ids[1]);
        QCOMPARE(m_queue[0]->jsonLine().value("reason"_L1).toString(), u"lost"_s);
        QCOMPARE(m_servers.childrenWithZxids(path()).size(), 3); // two contenders and the parent's line
        // The same again is yesterday's id.
        const auto again = force(m_ids[0]);
        QVERIFY2(again.status == 4 && again.err.contains("any more"), again.what());
    }

    void releaseIsRecorded()
    {
        QVERIFY(force(m_ids[0], {u"--yes"_s, u"--reason"_s, u"stuck \"again\""_s}).status == 0);
        const auto all = records();
        QCOMPARE(all.size(), 2);
        const auto intent = all[0].toObject();
        const auto result = all[1].toObject();
        const auto common = words("time actor action lock holder reason phase outcome before after hash");
        QCOMPARE(fields(intent), sorted(common));
        QCOMPARE(fields(result), sorted(common + words("done")));
        QCOMPARE(result.value("done"_L1), QJsonValue(true));
        QCOMPARE(intent.value("phase"_L1).toString(), u"intent"_s);
        QCOMPARE(result.value("phase"_L1).toString(), u"result"_s);
        QCOMPARE(result.value("outcome"_L1).toString(), u"released"_s);
        QCOMPARE(intent.value("reason"_L1).toString(), u"stuck \"again\""_s);
        QCOMPARE(intent.value("lock"_L1).toString(), m_lock);
        QCOMPARE(intent.value("holder"_L1).toString(), m_ids[0]);
        QCOMPARE(intent.value("before"_L1).toObject().value("contenders"_L1).toArray().size(), 3);
        QCOMPARE(result.value("after"_L1).toObject().value("contenders"_L1).toArray().size(), 2);
    }

    void theVerdictIsNoStrongerThanTheFiles()
    {
        QCOMPARE(run({u"audit"_s, u"--verify"_s}).status, 0); // nothing was forced yet
        QVERIFY(force(m_ids[0]).status == 0);
        const auto good = run({u"audit"_s, u"--verify"_s, u"--json"_s});
        QVERIFY2(good.status == 0 && good.json().value("verified"_L1).toBool(), good.what());
        QCOMPARE(good.json().value("records"_L1).toInt(), 2);
        QVERIFY(QFile::remove(m_servers.state.filePath(u"lockscope/audit.jsonl.head"_s)));
        const auto unknown = run({u"audit"_s, u"--verify"_s});
        QVERIFY2(unknown.status == 1 && unknown.err.contains("cannot be detected"), unknown.what());
    }

    void aTamperedRecordIsNoticed()
    {
        QVERIFY(force(m_ids[0]).status == 0);
        const auto path = m_servers.state.filePath(u"lockscope/audit.jsonl"_s);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadWrite));
        auto bytes = file.readAll();
        QVERIFY(bytes.contains("\"released\""));
        bytes.replace("\"released\"", "\"refused!\"");
        QVERIFY(file.seek(0) && file.write(bytes) == bytes.size());
        file.close();
        const auto ran = run({u"audit"_s});
        QVERIFY2(ran.status == 1 && ran.err.contains("line 2"), ran.what());
        const auto verified = run({u"audit"_s, u"--verify"_s, u"--json"_s});
        QVERIFY2(verified.status == 1 && verified.err.contains("line 2"), verified.what());
        QCOMPARE(verified.json().value("verified"_L1), QJsonValue(false));
    }

    void anUnwritableAuditFileMeansNothingIsSent()
    {
        const QTemporaryDir folder;
        QFile blocker(folder.filePath(u"state"_s)); // a file where the folder should be stops root too
        QVERIFY(blocker.open(QIODevice::WriteOnly));
        const auto before = m_servers.childrenWithZxids(path());
        const auto ran = testing::run(
            m_servers.connect() + QStringList{u"force-release"_s, m_lock, u"--holder"_s, m_ids[0], u"--yes"_s},
            {{u"XDG_STATE_HOME"_s, blocker.fileName()}});
        QVERIFY2(ran.status == 4 && ran.err.contains("audit.jsonl"), ran.what());
        QCOMPARE(m_servers.childrenWithZxids(path()), before);
    }

    void nobodyHoldsAMissingLock()
    {
        m_lock = u"zk:/locks/nothing-here"_s;
        const auto ran = force(u"anyone"_s);
        QVERIFY2(ran.status == 4 && ran.err.count('\n') == 1, ran.what());
    }

    void aRedisTokenIsCompared()
    {
        m_lock = u"redis:forced-lock"_s;
        redis::ConnectionOptions options;
        options.host = m_servers.redis->address();
        const auto client = redis::openConnection(m_servers.loop, options);
        const QByteArray token = "83427f40e55111f1a2e7fac9e99d7ff8";
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        QVERIFY(await(client->command({"SET", "forced-lock", token, "NX"}, m_servers.soon())));
        QCOMPARE(force(u"93427f40e55111f1a2e7fac9e99d7ff9"_s).status, 4);
        const auto kept = await(client->command({"GET", "forced-lock"}, m_servers.soon()));
        QVERIFY(kept && kept->text == token);
        const auto ran = force(QString::fromUtf8(token), {u"--yes"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto gone = await(client->command({"EXISTS", "forced-lock"}, m_servers.soon()));
        QVERIFY(gone && gone->integer == 0);
    }

    void aConstantValueIsReleasedFromTheOneThatWasSeen()
    {
        m_lock = u"redis:constant-lock"_s;
        redis::ConnectionOptions options;
        options.host = m_servers.redis->address();
        const auto client = redis::openConnection(m_servers.loop, options);
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        const auto ask = [&](const redis::Command &command) {
            return testing::await(client->command(command, m_servers.soon()));
        };
        QVERIFY(ask({"SET", "constant-lock", "1", "PX", "60000"}));
        const auto id = contenders().first().toObject().value("id"_L1).toString();
        const auto expiry = ask({"PEXPIRETIME", "constant-lock"});
        QCOMPARE(id, u"1@%1"_s.arg(expiry->integer));
        // The value alone may be the next holder's by now.
        const auto bare = force(u"1"_s);
        QVERIFY2(bare.status == 4 && bare.err.contains(id.toUtf8()), bare.what());
        // Given back and taken by the next one, which writes the same.
        QVERIFY(ask({"SET", "constant-lock", "1", "PX", "61000"}));
        QCOMPARE(force(id).status, 4);
        QCOMPARE(ask({"EXISTS", "constant-lock"})->integer, 1);
        const auto now = contenders().first().toObject().value("id"_L1).toString();
        const auto ran = force(now);
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(ask({"EXISTS", "constant-lock"})->integer, 0);
    }

    void constantWithoutExpiryNeedsNotExact()
    {
        m_lock = u"redis:endless-lock"_s;
        redis::ConnectionOptions options;
        options.host = m_servers.redis->address();
        const auto client = redis::openConnection(m_servers.loop, options);
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        const auto ask = [&](const redis::Command &command) {
            return testing::await(client->command(command, m_servers.soon()));
        };
        QVERIFY(ask({"SET", "endless-lock", "1"}));
        for (const auto &option : {u"--yes"_s, u"--dry-run"_s}) {
            const auto refused = force(u"1"_s, {option});
            QVERIFY2(refused.status == 4 && refused.err.contains("--not-exact"), refused.what());
        }
        QCOMPARE(ask({"EXISTS", "endless-lock"})->integer, 1);
        const auto dry = force(u"1"_s, {u"--dry-run"_s, u"--not-exact"_s, u"--json"_s});
        QVERIFY2(dry.status == 0 && dry.json().value("exact"_L1) == QJsonValue(false), dry.what());
        const auto ran = force(u"1"_s, {u"--yes"_s, u"--not-exact"_s});
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(ask({"EXISTS", "endless-lock"})->integer, 0);
    }

    void aSessionSaysWhoIsMeant()
    {
        const auto session = contenders().first().toObject().value("session"_L1).toString();
        const auto ran = force(u"session:"_s + session);
        QVERIFY2(ran.status == 0 && ran.out.contains(m_ids[0].toUtf8()), ran.what());
        QCOMPARE(force(u"session:"_s + session).status, 4);
    }

    void productionIsArmedFirst()
    {
        const auto before = m_servers.childrenWithZxids(path());
        const QStringList production{u"--production"_s, u"zk"_s, u"--yes"_s};
        const QStringList armed = production + QStringList{u"--allow-writes"_s, u"zk"_s};
        const auto refused = force(m_ids[0], production);
        QVERIFY2(refused.status == 4 && refused.err.contains("--allow-writes zk"), refused.what());
        QCOMPARE(force(m_ids[0], armed + QStringList{u"--read-only"_s}).status, 4);
        // --yes neither names the connection nor gives a reason.
        const auto bare = force(m_ids[0], armed);
        QVERIFY2(bare.status == 4 && bare.err.contains("--reason TEXT"), bare.what());
        const QStringList reasoned = armed + QStringList{u"--reason"_s, u"INC 1"_s};
        const auto unnamed = force(m_ids[0], reasoned);
        QVERIFY2(unnamed.status == 4 && unnamed.err.contains("add --confirm zk"), unnamed.what());
        const auto misnamed = force(m_ids[0], reasoned + QStringList{u"--confirm"_s, u"yes"_s});
        QVERIFY2(misnamed.status == 4 && misnamed.err.contains("another connection"), misnamed.what());
        const QStringList meant = reasoned + QStringList{u"--confirm"_s, u"zk"_s};
        const auto taken = m_servers.run(QStringList{u"acquire"_s, m_lock, u"--recipe"_s, u"zk-mutex"_s,
                                                     u"--production"_s, u"zk"_s, u"--wait"_s, u"1s"_s});
        QVERIFY2(taken.status == 4 && taken.err.contains("--allow-writes zk"), taken.what());
        QCOMPARE(m_servers.childrenWithZxids(path()), before);
        const auto ran = force(m_ids[0], meant);
        QVERIFY2(ran.status == 0, ran.what());
    }

    void onlyTheLeaseOrNodeAskedForGoes()
    {
        // A plain ephemeral: a fixed name, so the plan says that a gap remains.
        m_lock = u"zk:/forced-plain/leader-lock"_s;
        QVERIFY(m_servers.put("/forced-plain"));
        Ctl holder(m_servers.connect()
                   + QStringList{u"acquire"_s, m_lock, u"--recipe"_s, u"zk-ephemeral"_s, u"--json"_s});
        const auto id = holder.jsonLine().value("id"_L1).toString();
        QVERIFY2(id.startsWith(u"leader-lock@"_s), qPrintable(id));
        const auto bare = force(u"leader-lock"_s);
        QVERIFY2(bare.status == 4 && bare.err.contains(id.toUtf8()), bare.what());
        Ctl waiter(m_servers.connect()
                   + QStringList{u"acquire"_s, m_lock, u"--recipe"_s, u"zk-ephemeral"_s, u"--json"_s});
        const auto dry = force(id, {u"--dry-run"_s, u"--json"_s});
        QVERIFY2(dry.json().value("exact"_L1) == QJsonValue(false), dry.what());
        const auto ran = force(id);
        QVERIFY2(ran.status == 0, ran.what());
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
    }
};

LOCKSCOPE_TEST(TestCtlForceRelease)
#include "tst_ctl_forcerelease.moc"
