// SPDX-License-Identifier: Apache-2.0
// Every recipe that can be acquired, none left out: lockscopectl holds it, a second one waits, `show` names it
// with the right holder and queue, and the second one enters when the first gives it back.
#include "tests/support/redlockfixture.h"
#include "tests/support/testmain.h"
#include "tst_ctl_fixture.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace Qt::StringLiterals;

namespace {

constexpr int redlockNodes = 3;

// What is different from: seen under its own name, the holder first and then the waiter.
struct Looks {
    QString as;       // another recipe's name (docs/command-line.md, "Recipe ids")
    int seen = 2;     // contenders: who only asks again and again is not to be seen
    QStringList with; // more options
    QString place;    // where no slash can be
};

Looks looksOf(const QString &recipe)
{
    static const QMap<QString, Looks> different{
        // Who waits for a plain node has none of its own; the server tells its watch.
        {u"zk-mutex"_s, {u"curator-mutex"_s, 2, {}, {}}},
        {u"zk-eager-mutex"_s, {u"curator-mutex"_s, 2, {}, {}}},
        {u"zk-shared-herd"_s, {u"zk-shared"_s, 2, {}, {}}},
        {u"curator-semaphore-mutex"_s, {u"curator-semaphore"_s, 2, {}, {}}},
        // Writers alone look like a lock's, and a writer is what is asked for unless --mode says otherwise.
        {u"kazoo-rwlock"_s, {u"kazoo-lock"_s, 2, {}, {}}},
        {u"kazoo-semaphore"_s, {{}, 2, {u"--limit"_s, u"1"_s}, {}}},
        {u"redis-setnx-expire"_s, {{}, 1, {}, {}}},
        {u"redis-getset"_s, {{}, 1, {}, {}}},
        {u"redis-set-nx"_s, {{}, 1, {}, {}}},
        {u"redlock"_s, {{}, 1, {}, {}}},
        {u"redisson-semaphore"_s, {{}, 2, {u"--limit"_s, u"1"_s}, {}}},
        {u"sql-for-update"_s, {{}, 2, {}, u"shop.stock#id=1"_s}},
        {u"sql-version"_s, {{}, 0, {}, u"shop.stock#id=2"_s}},
        {u"sql-get-lock"_s, {{}, 2, {}, u"GET_LOCK#nightly"_s}},
    };
    return different.value(recipe);
}

} // namespace

class TestCtlEveryRecipe : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::vector<testing::Node> m_nodes;
    std::unique_ptr<sandbox::Server> m_mariaDb;

    QStringList connect(const QString &recipe, const QString &backend) const
    {
        const auto to = [](const QString &uri) { return QStringList{u"--connect"_s, u"it="_s + uri}; };
        if (recipe == u"redlock") {
            QStringList hosts;
            for (const auto &node : m_nodes)
                hosts << displayHost(node.server->address());
            return to(u"redis://"_s + hosts.join(u','));
        }
        if (backend == u"mariadb")
            return to(u"mariadb://root@127.0.0.1:%1/shop"_s.arg(m_mariaDb->address().port));
        return to(backend == u"redis" ? m_servers.redisUri() : m_servers.zk());
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        QVERIFY2(why.isEmpty(), qPrintable(why));
        const auto problem = testing::startNodes(m_servers.loop, redlockNodes, m_nodes);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        auto made = sandbox::makeMariaDb();
        QVERIFY2(made, made ? "" : qPrintable(made.error().message));
        m_mariaDb = std::move(*made);
        QVERIFY(m_mariaDb->start(std::chrono::seconds(60)));
    }
    void cleanupTestCase()
    {
        m_mariaDb.reset();
        m_nodes.clear();
        m_servers.stop();
    }

    void isHeldShownAndHandedOn_data()
    {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<QString>("backend");
        int rows = 0;
        for (const auto &one : test::run({u"recipes"_s, u"--json"_s}).json().value("recipes"_L1).toArray()) {
            const auto recipe = one.toObject();
            if (!recipe["acquirable"_L1].toBool())
                continue;
            const auto id = recipe["id"_L1].toString();
            QTest::newRow(qPrintable(id)) << id << recipe["backend"_L1].toString();
            ++rows;
        }
        QVERIFY2(rows >= 26, QByteArray::number(rows));
    }
    void isHeldShownAndHandedOn()
    {
        QFETCH(const QString, recipe);
        QFETCH(const QString, backend);
        const auto looks = looksOf(recipe);
        const auto place = !looks.place.isEmpty()
                               ? looks.place
                               : (backend == u"zookeeper" ? u"/locks/"_s : QString()) + u"lock-of-"_s + recipe;
        const auto lock = u"it:"_s + place;
        const auto to = connect(recipe, backend);
        const auto acquire = to + QStringList{u"acquire"_s, lock, u"--recipe"_s, recipe, u"--json"_s} + looks.with;
        const auto contenders = [&] {
            return test::run(to + QStringList{u"show"_s, lock, u"--json"_s})
                .json()
                .value("lock"_L1)
                .toObject()["contenders"_L1]
                .toArray();
        };

        Ctl first(acquire + QStringList{u"--hold"_s, u"60s"_s});
        const auto had = first.jsonLine();
        QVERIFY(had["acquired"_L1].toBool());
        Ctl second(acquire + QStringList{u"--hold"_s, u"10ms"_s});
        if (recipe == u"sql-version") { // nobody waits: whoever comes second to the end finds out
            const auto entered = second.finish();
            QVERIFY2(entered.status == 0, entered.what());
            first.signal(SIGTERM);
            const auto ended = first.finish();
            QVERIFY2(ended.status == 1 && ended.err.contains("conflict"), ended.what());
            return;
        }
        QTRY_COMPARE_WITH_TIMEOUT(contenders().size(), looks.seen, patienceMs);
        const auto seen =
            test::run(to + QStringList{u"show"_s, lock, u"--json"_s}).json().value("lock"_L1).toObject();
        QCOMPARE(seen["recipe"_L1].toString(), looks.as.isEmpty() ? recipe : looks.as);
        const auto queue = seen["contenders"_L1].toArray();
        QCOMPARE(queue[0].toObject()["role"_L1].toString(), u"holder"_s);
        QCOMPARE(queue[0].toObject()["id"_L1], had["id"_L1]);
        if (looks.seen == 2)
            QCOMPARE(queue[1].toObject()["role"_L1].toString(), u"waiter"_s);

        first.signal(SIGTERM);
        const auto entered = second.jsonLine();
        QVERIFY(entered["acquired"_L1].toBool());
        QCOMPARE(second.finish().status, 0);
        QCOMPARE(first.finish().status, 0);
    }
};

LOCKSCOPE_TEST(TestCtlEveryRecipe)
#include "tst_ctl_every_recipe.moc"
