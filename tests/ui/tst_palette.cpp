// SPDX-License-Identifier: Apache-2.0
// Ctrl+K: everything in one list, by a few letters.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/sessionspage.h"
#include "ui/shell/actions.h"
#include "ui/shell/palette.h"
#include "ui/views/lockstable.h"

#include <QAction>
#include <QLineEdit>
#include <QListWidget>
#include <QTabWidget>

using inspect::LockName;

class TestPalette : public testing::WindowFixture {
    Q_OBJECT

    ui::CommandPalette &palette() { return *m_window->findChild<ui::CommandPalette *>(); }
    QStringList rows()
    {
        QStringList texts;
        for (int row = 0; row < palette().list().count(); ++row)
            texts << palette().list().item(row)->data(Qt::AccessibleTextRole).toString();
        return texts;
    }
    void openPalette() { QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier); }
    void type(const QString &text) { QTest::keyClicks(&palette().field(), text); }
    void press(Qt::Key key) { QTest::keyClick(&palette().field(), key); }

private slots:
    void init()
    {
        openWindow();
        notifyConnected();
        m_backend->notifyLocks(
            {lockOf("/locks/orders", 1), lockOf("/locks/reorders", 1), lockOf("/locks/nightly-report", 1)});
    }

    void showsPagesAndActionsWithTheirKeys()
    {
        m_window->selectLock({ConnectionName("zk"), "/locks/orders"}); // or it could not be released
        openPalette();
        QVERIFY(palette().isVisible());
        QCOMPARE(QApplication::focusWidget(), &palette().field());
        QVERIFY(rows().contains(u"Page, Locks, Ctrl+1"_s));
        QVERIFY(rows().contains(u"Do, Force-release the chosen lock…, Ctrl+Shift+F"_s));
    }

    void everyActionIsInIt()
    {
        openPalette();
        for (const auto *action : m_window->actions().all()) {
            if (action->objectName() == u"palette"_s)
                continue;
            palette().field().setText(action->text().remove(u'…'));
            QVERIFY2(palette().list().item(0)->text() == action->text(), qPrintable(action->text()));
        }
    }

    void theBestFitIsFirstAndEnterGoesThere()
    {
        m_window->showPage(u"log"_s);
        openPalette();
        type(u"orders"_s);
        // Beside it what tells it from others: its state, its holder, its connection.
        QCOMPARE(rows().first(), u"Lock, /locks/orders, contended · 10.0.3.7:56332 · zk"_s);
        QVERIFY(rows().at(1).startsWith(u"Lock, /locks/reorders, "_s));
        press(Qt::Key_Down);
        press(Qt::Key_Return);
        QVERIFY(!palette().isVisible());
        QCOMPARE(m_window->locksPage().currentLock(),
                 std::optional(LockName{ConnectionName("zk"), "/locks/reorders"}));
        QCOMPARE(QApplication::focusWidget(), &m_window->locksPage().table());
    }

    void firstLettersOfWordsDo()
    {
        openPalette();
        type(u"nr"_s);
        const auto first = rows().mid(0, 3).join(u'\n');
        QVERIFY2(first.contains(u"Lock, /locks/nightly-report, "_s), qPrintable(rows().join(u'\n')));
        press(Qt::Key_Escape);
    }

    // A path's own name comes before the first part of another; letters in between are no word.
    void wordsComeBeforeLetters()
    {
        m_backend->notifyLocks({lockOf("orders:checkout", 1)});
        openPalette();
        type(u"orders"_s);
        QVERIFY2(rows().first().startsWith(u"Lock, /locks/orders, "_s), qPrintable(rows().join(u'\n')));
        QVERIFY2(rows().at(1).startsWith(u"Lock, orders:checkout, "_s), qPrintable(rows().join(u'\n')));
        palette().field().setText(u"quit"_s);
        QCOMPARE(rows(), QStringList{u"Do, Quit, Ctrl+Q"_s});
        palette().field().setText(u"rehearse"_s);
        QVERIFY2(rows().first().startsWith(u"Do, Rehearse"_s), qPrintable(rows().join(u'\n')));
    }

    void statesFindingsSettingsAndLessonsAreFound()
    {
        auto lock = testing::queueLock("zk", "/locks/forever", 1, testing::serverTime(present));
        inspect::addFinding(lock, inspect::FindingCode::NoTtl, u"it never ends"_s, {lock.contenders[0].id});
        m_backend->notifyLocks({testing::change(inspect::ChangeKind::Added, lock)});
        QTRY_VERIFY(!m_window->findChild<ui::LessonsPage *>()->lessons().lessons.empty());
        openPalette();
        const auto finds = [this](const QString &typed, const QString &row) {
            palette().field().setText(typed);
            return rows().filter(row).size() > 0;
        };
        QVERIFY(finds(u"no expiry"_s, u"Lock, /locks/forever"_s));
        QVERIFY(finds(inspect::kindOf(inspect::FindingCode::NoTtl).title.toString(), u"Finding, "_s));
        QVERIFY(finds(u"dark"_s, u"Do, Dark colors"_s));
        QVERIFY(finds(u"sandbox"_s, u"Do, Start a sandbox"_s));
        QVERIFY(finds(u"theme"_s, u"Do, Light colors"_s));
        QVERIFY(finds(u"herd"_s, u"Lesson, "_s));
        QVERIFY(finds(u"threshold"_s, u"Setting, "_s));
        press(Qt::Key_Return);
        auto *settings = m_window->findChild<ui::SettingsDialog *>();
        QVERIFY(settings);
        QCOMPARE(settings->tabs().currentIndex(), 1);
        settings->reject();
    }

    void noWriteIsChosenByItself()
    {
        m_window->selectLock({ConnectionName("zk"), "/locks/orders"});
        planReleases(1);
        openPalette();
        type(u"force"_s);
        QVERIFY(rows().first().startsWith(u"Do, Force-release"_s));
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        QVERIFY(folder.isEmpty() || m_window->grab().save(folder + u"/palette.png"_s));
        press(Qt::Key_Return);
        QVERIFY(palette().isVisible() && !m_window->findChild<ui::ForceReleaseDialog *>());
        press(Qt::Key_Down);
        press(Qt::Key_Return);
        QTRY_VERIFY(m_window->findChild<ui::ForceReleaseDialog *>());
    }

    void typedLettersAreKnownForBold()
    {
        QCOMPARE(ui::FuzzyQuery(u"ord"_s).matched(u"/locks/orders"_s), (QList<int>{7, 8, 9}));
        QCOMPARE(ui::FuzzyQuery(u"nr"_s).matched(u"/locks/nightly-report"_s), (QList<int>{7, 15}));
        QCOMPARE(ui::FuzzyQuery(u"x"_s).matched(u"/locks/orders"_s), QList<int>());
    }

    void escapeGivesTheFocusBack()
    {
        auto &table = m_window->locksPage().table();
        table.setFocus();
        openPalette();
        type(u"ord"_s);
        press(Qt::Key_Escape);
        QVERIFY(!palette().isVisible());
        QCOMPARE(QApplication::focusWidget(), &table);
        openPalette(); // and begins anew
        QCOMPARE(palette().field().text(), QString());
        openPalette();
        QVERIFY(!palette().isVisible());
        QCOMPARE(QApplication::focusWidget(), &table);
    }

    void aSessionIsFoundByWhereItIsFrom()
    {
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("zk");
        session.session = u"0x1000009b4890001"_s;
        session.endpoint = u"10.0.3.7:56332"_s;
        m_backend->tell({.sessions = {{session.connection, {session}}}});
        openPalette();
        type(u"10.0.3.7"_s);
        QCOMPARE(rows().first(), u"Session, 0x1000009b4890001  10.0.3.7:56332, zk"_s);
        press(Qt::Key_Return);
        QVERIFY(m_window->findChild<ui::SessionsPage *>()->isVisible());
    }

    void searchWithoutHitDoesNothing()
    {
        openPalette();
        type(u"no such thing anywhere"_s);
        QCOMPARE(palette().list().item(0)->text(), u"Nothing fits"_s);
        press(Qt::Key_Return);
        QVERIFY(palette().isVisible());
    }

    // However many fit, a screenful is made of them; hostile names are escaped.
    void manyLocks_bestHitsAreShown()
    {
        std::vector<inspect::SnapshotChange> many;
        for (int i = 0; i < 3000; ++i)
            many.push_back(lockOf("/jobs/job-" + QByteArray::number(10000 + i), 1));
        many.push_back(lockOf("/jobs/\x1b[31m", 1));
        m_backend->notifyLocks(many);
        openPalette();
        type(u"job"_s);
        QCOMPARE(palette().list().count(), static_cast<int>(ui::PaletteHits::most));
        palette().field().setText(u"job-12345"_s);
        QCOMPARE(palette().list().item(0)->text(), u"/jobs/job-12345"_s);
        palette().field().setText(u"31m"_s);
        QCOMPARE(palette().list().item(0)->text(), u"/jobs/\\x1B[31m"_s);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestPalette)
#include "tst_palette.moc"
