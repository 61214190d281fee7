// SPDX-License-Identifier: Apache-2.0
// An incident on a real server, seen again in the window that was open all the while: the holder stalls, a queue
// grows, it is forced to let go. The window goes back to each of these moments by its own recorder, and returns.
#include "core/history/recording.h"
#include "core/workspace/livebackend.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"
#include "ui/mainwindow.h"
#include "ui/windowdialogs.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/page.h"
#include "ui/shell/timebar.h"
#include "ui/theme/theme.h"
#include "ui/timetravel.h"
#include "ui/views/timelineview.h"

#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QTabWidget>
#include <QTemporaryDir>

namespace {

const inspect::LockName stuckLock{ConnectionName("zk"), "/locks/stuck"};

history::Moment incidentNow()
{
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

} // namespace

class TestWindowIncident : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    QTemporaryDir m_state;
    std::unique_ptr<ui::Theme> m_theme;
    std::unique_ptr<LiveBackend> m_clients; // whose locks they are
    std::map<quint64, Hold> m_holds;
    std::unique_ptr<LiveBackend> m_backend;
    std::unique_ptr<ui::MainWindow> m_window;

    QString recorderFolder() const { return m_state.filePath(u"recorder"_s); }
    std::unique_ptr<LiveBackend> connectedBackend(std::optional<history::FlightOptions> recorder) const
    {
        WorkspaceOptions options{.auditPath = m_state.filePath(u"audit.jsonl"_s)};
        auto backend = std::make_unique<LiveBackend>(options, std::move(recorder));
        ConnectionSpec spec{
            .name = stuckLock.connection, .hosts = {m_zooKeeper->address()}, .adminPort = m_zooKeeper->adminPort()};
        backend->execute(Connect{spec});
        return backend;
    }
    quint64 acquire()
    {
        AcquireRequest request{.lock = stuckLock, .recipe = "zk-mutex"};
        return m_clients->acquire(request);
    }
    qsizetype contenders()
    {
        const auto *lock = m_window->locksPage().model().snapshot(stuckLock);
        return lock ? static_cast<qsizetype>(lock->contenders.size()) : 0;
    }
    QByteArray holder()
    {
        const auto *lock = m_window->locksPage().model().snapshot(stuckLock);
        return lock && lock->holderCount() == 1 ? lock->contenders.front().id : QByteArray();
    }
    void goTo(history::Moment moment)
    {
        m_window->time().goTo(moment);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->time().moment(), moment, 20'000);
    }
    bool force(const QByteArray &who)
    {
        std::optional<bool> released;
        m_backend->ask(PlanRelease{stuckLock, who}, this, [&](const Result<operate::ForceReleasePlan> &plan) {
            if (!plan)
                released = false;
            else
                m_backend->ask(ForceRelease{*plan, u"stalled"_s}, this,
                               [&](const Result<operate::ForceReleaseOutcome> &outcome) {
                                   released = outcome && outcome->released;
                               });
        });
        return QTest::qWaitFor([&] { return released.has_value(); }, 20'000) && *released;
    }
    // Pictures for whoever wants to look: LOCKSCOPE_PICTURES names a folder.
    void picture(const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_PICTURES");
        if (folder.isEmpty())
            return;
        for (const auto choice : {ui::ThemeChoice::Light, ui::ThemeChoice::Dark}) {
            m_theme->setChoice(choice);
            for (const auto size : {QSize(1366, 768), QSize(1440, 900)}) {
                m_window->resize(size);
                QTest::qWait(400); // the timeline asks within a second, or has it
                QVERIFY(m_window->grab().save(
                    u"%1/%2-%3-%4.png"_s.arg(folder, name, choice == ui::ThemeChoice::Dark ? u"dark"_s : u"light"_s,
                                             QString::number(size.width()))));
            }
        }
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
        m_theme = std::make_unique<ui::Theme>(*qApp, ui::ThemeChoice::Light);
        m_clients = connectedBackend({});
        connect(m_clients.get(), &Backend::holdChanged, this,
                [this](const Hold &hold) { m_holds.insert_or_assign(hold.id, hold); });
        m_backend = connectedBackend(history::FlightOptions{recorderFolder(), {}});
        m_window = std::make_unique<ui::MainWindow>(*m_backend);
        m_window->resize(1366, 768);
        m_window->show();
        m_window->pages().all();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void cleanupTestCase()
    {
        m_window.reset();
        m_backend.reset();
        m_clients.reset();
        QVERIFY(!m_theme || QDir(recorderFolder()).isEmpty()); // nothing is left of it
        m_theme.reset();
    }

    void theWindowGoesBackThroughTheIncident()
    {
        const auto first = acquire();
        QTRY_COMPARE_WITH_TIMEOUT(m_holds[first].state, Hold::State::Held, 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(contenders(), 1, 20'000);
        m_window->selectLock(stuckLock);
        const auto held = incidentNow();
        // No earlier time can be shown than 2 s after the first complete snapshot.
        QTRY_VERIFY_WITH_TIMEOUT(incidentNow() - held >= 2500ms, 20'000);
        const auto before = incidentNow();
        const auto old = holder();
        (void)acquire();
        (void)acquire();
        QTRY_COMPARE_WITH_TIMEOUT(contenders(), 3, 20'000);
        const auto during = incidentNow();
        QVERIFY(force(old));
        QTRY_VERIFY_WITH_TIMEOUT(!holder().isEmpty() && holder() != old, 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(contenders(), 2, 20'000);
        const auto present = holder();
        const auto after = incidentNow();
        QTest::qWait(1100); // what happened is on disk within a second

        goTo(before);
        QCOMPARE(contenders(), 1);
        QCOMPARE(holder(), old);
        picture(u"before"_s);
        goTo(during);
        QCOMPARE(contenders(), 3);
        QCOMPARE(holder(), old);
        auto *timeline = m_window->locksPage().detail().findChild<ui::TimelineView *>();
        picture(u"during"_s);
        m_window->locksPage().detail().findChild<QTabWidget *>()->setCurrentWidget(timeline);
        QTRY_COMPARE_WITH_TIMEOUT(timeline->timeline().forced, 1, 20'000);
        QCOMPARE(timeline->lanes().lanes.size(), 3U);
        picture(u"during-timeline"_s);
        const auto *bar = m_window->findChild<ui::TimeBar *>();
        QVERIFY(bar->bannerText().startsWith(u"Viewing "_s));
        m_window->dialogs().openForceRelease();
        QVERIFY(m_window->findChildren<QDialog *>().isEmpty());
        goTo(after);
        QCOMPARE(contenders(), 2);
        QCOMPARE(holder(), present);
        picture(u"after"_s);
        QTest::keyClick(m_window.get(), Qt::Key_Escape);
        QVERIFY(!m_window->time().isElsewhere());
        QCOMPARE(holder(), present);
        QCOMPARE(bar->bannerText(), QString());
        picture(u"now"_s);

        // The window is younger than five minutes: its first complete moment, which it says.
        QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->time().isElsewhere(), 20'000);
        QVERIFY2(bar->bannerText().contains(u"Start of the recording"_s), qPrintable(bar->bannerText()));
        QVERIFY(m_window->time().moment() <= before);
        const auto *then = m_window->connections().find(stuckLock.connection);
        QVERIFY(then && then->isRecorded && then->progress.firstSnapshotComplete);
        QTest::keyClick(m_window.get(), Qt::Key_Escape);

        const auto saved = m_state.filePath(u"incident.lockscope"_s);
        m_window->time().save(saved);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(saved), 20'000);
        const auto recording = history::FlightRecording::open({saved});
        QVERIFY(recording);
        QCOMPARE(recording->at(during)->locks.at(stuckLock).contenders.size(), 3U);
        const QString kept = qEnvironmentVariable("LOCKSCOPE_PICTURES");
        if (!kept.isEmpty())
            QVERIFY(QFile::copy(saved, kept + u"/incident.lockscope"_s));
    }
};

LOCKSCOPE_GUI_TEST(TestWindowIncident)
#include "tst_window_incident.moc"
