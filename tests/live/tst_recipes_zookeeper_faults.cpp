// The ZooKeeper recipes when something goes wrong: timeouts, cancels, lost replies, broken connections,
// sessions that expire, nodes that somebody takes away. Every row runs for every recipe it concerns.
#include "tests/live/contender.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace std::chrono_literals;
using testing::Fate;
using testing::Request;

class TestRecipesZooKeeperFaults : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<Cable> m_cable;
    std::unique_ptr<zk::Session> m_admin;
    std::vector<std::unique_ptr<Client>> m_clients;
    std::vector<std::unique_ptr<Contender>> m_contenders;
    QByteArray m_recipe;
    ZPath m_path;
    int m_runs = 0;

    static void recipesAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto *recipe : {"zk-ephemeral", "zk-herd-mutex", "zk-mutex"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }
    static void queuesAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto *recipe : {"zk-herd-mutex", "zk-mutex"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }
    static QByteArray rowsRecipe() { return *static_cast<QByteArray *>(QTest::qData("recipe", qMetaTypeId<QByteArray>())); }

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 15s); }
    bool prepare(const QByteArray &recipe, int n, bool makeDirectories = true)
    {
        m_recipe = recipe;
        m_path = ZPath("/faults-" + QByteArray::number(++m_runs) + "/" + recipe);
        bool made = true;
        if (makeDirectories)
            made = make(m_path.parent()) && (recipe == "zk-ephemeral" || make(m_path));
        for (int i = 0; i < n; ++i)
            made = made && add(m_server->address());
        return made;
    }
    bool make(const ZPath &path)
    {
        return bool(await(m_admin->create(path, {}, zk::CreateMode::Persistent, zk::openAcl(), soon())));
    }
    bool add(const HostPort &server, std::chrono::milliseconds timeout = 10s)
    {
        m_clients.push_back(std::make_unique<Client>(m_loop, server, timeout));
        m_contenders.push_back(std::make_unique<Contender>(*m_clients.back(), m_recipe, m_path, m_clients.size()));
        return waitForState(*m_clients.back()->real, zk::SessionState::Connected);
    }
    Contender &contender(int i) { return *m_contenders[size_t(i)]; }
    testing::FaultySession &faulty(int i) { return *m_clients[size_t(i)]->faulty; }
    testing::CountingSession &counting(int i) { return *m_clients[size_t(i)]->counting; }

    // The nodes of the lock: the children of its directory, or the one node.
    QByteArrayList nodes()
    {
        QByteArrayList names;
        if (m_recipe == "zk-ephemeral") {
            if (await(m_admin->exists(m_path, std::nullopt, soon())))
                names << m_path.name().bytes();
            return names;
        }
        const auto listed = await(m_admin->children(m_path, std::nullopt, soon()));
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            names << name.bytes();
        std::sort(names.begin(), names.end());
        return names;
    }
    [[nodiscard]] ZPath nodeOf(const QByteArray &id) const
    {
        return m_recipe == "zk-ephemeral" ? m_path : m_path.child(NodeName(id));
    }
    bool takeAway(const QByteArray &id) { return bool(await(m_admin->remove(nodeOf(id), zk::anyVersion, soon()))); }
    // The first contender holds, the others queue behind it in order.
    bool queueUp(int n)
    {
        // create, list and the watch; in the herd the list is the watch, the simple lock has no list.
        const int joined = m_recipe == "zk-mutex" ? 3 : 2;
        for (int i = 0; i < n; ++i) {
            contender(i).acquire();
            const bool queued = QTest::qWaitFor([&] {
                return i == 0 ? contender(0).holds() : counting(i).isIdle() && counting(i).requests() >= joined;
            }, 20'000);
            if (!queued)
                return false;
        }
        return true;
    }

private slots:
    void initTestCase()
    {
        sandbox::ZooKeeperOptions options;
        options.adminServer = false;
        auto made = sandbox::makeZooKeeper(options);
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_server = std::move(*made);
        const auto started = m_server->start(60s);
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        zk::SessionOptions session;
        session.hosts = {m_server->address()};
        m_admin = zk::openSession(m_loop, session);
        QVERIFY(waitForState(*m_admin, zk::SessionState::Connected));
    }
    void cleanup()
    {
        m_contenders.clear();
        m_clients.clear();
        m_cable.reset();
    }
    void cleanupTestCase()
    {
        m_admin.reset();
        zk::waitForClosingSessions(10s);
    }

    void timeoutLeavesNoNode_data() { recipesAsRows(); }
    void timeoutLeavesNoNode()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(1));
        const auto held = nodes();
        contender(1).acquire(Deadline::after(m_loop, 200ms));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodes(), held); // at once: it was gone before the timeout was reported
        // The same object can try again.
        contender(1).acquire();
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void triesOnceWithoutWaiting_data() { recipesAsRows(); }
    void triesOnceWithoutWaiting()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        contender(0).acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(contender(0).holds());
        contender(1).acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(counting(1).count(Request::Get), 0);
        QCOMPARE(nodes().size(), 1);
    }

    void destroyingTheLockCancels_data() { recipesAsRows(); }
    void destroyingTheLockCancels()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        contender(1).lock.reset();
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::Cancelled);
        QTRY_COMPARE(nodes(), QByteArrayList{(*contender(0).granted)->id});
    }

    void destroyingTheAcquireCancels_data() { recipesAsRows(); }
    void destroyingTheAcquireCancels()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        contender(1).cancelWaits();
        QTRY_COMPARE(nodes(), QByteArrayList{(*contender(0).granted)->id});
        contender(1).acquire();
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void destroyingTheHolderReleases_data() { recipesAsRows(); }
    void destroyingTheHolderReleases()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        contender(0).lock.reset();
        QTRY_VERIFY(contender(1).holds());
    }

    void cancelWhileCreateIsOut_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        for (const auto *recipe : {"zk-ephemeral", "zk-herd-mutex", "zk-mutex"}) {
            QTest::addRow("%s, reply still under way", recipe) << QByteArray(recipe) << int(Fate::HoldReply);
            QTest::addRow("%s, request still under way", recipe) << QByteArray(recipe) << int(Fate::HoldRequest);
            QTest::addRow("%s, reply lost", recipe) << QByteArray(recipe) << int(Fate::LoseReply);
        }
    }
    void cancelWhileCreateIsOut()
    {
        QFETCH(int, fate);
        QVERIFY(prepare(rowsRecipe(), 1));
        faulty(0).plan(Request::Create, 1, Fate(fate));
        contender(0).acquire();
        QCOMPARE(counting(0).count(Request::Create), 1);
        contender(0).lock.reset();
        // What is sent from now on comes after the create, so when the clean-up is idle all is done.
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        if (fate == int(Fate::HoldReply))
            QTRY_COMPARE(nodes().size(), 1);
        faulty(0).letThrough();
        QTRY_COMPARE(counting(0).count(Request::Remove), 1);
        QTRY_COMPARE(nodes().size(), 0);
    }

    void createReplyLost_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        QTest::addColumn<int>("creates");
        for (const auto *recipe : {"zk-ephemeral", "zk-herd-mutex", "zk-mutex"}) {
            QTest::addRow("%s, reply lost", recipe) << QByteArray(recipe) << int(Fate::LoseReply) << 1;
            QTest::addRow("%s, request lost", recipe) << QByteArray(recipe) << int(Fate::LoseRequest) << 2;
        }
    }
    void createReplyLost()
    {
        QFETCH(int, fate);
        QFETCH(int, creates);
        QVERIFY(prepare(rowsRecipe(), 3));
        faulty(0).plan(Request::Create, 1, Fate(fate));
        QVERIFY(queueUp(1));
        QCOMPARE(counting(0).count(Request::Create), creates);
        QCOMPARE(nodes(), QByteArrayList{(*contender(0).granted)->id});
        const auto stat = await(m_admin->exists(nodeOf((*contender(0).granted)->id), std::nullopt, soon()));
        QVERIFY(stat);
        QCOMPARE(stat->czxid, *(*contender(0).granted)->fencingToken);
        // Behind another, which must not be taken for ours.
        faulty(1).plan(Request::Create, 1, Fate(fate));
        contender(1).acquire(Deadline::after(m_loop, 400ms));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodes(), QByteArrayList{(*contender(0).granted)->id});
        faulty(2).plan(Request::Create, 1, Fate(fate));
        contender(2).acquire();
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(2).granted)->id});
    }

    void listReplyLost_data() { queuesAsRows(); }
    void listReplyLost()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        for (int i = 0; i < 2; ++i)
            faulty(i).plan(Request::Children, 1, Fate::LoseReply);
        QVERIFY(queueUp(2));
        QCOMPARE(nodes().size(), 2);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(counting(1).count(Request::Create), 1);
    }

    void releaseIsFollowedUp_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        for (const auto *recipe : {"zk-ephemeral", "zk-herd-mutex", "zk-mutex"}) {
            QTest::addRow("%s, reply lost", recipe) << QByteArray(recipe) << int(Fate::LoseReply);
            QTest::addRow("%s, request lost", recipe) << QByteArray(recipe) << int(Fate::LoseRequest);
        }
    }
    void releaseIsFollowedUp()
    {
        QFETCH(int, fate);
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        faulty(0).plan(Request::Remove, 1, Fate(fate));
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::UnknownOutcome);
        QTRY_VERIFY(contender(1).holds());
        // The next holder's node stands, though the simple lock's has the same name.
        QTRY_VERIFY(counting(0).isIdle());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->id});
        contender(1).askWhether();
        QTRY_VERIFY(contender(1).mine);
        QVERIFY(**contender(1).mine);
    }

    void refusedReleaseKeepsIt_data() { recipesAsRows(); }
    void refusedReleaseKeepsIt()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        QVERIFY(queueUp(1));
        faulty(0).plan(Request::Remove, 1, Fate::Refuse);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::Unsupported);
        contender(0).askWhether();
        QTRY_VERIFY(contender(0).mine);
        QVERIFY(**contender(0).mine);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(*contender(0).released);
        QCOMPARE(nodes().size(), 0);
    }

    void takenAwayFromTheHolder_data() { recipesAsRows(); }
    void takenAwayFromTheHolder()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        QVERIFY(takeAway((*contender(0).granted)->id));
        QTRY_VERIFY(contender(1).holds());
        contender(0).askWhether();
        QTRY_VERIFY(contender(0).mine);
        QVERIFY(*contender(0).mine && !**contender(0).mine);
        if (m_recipe == "zk-ephemeral")
            return; // its late release would delete the next one's node: the flaw its header names
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->id});
    }

    void releaseTwice_data() { recipesAsRows(); }
    void releaseTwice()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        QVERIFY(queueUp(1));
        contender(0).acquire(); // not reentrant: says so instead of waiting for itself
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::BadInput);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(*contender(0).released);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(counting(0).count(Request::Remove), 1);
    }

    // A waiter whose node was taken away joins again, at the end of the queue.
    void takenAwayFromAWaiter_data() { queuesAsRows(); }
    void takenAwayFromAWaiter()
    {
        QVERIFY(prepare(rowsRecipe(), 3));
        QVERIFY(queueUp(3));
        auto queue = nodes();
        std::sort(queue.begin(), queue.end(), [](const auto &a, const auto &b) { return a.last(10) < b.last(10); });
        QVERIFY(takeAway(queue[1]));
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE((*contender(2).granted)->id, queue[2]);
        QTRY_COMPARE(counting(1).count(Request::Create), 2);
        contender(2).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->id});
    }

    void predecessorVanishesBeforeItIsWatched()
    {
        QVERIFY(prepare("zk-mutex", 3));
        QVERIFY(queueUp(2));
        const auto before = nodes();
        faulty(2).plan(Request::Get, 1, Fate::HoldRequest);
        contender(2).acquire();
        QTRY_COMPARE(counting(2).count(Request::Get), 1);
        const auto all = nodes();
        contender(1).lock.reset();
        QTRY_COMPARE(nodes().size(), 2);
        faulty(2).letThrough();
        // It lists again and watches the holder; its node is the same as before.
        QTRY_COMPARE(counting(2).count(Request::Get), 2);
        QVERIFY(!contender(2).granted);
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(2).count(Request::Create), 1);
        QVERIFY(all.contains((*contender(2).granted)->id) && !before.contains((*contender(2).granted)->id));
    }

    void predecessorsDataChanges()
    {
        QVERIFY(prepare("zk-mutex", 2));
        QVERIFY(queueUp(2));
        QVERIFY(await(m_admin->set(nodeOf((*contender(0).granted)->id), "__REVOKE__", zk::anyVersion, soon())));
        QTRY_COMPARE(counting(1).count(Request::Get), 2); // it watches again
        QTRY_VERIFY(counting(1).isIdle());
        QVERIFY(!contender(1).granted);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void missingDirectoriesAreMade_data() { recipesAsRows(); }
    void missingDirectoriesAreMade()
    {
        QVERIFY(prepare(rowsRecipe(), 2, false));
        // Both at once: neither minds the other.
        contender(0).acquire();
        contender(1).acquire();
        QTRY_VERIFY(contender(0).holds() || contender(1).holds());
        const int first = contender(0).holds() ? 0 : 1;
        contender(first).release();
        QTRY_VERIFY(contender(1 - first).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1 - first).granted)->id});
    }

    void oldServersKnowNoContainers()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        // The lock's node: no directory. The directory: no directory above. That one: refused as a container.
        faulty(0).plan(Request::Create, 3, Fate::Refuse);
        QVERIFY(queueUp(1));
        QCOMPARE(nodes().size(), 1);
    }

    void brokenConnectionKeepsThePlace_data() { recipesAsRows(); }
    void brokenConnectionKeepsThePlace()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(2));
        const auto before = nodes();
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        QCOMPARE(nodes(), before);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        // And a holder keeps what it has.
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        contender(1).askWhether();
        QTRY_VERIFY(contender(1).mine);
        QVERIFY(**contender(1).mine);
    }

    // The next one is granted while the waiter is cut off: it finds out when it is back.
    void releasedWhileCutOff_data() { recipesAsRows(); }
    void releasedWhileCutOff()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(2));
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(!contender(1).granted);
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
    }

    // A timeout that cannot clean up says so, and cleans up when it can.
    void timeoutWhileCutOff_data() { queuesAsRows(); }
    void timeoutWhileCutOff()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(1));
        contender(1).acquire(Deadline::after(m_loop, 500ms));
        QTRY_COMPARE(nodes().size(), 2);
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).granted, 20'000);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::UnknownOutcome);
        QCOMPARE(nodes().size(), 2);
        m_cable->mend();
        QTRY_COMPARE_WITH_TIMEOUT(nodes().size(), 1, 20'000);
    }

    void timeoutBeforeConnected_data() { recipesAsRows(); }
    void timeoutBeforeConnected()
    {
        QVERIFY(prepare(rowsRecipe(), 0));
        m_cable = std::make_unique<Cable>(m_server->address());
        m_cable->cut();
        m_clients.push_back(std::make_unique<Client>(m_loop, m_cable->address()));
        m_contenders.push_back(std::make_unique<Contender>(*m_clients.back(), m_recipe, m_path, 1));
        contender(0).acquire(Deadline::after(m_loop, 100ms));
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::TimedOut);
        contender(0).acquire();
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).holds(), 20'000);
    }

    void expiredSessionLosesTheLock_data() { recipesAsRows(); }
    void expiredSessionLosesTheLock()
    {
        QVERIFY(prepare(rowsRecipe(), 0));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address(), 1s));
        QVERIFY(add(m_server->address()));
        QVERIFY(queueUp(2));
        contender(0).heed();
        const auto first = *(*contender(0).granted)->fencingToken;
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
        QVERIFY(*(*contender(1).granted)->fencingToken > first || m_recipe != "zk-ephemeral");
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).loss, 20'000);
        QCOMPARE(*contender(0).loss, recipes::Loss::SessionOver);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        // Nothing more can be had with this session, and it says so.
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::SessionExpired);
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->id});
    }

    void expiredSessionEndsTheWait_data() { recipesAsRows(); }
    void expiredSessionEndsTheWait()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address(), 1s));
        QVERIFY(queueUp(2));
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(m_recipe == "zk-ephemeral" || nodes().size() == 1, 20'000);
        if (m_recipe == "zk-ephemeral")
            QTest::qWait(3000); // nothing tells from outside that a session without nodes is over
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).granted, 20'000);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::SessionExpired);
    }

    void noPermissionIsAnError()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        QVERIFY(make(m_path.parent()));
        const zk::Acls readOnly{{zk::perms::read, "world", "anyone"}};
        QVERIFY(await(m_admin->create(m_path, {}, zk::CreateMode::Persistent, readOnly, soon())));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::NoPermission);
        QVERIFY(contender(0).error().contains(QString::fromLatin1(m_path.bytes())));
    }

    void listingForbiddenLeavesNoNode()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        QVERIFY(make(m_path.parent()));
        const zk::Acls blind{{zk::perms::create | zk::perms::remove | zk::perms::admin, "world", "anyone"}};
        QVERIFY(await(m_admin->create(m_path, {}, zk::CreateMode::Persistent, blind, soon())));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::NoPermission);
        QVERIFY(await(m_admin->setAcls(m_path, zk::openAcl(), -1, soon())));
        QCOMPARE(nodes().size(), 0);
    }
};

QTEST_GUILESS_MAIN(TestRecipesZooKeeperFaults)
#include "tst_recipes_zookeeper_faults.moc"
