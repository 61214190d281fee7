// SPDX-License-Identifier: Apache-2.0
// The page of findings in its window: what it says, where its keys lead, and that it never says more than was seen.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/mutedialog.h"
#include "ui/pages/findingdetail.h"
#include "ui/pages/findingspage.h"
#include "ui/parts/notices.h"
#include "ui/theme/pill.h"
#include "ui/theme/theme.h"
#include "ui/views/findingstable.h"

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <algorithm>
#include <cmath>

using inspect::ChangeKind;
using inspect::FindingCode;

class TestFindingsPage : public testing::WindowFixture {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MuteStore> m_mutes;

    ui::FindingsPage &page() { return *m_window->findChild<ui::FindingsPage *>(); }
    ui::FindingsTable &table() { return page().table(); }
    QString notice() { return page().notice().isVisible() ? page().notice().title() : QString(); }
    void notifyStatus(bool isFirstLookDone = true)
    {
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, m_now);
        status.progress.firstSnapshotComplete = isFirstLookDone;
        m_backend->notifyConnection(status);
    }
    void notifyLock(FindingCode code, const QByteArray &name = "/locks/a")
    {
        auto lock = testing::queueLock("zk", name, 1, testing::serverTime(m_now));
        inspect::Wording message = u"held for "_s;
        message.since(lock.observed - 11min);
        addFinding(lock, code, message, {lock.contenders[0].id});
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
    }

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_mutes = std::make_unique<MuteStore>(m_folder->filePath(u"mutes.json"_s));
        m_now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        openWindow();
        m_window->useMutes(*m_mutes);
        m_window->showPage(u"findings"_s);
    }

    // Of what is found one after the other the gravest is looked at, until somebody chooses.
    void theGravestIsChosenUntilSomebodyDoes()
    {
        const auto chosen = [this] { return table().current()->lock.name; };
        notifyStatus();
        notifyLock(FindingCode::LongHeld, "/locks/b");
        page().focusContent();
        QCOMPARE(chosen(), QByteArray("/locks/b"));
        QVERIFY(table().selectionModel()->isRowSelected(table().currentIndex().row()));
        notifyLock(FindingCode::LongHeld, "/locks/a"); // no graver, so it stays
        QCOMPARE(chosen(), QByteArray("/locks/b"));
        notifyLock(FindingCode::Deadlock, "/locks/c");
        QCOMPARE(chosen(), QByteArray("/locks/c"));
        QVERIFY(table().selectionModel()->isRowSelected(table().currentIndex().row()));
        QTest::keyClick(&table(), Qt::Key_Down);
        const auto theirs = chosen();
        QVERIFY(theirs != QByteArray("/locks/c"));
        notifyLock(FindingCode::NoTtl, "/locks/c2");
        QCOMPARE(chosen(), theirs);
    }

    void keyboardFocusSelectsARow()
    {
        notifyStatus();
        notifyLock(FindingCode::LongHeld, "/locks/b");
        table().clearFocus();
        table().setCurrentIndex({});
        table().setFocus(Qt::TabFocusReason);
        QTRY_VERIFY(table().hasFocus());
        QVERIFY(table().selectionModel()->isRowSelected(0));
    }

    // Nothing is wrong only where everything was looked at.
    void saysNoMoreThanWasSeen()
    {
        QCOMPARE(notice(), u"No connection yet"_s);
        notifyStatus(false);
        QCOMPARE(notice(), u"No problems found in what was read, and that was not everything"_s);
        notifyStatus();
        m_backend->tell(
            {.coverage = {{ConnectionName("zk"), {{ConnectionName("zk"), true, u"new locks by dump"_s}}}}});
        QCOMPARE(notice(), u"No problems found"_s);
        m_backend->tell({.coverage = {{ConnectionName("zk"),
                                       {{ConnectionName("zk"), false, u"watches: 1 of 3 members answered"_s}}}}});
        QCOMPARE(notice(), u"No problems found in what was read, and that was not everything"_s);
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, m_now);
        status.state = ConnectionStatus::State::Broken;
        m_backend->notifyConnection(status);
        QCOMPARE(notice(), u"No server could be read"_s);
        // Beside findings it stands above them.
        notifyStatus();
        notifyLock(FindingCode::LongHeld);
        auto *gaps = page().findChild<ui::Banner *>(u"gapsBanner"_s);
        QVERIFY(gaps->isVisible());
        QCOMPARE(gaps->sentence(), u"Incomplete: zk: watches: 1 of 3 members answered"_s);
        page().setFilter(u"no such lock"_s);
        QCOMPARE(notice(), u"No finding is in this view"_s);
        const auto labels = page().notice().findChildren<QLabel *>();
        QVERIFY(
            std::ranges::any_of(labels, [gaps](auto *label) { return label->text().endsWith(gaps->sentence()); }));
    }

    void saysWhyTheThresholdsAreTheUsual()
    {
        auto *problem = page().findChild<ui::Banner *>(u"thresholdsProblem"_s);
        QVERIFY(!problem->isVisible());
        page().showThresholdsProblem(u"thresholds.json: longheld: is not known here"_s);
        QVERIFY(problem->isVisible());
        QVERIFY(problem->sentence().contains(u"longheld: is not known here"_s));
    }

    void saysWhatIsWrongWithRulesUntilItIsMended()
    {
        auto *problem = page().findChild<ui::Banner *>(u"rulesProblem"_s);
        QVERIFY(!problem->isVisible());
        page().showRuleProblems({u"mine.json:3: rules[0].vaule: is not known here"_s, u"mine.json:4: no"_s});
        QVERIFY(problem->isVisible());
        QVERIFY(problem->sentence().contains(u"rules[0].vaule: is not known here\nmine.json:4"_s));
        page().showRuleProblems({});
        QVERIFY(!problem->isVisible());
    }

    void messageColumnGetsTheRoomThatNamesLeave()
    {
        m_window->resize(1366, 768);
        notifyStatus();
        notifyLock(FindingCode::LongHeld);
        const auto width = [this] { return table().columnWidth(ui::FindingRow::Lock); };
        QTRY_COMPARE(width(), 140);
        notifyLock(FindingCode::LongHeld, "/locks/" + QByteArray(60, 'x'));
        const auto isWhole = [this](int column) {
            const auto *model = table().model();
            for (int row = 0; row < model->rowCount(); ++row) {
                if (table().columnWidth(column) < table().sizeHintForIndex(model->index(row, column)).width())
                    return false;
            }
            return true;
        };
        QTRY_VERIFY(isWhole(ui::FindingRow::Lock)); // in few words was it seen
        QVERIFY(isWhole(ui::FindingRow::Message));
        table().setColumnWidth(ui::FindingRow::Lock, 170); // somebody drags it
        notifyLock(FindingCode::LongHeld, "/locks/" + QByteArray(60, 'y'));
        QTRY_COMPARE(table().model()->rowCount(), 3);
        m_window->resize(1300, 768);
        QCoreApplication::processEvents();
        QCOMPARE(width(), 170);
    }

    void theDetailSaysWhatItMeansAndWhatToDo()
    {
        notifyStatus();
        notifyLock(FindingCode::LongHeld);
        page().focusContent();
        const auto &kind = inspect::kindOf(FindingCode::LongHeld);
        QCOMPARE(page().detail().valueOf(u"Seen"_s), u"held for 11 m 00 s"_s);
        QCOMPARE(page().detail().valueOf(u"It means"_s), kind.meaning.toString());
        QCOMPARE(page().detail().valueOf(u"To confirm"_s), kind.confirm.toString());
        QCOMPARE(page().detail().valueOf(u"What to do"_s), kind.remedy.toString());
        QVERIFY(page().detail().valueOf(u"Who"_s).contains(u"10.0.3.7"_s));
    }

    void enterGoesToTheLock()
    {
        notifyStatus();
        notifyLock(FindingCode::LongHeld, "/locks/a");
        notifyLock(FindingCode::LostWakeup, "/locks/b");
        page().focusContent();
        QTest::keyClick(&table(), Qt::Key_Down);
        QTest::keyClick(&table(), Qt::Key_Return);
        QVERIFY(m_window->locksPage().isVisible());
        QCOMPARE(m_window->locksPage().currentLock()->name, QByteArray("/locks/a"));
    }

    // One row, its locks listed, and each can be gone to.
    void aDeadlockLeadsToEachOfItsLocks()
    {
        notifyStatus();
        auto one = testing::queueLock("zk", "/locks/a&b", 1, testing::serverTime(m_now));
        auto other = testing::queueLock("zk", "/locks/c", 1, testing::serverTime(m_now));
        for (auto *lock : {&one, &other}) {
            addFinding(*lock, FindingCode::Deadlock, u"A holds a&b and waits for c"_s, {lock->contenders[0].id});
            lock->findings.front().also = {lock == &one ? other.lock : one.lock};
        }
        m_backend->notifyLocks({change(ChangeKind::Added, one), change(ChangeKind::Added, other)});
        QCOMPARE(page().model().rowCount(), 1);
        page().focusContent();
        QCOMPARE(page().detail().valueOf(u"Locks"_s), u"zk:/locks/a&b\nzk:/locks/c"_s);
        const auto menu = [this] { return page().findChild<QMenu *>(u"deadlockedLocks"_s); };
        QTest::keyClick(&table(), Qt::Key_Return);
        QTRY_VERIFY(menu() && menu()->isVisible());
        QCOMPARE(menu()->actions().front()->text(), u"zk:/locks/a&&b"_s);
        QTest::keyClick(menu(), Qt::Key_Down);
        QTest::keyClick(menu(), Qt::Key_Return);
        QTRY_VERIFY(m_window->locksPage().isVisible());
        QCOMPARE(m_window->locksPage().currentLock()->name, QByteArray("/locks/c"));
    }

    // Whom ending costs least is where both keys lead, whichever lock has the row.
    void aDeadlockLeadsToItsVictim()
    {
        notifyStatus();
        auto one = testing::queueLock("zk", "/locks/a", 1, testing::serverTime(m_now));
        auto other = testing::queueLock("zk", "/locks/c", 1, testing::serverTime(m_now));
        for (auto *lock : {&one, &other}) {
            addFinding(*lock, FindingCode::Deadlock, u"A holds a and waits for c"_s,
                       {lock->contenders[0].id, lock->contenders[1].id});
            lock->findings.front().also = {lock == &one ? other.lock : one.lock};
            lock->findings.front().victim = {{other.lock, other.contenders[0].id, u"0x77"_s},
                                             {one.lock, one.contenders[1].id, u"0x77"_s}};
        }
        m_backend->notifyLocks({change(ChangeKind::Added, one), change(ChangeKind::Added, other)});
        page().focusContent();
        QCOMPARE(table().current()->parties.front().id, one.contenders[1].id);
        QSignalSpy subjects(&page(), &ui::Page::subjectActivated);
        QTest::keyClick(&table(), Qt::Key_S);
        QCOMPARE(subjects.size(), 1);
        QCOMPARE(subjects.front().front().value<ui::Subject>().name, QByteArray("0x77"));
        QVERIFY(m_window->showPage(u"findings"_s));
        page().focusContent();
        QTest::keyClick(&table(), Qt::Key_Return);
        auto *menu = page().findChild<QMenu *>(u"deadlockedLocks"_s);
        QVERIFY(menu && menu->activeAction());
        QCOMPARE(menu->activeAction()->text(), u"zk:/locks/c"_s);
        menu->close();
    }

    void theSideBarCountsWhatIsGraveAndNotMuted()
    {
        QSignalSpy counts(&page(), &ui::Page::countChanged);
        notifyStatus();
        notifyLock(FindingCode::LongHeld, "/locks/a");
        notifyLock(FindingCode::Herd, "/locks/b");
        notifyLock(FindingCode::LostWakeup, "/locks/c");
        QCOMPARE(counts.last()[0].toString(), u"2"_s);
        const auto now = std::chrono::floor<std::chrono::seconds>(m_now);
        QVERIFY(m_mutes->add({{}, u"*"_s, FindingCode::LongHeld, u"known"_s, now, now + 1h}));
        QCOMPARE(counts.last()[0].toString(), u"1"_s);
        QCOMPARE(page().findChild<QCheckBox *>(u"showMuted"_s)->text(), u"Show muted (1)"_s);
    }

    // M, why, Enter; it is gone from the list and not forgotten; U brings it back.
    void mutingByKeyboard()
    {
        notifyStatus();
        notifyLock(FindingCode::LongHeld);
        page().focusContent();
        QTest::keyClick(&table(), Qt::Key_M);
        auto *dialog = page().findChild<ui::MuteDialog *>();
        QVERIFY(dialog);
        auto *reason = qobject_cast<QLineEdit *>(dialog->focusWidget());
        QVERIFY(reason);
        constexpr int margins = 24; // what is asked for can be read whole
        QVERIFY(reason->fontMetrics().horizontalAdvance(reason->placeholderText()) + margins <= reason->width());
        QTest::keyClick(reason, Qt::Key_Return);
        QVERIFY2(dialog->isVisible(), "not without a reason");
        QTest::keyClicks(reason, u"a migration"_s);
        QTest::keyClick(reason, Qt::Key_Return);
        QCOMPARE(m_mutes->all().size(), 1u);
        QCOMPARE(m_mutes->all().front().lock, u"zk:/locks/a"_s);
        QCOMPARE(m_mutes->all().front().until - m_mutes->all().front().since, 1h);
        QCOMPARE(notice(), u"1 finding, and it is muted"_s);
        page().findChild<QCheckBox *>(u"showMuted"_s)->setChecked(true);
        QCOMPARE(table().model()->rowCount(), 1);
        page().focusContent();
        QVERIFY(page().detail().valueOf(u"Muted"_s).contains(u"a migration (long-held of zk:/locks/a)"_s));
        QTest::keyClick(&table(), Qt::Key_U);
        QVERIFY(m_mutes->all().empty());
        QVERIFY(!page().model().at(0).muted);
    }

    // Quiet, and still to be read: each colour that a cell of it is written in, on a row that is chosen or not.
    void aMutedRowCanBeRead_data() { addRows<bool>("isDark", {{"light", false}, {"dark", true}}); }
    void aMutedRowCanBeRead()
    {
        QFETCH(const bool, isDark);
        struct Cells : ui::FindingsDelegate {
            using FindingsDelegate::FindingsDelegate;
            using FindingsDelegate::look;
        };
        const auto lightOf = [](const QColor &colour) {
            const auto linear = [](double part) {
                return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
            };
            return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF())
                   + 0.0722 * linear(colour.blueF());
        };
        const auto contrast = [&lightOf](const QColor &a, const QColor &b) {
            const auto [less, more] = std::minmax({lightOf(a), lightOf(b)});
            return (more + 0.05) / (less + 0.05);
        };
        ui::Theme::instance()->setChoice(isDark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
        notifyStatus();
        notifyLock(FindingCode::LongHeld);
        page().focusContent();
        Mute mute{.lock = u"zk:/locks/a"_s,
                  .reason = u"a migration"_s,
                  .since = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())};
        mute.until = mute.since + 1h;
        QVERIFY(m_mutes->add(mute));
        page().findChild<QCheckBox *>(u"showMuted"_s)->setChecked(true);
        QTRY_VERIFY(page().model().rowCount() == 1 && page().model().at(0).muted);
        const Cells cells(page().model(), nullptr);
        const auto &t = ui::Theme::tokens();
        for (int column = 0; column < ui::FindingRow::ColumnCount; ++column) {
            const auto look = cells.look(page().model().index(0, column));
            QVERIFY(!look.stale); // which is half as strong
            const auto colour = look.pill ? ui::toneColor(t, look.pill->tone) : look.colour;
            const auto least = look.pill ? contrast(colour, ui::toneSoft(t, look.pill->tone))
                                         : std::min(contrast(colour, t.panel), contrast(colour, t.selection));
            QVERIFY2(least >= 4.5, qPrintable(u"%1: %2"_s.arg(column).arg(least)));
        }
        ui::Theme::instance()->setChoice(ui::ThemeChoice::Light);
    }

    void criticalFindingIsMutedForItsLockOnly()
    {
        notifyStatus();
        notifyLock(FindingCode::LostWakeup);
        page().focusContent();
        page().mute();
        auto *dialog = page().findChild<ui::MuteDialog *>();
        int allowed = 0;
        for (const auto *button : dialog->findChildren<QRadioButton *>())
            allowed += button->isEnabled();
        QCOMPARE(allowed, 2);
    }

    void aBrokenFileIsSaid()
    {
        QFile file(m_folder->filePath(u"mutes.json"_s));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{");
        file.close();
        m_mutes->reload();
        auto *problem = page().findChild<ui::Banner *>(u"mutesProblem"_s);
        QVERIFY(problem->isVisible() && problem->sentence().contains(u"mutes.json: byte"_s));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestFindingsPage)
#include "tst_findings_page.moc"
