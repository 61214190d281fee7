// SPDX-License-Identifier: Apache-2.0
// Watches of a session on libzookeeper against a real server.
#include "tests/live/zookeeperclientfixture.h"
#include "tests/support/testmain.h"

class TestZooKeeperWatches : public ZooKeeperClientFixture {
    Q_OBJECT
private slots:
    void watchesFireOnce_data();
    void watchesFireOnce();
    void listenersOnOnePathShareAWatch();
    void existsWatchesAMissingNodeAndGetDoesNot();
    void theWatchBudgetHolds();
    void thousandsOfWatchesSurviveARestart();
};

void TestZooKeeperWatches::watchesFireOnce_data()
{
    addColumns<QByteArray, QByteArray>("read", "change");
    QTest::addColumn<int>("event"); // -1: none
    const auto row = [](const char *read, const char *change, int event) {
        QTest::addRow("-%s-%s", read, change) << QByteArray(read) << QByteArray(change) << event;
    };
    row("get", "set", int(EventKind::DataChanged));
    row("get", "remove", int(EventKind::Deleted));
    row("exists", "set", int(EventKind::DataChanged));
    row("exists", "remove", int(EventKind::Deleted));
    row("children", "add", int(EventKind::ChildrenChanged));
    row("children", "remove", int(EventKind::Deleted));
    row("get", "add", -1);
    row("children", "set", -1);
}

void TestZooKeeperWatches::watchesFireOnce()
{
    QFETCH(QByteArray, read);
    QFETCH(QByteArray, change);
    QFETCH(int, event);
    const ZPath path(under("node"));
    QVERIFY(make(*m_session, path.bytes()));
    const auto other = open();
    QVERIFY(other);
    const Watch watch(m_loop);
    if (read == "get")
        QVERIFY(await(m_session->get(path, watch, Deadline::never())));
    else if (read == "exists")
        QVERIFY(await(m_session->exists(path, watch, Deadline::never())));
    else
        QVERIFY(await(m_session->children(path, watch, Deadline::never())));
    QCOMPARE(m_session->watchCount(), 1);
    QCOMPARE(m_session->watchedBytes(), path.bytes().size());

    if (change == "set")
        QVERIFY(await(other->set(path, "x", anyVersion, Deadline::never())));
    else if (change == "remove")
        QVERIFY(await(other->remove(path, anyVersion, Deadline::never())));
    else
        QVERIFY(make(*other, path.bytes() + "/child"));

    if (event < 0) {
        // Events come before the answers to what is asked later.
        QVERIFY(await(m_session->sync(path, Deadline::never())));
        QVERIFY(!watch.event().isComplete());
        QCOMPARE(m_session->watchCount(), 1);
        return;
    }
    const auto fired = await(watch.event(), WatchEvent{});
    QCOMPARE(int(fired.kind), event);
    QCOMPARE(fired.path.bytes(), path.bytes());
    QCOMPARE(m_session->watchCount(), 0);
    QCOMPARE(m_session->watchedBytes(), 0);
}

void TestZooKeeperWatches::listenersOnOnePathShareAWatch()
{
    const ZPath path(under("node"));
    QVERIFY(make(*m_session, path.bytes()));
    const Watch first(m_loop);
    const Watch second(m_loop);
    const Watch third(m_loop);
    QVERIFY(await(m_session->get(path, first, Deadline::never())));
    QVERIFY(await(m_session->exists(path, second, Deadline::never())));
    QVERIFY(await(m_session->children(path, third, Deadline::never())));
    QCOMPARE(m_session->watchCount(), 2); // data and children are two watches of the server
    QVERIFY(await(m_session->set(path, "x", anyVersion, Deadline::never())));
    QCOMPARE(await(first.event(), WatchEvent{}).kind, EventKind::DataChanged);
    QCOMPARE(await(second.event(), WatchEvent{}).kind, EventKind::DataChanged);
    QVERIFY(!third.event().isComplete());
    QVERIFY(await(m_session->remove(path, anyVersion, Deadline::never())));
    QCOMPARE(await(third.event(), WatchEvent{}).kind, EventKind::Deleted);
}

void TestZooKeeperWatches::existsWatchesAMissingNodeAndGetDoesNot()
{
    const ZPath path(under("later"));
    const Watch byGet(m_loop);
    const Watch byExists(m_loop);
    QCOMPARE(await(m_session->get(path, byGet, Deadline::never())).error().code, ErrorCode::NoNode);
    QCOMPARE(m_session->watchCount(), 0);
    QCOMPARE(await(m_session->exists(path, byExists, Deadline::never())).error().code, ErrorCode::NoNode);
    QCOMPARE(m_session->watchCount(), 1);
    QVERIFY(make(*m_session, path.bytes()));
    QCOMPARE(await(byExists.event(), WatchEvent{}).kind, EventKind::Created);
    QVERIFY(!byGet.event().isComplete());
}

void TestZooKeeperWatches::theWatchBudgetHolds()
{
    SessionOptions options{.watchBudgetBytes = m_root.size() + 3};
    const auto tight = open(options);
    QVERIFY(tight);
    const Watch fits(m_loop);
    QVERIFY(await(tight->children(ZPath(m_root), fits, Deadline::never())));
    const auto beyond = await(tight->get(ZPath(m_root), Watch(m_loop), Deadline::never()));
    QVERIFY(!beyond);
    QCOMPARE(beyond.error().code, ErrorCode::BudgetExceeded);
    QVERIFY(await(tight->get(ZPath(m_root), {}, Deadline::never())));
    // The same place again costs nothing; a fired watch gives its bytes back.
    QVERIFY(await(tight->children(ZPath(m_root), Watch(m_loop), Deadline::never())));
    QVERIFY(make(*m_session, under("child")));
    QCOMPARE(await(fits.event(), WatchEvent{}).kind, EventKind::ChildrenChanged);
    QVERIFY(await(tight->get(ZPath(m_root), Watch(m_loop), Deadline::never())));
}

void TestZooKeeperWatches::thousandsOfWatchesSurviveARestart()
{
    constexpr int count = 6000;
    std::vector<Reply<Created>> made;
    for (int i = 0; i < count; ++i)
        made.push_back(m_session->create(ZPath(under("n" + QByteArray::number(i))), {}, CreateMode::Persistent,
                                         openAcl(), Deadline::never()));
    QVERIFY(await(made.back()));
    std::vector<Watch> watches;
    std::vector<Reply<Node>> reads;
    for (int i = 0; i < count; ++i) {
        watches.emplace_back(m_loop);
        reads.push_back(m_session->get(ZPath(under("n" + QByteArray::number(i))), watches.back(), Deadline::never()));
    }
    QVERIFY(await(reads.back()));
    QCOMPARE(m_session->watchCount(), count);
    const auto id = m_session->id();

    // A server that gets more watches set anew than it takes in one packet hangs up, again and again.
    int connects = 0;
    const auto counting =
        m_session->onState([&connects](SessionState now) { connects += now == SessionState::Connected ? 1 : 0; });
    m_server->stop();
    QVERIFY(waitForState(*m_session, SessionState::Connecting));
    QVERIFY(m_server->start(30s));
    QVERIFY(waitForState(*m_session, SessionState::Connected));
    QCOMPARE(m_session->id(), id);
    QCOMPARE(m_session->watchCount(), count);
    for (const int i : {0, count / 2, count - 1}) {
        QVERIFY(await(m_session->set(ZPath(under("n" + QByteArray::number(i))), "x", anyVersion, Deadline::never())));
        QCOMPARE(await(watches[std::size_t(i)].event(), WatchEvent{}).kind, EventKind::DataChanged);
    }
    QVERIFY(!watches[1].event().isComplete());
    QCOMPARE(connects, 1);
}

LOCKSCOPE_TEST(TestZooKeeperWatches)
#include "tst_zookeeper_watches.moc"
