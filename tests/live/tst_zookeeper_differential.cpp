// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper against a real one: the same random commands must get the same answers, and every session
// must hear of the same events.
#include "tests/live/zookeeperclientfixture.h"
#include "tests/live/zookeeperplayer.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

namespace {

constexpr int sessionCount = 3;
constexpr int scripts = 160 / sanitizerShare;
constexpr int commands = 40;

class RealStage : public Stage {
public:
    RealStage(QtLoop &loop, HostPort server) : m_loop(loop), m_server(std::move(server)) {}

    std::unique_ptr<zk::Session> open() override
    {
        auto session = zk::openSession(m_loop, {.hosts = {m_server}});
        waitFor([&session] { return session->state() == zk::SessionState::Connected; });
        return session;
    }
    void close(std::unique_ptr<zk::Session> session) override
    {
        session.reset();
        zk::waitForClosingSessions(10s);
    }
    bool waitFor(const std::function<bool()> &isSo) override
    {
        bool isLate = false;
        const auto timer = m_loop.callAt(m_loop.now() + patience, [&isLate] { isLate = true; });
        while (!isSo() && !isLate)
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        return !isLate;
    }

private:
    QtLoop &m_loop;
    HostPort m_server;
};

class SimulatedStage : public Stage {
public:
    explicit SimulatedStage(keeper::EnsembleOptions options) : m_world(1, options) {}
    std::unique_ptr<zk::Session> open() override
    {
        auto client = m_world.open();
        m_processes.push_back(std::move(client.process));
        return std::move(client.session);
    }
    void close(std::unique_ptr<zk::Session> session) override
    {
        session.reset();
        m_world.loop.advance(10ms);
    }
    bool waitFor(const std::function<bool()> &isSo) override { return m_world.waitFor(isSo); }

private:
    ZooKeeperWorld m_world;
    std::vector<std::unique_ptr<Process>> m_processes;
};

// Whether the numbers are in the same order on both sides, equal ones included.
bool areAlike(const std::vector<qint64> &one, const std::vector<qint64> &other)
{
    std::vector<std::pair<qint64, qint64>> pairs;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
        pairs.emplace_back(one[i], other[i]);
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 1; i < pairs.size(); ++i) {
        const auto &[before, otherBefore] = pairs[i - 1];
        const auto &[now, otherNow] = pairs[i];
        if ((before < now) != (otherBefore < otherNow) || (before == now) != (otherBefore == otherNow))
            return false;
    }
    return one.size() == other.size();
}

} // namespace

class TestZooKeeperDifferential : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<RealStage> m_realStage;
    std::unique_ptr<SimulatedStage> m_simulatedStage;
    std::unique_ptr<Player> m_real, m_simulated;

    // Which of both versions it is. Played on both sides, for it moves the root's counter on.
    [[nodiscard]] static bool doesExistsNeedRead(Stage &stage)
    {
        const ZPath closed("/closed");
        const zk::Acls nobodyReads{{zk::perms::create, "world", "anyone"}};
        const auto never = Deadline::never();
        auto session = stage.open();
        const auto made = session->create(closed, {}, zk::CreateMode::Persistent, nobodyReads, never);
        const auto looked = session->exists(closed, {}, never);
        const auto gone = session->remove(closed, zk::anyVersion, never);
        stage.waitFor([&gone] { return gone.isComplete(); });
        const bool isRefused = looked.isComplete() && !looked.value();
        stage.close(std::move(session));
        return isRefused;
    }

    // What differs; empty if nothing does.
    QByteArray compare(quint64 seed)
    {
        const ZPath root("/d" + QByteArray::number(seed));
        if (!m_real->begin(root) || !m_simulated->begin(root))
            return "there is no directory to play in";
        QByteArray played;
        for (const auto &burst : ScriptWriter(seed, sessionCount, root).write(commands)) {
            for (const auto &command : burst.commands)
                played += QByteArray::number(burst.session) + ' ' + textOf(command) + '\n';
            const auto real = m_real->play(burst);
            const auto simulated = m_simulated->play(burst);
            const auto answers = "real:\n  " + real.join("\n  ") + "\nsimulated:\n  " + simulated.join("\n  ") + '\n';
            if (real != simulated)
                return played + answers;
            if (!areAlike(m_real->zxids(), m_simulated->zxids()))
                return played + answers + "the transaction numbers are in another order\n";
        }
        return {};
    }

private slots:
    void initTestCase()
    {
        sandbox::ZooKeeperOptions options{.adminServer = false};
        options.reapingInterval = std::chrono::hours(1); // not while it is compared
        START_OR_SKIP(m_server, sandbox::makeZooKeeper(options));
        m_realStage = std::make_unique<RealStage>(m_loop, m_server->address());
        keeper::EnsembleOptions like{.existsNeedsRead = doesExistsNeedRead(*m_realStage)};
        m_simulatedStage = std::make_unique<SimulatedStage>(like);
        QCOMPARE(doesExistsNeedRead(*m_simulatedStage), like.existsNeedsRead);
        m_real = std::make_unique<Player>(*m_realStage, sessionCount);
        m_simulated = std::make_unique<Player>(*m_simulatedStage, sessionCount);
    }
    void cleanupTestCase()
    {
        m_real.reset();
        m_simulated.reset();
        m_server.reset();
    }

    // To look at one script alone: LOCKSCOPE_SEED=17.
    void theSameCommandsGetTheSameAnswers()
    {
        const auto only = qEnvironmentVariableIntValue("LOCKSCOPE_SEED");
        for (int seed = only > 0 ? only : 1; seed <= (only > 0 ? only : scripts); ++seed) {
            const auto difference = compare(static_cast<quint64>(seed));
            if (!difference.isEmpty()) // more than a failure's own message takes
                qWarning("%s", escaped(difference).toUtf8().replace("\\x0A", "\n").constData());
            QVERIFY2(difference.isEmpty(), ("they differ with the seed " + QByteArray::number(seed)).constData());
        }
    }
};

LOCKSCOPE_TEST(TestZooKeeperDifferential)
#include "tst_zookeeper_differential.moc"
