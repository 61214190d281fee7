// SPDX-License-Identifier: Apache-2.0
// What a caller of a session on libzookeeper learns when the connection, the session or the credentials fail.
#include "tests/live/namelookups.h"
#include "tests/live/zookeeperclientfixture.h"
#include "tests/support/testmain.h"

class TestZooKeeperSessions : public ZooKeeperClientFixture {
    Q_OBJECT
private slots:
    void aWrongSchemeEndsTheSession();
    void aBrokenConnectionIsAnUnknownOutcome();
    void aPassedDeadlineIsAnUnknownOutcome();
    void anExpiredSessionIsOver();
    void nothingIsSentWhileConnecting();
    void destroyingClosesTheSessionAndAnswersEverybody();
    void destroyingAnUnconnectedSessionIsQuick();
    void namesAreLookedUpForConnectionsOnly();
};

void TestZooKeeperSessions::aWrongSchemeEndsTheSession()
{
    const Watch watch(m_loop);
    QVERIFY(await(m_session->get(ZPath(m_root), watch, Deadline::never())));
    const auto added = await(m_session->addAuth("no-such-scheme", "x", Deadline::never()));
    QVERIFY(!added);
    QCOMPARE(added.error().code, ErrorCode::AuthFailed);
    QVERIFY(waitForState(*m_session, SessionState::AuthFailed));
    QCOMPARE(await(watch.event(), WatchEvent{EventKind::Created, {}}).kind, EventKind::SessionOver);
    QCOMPARE(await(m_session->get(ZPath(m_root), {}, Deadline::never())).error().code, ErrorCode::AuthFailed);
}

void TestZooKeeperSessions::aBrokenConnectionIsAnUnknownOutcome()
{
    Cable cable(m_server->address());
    const auto session = openThrough(cable);
    QVERIFY(session);
    std::vector<SessionState> seen;
    const auto subscription = session->onState([&seen](SessionState state) { seen.push_back(state); });
    const auto id = session->id();

    m_server->pause();
    const auto out = session->set(ZPath(m_root), "x", anyVersion, Deadline::never());
    cable.cut();
    const auto broken = await(out);
    m_server->resume();
    cable.mend();
    QVERIFY(!broken);
    QCOMPARE(broken.error().code, ErrorCode::UnknownOutcome);
    QVERIFY(broken.error().retryable);
    QVERIFY(waitForState(*session, SessionState::Connected));
    QCOMPARE(session->id(), id);
    QTRY_COMPARE(seen, (std::vector{SessionState::Connecting, SessionState::Connected}));
    QVERIFY(await(session->get(ZPath(m_root), {}, Deadline::never())));
}

// The library looks them up before each thing it sends and receives, unless it is told not to.
void TestZooKeeperSessions::namesAreLookedUpForConnectionsOnly()
{
    Cable cable(m_server->address());
    const int none = namesLookedUp();
    const auto session = openThrough(cable);
    QVERIFY(session);
    const int connected = namesLookedUp();
    QVERIFY2(connected > none, "the library's lookups are not seen, so this test shows nothing");
    for (int i = 0; i < 50; ++i)
        QVERIFY(await(session->get(ZPath(m_root), {}, Deadline::never())));
    QVERIFY2(namesLookedUp() - connected < 10, qPrintable(QString::number(namesLookedUp() - connected)));
    cable.cut();
    QVERIFY(waitForState(*session, SessionState::Connecting));
    const int cut = namesLookedUp();
    cable.mend();
    QVERIFY(waitForState(*session, SessionState::Connected));
    QVERIFY(namesLookedUp() > cut); // a server that moved is found
}

void TestZooKeeperSessions::aPassedDeadlineIsAnUnknownOutcome()
{
    m_server->pause();
    const auto late = await(m_session->get(ZPath(m_root), {}, Deadline::after(m_loop, 50ms)));
    m_server->resume();
    QVERIFY(!late);
    QCOMPARE(late.error().code, ErrorCode::UnknownOutcome);
    const auto none = await(m_session->get(ZPath(m_root), {}, Deadline::at(m_loop.now())));
    QCOMPARE(none.error().code, ErrorCode::TimedOut);
    QVERIFY(await(m_session->get(ZPath(m_root), {}, Deadline::after(m_loop, 10s))));
}

void TestZooKeeperSessions::anExpiredSessionIsOver()
{
    Cable cable(m_server->address());
    const auto session = openThrough(cable);
    QVERIFY(session);
    QVERIFY(make(*session, under("ephemeral"), {}, CreateMode::Ephemeral));
    const Watch watch(m_loop);
    QVERIFY(await(session->get(ZPath(m_root), watch, Deadline::never())));
    const Watch gone(m_loop);
    QVERIFY(await(m_session->get(ZPath(under("ephemeral")), gone, Deadline::never())));

    cable.cut();
    QVERIFY(waitForState(*session, SessionState::Connecting));
    QVERIFY(!watch.event().isComplete());                                 // a broken connection is not the end
    QCOMPARE(await(gone.event(), WatchEvent{}).kind, EventKind::Deleted); // the server gave the session up
    cable.mend();
    QVERIFY(waitForState(*session, SessionState::Expired));
    QCOMPARE(await(watch.event(), WatchEvent{}).kind, EventKind::SessionOver);
    QCOMPARE(session->watchCount(), 0);
    const auto after = await(session->get(ZPath(m_root), {}, Deadline::never()));
    QCOMPARE(after.error().code, ErrorCode::SessionExpired);
    QVERIFY(!after.error().retryable);
}

void TestZooKeeperSessions::nothingIsSentWhileConnecting()
{
    QTcpServer nobody; // accepts and never answers
    QVERIFY(nobody.listen(QHostAddress::LocalHost));
    const auto session = openSession(m_loop, {.hosts = {{u"127.0.0.1"_s, nobody.serverPort()}}});
    QCOMPARE(session->state(), SessionState::Connecting);
    QVERIFY(session->id().isNone());
    QVERIFY(!session->connectedAt());
    const auto read = await(session->get(ZPath("/"), {}, Deadline::never()));
    QCOMPARE(read.error().code, ErrorCode::NotConnected);
    QVERIFY(read.error().retryable);
    QVERIFY(QTest::qWaitFor([&] { return nobody.hasPendingConnections(); }, 10'000));
    QCOMPARE(await(session->get(ZPath("/"), {}, Deadline::never())).error().code, ErrorCode::NotConnected);
}

void TestZooKeeperSessions::destroyingClosesTheSessionAndAnswersEverybody()
{
    auto session = open();
    QVERIFY(session);
    QVERIFY(make(*session, under("ephemeral"), {}, CreateMode::Ephemeral));
    const Watch gone(m_loop);
    QVERIFY(await(m_session->get(ZPath(under("ephemeral")), gone, Deadline::never())));
    const Watch watch(m_loop);
    QVERIFY(await(session->get(ZPath(m_root), watch, Deadline::never())));
    std::vector<Reply<Node>> out;
    for (int i = 0; i < 1000; ++i)
        out.push_back(session->get(ZPath(m_root), {}, Deadline::never()));
    session.reset();
    for (const auto &reply : out)
        QVERIFY(reply.isComplete());
    QCOMPARE(await(out.back()).error().code, ErrorCode::UnknownOutcome);
    QCOMPARE(await(watch.event(), WatchEvent{}).kind, EventKind::SessionOver);
    QCOMPARE(await(gone.event(), WatchEvent{}).kind, EventKind::Deleted);
    waitForClosingSessions(10s);
}

void TestZooKeeperSessions::destroyingAnUnconnectedSessionIsQuick()
{
    SessionOptions options{.hosts = {{u"127.0.0.1"_s, 1}}};
    for (int i = 0; i < 20; ++i) {
        const auto session = openSession(m_loop, options);
        QCOMPARE(session->state(), SessionState::Connecting);
    }
    options.hosts = {{u"no-such-host.invalid"_s, 2181}};
    const auto unknown = openSession(m_loop, options);
    QCOMPARE(await(unknown->get(ZPath("/"), {}, Deadline::never())).error().code, ErrorCode::NotConnected);
}

LOCKSCOPE_TEST(TestZooKeeperSessions)
#include "tst_zookeeper_sessions.moc"
