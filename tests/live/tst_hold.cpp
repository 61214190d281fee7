// SPDX-License-Identifier: Apache-2.0
// Holds as the window and the terminal have them, on a real ZooKeeper: who is released by force is told, one
// successor enters, and whatever the old holder does then, the successor's node stays as it is.
#include "core/workspace/hold.h"
#include "tests/support/patience.h"
#include "tests/support/finish.h"
#include "tests/support/zookeeperfixture.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

#include <algorithm>

namespace {

const ZPath heldPath("/held/leader-lock");

// LOCKSCOPE_HOLD_ROUNDS says otherwise.
int rounds()
{
    bool isNumber = false;
    const auto wanted = qEnvironmentVariableIntValue("LOCKSCOPE_HOLD_ROUNDS", &isNumber);
    return isNumber && wanted > 0 ? wanted : 10;
}

// One who wants the lock, with a session of its own.
struct Claimant {
    explicit Claimant(Workspace &workspace)
        : hold(std::make_unique<HeldLock>(
            workspace, HoldRequest{{ConnectionName("zk"), heldPath.bytes()}, "zk-ephemeral", false, 1, 30'000ms})),
          loop(workspace.loop()), scope(loop)
    {
        scope.launch(keepResult(hold->acquire(std::nullopt), &granted));
        hold->lost().then([this](const QString &why) {
            loss = why;
            lostAt = loop.now();
        });
    }
    ~Claimant() { leave(); }
    void release()
    {
        const auto deadline = Deadline::after(loop, 10s);
        scope.launch(keepResult(hold->release(deadline), &released));
    }
    // As a program that ends: with its session.
    void leave()
    {
        if (!hold)
            return;
        hold->lost().dropListener();
        scope.cancelAll();
        hold.reset();
    }
    [[nodiscard]] bool holds() const { return granted && *granted && !loss && !released; }
    [[nodiscard]] qint64 czxid() const { return *(*granted)->fencingToken; }

    std::unique_ptr<HeldLock> hold;
    Loop &loop;
    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<void>> released;
    std::optional<QString> loss;
    Instant lostAt{};
    Scope scope; // last: its coroutines use the hold
};

} // namespace

class TestHold : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    QTemporaryDir m_state;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<zk::Session> m_onlooker;
    std::unique_ptr<Workspace> m_workspace;
    std::vector<std::unique_ptr<Claimant>> m_claimants;

    [[nodiscard]] Deadline soon() { return Deadline::after(m_loop, patience); }
    Claimant &join()
    {
        m_claimants.push_back(std::make_unique<Claimant>(*m_workspace));
        return *m_claimants.back();
    }
    // What the lock looks like to everybody.
    Result<inspect::LockSnapshot> snapshot()
    {
        return finish(m_loop, m_workspace->read({ConnectionName("zk"), heldPath.bytes()}, soon()));
    }
    size_t seen()
    {
        const auto lock = snapshot();
        return lock ? lock->contenders.size() : 0;
    }
    // Takes the lock from whoever holds it; the id is what the snapshot says.
    Result<operate::ForceReleaseOutcome> force()
    {
        const auto lock = snapshot();
        if (!lock)
            return lock.error();
        const auto plan = operate::planForceRelease(*lock, lock->contenders.front().id);
        if (!plan)
            return plan.error();
        return finish(m_loop, m_workspace->forceRelease(*plan, u"a test"_s, soon()));
    }
    // The node as the server has it; owner and czxid 0 if there is none.
    zk::Stat node()
    {
        (void)await(m_onlooker->sync(heldPath, soon()));
        const auto stat = await(m_onlooker->exists(heldPath, std::nullopt, soon()));
        return stat ? *stat : zk::Stat();
    }
    Claimant *theOneThatHolds() const
    {
        Claimant *holder = nullptr;
        for (const auto &claimant : m_claimants)
            holder = claimant->holds() ? claimant.get() : holder;
        return holder;
    }
    [[nodiscard]] auto holders() const
    {
        return std::count_if(m_claimants.begin(), m_claimants.end(), [](const auto &one) { return one->holds(); });
    }

private slots:
    void initTestCase()
    {
        sandbox::ZooKeeperOptions options;
        START_OR_SKIP(m_server, sandbox::makeZooKeeper(options));
        m_onlooker = zk::openSession(m_loop, {.hosts = {m_server->address()}});
        QVERIFY(waitForState(*m_onlooker, zk::SessionState::Connected));
        WorkspaceOptions workspace{.observe = false, .auditPath = m_state.filePath(u"audit.jsonl"_s)};
        m_workspace = std::make_unique<Workspace>(m_loop, workspace, nullptr);
        ConnectionSpec spec{
            .name = ConnectionName("zk"), .hosts = {m_server->address()}, .adminPort = m_server->adminPort()};
        QVERIFY(m_workspace->add(spec));
        QVERIFY(finish(m_loop, m_workspace->whenConnected(spec.name, soon())));
    }
    void cleanup() { m_claimants.clear(); }
    void cleanupTestCase()
    {
        m_workspace.reset();
        m_onlooker.reset();
        zk::waitForClosingSessions(10s);
    }

    void forcedHolderIsNotifiedAndSparesTheNext()
    {
        std::vector<Duration> untilTold;
        for (int round = 0; round < rounds(); ++round) {
            auto &old = join();
            QTRY_VERIFY_WITH_TIMEOUT(old.holds(), patienceMs);
            join();
            join();
            QTRY_COMPARE_WITH_TIMEOUT(seen(), size_t(3), patienceMs); // a holder, and two who watch its node
            QCOMPARE(node().czxid, old.czxid());

            const auto before = m_loop.now();
            const auto forced = force();
            QVERIFY2(forced, forced ? "" : qPrintable(forced.error().message));
            QTRY_VERIFY_WITH_TIMEOUT(old.loss, patienceMs);
            untilTold.push_back(old.lostAt - before);
            QVERIFY2(old.loss->contains(u"it was removed"_s), qPrintable(*old.loss));

            QTRY_COMPARE_WITH_TIMEOUT(holders(), 1, patienceMs);
            auto &next = *theOneThatHolds();
            const auto entered = node();
            QCOMPARE(entered.czxid, next.czxid());
            QVERIFY(entered.czxid > old.czxid());

            // The old one gives it back all the same, or is gone at once: neither is any of the next one's business.
            if (round % 2 == 0) {
                old.release();
                QTRY_VERIFY_WITH_TIMEOUT(old.released, patienceMs);
                QVERIFY(!*old.released);
                QCOMPARE(old.released->error().code, ErrorCode::NotHeld);
            }
            old.leave();
            zk::waitForClosingSessions(10s); // all it ever sent has been done
            const auto later = node();
            QCOMPARE(later.czxid, entered.czxid);
            QCOMPARE(later.ephemeralOwner, entered.ephemeralOwner);
            QCOMPARE(holders(), 1);
            QVERIFY(!next.loss);

            // And the last one gets in when it lets go, not before.
            next.release();
            QTRY_VERIFY_WITH_TIMEOUT(next.released, patienceMs);
            QVERIFY(*next.released);
            QTRY_COMPARE_WITH_TIMEOUT(holders(), 1, patienceMs);
            auto &last = *theOneThatHolds();
            QCOMPARE(node().czxid, last.czxid());
            last.release();
            QTRY_VERIFY_WITH_TIMEOUT(last.released, patienceMs);
            QVERIFY(*last.released);
            QCOMPARE(node().czxid, 0);
            m_claimants.clear();
        }
        const auto ms = [](Duration span) { return std::chrono::duration<double, std::milli>(span).count(); };
        std::sort(untilTold.begin(), untilTold.end());
        qInfo(
            "%d rounds; from the start of the force-release until its holder was told: median %.1f ms, at most %.1f ms",
            rounds(), ms(untilTold[untilTold.size() / 2]), ms(untilTold.back()));
        QVERIFY(untilTold.back() < 10s); // a second is what is promised; the rest is for a busy machine
    }
};

LOCKSCOPE_TEST(TestHold)
#include "tst_hold.moc"
