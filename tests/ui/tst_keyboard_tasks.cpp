// SPDX-License-Identifier: Apache-2.0
// What an operator does at three in the morning, by keyboard alone and from the first look on, with the number of
// keys. That five minutes ago is one key is held by tst_window_time, which has a recording.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/graph/graphview.h"
#include "ui/pages/graphpage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/page.h"
#include "ui/pages/sessionspage.h"
#include "ui/parts/labels.h"
#include "ui/shell/actions.h"
#include "ui/views/lockstable.h"

#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>

using inspect::ChangeKind;
using inspect::LockName;

namespace {

constexpr int mostTabs = 40;

LockName taskLock(const QByteArray &path)
{
    return {ConnectionName("zk"), path};
}

} // namespace

class TestKeyboardTasks : public testing::WindowFixture {
    Q_OBJECT

private:
    int m_keys = 0;

    // A real key to whatever has the focus; each counts, whatever is held with it.
    void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier)
    {
        QWidget *focus = QApplication::focusWidget();
        QTest::keyClick(focus ? focus : m_window.get(), key, with);
        ++m_keys;
    }
    void type(const QString &text)
    {
        QTest::keyClicks(QApplication::focusWidget(), text);
        m_keys += static_cast<int>(text.size());
    }
    void goTo(const QString &letters)
    {
        press(Qt::Key_K, Qt::ControlModifier);
        type(letters);
        press(Qt::Key_Return);
    }
    bool tabTo(const QString &objectName)
    {
        for (int i = 0; i < mostTabs; ++i) {
            const auto *focus = QApplication::focusWidget();
            if (focus && focus->objectName() == objectName)
                return true;
            press(Qt::Key_Tab);
        }
        return false;
    }
    bool tabToButton(const QString &text)
    {
        for (int i = 0; i < mostTabs; ++i) {
            const auto *focus = qobject_cast<QPushButton *>(QApplication::focusWidget());
            if (focus && focus->text() == text)
                return true;
            press(Qt::Key_Tab);
        }
        return false;
    }
    QPushButton *release()
    {
        auto *dialog = m_window->findChild<ui::ForceReleaseDialog *>();
        return dialog ? dialog->findChild<QPushButton *>(u"releaseButton"_s) : nullptr;
    }
    void openForceRelease()
    {
        goTo(u"nightly"_s);
        QCOMPARE(page().currentLock(), std::optional(taskLock("/locks/nightly-report")));
        press(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(release() && release()->isVisible());
        QTRY_VERIFY(QApplication::focusWidget()
                    && m_window->findChild<ui::ForceReleaseDialog *>()->isAncestorOf(QApplication::focusWidget()));
    }
    ui::SessionsPage &sessions() { return *m_window->findChild<ui::SessionsPage *>(); }
    QString sessionSays(const char *label)
    {
        return sessions().detail()->findChild<QLabel *>(QLatin1String(label))->text();
    }
    // Of two: each holds what the other waits for.
    void notifyDeadlock()
    {
        std::vector<inspect::LockSnapshot> locks;
        for (const QByteArray path : {"/locks/invoices", "/locks/stock"}) {
            auto lock = testing::queueLock("zk", path, 1, testing::serverTime(present));
            const bool isFirst = locks.empty();
            lock.contenders[0].session = isFirst ? u"0x1"_s : u"0x2"_s;
            lock.contenders[1].session = isFirst ? u"0x2"_s : u"0x1"_s;
            locks.push_back(lock);
        }
        const auto graph = inspect::waitGraphOf(locks, {}, present);
        std::vector<inspect::SnapshotChange> changes;
        for (auto &lock : locks) {
            inspect::addDeadlocks(lock, graph, graph.cycles);
            changes.push_back(testing::change(ChangeKind::Changed, lock));
        }
        m_backend->notifyLocks(changes);
    }
    bool wasReleased()
    {
        const auto &asked = m_backend->last<ForceRelease>();
        return asked && asked->plan.before.lock == taskLock("/locks/nightly-report");
    }

private slots:
    void init()
    {
        m_keys = 0;
        openWindow();
        planReleases(1);
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/invoices", 1), lockOf("/locks/nightly-report", 1),
                                lockOf("/locks/orders", 1), lockOf("/locks/stock", 1)});
    }
    void cleanup()
    {
        qInfo("%s: %d keys", QTest::currentTestFunction(), m_keys);
        closeWindow();
    }

    void holderOfOrdersIsFoundByKeyboard()
    {
        goTo(u"orders"_s);
        QCOMPARE(page().currentLock(), std::optional(taskLock("/locks/orders")));
        QVERIFY(page().detail().findChild<ui::AnswerLabel *>()->sentence().startsWith(
            u"/locks/orders is held by 10.0.3.7 for "_s));
        QVERIFY2(m_keys <= 8, qPrintable(QString::number(m_keys)));
    }

    void releaseOnDevelopment()
    {
        openForceRelease();
        QVERIFY(tabTo(u"releaseButton"_s));
        press(Qt::Key_Space);
        QVERIFY(wasReleased());
        QVERIFY2(m_keys <= 20, qPrintable(QString::number(m_keys)));
    }

    // Writes allowed, a reason given, the lock named: more keys, none of them the mouse's, no Tab to find a field.
    void releaseOnProduction()
    {
        notifyConnected(true, true);
        goTo(u"night"_s);
        press(Qt::Key_R);
        QTRY_VERIFY(release() && release()->isVisible());
        auto *form = m_window->findChild<ui::ForceReleaseDialog *>();
        QTRY_VERIFY(QApplication::focusWidget() && form->isAncestorOf(QApplication::focusWidget()));
        QCOMPARE(QApplication::focusWidget()->objectName(), u"armButton"_s);
        press(Qt::Key_Return); // which only asks
        QTRY_VERIFY(m_window->findChild<QMessageBox *>(u"armQuestion"_s));
        QTRY_VERIFY(m_window->findChild<QMessageBox *>(u"armQuestion"_s)->isAncestorOf(QApplication::focusWidget()));
        QVERIFY(tabToButton(u"Allow writes on zk"_s));
        press(Qt::Key_Space);
        QVERIFY(m_backend->wasCalled(u"setReadOnly zk false"_s));
        notifyConnected(true, false);
        form->activateWindow(); // as every window manager does
        QTRY_VERIFY(QApplication::focusWidget() && form->isAncestorOf(QApplication::focusWidget()));
        for (const auto &[field, text] :
             {std::pair{u"reason"_s, u"INC-4411"_s}, {u"typeName"_s, u"/locks/nightly-report"_s}}) {
            QCOMPARE(QApplication::focusWidget()->objectName(), field); // on to what is missing
            type(text);
            m_keys -= static_cast<int>(text.size());
            press(Qt::Key_Return);
        }
        QCOMPARE(QApplication::focusWidget(), release());
        press(Qt::Key_Return); // never sends
        QVERIFY(!wasReleased());
        --m_keys;
        press(Qt::Key_Space);
        QVERIFY(wasReleased());
        QCOMPARE(m_backend->last<ForceRelease>()->reason, u"INC-4411"_s);
        QVERIFY2(m_keys <= 15, qPrintable(QString::number(m_keys))); // beside the reason and the name
    }

    void sessionsLocksAreFoundByKeyboard()
    {
        std::vector<inspect::SessionSnapshot> sessions;
        for (int i = 0; i < 3; ++i) {
            inspect::SessionSnapshot session;
            session.connection = ConnectionName("zk");
            session.session = u"0x1000009b489000%1"_s.arg(i);
            session.endpoint = u"10.0.3.%1:56332"_s.arg(7 + i);
            session.holds = {"/locks/orders", "/locks/stock"};
            sessions.push_back(session);
        }
        m_backend->tell({.sessions = {{ConnectionName("zk"), sessions}}});
        goTo(u"3.8"_s);
        QVERIFY(m_window->findChild<ui::SessionsPage *>()->isVisible());
        QVERIFY2(m_keys <= 5, qPrintable(QString::number(m_keys)));
    }

    void incidentNote()
    {
        QGuiApplication::clipboard()->clear();
        goTo(u"orders"_s);
        press(Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(QGuiApplication::clipboard()->text().contains(u"/locks/orders"_s));
        QCOMPARE(part<QLabel>("notice")->text(), u"Copied: the incident note of /locks/orders"_s);
        QVERIFY2(m_keys <= 9, qPrintable(QString::number(m_keys)));
    }

    // Rows have the keyboard at the first look, not the find field.
    void theFirstArrowChoosesTheFirstLock()
    {
        QCOMPARE(page().currentLock(), std::optional(page().model().snapshotAt(0).lock)); // the worst, by itself
        press(Qt::Key_Down);
        QCOMPARE(page().currentLock(), std::optional(page().model().snapshotAt(1).lock));
        QCOMPARE(m_keys, 1);
    }

    // From a lock that is stuck to what falls if its holder's session ends, and who inherits each.
    void heirOfTheHolderIsFoundByKeyboard()
    {
        const auto lock = testing::queueLock("zk", "/locks/orders", 2, testing::serverTime(present));
        m_backend->notifyLocks({testing::change(ChangeKind::Changed, lock)});
        inspect::SessionSnapshot session{.connection = ConnectionName("zk")};
        session.session = *lock.contenders[0].session;
        session.endpoint = u"10.0.3.7:56332"_s;
        session.holds = {"/locks/orders"};
        m_backend->tell({.sessions = {{ConnectionName("zk"), {session}}}});
        goTo(u"orders"_s);
        press(Qt::Key_H, Qt::ControlModifier);
        QTRY_VERIFY(sessions().isVisible());
        QCOMPARE(sessionSays("sessionEnd"), u"If this session ends: 1 lock falls: to who waits next."_s);
        const auto *locks = sessions().detail()->locks()->model();
        const auto heir = locks->index(0, ui::SessionLocksModel::Next).data().toString();
        QVERIFY2(heir.startsWith(u"→ 10.0.3.8"_s), qPrintable(heir));
        QVERIFY2(m_keys <= 9, qPrintable(QString::number(m_keys)));
    }

    void theSessionOfWhoCallsItselfSo()
    {
        auto lock = testing::queueLock("zk", "/locks/orders", 1, testing::serverTime(present));
        lock.contenders[0].identity = "app-9";
        m_backend->notifyLocks({testing::change(ChangeKind::Changed, lock)});
        inspect::SessionSnapshot session{.connection = ConnectionName("zk")};
        session.session = *lock.contenders[0].session;
        session.client = u"kazoo"_s;
        session.holds = {"/locks/orders"};
        m_backend->tell({.sessions = {{ConnectionName("zk"), {session}}}});
        goTo(u"app-9"_s);
        QTRY_VERIFY(sessions().isVisible());
        QVERIFY2(sessionSays("sessionTitle").startsWith(session.session), qPrintable(sessionSays("sessionTitle")));
        QVERIFY2(m_keys <= 7, qPrintable(QString::number(m_keys)));
    }

    void rowHoldersStatementIsFoundByKeyboard()
    {
        auto row = testing::queueLock("zk", "shop.stock#id=1", 1, testing::serverTime(present));
        row.backend = BackendKind::MariaDb;
        row.recipe = "sql-for-update";
        row.contenders[0].session = u"41"_s;
        m_backend->notifyLocks({testing::change(ChangeKind::Added, row)});
        m_backend->on<ReadSession>() = [](const ReadSession &query) {
            SessionDoing doing;
            doing.statement = "UPDATE stock SET n = n - 1 WHERE id = 1 /* " + query.session.toUtf8() + " */";
            return Result<SessionDoing>(doing);
        };
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("zk");
        session.session = u"41"_s;
        session.holds = {"shop.stock#id=1"};
        m_backend->tell({.sessions = {{ConnectionName("zk"), {session}}}});
        goTo(u"id=1"_s);
        QCOMPARE(page().currentLock(), std::optional(taskLock("shop.stock#id=1")));
        press(Qt::Key_H, Qt::ControlModifier);
        QTRY_COMPARE(sessionSays("sessionStatement"), u"last: UPDATE stock SET n = n - 1 WHERE id = 1 /* 41 */"_s);
        QVERIFY2(m_keys <= 7, qPrintable(QString::number(m_keys)));
    }

    // The statement of who blocks stands beside that of who is blocked, which another key chooses.
    void statementsOfARowTakeNoKey()
    {
        auto row = testing::queueLock("zk", "shop.stock#id=1", 2, testing::serverTime(present));
        row.backend = BackendKind::MariaDb;
        row.recipe = "sql-for-update";
        const auto since = testing::serverTime(present) - 30s;
        row.contenders[0].work.set(
            {.statement = "UPDATE stock SET n = 1 WHERE id = 1", .since = since, .rowsModified = 1});
        for (int i : {1, 2})
            row.contenders[std::size_t(i)].work.set(
                {.statement = "SELECT " + QByteArray::number(i) + " FOR UPDATE", .isRunning = true, .since = since});
        m_backend->notifyLocks({testing::change(ChangeKind::Added, row)});
        goTo(u"id=1"_s);
        QCOMPARE(page().currentLock(), std::optional(taskLock("shop.stock#id=1")));
        const auto shown = [this] {
            QStringList texts;
            for (const auto *label : part<QWidget>("statements")->findChildren<QLabel *>()) {
                if (label->isVisible())
                    texts << label->text();
            }
            return texts.join(u'|');
        };
        QTRY_VERIFY2(shown().contains(u"|UPDATE stock SET n = 1 WHERE id = 1|"_s), qPrintable(shown()));
        QVERIFY2(shown().contains(u"idle for 30 s"_s) && shown().contains(u"|SELECT 1 FOR UPDATE"_s),
                 qPrintable(shown()));
        QVERIFY2(m_keys <= 6, qPrintable(QString::number(m_keys)));
        press(Qt::Key_2);
        QTRY_VERIFY2(shown().contains(u"|SELECT 2 FOR UPDATE"_s), qPrintable(shown()));
        page().table().setFocus();
        goTo(u"orders"_s); // of ZooKeeper no statement is known
        QTRY_VERIFY(!part<QWidget>("statements")->isVisible());
    }

    // The page says it in a sentence; from a lock in it the graph shows that lock, and arrows go on from there.
    void theDeadlockInTheGraph()
    {
        notifyDeadlock();
        press(Qt::Key_2, Qt::ControlModifier);
        auto &graph = *m_window->findChild<ui::GraphPage *>();
        QVERIFY(graph.isVisible());
        const auto *sentence = graph.findChild<QLabel *>(u"graphSentence"_s);
        QTRY_VERIFY2(sentence->text().contains(u"block each other"_s), qPrintable(sentence->text()));
        QCOMPARE(m_keys, 1);
        m_keys = 0;
        goTo(u"invoices"_s);
        press(Qt::Key_G, Qt::ControlModifier);
        QTRY_VERIFY(graph.view().current() && graph.view().current()->title == u"/locks/invoices"_s);
        QTRY_VERIFY(graph.view().hasFocus());
        press(Qt::Key_Right);
        QVERIFY(graph.view().current()->title != u"/locks/invoices"_s);
        QVERIFY2(m_keys <= 12, qPrintable(QString::number(m_keys)));
    }

    // The form is for the victim that the finding names, whatever lock of the deadlock is chosen.
    void breakADeadlock()
    {
        notifyDeadlock();
        const auto &findings = page().model().snapshot(taskLock("/locks/invoices"))->findings;
        const auto victim = findings.back().victim.front();
        const auto other =
            victim.lock == taskLock("/locks/invoices") ? taskLock("/locks/stock") : taskLock("/locks/invoices");
        m_window->selectLock(other);
        page().table().setFocus();
        press(Qt::Key_B);
        auto *form = m_window->findChild<ui::ForceReleaseDialog *>();
        QTRY_VERIFY(form && form->isVisible());
        QCOMPARE(form->holder(), victim.contender);
        QCOMPARE(page().currentLock(), std::optional(victim.lock));
        QVERIFY2(m_keys <= 4, qPrintable(QString::number(m_keys)));
    }

    void everyPageIsAFewLettersAway()
    {
        for (const auto &row : ui::allPages()) {
            m_keys = 0;
            goTo(row.title.left(4).toLower());
            QVERIFY2(m_window->findChild<ui::LocksPage *>()->isVisible() == (row.id == u"locks"_s),
                     qPrintable(row.id));
            QVERIFY(m_keys <= 6);
        }
    }

    // Nothing is connected at first, and Enter is the way to the form; it did nothing.
    void theEmptyPageConnects()
    {
        closeWindow();
        openWindow();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        QSignalSpy connecting(m_window.get(), &ui::MainWindow::connectRequested);
        press(Qt::Key_Return);
        QCOMPARE(connecting.count(), 1);
        press(Qt::Key_2, Qt::ControlModifier);
        press(Qt::Key_1, Qt::ControlModifier);
        press(Qt::Key_Return);
        QCOMPARE(connecting.count(), 2);
        press(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(part<QLabel>("notice")->text(), u"Not done. Connect to a server first"_s);
        // A connection comes: the button goes, and the keyboard stays with the page until there are rows.
        notifyConnected();
        QVERIFY(m_window->actions().find(u"acquire"_s)->isEnabled());
        press(Qt::Key_Return);
        QCOMPARE(connecting.count(), 2);
        m_backend->notifyLocks({lockOf("/locks/orders", 1)});
        QTRY_COMPARE(QApplication::focusWidget(), &page().table());
        // Of a filter that hides all of them Enter shows all.
        m_window->locksPage().setFilter(u"nothing is called so"_s);
        page().focusContent();
        press(Qt::Key_Return);
        QTRY_COMPARE(page().model().rowCount(), 1);
        QCOMPARE(QApplication::focusWidget(), &page().table());
    }

    void theMenuOfTheChosenRow()
    {
        goTo(u"orders"_s);
        press(Qt::Key_F10, Qt::ShiftModifier);
        auto *menu = QApplication::activePopupWidget();
        QVERIFY(menu);
        QTest::keyClick(menu, Qt::Key_Down);
        QTest::keyClick(menu, Qt::Key_Return);
        QCOMPARE(QGuiApplication::clipboard()->text(), u"zk:/locks/orders"_s);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestKeyboardTasks)
#include "tst_keyboard_tasks.moc"
