// SPDX-License-Identifier: Apache-2.0
// The menu of a row, wherever the row stands: what it offers, what it copies, where it goes; and what tables share:
// Ctrl+C, chosen columns, export.
#include "core/inspect/findings.h"
#include "core/workspace/mutes.h"
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/mutedialog.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/logpage.h"
#include "ui/pages/page.h"
#include "ui/pages/rowmenus.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/znodespage.h"
#include "ui/parts/tabletools.h"
#include "ui/shell/connectionchooser.h"
#include "ui/views/findingstable.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"

#include <QClipboard>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>

using inspect::LockName;

namespace {

const LockName menuOrders{ConnectionName("zk"), "/locks/orders"};

} // namespace

class TestRowMenus : public testing::WindowFixture {
    Q_OBJECT

    ui::LocksTable &table() { return page().table(); }
    QMenu *menu() { return qobject_cast<QMenu *>(QApplication::activePopupWidget()); }
    QStringList entries()
    {
        QStringList words;
        if (auto *open = menu()) {
            for (const auto *action : open->actions()) {
                if (!action->isSeparator())
                    words << action->text();
            }
        }
        return words;
    }
    void choose(const QString &words)
    {
        auto *open = menu();
        QVERIFY(open);
        for (auto *action : open->actions()) {
            if (action->text() == words) {
                action->trigger();
                open->close();
                return;
            }
        }
        QFAIL(qPrintable(u"no %1 in %2"_s.arg(words, entries().join(u", "_s))));
    }
    QString copied(const QString &words)
    {
        QGuiApplication::clipboard()->clear();
        choose(words);
        return QGuiApplication::clipboard()->text();
    }
    void openMenuOf(QWidget *view) { QTest::keyClick(view, Qt::Key_F10, Qt::ShiftModifier); }
    void notifySession()
    {
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("zk");
        session.session = u"0x1000009b4890001"_s;
        session.endpoint = u"10.0.3.7:56332"_s;
        session.holds = {"/locks/orders"};
        m_backend->tell({.sessions = {{session.connection, {session}}}});
    }

private slots:
    void init()
    {
        openWindow();
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 2), lockOf("/locks/=cmd", 0)});
        m_window->selectLock(menuOrders);
    }
    void cleanup()
    {
        if (auto *open = menu())
            open->close();
        closeWindow();
    }

    void aLockIsCopiedAsNameCommandAndJson()
    {
        openMenuOf(&table());
        QCOMPARE(copied(u"Copy name"_s), u"zk:/locks/orders"_s);
        openMenuOf(&table());
        QCOMPARE(copied(u"Copy link"_s), u"lockscope://open?connection=zk&lock=%2Flocks%2Forders"_s);
        QTest::keyClick(&table(), Qt::Key_Menu);
        QCOMPARE(copied(u"Copy as command"_s), u"lockscopectl --connect 'zk=zk://zk:2181' show 'zk:/locks/orders'"_s);
        openMenuOf(&table());
        const auto json = QJsonDocument::fromJson(copied(u"Copy as JSON"_s).toUtf8()).object();
        QCOMPARE(json[u"schema"_s].toString(), u"lockscope/1"_s);
        QCOMPARE(json[u"lock"_s][u"contenders"_s].toArray().size(), 3);
    }

    // Where something is listed it can be copied and written to a file, and columns be chosen.
    void everyTableHasItsTools()
    {
        for (const auto *one : m_window->findChildren<ui::Page *>()) {
            const QString what = QString::fromLatin1(one->metaObject()->className());
            if (what.contains(u"Simulator"_s) || what.contains(u"Lessons"_s))
                continue; // which have exports of their own
            for (const auto *view : one->findChildren<QAbstractItemView *>()) {
                if (qobject_cast<const QTableView *>(view) || qobject_cast<const QTreeView *>(view))
                    QVERIFY2(ui::TableTools::of(view), qPrintable(what + u": "_s + view->accessibleName()));
            }
        }
    }

    void aFindingIsMutedCopiedAndExported()
    {
        QTemporaryDir folder;
        MuteStore mutes(folder.filePath(u"mutes.json"_s));
        m_window->useMutes(mutes);
        auto lock = lockOf("/locks/=cmd", 1);
        inspect::addFinding(lock.lock, inspect::FindingCode::LongWait, u"has waited for \"long\", 4 m"_s,
                            {lock.lock.contenders[1].id});
        m_backend->notifyLocks({lock});
        m_window->showPage(u"findings"_s);
        auto *findings = m_window->findChild<ui::FindingsPage *>();
        findings->focusContent();
        auto &view = findings->table();
        const auto csv = view.tools().csv();
        QVERIFY2(csv.contains(",/locks/=cmd,") && csv.contains(",\"has waited for \"\"long\"\", 4 m\","),
                 csv.constData());
        QCOMPARE(ui::TableTools::nearest(m_window.get()), &view.tools());
        openMenuOf(&view);
        QCOMPARE(copied(u"Copy name"_s), u"zk:/locks/=cmd"_s);
        openMenuOf(&view);
        QVERIFY(copied(u"Copy the finding"_s).contains(u"/locks/=cmd\t"_s));
        openMenuOf(&view);
        choose(u"Mute…"_s);
        QVERIFY(findings->findChild<ui::MuteDialog *>());
        // A column that was hidden stays so at every width.
        view.tools().restoreChoices({u"-%1"_s.arg(ui::FindingRow::Since)});
        m_window->resize(1500, 800);
        QVERIFY(view.isColumnHidden(ui::FindingRow::Since));
        QVERIFY(!view.isColumnHidden(ui::FindingRow::Who));
    }

    // What is copied means that key alone, in a shell and as a pattern.
    void aKeyWithSignsOfAPatternIsCopiedAsItself()
    {
        QCOMPARE(ui::SubjectMenu::keyCommand(nullptr, {ConnectionName("redis"), "it's:[a]*\\"}),
                 u"lockscopectl keys 'redis:it'\\''s:\\\\[a\\\\]\\\\*\\\\\\\\'"_s);
    }

    void theGraphIsOfferedWhereThereIsOne()
    {
        openMenuOf(&table());
        QCOMPARE(entries().contains(u"Show in the graph"_s), ui::pageIds().contains(u"graph"_s));
    }

    void aLockLeadsToItsZnodeAndItsHoldersSession()
    {
        notifySession();
        openMenuOf(&table());
        choose(u"Show the holder's session"_s);
        QVERIFY(m_window->findChild<ui::SessionsPage *>()->isVisible());
        m_window->selectLock(menuOrders);
        openMenuOf(&table());
        choose(u"Show the znode"_s);
        QVERIFY(m_window->findChild<ui::ZnodesPage *>()->isVisible());
        QTRY_VERIFY(m_backend->wasCalled(u"listZnodes zk /"_s));
    }

    // What leads nowhere is not offered, and says why.
    void aNodeThatIsNoLockOffersNone()
    {
        m_backend->on<ListZnodes>() = [](const ListZnodes &query) -> Result<std::vector<ZnodeRow>> {
            std::vector<ZnodeRow> rows(1);
            rows[0].name = NodeName(query.path.bytes() == "/" ? QByteArray("locks") : QByteArray("orders"));
            rows[0].stat.numChildren = query.path.bytes() == "/" ? 1 : 0;
            return query.path.bytes().size() > 6 ? std::vector<ZnodeRow>() : rows;
        };
        openMenuOf(&table());
        choose(u"Show the znode"_s);
        auto *tree = m_window->findChild<ui::ZnodesPage *>()->tree();
        const auto current = [tree] { return tree->currentIndex().data(ui::ZnodeNode::PathRole).toByteArray(); };
        QTRY_COMPARE(current(), "/locks/orders");
        openMenuOf(tree);
        QVERIFY2(entries().contains(u"Show the lock"_s), qPrintable(entries().join(u'\n')));
        menu()->close();
        tree->setCurrentIndex(tree->currentIndex().parent());
        QTRY_COMPARE(current(), "/locks");
        openMenuOf(tree);
        const auto all = menu()->actions();
        const auto show = std::ranges::find(all, u"Show the lock: none is seen here"_s, &QAction::text);
        QVERIFY2(show != all.end(), qPrintable(entries().join(u'\n')));
        QVERIFY(!(*show)->isEnabled());
        menu()->close();
    }

    void findByThisNarrowsTheList()
    {
        openMenuOf(&table());
        choose(u"Find by this name"_s);
        QCOMPARE(m_window->findChild<QLineEdit *>(u"find"_s)->text(), u"/locks/orders"_s);
        QCOMPARE(page().model().rowCount(), 1);
    }

    void aContenderIsTheSameInQueueAndRaw()
    {
        auto *queue = part<ui::QueueTable>("queueTable");
        queue->setCurrentContender(page().detail().snapshot()->contenders[1].id);
        openMenuOf(queue);
        const auto inQueue = entries();
        QVERIFY(inQueue.contains(u"Copy id"_s));
        QVERIFY(!inQueue.contains(u"Copy as command: rehearse its release"_s)); // it only waits
        QCOMPARE(copied(u"Copy id"_s), u"_c_5f0c2a9e-1f0b-4e0f-8c3b-52be0c1d20d7-lock-0000000042"_s);
        auto *tabs = page().detail().findChild<QTabWidget *>();
        tabs->setCurrentIndex(1);
        openMenuOf(tabs->currentWidget());
        QCOMPARE(entries(), inQueue);
        const auto json = QJsonDocument::fromJson(copied(u"Copy as JSON"_s).toUtf8()).object();
        QCOMPARE(json[u"role"_s].toString(), u"waiter"_s);
        tabs->setCurrentIndex(0);
        queue->setCurrentContender(page().detail().snapshot()->contenders[0].id);
        openMenuOf(queue);
        QVERIFY(copied(u"Copy as command: rehearse its release"_s)
                    .endsWith(u" rehearse 'zk:/locks/orders' --holder "
                              "'_c_5f0c2a9e-1f0b-4e0f-8c3b-52be0c1d20d7-lock-0000000041'"_s));
    }

    void aSessionLeadsToItsLocks()
    {
        notifySession();
        m_window->showPage(u"sessions"_s);
        auto *sessions = m_window->findChild<ui::SessionsPage *>();
        sessions->focusContent();
        openMenuOf(sessions->table());
        QCOMPARE(copied(u"Copy session"_s), u"0x1000009b4890001"_s);
        openMenuOf(sessions->table());
        choose(u"Show what it holds: /locks/orders"_s);
        QVERIFY(page().isVisible());
        QCOMPARE(page().currentLock(), std::optional(menuOrders));
    }

    void aConnectionHasItsMenuByKey()
    {
        auto *header = m_window->findChild<ui::ConnectionChooser *>();
        header->open();
        QTest::keyClick(&header->list().rows(), Qt::Key_Menu);
        QCOMPARE(copied(u"Copy as command"_s), u"lockscopectl --connect 'zk=zk://zk:2181' locks"_s);
    }

    void copyTakesTheRow()
    {
        QTest::keySequence(&table(), QKeySequence::Copy);
        const auto cells = QGuiApplication::clipboard()->text().split(u'\t');
        QVERIFY(cells.contains(u"/locks/orders"_s));
        QVERIFY(cells.contains(u"10.0.3.7:56332"_s));
        QCOMPARE(cells.size(), ui::LockRow::ColumnCount - 1); // one connection needs no column
    }

    void columnsAreChosenAndTheNameStays()
    {
        auto &tools = table().tools();
        tools.openChooser({});
        auto *open = menu();
        QVERIFY(open);
        for (auto *action : open->actions()) {
            if (action->text() == u"Lock"_s)
                QVERIFY(!action->isEnabled());
            if (action->text() == u"Recipe"_s)
                action->setChecked(false);
        }
        open->close();
        QVERIFY2(tools.csv().startsWith("State,Lock,Holder,"), tools.csv().constData());
        const auto choices = tools.choices();
        QCOMPARE(choices, QStringList{u"-%1"_s.arg(int(ui::LockRow::Recipe))});
        tools.restoreChoices({u"+%1"_s.arg(int(ui::LockRow::Recipe)), u"-%1"_s.arg(int(ui::LockRow::Lock)), u"-999"_s,
                              u"x"_s, QString()});
        QVERIFY2(tools.csv().startsWith("State,Lock,Recipe,"), tools.csv().constData());
    }

    void exportHasTheShownRows()
    {
        page().setFilter(u"orders"_s);
        const auto lines = table().tools().csv().split('\n');
        QCOMPARE(lines.size(), 3); // titles, one row, the end
        QVERIFY(lines[0].startsWith("State,Lock,"));
        QVERIFY(lines[1].contains(",/locks/orders,"));
        page().setFilter({});
        QTemporaryDir folder;
        const QString file = folder.filePath(u"locks.json"_s);
        QVERIFY(!table().tools().csv().contains("As of") && !table().tools().json().contains("asOf")); // it is now
        QCOMPARE(table().tools().writeTo(file), QString());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const auto rows = QJsonDocument::fromJson(written.readAll()).object()[u"rows"_s].toArray();
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[0][u"Lock"_s].toString(), u"/locks/orders"_s);
        QVERIFY(!table().tools().writeTo(folder.filePath(u"no/such/folder.csv"_s)).isEmpty());
    }

    void everyTableHasTools()
    {
        for (const auto &id : ui::pageIds()) {
            m_window->showPage(id);
            for (auto *view : m_window->findChildren<ui::LiveTree *>()) {
                if (view->isVisible())
                    QVERIFY2(ui::TableTools::of(view), qPrintable(id));
            }
        }
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestRowMenus)
#include "tst_row_menus.moc"
