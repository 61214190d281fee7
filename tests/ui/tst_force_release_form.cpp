// SPDX-License-Identifier: Apache-2.0
// The form of a force-release: whole on every screen, live, about the holder there is, and readable to its end.
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/models/connectionbook.h"
#include "ui/parts/notices.h"
#include "ui/theme/theme.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using namespace lockscope;
using inspect::ChangeKind;
using inspect::LockSnapshot;
using testing::change;
using testing::queueLock;

namespace {

const ui::SystemTime formNow = ui::SystemTime(1'700'000'000s);

LockSnapshot formLock(int waiters = 3)
{
    return queueLock("orders-zk", "/locks/nightly-report", waiters, testing::serverTime(formNow));
}

// The holder's session ends by itself.
LockSnapshot endingLock(std::chrono::milliseconds left)
{
    auto lock = formLock();
    lock.contenders[0].expiresAt = lock.observed + left;
    return lock;
}

LockSnapshot nextHolds(LockSnapshot lock)
{
    lock.contenders.erase(lock.contenders.begin());
    lock.contenders.front().role = inspect::Role::Holder;
    lock.contenders.front().heldSince = lock.observed;
    lock.contenders.front().waitingSince.reset();
    return lock;
}

LockSnapshot twoHolders()
{
    auto lock = formLock();
    lock.recipe = "curator-semaphore";
    lock.contenders[1].role = inspect::Role::Holder;
    lock.contenders[1].heldSince = lock.observed - 1min;
    lock.contenders[1].guard.edit<inspect::ZnodeIdentity>().czxid = 0x80d;
    lock.contenders[0].guard.edit<inspect::ZnodeIdentity>().czxid = 0x810;
    return lock;
}

} // namespace

class TestForceReleaseForm : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<testing::FakeBackend> m_backend;
    std::unique_ptr<ui::ConnectionBook> m_book;
    std::unique_ptr<ui::ForceReleaseDialog> m_dialog;
    LockSnapshot m_onServer;
    ui::SystemTime m_now = formNow;
    ui::ForceReleaseDialog::HeldWith m_heldWith;

    template <class T>
    T *part(const char *name)
    {
        return m_dialog->findChild<T *>(QString::fromLatin1(name));
    }
    QPushButton *button(const QString &text)
    {
        for (auto *one : m_dialog->findChildren<QPushButton *>()) {
            if (one->text() == text && one->isVisible())
                return one;
        }
        return nullptr;
    }
    ui::Banner *state() { return part<ui::Banner>("stateBanner"); }
    QPushButton *release() { return part<QPushButton>("releaseButton"); }

    void notifyStatus(bool production, bool readOnly)
    {
        auto status = testing::connectedStatus("orders-zk", Scheme::ZooKeeper, production, formNow);
        status.readOnly = readOnly;
        m_backend->notifyConnection(status);
    }
    void open(const LockSnapshot &lock, const QByteArray &chosen = {}, const QRect &screen = QRect(0, 0, 1366, 768))
    {
        m_onServer = lock;
        m_dialog = std::make_unique<ui::ForceReleaseDialog>(*m_backend, *m_book, lock, chosen);
        m_dialog->setClock([this] { return m_now; });
        m_dialog->setHeldWith(m_heldWith);
        m_dialog->setAvailable(screen);
        m_dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_dialog.get()));
    }
    void openForm(const LockSnapshot &lock, const QByteArray &chosen = {},
                  const QRect &screen = QRect(0, 0, 1366, 768))
    {
        open(lock, chosen, screen);
        QTRY_VERIFY(release()->isVisible());
    }
    void verifyWhole(const QRect &screen)
    {
        QCoreApplication::processEvents();
        const QRect geometry = m_dialog->geometry();
        QVERIFY2(screen.contains(geometry.marginsAdded(QMargins(8, 36, 8, 8))), // with its frame
                 qPrintable(u"%1×%2 at %3,%4"_s.arg(geometry.width())
                                .arg(geometry.height())
                                .arg(geometry.x())
                                .arg(geometry.y())));
        for (auto *widget : m_dialog->findChildren<QWidget *>()) {
            const bool mustBeSeen = qobject_cast<QPushButton *>(widget) || qobject_cast<QLineEdit *>(widget);
            auto *scroll = m_dialog->findChild<QScrollArea *>();
            if (!widget->isVisible() || !mustBeSeen || scroll->isAncestorOf(widget))
                continue;
            const QRect at(widget->mapTo(m_dialog.get(), QPoint()), widget->size());
            QVERIFY2(m_dialog->rect().contains(at), qPrintable(widget->objectName()));
            QVERIFY(widget->height() >= widget->minimumSizeHint().height());
        }
        // No sentence is cut: each label has the height its words need, and all of the content can be scrolled to.
        for (auto *label : m_dialog->findChildren<QLabel *>()) {
            if (label->isVisible() && label->wordWrap())
                QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
        }
        auto *scroll = m_dialog->findChild<QScrollArea *>();
        QVERIFY(scroll->viewport()->height() > 50);
        QCOMPARE(scroll->verticalScrollBar()->maximum(),
                 std::max(0, scroll->widget()->height() - scroll->viewport()->height()));
        // A scroll bar that is not needed any more goes a turn later.
        QTRY_VERIFY(scroll->widget()->width() <= scroll->viewport()->width());
    }
    // LOCKSCOPE_SHOTS=folder: pictures of every step, to be looked at.
    void shoot(const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (!folder.isEmpty())
            QVERIFY(QDir().mkpath(folder) && m_dialog->grab().save(u"%1/%2.png"_s.arg(folder, name)));
    }

private slots:
    void init()
    {
        m_now = formNow;
        m_heldWith = nullptr;
        m_backend = std::make_unique<testing::FakeBackend>();
        m_book = std::make_unique<ui::ConnectionBook>();
        connect(m_backend.get(), &Backend::updated, m_book.get(), &ui::ConnectionBook::apply);
        notifyStatus(false, false);
        m_backend->on<PlanRelease>() = [this](const PlanRelease &query) {
            return operate::planForceRelease(m_onServer, query.contender);
        };
    }
    void cleanup()
    {
        m_dialog.reset();
        m_book.reset();
        m_backend.reset();
    }

    // The same thread of Redisson's has the same id. The form had read its next hold afresh, and released that.
    void aHoldThatWasTakenAgainIsNotTheOneOfTheForm_data()
    {
        QTest::addColumn<int>("seen");  // by so many ms later it was seen to begin; -1: it was not
        QTest::addColumn<int>("later"); // by so many ms its lease ends later
        QTest::addColumn<QString>("said");
        QTest::newRow("renewed") << -1 << 20'000 << QString();
        QTest::newRow("seen to be taken again") << 1'000 << 20'000 << u"acquired it again"_s;
        QTest::newRow("its lease is another") << -1 << 1'000 << u"may have released and re-acquired it"_s;
        QTest::newRow("its lease is shorter") << -1 << -20'000 << u"may have released and re-acquired it"_s;
    }
    void aHoldThatWasTakenAgainIsNotTheOneOfTheForm()
    {
        QFETCH(int, seen);
        QFETCH(int, later);
        QFETCH(QString, said);
        auto lock = testing::redisLock("orders-zk", "orders", 26s, testing::serverTime(formNow));
        lock.recipe = "redisson-lock";
        openForm(lock);
        auto now = lock;
        now.observed += 20s;
        if (seen >= 0)
            now.contenders[0].heldSince = lock.observed + std::chrono::milliseconds(seen);
        *now.contenders[0].expiresAt += std::chrono::milliseconds(later);
        m_onServer = now;
        m_backend->notifyLocks({change(ChangeKind::Changed, now)});
        m_dialog->tick();
        QCoreApplication::processEvents();
        QCOMPARE(release()->isVisible(), said.isEmpty());
        if (!said.isEmpty())
            QVERIFY2(state()->sentence().contains(said), qPrintable(state()->sentence()));
        m_backend->notifyLocks({change(ChangeKind::Changed, now)});
        if (!said.isEmpty())
            QVERIFY2(state()->sentence().contains(said), qPrintable(state()->sentence()));
    }

    // A waiter that was handed the lock unseen holds it since then at the earliest, as the list says ("≤").
    void sinceWhenItIsHeldIsNoMoreThanIsKnown_data()
    {
        QTest::addColumn<bool>("atMost");
        QTest::newRow("seen to begin") << false;
        QTest::newRow("at most since then") << true;
    }
    void sinceWhenItIsHeldIsNoMoreThanIsKnown()
    {
        QFETCH(const bool, atMost);
        auto lock = formLock();
        lock.contenders.front().heldAtMost = atMost;
        openForm(lock);
        const auto from = m_dialog->facts().valueOf(u"Holder"_s);
        QVERIFY2(from.contains(u" · since "_s), qPrintable(from));
        QCOMPARE(from.endsWith(u" at the earliest"_s), atMost);
    }

    void clientLabelsAreShown()
    {
        auto lock = formLock();
        lock.contenders[0].label = u"billing"_s;
        lock.contenders[1].label = u"stock"_s;
        openForm(lock);
        QVERIFY2(m_dialog->facts().valueOf(u"Holder"_s).startsWith(u"billing · "_s),
                 qPrintable(m_dialog->facts().valueOf(u"Holder"_s)));
        QVERIFY2(m_dialog->facts().valueOf(u"Next owner"_s).startsWith(u"stock · "_s),
                 qPrintable(m_dialog->facts().valueOf(u"Next owner"_s)));
        QCOMPARE(release()->text(), u"Release from billing (10.0.3.7)"_s);
    }

    // Of the holder that the form is about, not of the others; nothing where it has nothing else.
    void otherLocksOfItsThreadAreShown()
    {
        std::vector<QByteArray> holdersAsked;
        std::vector<QByteArray> others{"a", "b"};
        const auto told = [&] { return m_dialog->facts().valueOf(u"Held by the same thread"_s); };
        m_heldWith = [&](const LockSnapshot &lock) {
            for (const auto &contender : lock.contenders)
                holdersAsked.push_back(contender.id);
            return others;
        };
        openForm(twoHolders(), twoHolders().contenders[1].id);
        QCOMPARE(told(), u"a and b (possibly one MultiLock; the holder keeps the locks that are not released)"_s);
        QCOMPARE(holdersAsked, std::vector{twoHolders().contenders[1].id});
        verifyWhole({0, 0, 1366, 768});
        shoot(u"held-with"_s);
        others.clear();
        openForm(twoHolders(), twoHolders().contenders[1].id);
        QCOMPARE(told(), QString());
    }

    void isWholeOnEveryScreenInEveryStep_data()
    {
        QTest::addColumn<QRect>("screen");
        QTest::addColumn<bool>("production");
        QTest::addColumn<bool>("dark");
        const std::pair<const char *, QRect> screens[] = {
            {"1024x600", {0, 0, 1024, 600}}, {"1366x768", {0, 0, 1366, 768}}, {"2560x1440@2", {0, 0, 1280, 720}}};
        for (const auto &[name, screen] : screens) {
            for (const bool production : {false, true}) {
                for (const bool dark : {false, true})
                    QTest::addRow("%s-%s-%s", name, production ? "production" : "unmarked", dark ? "dark" : "light")
                        << screen << production << dark;
            }
        }
    }
    void isWholeOnEveryScreenInEveryStep()
    {
        QFETCH(QRect, screen);
        QFETCH(bool, production);
        QFETCH(bool, dark);
        ui::Theme::instance()->setChoice(dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
        notifyStatus(production, production);
        auto lock = twoHolders(); // with a picker, and much to warn of
        lock.recipe = "zk-ephemeral";
        lock.contenders[0].expiresAt = lock.observed + 9s;
        m_backend->holdAnswers = true;
        open(lock, lock.contenders[2].id, screen);
        const QString name = QString::fromLatin1(QTest::currentDataTag());
        verifyWhole(screen);
        shoot(u"1-choose-%1"_s.arg(name));
        auto *pick = part<QComboBox>("pickHolder");
        pick->setCurrentIndex(1);
        emit pick->activated(1);
        verifyWhole(screen);
        shoot(u"2-reading-%1"_s.arg(name));
        m_backend->deliverAnswers();
        QVERIFY(release()->isVisible());
        verifyWhole(screen);
        shoot(u"3-form-%1"_s.arg(name));
        notifyStatus(production, false);
        if (production)
            part<QLineEdit>("typeName")->setText(u"/locks/nightly-report"_s);
        part<QLineEdit>("reason")->setText(u"INC-4411"_s);
        verifyWhole(screen);
        QVERIFY(release()->isEnabled());
        shoot(u"4-armed-%1"_s.arg(name));
        m_backend->on<ForceRelease>() = [](const ForceRelease &query) -> Result<operate::ForceReleaseOutcome> {
            const QString id = QString::fromLatin1(query.plan.holder);
            return Error{
                ErrorCode::Refused,
                u"\"%1\" does not hold orders-zk:/locks/nightly-report (any more, or never did). Nothing was "
                u"sent. It is held by %1, %1"_s.arg(id)};
        };
        release()->click();
        m_backend->deliverAnswers();
        QVERIFY(state()->sentence().endsWith(QString::fromLatin1(lock.contenders[0].id))); // to its end
        verifyWhole(screen);
        shoot(u"5-refused-%1"_s.arg(name));
        // What a fresh look finds: one holder, whose session is ending.
        m_backend->holdAnswers = false;
        lock = endingLock(9s);
        m_onServer = lock;
        m_backend->notifyLocks({change(ChangeKind::Changed, lock)});
        part<QPushButton>("lookAgain")->click();
        QTRY_VERIFY(release()->isVisible());
        button(u"Wait for it"_s)->click();
        verifyWhole(screen);
        shoot(u"6-waiting-%1"_s.arg(name));
        part<QPushButton>("lookAgain")->click();
        QTRY_VERIFY(release()->isVisible());
        verifyWhole(screen);
        shoot(u"7-form-%1"_s.arg(name));
        m_onServer = nextHolds(lock);
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        verifyWhole(screen);
        shoot(u"8-changed-%1"_s.arg(name));
        button(u"Refresh"_s)->click();
        QTRY_VERIFY(release()->isVisible());
        m_backend->on<ForceRelease>() = [this](const ForceRelease &query) {
            return operate::ForceReleaseOutcome{true, nextHolds(m_onServer),
                                                u"orders-zk:/locks/nightly-report was released from "_s
                                                    + QString::fromLatin1(query.plan.holder)};
        };
        if (production)
            part<QLineEdit>("typeName")->setText(u"/locks/nightly-report"_s);
        release()->click();
        QTRY_VERIFY(part<QPushButton>("copyNote")->isVisible());
        verifyWhole(screen);
        shoot(u"9-done-%1"_s.arg(name));
    }

    void isLive()
    {
        openForm(endingLock(9s));
        auto *alternatives = part<ui::Banner>("alternativesBanner");
        QVERIFY(alternatives->sentence().contains(u"in 9.0 s"_s));
        QVERIFY(m_dialog->facts().valueOf(u"Next owner"_s).contains(u"waiting 3 m 58 s"_s));
        m_now += 5s;
        m_dialog->tick();
        QVERIFY(alternatives->sentence().contains(u"in 4.0 s"_s));
        QVERIFY(m_dialog->facts().valueOf(u"Next owner"_s).contains(u"waiting 4 m 03 s"_s));
        // Not heard from, it is not known to wait any longer.
        auto broken = testing::connectedStatus("orders-zk", Scheme::ZooKeeper, false, formNow);
        broken.state = ConnectionStatus::State::Broken;
        m_backend->notifyConnection(broken);
        m_now += 1s;
        m_dialog->tick();
        QVERIFY(m_dialog->facts().valueOf(u"Next owner"_s).contains(u"waiting 4 m 03 s"_s));
        m_now -= 1s;
        notifyStatus(false, false);
        m_now += 10s;
        m_dialog->tick();
        QVERIFY(alternatives->sentence().contains(u"the lease has expired according to the last snapshot"_s));
    }

    void readsAgainWhenTheLockChangesUnderIt()
    {
        openForm(formLock());
        m_onServer = formLock(5);
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        m_dialog->tick();
        QTRY_VERIFY(m_dialog->facts().valueOf(u"Next owner"_s).contains(u"4 more behind it"_s));
        QVERIFY(release()->isVisible());
    }

    void saysWhoHoldsItNowAndPlansForThatOne()
    {
        const auto lock = formLock();
        openForm(lock);
        m_onServer = nextHolds(lock);
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        QVERIFY(!release()->isVisible()); // nobody meant the next one
        auto *word = state()->findChildren<QLabel *>().first();
        QCOMPARE(word->text(), u"The holder is now 10.0.3.8:56315 · …0042."_s);
        QCOMPARE(state()->sentence(), u"10.0.3.7 no longer holds it. Nothing was sent."_s);
        // Nor is it said of the next one once that has let go, too; here the first one took it again.
        m_backend->notifyLocks({change(ChangeKind::Changed, lock)});
        QVERIFY(!release()->isVisible());
        QVERIFY2(word->text().startsWith(u"The holder is now 10.0.3.7"_s), qPrintable(word->text()));
        QCOMPARE(state()->sentence(), u"10.0.3.7 released it and acquired it again. Nothing was sent."_s);
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        QCOMPARE(word->text(), u"The holder is now 10.0.3.8:56315 · …0042."_s);
        auto *again = button(u"Refresh"_s);
        QVERIFY(again);
        again->click();
        QTRY_VERIFY(release()->isVisible());
        QCOMPARE(m_dialog->holder(), m_onServer.contenders[0].id);
        QCOMPARE(release()->text(), u"Release from 10.0.3.8"_s);
        QVERIFY(!m_backend->last<ForceRelease>());
    }

    void aRefusalLooksAgainAtTheNewHolder()
    {
        const auto lock = formLock();
        openForm(lock);
        m_backend->on<ForceRelease>() = [](const ForceRelease &) -> Result<operate::ForceReleaseOutcome> {
            return Error{ErrorCode::Refused, u"it no longer holds the lock"_s};
        };
        release()->click();
        QTRY_VERIFY(part<QPushButton>("lookAgain")->isVisible());
        m_onServer = nextHolds(lock);
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        part<QPushButton>("lookAgain")->click();
        QTRY_COMPARE(release()->text(), u"Release from 10.0.3.8"_s);
    }

    void rehearsesBeforeItIsDone()
    {
        const auto lock = formLock();
        openForm(lock);
        auto *rehearse = part<QPushButton>("rehearseButton");
        m_dialog->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_dialog.get()));
        part<QLineEdit>("reason")->setFocus();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), rehearse);
        QTest::keyClick(rehearse, Qt::Key_Space);
        auto &facts = m_dialog->facts();
        QTRY_VERIFY(facts.valueOf(u"Rehearsed"_s)
                        .contains(u"%1 at 10.0.3.8:"_s.arg(QString::fromLatin1(lock.contenders[1].id))));
        QVERIFY(facts.valueOf(u"Rehearsed"_s)
                    .contains(u"gets it next; 1 client is woken, if the assumptions hold; "
                              u"no other lock is lost"_s));
        QVERIFY(facts.valueOf(u"Rehearsed"_s).contains(u"assumed: "_s));
        QVERIFY(m_backend->calls.filter(u"forceRelease "_s).isEmpty());
        QCOMPARE(QApplication::focusWidget(), rehearse); // and not the choice of another way
        verifyWhole(QRect(0, 0, 1366, 768));
        shoot(u"9-rehearsed"_s);
        // Another look at the same queue says nothing else.
        const auto answer = facts.valueOf(u"Rehearsed"_s);
        m_onServer.observed += 1s;
        addFinding(m_onServer, inspect::FindingCode::LongWait, u"has waited for long"_s, {lock.contenders[1].id});
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        const auto plans = m_backend->calls.filter(u"planForceRelease "_s).size();
        m_dialog->tick();
        QTRY_VERIFY(m_backend->calls.filter(u"planForceRelease "_s).size() > plans);
        QTRY_COMPARE(facts.valueOf(u"Rehearsed"_s), answer);
        // What was played is not what is there now.
        m_onServer.contenders.pop_back();
        m_backend->notifyLocks({change(ChangeKind::Changed, m_onServer)});
        m_dialog->tick();
        QTRY_COMPARE(facts.valueOf(u"Rehearsed"_s), u"The lock has changed. Rehearse again."_s);
        QVERIFY(rehearse->isEnabled());
    }

    void picksAmongSeveralHolders()
    {
        const auto lock = twoHolders();
        open(lock, lock.contenders[2].id); // chosen: one that waits
        auto *pick = part<QComboBox>("pickHolder");
        QVERIFY(pick->isVisible());
        QCOMPARE(pick->count(), 3);
        QVERIFY(m_dialog->holder().isEmpty());
        QVERIFY(!release()->isVisible());
        QVERIFY(m_backend->calls.filter(u"planForceRelease"_s).isEmpty());
        pick->setCurrentIndex(2);
        emit pick->activated(2);
        QTRY_VERIFY(release()->isVisible());
        QCOMPARE(m_dialog->holder(), lock.contenders[1].id);
    }

    // Nothing to choose is said, and is not chosen for whoever looks.
    void oneHolderLeft_userMustRefresh()
    {
        auto lock = twoHolders();
        open(lock, lock.contenders[2].id);
        auto *state = part<ui::Banner>("stateBanner");
        QVERIFY2(state->sentence().startsWith(u"Select the holder"_s), qPrintable(state->sentence()));
        lock.contenders.erase(lock.contenders.begin());
        m_backend->notifyLocks({change(ChangeKind::Changed, lock)});
        QVERIFY(!part<QComboBox>("pickHolder")->isVisible());
        QCOMPARE(state->sentence(), u"It had several holders before. Nothing was sent."_s);
        QVERIFY(m_backend->calls.filter(u"planForceRelease"_s).isEmpty());
        emit state->actionRequested();
        QTRY_VERIFY(release()->isVisible());
        QCOMPARE(m_dialog->holder(), lock.contenders[0].id);
    }

    void aChosenHolderIsTheOne()
    {
        const auto lock = twoHolders();
        openForm(lock, lock.contenders[1].id);
        QCOMPARE(m_dialog->holder(), lock.contenders[1].id);
    }

    void aChosenWaiterIsNotSilentlyTheHolder()
    {
        const auto lock = formLock();
        openForm(lock, lock.contenders[1].id);
        auto *said = part<ui::Banner>("waiterBanner");
        QVERIFY(said->isVisible());
        QCOMPARE(said->sentence(),
                 u"10.0.3.8:56315 · …0042 is waiting and does not hold the lock. This dialog releases it "
                 u"from its holder, 10.0.3.7."_s);
    }

    void writesAreAllowedFromTheForm()
    {
        notifyStatus(true, true);
        openForm(formLock());
        auto *arm = part<QPushButton>("armButton");
        QVERIFY(arm->isVisible());
        QSignalSpy asked(m_dialog.get(), &ui::ForceReleaseDialog::armRequested);
        arm->setFocus();
        arm->click();
        QCOMPARE(asked.count(), 1);
        QVERIFY(!release()->isEnabled());
        notifyStatus(true, false);
        QVERIFY(!arm->isVisible());
        QCOMPARE(m_dialog->focusWidget(), part<QLineEdit>("reason")); // not the button beside it
        QCOMPARE(part<QLabel>("obstacle")->text(), u"Type the lock’s name to release it."_s);
        QVERIFY(part<QLabel>("environment")->text().startsWith(u"PROD · "_s));
    }

    void waitsOnlyForWhatEndsByItself()
    {
        openForm(formLock());
        QVERIFY(!button(u"Wait for it"_s));
        m_dialog.reset();
        openForm(endingLock(9s));
        QVERIFY(button(u"Wait for it"_s));
    }

    void endsWithHostsAndANote()
    {
        const auto lock = formLock();
        openForm(lock);
        part<QLineEdit>("reason")->setText(u"INC-4411"_s);
        m_backend->on<ForceRelease>() = [&](const ForceRelease &) {
            return operate::ForceReleaseOutcome{true, nextHolds(lock), u"deleted"_s};
        };
        release()->click();
        QTRY_VERIFY(part<QPushButton>("copyNote")->isVisible());
        QCOMPARE(state()->findChildren<QLabel *>().first()->text(), u"Released from 10.0.3.7."_s);
        QVERIFY(state()->sentence().startsWith(u"The holder is now 10.0.3.8:56315"_s));
        const QString note = m_dialog->note();
        QVERIFY(note.startsWith(u"Force-release of orders-zk:/locks/nightly-report (unmarked · orders-zk), "_s));
        QVERIFY(note.contains(u"\nreason: INC-4411\nresult: Released from 10.0.3.7. The holder is now 10.0.3.8"_s));
    }

    void theCommandHasWhatTheTerminalNeeds()
    {
        auto status = testing::connectedStatus("orders-zk", Scheme::ZooKeeper, true, formNow);
        status.uri = parseConnection(u"orders-zk=zk://10.0.0.1:2181?admin=8081"_s)->displayUri();
        m_backend->notifyConnection(status);
        openForm(formLock());
        QVERIFY2(m_dialog->asCommand().startsWith(
                     u"lockscopectl --connect 'orders-zk=zk://10.0.0.1:2181?admin=8081' --production 'orders-zk' "
                     u"--allow-writes 'orders-zk' force-release 'orders-zk:/locks/nightly-report'"_s),
                 qPrintable(m_dialog->asCommand()));
    }

    void aFencingTokenIsNotShownGoingDown()
    {
        auto plan = *operate::planForceRelease(formLock(), formLock().contenders[0].id);
        QVERIFY(ui::ForceReleaseWords::fencing(plan).contains(u"0x4e2 → 0x4e3"_s));
        // No client of this recipe is handed it.
        QVERIFY(ui::ForceReleaseWords::fencing(plan).contains(u"no fencing token"_s));
        auto lock = twoHolders();
        plan.before = lock;
        plan.guard = lock.contenders[0].guard;
        plan.nextHolder = lock.contenders[1].id;
        QVERIFY(!ui::ForceReleaseWords::fencing(plan).contains(u"0x"_s));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestForceReleaseForm)
#include "tst_force_release_form.moc"
