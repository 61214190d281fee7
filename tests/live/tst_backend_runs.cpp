// SPDX-License-Identifier: Apache-2.0
// Runs on real servers as the window asks for them: played, told of, ended early, refused; and the server is left as
// it was found, also when the connection or the window is closed meanwhile.
#include "core/workspace/livebackend.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

namespace {

const ConnectionName runsOnZk("zk");
using RunStage = RealRunProgress::Stage;

} // namespace

class TestBackendRuns : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    QTemporaryDir m_state;
    std::unique_ptr<LiveBackend> m_backend;
    std::map<ConnectionName, ConnectionStatus> m_connections;
    std::vector<RealRunProgress> m_progress;

    std::unique_ptr<LiveBackend> makeBackend(bool readOnly = false)
    {
        WorkspaceOptions options{.readOnly = readOnly, .auditPath = m_state.filePath(u"audit.jsonl"_s)};
        auto backend = std::make_unique<LiveBackend>(options);
        connect(backend.get(), &Backend::updated, this, [this](const Batch &batch) {
            for (const auto &status : batch.connections)
                m_connections.insert_or_assign(status.name, status);
        });
        connect(backend.get(), &Backend::runProgressed, this,
                [this](quint64, const RealRunProgress &progress) { m_progress.push_back(progress); });
        return backend;
    }
    void connectTo(LiveBackend &backend, bool isProduction = false)
    {
        ConnectionSpec spec{.name = runsOnZk,
                            .hosts = {m_zooKeeper->address()},
                            .adminPort = m_zooKeeper->adminPort(),
                            .production = isProduction};
        m_connections.clear();
        backend.execute(Connect{spec});
        QTRY_VERIFY_WITH_TIMEOUT(m_connections[runsOnZk].state == ConnectionStatus::State::Connected, 20'000);
    }
    static RealRunOptions running(int contenders, std::chrono::milliseconds hold)
    {
        RealRunOptions options{.connection = runsOnZk};
        options.scenario.contenders = contenders;
        options.scenario.hold = hold;
        return options;
    }
    using Answer = std::optional<Result<contention::Recording>>;
    std::shared_ptr<Answer> play(const RealRunOptions &options, quint64 *id = nullptr)
    {
        m_progress.clear();
        const auto answer = std::make_shared<Answer>();
        const PlayOnServers query{options};
        m_backend->ask(query, this, [answer](auto result) { *answer = std::move(result); });
        if (id)
            *id = query.run;
        return answer;
    }
    bool isPlaying()
    {
        return QTest::qWaitFor([&] { return !m_progress.empty() && m_progress.back().grants > 0; }, 20'000);
    }
    bool isAnswered(const Answer &answer)
    {
        return QTest::qWaitFor([&] { return answer.has_value(); }, 40'000);
    }
    // What is at the root of the server, asked through a connection of its own.
    QStringList rootNodes()
    {
        const auto looking = makeBackend();
        connectTo(*looking);
        std::optional<Result<std::vector<ZnodeRow>>> rows;
        looking->ask(ListZnodes{runsOnZk, ZPath("/")}, this, [&](auto answer) { rows = std::move(answer); });
        QStringList names;
        if (!QTest::qWaitFor([&] { return rows.has_value(); }, 20'000) || !*rows)
            return {u"no answer"_s};
        for (const auto &row : **rows)
            names << QString::fromUtf8(row.name.bytes());
        return names;
    }
    bool isLeftAsFound() { return rootNodes() == QStringList{u"zookeeper"_s}; }

private slots:
    void initTestCase() { START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper()); }
    void init()
    {
        m_backend = makeBackend();
        connectTo(*m_backend);
    }
    void cleanup() { m_backend.reset(); }

    void aRunIsPlayedAndTold()
    {
        const auto answer = play(running(5, 60ms));
        QVERIFY(isAnswered(*answer));
        QVERIFY2(**answer, **answer ? "" : qPrintable((*answer)->error().message));
        const auto &recording = ***answer;
        QCOMPARE(recording.world, QByteArray("zk"));
        QCOMPARE(recording.counters.grants, 5);
        QVERIFY(recording.violations.empty());
        QVERIFY(!recording.events.empty());
        QVERIFY(std::ranges::count(m_progress, RunStage::Playing, &RealRunProgress::stage) > 0);
        QCOMPARE(m_progress.back().grantsExpected, 5);
        QCOMPARE(m_progress.back().sessions, 5);
        QVERIFY(isLeftAsFound());
    }

    void moreContendersShareSessionsAndItSaysSo()
    {
        auto options = running(6, 5ms);
        options.mostSessions = 2;
        const auto answer = play(options);
        QVERIFY(isAnswered(*answer));
        QVERIFY(**answer);
        QCOMPARE((**answer)->note, QByteArray("2 sessions shared by 6 contenders"));
        QCOMPARE((**answer)->counters.grants, 6);
    }

    void aCancelledRunTakesAwayWhatItMade()
    {
        quint64 id = 0;
        const auto answer = play(running(20, 5s), &id);
        QVERIFY(isPlaying());
        QVERIFY(!answer->has_value());
        m_backend->execute(CancelRun{id});
        QVERIFY(isAnswered(*answer));
        QVERIFY(!**answer);
        QCOMPARE((*answer)->error().code, ErrorCode::Cancelled);
        QVERIFY(isLeftAsFound());
    }

    void aClosedConnectionEndsItsRunFirst()
    {
        const auto answer = play(running(20, 5s));
        QVERIFY(isPlaying());
        m_backend->execute(Disconnect{runsOnZk});
        connectTo(*m_backend); // waits for its turn
        QVERIFY(isAnswered(*answer));
        QVERIFY(!**answer);
        QVERIFY2((*answer)->error().message.contains(u"was closed"_s), qPrintable((*answer)->error().message));
        QVERIFY(isLeftAsFound());
    }

    void aRunEndsBeforeItsConnectionIsReadOnly()
    {
        const auto answer = play(running(20, 5s));
        QVERIFY(isPlaying());
        m_backend->execute(SetReadOnly{runsOnZk, true});
        QVERIFY(isAnswered(*answer));
        QVERIFY(!**answer);
        QVERIFY2((*answer)->error().message.contains(u"made read-only"_s), qPrintable((*answer)->error().message));
        QTRY_VERIFY_WITH_TIMEOUT(m_connections[runsOnZk].readOnly, 10'000);
        QVERIFY(isLeftAsFound());
    }

    void aClosedWindowLeavesNothingBehind()
    {
        const auto answer = play(running(20, 5s));
        QVERIFY(isPlaying());
        m_backend.reset();
        QVERIFY(isLeftAsFound());
    }

    void productionAndReadOnlyAreRefusedByTheGate()
    {
        const auto refusal = [this](const RealRunOptions &options) {
            const auto answer = play(options);
            return isAnswered(*answer) && !**answer ? (*answer)->error()
                                                    : Error{ErrorCode::Server, u"it was played"_s};
        };
        m_backend->execute(SetReadOnly{runsOnZk, true});
        QTRY_VERIFY_WITH_TIMEOUT(m_connections[runsOnZk].readOnly, 10'000);
        QCOMPARE(refusal(running(2, 1ms)).code, ErrorCode::Refused);
        m_backend = makeBackend();
        connectTo(*m_backend, true);
        m_backend->execute(SetReadOnly{runsOnZk, false}); // armed, and still production
        QTRY_VERIFY_WITH_TIMEOUT(!m_connections[runsOnZk].readOnly, 10'000);
        const auto error = refusal(running(2, 1ms));
        QCOMPARE(error.code, ErrorCode::Refused);
        QVERIFY2(error.message.contains(u"production"_s), qPrintable(error.message));
        QCOMPARE(m_connections[runsOnZk].writesSent, 0);
        m_backend = makeBackend(true);
        connectTo(*m_backend);
        QCOMPARE(refusal(running(2, 1ms)).code, ErrorCode::Refused);
        QVERIFY(isLeftAsFound());
    }
};

LOCKSCOPE_TEST(TestBackendRuns)
#include "tst_backend_runs.moc"
