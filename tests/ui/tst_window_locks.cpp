// SPDX-License-Identifier: Apache-2.0
// A walk through the window: locks appear, one is chosen, acquired, force-released, lost.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/acquiredialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/pages/lockdetail.h"
#include "ui/parts/notices.h"
#include "ui/shell/connectionchooser.h"
#include "ui/parts/labels.h"
#include "ui/views/holdspanel.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"

#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>

using inspect::ChangeKind;
using inspect::LockName;
using inspect::LockSnapshot;

namespace {

const LockName orders{ConnectionName("zk"), "/locks/orders"};

LockSnapshot ordersLock(int waiters = 3)
{
    return queueLock("zk", "/locks/orders", waiters, testing::serverTime(present));
}

// The same lock after its holder let go.
LockSnapshot movedUp(LockSnapshot lock)
{
    lock.contenders.erase(lock.contenders.begin());
    auto &head = lock.contenders.front();
    head.role = inspect::Role::Holder;
    head.heldSince = lock.observed;
    head.waitingSince.reset();
    head.watches.clear();
    for (std::size_t i = 0; i < lock.contenders.size(); ++i)
        lock.contenders[i].position = static_cast<int>(i);
    return lock;
}

operate::ForceReleasePlan planOf(const LockSnapshot &lock)
{
    operate::ForceReleasePlan plan{
        .before = lock, .holder = lock.contenders[0].id, .guard = lock.contenders[0].guard};
    plan.commands = {u"delete /locks/orders/%1 version 0"_s.arg(QString::fromLatin1(plan.holder))};
    plan.guardText = u"czxid 0x4e2 and owner 0x1000009b4890001, read again right before"_s;
    plan.nextHolder = lock.contenders[1].id;
    plan.wakes = u"1 waiter, by the deletion; nothing else to publish"_s;
    plan.alternatives = {u"have the client at 10.0.3.7:56332 release it, or stop it"_s};
    plan.staleHolder = u"the old holder may still act as if it holds the lock"_s;
    return plan;
}

} // namespace

class TestWindowLocks : public testing::WindowFixture {
    Q_OBJECT

    ui::LockDetail &detail() { return page().detail(); }
    QString answer() { return part<ui::AnswerLabel>("answer")->sentence(); }

    void breakConnection()
    {
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, true, present);
        status.state = ConnectionStatus::State::Broken;
        status.message = u"connection refused"_s;
        m_backend->notifyConnection(status);
    }
    ui::ForceReleaseDialog *openForceRelease()
    {
        part<QPushButton>("forceReleaseButton")->click(); // wherever the layout has put it by now
        return part<ui::ForceReleaseDialog>("forceReleaseDialog");
    }

private slots:
    void locksAppearAndOneIsChosen()
    {
        notifyConnected(true, true);
        m_backend->notifyLocks({lockOf("/a", 0), change(ChangeKind::Added, ordersLock())});
        QCOMPARE(page().table().model()->rowCount(), 2);
        page().focusContent(); // the first row: what waits longest
        QCOMPARE(page().currentLock(), std::optional(orders));
        QCOMPARE(answer(), u"/locks/orders is held by 10.0.3.7 for 4 m 12 s; 3 wait, the oldest 3 m 58 s"_s);
        auto *queue = part<ui::QueueTable>("queueTable");
        QStringList who;
        for (int row = 0; row < queue->model()->rowCount(); ++row)
            who << queue->model()->index(row, ui::QueueModel::Place).data().toString();
        QCOMPARE(who, (QStringList{u"holds"_s, u"1"_s, u"2"_s, u"3"_s}));
        QCOMPARE(part<QLabel>("nextOwner")->text(),
                 u"On release, 10.0.3.8:56315 acquires it (woken by the deletion of …0041)."_s);

        QTest::keyClick(&page().table(), Qt::Key_Down);
        QCOMPARE(page().currentLock()->name, "/a");
        QTest::keyClick(&page().table(), Qt::Key_Up);
        QTest::keyClick(&page().table(), Qt::Key_Return);
        QCOMPARE(QApplication::focusWidget(), queue);
    }

    void lockAskedForBeforeItIsKnownIsShownWhenItComes()
    {
        notifyConnected(true, true);
        m_window->selectLock(orders);
        QVERIFY(!detail().snapshot());
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock())});
        QVERIFY(detail().snapshot());
        QVERIFY(page().table().currentIndex().isValid());
    }

    void selectionAndScrollSurviveAThousandUpdates()
    {
        notifyConnected(true, true);
        std::vector<inspect::SnapshotChange> many;
        for (int i = 0; i < 300; ++i)
            many.push_back(change(ChangeKind::Added, queueLock("zk", "/l/" + QByteArray::number(1000 + i), 0,
                                                               testing::serverTime(present))));
        m_backend->notifyLocks(many);
        const LockName chosen{ConnectionName("zk"), "/l/1150"};
        m_window->selectLock(chosen);
        auto &table = page().table();
        const int y = table.rowViewportPosition(page().model().rowOf(chosen));
        QVERIFY(table.verticalScrollBar()->value() > 0);
        for (int i = 0; i < 1000; ++i) {
            // Others come, go, and climb to the top of the list.
            const auto path = "/l/" + QByteArray::number(1000 + i * 37 % 150);
            const auto kind = i % 3 == 0 ? ChangeKind::Removed : ChangeKind::Changed;
            m_backend->notifyLocks({change(kind, queueLock("zk", path, i % 5, testing::serverTime(present)))});
        }
        QCOMPARE(page().currentLock(), std::optional(chosen));
        const int row = page().model().rowOf(chosen);
        QCOMPARE(table.currentIndex().row(), row);
        QVERIFY(table.selectionModel()->isRowSelected(row));
        QCOMPARE(table.rowViewportPosition(row), y);
        QCOMPARE(detail().snapshot()->lock, chosen);
    }

    void goneLockSaysSoAndChoosesNoNeighbour()
    {
        notifyConnected(true, true);
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock()), lockOf("/a", 0)});
        m_window->selectLock(orders);
        m_backend->notifyLocks({change(ChangeKind::Removed, ordersLock())});
        QCOMPARE(answer(), u"/locks/orders is gone: no node of it is left"_s);
        QVERIFY(!page().table().selectionModel()->hasSelection());
        QVERIFY(!part<QPushButton>("forceReleaseButton")->isEnabled());
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock())});
        QVERIFY(answer().startsWith(u"/locks/orders is held by"_s));
        QVERIFY(page().table().selectionModel()->hasSelection());
    }

    void brokenConnectionGreysTheViewAndComesBack()
    {
        notifyConnected(true, true);
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock())});
        m_window->selectLock(orders);
        auto *veil = detail().findChild<ui::StaleOverlay *>();
        QVERIFY(!veil->isVisible());
        breakConnection();
        QVERIFY(veil->isVisible());
        auto *banner = part<ui::Banner>("brokenBanner");
        QVERIFY(banner);
        QVERIFY(banner->sentence().startsWith(u"as of "_s));
        QVERIFY(banner->sentence().contains(u"connection refused"_s));
        QVERIFY(page().model().isFrozen(ConnectionName("zk")));
        QCOMPARE(page().table().model()->rowCount(), 1); // what was seen stays
        notifyConnected(true, true);
        QVERIFY(!veil->isVisible());
        QVERIFY(!banner->isVisible());
        QVERIFY(!page().model().isFrozen(ConnectionName("zk")));
    }

    void forceReleaseOnProductionNeedsTheName()
    {
        notifyConnected(true);
        const auto lock = ordersLock();
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(orders);
        m_backend->on<PlanRelease>() = [&](const PlanRelease &) { return planOf(lock); };
        m_backend->on<ForceRelease>() = [&](const ForceRelease &) {
            return operate::ForceReleaseOutcome{true, movedUp(lock), u"/locks/orders was released from 10.0.3.7"_s};
        };
        auto *dialog = openForceRelease();
        QVERIFY(dialog);
        auto *release = dialog->findChild<QPushButton *>(u"releaseButton"_s);
        QTRY_VERIFY(release->isVisible());
        QCOMPARE(release->text(), u"Release from 10.0.3.7"_s);
        QCOMPARE(dialog->facts().valueOf(u"Next owner"_s),
                 u"10.0.3.8:56315 · …0042, waiting 3 m 58 s; 2 more behind it"_s);
        QVERIFY(dialog->facts().valueOf(u"Will be sent"_s).startsWith(u"delete /locks/orders/_c_"_s));
        QVERIFY(!release->isEnabled());
        auto *typed = dialog->findChild<QLineEdit *>(u"typeName"_s);
        auto *reason = dialog->findChild<QLineEdit *>(u"reason"_s);
        QTest::keyClicks(reason, u"INC-4411 it's stuck"_s);
        QTest::keyClicks(typed, u"/locks/order"_s);
        QVERIFY(!release->isEnabled());
        typed->setFocus();
        typed->deselect();
        QTest::keyClick(typed, Qt::Key_Return); // Enter goes on, and releases nothing
        QTest::keyClicks(typed, u"s"_s);
        QVERIFY(release->isEnabled());
        QVERIFY(dialog->asCommand().endsWith(u"--reason 'INC-4411 it'\\''s stuck'"_s));
        QVERIFY(!m_backend->last<ForceRelease>());
        QTest::mouseClick(release, Qt::LeftButton);
        QVERIFY(m_backend->last<ForceRelease>());
        QCOMPARE(m_backend->last<ForceRelease>()->plan.guard.znode().czxid, lock.contenders[0].guard.znode().czxid);
        QCOMPARE(m_backend->last<ForceRelease>()->reason, u"INC-4411 it's stuck"_s);
        auto *state = dialog->findChild<ui::Banner *>(u"stateBanner"_s);
        QTRY_VERIFY(state->sentence().contains(u"was released from 10.0.3.7"_s));
        QVERIFY(state->sentence().contains(u"Read again: /locks/orders is held by 10.0.3.8"_s));
        QVERIFY(!release->isVisible());
    }

    void forceReleaseSaysWhenTheSecondReadingDiffers()
    {
        notifyConnected();
        const auto lock = ordersLock();
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(orders);
        m_backend->on<PlanRelease>() = [&](const PlanRelease &) { return planOf(lock); };
        m_backend->on<ForceRelease>() = [](const ForceRelease &) -> Result<operate::ForceReleaseOutcome> {
            return Error{ErrorCode::Refused, u"10.0.3.8 holds it by now"_s};
        };
        auto *dialog = openForceRelease();
        auto *release = dialog->findChild<QPushButton *>(u"releaseButton"_s);
        QTRY_VERIFY(release->isVisible());
        QVERIFY(!dialog->findChild<QLineEdit *>(u"typeName"_s)->isVisible()); // not production
        QTest::mouseClick(release, Qt::LeftButton);
        auto *state = dialog->findChild<ui::Banner *>(u"stateBanner"_s);
        QTRY_COMPARE(state->sentence(), u"10.0.3.8 holds it by now"_s);
        QVERIFY(!release->isVisible());
        QVERIFY(dialog->findChild<QPushButton *>(u"lookAgain"_s)->isVisible());
    }

    // As of a prepared transaction: nothing of an old holder's next statement is shown.
    void planWithoutAClientShowsNoDanger()
    {
        notifyConnected();
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock())});
        m_window->selectLock(orders);
        for (const bool hasClient : {true, false}) {
            m_backend->on<PlanRelease>() = [hasClient](const PlanRelease &) {
                auto plan = planOf(ordersLock());
                return hasClient ? plan : (plan.staleHolder.clear(), plan);
            };
            const std::unique_ptr<ui::ForceReleaseDialog> dialog(openForceRelease());
            QTRY_VERIFY(dialog->findChild<QPushButton *>(u"releaseButton"_s)->isVisible());
            const auto banners = dialog->findChildren<ui::Banner *>();
            QCOMPARE(std::ranges::any_of(banners,
                                         [](const auto *banner) {
                                             return banner->isVisible()
                                                    && banner->sentence().startsWith(u"Most clients"_s);
                                         }),
                     hasClient);
        }
    }

    void ambiguousHolderIsReleasedOnlyAtARisk()
    {
        notifyConnected();
        const auto lock = ordersLock();
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(orders);
        m_backend->on<PlanRelease>() = [&](const PlanRelease &) {
            auto plan = planOf(lock);
            plan.exact = false;
            plan.risk = u"the value \"1\" is not unique to this holder"_s;
            plan.warnings << plan.risk;
            return plan;
        };
        auto *dialog = openForceRelease();
        auto *release = dialog->findChild<QPushButton *>(u"releaseButton"_s);
        QTRY_VERIFY(release->isVisible());
        auto *accept = dialog->findChild<QCheckBox *>(u"acceptRisk"_s);
        QVERIFY(accept->isVisible() && !accept->isChecked());
        QVERIFY(!release->isEnabled());
        QVERIFY(dialog->findChild<QLabel *>(u"obstacle"_s)->text().contains(u"checkbox"_s));
        QVERIFY(dialog->asCommand().contains(u"--not-exact"_s));
        accept->click();
        QVERIFY(release->isEnabled());
        QTest::mouseClick(release, Qt::LeftButton);
        QVERIFY(m_backend->last<ForceRelease>() && m_backend->last<ForceRelease>()->plan.isRiskAccepted);
    }

    void readOnlyShowsTheFormAndSaysWhyNot()
    {
        notifyConnected(true, true);
        const auto lock = ordersLock();
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(orders);
        m_backend->on<PlanRelease>() = [&](const PlanRelease &) { return planOf(lock); };
        auto *dialog = openForceRelease();
        auto *release = dialog->findChild<QPushButton *>(u"releaseButton"_s);
        QTRY_VERIFY(release->isVisible());
        QTest::keyClicks(dialog->findChild<QLineEdit *>(u"typeName"_s), u"/locks/orders"_s);
        QTest::keyClicks(dialog->findChild<QLineEdit *>(u"reason"_s), u"INC-4411"_s);
        QVERIFY(!release->isEnabled());
        QVERIFY(dialog->findChild<QLabel *>(u"obstacle"_s)->text().contains(u"read-only"_s));
        notifyConnected(true); // armed meanwhile
        QVERIFY(release->isEnabled());
        breakConnection();
        QVERIFY(!release->isEnabled());
    }

    void waitingForAnAlternativeSendsNothing()
    {
        notifyConnected(true);
        auto lock = ordersLock();
        lock.contenders[0].expiresAt = lock.observed + 30s; // it ends by itself
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(orders);
        m_backend->on<PlanRelease>() = [&](const PlanRelease &) { return planOf(lock); };
        auto *dialog = openForceRelease();
        QTRY_VERIFY(dialog->findChild<QPushButton *>(u"releaseButton"_s)->isVisible());
        for (auto *button : dialog->findChildren<QPushButton *>()) {
            if (button->text() == u"Wait for it"_s)
                QTest::mouseClick(button, Qt::LeftButton);
        }
        auto *state = dialog->findChild<ui::Banner *>(u"stateBanner"_s);
        QVERIFY(state->sentence().startsWith(u"Nothing was sent."_s));
        m_backend->notifyLocks({change(ChangeKind::Changed, movedUp(lock))});
        QVERIFY(state->sentence().startsWith(u"/locks/orders is held by 10.0.3.8"_s));
        QVERIFY(!m_backend->last<ForceRelease>());
    }

    void armingProductionIsAskedFor()
    {
        notifyConnected(true, true);
        m_window->selectLock(orders);
        const auto *header = part<ui::ConnectionChooser>("environment");
        QCOMPARE(header->state(), u"read-only · 0 writes sent"_s);
        emit header->list().readOnlyRequested(ConnectionName("zk"), false);
        auto *question = part<QMessageBox>("armQuestion");
        QVERIFY(question);
        QVERIFY(!m_backend->wasCalled(u"setReadOnly zk false"_s));
        for (auto *button : question->buttons()) {
            if (question->buttonRole(button) == QMessageBox::AcceptRole)
                QTest::mouseClick(button, Qt::LeftButton);
        }
        QVERIFY(m_backend->wasCalled(u"setReadOnly zk false"_s));
        notifyConnected(true);
        QVERIFY(header->state().startsWith(u"writes allowed"_s));
    }

    void acquireHoldLose()
    {
        notifyConnected();
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock())});
        m_window->selectLock(orders);
        part<QPushButton>("acquireButton")->click();
        auto *dialog = part<ui::AcquireDialog>("acquireDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->request()->recipe, "curator-mutex"); // queues with Curator's clients
        auto *name = dialog->findChild<QLineEdit *>(u"lockName"_s);
        auto *acquire = dialog->findChild<QPushButton *>(u"acquire"_s);
        name->setText(u"locks"_s);
        QVERIFY(!acquire->isEnabled());
        name->setText(u"/"_s);
        QVERIFY(!acquire->isEnabled());
        name->setText(u"/locks/orders/"_s); // as it is pasted from a shell
        QVERIFY(acquire->isEnabled());
        QCOMPARE(dialog->request()->lock.name, "/locks/orders");
        dialog->findChild<QLineEdit *>(u"wait"_s)->setText(u"2m"_s);
        QTest::mouseClick(acquire, Qt::LeftButton);
        QVERIFY(m_backend->last<AcquireLock>());
        QCOMPARE(m_backend->last<AcquireLock>()->request.wait, std::optional(std::chrono::milliseconds(120'000)));

        auto *holds = part<ui::HoldsPanel>("holdsPanel");
        Hold hold{.id = 1, .request = m_backend->last<AcquireLock>()->request, .since = present};
        m_backend->notifyHold(hold);
        QVERIFY(holds->isVisible());
        QCOMPARE(page().model().counts().mine, 1);
        hold.state = Hold::State::Held;
        hold.fencingToken = 1250;
        m_backend->notifyHold(hold);
        const auto labels = holds->findChildren<QLabel *>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), // as the lock's detail writes it
                            [](const QLabel *one) { return one->text().endsWith(u"fencing token 0x4e2"_s); }));
        const auto press = [&](const QString &text) {
            for (auto *button : holds->findChildren<QPushButton *>()) {
                if (button->text() == text)
                    QTest::mouseClick(button, Qt::LeftButton);
            }
        };
        press(u"Release"_s);
        QVERIFY(m_backend->wasCalled(u"release 1"_s));
        hold.state = Hold::State::Lost;
        hold.message = u"somebody deleted its node"_s;
        m_backend->notifyHold(hold);
        QVERIFY(holds->isVisible()); // until it was read
        QCOMPARE(page().model().counts().mine, 0);
        press(u"Dismiss"_s);
        QVERIFY(!holds->isVisible());
    }

    void emptyStatesTeach()
    {
        const auto says = [this](const QString &text) {
            for (const auto *label : page().findChildren<QLabel *>()) {
                if (label->isVisible() && label->text().contains(text))
                    return true;
            }
            return false;
        };
        QVERIFY(says(u"Nothing is connected"_s));
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        status.progress.firstSnapshotComplete = false;
        m_backend->notifyConnection(status);
        QVERIFY(says(u"Looking for locks"_s));
        notifyConnected();
        QVERIFY(says(u"No locks here now"_s));
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock())});
        QVERIFY(!says(u"No locks here now"_s));
        page().setFilter(u"nothing like this"_s);
        QVERIFY(says(u"No lock matches “nothing like this”"_s));
        page().setFilter({});
        QCOMPARE(page().table().model()->rowCount(), 1);
    }

    void keysMoveThroughTheWindow()
    {
        notifyConnected(true, true);
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock()), lockOf("/a", 0)});
        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
        auto *find = part<QLineEdit>("find");
        QCOMPARE(QApplication::focusWidget(), find);
        QTest::keyClicks(find, u"orders"_s);
        QTest::keyClick(find, Qt::Key_Return);
        QCOMPARE(page().table().model()->rowCount(), 1);
        QCOMPARE(QApplication::focusWidget(), &page().table());
        QTest::keyClick(find, Qt::Key_Escape);
        QTRY_COMPARE(page().table().model()->rowCount(), 2);
        QTest::keyClick(&page().table(), Qt::Key_Space);
        QCOMPARE(part<QPushButton>("pauseButton")->accessibleName(), u"Resume"_s);
        for (const auto &name : {u"znodes"_s, u"keys"_s, u"sessions"_s, u"log"_s, u"locks"_s})
            QVERIFY(m_window->showPage(name));
        QVERIFY(!m_window->showPage(u"nowhere"_s));
    }

    void noteIsTheIncidentNote()
    {
        notifyConnected(true, true);
        m_backend->notifyLocks({change(ChangeKind::Added, ordersLock(1))});
        m_window->selectLock(orders);
        QString note;
        detail().withNote([&note](const QString &made) { note = made; });
        QTRY_VERIFY(!note.isEmpty());
        QVERIFY2(note.startsWith(u"# Incident: `zk:/locks/orders`\n\n`/locks/orders is held by 10.0.3.7"_s),
                 qPrintable(note));
        QVERIFY(
            note.contains(u"| holder | exclusive | `_c_5f0c2a9e-1f0b-4e0f-8c3b-52be0c1d20d7-lock-0000000041` |"_s));
        QVERIFY(note.contains(u"**PRODUCTION**"_s));
        QVERIFY(note.contains(u"The history could not be read: `the recorder is off`"_s));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowLocks)
#include "tst_window_locks.moc"
