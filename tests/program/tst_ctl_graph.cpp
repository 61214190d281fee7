// SPDX-License-Identifier: Apache-2.0
// lockscopectl graph, and deadlocks in findings: of two clients over two locks of one server, and of two; and a crowd
// that waits for each other without any.
#include "tests/live/namedsql.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QStandardPaths>
#include <QUuid>

class TestCtlGraph : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<sandbox::Server> m_mariaDb;
    int m_runs = 0;

    using Session = std::unique_ptr<zk::Session>;
    Session openSession()
    {
        auto session = zk::openSession(m_servers.loop, {.hosts = {m_servers.zooKeeper->address()}});
        return waitForState(*session, zk::SessionState::Connected) ? std::move(session) : nullptr;
    }
    static QByteArray hex() { return QUuid::createUuid().toByteArray(QUuid::Id128); }
    bool add(zk::Session &session, const QByteArray &path, const QByteArray &data)
    {
        return bool(await(
            session.create(ZPath(path), data, zk::CreateMode::EphemeralSequential, zk::openAcl(), m_servers.soon())));
    }
    // In the queue of a kazoo lock, of a Curator mutex.
    bool queueKazoo(zk::Session &session, const QByteArray &lock, const QByteArray &identifier)
    {
        return add(session, lock + '/' + hex() + "__lock__", identifier);
    }
    bool queueCurator(zk::Session &session, const QByteArray &lock)
    {
        return add(session, lock + "/_c_" + QUuid::createUuid().toByteArray(QUuid::WithoutBraces) + "-lock-",
                   "127.0.0.1");
    }
    QByteArray makeLock(const QByteArray &name)
    {
        const auto folder = "/graph-" + QByteArray::number(m_runs);
        m_servers.put(folder);
        m_servers.put(folder + '/' + name);
        return folder + '/' + name;
    }
    bool redis(const QStringList &command) const
    {
        return QProcess::execute(u"redis-cli"_s,
                                 QStringList{u"-p"_s, QString::number(m_servers.redis->address().port)} + command)
               == 0;
    }
    [[nodiscard]] QString sqlUri() const
    {
        return u"mariadb://root@127.0.0.1:%1/shop"_s.arg(m_mariaDb->address().port);
    }
    static QJsonArray deadlocksIn(const QJsonArray &findings)
    {
        QJsonArray found;
        for (const auto &finding : findings) {
            if (finding.toObject().value("code"_L1).toString() == "deadlock"_L1)
                found.append(finding);
        }
        return found;
    }
    static QJsonArray deadlocks(const Ran &ran) { return deadlocksIn(ran.json().value("findings"_L1).toArray()); }
    // No word of it is cut there, and no line is too long.
    void onANarrowTerminal() const
    {
        const auto script = QStandardPaths::findExecutable(u"script"_s);
        if (script.isEmpty())
            return;
        const auto program =
            QStringList{QStringLiteral(LOCKSCOPECTL)} + m_servers.connect() + QStringList{u"findings"_s};
        QProcess terminal;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(u"LC_ALL"_s, u"C.UTF-8"_s);
        environment.insert(u"NO_COLOR"_s, u"1"_s);
        terminal.setProcessEnvironment(environment);
        terminal.start(
            script, {u"-qec"_s, u"stty cols 100; '"_s + program.join(u"' '"_s) + u"' 2>/dev/null"_s, u"/dev/null"_s});
        QVERIFY(terminal.waitForFinished(patienceMs));
        const auto lines = QString::fromUtf8(terminal.readAllStandardOutput()).split(u"\r\n"_s);
        QStringList words;
        for (const auto &line : lines) {
            const bool isCommand = line.contains(u" Try: "_s); // on one line, to be copied
            QVERIFY2(line.size() <= 100 || isCommand, qPrintable(line));
            words << line.simplified();
        }
        const auto text = words.join(u' ');
        QVERIFY2(text.contains(u"app-1"_s) && text.contains(u"Locks: zk:/"_s) && text.contains(u" End app-"_s)
                     && !text.contains(u'…'),
                 qPrintable(text));
    }
    static QStringList strings(const QJsonValue &array)
    {
        QStringList all;
        for (const auto &one : array.toArray())
            all << one.toString();
        all.sort();
        return all;
    }

private slots:
    void initTestCase() { SKIP_FOR(m_servers.start()); }
    void cleanupTestCase()
    {
        m_servers.stop();
        m_mariaDb.reset();
    }
    void init()
    {
        ++m_runs;
        redis({u"FLUSHALL"_s});
    }

    void twoKazooClientsOverTwoLocks()
    {
        const auto a = makeLock("a"), b = makeLock("b");
        const Session first = openSession(), second = openSession(), third = openSession();
        QVERIFY(first && second && third);
        QVERIFY(queueKazoo(*first, a, "app-1") && queueKazoo(*second, b, "app-2"));
        QVERIFY(queueKazoo(*first, b, "app-1"));
        QVERIFY(queueKazoo(*third, a, "app-3")); // between the two
        QVERIFY(queueKazoo(*second, a, "app-2"));

        const auto ran = m_servers.run({u"findings"_s, u"--json"_s});
        const auto found = deadlocks(ran);
        QVERIFY2(found.size() == 1, ran.what());
        const auto finding = found[0].toObject();
        QCOMPARE(finding["severity"_L1].toString(), u"critical"_s);
        const QStringList locks{u"zk:"_s + QString::fromUtf8(a), u"zk:"_s + QString::fromUtf8(b)};
        QCOMPARE(strings(finding["locks"_L1]), locks);
        QCOMPARE(finding["contenders"_L1].toArray().size(), 4);
        const auto message = finding["message"_L1].toString();
        QVERIFY2(message.contains(u"app-1"_s) && message.contains(u"app-2"_s) && !message.contains(u"app-3"_s),
                 qPrintable(message));

        // In words as well, whole: the cycle stands at the beginning of a long sentence.
        const auto told = m_servers.run({u"findings"_s});
        QVERIFY2(told.out.contains(message.toUtf8()), told.what());
        const auto note = m_servers.run({u"note"_s, locks.front()});
        QVERIFY2(note.out.contains("ZooKeeper 3") && !note.out.contains("version not known"), note.what());
        QVERIFY2(note.out.contains("critical `deadlock`") && note.out.contains("holds " + locks.front().toUtf8()),
                 note.what());
        const auto show = m_servers.run({u"show"_s, locks.front()});
        QVERIFY2(show.out.contains("critical deadlock: ") && show.out.contains(message.toUtf8()), show.what());
        const auto answer = m_servers.run({u"show"_s, locks.front(), u"--json"_s}).json();
        const auto ofOne = deadlocksIn(answer.value("lock"_L1).toObject().value("findings"_L1).toArray());
        QCOMPARE(ofOne.size(), 1);
        QCOMPARE(ofOne[0].toObject().value("victim"_L1), finding.value("victim"_L1));
        onANarrowTerminal();

        const auto graph = m_servers.run({u"graph"_s, u"--json"_s});
        QCOMPARE(fields(graph.json()),
                 sorted(words("schema clients edges roots cycles together waitersUnknown unlinked coverage hidden "
                              "unexplained")));
        const auto cycle = graph.json()["cycles"_L1].toArray()[0].toObject();
        QCOMPARE(strings(cycle["locks"_L1]), locks);
        const auto ids = [](const Session &one) { return u"zk:"_s + one->id().text(); };
        QStringList clients{ids(first), ids(second)};
        clients.sort();
        QCOMPARE(strings(cycle["clients"_L1]), clients);
        QVERIFY(clients.contains(cycle["victim"_L1].toString()));
        QVERIFY(cycle["ends"_L1].isNull());
        const auto text = m_servers.run({u"graph"_s});
        QVERIFY2(text.out.startsWith("deadlock: app-") && text.out.contains("least costly to end"), text.what());
        const auto dot = m_servers.run({u"graph"_s, u"--dot"_s});
        QVERIFY2(dot.out.startsWith("digraph ") && dot.out.count("color=red") == 4, dot.what());
    }

    // As Redisson writes the members of a MultiLock: asked for one of them, what else its thread holds is found too.
    void otherLocksOfItsThreadAreShown()
    {
        const QString thread = u"7c1d2f0a-1111-4222-8333-444455556666:41"_s;
        for (const auto *name : {"stock", "price", "sizes"}) {
            const auto key = u"beside:"_s + QString::fromLatin1(name);
            QVERIFY(redis({u"HSET"_s, key, thread, u"1"_s}) && redis({u"PEXPIRE"_s, key, u"600000"_s}));
        }
        const QString other = u"7c1d2f0a-1111-4222-8333-444455556666:42"_s;
        QVERIFY(redis({u"HSET"_s, u"beside:alone"_s, other, u"1"_s})
                && redis({u"PEXPIRE"_s, u"beside:alone"_s, u"600000"_s}));
        const QStringList others{u"redis:beside:price"_s, u"redis:beside:sizes"_s};

        const auto stock = u"redis:beside:stock"_s, alone = u"redis:beside:alone"_s;
        const auto shown = m_servers.run({u"show"_s, stock, u"--json"_s});
        QCOMPARE(strings(shown.json()["lock"_L1].toObject()["heldWith"_L1]), others);
        const auto text = m_servers.run({u"show"_s, stock});
        QVERIFY2(text.out.contains("held together with beside:price and beside:sizes by one thread"), text.what());
        QVERIFY(!m_servers.run({u"show"_s, alone, u"--json"_s}).json()["lock"_L1].toObject().contains("heldWith"_L1));

        const auto dryRun = [this](const QString &lock, const QString &holder, const QStringList &more) {
            return m_servers.run(QStringList{u"force-release"_s, lock, u"--holder"_s, holder, u"--dry-run"_s} + more);
        };
        QCOMPARE(strings(dryRun(stock, thread, {u"--json"_s}).json()["heldWith"_L1]), others);
        const auto preview = dryRun(stock, thread, {});
        QVERIFY2(preview.out.contains("same thread  holds beside:price and beside:sizes too"), preview.what());
        const auto ofOne = dryRun(alone, other, {u"--json"_s});
        QVERIFY2(ofOne.status == 0 && !ofOne.json().contains("heldWith"_L1), ofOne.what());
        QVERIFY(redis({u"DEL"_s, u"beside:stock"_s, u"beside:price"_s, u"beside:sizes"_s, u"beside:alone"_s}));
    }

    void aKazooLockAndARow()
    {
        START_OR_SKIP(m_mariaDb, sandbox::makeMariaDb());
        const auto port = m_mariaDb->address().port;
        NamedSql waits(port, "billing-1"); // first: it gets on when the other has gone
        NamedSql holds(port, "billing-2");
        if (!holds.isConnected() || !waits.isConnected())
            QSKIP("the C client's library is not here");
        const auto a = makeLock("row");
        const Session first = openSession(), second = openSession(), third = openSession();
        QVERIFY(first && second && third);
        const QByteArray row = "SELECT * FROM stock WHERE id = 1 FOR UPDATE";
        QVERIFY(holds.run("START TRANSACTION") && holds.run(row));
        QVERIFY(queueKazoo(*first, a, "billing-1") && queueKazoo(*second, a, "billing-2"));
        QVERIFY(queueKazoo(*third, a, "billing-3"));
        QVERIFY(waits.run("SET innodb_lock_wait_timeout = 300") && waits.run("START TRANSACTION"));
        waits.begin(row);

        const auto arguments = m_servers.connect() + QStringList{u"--connect"_s, sqlUri()};
        QTRY_COMPARE_WITH_TIMEOUT(deadlocks(run(arguments + QStringList{u"findings"_s, u"--json"_s})).size(), 1,
                                  patienceMs);
        const auto graph = run(arguments + QStringList{u"graph"_s, u"--json"_s});
        const auto cycle = graph.json()["cycles"_L1].toArray()[0].toObject();
        const QStringList clients{u"billing-1"_s, u"billing-2"_s},
            locks{u"mariadb:shop.stock#id=1"_s, u"zk:"_s + QString::fromUtf8(a)};
        QVERIFY2(strings(cycle["clients"_L1]) == clients, graph.what());
        QCOMPARE(strings(cycle["locks"_L1]), locks);
        // It has set 300 s for itself, which MySQL tells; MariaDB tells what others have.
        const auto ends = cycle["ends"_L1].toString();
        QVERIFY2(ends.contains(u"after its innodb_lock_wait_timeout of 5 m 00 s"_s)
                     || ends.contains(u"innodb_lock_wait_timeout (50 s for sessions that set none of their own; "_s),
                 qPrintable(ends));
        for (const auto &one : graph.json()["clients"_L1].toArray()) {
            const auto client = one.toObject();
            if (clients.contains(client["id"_L1].toString()))
                QCOMPARE(client["join"_L1].toString(), u"client-name"_s);
        }
        QVERIFY(holds.run("ROLLBACK"));
        waits.wait();
        m_mariaDb.reset();
    }

    void aRedissonLockAndACuratorLockByLabel()
    {
        const auto a = makeLock("curator");
        const Session first = openSession(), second = openSession(), third = openSession();
        QVERIFY(first && second && third);
        const auto mine = u"11111111-1111-4111-8111-111111111111"_s, its = u"22222222-2222-4222-8222-222222222222"_s,
                   other = u"33333333-3333-4333-8333-333333333333"_s;
        QVERIFY(queueCurator(*first, a) && queueCurator(*second, a) && queueCurator(*third, a));
        // Redisson's fair lock: the second holds it, the first waits, and one who has nothing to do with it.
        const auto later = QString::number(QDateTime::currentMSecsSinceEpoch() + 300'000);
        QVERIFY(redis({u"HSET"_s, u"orders"_s, its + u":1"_s, u"1"_s})
                && redis({u"PEXPIRE"_s, u"orders"_s, u"60000"_s}));
        for (const auto &one : {mine, other}) {
            QVERIFY(redis({u"RPUSH"_s, u"redisson_lock_queue:{orders}"_s, one + u":7"_s}));
            QVERIFY(redis({u"ZADD"_s, u"redisson_lock_timeout:{orders}"_s, later, one + u":7"_s}));
        }
        const auto label = [](const QString &pattern, const QString &name) {
            return QStringList{u"--label"_s, pattern + u'=' + name};
        };
        const auto unlabelled = m_servers.run({u"findings"_s, u"--json"_s});
        QVERIFY2(deadlocks(unlabelled).isEmpty(), unlabelled.what());
        // There is one, which is not visible as long as nothing links their clients.
        QCOMPARE(strings(unlabelled.json()["unlinked"_L1]), (QStringList{u"redis"_s, u"zk"_s}));
        for (const auto &command : {u"findings"_s, u"graph"_s}) {
            const auto unlinked = m_servers.run({command});
            QVERIFY2(unlinked.out.contains("a deadlock across redis, zk would not be found")
                         && unlinked.out.contains("--label PATTERN=NAME"),
                     unlinked.what());
        }
        const auto labels = label(mine + u":*"_s, u"east"_s) + label(first->id().text(), u"east"_s)
                            + label(its + u":*"_s, u"west"_s) + label(second->id().text(), u"west"_s);
        const auto ran = m_servers.run(QStringList{u"findings"_s, u"--json"_s} + labels);
        QVERIFY2(deadlocks(ran).size() == 1, ran.what());
        const auto message = deadlocks(ran)[0].toObject()["message"_L1].toString();
        QVERIFY2(message.contains(u"east"_s) && message.contains(u"west"_s)
                     && message.contains(u"unless it is renewed"_s) && !message.contains(other),
                 qPrintable(message));
        const auto graph = m_servers.run(QStringList{u"graph"_s, u"--json"_s} + labels);
        const auto cycle = graph.json()["cycles"_L1].toArray()[0].toObject();
        QCOMPARE(strings(cycle["clients"_L1]), (QStringList{u"east"_s, u"west"_s}));
        const auto deadlocked = m_servers.run(QStringList{u"show"_s, u"redis:orders"_s} + labels);
        QVERIFY2(deadlocked.out.contains("critical deadlock: "), deadlocked.what());
        const QStringList locks{u"redis:orders"_s, u"zk:"_s + QString::fromUtf8(a)};
        QCOMPARE(strings(cycle["locks"_L1]), locks);
        // The finding says where the victim stands, and each of its locks is shown by the same names.
        const auto victim = deadlocks(ran)[0].toObject()["victim"_L1].toArray();
        QVERIFY2(victim.size() == 2 && locks.contains(victim[0].toObject()["lock"_L1].toString()), ran.what());
        for (const auto &lock : locks) {
            const auto shown = m_servers.run(QStringList{u"show"_s, lock, u"--json"_s} + labels);
            const auto holder = shown.json()["lock"_L1].toObject()["contenders"_L1].toArray()[0].toObject();
            const auto name = lock == locks.front() ? "west" : "east";
            QVERIFY2(holder["label"_L1].toString() == QLatin1StringView(name), shown.what());
            const auto told = m_servers.run(QStringList{u"show"_s, lock} + labels);
            QVERIFY2(told.out.contains(QByteArray(" is held by ") + name + " ("), told.what());
            const auto note = m_servers.run(QStringList{u"note"_s, lock} + labels);
            QVERIFY2(note.out.contains(QByteArray("`") + name + "`"), note.what());
        }
    }

    // Queues, readers, permits, one session in many places: everybody gets on in the end.
    void aHealthyCrowdIsNoDeadlock()
    {
        const auto a = makeLock("a"), b = makeLock("b");
        std::vector<Session> sessions;
        for (int i = 0; i < 4; ++i) {
            sessions.push_back(openSession());
            QVERIFY(sessions.back());
        }
        for (int i = 0; i < 4; ++i) // the same order everywhere
            QVERIFY(queueKazoo(*sessions[size_t(i)], a, "worker") && queueKazoo(*sessions[size_t(i)], b, "worker"));
        QVERIFY(queueKazoo(*sessions[0], a, "worker")); // another thread of the holder
        const auto reads = makeLock("rw");
        for (int i = 0; i < 3; ++i)
            QVERIFY(add(*sessions[size_t(i)], reads + '/' + hex() + "__rlock__", "worker"));
        const auto other = makeLock("rw2");
        for (int i = 2; i >= 0; --i)
            QVERIFY(add(*sessions[size_t(i)], other + '/' + hex() + "__rlock__", "worker"));
        QVERIFY(redis({u"SET"_s, u"stock-lock"_s, u"9d3c3c1e-6a55-4a63-9d5f-0d0a0a0b0c0d"_s, u"PX"_s, u"60000"_s}));
        for (int i = 0; i < 2; ++i) {
            const auto ran = m_servers.run({u"findings"_s, u"--json"_s});
            QVERIFY2(ran.status == 0 && deadlocks(ran).isEmpty(), ran.what());
            QCOMPARE(strings(ran.json()["waitersUnknown"_L1]), QStringList{u"redis:stock-lock"_s}); // who waits polls
        }
        for (const auto *command : {"findings", "graph"}) {
            const auto told = m_servers.run({QString::fromLatin1(command)});
            QVERIFY2(told.out.contains("waiters unknown for 1 lock: redis:stock-lock\n"), told.what());
        }
        const auto graph = m_servers.run({u"graph"_s, u"--json"_s});
        QVERIFY2(graph.json()["cycles"_L1].toArray().isEmpty(), graph.what());
        QVERIFY2(!graph.json()["roots"_L1].toArray().isEmpty(), graph.what());
        const auto root = graph.json()["roots"_L1].toArray()[0].toObject();
        QCOMPARE(fields(root), sorted(words("client direct total waitingMs")));
    }
};

LOCKSCOPE_TEST(TestCtlGraph)
#include "tst_ctl_graph.moc"
