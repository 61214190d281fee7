// SPDX-License-Identifier: Apache-2.0
// Every recipe on a real ZooKeeper: what it says and what it leaves there, whom it queues with, and that a broken
// connection costs it nothing; of the textbook's read/write lock, with and without the herd, who shares, who waits
// for whom, and what each step costs. How many requests and wake-ups a queue costs is held in tests/contract, H1.
#include "core/recipes/lockbase.h"
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

namespace {

const QString curatorsName = QStringLiteral("^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-%1[0-9]{10}$");
const QString kazoosName = QStringLiteral("^[0-9a-f]{32}%1$");
const QString textbooksName = QStringLiteral("^[^-]+-%1-[0-9]{10}$");

recipes::AcquireOptions modeOf(char letter)
{
    return recipes::AcquireOptions{.readMode = letter == 'R'};
}

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

    static void bothAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto *recipe : {"zk-shared-herd", "zk-shared"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }
    [[nodiscard]] bool isHerd() const { return m_recipe == "zk-shared-herd"; }
    bool allIdle()
    {
        return std::ranges::all_of(m_clients, [](const auto &client) { return client->counting->isIdle(); });
    }
    // "RWR": a reader, a writer and a reader, each in its place before the next one comes.
    bool queueAs(const QByteArray &recipe, const QByteArray &modes)
    {
        const int n = int(modes.size());
        if (!prepare(recipe, n))
            return false;
        for (int i = 0; i < n; ++i) {
            m_contenders[size_t(i)] =
                contenderWith(*m_clients[size_t(i)], recipe, m_path, quint64(i), modeOf(modes[i]));
            contender(i).acquire();
            const auto stands = [&] {
                const auto asked = counting(i).count(isHerd() ? RequestKind::Children : RequestKind::Get);
                const bool settled = contender(i).holds() || asked > 0;
                return settled && nodes().size() == i + 1 && allIdle();
            };
            if (!QTest::qWaitFor(stands, 20'000))
                return false;
        }
        return true;
    }
    bool releases(int i)
    {
        contender(i).release();
        return QTest::qWaitFor([&] { return contender(i).released && allIdle(); }, 20'000) && *contender(i).released;
    }

private slots:
    void requestsAndNodesAreTheRecipes_data()
    {
        addColumns<QByteArray, bool, QString>("recipe", "reads", "name");
        QTest::addColumn<bool>("hasOwnMark"); // in its data, where the name does not tell ours from others'
        addColumns<QByteArray, int>("asks", "roundTrips");
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
    void requestsAndNodesAreTheRecipes()
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
        const Rows<QByteArray, QByteArrayList> row("recipe", "waitsFor");
        const QByteArrayList mutexes{"kazoo", "curator", "go-zookeeper"};
        row("zk-mutex", "zk-mutex", mutexes);
        row("kazoo-lock", "kazoo-lock", mutexes);
        row("kazoo-rwlock", "kazoo-rwlock", {"kazoo", "reader"});
        row("kazoo-semaphore", "kazoo-semaphore", mutexes);
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
            creates.push_back(counting(i).count(RequestKind::Create));
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
                QVERIFY2(counting(waiter).count(RequestKind::Create) == creates[size_t(waiter)], recipe.id);
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
        faulty(0).plan(RequestKind::Create, 1, RequestFault::LoseReply);
        contender(1).acquire();
        QTRY_COMPARE(nodes().size(), 2);
        QVERIFY(isSettled(0));
        QVERIFY(!contender(1).granted);
        QCOMPARE(counting(0).count(RequestKind::Create), 2);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(nodes(), QByteArrayList{contender(1).grant().node.name().bytes()});
    }

    void readersShare_data() { bothAsRows(); }
    void readersShare()
    {
        QVERIFY(queueAs(rowsRecipe(), "RRRW"));
        for (int i = 0; i < 3; ++i) {
            QTRY_VERIFY(contender(i).holds());
            QCOMPARE(counting(i).spoken(), QByteArray("create 1, children 1"));
        }
        QVERIFY(!contender(3).granted);
        for (int i = 0; i < 3; ++i) {
            QVERIFY(!contender(3).granted);
            QVERIFY(releases(i));
            if (isHerd())
                QTRY_COMPARE(counting(3).count(RequestKind::Children), i + 2); // so that no two wake-ups become one
            QTRY_VERIFY(allIdle());
        }
        QTRY_VERIFY(contender(3).holds());
        // One watch on the last reader against one list for each that left.
        QCOMPARE(counting(3).spoken(),
                 isHerd() ? QByteArray("create 1, children 4") : QByteArray("create 1, get 1, children 2"));
        QCOMPARE(counting(3).events(), isHerd() ? 3 : 1);
    }

    void aWriterThatGivesUpLetsReadersIn_data() { bothAsRows(); }
    void aWriterThatGivesUpLetsReadersIn()
    {
        QVERIFY(queueAs(rowsRecipe(), "RWRW"));
        contender(1).lock.reset();
        QTRY_VERIFY(contender(2).holds());
        QVERIFY(contender(0).holds() && !contender(3).granted);
    }

    void theNearestWriterIsWatched()
    {
        QVERIFY(queueAs("zk-shared", "WRWR"));
        QTRY_VERIFY(contender(0).holds());
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(1).holds());
        // The second writer waits for the reader, the second reader for the second writer: neither heard.
        QCOMPARE(counting(2).events() + counting(3).events(), 0);
        QVERIFY(releases(1));
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(3).events(), 0);
        QVERIFY(releases(2));
        QTRY_VERIFY(contender(3).holds());
        for (int i = 1; i < 4; ++i) {
            QCOMPARE(counting(i).count(RequestKind::Get), 1);
            QCOMPARE(counting(i).count(RequestKind::Children), 2);
        }
    }

    // The most it can cost: the readers leave from the last to the first.
    void aWriterBehindReadersThatLeaveBackwards()
    {
        constexpr int readers = 4;
        QVERIFY(queueAs("zk-shared", QByteArray(readers, 'R') + 'W'));
        for (int i = readers - 1; i >= 0; --i) {
            QVERIFY(!contender(readers).granted);
            const int before = counting(readers).events();
            QVERIFY(releases(i));
            QTRY_COMPARE(counting(readers).events(), before + 1);
            QTRY_VERIFY(i == 0 || counting(readers).count(RequestKind::Get) == readers - i + 1);
            QTRY_VERIFY(counting(readers).isIdle());
        }
        QTRY_VERIFY(contender(readers).holds());
        QCOMPARE(counting(readers).requests(), 2 + 2 * readers);
    }

    void aWriterVanishesBeforeItIsWatched()
    {
        QVERIFY(queueAs("zk-shared", "RW"));
        QVERIFY(add(m_server->address()));
        m_contenders[2] = contenderWith(*m_clients[2], m_recipe, m_path, 12, modeOf('R'));
        faulty(2).plan(RequestKind::Get, 1, RequestFault::HoldRequest);
        contender(2).acquire();
        QTRY_COMPARE(counting(2).count(RequestKind::Get), 1);
        contender(1).lock.reset();
        QTRY_COMPARE(nodes().size(), 2);
        QVERIFY(!contender(2).granted);
        faulty(2).letThrough();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(2).spoken(), QByteArray("create 1, get 1, children 2"));
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeper)
#include "tst_recipes_zookeeper.moc"
