// SPDX-License-Identifier: Apache-2.0
// What the window says around the rows: whose they are, why a connection is not there, what a restart brings back.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/acquiredialog.h"
#include "ui/dialogs/connectform.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/znodespage.h"
#include "ui/parts/labels.h"
#include "ui/parts/notices.h"
#include "ui/parts/tabletools.h"
#include "ui/shell/bars.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"
#include "ui/theme/theme.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"
#include "ui/windowdialogs.h"

#include <QAbstractButton>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QMenu>
#include <QSettings>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTreeView>

#include <algorithm>

using inspect::ChangeKind;

class TestWindowWords : public testing::WindowFixture {
    Q_OBJECT

    void tell(const QByteArray &name, bool production,
              ConnectionStatus::State state = ConnectionStatus::State::Connected)
    {
        auto status = testing::connectedStatus(name, Scheme::ZooKeeper, production, present);
        status.state = state;
        if (state != ConnectionStatus::State::Connected) {
            status.asOf = {};
            status.message = u"10.0.0.5:2181 refused the connection"_s;
        }
        m_backend->notifyConnection(status);
    }

    bool clickOnPage(const QString &text)
    {
        for (auto *button : page().findChildren<QPushButton *>()) {
            if (button->text() == text && button->isVisible()) {
                button->click();
                return true;
            }
        }
        return false;
    }
    ui::ConnectionChooser &header() { return *part<ui::ConnectionChooser>("environment"); }
    void choose(const QString &connection) { header().list().choose(ConnectionName(connection.toUtf8())); }

private slots:
    void init()
    {
        openWindow();
        m_window->resize(1366, 700);
    }

    // In the heads of their groups, and in what is exported.
    void rowsSayWhoseTheyAreAsSoonAsThereAreTwo()
    {
        tell("live", true);
        auto &table = page().table();
        QVERIFY(!table.tools().csv().contains("Connection"));
        tell("test", false);
        m_backend->notifyLocks({change(ChangeKind::Added, queueLock("live", "/a", 1, testing::serverTime(present))),
                                change(ChangeKind::Added, queueLock("test", "/a", 0, testing::serverTime(present)))});
        QCOMPARE(table.model()->index(0, ui::LockRow::Connection).data().toString(), u"live"_s);
        QVERIFY2(table.tools().csv().startsWith("State,Lock,Connection,"), table.tools().csv().constData());
    }

    void aConnectionThatNobodyMarkedIsNotCalledSafe()
    {
        const auto *tag = &header();
        tell("plain", false);
        m_window->selectLock({ConnectionName("plain"), "/a"});
        QCOMPARE(tag->shownName(), u"unmarked · plain"_s);
        QVERIFY(!tag->isProduction());
        tell("plain", false, ConnectionStatus::State::AuthFailed);
        QCOMPARE(tag->shownName(), u"plain"_s);
        tell("plain", true, ConnectionStatus::State::AuthFailed);
        QCOMPARE(tag->shownName(), u"PROD · plain"_s);
        tell("plain", false);
        m_window->connections().mark(ConnectionName("plain"),
                                     {m_window->connections().find(ConnectionName("plain"))->uri, true});
        QCOMPARE(tag->shownName(), u"DEV · plain"_s);
        m_window->connections().markSandbox(ConnectionName("plain"), Scheme::ZooKeeper);
        tell("plain", false);
        QCOMPARE(tag->shownName(), u"sandbox · plain"_s);
    }

    // With two servers nothing had said whose tree the page shows, and whether that is production.
    void aPageOfOneConnectionSaysWhich()
    {
        const auto *tag = &header();
        tell("gone", false, ConnectionStatus::State::Connecting);
        m_window->showPage(u"znodes"_s);
        QCOMPARE(tag->shownName(), u"gone"_s);
        tell("live", true);
        QCOMPARE(tag->shownName(), u"gone"_s); // it may still come
        tell("gone", false, ConnectionStatus::State::Broken);
        QCOMPARE(tag->shownName(), u"PROD · live"_s);
        tell("gone", false);
        QCOMPARE(tag->shownName(), u"PROD · live"_s); // what is on screen stays
        m_window->showPage(u"findings"_s);
        QCOMPARE(tag->shownName(), u"1 PROD · 2 connections"_s);
    }

    // "3 keys" of one server is no word of another.
    void progressSaysWhoseItIs()
    {
        auto *progress = m_window->findChild<QLabel *>(u"progress"_s);
        tell("east", false);
        QVERIFY2(progress->text().contains(u"311"_s) && !progress->text().contains(u"east"_s),
                 qPrintable(progress->text())); // there is no other
        tell("south", false);
        QVERIFY2(progress->text().contains(u"east: 311"_s) && progress->text().contains(u"south: 311"_s),
                 qPrintable(progress->text()));
        tell("west", false);
        m_window->resize(1366, 768);
        const auto named = progress->text().count(u": 311"_s);
        QVERIFY2(named >= 1 && (named == 3 || progress->text().endsWith(u"and %1 more"_s.arg(3 - named))),
                 qPrintable(progress->text()));
        QVERIFY(progress->toolTip().contains(u"west: 311"_s));
    }

    // What is missing is said in whole before how it is looked for, and no line is cut through.
    void progressGivesWayToWhatIsMissing()
    {
        auto *progress = m_window->findChild<QLabel *>(u"progress"_s);
        auto *coverage = m_window->findChild<QLabel *>(u"coverage"_s);
        const auto fits = [](const QLabel *label) {
            return label->isHidden() || label->fontMetrics().horizontalAdvance(label->text()) <= label->width();
        };
        m_window->resize(1366, 768);
        for (const auto *name : {"east", "south", "west"})
            tell(name, false);
        QTRY_VERIFY(fits(progress));
        QVERIFY(!progress->isHidden());
        const ConnectionName east("east");
        m_backend->tell({.coverage = {{east, {{east, false, QString(60, u'm')}}}}});
        QTRY_VERIFY2(coverage->text().contains(QString(60, u'm')) && fits(coverage), qPrintable(coverage->text()));
        QVERIFY2(fits(progress), qPrintable(progress->text()));
        m_backend->tell({.coverage = {{east, {}}}});
        QTRY_VERIFY(!progress->isHidden());
        m_window->findChild<ui::StatusBar *>()->notify(QString(60, u'm'));
        QTRY_VERIFY2(fits(progress), qPrintable(progress->text()));
    }

    void ourOwnHoldIsMarkedAndReleasedNotForced()
    {
        tell("test", false);
        const auto lock = queueLock("test", "/a", 1, testing::serverTime(present));
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(lock.lock);
        auto *act = m_window->findChild<QPushButton *>(u"forceReleaseButton"_s);
        QCOMPARE(act->text(), u"Force-release…"_s);

        Hold hold{.id = 7};
        hold.request.lock = lock.lock;
        hold.request.recipe = "curator-mutex";
        hold.state = Hold::State::Held;
        hold.contender = lock.contenders.front().id;
        m_backend->notifyHold(hold);
        QCOMPARE(act->text(), u"Release"_s);
        const auto *queue = m_window->findChild<ui::QueueTable *>(u"queueTable"_s);
        QVERIFY(queue);
        const auto who = [queue](int row) {
            return queue->model()->index(row, ui::QueueModel::Who).data().toString();
        };
        QVERIFY2(who(0).endsWith(u"(you)"_s), qPrintable(who(0)));
        QVERIFY(!who(1).contains(u"(you)"_s));
        act->click();
        QVERIFY(m_backend->wasCalled(u"release 7"_s));

        hold.state = Hold::State::Released;
        m_backend->notifyHold(hold);
        QCOMPARE(act->text(), u"Force-release…"_s);
    }

    void closingAsksWhileSomethingIsHeld()
    {
        tell("test", false);
        Hold hold{.id = 7};
        hold.request.lock = {ConnectionName("test"), "/a"};
        hold.request.recipe = "curator-mutex";
        hold.state = Hold::State::Held;
        m_backend->notifyHold(hold);
        m_window->close();
        QVERIFY(m_window->isVisible());
        auto *question = m_window->findChild<QMessageBox *>(u"closeQuestion"_s);
        QVERIFY(question);
        question->reject();
        QVERIFY(m_window->isVisible());
        QTRY_VERIFY(!m_window->findChild<QMessageBox *>(u"closeQuestion"_s));

        m_window->close();
        question = m_window->findChild<QMessageBox *>(u"closeQuestion"_s);
        QVERIFY(question);
        for (auto *button : question->buttons()) {
            if (question->buttonRole(button) == QMessageBox::AcceptRole)
                button->click();
        }
        QVERIFY(!m_window->isVisible());
    }

    void nothingHeldClosesAtOnce()
    {
        tell("test", false);
        QVERIFY(m_window->close());
    }

    // Production is a shape, a striped line below the bar: red is left to what is wrong.
    void productionHasAStripedLine()
    {
        auto *bar = part<ui::TopBar>("topBar");
        const auto isStriped = [bar] {
            const auto line = bar->grab().toImage();
            int changes = 0;
            for (int x = 1; x < line.width(); ++x)
                changes += line.pixel(x, line.height() - 3) == line.pixel(x - 1, line.height() - 3) ? 0 : 1;
            return changes > 100;
        };
        tell("test", false);
        QVERIFY(!isStriped());
        tell("live", true);
        QVERIFY(isStriped());
        m_window->selectLock({ConnectionName("test"), "/a"});
        QVERIFY(!isStriped());
    }

    void theHeaderOfAPageWithoutServersSaysSo()
    {
        tell("live", true);
        QCOMPARE(header().shownName(), u"PROD · live"_s);
        m_window->showPage(u"lessons"_s);
        QCOMPARE(header().shownName(), u"nothing live on this page"_s);
        QVERIFY(!header().isProduction());
        m_window->showPage(u"locks"_s);
        QVERIFY(header().isProduction());
    }

    // A connection that comes while the list is open moves no choice to a neighbor: Enter is about to be pressed.
    void theListKeepsTheChosenConnection()
    {
        tell("b", false);
        auto *list = m_window->findChild<ui::ConnectionList *>();
        QVERIFY(list);
        list->open({});
        list->rows().setCurrentRow(0);
        QCOMPARE(list->rows().currentItem()->text(), u"b"_s);
        tell("c", false);
        QTRY_COMPARE(list->rows().count(), 4); // all, b, c, another one
        QCOMPARE(list->rows().currentItem()->text(), u"b"_s);
        list->close();
    }

    // A task bar shows nothing but the title.
    void theTitleNamesConnectionAndIncidents()
    {
        QCOMPARE(m_window->windowTitle(), u"Lockscope"_s);
        tell("live", true);
        QCOMPARE(m_window->windowTitle(), u"live PROD - Lockscope"_s);
        auto lock = queueLock("live", "/a", 1, testing::serverTime(present));
        inspect::addFinding(lock, inspect::FindingCode::NoTtl, u"it never ends"_s, {lock.contenders[0].id});
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        QTRY_COMPARE(m_window->windowTitle(), u"1 critical, live PROD - Lockscope"_s);
        const auto items = m_window->findChildren<ui::RailItem *>();
        const auto findings = std::ranges::find(items, u"Findings"_s, &QAbstractButton::text);
        QVERIFY((*findings)->badge() == u"1"_s && (*findings)->isBadgeCritical());
        tell("test", false);
        QTRY_COMPARE(m_window->windowTitle(), u"1 critical, live PROD - Lockscope"_s); // the chosen lock's
        m_window->showPage(u"lessons"_s);
        QCOMPARE(m_window->windowTitle(), u"1 critical, 2 connections - Lockscope"_s);
    }

    // The words of the rail go where their room is needed; the tooltip has them.
    void aNarrowWindowHasIconsOnly()
    {
        const auto *rail = part<ui::SideBar>("sideBar");
        const auto items = m_window->findChildren<ui::RailItem *>();
        QCOMPARE(items.size(), 12);
        m_window->resize(1200, 700);
        QTRY_COMPARE(rail->width(), 76);
        QVERIFY(std::ranges::all_of(items, &ui::RailItem::showsWord));
        m_window->resize(1199, 700);
        QTRY_COMPARE(rail->width(), 52);
        QVERIFY(std::ranges::none_of(items, &ui::RailItem::showsWord));
        QVERIFY(std::ranges::all_of(items, [](const auto *item) { return item->toolTip().contains(item->text()); }));
        for (const int height :
             {360, 500, 700, 900}) { // and all of them are in the window, each as high as the others
            m_window->resize(1366, height);
            QTRY_VERIFY(std::ranges::all_of(items, [&](const auto *item) {
                return item->height() == items.front()->height() && item->height() >= 20
                       && rail->rect().contains(item->geometry());
            }));
        }
    }

    // The list of connections: state, environment, latency; by keys alone.
    void theHeaderListsAllConnections()
    {
        tell("live", true);
        tell("other", false, ConnectionStatus::State::Broken);
        header().setFocus();
        QTest::keyClick(&header(), Qt::Key_Return);
        auto &rows = header().list().rows();
        QTRY_VERIFY(rows.isVisible());
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        QVERIFY(folder.isEmpty() || header().list().grab().save(folder + u"/connections.png"_s));
        QVERIFY(folder.isEmpty() || m_window->grab().save(folder + u"/header.png"_s));
        QStringList described;
        for (int row = 0; row < rows.count(); ++row)
            described << rows.item(row)->data(Qt::AccessibleTextRole).toString();
        QVERIFY2(described.at(1).startsWith(u"live, PROD, connected, "_s), qPrintable(described.join(u'\n')));
        QVERIFY2(described.at(2).contains(u"broken"_s), qPrintable(described.join(u'\n')));
        QCOMPARE(rows.item(3)->text(), u"Connect…"_s);
        QTest::keyClick(&rows, Qt::Key_Down);
        QTest::keyClick(&rows, Qt::Key_Return);
        QVERIFY(!rows.isVisible());
        QCOMPARE(header().shownName(), u"PROD · live"_s);
    }

    void aConnectionThatNeverCameSaysWhyInThePage()
    {
        tell("test", false);
        m_backend->notifyLocks({change(ChangeKind::Added, queueLock("test", "/a", 0, testing::serverTime(present)))});
        tell("other", false, ConnectionStatus::State::Broken);
        auto *banner = m_window->findChild<ui::Banner *>(u"brokenBanner"_s);
        QVERIFY(banner);
        QTRY_VERIFY(banner->isVisible());
        QVERIFY(banner->sentence().startsWith(u"10.0.0.5:2181 refused the connection"_s));
        QCOMPARE(banner->button()->text(), u"Retry"_s);
        banner->button()->click();
        QVERIFY(m_backend->wasCalled(u"retry other"_s));
        QSignalSpy asked(m_window.get(), &ui::MainWindow::connectRequested);
        QVERIFY(banner->secondButton()->isVisible());
        banner->secondButton()->click();
        QCOMPARE(asked.count(), 1);
    }

    // In the banner, which can do something about it, and not once more below.
    void whyItIsNotConnectedIsSaidOnce()
    {
        tell("other", false, ConnectionStatus::State::Broken);
        auto *banner = m_window->findChild<ui::Banner *>(u"brokenBanner"_s);
        QVERIFY(banner);
        QTRY_VERIFY(banner->isVisible());
        int said = 0, titles = 0;
        for (const auto *text : m_window->findChildren<QLabel *>()) {
            said += text->isVisible() && text->text().contains(u"refused the connection"_s) ? 1 : 0;
            titles += text->isVisible() && text->text() == u"other is not connected"_s ? 1 : 0;
        }
        QCOMPARE(said, 1);
        QCOMPARE(titles, 1);
    }

    void itsMenuRetriesAndEdits()
    {
        tell("other", false, ConnectionStatus::State::AuthFailed);
        const auto *menu = header().list().showMenu(ConnectionName("other"), {});
        QVERIFY(menu);
        QStringList words;
        for (auto *action : menu->actions()) {
            words << action->text();
            if (action->text() == u"Retry"_s)
                action->trigger();
        }
        QVERIFY2(words.contains(u"Edit…"_s), qPrintable(words.join(u", "_s)));
        QVERIFY(m_backend->wasCalled(u"retry other"_s));
    }

    // The entry of that connection, which then takes its place.
    void editOpensThatConnectionsEntry()
    {
        QTemporaryDir folder;
        ConnectionStore store(folder.filePath(u"connections.json"_s), nullptr);
        for (const auto *name : {"first", "other"}) {
            SavedConnection saved{.name = QString::fromLatin1(name)};
            saved.uri = u"zk://10.0.0.5:2181"_s;
            QVERIFY(store.save(saved));
        }
        m_window->useConnections(store);
        tell("other", false, ConnectionStatus::State::Broken);
        tell("unsaved", false, ConnectionStatus::State::Broken);
        const auto banners = m_window->findChildren<ui::Banner *>(u"brokenBanner"_s);
        QCOMPARE(banners.size(), 2);
        banners[0]->secondButton()->click();
        auto *dialog = m_window->findChild<ui::ConnectDialog *>();
        QVERIFY(dialog);
        QCOMPARE(dialog->form()->read()->name, u"other"_s);
        dialog->connectButton()->click();
        QVERIFY(m_backend->wasCalled(u"disconnectFrom other"_s));
        QCOMPARE(m_backend->last<Connect>()->spec.name, ConnectionName("other"));
        QTRY_VERIFY(!m_window->findChild<ui::ConnectDialog *>());
        banners[0]->secondButton()->click(); // now the only one
        dialog = m_window->findChild<ui::ConnectDialog *>();
        QVERIFY(dialog);
        QCOMPARE(dialog->form()->read()->name, u"unsaved"_s);
        QCOMPARE(dialog->form()->read()->id, QString());
        dialog->reject();
    }

    void theAcquireFormSaysWhere()
    {
        tell("live", true);
        m_window->dialogs().openAcquire();
        auto *dialog = m_window->findChild<ui::AcquireDialog *>();
        QVERIFY(dialog);
        QCOMPARE(dialog->findChild<QLabel *>(u"environment"_s)->text(), u"PROD · live"_s);
    }

    void everyColumnSaysWhatStandsInIt()
    {
        const auto *model = page().table().model();
        for (int column = 0; column < model->columnCount(); ++column)
            QVERIFY(!model->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    }

    void inASmallWindowTheNameKeepsItsRoom()
    {
        const auto *tree = m_window->findChild<ui::ZnodesPage *>()->findChild<QTreeView *>();
        tell("live", false);
        m_window->showPage(u"znodes"_s);
        QVERIFY(!tree->isColumnHidden(1));
        m_window->resize(760, 480);
        QTRY_VERIFY(tree->isColumnHidden(5)); // when it was modified
        QVERIFY(tree->columnWidth(0) >= 100);
        m_window->resize(1366, 700);
        QTRY_VERIFY(!tree->isColumnHidden(5));
    }

    // The answer is whole, and so are the buttons.
    void inASmallWindowNothingIsCut()
    {
        m_window->resize(760, 480);
        tell("live", false);
        m_backend->notifyLocks({change(ChangeKind::Added, queueLock("live", "/a", 3, testing::serverTime(present)))});
        m_window->selectLock({ConnectionName("live"), "/a"});
        const auto *answer = page().detail().findChild<ui::AnswerLabel *>();
        const auto *button = page().detail().findChild<QPushButton *>(u"forceReleaseButton"_s);
        QTRY_VERIFY(answer->height() >= answer->heightForWidth(answer->width()));
        QTRY_VERIFY(button->height() >= button->sizeHint().height());
    }

    // Below a long finding, too.
    void nextOwnerIsReadable()
    {
        m_window->resize(1200, 768);
        tell("live", false);
        auto lock = queueLock("live", "/a", 1, testing::serverTime(present));
        inspect::addFinding(lock, inspect::FindingCode::Deadlock, u"holds zk:/a and waits for zk:/b; "_s.repeated(20),
                            {lock.contenders[0].id});
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock({ConnectionName("live"), "/a"});
        const auto *next = page().detail().findChild<QLabel *>(u"nextOwner"_s);
        QTRY_VERIFY(next->isVisible());
        QTRY_VERIFY2(next->height() >= next->fontMetrics().lineSpacing(),
                     qPrintable(QString::number(next->height())));
    }

    // Two and a half lines of room are two lines, and the second says that there is more.
    void noLineIsCutThrough()
    {
        ui::WholeLinesLabel label;
        label.setText(u"holds zk:/a and waits for zk:/b; "_s.repeated(20));
        const int line = label.fontMetrics().lineSpacing();
        label.resize(300, line * 5 / 2);
        QVERIFY(label.isCut());
        QImage painted;
        const auto isBlank = [&painted](int from, int to) {
            const auto background = painted.pixel(painted.width() - 1, painted.height() - 1);
            for (int y = from; y < to; ++y) {
                for (int x = 0; x < painted.width(); ++x) {
                    if (painted.pixel(x, y) != background)
                        return false;
                }
            }
            return true;
        };
        painted = label.grab().toImage();
        QVERIFY(!isBlank(0, line) && !isBlank(line, 2 * line));
        QVERIFY(isBlank(2 * line, painted.height()));
        label.resize(300, label.heightForWidth(300));
        QVERIFY(!label.isCut());
        label.setMinimumHeight(1);
        label.resize(300, line / 2);
        painted = label.grab().toImage();
        QVERIFY(isBlank(0, painted.height()));
    }

    void aCutClientKeepsItsHost()
    {
        const QFontMetricsF metrics(ui::textFont());
        const auto name = u"settlement-leader@batch-01.eu-central-1.example.net"_s;
        const auto cut =
            ui::elidedClient(metrics, name, metrics.horizontalAdvance(u"settlem…@batch-01…"_s) + 2, Qt::ElideRight);
        QVERIFY2(cut.startsWith(u"settl"_s) && cut.endsWith(u"…@batch-01…"_s), qPrintable(cut));
        QCOMPARE(ui::elidedClient(metrics, name, 2000, Qt::ElideRight), name);
        const auto wide = metrics.horizontalAdvance(u"settlement-leader@batch-01.eu-c…"_s) + 2;
        QVERIFY(ui::elidedClient(metrics, name, wide, Qt::ElideMiddle).startsWith(u"settlement-leader@batch-01."_s));
        QCOMPARE(ui::elidedClient(metrics, u"/locks/orders"_s, 40, Qt::ElideMiddle),
                 metrics.elidedText(u"/locks/orders"_s, Qt::ElideMiddle, 40)); // what is no client is cut as before
    }

    // A name is the last thing to be cut.
    void aLongNameHasTheRoomOfEmptyFindings()
    {
        tell("live", false);
        const auto &table = page().table();
        const QByteArray name = "/services/payments/locks/nightly-settlement/europe";
        m_backend->notifyLocks({change(ChangeKind::Added, queueLock("live", name, 0, testing::serverTime(present)))});
        const auto index = table.model()->index(0, ui::LockRow::Lock);
        QTRY_VERIFY(table.columnWidth(ui::LockRow::Lock) >= table.sizeHintForIndex(index).width());
    }

    void theFirstRunOffersTheSandbox()
    {
        QSignalSpy asked(m_window.get(), &ui::MainWindow::demoRequested);
        QVERIFY(clickOnPage(u"Start the sandbox"_s));
        QCOMPARE(asked.count(), 1);
        const auto notices = page().findChildren<ui::EmptyNotice *>();
        QVERIFY(std::ranges::count(notices, u"The sandbox is starting…"_s, &ui::EmptyNotice::title) == 1);
        tell("live", false);
        m_backend->notifyLocks({change(ChangeKind::Added, queueLock("live", "/a", 0, testing::serverTime(present))),
                                change(ChangeKind::Added, queueLock("live", "/b", 2, testing::serverTime(present)))});
        page().showFilled();
        QCOMPARE(page().currentLock(), (inspect::LockName{ConnectionName("live"), "/b"})); // the worst of them
    }

    void anEmptySandboxOffersToFillIt()
    {
        m_window->connections().markSandbox(ConnectionName("live"), Scheme::ZooKeeper);
        tell("live", false);
        QSignalSpy asked(m_window.get(), &ui::MainWindow::demoRequested);
        QVERIFY(clickOnPage(u"Fill with demo locks"_s));
        QCOMPARE(asked.count(), 1);
        QVERIFY(!clickOnPage(u"Fill with demo locks"_s)); // once is enough
    }

    // The bars speak of what the page shows: a tree of production is never below the mark of another connection.
    void theBarNamesTheConnectionOfThePage()
    {
        tell("prod-zk", true);
        m_backend->notifyConnection(testing::connectedStatus("mariadb", Scheme::MariaDb, false, present));
        const auto *bar = &header();
        choose(u"mariadb"_s);
        QCOMPARE(bar->shownName(), u"unmarked · mariadb"_s);
        m_window->showPage(u"znodes"_s);
        QCOMPARE(bar->shownName(), u"PROD · prod-zk"_s);
        const auto *page = m_window->findChild<ui::ZnodesPage *>();
        QCOMPARE(page->findChild<QLabel *>(u"pageEnvironment"_s)->text(), u"PROD · prod-zk"_s);
        const auto *nothing = page->findChild<QLabel *>(u"nothingOfChosen"_s);
        QVERIFY(nothing->isVisible());
        QCOMPARE(nothing->text(), u"mariadb has no znodes"_s);
        m_window->showPage(u"log"_s); // which has the commands of all connections
        QCOMPARE(bar->shownName(), u"1 PROD · 2 connections"_s);
        m_window->showPage(u"locks"_s);
        QCOMPARE(bar->shownName(), u"unmarked · mariadb"_s);
        choose(u"prod-zk"_s);
        m_window->showPage(u"znodes"_s);
        QVERIFY(!nothing->isVisible());
    }

    void restoredColumnsArePerPageAndFitTheirTitles()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        auto *sessions = m_window->findChild<ui::SessionsPage *>()->findChild<QTreeView *>();
        sessions->header()->resizeSection(1, 222);
        sessions->header()->resizeSection(2, 41);
        m_window->saveView(settings);
        settings.sync();
        ui::MainWindow other(*m_backend);
        other.pages().all();
        const auto *znodes = other.findChild<ui::ZnodesPage *>()->findChild<QTreeView *>();
        const int usual = znodes->columnWidth(1);
        other.restoreView(settings);
        const auto *restored = other.findChild<ui::SessionsPage *>()->findChild<QTreeView *>();
        QCOMPARE(restored->columnWidth(1), 222);
        QVERIFY(restored->columnWidth(2) >= restored->header()->sectionSizeHint(2));
        QCOMPARE(znodes->columnWidth(1), usual);
    }

    void aRememberedOrderHidesNoCriticalLock()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        page().table().setColumnWidth(ui::LockRow::Lock, 300);
        page().table().sortByColumn(ui::LockRow::Lock, Qt::AscendingOrder);
        m_window->saveView(settings);
        ui::MainWindow other(*m_backend);
        other.restoreView(settings);
        QCOMPARE(other.locksPage().table().horizontalHeader()->sortIndicatorSection(), -1);
    }

    void sortingByWaitersPutsTheMostFirst()
    {
        const auto *model = page().table().model();
        QCOMPARE(model->headerData(ui::LockRow::Waiting, Qt::Horizontal, Qt::InitialSortOrderRole).toInt(),
                 static_cast<int>(Qt::DescendingOrder));
    }

    void theFirstWindowFitsTheScreen()
    {
        ui::MainWindow first(*m_backend);
        first.fitInto(QRect(0, 0, 1366, 768));
        QVERIFY(first.width() <= 1366 - 16 && first.height() <= 768 - 44);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowWords)
#include "tst_window_words.moc"
