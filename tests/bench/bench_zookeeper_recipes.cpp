// SPDX-License-Identifier: Apache-2.0
// The queue locks against bare requests, Curator and kazoo on the same server in the same run, also with
// one millisecond added to every round trip. Prints ratios; asserts only that both sides did their work.
//
// Where zk-eager-mutex has its limit: a hand-off is one round trip (the delete goes there, the event comes back), and
// Curator's two, for it lists the children then. Neither can have fewer. Both also wait for what the server and the
// processors need for a delete and its event, s ms: at best the ratio is (2 + s) / (1 + s), which is 2 where that is
// nothing, 1.9 with 0.11 ms, and 1.67 with 0.5 ms. (Curator's is a little above that: its list takes time, too.) s is
// a matter of the machine: handOffsFarAway measures in the same run what a bare delete and its event take where
// nobody else asks for anything, and says what ratio that would be. No recipe comes above it.
#include "core/async/freelist.h"
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/recipes/make.h"
#include "core/zookeeper/client.h"
#include "tests/bench/blocking.h"
#include "tests/bench/report.h"
#include "tests/interop/foreignclients.h"
#include "tests/support/delayproxy.h"
#include "tests/support/startedserver.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTest>

#include <malloc.h>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

constexpr int rounds = 5;
constexpr auto span = 500ms;    // of one measurement
constexpr auto warmUp = 3000ms; // after one second Curator still gets faster from round to round

enum class Release { Awaited, SentOnly };

Task<void> releaseIt(recipes::Lock *lock)
{
    const auto never = Deadline::never();
    const auto released = co_await lock->release(never);
    if (!released)
        qFatal("release: %s", qPrintable(released.error().message));
}

// Takes and releases until told to stop.
Task<void> cycle(recipes::Lock *lock, Scope *releases, Release how, const bool *stop, qint64 *cycles)
{
    const auto never = Deadline::never();
    while (!*stop) {
        const auto grant = co_await lock->acquire(never);
        if (!grant)
            qFatal("acquire: %s", qPrintable(grant.error().message));
        ++*cycles;
        if (how == Release::SentOnly) {
            releases->launch(releaseIt(lock));
            continue;
        }
        auto releasing = releaseIt(lock);
        co_await releasing;
    }
}

Task<void> takeOnce(recipes::Lock *lock, QElapsedTimer *since, bench::Medians *handOffs,
                    std::vector<recipes::Lock *> *holders)
{
    const auto never = Deadline::never();
    const auto grant = co_await lock->acquire(never);
    if (!grant)
        qFatal("acquire: %s", qPrintable(grant.error().message));
    if (since->isValid())
        handOffs->add(since->nsecsElapsed());
    holders->push_back(lock);
}

// Other people's contenders: cycles a second.
class Foreign {
public:
    explicit Foreign(std::unique_ptr<interop::ForeignClient> client) : m_client(std::move(client)) {}
    bool isReady() { return m_client->says("ready"); }
    // 0 if it did not answer.
    double rate(std::chrono::milliseconds howLong)
    {
        m_client->tell("run " + QByteArray::number(qint64(howLong.count())));
        const auto number = m_runs++;
        QList<QByteArray> answers;
        const auto said = [&] {
            answers = m_client->everythingSaid().split('\n');
            answers.removeIf([](const QByteArray &line) { return !line.startsWith("did "); });
            return answers.size() > number;
        };
        if (!QTest::qWaitFor(said, 30'000))
            return 0;
        const auto words = answers[number].split(' ');
        return words.size() == 3 ? words[1].toDouble() * 1e9 / words[2].toDouble() : 0;
    }

private:
    std::unique_ptr<interop::ForeignClient> m_client;
    qsizetype m_runs = 0;
};

QString benchClient(const QString &name)
{
    return QStringLiteral(BENCH_CLIENTS "/") + name;
}

Foreign curator(const HostPort &server, const QByteArray &path, int contenders)
{
    return Foreign(interop::javaClient(
        benchClient(u"CuratorCycles.java"_s),
        {u"%1:%2"_s.arg(server.host).arg(server.port), QString::fromUtf8(path), QString::number(contenders)},
        interop::JavaSpeed::Full));
}

Foreign kazoo(const HostPort &server, const QByteArray &path)
{
    return Foreign(std::make_unique<interop::ForeignClient>(
        u"/usr/bin/python3"_s, QStringList{benchClient(u"kazoo_cycles.py"_s),
                                           u"%1:%2"_s.arg(server.host).arg(server.port), QString::fromUtf8(path)}));
}

} // namespace

class BenchZooKeeperRecipes : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<testing::DelayProxy> m_slow; // the same server, 1 ms further away
    int m_paths = 0;
    bench::Medians m_theirs; // cycles a second of whom we were measured against last

    std::unique_ptr<zk::Session> open(const HostPort &server)
    {
        auto session = zk::openSession(m_loop, {.hosts = {server}, .timeout = 30s});
        const auto connected = [&] { return session->state() == zk::SessionState::Connected; };
        return QTest::qWaitFor(connected, 20'000) ? std::move(session) : nullptr;
    }
    ZPath freshPath() { return ZPath("/bench-" + QByteArray::number(++m_paths)); }

    // Contenders with a session each.
    struct Contenders {
        std::vector<std::unique_ptr<zk::Session>> sessions;
        std::vector<std::unique_ptr<recipes::Lock>> locks;
    };
    Contenders contenders(const HostPort &server, const QByteArray &recipe, const ZPath &path, int count,
                          int perSession = 1)
    {
        Contenders made;
        for (int i = 0; i < count; ++i) {
            if (i % perSession == 0)
                made.sessions.push_back(open(server));
            if (!made.sessions.back())
                qFatal("no session");
            auto lock = recipes::makeLock(recipe, *made.sessions.back(), path, {}, Random(quint64(i)));
            if (!lock)
                qFatal("%s", qPrintable(lock.error().message));
            made.locks.push_back(std::move(*lock));
        }
        return made;
    }
    // Cycles a second of all of them.
    double rate(Contenders &all, Release how, std::chrono::milliseconds howLong)
    {
        Scope releases(m_loop);
        Scope scope(m_loop);
        bool stop = false;
        qint64 cycles = 0;
        QElapsedTimer timer;
        timer.start();
        for (auto &lock : all.locks)
            scope.launch(cycle(lock.get(), &releases, how, &stop, &cycles));
        bench::waitUntil([&] { return timer.elapsed() >= howLong.count(); }, howLong);
        stop = true;
        if (!bench::waitUntil([&] { return scope.isIdle() && releases.isIdle(); }, 30s))
            return 0;
        return double(cycles) * 1e9 / double(timer.nsecsElapsed());
    }
    // Alternating, after both have warmed up. Theirs are in m_theirs then.
    void against(const QString &what, Contenders &ours, Release how, Foreign &theirs)
    {
        m_theirs = {};
        QVERIFY(theirs.isReady());
        QVERIFY(theirs.rate(warmUp) > 0);
        QVERIFY(rate(ours, how, 300ms) > 0);
        bench::Medians us;
        bench::Medians &them = m_theirs;
        for (int round = 0; round < rounds; ++round) {
            us.addValue(rate(ours, how, span));
            them.addValue(theirs.rate(span));
        }
        QVERIFY(us.median() > 0 && them.median() > 0);
        bench::reportRatio(what, us, them, u"cycles/s"_s);
    }
    template <class T>
    qint64 timeOf(const Reply<T> &reply, const QElapsedTimer &timer)
    {
        bench::waitUntil([&] { return reply.isComplete(); });
        const auto took = timer.nsecsElapsed();
        return reply.isComplete() && reply.value() ? took : -1;
    }
    // Nodes stand before anything is measured, one of each session in turn; when one goes, the next session hears of
    // it and deletes its own. Hand-offs a second, as rate() counts them, where nobody asks for anything else; 0 if
    // some of it failed.
    double bareHandOffs(const std::vector<std::unique_ptr<zk::Session>> &sessions, int count)
    {
        const auto never = Deadline::never();
        std::vector<ZPath> nodes;
        std::vector<zk::Watch> watches;
        QElapsedTimer timer;
        timer.start();
        const auto sessionOf = [&](int i) { return sessions[size_t(i) % sessions.size()].get(); };
        for (int i = 0; i < count; ++i) {
            nodes.push_back(freshPath());
            watches.emplace_back(m_loop);
            const auto made = sessionOf(i)->create(nodes.back(), {}, zk::CreateMode::Ephemeral, zk::openAcl(), never);
            if (timeOf(made, timer) < 0
                || timeOf(sessionOf(i + 1)->get(nodes.back(), watches.back(), never), timer) < 0)
                return 0;
        }
        std::vector<Reply<bool>> removals;
        const auto removeNext = [&] {
            const auto next = removals.size();
            removals.push_back(sessionOf(int(next))->remove(nodes[next], zk::anyVersion, never));
        };
        for (int i = 0; i + 1 < count; ++i)
            watches[size_t(i)].event().then([&](const zk::WatchEvent &) { removeNext(); });
        timer.start();
        removeNext();
        bench::waitUntil([&] { return watches.back().event().isComplete(); });
        const auto took = timer.nsecsElapsed();
        const bool allGone =
            std::ranges::all_of(removals, [&](const auto &removal) { return timeOf(removal, timer) >= 0; });
        for (const auto &watch : watches)
            watch.event().dropListener();
        return watches.back().event().isComplete() && allGone ? double(count) * 1e9 / double(took) : 0;
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_server, sandbox::makeZooKeeper({.adminServer = false, .tick = 2000ms}));
        m_slow = std::make_unique<testing::DelayProxy>(m_server->address(), 1000us);
    }

    void acquireBesideABareCreate()
    {
        // The server's log on the disk, as a real one's is.
        auto server = sandbox::makeZooKeeper({.adminServer = false, .tick = 2000ms, .syncsItsLog = true});
        QVERIFY(server && (*server)->start(30s));
        auto session = open((*server)->address());
        QVERIFY(session);
        const ZPath path = freshPath();
        auto made = recipes::makeLock("zk-mutex", *session, path, {}, Random(1));
        QVERIFY(made);
        Scope scope(m_loop);
        bench::Medians acquires;
        bench::Medians creates;
        const auto never = Deadline::never();
        for (int round = 0; round < 300; ++round) {
            QElapsedTimer timer;
            timer.start();
            std::vector<recipes::Lock *> holders;
            QElapsedTimer none;
            scope.launch(takeOnce(made->get(), &none, &acquires, &holders));
            bench::waitUntil([&] { return !holders.empty(); });
            const auto took = timer.nsecsElapsed();
            QCOMPARE(holders.size(), 1u);
            scope.launch(releaseIt(made->get()));
            QTRY_VERIFY(scope.isIdle());
            timer.restart();
            const auto create = session->create(path.child(NodeName("bare-")), "10.0.0.1",
                                                zk::CreateMode::EphemeralSequential, zk::openAcl(), never);
            const auto bare = timeOf(create, timer);
            QVERIFY(bare > 0);
            const auto removed = session->remove(create.value()->path, zk::anyVersion, never);
            QVERIFY(timeOf(removed, timer) > 0);
            if (round >= 50) {
                acquires.add(took);
                creates.add(bare);
            }
        }
        bench::report(u"free acquire of zk-mutex, log on disk (goal ≤ 1.25) ÷ one bare create"_s, acquires, creates);
    }

    void freeCycles()
    {
        const ZPath path = freshPath();
        auto ours = contenders(m_server->address(), "zk-mutex", path, 1);
        auto java = curator(m_server->address(), "/theirs-curator", 1);
        against(u"free cycle (goal > 1): zk-mutex ÷ Curator"_s, ours, Release::Awaited, java);
        auto python = kazoo(m_server->address(), "/theirs-kazoo");
        against(u"free cycle (goal > 1): zk-mutex ÷ kazoo"_s, ours, Release::Awaited, python);
    }

    void freeCyclesFarAway()
    {
        auto ours = contenders(m_slow->address(), "zk-mutex", freshPath(), 1);
        auto java = curator(m_slow->address(), "/theirs-far", 1);
        against(u"free cycle, 1 ms added (goal ≥ 1.4): zk-mutex ÷ Curator"_s, ours, Release::Awaited, java);
        against(u"free cycle, 1 ms added, release not waited for (goal ≥ 2.5): zk-mutex ÷ Curator"_s, ours,
                Release::SentOnly, java);
    }

    void handOffsFarAway()
    {
        auto ours = contenders(m_slow->address(), "zk-eager-mutex", freshPath(), 8);
        auto java = curator(m_slow->address(), "/theirs-contended", 8);
        against(u"8 contenders, 1 ms added (goal ≥ 1.9): zk-eager-mutex ÷ Curator"_s, ours, Release::Awaited, java);
        // The least that a hand-off can be: one deletes, another hears of it, and nobody else asks for anything.
        bench::Medians least;
        for (int round = 0; round < rounds; ++round) {
            least.addValue(bareHandOffs(ours.sessions, 100));
            QVERIFY(least.at(0) > 0);
        }
        bench::reportRatio(u"the best that could be: bare deletes and their events, one after the other ÷ Curator"_s,
                           least, m_theirs, u"cycles/s"_s);
    }

    void handOffsInALongQueue()
    {
        bench::Medians times[2];
        const int sizes[] = {50, 200};
        for (int k = 0; k < 2; ++k) {
            auto all = contenders(m_server->address(), "zk-mutex", freshPath(), sizes[k] + 1, 10);
            Scope scope(m_loop);
            QElapsedTimer since;
            std::vector<recipes::Lock *> holders;
            for (auto &lock : all.locks) {
                scope.launch(takeOnce(lock.get(), &since, &times[k], &holders));
                bench::runFor(1ms);
            }
            QTRY_COMPARE_WITH_TIMEOUT(holders.size(), 1u, 20'000);
            QTest::qWait(500); // all queued
            for (size_t i = 0; i < size_t(sizes[k]); ++i) {
                since.start();
                scope.launch(releaseIt(holders.back()));
                bench::waitUntil([&] { return holders.size() >= i + 2; });
                QCOMPARE(holders.size(), i + 2);
                bench::runFor(1ms);
            }
            since.invalidate();
            scope.launch(releaseIt(holders.back()));
            QTRY_VERIFY(scope.isIdle());
        }
        bench::report(u"hand-off of zk-mutex (goal ≤ 1.5): 200 waiting ÷ 50 waiting"_s, times[1], times[0]);
    }

    void aThousandWaiters()
    {
        constexpr int count = 1000;
        const auto threads = [] {
            QFile status(u"/proc/self/status"_s);
            if (!status.open(QIODevice::ReadOnly))
                return -1;
            const auto text = status.readAll();
            return text.mid(text.indexOf("Threads:") + 8).simplified().split(' ').first().toInt();
        };
        auto session = open(m_server->address());
        QVERIFY(session);
        const ZPath path = freshPath();
        const int threadsBefore = threads();
        const auto used = [] { return qint64(::mallinfo2().uordblks) - qint64(freelist::keptBytes()); };
        const auto bytesBefore = used();
        Scope scope(m_loop);
        std::vector<std::unique_ptr<recipes::Lock>> locks;
        QElapsedTimer none;
        bench::Medians unused;
        std::vector<recipes::Lock *> holders;
        for (int i = 0; i < count; ++i) {
            auto lock = recipes::makeLock("zk-mutex", *session, path, {}, Random(quint64(i)));
            QVERIFY(lock);
            locks.push_back(std::move(*lock));
            scope.launch(takeOnce(locks.back().get(), &none, &unused, &holders));
        }
        QTRY_COMPARE_WITH_TIMEOUT(session->watchCount(), count - 1, 60'000);
        QCOMPARE(holders.size(), 1u);
        const auto each = (used() - bytesBefore) / count;
        QTextStream(stdout)
            << u"BENCH 1000 waiting contenders of zk-mutex on one session: %1 bytes each (goal ≤ 8192), "
               u"%2 threads more (goal 0)\n"_s.arg(each)
                   .arg(threads() - threadsBefore);
        bench::write({{u"what"_s, u"1000 waiting contenders of zk-mutex on one session"_s},
                      {u"bytesEach"_s, each},
                      {u"threadsMore"_s, threads() - threadsBefore}});
        QCOMPARE(threads(), threadsBefore);
        QVERIFY(each <= 8192);
        scope.cancelAll();
        locks.clear();
    }

    void cleanupTestCase()
    {
        m_slow.reset();
        zk::waitForClosingSessions(10s);
    }
};

QTEST_GUILESS_MAIN(BenchZooKeeperRecipes)
#include "bench_zookeeper_recipes.moc"
