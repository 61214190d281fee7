// SPDX-License-Identifier: Apache-2.0
// Every recipe on a real ZooKeeper: what it says and what it leaves there, whom it queues with, and that a broken
// connection costs it nothing. How many requests and wake-ups a queue costs is held in tests/contract, H1.
#include "core/recipes/token.h"
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

using namespace lockscope;
using namespace lockscope::testing;

namespace {

const QString curatorsName = QStringLiteral("^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-%1[0-9]{10}$");
const QString kazoosName = QStringLiteral("^[0-9a-f]{32}%1$");
const QString textbooksName = QStringLiteral("^[^-]+-%1-[0-9]{10}$");

} // namespace

class TestRecipesZooKeeper : public RecipeFixture {
    Q_OBJECT

    // Nothing is out, and nothing has been sent for a while.
    bool isSettled(int i)
    {
        int before = -1;
        return QTest::qWaitFor(
            [&] {
                const bool calm = counting(i).isIdle() && counting(i).requests() == before;
                before = counting(i).requests();
                QTest::qWait(20);
                return calm && counting(i).isIdle() && counting(i).requests() == before;
            },
            20'000);
    }
    bool takes(int i)
    {
        contender(i).acquire();
        return QTest::qWaitFor([&] { return contender(i).holds() && counting(i).isIdle(); }, 20'000);
    }
    bool givesBack(int i)
    {
        contender(i).release();
        return QTest::qWaitFor([&] { return contender(i).gaveBack() && counting(i).isIdle(); }, 20'000);
    }
    // Every second client is behind the cable.
    bool become(zk::SessionState state)
    {
        bool all = true;
        for (size_t i = 1; i < m_clients.size(); i += 2)
            all = all && waitForState(*m_clients[i]->real, state);
        return all;
    }
    bool breaks()
    {
        m_cable->cut();
        return become(zk::SessionState::Connecting);
    }
    bool mends()
    {
        m_cable->mend();
        return become(zk::SessionState::Connected);
    }
    bool waitStill()
    {
        bool all = true;
        for (size_t i = 1; i < m_clients.size(); i += 2)
            all = all && isSettled(int(i)) && !contender(int(i)).granted;
        return all;
    }

private slots:
    void whatItSaysAndLeaves_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<bool>("reads");
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("hasOwnMark"); // in its data, where the name does not tell ours from others'
        QTest::addColumn<QByteArray>("asks");
        QTest::addColumn<int>("roundTrips");
        const QByteArray queue("create 1, children 1"), permit("create 2, remove 1, children 2");
        const auto row = [&](const QByteArray &recipe, const QString &name, bool hasOwnMark, const QByteArray &asks,
                             int roundTrips, bool reads = false) {
            QTest::newRow(reads ? recipe + ", reading" : recipe)
                << recipe << reads << name << hasOwnMark << asks << roundTrips;
        };
        row("zk-ephemeral", QStringLiteral("^zk-ephemeral$"), true, "create 1", 1);
        row("zk-herd-mutex", QStringLiteral("^herd-[0-9]{10}$"), true, queue, 1);
        row("zk-mutex", curatorsName.arg(u"lock-"), false, queue, 1);
        row("zk-eager-mutex", curatorsName.arg(u"lock-"), false, queue, 1);
        row("zk-flat-mutex", QStringLiteral("^zk-flat-mutex_lock_[0-9]{10}$"), true, queue, 1);
        for (const auto *recipe : {"zk-shared-herd", "zk-shared"}) {
            row(recipe, textbooksName.arg(u"W"), true, queue, 1);
            row(recipe, textbooksName.arg(u"R"), true, queue, 1, true);
        }
        row("curator-mutex", curatorsName.arg(u"lock-"), false, queue, 1);
        row("curator-rwlock", curatorsName.arg(u"__WRIT__"), false, queue, 1);
        row("curator-rwlock", curatorsName.arg(u"__READ__"), false, queue, 1, true);
        // One to stand in line, one for the lease; nobody waits for the leave from "locks".
        row("curator-semaphore-mutex", curatorsName.arg(u"lease-"), false, permit, 3);
        row("curator-semaphore", curatorsName.arg(u"lease-"), false, permit, 3);
        row("kazoo-lock", kazoosName.arg(u"__lock__[0-9]{10}"), false, queue, 1);
        row("kazoo-rwlock", kazoosName.arg(u"__lock__[0-9]{10}"), false, queue, 1);
        row("kazoo-rwlock", kazoosName.arg(u"__rlock__[0-9]{10}"), false, queue, 1, true);
        row("kazoo-semaphore", kazoosName.arg(QString()), false, "create 1, get 1, exists 1, children 1, multi 1", 2);
    }
    void whatItSaysAndLeaves()
    {
        QFETCH(bool, reads);
        QFETCH(QString, name);
        QFETCH(bool, hasOwnMark);
        QFETCH(QByteArray, asks);
        QFETCH(int, roundTrips);
        m_options.readMode = reads;
        QVERIFY(prepare(rowsRecipe(), 1, false));
        QVERIFY2(takes(0) && givesBack(0), qPrintable(contender(0).error())); // makes what is made once
        counting(0).reset();
        QVERIFY2(takes(0), qPrintable(contender(0).error()));
        QCOMPARE(counting(0).spoken(), asks);
        QCOMPARE(counting(0).roundTrips(), roundTrips);
        QCOMPARE(counting(0).events(), 0);

        const auto grant = contender(0).grant();
        QVERIFY2(QRegularExpression(name).match(QString::fromLatin1(grant.node.name().bytes())).hasMatch(),
                 grant.node.bytes());
        const auto node = await(m_admin->get(grant.node, std::nullopt, soon()));
        QVERIFY(node);
        const auto mark = node->data.mid(recipes::hostAddress().size());
        QVERIFY2(node->data.startsWith(recipes::hostAddress()) && (mark.size() == 37) == hasOwnMark, node->data);
        QVERIFY(hasOwnMark || mark.isEmpty());
        QCOMPARE(node->stat.ephemeralOwner, m_clients[0]->real->id());
        QCOMPARE(node->stat.czxid, *grant.fencingToken);

        counting(0).reset();
        QVERIFY(givesBack(0));
        const bool looksFirst = m_recipe == "zk-ephemeral"; // whose it is by now
        QCOMPARE(counting(0).spoken(), QByteArray(looksFirst ? "remove 1, exists 1, sync 1" : "remove 1"));
        QCOMPARE(counting(0).roundTrips(), looksFirst ? 2 : 1);
        QVERIFY(!await(m_admin->exists(grant.node, std::nullopt, soon())));
    }

    // Others stand before it: it waits for those whose queue it shares, and for nobody else.
    void goesInLineWithOtherClients_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<QByteArrayList>("waitsFor");
        const QByteArrayList mutexes{"kazoo", "curator", "go-zookeeper"};
        QTest::newRow("zk-mutex") << QByteArray("zk-mutex") << mutexes;
        QTest::newRow("kazoo-lock") << QByteArray("kazoo-lock") << mutexes;
        QTest::newRow("kazoo-rwlock") << QByteArray("kazoo-rwlock") << QByteArrayList{"kazoo", "reader"};
        QTest::newRow("kazoo-semaphore") << QByteArray("kazoo-semaphore") << mutexes;
    }
    void goesInLineWithOtherClients()
    {
        QFETCH(QByteArrayList, waitsFor);
        QVERIFY(prepare(rowsRecipe(), 1, false));
        QVERIFY(takes(0) && givesBack(0)); // makes the directories
        const auto line = m_recipe == "kazoo-semaphore"
                              ? m_path.parent().child(NodeName(m_path.name().bytes() + "-__lock__"))
                              : m_path;
        const std::vector<std::pair<QByteArray, const char *>> others{
            {"", "read-"},
            {"kazoo", "f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1__lock__"},
            {"reader", "f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2__rlock__"},
            {"curator", "_c_0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11-lock-"},
            {"go-zookeeper", "_c_0102030405060708090a0b0c0d0e0f10-lock-"}};
        QVERIFY(make(line.child(NodeName("config"))));
        std::map<QByteArray, ZPath> nodes;
        for (const auto &[who, name] : others) {
            const auto made = await(m_admin->create(line.child(NodeName(name)), {},
                                                    zk::CreateMode::EphemeralSequential, zk::openAcl(), soon()));
            QVERIFY(made);
            nodes[who] = made->path;
        }
        contender(0).acquire();
        for (; !waitsFor.isEmpty(); waitsFor.removeLast()) {
            QVERIFY(isSettled(0));
            QVERIFY2(!contender(0).granted, waitsFor.last());
            QVERIFY(await(m_admin->remove(nodes.at(waitsFor.last()), zk::anyVersion, soon())));
        }
        QTRY_VERIFY(contender(0).holds());
    }

    // A waiter that was granted the lock while it was cut off finds out when it is back, in its old place; and a
    // holder keeps what it has. All recipes at once, and the readers of those that share: a holder, and a waiter
    // behind the cable.
    void aBrokenConnectionCostsNothing()
    {
        m_cable = std::make_unique<Cable>(m_server->address());
        std::vector<const recipes::RecipeInfo *> recipeOf;
        for (const auto &recipe : recipes::catalogue()) {
            if (recipe.backend != BackendKind::ZooKeeper || !recipe.acquirable)
                continue;
            for (const bool reads : {false, true}) {
                if (reads && !recipe.readWrite)
                    continue;
                const auto holder = int(m_contenders.size());
                m_options.readMode = false;
                QVERIFY(prepare(recipe.id, 1, false));
                m_options.readMode = reads;
                QVERIFY(add(m_cable->address(), 20s));
                QVERIFY2(takes(holder), recipe.id);
                contender(holder + 1).acquire();
                recipeOf.insert(recipeOf.end(), 2, &recipe);
            }
        }
        const auto all = int(m_contenders.size());
        QVERIFY(waitStill());
        std::vector<int> creates;
        for (int i = 0; i < all; ++i)
            creates.push_back(counting(i).count(Request::Create));
        QVERIFY(breaks() && mends());
        QVERIFY(waitStill());
        QVERIFY(breaks());
        for (int holder = 0; holder < all; holder += 2)
            contender(holder).release();
        for (int holder = 0; holder < all; holder += 2) {
            QTRY_VERIFY2(contender(holder).gaveBack(), recipeOf[size_t(holder)]->id);
            QVERIFY2(!contender(holder + 1).granted, recipeOf[size_t(holder)]->id);
        }
        QVERIFY(mends());
        for (int waiter = 1; waiter < all; waiter += 2) {
            const auto &recipe = *recipeOf[size_t(waiter)];
            QTRY_VERIFY2_WITH_TIMEOUT(contender(waiter).holds(), recipe.id, 20'000);
            if (recipe.fair)
                QVERIFY2(counting(waiter).count(Request::Create) == creates[size_t(waiter)], recipe.id);
        }
        QVERIFY(breaks() && mends());
        for (int waiter = 1; waiter < all; waiter += 2)
            QVERIFY2(contender(waiter).saysItIsMine(), recipeOf[size_t(waiter)]->id);
    }

    // Two contenders of one session: where neither the name nor the owner tells whose node it is, its data does.
    void lostReplyBesideAnotherOfTheSameSession_data() { asRows({"zk-flat-mutex", "zk-shared-herd", "zk-shared"}); }
    void lostReplyBesideAnotherOfTheSameSession()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_contenders.push_back(contenderWith(*m_clients[0], m_recipe, m_path, 99));
        QVERIFY(takes(0));
        faulty(0).plan(Request::Create, 1, RequestFault::LoseReply);
        contender(1).acquire();
        QTRY_COMPARE(nodes().size(), 2);
        QVERIFY(isSettled(0));
        QVERIFY(!contender(1).granted);
        QCOMPARE(counting(0).count(Request::Create), 2);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(nodes(), QByteArrayList{contender(1).grant().node.name().bytes()});
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeper)
#include "tst_recipes_zookeeper.moc"
