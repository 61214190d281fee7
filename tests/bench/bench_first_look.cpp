// SPDX-License-Identifier: Apache-2.0
// How long until every lock of a big ensemble is known: 100,000 persistent znodes under 1,000
// directories beside 300 locks of three contenders. Measured against a plain client that knows where
// the locks are and sends the fewest requests that can read them. Prints the ratio; asserts only what
// was found. Size by LOCKSCOPE_BENCH_ZNODES (100000).
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/inspect/zookeeper/observer.h"
#include "core/sandbox/server.h"
#include "core/zookeeper/client.h"
#include "tests/bench/blocking.h"
#include "tests/bench/report.h"
#include "tests/support/keepingsink.h"
#include "tests/support/startedserver.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

constexpr int lockCount = 300;
constexpr int contendersEach = 3;
constexpr int directories = 1000;

zk::Op createOp(const ZPath &path)
{
    return zk::Op{.kind = zk::Op::Kind::Create, .path = path, .acls = zk::openAcl()};
}

QByteArray lockPath(int i)
{
    return "/locks/lock-" + QByteArray::number(i);
}

// 1,000 directories, filled by multis sent in one stream.
Task<void> fill(zk::Session &session, int znodes, bool &done)
{
    std::vector<Reply<std::vector<zk::OpResult>>> out;
    for (int d = 0; d < directories; ++d) {
        const ZPath directory("/data-" + QByteArray::number(d));
        std::vector<zk::Op> ops{createOp(directory)};
        for (int i = 0; i < znodes / directories; ++i)
            ops.push_back(createOp(directory.child(NodeName("node-" + QByteArray::number(i)))));
        out.push_back(session.multi(std::move(ops), Deadline::never()));
    }
    std::vector<zk::Op> parents{createOp(ZPath("/locks"))};
    for (int i = 0; i < lockCount; ++i)
        parents.push_back(createOp(ZPath(lockPath(i))));
    out.push_back(session.multi(std::move(parents), Deadline::never()));
    for (const auto &reply : out) {
        const auto result = co_await reply;
        if (!result)
            qFatal("fill: %s", qPrintable(result.error().message));
    }
    done = true;
}

Task<void> queueUp(zk::Session &session, int contender, bool &done)
{
    std::vector<Reply<zk::Created>> out;
    for (int i = 0; i < lockCount; ++i) {
        const auto uuid = QByteArray::number(i).rightJustified(8, '0') + "-0000-4000-8000-"
                          + QByteArray::number(contender).rightJustified(12, '0');
        out.push_back(session.create(ZPath(lockPath(i) + "/_c_" + uuid + "-lock-"), "10.0.0.1",
                                     zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never()));
    }
    for (const auto &reply : out) {
        const auto created = co_await reply;
        if (!created)
            qFatal("could not queue up: %s", qPrintable(created.error().message));
    }
    done = true;
}

// What a program must at least send that knows the 300 directories: list each, read each contender.
Task<void> plainRead(zk::Session &session, int &nodesRead)
{
    std::vector<Reply<zk::Children>> lists;
    for (int i = 0; i < lockCount; ++i)
        lists.push_back(session.children(ZPath(lockPath(i)), std::nullopt, Deadline::never()));
    std::vector<Reply<zk::Node>> nodes;
    for (int i = 0; i < lockCount; ++i) {
        const auto listed = co_await lists[static_cast<std::size_t>(i)];
        for (const auto &name : listed->names)
            nodes.push_back(session.get(ZPath(lockPath(i)).child(name), std::nullopt, Deadline::never()));
    }
    nodesRead = 0;
    for (const auto &reply : nodes) {
        const auto read = co_await reply;
        nodesRead += read ? 1 : 0;
    }
}

} // namespace

class BenchFirstLook : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    QtLoop m_loop;
    std::vector<std::unique_ptr<zk::Session>> m_sessions;
    bench::Medians m_plain; // of a client that knows where the locks are
    int m_znodes = qEnvironmentVariableIntValue("LOCKSCOPE_BENCH_ZNODES");

    zk::Session &openSession()
    {
        m_sessions.push_back(zk::openSession(m_loop, {.hosts = {m_server->address()}, .timeout = 30s}));
        auto &session = *m_sessions.back();
        [&] { QTRY_COMPARE_WITH_TIMEOUT(session.state(), zk::SessionState::Connected, 15'000); }();
        return session;
    }

    void look(zk::Session &session, zk::EvidenceSource &evidence, bool follow, bench::Medians &took)
    {
        testing::NoSink sink;
        inspect::ObserverOptions options;
        options.follow = follow;
        QElapsedTimer timer;
        timer.start();
        inspect::ZooKeeperObserver observer(session, evidence, ConnectionName("zk"), {}, options, sink);
        observer.start();
        QVERIFY(bench::waitUntil([&] { return observer.firstSnapshot().isComplete(); }, 60s));
        took.add(timer.nsecsElapsed());
        QCOMPARE(static_cast<int>(observer.snapshots().size()), lockCount);
    }

private slots:
    void initTestCase()
    {
        if (m_znodes == 0)
            m_znodes = 100'000;
        START_OR_SKIP(m_server, sandbox::makeZooKeeper({.tick = 2000ms}));
        Scope scope(m_loop);
        bool filled = false;
        scope.launch(fill(openSession(), m_znodes, filled));
        QTRY_VERIFY_WITH_TIMEOUT(filled, 120'000);
        for (int contender = 0; contender < contendersEach; ++contender) {
            bool queued = false;
            scope.launch(queueUp(openSession(), contender, queued));
            QTRY_VERIFY_WITH_TIMEOUT(queued, 30'000);
        }
    }

    void firstLook()
    {
        auto &session = openSession();
        Scope scope(m_loop);
        zk::EvidenceSource evidence(m_loop, {m_server->address()}, m_server->adminPort());
        bench::Medians followed, once;
        // So many: in the first of them the server still compiles what it runs, for one or the other.
        for (int round = 0; round < 15; ++round) {
            QElapsedTimer timer;
            timer.start();
            int nodesRead = 0;
            scope.launch(plainRead(session, nodesRead));
            QVERIFY(bench::waitUntil([&] { return nodesRead == lockCount * contendersEach; }, 30s));
            m_plain.add(timer.nsecsElapsed());
            for (const bool follow : {false, true})
                look(session, evidence, follow, follow ? followed : once);
        }
        const auto what = u"first look, %1 znodes, 300 locks, %2: observer ÷ plain client"_s.arg(m_znodes);
        bench::report(what.arg(u"as a window has it"_s), followed, m_plain);
        bench::report(what.arg(u"once, and how many watch children (mntr)"_s), once, m_plain);
    }

    void lockscopectl()
    {
        const auto plainList = u"zk://%1:%2?admin=%3"_s.arg(m_server->address().host)
                                   .arg(m_server->address().port)
                                   .arg(m_server->adminPort());
        bench::Medians whole;
        for (int round = 0; round < 5; ++round) {
            QElapsedTimer timer;
            timer.start();
            QProcess ctl;
            ctl.start(QStringLiteral(LOCKSCOPECTL), {u"locks"_s, u"--json"_s, u"--connect"_s, plainList});
            QVERIFY(ctl.waitForFinished(60'000));
            whole.add(timer.nsecsElapsed());
            QCOMPARE(ctl.exitCode(), 0);
            const auto found = ctl.readAllStandardOutput().count("\"lock\": \"zk:/locks/lock-");
            QCOMPARE(static_cast<int>(found), lockCount);
        }
        bench::report(u"lockscopectl locks, whole process, %1 znodes, 300 locks ÷ plain client"_s.arg(m_znodes),
                      whole, m_plain);
    }

    void cleanupTestCase()
    {
        m_sessions.clear();
        zk::waitForClosingSessions(5s);
    }
};

QTEST_GUILESS_MAIN(BenchFirstLook)
#include "bench_first_look.moc"
