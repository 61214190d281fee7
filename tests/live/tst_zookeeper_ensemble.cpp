// SPDX-License-Identifier: Apache-2.0
// The observer and a real ensemble of three, of which it was told one address: whom it finds, what it says while a
// member is down or hangs, and that a change of leader changes no lock.
#include "tests/support/keepingsink.h"
#include "tests/support/zookeeperfixture.h"

#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/observer.h"
#include "tests/support/testmain.h"

#include <QTcpSocket>

using namespace lockscope::inspect;

namespace {

struct EnsembleSink : KeepingSink {
    QStringList untrue; // changes that nothing on the servers accounts for
    std::map<QByteArray, QByteArray> holders;

    void note(SnapshotChange change) override
    {
        const auto name = QString::fromUtf8(change.lock.lock.name);
        if (change.kind == ChangeKind::Removed) {
            untrue << u"removed "_s + name;
        } else {
            for (const auto &finding : change.lock.findings)
                untrue << name + u": "_s + finding.message;
            const auto known = holders.find(change.lock.lock.name);
            if (known != holders.end() && !change.lock.find(known->second))
                untrue << u"another holder of "_s + name;
        }
        KeepingSink::note(std::move(change));
    }
    bool isShort() const
    {
        return says(u"2 of 3 members answered cons"_s) && says(u"2 of 3 members answered wchp"_s);
    }
    bool isWhole() const { return !coverage.empty() && !says(u"members answered"_s); }
};

bool isLeader(const HostPort &at)
{
    QTcpSocket socket;
    socket.connectToHost(at.host, at.port);
    if (!socket.waitForConnected(5000))
        return false;
    socket.write("srvr");
    QByteArray answer;
    while (socket.waitForReadyRead(5000))
        answer += socket.readAll();
    return answer.contains("Mode: leader");
}

} // namespace

class TestZooKeeperEnsemble : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        auto made = sandbox::makeZooKeeperEnsemble(3);
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_members = std::move(*made);
        const auto started = sandbox::startAll(m_members, 60s);
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        for (const auto &member : m_members)
            m_all.push_back(member->address());
        m_maker = open(m_all);
        QVERIFY(m_maker);
    }
    void cleanup()
    {
        m_observer.reset();
        m_source.reset();
        m_session.reset();
        m_clients.clear();
        m_sink = {};
        for (const auto &member : m_members)
            member->resume();
        if (!m_members.empty())
            QVERIFY(sandbox::startAll(m_members, 60s));
    }
    void cleanupTestCase()
    {
        m_maker.reset();
        zk::waitForClosingSessions(10s);
        m_members.clear();
    }

    void theOtherMembersAreFoundAndAsked()
    {
        queue("/found", {1, 2, 1});
        look({m_all[0]});
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole() && m_sink.locks.contains("/found"), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(hasProvenEdges("/found"), 20'000);
        for (const auto &contender : m_sink.locks.at("/found").contenders)
            QVERIFY2(contender.endpoint, contender.id.constData());
        QVERIFY(looksOn());
        QCOMPARE(m_sink.untrue, QStringList());
    }

    void aMemberThatIsDownIsSaidAndNothingIsConcluded()
    {
        const auto down = follower();
        queue("/down", {other(down), down, other(down)});
        look({addressOf(other(down))});
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole() && hasProvenEdges("/down"), 20'000);
        member(down).stop();
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isShort(), 20'000);
        QVERIFY(m_sink.says(u"server %1 (%2): "_s.arg(QString::number(down + 1), displayHost(addressOf(down)))));
        QVERIFY(looksOn());
        QCOMPARE(m_sink.untrue, QStringList());
        QVERIFY(member(down).start(60s));
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole(), 20'000);
    }

    void aHungMemberHoldsBackNobody()
    {
        const auto hung = follower();
        queue("/hung", {hung, other(hung)}); // its holder is a client of the hung member
        look({addressOf(other(hung))});
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole() && hasProvenEdges("/hung"), 20'000);
        member(hung).pause();
        for (int round = 0; round < 4; ++round) {
            const auto name = "/new-" + QByteArray::number(round);
            queue(name, {other(hung)});
            QTRY_VERIFY_WITH_TIMEOUT(m_sink.locks.contains(name), 6000);
        }
        QVERIFY(m_sink.isShort());
        QVERIFY(m_sink.says(
            u"server %1 (%2): no answer in time"_s.arg(QString::number(hung + 1), displayHost(addressOf(hung)))));
        QCOMPARE(m_sink.untrue, QStringList());
        member(hung).resume();
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole(), 10'000);
    }

    void aStallIsOverWhenItIsOver()
    {
        look(m_all);
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole(), 20'000);
        for (const auto &member : m_members)
            member->pause();
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.says(u"no answer in time"_s), 20'000);
        for (const auto &member : m_members)
            member->resume();
        queue("/after", {0});
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.locks.contains("/after"), 10'000);
    }

    void aNewLeaderChangesNoLock()
    {
        for (const QByteArray name : {"/kept-1", "/kept-2"})
            queue(name, {-1, -1, -1});
        look(m_all);
        QTRY_VERIFY_WITH_TIMEOUT(hasProvenEdges("/kept-1") && hasProvenEdges("/kept-2"), 20'000);
        for (const auto &[name, lock] : m_sink.locks)
            m_sink.holders[name] = lock.contenders.front().id;
        std::size_t leader = 0;
        while (leader < 2 && !isLeader(m_all[leader]))
            ++leader;
        m_members[leader]->stop();
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isShort(), 30'000);
        QVERIFY(m_members[leader]->start(60s));
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.isWhole(), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(hasProvenEdges("/kept-1") && hasProvenEdges("/kept-2"), 30'000);
        QCOMPARE(m_sink.untrue, QStringList());
    }

private:
    std::unique_ptr<zk::Session> open(std::vector<HostPort> hosts)
    {
        auto session = zk::openSession(m_loop, {.hosts = std::move(hosts), .timeout = 20s});
        return waitForState(*session, zk::SessionState::Connected) ? std::move(session) : nullptr;
    }
    // One client for each, in that order, at that member (-1: at any), waiting as Curator's mutex does.
    void queue(const QByteArray &directory, const std::vector<int> &at)
    {
        QVERIFY(await(
            m_maker->create(ZPath(directory), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never())));
        QByteArray before;
        for (const int member : at) {
            auto session = open(member < 0 ? m_all : std::vector{m_all[static_cast<std::size_t>(member)]});
            QVERIFY(session);
            const auto uuid = "/_c_00000000-0000-4000-8000-" + QByteArray::number(++m_uuid).rightJustified(12, '0');
            const auto made =
                await(session->create(ZPath(directory + uuid + "-lock-"), "10.0.0.1",
                                      zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never()));
            QVERIFY(made);
            QVERIFY(await(session->sync(made->path, Deadline::never())));
            if (!before.isEmpty())
                QVERIFY(await(session->get(ZPath(before), zk::Watch(m_loop), Deadline::never())));
            before = made->path.bytes();
            m_clients.push_back(std::move(session));
        }
    }
    void look(const std::vector<HostPort> &named)
    {
        m_session = open(named);
        QVERIFY(m_session);
        m_source = std::make_unique<zk::EvidenceSource>(m_loop, named, 0);
        m_observer = std::make_unique<ZooKeeperObserver>(*m_session, *m_source, ConnectionName("zk"), QByteArray(),
                                                         ObserverOptions{}, m_sink);
        m_observer->start();
    }
    // It was current three times more, a second apart.
    bool looksOn()
    {
        const int before = m_sink.looks;
        return QTest::qWaitFor([&] { return m_sink.looks >= before + 3; }, 20'000);
    }
    bool hasProvenEdges(const QByteArray &name) const
    {
        const auto at = m_sink.locks.find(name);
        return at != m_sink.locks.end() && std::ranges::all_of(at->second.contenders, [](const Contender &one) {
                   return one.role == Role::Holder
                          || (one.watches.size() == 1 && one.watches[0].evidence == inspect::Evidence::Server);
               });
    }
    int follower() const { return isLeader(m_all[2]) ? 1 : 2; }
    sandbox::ZooKeeperServer &member(int number) { return *m_members[static_cast<std::size_t>(number)]; }
    const HostPort &addressOf(int number) const { return m_all[static_cast<std::size_t>(number)]; }
    static int other(int member) { return member == 0 ? 1 : 0; }

    QtLoop m_loop;
    sandbox::ZooKeeperMembers m_members;
    std::vector<HostPort> m_all;
    std::unique_ptr<zk::Session> m_maker;
    std::vector<std::unique_ptr<zk::Session>> m_clients;
    int m_uuid = 0;
    EnsembleSink m_sink;
    std::unique_ptr<zk::Session> m_session;
    std::unique_ptr<zk::EvidenceSource> m_source;
    std::unique_ptr<ZooKeeperObserver> m_observer;
};

LOCKSCOPE_TEST(TestZooKeeperEnsemble)
#include "tst_zookeeper_ensemble.moc"
