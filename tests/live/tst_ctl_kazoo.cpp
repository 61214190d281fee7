// SPDX-License-Identifier: Apache-2.0
// kazoo's recipes as lockscopectl takes them and, beside that, as it shows them.
#include "tests/support/testmain.h"
#include "tst_ctl_fixture.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace Qt::StringLiterals;

class TestCtlKazoo : public QObject {
    Q_OBJECT

    Servers m_servers;

    QJsonObject show(const QString &lock) const
    {
        return m_servers.run({u"show"_s, lock, u"--json"_s}).json().value("lock"_L1).toObject();
    }
    static QJsonArray contenders(const QJsonObject &seen) { return seen["contenders"_L1].toArray(); }
    static QJsonObject firstWatch(const QJsonObject &contender)
    {
        return contender["watches"_L1].toArray().first().toObject();
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        if (!why.isEmpty())
            QSKIP(qPrintable(why));
    }
    void cleanupTestCase() { m_servers.stop(); }

    void isShownAsWhatItIs_data()
    {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<QStringList>("first");
        QTest::addColumn<QStringList>("second");
        QTest::addColumn<QString>("seenAs");
        QTest::addColumn<QStringList>("modes");
        const QStringList none, read{u"--mode"_s, u"read"_s}, write{u"--mode"_s, u"write"_s};
        const auto exclusive = u"exclusive"_s;
        QTest::newRow("lock") << u"kazoo-lock"_s << none << none << u"kazoo-lock"_s
                              << QStringList{exclusive, exclusive};
        QTest::newRow("reader waits for writer")
            << u"kazoo-rwlock"_s << write << read << u"kazoo-rwlock"_s << QStringList{u"write"_s, u"read"_s};
        QTest::newRow("writer waits for reader")
            << u"kazoo-rwlock"_s << read << write << u"kazoo-rwlock"_s << QStringList{u"read"_s, u"write"_s};
        QTest::newRow("writers only") << u"kazoo-rwlock"_s << write << write << u"kazoo-lock"_s
                                      << QStringList{exclusive, exclusive};
        const QStringList one{u"--limit"_s, u"1"_s};
        QTest::newRow("semaphore") << u"kazoo-semaphore"_s << one << none << u"kazoo-semaphore"_s
                                   << QStringList{u"permit"_s, u"permit"_s};
    }
    void isShownAsWhatItIs()
    {
        QFETCH(QString, recipe);
        QFETCH(QStringList, first);
        QFETCH(QStringList, second);
        QFETCH(QString, seenAs);
        QFETCH(QStringList, modes);
        const auto lock = u"zk:/locks/%1"_s.arg(QString::fromLatin1(QTest::currentDataTag()).replace(u' ', u'-'));
        const QStringList words{u"acquire"_s, lock, u"--recipe"_s, recipe, u"--json"_s};
        Ctl holder(m_servers.connect() + words + first);
        const auto had = holder.jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool());
        QVERIFY(had.value("fencingToken"_L1).toString().toLongLong() > 0);
        Ctl waiter(m_servers.connect() + words + second);
        // Its watch is set a moment after its node appears, and the server tells of it a moment later. Only
        // a watch on children, which no server lists, stays inferred.
        const bool onChildren = recipe == u"kazoo-semaphore"_s;
        const auto evidence = onChildren ? u"inferred"_s : u"server"_s;
        QTRY_COMPARE_WITH_TIMEOUT(contenders(show(lock)).size(), 2, patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(firstWatch(contenders(show(lock))[1].toObject())["evidence"_L1].toString(),
                                  evidence, patienceMs);

        const auto seen = show(lock);
        QCOMPARE(seen["recipe"_L1].toString(), seenAs);
        QCOMPARE(seen["client"_L1].toString(), u"kazoo"_s);
        QCOMPARE(seen["state"_L1].toString(), u"contended"_s);
        const auto queue = contenders(seen);
        for (int i : {0, 1}) {
            const auto one = queue[i].toObject();
            QCOMPARE(one["position"_L1].toInt(-1), i);
            QCOMPARE(one["role"_L1].toString(), i == 0 ? u"holder"_s : u"waiter"_s);
            QCOMPARE(one["mode"_L1].toString(), modes[i]);
        }
        QCOMPARE(queue[0].toObject()["id"_L1], had["id"_L1]);
        const auto target = firstWatch(queue[1].toObject())["target"_L1].toString();
        QCOMPARE(target, onChildren ? u"children"_s : had["id"_L1].toString());

        holder.signal(SIGTERM);
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
    }

    void readersHoldTogether()
    {
        const auto lock = u"zk:/locks/readers"_s;
        const QStringList words{u"acquire"_s, lock,      u"--recipe"_s, u"kazoo-rwlock"_s,
                                u"--mode"_s,  u"read"_s, u"--json"_s};
        Ctl first(m_servers.connect() + words);
        Ctl second(m_servers.connect() + words);
        QVERIFY(first.jsonLine().value("acquired"_L1).toBool());
        QVERIFY(second.jsonLine().value("acquired"_L1).toBool());
        QTRY_COMPARE_WITH_TIMEOUT(contenders(show(lock)).size(), 2, patienceMs);
        for (const auto &one : contenders(show(lock)))
            QCOMPARE(one.toObject()["role"_L1].toString(), u"holder"_s);
    }

    void aMissingSemaphoreIsMadeOnlyWithALimit()
    {
        const QStringList words{u"acquire"_s, u"zk:/locks/unlimited"_s, u"--recipe"_s, u"kazoo-semaphore"_s};
        const auto refused = m_servers.run(words);
        QVERIFY2(refused.status == 2 && refused.err.contains("--limit"), refused.what());
        const auto tree = m_servers.run({u"tree"_s, u"zk:/locks/unlimited"_s});
        QVERIFY2(tree.status != 0, tree.what());
    }

    void aLimitThatDisagreesIsRefused()
    {
        const QStringList words{u"acquire"_s, u"zk:/locks/permits"_s, u"--recipe"_s, u"kazoo-semaphore"_s,
                                u"--limit"_s};
        Ctl holder(m_servers.connect() + words + QStringList{u"2"_s, u"--json"_s});
        QVERIFY(holder.jsonLine().value("acquired"_L1).toBool());
        const auto other = m_servers.run(words + QStringList{u"3"_s});
        QVERIFY2(other.status != 0 && other.err.count('\n') == 1, other.what());
        QVERIFY2(other.err.contains("2 permits by its node's data, not 3"), other.what());
    }
};

LOCKSCOPE_TEST(TestCtlKazoo)
#include "tst_ctl_kazoo.moc"
