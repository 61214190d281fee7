// SPDX-License-Identifier: Apache-2.0
// One selection: what is acted on is what the list shows as chosen, whatever was searched, filtered or resorted.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/sessionspage.h"
#include "ui/shell/actions.h"
#include "ui/shell/bars.h"
#include "ui/views/lockstable.h"
#include "ui/windowdialogs.h"

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QTreeView>

using inspect::ChangeKind;
using inspect::LockName;

namespace {

LockName zkName(const QByteArray &path)
{
    return {ConnectionName("zk"), path};
}

} // namespace

class TestWindowSelection : public testing::WindowFixture {
    Q_OBJECT

private:
    std::chrono::steady_clock::time_point m_steady{};

    std::optional<LockName> shown()
    {
        const auto *lock = page().detail().snapshot();
        return lock ? std::optional(lock->lock) : std::nullopt;
    }
    // List, detail and what would be acted on are one.
    void verifyChosen(const std::optional<LockName> &lock)
    {
        QCOMPARE(page().currentLock(), lock);
        QCOMPARE(shown(), lock);
        const auto &table = page().table();
        QCOMPARE(table.selectionModel()->hasSelection(), lock.has_value());
        if (lock)
            QVERIFY(table.selectionModel()->isRowSelected(page().model().rowOf(*lock)));
    }
    void find(const QString &text)
    {
        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
        auto *field = m_window->findChild<QLineEdit *>(u"find"_s);
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
    }
    static bool hasText(const QWidget &form, const QString &text)
    {
        const auto labels = form.findChildren<QLabel *>();
        return std::ranges::any_of(labels, [&](const auto *label) { return label->text() == text; });
    }
    void movePointer(bool inside)
    {
        QEvent enter(QEvent::Type::Leave);
        QEnterEvent over(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5));
        QApplication::sendEvent(page().table().viewport(), inside ? static_cast<QEvent *>(&over) : &enter);
    }

private slots:
    void init()
    {
        openWindow();
        page().table().setClock([this] { return m_steady; });
        notifyConnected();
        m_backend->notifyLocks(
            {lockOf("/locks/nightly-report", 3), lockOf("/locks/orders-1", 1), lockOf("/locks/orders-2", 0)});
    }

    void searchHidingTheChoiceChoosesTheFirstHit()
    {
        m_window->selectLock(zkName("/locks/nightly-report"));
        verifyChosen(zkName("/locks/nightly-report"));
        find(u"orders"_s);
        verifyChosen(zkName("/locks/orders-1"));
        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(m_window->findChild<ui::ForceReleaseDialog *>());
        QVERIFY(m_backend->calls.last().startsWith(u"planForceRelease zk:/locks/orders-1 "_s));
    }

    void searchThatFindsNothingLeavesNothingToActOn()
    {
        m_window->selectLock(zkName("/locks/nightly-report"));
        find(u"nothing like this"_s);
        verifyChosen(std::nullopt);
        m_window->dialogs().openForceRelease();
        QVERIFY(!m_window->findChild<ui::ForceReleaseDialog *>());
    }

    void chipsAndConnectionsTakeTheChoiceAlong()
    {
        m_window->selectLock(zkName("/locks/orders-2"));
        for (auto *button : page().findChildren<QPushButton *>()) {
            if (button->text().startsWith(u"Contended"_s))
                button->click();
        }
        verifyChosen(zkName("/locks/nightly-report"));
        page().showConnection(ConnectionName("another"));
        verifyChosen(std::nullopt);
    }

    void aLockThatLeavesTheListByItselfIsNotActedOn()
    {
        for (auto *button : page().findChildren<QPushButton *>()) {
            if (button->text().startsWith(u"Contended"_s))
                button->click();
        }
        m_window->selectLock(zkName("/locks/orders-1"));
        m_backend->notifyLocks({lockOf("/locks/orders-1", 0)});
        verifyChosen(std::nullopt); // a neighbour is not what was chosen
        m_backend->notifyLocks({lockOf("/locks/orders-1", 2)});
        verifyChosen(zkName("/locks/orders-1"));
    }

    // It could be asked for by its key, and was refused; the reason is said before, and when the key is pressed.
    void disabledReleaseGivesItsReason()
    {
        const auto *action = m_window->actions().find(u"force-release"_s);
        const auto saysWhy = [&](const QString &why) {
            QCOMPARE(action->toolTip(), why);
            QVERIFY(!action->isEnabled());
            QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
            QCOMPARE(part<QLabel>("notice")->text(), u"Not done. "_s + why);
            QVERIFY(!m_window->findChild<ui::ForceReleaseDialog *>());
        };
        page().setFilter(u"nothing like this"_s);
        saysWhy(u"No lock is chosen"_s);
        page().setFilter({});
        m_window->selectLock(zkName("/locks/orders-1"));
        QVERIFY(action->isEnabled());
        m_window->showPage(u"sessions"_s);
        saysWhy(u"A lock is released on the page of locks"_s);
        m_window->showPage(u"locks"_s);
        QVERIFY(action->isEnabled());
        m_backend->notifyLocks({lockOf("/locks/orders-1", 1, inspect::ChangeKind::Removed)});
        saysWhy(u"The selected lock no longer exists"_s);
    }

    // Their keys did nothing, and said nothing.
    void lockActionsAreDisabledWithoutSelection()
    {
        const QStringList ids{u"to-graph"_s, u"save-note"_s, u"to-session"_s, u"detach"_s};
        const auto sayWhy = [&](const QString &why, qsizetype from) {
            for (const auto &id : ids.mid(from)) {
                QVERIFY2(!m_window->actions().find(id)->isEnabled(), qPrintable(id));
                QCOMPARE(m_window->actions().find(id)->toolTip(), why);
            }
            QTest::keyClick(m_window.get(), Qt::Key_D, Qt::ControlModifier);
            QCOMPARE(part<QLabel>("notice")->text(), u"Not done. "_s + why);
        };
        page().setFilter(u"nothing like this"_s);
        sayWhy(u"No lock is chosen"_s, 0);
        page().setFilter({});
        m_window->selectLock(zkName("/locks/orders-1"));
        for (const auto &id : ids)
            QVERIFY2(m_window->actions().find(id)->isEnabled(), qPrintable(id));
        m_window->showPage(u"sessions"_s);
        sayWhy(u"Select a lock on the Locks page first"_s, 2);
        QVERIFY(m_window->actions().find(u"to-graph"_s)->isEnabled());
    }

    void theFirstArrowChoosesTheFirstRow()
    {
        auto &table = page().table();
        m_window->findChild<QLineEdit *>(u"find"_s)->setFocus();
        table.setFocus(Qt::TabFocusReason);
        verifyChosen(zkName("/locks/nightly-report")); // the worst, until the user chooses
        QTest::keyClick(&table, Qt::Key_Down);
        verifyChosen(zkName("/locks/orders-1"));
        QTest::keyClick(&table, Qt::Key_Up);
        verifyChosen(zkName("/locks/nightly-report"));
    }

    void enterOnASessionShowsTheLockThatWasSearched()
    {
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("zk");
        session.session = u"0x1"_s;
        session.holds = {"/locks/orders-2", "/locks/nightly-report"};
        m_backend->tell({.sessions = {{session.connection, {session}}}});
        m_window->showPage(u"sessions"_s);
        find(u"nightly"_s);
        auto *sessions = m_window->findChild<ui::SessionsPage *>();
        sessions->setFilter(u"nightly"_s);
        auto *table = sessions->findChild<QTreeView *>();
        emit table->activated(table->model()->index(0, 0));
        verifyChosen(zkName("/locks/nightly-report"));
        // And one that the search would hide: it is shown all the same, and the search is over.
        m_window->selectLock(zkName("/locks/orders-2"));
        verifyChosen(zkName("/locks/orders-2"));
        QCOMPARE(m_window->findChild<QLineEdit *>(u"find"_s)->text(), QString());
    }

    void noRowMovesUnderThePointer()
    {
        auto *hint = m_window->findChild<QPushButton *>(u"resort"_s);
        movePointer(true);
        const auto place = [this] { return page().table().mapTo(m_window.get(), QPoint()); };
        const QPoint before = place();
        m_backend->notifyLocks({lockOf("/locks/orders-2", 9)});
        QCOMPARE(page().model().rowOf(zkName("/locks/orders-2")), 2);
        QVERIFY(hint->isVisible());
        QCoreApplication::processEvents();
        QCOMPARE(place(), before); // what says so moves nothing either
        QCOMPARE(hint->text(), u"↕ 1 row to re-sort"_s);
        m_backend->notifyLocks({lockOf("/locks/quite-new", 0, ChangeKind::Added)});
        QCOMPARE(hint->text(), u"↕ 2 rows to re-sort, 1 new"_s);
        hint->click();
        QCOMPARE(page().model().rowOf(zkName("/locks/orders-2")), 0);
        QVERIFY(!hint->isVisible());
        m_backend->notifyLocks({lockOf("/locks/rather-new", 0, ChangeKind::Added)});
        QCOMPARE(hint->text(), u"↕ 1 new row waits"_s);
        m_backend->notifyLocks({lockOf("/locks/orders-2", 0)});
        QCOMPARE(page().model().rowOf(zkName("/locks/orders-2")), 0);
        movePointer(false);
        QCOMPARE(page().model().rowOf(zkName("/locks/orders-2")), 2);
    }

    // That rows wait is a hint; that a critical one is among them is not to be overlooked.
    void theHintOfACriticalRowIsRed()
    {
        const auto *hint = m_window->findChild<QPushButton *>(u"resort"_s);
        page().table().sortByColumn(ui::LockRow::Lock,
                                    Qt::AscendingOrder); // an order in which it does not come on top
        movePointer(true);
        m_backend->notifyLocks({lockOf("/locks/a", 9, ChangeKind::Added)});
        QVERIFY(hint->isVisible());
        QCOMPARE(hint->palette().color(QPalette::ButtonText), ui::Theme::tokens().link);
        auto critical = queueLock("zk", "/locks/b", 1, testing::serverTime(present));
        addFinding(critical, inspect::FindingCode::Deadlock, u"waits for itself"_s);
        m_backend->notifyLocks({change(ChangeKind::Added, critical)});
        QVERIFY2(hint->text().endsWith(u"1 critical"_s), qPrintable(hint->text()));
        QCOMPARE(hint->palette().color(QPalette::ButtonText), ui::Theme::tokens().critical);
    }

    // Asked for at a moment when it was not there: a row that waits for the pointer to leave would not be the answer.
    void requestedLockAppearsUnderThePointer()
    {
        movePointer(true);
        m_window->selectLock(zkName("/locks/late"));
        m_backend->notifyLocks({lockOf("/locks/other", 9)});
        QCOMPARE(page().model().rowOf(zkName("/locks/other")), -1);
        m_backend->notifyLocks({lockOf("/locks/late", 2)});
        verifyChosen(zkName("/locks/late"));
    }

    void aKeyHoldsTheOrderForTwoSeconds()
    {
        QTest::keyClick(&page().table(), Qt::Key_Down);
        m_backend->notifyLocks({lockOf("/locks/orders-2", 9)});
        QCOMPARE(page().model().rowOf(zkName("/locks/orders-2")), 2);
        QVERIFY(page().table().isInUse());
        m_steady += 2s;
        QVERIFY(!page().table().isInUse());
        emit page().table().inUseChanged(); // as the page's own tick asks
        QCOMPARE(page().model().rowOf(zkName("/locks/orders-2")), 0);
    }

    // --lock of a lock that is known only later, below many that come after it.
    void requestedLockStaysOnScreen()
    {
        m_window->selectLock(zkName("/locks/zebra"));
        m_backend->notifyLocks({lockOf("/locks/zebra", 0)});
        for (int i = 0; i < 60; ++i)
            m_backend->notifyLocks({lockOf("/locks/" + QByteArray::number(1000 + i), 2)});
        m_window->resize(1024, 600);
        auto &table = page().table();
        verifyChosen(zkName("/locks/zebra"));
        const auto isWhole = [&table] {
            const QRect row = table.visualRect(table.currentIndex());
            return row.top() >= 0 && row.bottom() < table.viewport()->height();
        };
        QTRY_VERIFY(isWhole());
    }

    void pauseStopsAllPagesAndSaysWhatItHoldsBack()
    {
        auto *asOf = m_window->findChild<QLabel *>(u"asOf"_s);
        ui::SystemTime now = present;
        page().setClock([&now] { return now; });
        m_window->selectLock(zkName("/locks/orders-1"));
        const auto held = [this] { return page().table().model()->index(0, ui::LockRow::Held).data().toString(); };
        auto *pause = m_window->findChild<QPushButton *>(u"pauseButton"_s);
        pause->click();
        const QString before = held();
        now += 9s;
        QVERIFY(QRegularExpression(u"^paused at \\d\\d:\\d\\d:\\d\\d · nothing changed since$"_s)
                    .match(asOf->text())
                    .hasMatch());
        Batch news;
        news.locks = {lockOf("/locks/orders-2", 9), lockOf("/locks/new", 0), lockOf("/locks/orders-1", 0)};
        news.sessions = {{ConnectionName("zk"), std::vector<inspect::SessionSnapshot>(1)}};
        news.sessions[0].sessions[0].connection = ConnectionName("zk");
        operate::LogEntry entry;
        entry.number = 1;
        news.log = {entry};
        m_backend->tell(news);
        QCOMPARE(page().model().rowCount(), 3);
        QCOMPARE(page().detail().snapshot()->waiterCount(), 1);
        QCOMPARE(held(), before);
        QVERIFY(asOf->text().endsWith(u" · 3 changes wait"_s));
        QCOMPARE(m_window->findChild<ui::SessionsPage *>()->findChild<QTreeView *>()->model()->rowCount(), 0);
        // What is done is done to what is there now, and whether it may be done is never old.
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        status.readOnly = true;
        status.asOf += 1h;
        m_backend->notifyConnection(status);
        QVERIFY(m_window->connections().find(ConnectionName("zk"))->readOnly);
        QCOMPARE(m_window->connections().find(ConnectionName("zk"))->asOf, present);
        pause->click();
        QCOMPARE(page().model().rowCount(), 4);
        QCOMPARE(page().detail().snapshot()->waiterCount(), 0);
        QCOMPARE(m_window->findChild<ui::SessionsPage *>()->findChild<QTreeView *>()->model()->rowCount(), 1);
        QVERIFY(held() != before);
        QVERIFY(asOf->text().startsWith(u"as of "_s));
        QCOMPARE(m_window->connections().find(ConnectionName("zk"))->asOf, present + 1h);
        page().setClock([] { return present; });
    }

    // Those that Shift and Ctrl chose are one act, with a form of its own; they stay chosen while rows change.
    void severalChosenLocksAreReleasedTogether()
    {
        auto &table = page().table();
        const auto click = [&table](const QByteArray &path, Qt::KeyboardModifiers keys) {
            const auto row = table.visualRect(table.model()->index(
                static_cast<const ui::LocksModel *>(table.model())->rowOf(zkName(path)), ui::LockRow::Lock));
            QTest::mouseClick(table.viewport(), Qt::LeftButton, keys, QPoint(row.center().x(), row.bottom() - 4));
        };
        click("/locks/orders-1", Qt::NoModifier);
        QVERIFY(!m_window->dialogs().areSeveralChosen());
        click("/locks/orders-2", Qt::ControlModifier);
        QVERIFY(m_window->dialogs().areSeveralChosen());
        QCOMPARE(page().currentLock(), std::optional(zkName("/locks/orders-2")));
        QTRY_VERIFY(part<ui::FootBar>("footBar")->shown().contains(u"R Release 2 locks"_s));
        m_backend->notifyLocks({lockOf("/locks/orders-1", 4), lockOf("/locks/another", 0, ChangeKind::Added)});
        QCOMPARE(table.chosenRows().size(), 2u);
        QTest::keyClick(&table, Qt::Key_R);
        auto *form = m_window->findChild<ui::BulkDialog *>();
        QVERIFY(form);
        QStringList locks;
        const auto *targets = form->findChild<QTreeView *>()->model();
        for (int row = 0; row < targets->rowCount(); ++row)
            locks << targets->index(row, ui::BulkModel::Lock).data().toString();
        QCOMPARE(locks, (QStringList{u"zk:/locks/orders-1"_s, u"zk:/locks/orders-2"_s}));
        QVERIFY(hasText(*form, u"All that is held of the 2 chosen locks."_s));
        form->reject();
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        // What is left of several is what is acted on, also where Ctrl took the last one away.
        click("/locks/orders-1", Qt::ControlModifier);
        verifyChosen(zkName("/locks/orders-2"));
        click("/locks/orders-2", Qt::ControlModifier);
        verifyChosen(zkName("/locks/orders-2"));
        click("/locks/orders-1", Qt::NoModifier);
        QTRY_VERIFY(part<ui::FootBar>("footBar")->shown().contains(u"R Release"_s));
        QTest::keyClick(&table, Qt::Key_R);
        QVERIFY(m_window->findChild<ui::ForceReleaseDialog *>());
    }

    // What is a lock by guess only, or an election, is looked at by itself, and the form says that it is left out.
    void locksThatNeedALookAreLeftOutByName()
    {
        auto guessed = lockOf("/locks/guessed", 0, ChangeKind::Added);
        guessed.lock.confidence = inspect::Confidence::Low;
        m_backend->notifyLocks({guessed});
        page().table().selectAll();
        m_window->actions().find(u"force-release"_s)->trigger();
        auto *form = m_window->findChild<ui::BulkDialog *>();
        QVERIFY(form);
        QVERIFY(hasText(*form, u"All that is held of the 4 chosen locks. Left out, as each needs a look of its own: "
                               "/locks/guessed."_s));
    }

    // By then the connection may lead elsewhere: each says on which server it was seen to hold.
    void severalAreOfTheServerThatWasShown()
    {
        m_window->actions().find(u"release-listed"_s)->trigger();
        auto *dialog = m_window->findChild<QDialog *>(u"bulkDialog"_s);
        QVERIFY(dialog);
        const auto shown = m_window->connections().find(ConnectionName("zk"))->uri;
        auto elsewhere = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        elsewhere.uri = u"zk://other:2181"_s;
        m_backend->notifyConnection(elsewhere);
        dialog->findChild<QLineEdit *>(u"typeCount"_s)->setText(u"3"_s);
        QCOMPARE(dialog->findChild<QLabel *>(u"obstacle"_s)->text(), QString());
        dialog->findChild<QPushButton *>(u"releaseButton"_s)->click();
        QCOMPARE(m_backend->last<BulkRelease>()->targets.size(), std::size_t(3));
        for (const auto &target : m_backend->last<BulkRelease>()->targets)
            QCOMPARE(target.server, shown);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowSelection)
#include "tst_window_selection.moc"
