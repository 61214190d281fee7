// SPDX-License-Identifier: Apache-2.0
// The page of locks: incidents above the list, the list beside the lock or above it, connections as groups.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/parts/notices.h"
#include "ui/parts/tabletools.h"
#include "ui/views/incidentlist.h"
#include "ui/views/lockstable.h"
#include "ui/views/timelineview.h"

#include <QClipboard>
#include <QHeaderView>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSplitter>

using inspect::ChangeKind;
using inspect::FindingCode;
using inspect::LockName;

namespace {

// Each of two clients holds one of two locks and waits for the other.
std::vector<inspect::SnapshotChange> crossedLocks()
{
    auto alice = testing::queueLock("zk", "/locks/alice", 1, testing::serverTime(testing::present));
    auto bob = testing::queueLock("zk", "/locks/bob", 1, testing::serverTime(testing::present));
    std::swap(bob.contenders[0].session, bob.contenders[1].session);
    std::swap(bob.contenders[0].endpoint, bob.contenders[1].endpoint);
    return {testing::change(ChangeKind::Added, alice), testing::change(ChangeKind::Added, bob)};
}

} // namespace

class TestLocksPage : public testing::WindowFixture {
    Q_OBJECT

    static LockName zkName(const QByteArray &name) { return {ConnectionName("zk"), name}; }
    ui::IncidentList &list() { return *page().findChild<ui::IncidentList *>(); }
    QStringList kinds()
    {
        QStringList all;
        for (const auto *entry : list().entries())
            all << ui::textOf(entry->incident()).kind;
        return all;
    }
    static inspect::SnapshotChange immortal(const QByteArray &path)
    {
        auto lock = testing::queueLock("zk", path, 0, testing::serverTime(testing::present));
        addFinding(lock, FindingCode::NoTtl, u"never expires"_s, {lock.contenders[0].id});
        return testing::change(ChangeKind::Changed, lock);
    }

private slots:
    void theWorstIncidentIsChosenAtStart()
    {
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 3), lockOf("/locks/quiet", 0)});
        QTRY_COMPARE(page().currentLock(), std::optional(zkName("/locks/orders"))); // no incident: what waits longest
        QVERIFY(!list().isVisible());
        m_backend->notifyLocks({immortal("/locks/stuck")});
        QTRY_COMPARE(kinds(), QStringList{u"No expiry"_s});
        QVERIFY(list().isVisible());
        QTRY_COMPARE(page().currentLock(), std::optional(zkName("/locks/stuck")));
    }

    // A new incident takes its room from above the list; the row below the pointer stays below it.
    void anIncidentMovesNoRowUnderThePointer()
    {
        notifyConnected();
        std::vector<inspect::SnapshotChange> many;
        for (int i = 0; i < 60; ++i)
            many.push_back(lockOf("/locks/" + QByteArray::number(1000 + i), 0));
        m_backend->notifyLocks(many);
        auto &table = page().table();
        table.verticalScrollBar()->setValue(table.verticalScrollBar()->maximum() / 2);
        const QPoint pointer(40, table.viewport()->height() - 60);
        QEnterEvent over(pointer, pointer, table.viewport()->mapToGlobal(pointer));
        QApplication::sendEvent(table.viewport(), &over);
        const auto before = page().model().snapshotAt(table.rowAt(pointer.y())).lock;
        const auto y = [&] {
            return table.viewport()
                ->mapTo(m_window.get(), QPoint(0, table.rowViewportPosition(page().model().rowOf(before))))
                .y();
        };
        const int then = y(), top = table.mapTo(m_window.get(), QPoint()).y();
        m_backend->notifyLocks({immortal("/locks/stuck")});
        QTRY_VERIFY(table.mapTo(m_window.get(), QPoint()).y() > top); // the incident is there
        QCOMPARE(y(), then);
    }

    // What cannot be released can be asked for.
    void aLostWakeUpIsAskedAbout()
    {
        notifyConnected();
        auto lock = testing::queueLock("zk", "/locks/orders", 2, testing::serverTime(testing::present));
        addFinding(lock, FindingCode::LostWakeup, u"was not notified"_s, {lock.contenders[1].id});
        m_backend->notifyLocks({testing::change(ChangeKind::Added, lock)});
        QTRY_COMPARE(kinds(), QStringList{u"Lost wake-up"_s});
        auto *ask = list().entries().front()->findChild<QPushButton *>();
        QCOMPARE(ask->text(), u"Ask…"_s);
        QTest::mouseClick(ask, Qt::LeftButton);
        auto *message = m_window->findChild<QMessageBox *>(u"askMessage"_s);
        QVERIFY(message);
        QVERIFY2(message->text().contains(u"lockscope://open?connection=zk&lock=%2Flocks%2Forders"_s),
                 qPrintable(message->text()));
        message->defaultButton()->click();
        QCOMPARE(QGuiApplication::clipboard()->text(), message->text());
    }

    void aChosenLockStaysChosen()
    {
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 3), immortal("/locks/stuck")});
        m_window->selectLock(zkName("/locks/orders"));
        m_backend->notifyLocks(crossedLocks());
        QTRY_COMPARE(kinds(), (QStringList{u"Deadlock"_s, u"No expiry"_s})); // the worst first
        QCOMPARE(page().currentLock(), std::optional(zkName("/locks/orders")));
        list().entries().front()->setFocus();
        QTest::keyClick(list().entries().front(), Qt::Key_Return);
        QVERIFY(page().currentLock()->name.startsWith("/locks/"));
        QVERIFY(page().currentLock() != zkName("/locks/orders"));
    }

    // Of a deadlock the form is opened for the client that the incident names, not for the chosen lock's holder.
    void aDeadlockIsBrokenForItsVictim()
    {
        notifyConnected();
        planReleases(1);
        m_backend->notifyLocks(crossedLocks());
        QTRY_COMPARE(kinds(), QStringList{u"Deadlock"_s});
        const auto &incident = list().entries().front()->incident();
        const auto *place = ui::placeToRelease(incident);
        QVERIFY(place);
        const auto other = place->lock == zkName("/locks/alice") ? zkName("/locks/bob") : zkName("/locks/alice");
        m_window->selectLock(other);
        list().entries().front()->findChild<QPushButton *>()->click();
        QVERIFY(m_window->findChild<ui::ForceReleaseDialog *>());
        QCOMPARE(page().currentLock(), std::optional(place->lock));
        QCOMPARE(page().detail().chosen(), place->contender);
        QVERIFY2(m_backend->calls.last().startsWith(u"planForceRelease "_s + QString::fromUtf8(place->lock.text())),
                 qPrintable(m_backend->calls.last()));
    }

    // Incidents are a moment old: the client that holds the lock by now may be another.
    void aReleaseIsNotOfferedForTheNextHolder()
    {
        notifyConnected();
        planReleases(1);
        m_backend->notifyLocks({immortal("/locks/stuck")});
        QTRY_COMPARE(kinds(), QStringList{u"No expiry"_s});
        auto *button = list().entries().front()->findChild<QPushButton *>();
        auto next = testing::queueLock("zk", "/locks/stuck", 0, testing::serverTime(testing::present));
        next.contenders[0].id = "another";
        m_backend->notifyLocks({testing::change(ChangeKind::Changed, next)});
        button->click(); // before the next look
        QCOMPARE(page().currentLock(), std::optional(zkName("/locks/stuck")));
        QVERIFY(!m_window->findChild<ui::ForceReleaseDialog *>());
    }

    // The button acts on the incident that was there when it was pressed.
    void aButtonActsOnWhatWasPressed()
    {
        notifyConnected();
        m_backend->notifyLocks({immortal("/locks/stuck")});
        QTRY_COMPARE(kinds(), QStringList{u"No expiry"_s});
        QSignalSpy acted(&list(), &ui::IncidentList::actRequested);
        auto *button = list().entries().front()->findChild<QPushButton *>();
        button->setDown(true);
        emit button->pressed();
        m_backend->notifyLocks(crossedLocks()); // comes above it
        QTRY_COMPARE(kinds().first(), u"Deadlock"_s);
        emit button->clicked();
        QCOMPARE(acted.size(), 1);
        QCOMPARE(acted[0][0].value<inspect::Incident>().code, FindingCode::NoTtl);
    }

    // Who works in the lock keeps it, whatever is worse.
    void aLockInUseIsNotReplaced()
    {
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 3)});
        QTRY_COMPARE(page().currentLock(), std::optional(zkName("/locks/orders")));
        page().detail().focusQueue();
        m_backend->notifyLocks({immortal("/locks/stuck")});
        QTRY_COMPARE(kinds(), QStringList{u"No expiry"_s});
        QCOMPARE(page().currentLock(), std::optional(zkName("/locks/orders")));
    }

    // The banner of the lock has the same action, and what follows from the incident is folded into it.
    void theBannerFoldsWhatFollows()
    {
        notifyConnected();
        auto changes = crossedLocks();
        for (auto &each : changes)
            addAgeFindings(each.lock, {});
        QVERIFY(!changes[0].lock.findings.empty()); // that they wait for long
        m_backend->notifyLocks(changes);
        m_window->selectLock(zkName("/locks/alice"));
        auto *banner = page().detail().findChild<ui::Banner *>(u"incidentBanner"_s);
        QTRY_VERIFY(banner->isVisible());
        QCOMPARE(banner->button()->text(), u"Break…"_s);
        int visible = 0;
        for (const auto *each : page().detail().findChildren<ui::Banner *>())
            visible += each->isVisible();
        QCOMPARE(visible, 1);
    }

    void listAndLockStandSideBySideWhereThereIsWidth()
    {
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 3)});
        const auto *splitter = qobject_cast<QSplitter *>(page().detail().parentWidget());
        m_window->resize(1440, 900);
        QTRY_COMPARE(splitter->orientation(), Qt::Horizontal);
        QVERIFY(!page().table().horizontalHeader()->isVisible());
        QVERIFY(page().detail().findChild<ui::TimelineView *>()->isVisible()); // always, not as a tab
        m_window->resize(880, 700);
        QTRY_COMPARE(splitter->orientation(), Qt::Vertical);
        QVERIFY(page().detail().findChild<ui::TimelineView *>()->isHidden());
    }

    void rowsOfAConnectionStandTogetherBelowItsHead()
    {
        m_window->resize(1440, 900);
        for (const auto *name : {"zk", "a"})
            m_backend->notifyConnection(testing::connectedStatus(name, Scheme::ZooKeeper, false, m_now));
        m_backend->notifyLocks(
            {lockOf("/locks/orders", 3), lockOf("/locks/quiet", 0),
             testing::change(ChangeKind::Added,
                             testing::queueLock("a", "/x", 1, testing::serverTime(testing::present)))});
        QTRY_COMPARE(page().model().groupStarts(), (std::vector<int>{0, 1}));
        const auto height = [this](int row) { return page().table().rowHeight(row); };
        QCOMPARE(height(0), ui::stackedRowHeight + ui::groupHeadHeight);
        QCOMPARE(height(1), ui::stackedRowHeight + ui::groupHeadHeight);
        QCOMPARE(height(2), ui::stackedRowHeight);
        m_backend->notifyLocks({lockOf("/locks/orders", 3, ChangeKind::Removed)});
        QTRY_COMPARE(page().model().rowCount(), 2);
        QCOMPARE(height(1), ui::stackedRowHeight + ui::groupHeadHeight);
    }

    // What two lines do not show is exported all the same.
    void exportHasEveryColumn()
    {
        m_window->resize(1440, 900);
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 3)});
        const auto lines = page().table().tools().csv().split('\n');
        QVERIFY2(lines[0].startsWith("State,Lock,Recipe,Holder,Waiting,"), lines[0].constData());
        QVERIFY2(lines[1].contains(",/locks/orders,curator-mutex,"), lines[1].constData());
    }

    // What no lock explains is a row below the list, and what it opens names all of it.
    void unexplainedEntriesAreNamedBelowTheList()
    {
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 3)});
        auto *gaps = page().findChild<QWidget *>(u"gaps"_s);
        QVERIFY(!gaps->isVisible());
        inspect::Coverage coverage{ConnectionName("zk"), true, u"every znode"_s};
        coverage.unexplained.push_back({.count = 3, .text = u"3 znodes of /hbase end with a session"_s});
        m_backend->tell({.coverage = {{ConnectionName("zk"), {coverage}}}});
        notifyConnected(true);
        QTRY_VERIFY(gaps->isVisible());
        QVERIFY2(gaps->findChild<QLabel *>()->text().contains(u"3 znodes of /hbase"_s),
                 qPrintable(gaps->findChild<QLabel *>()->text()));
        gaps->findChild<QPushButton *>()->click();
        QVERIFY(!page().isVisible()); // the page of findings has all of it
    }

    void nothingCanBeDoneInThePast()
    {
        ui::IncidentEntry entry;
        inspect::Incident incident;
        incident.code = FindingCode::NoTtl;
        incident.target.push_back({zkName("/a"), "x", std::nullopt});
        entry.setIncident(incident);
        auto *button = entry.findChild<QPushButton *>();
        QCOMPARE(button->text(), u"Release…"_s);
        QVERIFY(button->isVisibleTo(&entry));
        entry.setPast(true);
        QVERIFY(!button->isVisibleTo(&entry));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestLocksPage)
#include "tst_locks_page.moc"
