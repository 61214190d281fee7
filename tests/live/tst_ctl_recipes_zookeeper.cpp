// SPDX-License-Identifier: Apache-2.0
// lockscopectl acquires with each of ZooKeeper's textbook recipes, and show names what it sees: the recipe,
// the holder, the queue in order and who watches whom.
#include "tests/support/testmain.h"
#include "tst_ctl_fixture.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace Qt::StringLiterals;

class TestCtlRecipesZooKeeper : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::vector<std::unique_ptr<Ctl>> m_queue;

    // Under this node lie the lock's nodes and no others.
    static QString directoryOf(const QString &recipe, const QString &lock)
    {
        return recipe == u"zk-flat-mutex"_s ? lock.left(lock.lastIndexOf(u'/')) : lock;
    }
    int nodesIn(const QString &directory)
    {
        const auto listed =
            await(m_servers.session->children(ZPath(directory.toUtf8()), std::nullopt, m_servers.soon()));
        return listed ? static_cast<int>(listed->names.size()) : 0;
    }
    QJsonArray shown(const QString &lock)
    {
        const auto ran = m_servers.run({u"show"_s, u"zk:"_s + lock, u"--json"_s});
        return ran.json().value("lock"_L1).toObject().value("contenders"_L1).toArray();
    }
    // By position: "1:server" is the second contender, as the server says; "children:inferred".
    static QStringList watchesOf(const QJsonArray &contenders, int index)
    {
        QStringList watches;
        for (const auto &entry : contenders[index].toObject().value("watches"_L1).toArray()) {
            const auto watch = entry.toObject();
            const auto target = watch.value("target"_L1).toString();
            QString place = target;
            for (int i = 0; i < contenders.size(); ++i) {
                if (contenders[i].toObject().value("id"_L1).toString() == target)
                    place = QString::number(i);
            }
            watches << place + u':' + watch.value("evidence"_L1).toString();
        }
        return watches;
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        if (!why.isEmpty())
            QSKIP(qPrintable(why));
    }
    void cleanup()
    {
        for (const auto &ctl : m_queue)
            ctl->signal(SIGTERM);
        m_queue.clear();
    }
    void cleanupTestCase() { m_servers.stop(); }

    void showNamesWhatIsAcquired_data()
    {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<QString>("modes"); // of the contenders, in order
        QTest::addColumn<QString>("seenAs");
        QTest::addColumn<int>("holders");
        QTest::addColumn<QString>("watches"); // of each contender, in order
        QTest::newRow("eager") << u"zk-eager-mutex"_s << u"WWWW"_s << u"curator-mutex"_s << 1
                               << u" | 0:server | 1:server 0:server | 2:server 1:server"_s;
        QTest::newRow("flat") << u"zk-flat-mutex"_s << u"WWW"_s << u"zk-flat-mutex"_s << 1
                              << u" | 0:server | 1:server"_s;
        QTest::newRow("shared") << u"zk-shared"_s << u"RRWRWR"_s << u"zk-shared"_s << 2
                                << u" |  | 1:server | 2:server | 3:server | 4:server"_s;
        QTest::newRow("shared, a reader behind writers")
            << u"zk-shared"_s << u"WRR"_s << u"zk-shared"_s << 1 << u" | 0:server | 0:server"_s;
        QTest::newRow("shared, the herd") << u"zk-shared-herd"_s << u"RWR"_s << u"zk-shared"_s << 1
                                          << u" | children:inferred | children:inferred"_s;
    }
    void showNamesWhatIsAcquired()
    {
        QFETCH(QString, recipe);
        QFETCH(QString, modes);
        QFETCH(QString, seenAs);
        QFETCH(int, holders);
        QFETCH(QString, watches);
        // Each row has a place of its own: who was ended there leaves nodes until its session is over.
        const QString lock =
            u"/shown/%1/stock"_s.arg(QString::fromUtf8(QTest::currentDataTag()).remove(u',').replace(u' ', u'-'));
        const bool shares = recipe.startsWith(u"zk-shared"_s);
        for (int i = 0; i < modes.size(); ++i) {
            QStringList arguments{u"acquire"_s, u"zk:"_s + lock, u"--recipe"_s, recipe, u"--json"_s};
            if (shares)
                arguments += {u"--mode"_s, modes[i] == u'R' ? u"read"_s : u"write"_s};
            m_queue.push_back(std::make_unique<Ctl>(m_servers.connect() + arguments));
            QTRY_COMPARE_WITH_TIMEOUT(nodesIn(directoryOf(recipe, lock)), i + 1, 3 * patienceMs);
        }
        const auto first = m_queue.front()->jsonLine(3 * patienceMs);
        QVERIFY(first.value("acquired"_L1).toBool());

        // A watch is set a moment after the node that waits.
        QStringList seen;
        const auto isSeen = [&] {
            const auto contenders = shown(lock);
            seen.clear();
            for (int i = 0; i < contenders.size(); ++i)
                seen << watchesOf(contenders, i).join(u' ');
            return seen.join(u" | "_s) == watches;
        };
        QVERIFY2(QTest::qWaitFor(isSeen, 3 * patienceMs), qPrintable(seen.join(u" | "_s)));
        const auto ran = m_servers.run({u"show"_s, u"zk:"_s + lock, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto snapshot = ran.json().value("lock"_L1).toObject();
        QCOMPARE(snapshot.value("lock"_L1).toString(), u"zk:"_s + lock);
        QCOMPARE(snapshot.value("recipe"_L1).toString(), seenAs);
        QCOMPARE(snapshot.value("state"_L1).toString(), u"contended"_s);
        const auto contenders = snapshot.value("contenders"_L1).toArray();
        QCOMPARE(contenders.size(), modes.size());
        QCOMPARE(contenders[0].toObject().value("id"_L1), first.value("id"_L1));
        for (int i = 0; i < contenders.size(); ++i) {
            const auto contender = contenders[i].toObject();
            QCOMPARE(contender.value("position"_L1).toInt(-1), i);
            QCOMPARE(contender.value("role"_L1).toString(), i < holders ? u"holder"_s : u"waiter"_s);
            const auto mode = shares ? (modes[i] == u'R' ? u"read"_s : u"write"_s) : u"exclusive"_s;
            QCOMPARE(contender.value("mode"_L1).toString(), mode);
        }
        for (const auto &entry : snapshot.value("findings"_L1).toArray())
            QVERIFY2(entry.toObject().value("severity"_L1).toString() == u"info"_s, ran.what());

        // And the queue moves on.
        for (int i = 0; i < holders; ++i) {
            m_queue[size_t(i)]->signal(SIGTERM);
            QCOMPARE(m_queue[size_t(i)]->finish().status, 0);
        }
        QVERIFY(m_queue[size_t(holders)]->jsonLine(3 * patienceMs).value("acquired"_L1).toBool());
    }

    void theSeparatorIsRefusedAtOnce()
    {
        const auto ran = m_servers.run({u"acquire"_s, u"zk:/shown/a_lock_b"_s, u"--recipe"_s, u"zk-flat-mutex"_s});
        QVERIFY2(ran.status != 0 && ran.status != 5 && ran.out.isEmpty(), ran.what());
        QVERIFY2(ran.err.contains("_lock_"), ran.what());
    }
};

LOCKSCOPE_TEST(TestCtlRecipesZooKeeper)
#include "tst_ctl_recipes_zookeeper.moc"
