// SPDX-License-Identifier: Apache-2.0
// Where the page of the simulator plays: it offers what can be played on, says why the rest cannot, asks the backend
// for real runs one after the other, and shows them in the same lanes.
#include "tests/support/fakebackend.h"
#include "tests/support/fakerecording.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/pages/page.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/scenariodialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardItemModel>

using contention::FaultKind;
using ui::Comparison;
using ui::RunPlace;
using PlaceKind = RunPlace::Kind;

namespace {

ConnectionStatus connection(const char *name, Scheme scheme)
{
    return ConnectionStatus{
        .name = ConnectionName(name), .scheme = scheme, .state = ConnectionStatus::State::Connected};
}

Comparison on(const RunPlace &place, std::vector<QByteArray> recipes, int contenders = 20)
{
    Comparison comparison{.recipes = std::move(recipes)};
    comparison.scenario.contenders = contenders;
    comparison.place = place;
    return comparison;
}

RunPlace at(const char *name)
{
    return {PlaceKind::Connection, ConnectionName(name)};
}

contention::Recording recordingOf(const RealRunOptions &options)
{
    auto recording = *testing::fakeSimulate(options.scenario, {});
    recording.world = options.connection.bytes();
    return recording;
}

} // namespace

class TestSimulatorPlaces : public QObject {
    Q_OBJECT

    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<ui::ConnectionBook> m_book;
    std::unique_ptr<ui::SimulatorPage> m_page;

    void know(ConnectionStatus status)
    {
        Batch batch{.connections = {std::move(status)}};
        m_book->apply(batch);
    }
    // The run that is under way, of which there is one.
    quint64 runId() { return m_backend->runs.size() == 1 ? m_backend->runs.begin()->first : 0; }
    const RealRunOptions &options() { return m_backend->runs.begin()->second.query.options; }
    void answerAll()
    {
        while (!m_backend->runs.empty())
            m_backend->answerRun(runId(), recordingOf(options()));
    }
    bool isSettled()
    {
        return QTest::qWaitFor([&] { return m_page->isSettled(); }, 30'000);
    }
    QString progressText()
    {
        for (const auto *label :
             m_page->findChild<QPushButton *>(u"cancelRun"_s)->parentWidget()->findChildren<QLabel *>())
            return label->text();
        return {};
    }
    // Says why, without asking the backend.
    QString refusal(const Comparison &comparison)
    {
        m_backend->calls.clear();
        m_page->play(comparison);
        const bool wasAsked = !m_backend->calls.filter(u"playOnServers"_s).isEmpty();
        return wasAsked || !isSettled() ? u"it was asked for"_s : m_page->complaint();
    }
    QAction *place(QMenu &menu, const QString &title)
    {
        for (auto *action : menu.actions()) {
            if (action->data().toString() == title)
                return action;
        }
        return nullptr;
    }

private slots:
    void init()
    {
        m_backend = std::make_unique<testing::FakeBackend>();
        m_book = std::make_unique<ui::ConnectionBook>();
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, testing::fakeSimulate);
        m_page->setBackend(m_backend.get());
        m_page->useConnections(*m_book);
        m_page->resize(1200, 820);
        know(connection("zk", Scheme::ZooKeeper));
        know(connection("redis", Scheme::Redis));
        know(connection("sql", Scheme::MariaDb));
        auto production = connection("orders", Scheme::ZooKeeper);
        production.production = true;
        know(production);
        auto readOnly = connection("billing", Scheme::ZooKeeper);
        readOnly.readOnly = true;
        know(readOnly);
        auto broken = connection("away", Scheme::ZooKeeper);
        broken.state = ConnectionStatus::State::Broken;
        know(broken);
        m_page->play(on({}, {"zk-mutex"}, 5));
        m_page->show();
        QVERIFY(isSettled());
    }
    void cleanup()
    {
        m_page.reset();
        m_book.reset();
        m_backend.reset();
    }

    void recipesRunOneAfterTheOtherOnAConnection()
    {
        m_page->play(on(at("zk"), {"zk-herd-mutex", "zk-mutex"}));
        QCOMPARE(m_backend->runs.size(), 1u); // they do not disturb each other
        QCOMPARE(options().scenario.recipe, QByteArray("zk-herd-mutex"));
        QCOMPARE(options().connection, ConnectionName("zk"));
        QVERIFY(!m_page->isSettled());
        m_backend->notifyRun(runId(), {RealRunProgress::Stage::Connecting, {}, 0, 20, 20});
        QCOMPARE(progressText(), u"Opening 20 sessions on zk for zk-herd-mutex"_s);
        m_backend->notifyRun(runId(), {RealRunProgress::Stage::Playing, 600ms, 12, 20, 20});
        QCOMPARE(progressText(), u"Playing zk-herd-mutex on zk: 12 of 20 grants, 600.0 ms"_s);
        m_backend->answerRun(runId(), recordingOf(options()));
        QCOMPARE(m_backend->runs.size(), 1u);
        QCOMPARE(options().scenario.recipe, QByteArray("zk-mutex"));
        answerAll();
        QVERIFY(isSettled());
        QCOMPARE(m_page->complaint(), QString());
        QCOMPARE(m_page->panels(), 2u);
        QCOMPARE(m_page->panel(0).tiles().watchEvents(), u"190"_s);
        QCOMPARE(m_page->chips(),
                 (QStringList{u"played on zk"_s, u"real time"_s, u"hold 50 ms"_s, u"all queue first"_s}));
        QVERIFY(m_page->findChild<QPushButton *>(u"placeChip"_s)->text().startsWith(u"played on zk"_s));
    }

    // There a fault cannot be forked; the same can be played where it can.
    void forkIsForTheSimulatedWorld()
    {
        m_page->play(on(at("zk"), {"zk-mutex"}));
        answerAll();
        QVERIFY(isSettled());
        m_page->openForkMenu();
        auto *menu = m_page->findChild<QMenu *>(u"forkMenu"_s);
        QVERIFY(!menu->findChild<QAction *>(u"pause"_s));
        QVERIFY(!menu->findChild<QAction *>(u"noFaults"_s)->isEnabled());
        menu->findChild<QAction *>(u"playSimulated"_s)->trigger();
        QVERIFY(isSettled());
        QCOMPARE(m_page->chips().front(), u"simulator"_s);
        QVERIFY(m_backend->runs.empty());
    }

    void unplayableRunIsRefusedWithItsReason()
    {
        QVERIFY(refusal(on(at("orders"), {"zk-mutex"})).contains(u"nothing is played on orders: production"_s));
        QVERIFY(refusal(on(at("billing"), {"zk-mutex"})).contains(u"read-only"_s));
        QVERIFY(refusal(on(at("away"), {"zk-mutex"})).contains(u"not connected"_s));
        QVERIFY(refusal(on(at("closed"), {"zk-mutex"})).contains(u"not open any more"_s));
        QVERIFY(refusal(on(at("redis"), {"zk-mutex"}))
                    .contains(u"zk-mutex is a lock on ZooKeeper, which redis is not"_s));
        QVERIFY(refusal(on(at("zk"), {"zk-mutex"}, 1001)).contains(u"at most 1000 contenders"_s));
        QVERIFY(refusal(on(at("sql"), {"sql-for-update"}, 51)).contains(u"one lock at a time: up to 50"_s));
        QVERIFY(refusal(on(at("zk"), {"broken-forgets-to-look"})).contains(u"only in the simulator"_s));
        auto faulty = on(at("zk"), {"zk-mutex"});
        faulty.scenario.faults = {FaultKind::Crash};
        QVERIFY(refusal(faulty).contains(u"faults need the simulator"_s));
        QCOMPARE(m_page->panels(), 1u); // what was shown stays
        QCOMPARE(m_page->chips().front(), u"simulator"_s);
        // Armed for writing, production stays production.
        auto armed = connection("orders", Scheme::ZooKeeper);
        armed.production = true;
        armed.readOnly = false;
        know(armed);
        QVERIFY(refusal(on(at("orders"), {"zk-mutex"})).contains(u"production"_s));
    }

    void serverErrorIsShownAndEarlierRunStays()
    {
        m_page->play(on(at("zk"), {"zk-herd-mutex", "zk-mutex"}));
        m_backend->answerRun(runId(), Error{ErrorCode::NotConnected, u"could not open 20 sessions on zk://a:2181"_s});
        QVERIFY(isSettled());
        QCOMPARE(m_page->complaint(), u"could not open 20 sessions on zk://a:2181"_s);
        QVERIFY(m_backend->runs.empty()); // the second was not begun
        QCOMPARE(m_page->chips().front(), u"simulator"_s);
    }

    void cancelEndsTheRunOnceItTookAwayWhatItMade()
    {
        m_page->play(on(at("zk"), {"zk-herd-mutex", "zk-mutex"}));
        const auto id = runId();
        m_page->findChild<QPushButton *>(u"cancelRun"_s)->click();
        QVERIFY(m_backend->wasCalled(u"cancelRun %1"_s.arg(id)));
        QVERIFY(!m_page->isSettled());
        QCOMPARE(progressText(), u"Ending the run and deleting what it created"_s);
        m_backend->answerRun(id, Error{ErrorCode::Cancelled, u"the run was ended after 12 ms"_s});
        QVERIFY(isSettled());
        QCOMPARE(m_page->complaint(), QString());
        QVERIFY(m_backend->runs.empty());
        QCOMPARE(m_page->panels(), 1u);
    }

    void aNewerRunWaitsForTheServersOfTheOlder()
    {
        m_page->play(on(at("zk"), {"zk-mutex"}, 30));
        const auto first = runId();
        m_page->play(on(at("zk"), {"zk-mutex"}, 40));
        QVERIFY(m_backend->wasCalled(u"cancelRun %1"_s.arg(first)));
        QCOMPARE(m_backend->runs.size(), 1u);
        m_backend->answerRun(first, Error{ErrorCode::Cancelled, u"ended"_s});
        QCOMPARE(options().scenario.contenders, 40);
        answerAll();
        QVERIFY(isSettled());
        QCOMPARE(m_page->heading(), u"40 contenders, one lock"_s);
        // A simulated one does not wait, and what the servers still answer is dropped.
        m_page->play(on(at("zk"), {"zk-mutex"}, 30));
        const auto outdated = runId();
        m_page->play(on({}, {"zk-mutex"}, 8));
        QVERIFY(isSettled());
        m_backend->answerRun(outdated, Error{ErrorCode::Cancelled, u"ended"_s});
        QCOMPARE(m_page->heading(), u"8 contenders, one lock"_s);
        QCOMPARE(m_page->complaint(), QString());
    }

    void sandboxStartsAndEachRecipeFindsItsServer()
    {
        QSignalSpy wanted(m_page.get(), &ui::SimulatorPage::sandboxRequested);
        const auto there = on({PlaceKind::Sandbox, {}}, {"zk-mutex", "redis-set-nx"});
        m_page->play(there);
        QCOMPARE(wanted.count(), 1);
        QVERIFY(!m_page->isSettled());
        m_page->sandboxChanged(u"Sandbox starting"_s, false);
        m_page->sandboxChanged(u"Sandbox: no java; install default-jre-headless"_s, true);
        QVERIFY(isSettled());
        QVERIFY(m_page->complaint().contains(u"no java"_s));

        m_page->play(there);
        m_book->markSandbox(ConnectionName("sandbox-zk"), Scheme::ZooKeeper);
        m_book->markSandbox(ConnectionName("sandbox-redis"), Scheme::Redis);
        m_page->sandboxChanged(u"Sandbox running"_s, true);
        QCOMPARE(options().connection, ConnectionName("sandbox-zk"));
        answerAll();
        QVERIFY(isSettled());
        QCOMPARE(m_page->chips().front(), u"played on sandbox-zk and sandbox-redis of the sandbox"_s);
        // What it has not got, it says when it is asked for.
        m_page->play(on({PlaceKind::Sandbox, {}}, {"sql-version"}));
        QCOMPARE(wanted.count(), 3);
        m_page->sandboxChanged(u"Sandbox: mariadb-server is not installed"_s, true);
        QVERIFY(isSettled());
        QVERIFY(m_page->complaint().contains(u"the sandbox has no connected MariaDB"_s));
        QVERIFY(m_page->complaint().contains(u"is not installed"_s));
    }

    // What the window wires together: its book, its backend, and whoever starts the sandbox.
    void pageOfTheWindowAsksForTheSandbox()
    {
        testing::FakeBackend backend;
        ui::MainWindow window(backend);
        window.pages().all();
        auto *page = window.findChild<ui::SimulatorPage *>();
        QSignalSpy wanted(&window, &ui::MainWindow::sandboxRequested);
        page->play(on({PlaceKind::Sandbox, {}}, {"zk-mutex"}, 3));
        QCOMPARE(wanted.count(), 1);
        window.showPage(u"simulator"_s);
        window.show(); // does not begin with something else
        window.connections().markSandbox(ConnectionName("zk"), Scheme::ZooKeeper);
        window.setSandbox(u"Sandbox running"_s, true);
        QCOMPARE(backend.runs.size(), 1u);
        QCOMPARE(backend.runs.begin()->second.query.options.connection, ConnectionName("zk"));
        page->findChild<QPushButton *>(u"cancelRun"_s)->click();
        QVERIFY(backend.wasCalled(u"cancelRun %1"_s.arg(backend.runs.begin()->first)));
        backend.answerRun(backend.runs.begin()->first, Error{ErrorCode::Cancelled, u"ended"_s});
        QCOMPARE(page->complaint(), QString());
        // What was disconnected is not the sandbox's any more.
        window.connections().remove(ConnectionName("zk"));
        page->play(on({PlaceKind::Sandbox, {}}, {"zk-mutex"}, 3));
        QCOMPARE(wanted.count(), 2);
    }

    void menuOfTheChipPlaysTheSameElsewhere()
    {
        auto *menu = m_page->findChild<QMenu *>(u"placeMenu"_s);
        emit menu->aboutToShow();
        QVERIFY(place(*menu, u"Simulator"_s)->isChecked());
        QVERIFY(!place(*menu, u"orders"_s)->isEnabled());
        QVERIFY(place(*menu, u"orders"_s)->text().contains(u"production: nothing is ever simulated there"_s));
        QVERIFY(!place(*menu, u"redis"_s)->isEnabled()); // of another kind
        place(*menu, u"zk"_s)->trigger();
        QCOMPARE(m_backend->runs.size(), 1u);
        QCOMPARE(options().scenario.contenders, 5);
    }

    void dialogOffersPlacesAndTakesWhatTheyCannotPlay()
    {
        m_page->openScenario();
        auto *dialog = m_page->window()->findChild<ui::ScenarioDialog *>(u"scenarioDialog"_s);
        auto *places = dialog->findChild<QComboBox *>(u"place"_s);
        const auto *items = qobject_cast<QStandardItemModel *>(places->model());
        const auto row = [&](const QString &begin) { return places->findText(begin, Qt::MatchStartsWith); };
        QCOMPARE(places->currentIndex(), 0);
        QVERIFY(!items->item(row(u"orders — production"_s))->isEnabled());
        QVERIFY(!items->item(row(u"billing — read-only"_s))->isEnabled());
        QVERIFY(items->item(row(u"Sandbox"_s))->isEnabled());
        auto *crash = dialog->findChild<QCheckBox *>(u"fault-crash"_s);
        auto *play = dialog->findChild<QPushButton *>(u"play"_s);
        crash->setChecked(true);
        QVERIFY(!dialog->findChild<QSpinBox *>(u"sessions"_s)->isEnabled());
        places->setCurrentIndex(row(u"zk"_s));
        QVERIFY(!crash->isEnabled());
        QVERIFY(!dialog->findChild<QLineEdit *>(u"seed"_s)->isEnabled());
        QVERIFY(play->isEnabled());
        dialog->findChild<QSpinBox *>(u"contenders"_s)->setValue(2000);
        QVERIFY(!play->isEnabled());
        dialog->findChild<QSpinBox *>(u"contenders"_s)->setValue(12);
        dialog->findChild<QSpinBox *>(u"sessions"_s)->setValue(6);
        places->setCurrentIndex(row(u"redis"_s));
        QVERIFY(!play->isEnabled()); // zk-mutex
        places->setCurrentIndex(row(u"zk"_s));
        play->click();
        QCOMPARE(m_backend->runs.size(), 1u);
        QCOMPARE(options().mostSessions, 6);
        QVERIFY(options().scenario.faults.empty());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestSimulatorPlaces)
#include "tst_simulator_places.moc"
