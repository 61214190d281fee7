// SPDX-License-Identifier: Apache-2.0
// The page of the simulator on real servers, through the window's own backend: herd against predecessor on a
// ZooKeeper, polling against publish on a Redis, in the lanes of the simulated world; and nothing on a read-only
// connection.
#include "core/workspace/livebackend.h"
#include "tests/support/fakerecording.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"
#include "ui/models/connectionbook.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/runpanel.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QTemporaryDir>

using ui::Comparison;
using PlaceKind = ui::RunPlace::Kind;

class TestSimulatorLive : public QObject {
    Q_OBJECT

    std::unique_ptr<ui::Theme> m_theme;
    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;
    QTemporaryDir m_state;
    std::unique_ptr<LiveBackend> m_backend;
    ui::ConnectionBook m_book;
    std::unique_ptr<ui::SimulatorPage> m_page;

    ui::SimulatorPage &page() { return *m_page; }
    bool isConnected(const char *name)
    {
        return QTest::qWaitFor(
            [&] {
                const auto *status = m_book.find(ConnectionName(name));
                return status && status->state == ConnectionStatus::State::Connected;
            },
            20'000);
    }
    bool isSettled()
    {
        return QTest::qWaitFor([&] { return page().isSettled(); }, 60'000);
    }
    static Comparison on(const ui::RunPlace &place, std::vector<QByteArray> recipes)
    {
        Comparison comparison{.recipes = std::move(recipes)};
        comparison.scenario.contenders = 12;
        comparison.scenario.hold = 20ms;
        comparison.place = place;
        return comparison;
    }
    // A picture for whoever wants to look: LOCKSCOPE_PICTURES names a folder.
    void picture(const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_PICTURES");
        if (folder.isEmpty())
            return;
        QTest::qWait(300); // what was hidden gives its place away
        QVERIFY(m_page->grab().save(folder + u'/' + name));
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
        START_OR_SKIP(m_redis, sandbox::makeRedis());
        m_theme = std::make_unique<ui::Theme>(*qApp, ui::ThemeChoice::Light);
        WorkspaceOptions options{.auditPath = m_state.filePath(u"audit.jsonl"_s)};
        m_backend = std::make_unique<LiveBackend>(options);
        // What it plays in the simulated world (its charts) is not what this is about.
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, testing::fakeSimulate);
        m_page->setBackend(m_backend.get());
        m_page->useConnections(m_book);
        connect(m_backend.get(), &Backend::updated, &m_book, &ui::ConnectionBook::apply);
        ConnectionSpec zk;
        zk.name = ConnectionName("zk");
        zk.hosts = {m_zooKeeper->address()};
        zk.adminPort = m_zooKeeper->adminPort();
        m_backend->execute(Connect{zk});
        ConnectionSpec redisSpec{
            .name = ConnectionName("redis"), .scheme = Scheme::Redis, .hosts = {m_redis->address()}};
        m_backend->execute(Connect{redisSpec});
        m_book.markSandbox(zk.name, zk.scheme);
        m_book.markSandbox(redisSpec.name, redisSpec.scheme);
        m_page->resize(1200, 820);
        m_page->show();
        QVERIFY(isConnected("zk") && isConnected("redis"));
        QVERIFY(isSettled());
    }
    void cleanupTestCase()
    {
        m_page.reset();
        m_backend.reset();
        m_theme.reset();
    }

    void herdAgainstPredecessorOnAZooKeeper()
    {
        page().play(on({PlaceKind::Connection, ConnectionName("zk")}, {"zk-herd-mutex", "zk-mutex"}));
        QVERIFY(!page().isSettled());
        QVERIFY(isSettled());
        QCOMPARE(page().complaint(), QString());
        QCOMPARE(page().chips().front(), u"played on zk"_s);
        QCOMPARE(page().panels(), 2u);
        QCOMPARE(page().playback().runs()[0]->recording().counters.grants, 12);
        QCOMPARE(page().playback().runs()[1]->recording().counters.grants, 12);
        // As in the simulated world; a busy machine may let a notification or two run together.
        QCOMPARE(page().panel(1).tiles().wasted(), u"0"_s);
        QVERIFY(page().panel(0).tiles().wasted().toInt() > 30);
        QVERIFY(page().panel(0).badge().startsWith(u"herd"_s));
        QVERIFY(page().playback().eventsInAll() > 100);
        picture(u"live-zk.png"_s);
    }

    void eachRecipeFindsItsServerOfTheSandbox()
    {
        page().play(on({PlaceKind::Sandbox, {}}, {"redis-set-nx", "redisson-lock", "zk-mutex"}));
        QVERIFY(isSettled());
        QCOMPARE(page().complaint(), QString());
        QCOMPARE(page().chips().front(), u"played on redis and zk of the sandbox"_s);
        for (const auto &run : page().playback().runs()) {
            QCOMPARE(run->recording().counters.grants, 12);
            QVERIFY(run->recording().violations.empty());
        }
        picture(u"live-sandbox.png"_s);
    }

    void cancelEndsItAndWhatWasShownStays()
    {
        auto slow = on({PlaceKind::Connection, ConnectionName("zk")}, {"zk-mutex"});
        slow.scenario.hold = 5s;
        const auto before = page().chips();
        page().play(slow);
        QVERIFY(QTest::qWaitFor([&] { return !page().isSettled(); }, 30'000));
        auto *cancel = page().findChild<QPushButton *>(u"cancelRun"_s);
        QTRY_VERIFY(cancel->isVisible() && cancel->isEnabled());
        cancel->click();
        QVERIFY(isSettled());
        QCOMPARE(page().complaint(), QString());
        QCOMPARE(page().chips(), before);
    }

    void readOnlyIsRefusedWithTheReason()
    {
        m_backend->execute(SetReadOnly{ConnectionName("zk"), true});
        QVERIFY(QTest::qWaitFor([&] { return m_book.find(ConnectionName("zk"))->readOnly; }, 10'000));
        page().play(on({PlaceKind::Connection, ConnectionName("zk")}, {"zk-mutex"}));
        QVERIFY(isSettled());
        QVERIFY2(page().complaint().contains(u"read-only"_s), qPrintable(page().complaint()));
        // The sandbox's is no exception: the gate itself refuses.
        page().play(on({PlaceKind::Sandbox, {}}, {"zk-mutex"}));
        QVERIFY(isSettled());
        QVERIFY2(page().complaint().contains(u"read-only"_s), qPrintable(page().complaint()));
        picture(u"live-refused.png"_s);
        m_backend->execute(SetReadOnly{ConnectionName("zk"), false});
    }
};

LOCKSCOPE_GUI_TEST(TestSimulatorLive)
#include "tst_simulator_live.moc"
