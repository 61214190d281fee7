// SPDX-License-Identifier: Apache-2.0
// The window at another moment than now: every page shows what was then, it says loudly that it is not now, does
// nothing, and comes back to what is now, news included.
#include "core/base/text.h"
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowtimefixture.h"
#include "ui/dialogs/acquiredialog.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/mainwindow.h"
#include "ui/models/pausablebackend.h"
#include "ui/pages/lockdetail.h"
#include "ui/parts/labels.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/page.h"
#include "ui/parts/notices.h"
#include "ui/parts/tabletools.h"
#include "ui/shell/actions.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/palette.h"
#include "ui/shell/timebar.h"
#include "ui/timetravel.h"
#include "ui/views/lockstable.h"
#include "ui/views/timelineview.h"
#include "ui/workbench.h"

#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>

#include <algorithm>

using inspect::ChangeKind;
using inspect::LockName;
using testing::timeLock;
using testing::timeZk;

class TestWindowTime : public testing::WindowTimeFixture {
    Q_OBJECT

    // The part that a look at the lock alone does not give.
    static QString historyOf(const QString &note) { return note.mid(note.indexOf(u"## Timeline"_s)); }
    // What that way copies; empty if nothing comes.
    QString copiedBy(const std::function<void()> &way)
    {
        QGuiApplication::clipboard()->clear();
        way();
        (void)QTest::qWaitFor([] { return !QGuiApplication::clipboard()->text().isEmpty(); }, 30'000);
        return QGuiApplication::clipboard()->text();
    }

private slots:
    void init() { begin(); }
    void cleanup() { end(); }

    void fiveMinutesAgoIsOneKey()
    {
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(m_window->time().isElsewhere());
        QCOMPARE(contenders("/locks/orders"), 3);
        QVERIFY(lock("/locks/then"));
        QVERIFY(!lock("/locks/now"));
        QVERIFY2(bar().bannerText().startsWith(u"Viewing "_s) && bar().bannerText().contains(u"(5 m 0"_s),
                 qPrintable(bar().bannerText()));
        QVERIFY(m_window->findChild<QLabel *>(u"asOf"_s)->text().contains(u"viewing"_s));
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(contenders("/locks/orders"), 1);
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier); // before it begins: its beginning
        QTRY_COMPARE(*m_window->time().moment(), m_now - 10min);
    }

    // A terminal's recording has the locks, and no finding that only a look at all of them makes.
    void aDeadlockOfThenIsSeen()
    {
        const auto lock = [this](const QByteArray &path, const char *holds, const char *waits) {
            auto one = queueLock("zk", path, 1, m_now - 9min);
            one.contenders[0].session = QString::fromLatin1(holds);
            one.contenders[1].session = QString::fromLatin1(waits);
            return change(ChangeKind::Added, one);
        };
        const auto path = m_folder.filePath(u"deadlock.lockscope"_s);
        auto writer = history::RecordingWriter::create(path, m_now - 10min);
        const auto add = [&](history::Moment at, auto what) { return bool((*writer)->add({at, std::move(what)})); };
        QVERIFY(add(m_now - 10min, standing()) && add(m_now - 9min, lock("/locks/a", "0x1", "0x2"))
                && add(m_now - 8min, lock("/locks/b", "0x2", "0x1")) && (*writer)->flush(m_now - 1s));
        m_file = path;
        m_past = std::make_unique<Past>([this] { return QStringList{m_file}; });
        m_backend->recorded = m_past.get();
        QVERIFY(goTo(m_now - 8min)); // just closed: a look earlier it was not there
        QVERIFY(this->lock("/locks/a") && !this->lock("/locks/a")->find(inspect::FindingCode::Deadlock));
        QVERIFY(goTo(m_now - 7min));
        for (const auto *name : {"/locks/a", "/locks/b"}) {
            const auto *found = this->lock(name)->find(inspect::FindingCode::Deadlock);
            QVERIFY2(found && found->message.contains(u"waits for zk:/locks/"_s), name);
        }
    }

    void everyAgeIsOfThatMoment()
    {
        QVERIFY(goTo(m_now - 6min));
        // A queue lock of the fakes is held for 4 m 12 s when it is told: a minute before.
        const int row = page().model().rowOf(timeLock("/locks/orders"));
        QCOMPARE(page().model().index(row, ui::LockRow::Held).data().toString(), u"5 m 12 s"_s);
        QString note;
        page().detail().withNote([&note](const QString &made) { note = made; });
        QTRY_VERIFY(!note.isEmpty());
        QVERIFY2(note.contains(u"5 m 12 s"_s), qPrintable(note));
        const auto &sentence = page().detail().findChild<ui::AnswerLabel *>()->sentence();
        QVERIFY2(sentence.contains(u"was held by "_s) && sentence.contains(u"2 waited, the oldest "_s),
                 qPrintable(sentence));
        QCoreApplication::processEvents();
        QVERIFY(goTo(m_now - 5min));
        QCOMPARE(page().model().index(row, ui::LockRow::Held).data().toString(), u"6 m 12 s"_s);
    }

    void backToNowEverythingIsAsItWasAndNewsIsTold()
    {
        QVERIFY(goTo(m_now - 6min));
        m_backend->notifyLocks({change(ChangeKind::Changed, orders(1, m_now + 1s)),
                                change(ChangeKind::Removed, queueLock("zk", "/locks/now", 1, m_now)),
                                change(ChangeKind::Added, queueLock("zk", "/locks/new", 1, m_now))});
        QCOMPARE(contenders("/locks/orders"), 3); // not now
        QVERIFY(!lock("/locks/new"));
        press(Qt::Key_Escape);
        QVERIFY(!m_window->time().isElsewhere());
        QCOMPARE(contenders("/locks/orders"), 2);
        QVERIFY(lock("/locks/new") && !lock("/locks/then"));
        QTRY_VERIFY(!lock("/locks/now"));
        QCOMPARE(bar().bannerText(), QString());
        QCOMPARE(page().currentLock(), timeLock("/locks/orders"));
        const auto *status = m_window->connections().find(timeZk);
        QVERIFY(status && !status->readOnly && status->state == ConnectionStatus::State::Connected);
        QVERIFY(!m_window->findChild<QLabel *>(u"asOf"_s)->text().contains(u"viewing"_s));
    }

    void nothingIsDoneThere()
    {
        QVERIFY(goTo(m_now - 6min));
        const auto before = m_backend->calls;
        press(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
        press(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY2(bar().bannerText().contains(u"return to live view first"_s), qPrintable(bar().bannerText()));
        const auto isOff = [](const auto *one) {
            return !one->isEnabled() && one->toolTip().contains(u"Return to live view first"_s);
        };
        for (const auto *name : {"forceReleaseButton", "acquireButton"}) {
            auto *button = page().detail().findChild<QPushButton *>(QLatin1String(name));
            QVERIFY2(isOff(button) && !button->isVisible(), name);
            button->click();
        }
        for (const auto &id : acts()) {
            QVERIFY2(isOff(m_window->actions().find(id)), qPrintable(id));
            m_window->actions().find(id)->trigger();
        }
        auto &list = m_window->findChild<ui::ConnectionChooser *>()->list();
        emit list.readOnlyRequested(m_window->connections().all().front().name, false);
        press(Qt::Key_Space);
        QVERIFY(!m_window->findChild<ui::ForceReleaseDialog *>());
        QVERIFY(!m_window->findChild<ui::AcquireDialog *>());
        QVERIFY2(bar().bannerText().contains(u"return to live view first"_s), qPrintable(bar().bannerText()));
        for (const auto &status : m_window->connections().all())
            QVERIFY(status.readOnlyForGood);
        QCOMPARE(m_backend->calls, before);
        QVERIFY(m_window->time().isElsewhere());
        press(Qt::Key_Escape);
        QVERIFY(page().detail().findChild<QPushButton *>(u"forceReleaseButton"_s)->isEnabled());
        QVERIFY(page().detail().findChild<QPushButton *>(u"acquireButton"_s)->isEnabled());
        for (const auto &id : acts())
            QVERIFY2(m_window->actions().find(id)->isEnabled()
                         && m_window->actions().find(id)->toolTip() != refusal(),
                     qPrintable(id));
    }

    // In the palette, too, where it stands greyed and says why.
    void thePaletteSaysWhatIsNotDoneThere()
    {
        QVERIFY(goTo(m_now - 6min));
        press(Qt::Key_K, Qt::ControlModifier);
        auto *palette = m_window->findChild<ui::CommandPalette *>();
        palette->field().setText(u"force-release the"_s);
        const auto *row = palette->list().item(0);
        QVERIFY(row->text().startsWith(u"Force-release"_s));
        QVERIFY(row->data(Qt::AccessibleTextRole).toString().contains(refusal()));
        QTest::keyClick(&palette->field(), Qt::Key_Return);
        QVERIFY2(bar().bannerText().contains(u"return to live view first"_s), qPrintable(bar().bannerText()));
    }

    void unrecordedPagesAreCovered()
    {
        m_window->showPage(u"znodes"_s);
        QVERIFY(goTo(m_now - 6min));
        const auto isCovered = [this] {
            const auto covers = m_window->findChildren<ui::Cover *>();
            return std::ranges::any_of(covers, &QWidget::isVisible);
        };
        QVERIFY(isCovered());
        m_window->showPage(u"sessions"_s);
        QVERIFY(!isCovered());
        m_window->showPage(u"keys"_s);
        QVERIFY(isCovered());
        press(Qt::Key_Escape);
        QVERIFY(!isCovered());
    }

    void serverRequestInThePastIsNotRecorded()
    {
        ui::PausableBackend screen(*m_backend);
        screen.showPast({m_now - 6min, {}}, m_past.get());
        std::optional<Error> said;
        screen.ask(ReadKey{ConnectionName("redis"), RedisKey("k")}, this,
                   [&](const Result<KeyDetail> &answer) { said = answer.error(); });
        QTRY_VERIFY(said);
        QVERIFY(said->message.contains(u"not recorded"_s));
        Hold never;
        connect(&screen, &Backend::holdChanged, this, [&](const Hold &hold) { never = hold; });
        const auto id = screen.acquire({});
        QTRY_COMPARE(never.id, id);
        QCOMPARE(never.state, Hold::State::Failed);
        QVERIFY(m_backend->calls.filter(u"readKey"_s).isEmpty() && !m_backend->last<AcquireLock>());
    }

    void theLocksChangesAreWalkedThrough()
    {
        press(Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(m_window->time().moment(), m_now - 2min);
        QCOMPARE(contenders("/locks/orders"), 2);
        QCOMPARE(bar().track().marks().size(), 3U);
        press(Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(m_window->time().moment(), m_now - 7min);
        press(Qt::Key_Down, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(m_window->time().moment(), m_now - 2min);
    }

    void aFileIsShownWithoutAServer()
    {
        m_window->time().openFiles({m_file}, u"incident.lockscope"_s);
        QTRY_VERIFY(m_window->time().isElsewhere());
        QCOMPARE(*m_window->time().moment(), m_now - 1s);
        QCOMPARE(contenders("/locks/orders"), 2);
        QVERIFY2(bar().bannerText().contains(u"incident.lockscope, recorded of zk from "_s),
                 qPrintable(bar().bannerText()));
        press(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE(m_window->time().moment(), m_now - 1s - 5min);
        press(Qt::Key_Escape); // there is no now: its end
        QTRY_COMPARE(m_window->time().moment(), m_now - 1s);
        m_window->findChild<QPushButton *>(u"backToNow"_s)->click();
        QVERIFY(!m_window->time().isElsewhere());
        QCOMPARE(contenders("/locks/orders"), 6);
        QVERIFY(!bar().isVisible());
    }

    void aConnectionThatOnlyTheFileHasGoesWithIt()
    {
        m_window.reset();
        m_backend = std::make_unique<testing::FakeBackend>(); // records nothing, is connected to nothing
        openWindow();
        m_window->time().openFiles({m_file}, u"f"_s);
        QTRY_COMPARE(contenders("/locks/orders"), 2);
        QVERIFY(m_window->connections().find(timeZk));
        m_window->time().closeFile();
        QVERIFY(!m_window->connections().find(timeZk));
        QCOMPARE(page().model().total(), 0);
    }

    void unreadableRecordingIsReported()
    {
        m_window->time().openFiles({u"/nowhere/at-all"_s}, u"x"_s);
        auto *notice = m_window->findChild<QLabel *>(u"notice"_s);
        QTRY_VERIFY(notice->isVisible());
        QVERIFY2(notice->toolTip().contains(u"/nowhere/at-all"_s), qPrintable(notice->toolTip()));
        QVERIFY(!m_window->time().isElsewhere());
        notice->hide();
        m_past->recorderFailed({ErrorCode::Server, u"disk full"_s});
        QTRY_VERIFY(notice->isVisible() && notice->toolTip().contains(u"disk full"_s));
        notice->hide();
        m_past->recorderResumed(); // a disk has room again
        QTRY_VERIFY(notice->isVisible() && notice->text().startsWith(u"Recording resumed"_s));
    }

    void theRecordersContentIsSaved()
    {
        const auto path = m_folder.filePath(u"saved.lockscope"_s);
        m_window->time().save(path);
        QTRY_VERIFY(QFile::exists(path));
        Past saved(QStringList{path});
        std::optional<RecordedSpan> span;
        saved.span(this, [&](const Result<RecordedSpan> &answer) { span = *answer; });
        QTRY_VERIFY(span);
        QCOMPARE(span->begin, m_now - 10min);
    }

    // A file that is found later says of which moment it is; each row, so that rows put together say it, too.
    void exportOfThePastNamesItsTime()
    {
        QVERIFY(goTo(m_now - 6min));
        const auto since = m_window->time().moment()->time_since_epoch();
        const auto moment = isoTime(std::chrono::duration_cast<std::chrono::milliseconds>(since)).toUtf8();
        for (const auto &name : {u"then.csv"_s, u"then.json"_s}) {
            const auto path = m_folder.filePath(name);
            m_window->actions().find(u"export"_s)->trigger();
            auto *dialog = m_window->findChild<QFileDialog *>(u"exportDialog"_s);
            QVERIFY(dialog);
            emit dialog->fileSelected(path);
            delete dialog;
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const auto text = file.readAll();
            if (name.endsWith(u"json"_s)) {
                QCOMPARE(QJsonDocument::fromJson(text).object().value("asOf"_L1).toString().toUtf8(), moment);
                continue;
            }
            const auto lines = text.trimmed().split('\n');
            QVERIFY(lines.front().trimmed().endsWith(",As of"));
            QVERIFY(lines.size() > 1);
            for (qsizetype i = 1; i < lines.size(); ++i)
                QVERIFY2(lines[i].trimmed().endsWith("," + moment), lines[i].constData());
        }
        m_window->showPage(u"znodes"_s);
        m_window->actions().find(u"export"_s)->trigger();
        QVERIFY(!m_window->findChild<QFileDialog *>(u"exportDialog"_s)); // that page is of now
    }

    // What is told by the desktop is of now: it is judged by how connections are now, whatever moment is shown.
    void newFindingAlertsInThePastView()
    {
        m_backend->notifyConnection(testing::connectedStatus("zk", Scheme::ZooKeeper, true, m_now));
        auto &alerts = m_window->workbench().alerts();
        auto rule = alerts.rule();
        rule.isOn = rule.onlyProduction = true;
        rule.least = inspect::Severity::Warning;
        alerts.setRule(rule);
        QVERIFY(goTo(m_now - 6min));
        QVERIFY(!m_window->connections().find(timeZk)->production); // it was not marked then
        QSignalSpy alerted(&alerts, &ui::AlertWatch::alerted);
        m_backend->notifyLocks(
            {change(ChangeKind::Added, testing::redisLock("zk", "stuck-lock", std::nullopt, m_now))});
        QCOMPARE(alerted.count(), 1);
    }

    void everyWayCopiesTheSameNote()
    {
        const auto byButton = copiedBy([this] { page().detail().findChild<QPushButton *>(u"copyNote"_s)->click(); });
        QVERIFY2(byButton.contains(u"Forced releases: 1"_s) && byButton.contains(u"ann@host"_s),
                 qPrintable(byButton));
        const auto byKey = copiedBy([this] { press(Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier); });
        QCOMPARE(historyOf(byKey), historyOf(byButton));
        const auto byMenu = copiedBy([this] { m_window->actions().find(u"note"_s)->trigger(); });
        QCOMPARE(historyOf(byMenu), historyOf(byButton));
        auto &table = page().table();
        emit table.tools().menuRequested(table.currentIndex(), {});
        auto *menu = page().findChild<QMenu *>(u"subjectMenu"_s);
        QVERIFY(menu);
        const auto actions = menu->actions();
        const auto copy = std::ranges::find(actions, u"Copy note"_s, &QAction::text);
        QVERIFY(copy != actions.end());
        const auto byRow = copiedBy([&] { (*copy)->trigger(); });
        QCOMPARE(historyOf(byRow), historyOf(byButton));
        auto *window = m_window->workbench().detach(timeLock("/locks/orders"));
        const auto byWindow =
            copiedBy([window] { window->detail().findChild<QPushButton *>(u"copyNote"_s)->click(); });
        QCOMPARE(historyOf(byWindow), historyOf(byButton));
        QVERIFY2(byWindow.contains(u"zk://zk:2181"_s), qPrintable(byWindow));
    }

    // A note that cannot be complete says so. It never says that there was nothing.
    void aNoteReportsWhatCouldNotBeRead()
    {
        const auto byKey = [this] { return copiedBy([this] { m_window->actions().find(u"note"_s)->trigger(); }); };
        m_backend->on<ReadAudit>() = [](const ReadAudit &) {
            return Error{ErrorCode::Server, u"permission denied"_s};
        };
        auto note = byKey();
        QVERIFY2(note.contains(u"Forced releases: 1"_s), qPrintable(note));
        QVERIFY2(note.contains(u"Incomplete: the audit log could not be read (`permission denied`)"_s),
                 qPrintable(note));
        m_past->recorderFailed({ErrorCode::Server, u"disk full"_s});
        note = byKey();
        QVERIFY2(note.contains(u"Incomplete: recording stopped (`disk full`)"_s), qPrintable(note));
        m_past = std::make_unique<Past>([] { return QStringList{u"/nowhere/at-all"_s}; });
        m_backend->recorded = m_past.get();
        note = byKey();
        QVERIFY2(note.contains(u"The history could not be read: "_s), qPrintable(note));
        QVERIFY(!note.contains(u"No history: this is a single read"_s) && !note.contains(u"None is recorded"_s));
        m_backend->recorded = nullptr;
        note = byKey();
        QVERIFY2(note.contains(u"The history could not be read: `the recorder is off`"_s), qPrintable(note));
    }

    // What a program did before this window was opened stands in the audit file only.
    void anActionBeforeTheRecordingIsInTheNote()
    {
        m_backend->on<ReadAudit>() = [this](const ReadAudit &) {
            operate::AuditReport report;
            operate::AuditRecord record{.time = m_now - 24h,
                                        .actor = u"bob@host"_s,
                                        .action = u"force-release"_s,
                                        .lock = "zk:/locks/orders",
                                        .phase = u"intent"_s};
            report.records = {record};
            record.lock = "zk:/locks/other";
            record.actor = u"eve@host"_s;
            report.records.push_back(record);
            return report;
        };
        const auto note = copiedBy([this] { m_window->actions().find(u"note"_s)->trigger(); });
        QVERIFY2(note.contains(u"bob@host"_s) && note.contains(u"ann@host"_s), qPrintable(note));
        QVERIFY(!note.contains(u"eve@host"_s));
    }

    void lockMissingInThePast_nothingOfTodayIsShown()
    {
        m_window->selectLock(timeLock("/locks/now"));
        QVERIFY(page().detail().snapshot());
        QVERIFY(goTo(m_now - 6min));
        QCOMPARE(page().currentLock(), timeLock("/locks/now"));
        QVERIFY(!page().detail().snapshot());
        QVERIFY(strip().isVisible()); // where it was there can be seen, and gone to
        const auto *said = page().detail().findChild<ui::EmptyNotice *>();
        QVERIFY(said->isVisible());
        QCOMPARE(said->title(), u"/locks/now is not in this past view"_s);
        press(Qt::Key_Escape);
        QVERIFY(page().detail().snapshot());
        QCOMPARE(page().detail().snapshot()->waiterCount(), 1);
    }

    void theNoteIsTheOneOfTheTerminal()
    {
        QGuiApplication::clipboard()->clear();
        page().detail().findChild<QPushButton *>(u"copyNote"_s)->click();
        QTRY_VERIFY(!QGuiApplication::clipboard()->text().isEmpty());
        const auto note = QGuiApplication::clipboard()->text();
        for (const auto &part : {u"# Incident: `zk:/locks/orders`"_s, u"## Timeline"_s, u"is force-released"_s,
                                 u"Forced releases: 1"_s, u"zk://zk:2181"_s, u"stuck"_s, u"ann@host"_s})
            QVERIFY2(note.contains(part), qPrintable(note));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowTime)
#include "tst_window_time.moc"
