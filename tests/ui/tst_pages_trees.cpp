// SPDX-License-Identifier: Apache-2.0
// One walk through each of the pages of znodes, keys, sessions and the log. With LOCKSCOPE_SHOTS=folder
// it leaves a picture of each, light and dark.
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "tests/ui/treescene.h"
#include "ui/pages/keyspage.h"
#include "ui/pages/livetree.h"
#include "ui/pages/logpage.h"
#include "ui/pages/sessionspage.h"
#include "ui/pages/valueview.h"
#include "ui/pages/znodespage.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QDir>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardItemModel>

using namespace lockscope::ui;

namespace {

ZPath path(const char *text)
{
    return ZPath(QByteArray(text));
}

} // namespace

class TestPagesTrees : public QObject {
    Q_OBJECT

    void shoot(QWidget &page, const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (folder.isEmpty())
            return;
        QVERIFY(QDir().mkpath(folder));
        const auto before = Theme::instance()->choice();
        for (const auto choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme::instance()->setChoice(choice);
            QCoreApplication::processEvents();
            const QString file =
                u"%1/%2-%3.png"_s.arg(folder, name, choice == ThemeChoice::Dark ? u"dark"_s : u"light"_s);
            QVERIFY2(page.grab().save(file), qPrintable(file));
        }
        Theme::instance()->setChoice(before);
    }

    template <class P>
    void open(P &page, FakeBackend &backend)
    {
        playTrees(backend);
        page.setBackend(&backend);
        page.resize(1212, 830); // what the window leaves to a page at 1440x900
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        backend.tell(treeBatch(std::chrono::system_clock::now()));
    }

    static QModelIndex rowOf(const LiveTree *tree, const QString &name, const QModelIndex &parent = {})
    {
        const auto *model = tree->model();
        for (int row = 0; row < model->rowCount(parent); ++row) {
            const QModelIndex index = model->index(row, 0, parent);
            if (index.data().toString() == name)
                return index;
            if (const QModelIndex below = rowOf(tree, name, index); below.isValid())
                return below;
        }
        return {};
    }

private slots:
    void looksAtZnodes()
    {
        FakeBackend backend;
        ZnodesPage page;
        shoot(page, u"znodes-empty"_s);
        open(page, backend);
        auto *tree = page.tree();
        QTRY_VERIFY(rowOf(tree, u"locks"_s).isValid());
        // The keyboard alone: down to "locks", open it, type a path.
        page.focusContent();
        tree->setCurrentIndex(rowOf(tree, u"locks"_s));
        QTest::keyClick(tree, Qt::Key_Right);
        QTRY_VERIFY(rowOf(tree, u"orders"_s).isValid());
        tree->expand(rowOf(tree, u"orders"_s));
        tree->expand(rowOf(tree, u"secrets"_s));
        page.goTo(path("/app/config"));
        QTRY_COMPARE(page.detail()->path().bytes(), "/app/config"_ba);
        QTRY_COMPARE(page.detail()->value()->form(), ValueForm::Json);
        QVERIFY(page.detail()->value()->shownText().contains(u"\"build\": 92233720368547758079,\n"_s));
        QVERIFY(page.detail()->statText(u"czxid"_s).startsWith(u"0x"_s));
        QCOMPARE(page.detail()->aclText(), u"cdrwa  digest:ops:Zk1xQp0/9vYf8rJ1bqSg3yX6lAs=\n--r--  world:anyone"_s);
        QTRY_VERIFY(backend.wasCalled(u"watchZnodes orders-zk / /app /locks /locks/orders"_s));
        QTRY_VERIFY(rowOf(tree, u"secrets"_s).data(ZnodeNode::ForbiddenRole).toBool());
        shoot(page, u"znodes"_s);
    }

    void keepsItsPlaceInZnodes()
    {
        FakeBackend backend;
        ZnodesPage page;
        open(page, backend);
        QByteArrayList names;
        for (int i = 0; i < 400; ++i)
            names << "n" + QByteArray::number(1000 + i);
        backend.on<ListZnodes>() = [&](const ListZnodes &query) -> Result<std::vector<ZnodeRow>> {
            std::vector<ZnodeRow> rows;
            for (const auto &name : query.path.isRoot() ? names : QByteArrayList())
                rows.push_back({NodeName(name), {}, true, std::nullopt});
            return rows;
        };
        page.model().refresh(path("/"));
        auto *tree = page.tree();
        QTRY_VERIFY(rowOf(tree, u"n1399"_s).isValid());
        const QPersistentModelIndex chosen = rowOf(tree, u"n1203"_s);
        tree->setCurrentIndex(chosen);
        tree->scrollTo(rowOf(tree, u"n1200"_s), QAbstractItemView::PositionAtTop);
        const int before = tree->visualRect(chosen).top();
        for (int i = 0; i < 50; ++i)
            names[i] = "a" + QByteArray::number(i); // fifty others, all above
        names << "b1"
              << "b2";
        backend.notifyZnodesChanged(ConnectionName("orders-zk"_ba), path("/"));
        QTRY_VERIFY(rowOf(tree, u"b2"_s).isValid());
        QTRY_COMPARE(tree->visualRect(chosen).top(), before);
        QCOMPARE(tree->currentIndex(), QModelIndex(chosen));
        // The chosen one goes: the detail says so instead of showing its neighbour.
        names.removeOne("n1203");
        backend.notifyZnodesChanged(ConnectionName("orders-zk"_ba), path("/"));
        QTRY_VERIFY(!chosen.isValid());
        QCOMPARE(page.detail()->path().bytes(), "/n1203"_ba);
        QVERIFY2(page.detail()->head()->warning().contains(u"no longer exists"_s)
                     || page.detail()->head()->warning().contains(u"no such node"_s),
                 qPrintable(page.detail()->head()->warning()));
    }

    void filtersLoadedZnodes()
    {
        FakeBackend backend;
        ZnodesPage page;
        open(page, backend);
        auto *tree = page.tree();
        QTRY_VERIFY(rowOf(tree, u"locks"_s).isValid());
        tree->expand(rowOf(tree, u"locks"_s));
        QTRY_VERIFY(rowOf(tree, u"orders"_s).isValid());
        QTRY_VERIFY(backend.wasCalled(u"watchZnodes orders-zk / /locks"_s));
        QTRY_COMPARE(backend.calls.filter(u"listZnodes orders-zk /locks"_s).size(),
                     2); // again, now that it is watched
        const auto asked = backend.calls.filter(u"listZnodes"_s).size();
        page.setFilter(u"ORD"_s);
        QTRY_VERIFY(!rowOf(tree, u"app"_s).isValid());
        QVERIFY(rowOf(tree, u"orders"_s).isValid());
        QVERIFY2(page.statusText().contains(u"loaded so far"_s), qPrintable(page.statusText()));
        QCOMPARE(backend.calls.filter(u"listZnodes"_s).size(), asked); // a filter asks no server
        page.setFilter({});
        QTRY_VERIFY(rowOf(tree, u"app"_s).isValid());
        QVERIFY(tree->isExpanded(rowOf(tree, u"locks"_s)));
    }

    void saysWhenZnodesAreOld()
    {
        FakeBackend backend;
        ZnodesPage page;
        open(page, backend);
        auto *tree = page.tree();
        QTRY_VERIFY(rowOf(tree, u"locks"_s).isValid());
        page.goTo(path("/secrets"));
        QTRY_COMPARE(page.detail()->head()->warning(), u"/secrets: the ACL gives READ only to digest:vault"_s);
        backend.notifyConnection(statusOf("orders-zk", Scheme::ZooKeeper, ConnectionStatus::State::Broken));
        auto *banner = page.findChild<StaleBanner *>();
        QVERIFY(banner->isVisible());
        shoot(page, u"znodes-stale"_s);
        QVERIFY(rowOf(tree, u"locks"_s).isValid()); // what was seen stays
        backend.calls.clear();
        backend.notifyConnection(statusOf("orders-zk", Scheme::ZooKeeper));
        QVERIFY(!banner->isVisible());
        QTRY_VERIFY(backend.wasCalled(u"listZnodes orders-zk /"_s)); // and is looked at again
    }

    void looksAtKeys()
    {
        FakeBackend backend;
        KeysPage page;
        shoot(page, u"keys-empty"_s);
        open(page, backend);
        auto *tree = page.tree();
        QTRY_VERIFY(rowOf(tree, u"user:"_s).isValid()); // the scan began with the first look
        page.scanButton()->click();
        QTRY_VERIFY2(page.statusText().startsWith(u"paused · scanned "_s), qPrintable(page.statusText()));
        QVERIFY(page.statusText().endsWith(u" of 2,004,112 keys"_s));
        tree->expand(rowOf(tree, u"cache:"_s));
        tree->expand(rowOf(tree, u"price:"_s));
        page.focusContent();
        tree->setCurrentIndex(rowOf(tree, u"invoice-lock"_s));
        QTRY_COMPARE(page.detail()->value()->shownText(), u"b0f1c2d3e4a5968778695a4b3c2d1e0f"_s);
        QVERIFY2(page.detail()->head()->summary().startsWith(u"string · expires in "_s),
                 qPrintable(page.detail()->head()->summary()));
        tree->setCurrentIndex(rowOf(tree, u"stock"_s));
        QTRY_VERIFY(page.detail()->items()->isVisible());
        QTRY_COMPARE(page.detail()->items()->model()->rowCount(), 2);
        page.detail()->items()->setCurrentIndex(page.detail()->items()->model()->index(1, 0));
        QTRY_VERIFY(page.detail()->value()->shownText().contains(u"\"thread\": 42,\n"_s));
        shoot(page, u"keys"_s);
        // Somebody deletes it: the page says so and takes it out of the tree.
        backend.on<ReadKey>() = [](const ReadKey &) {
            return Result<KeyDetail>(Error{ErrorCode::NoNode, u"no such key"_s});
        };
        page.detail()->refresh();
        QTRY_VERIFY2(page.detail()->head()->warning().startsWith(u"This key no longer exists"_s),
                     qPrintable(page.detail()->head()->warning()));
        QVERIFY(!rowOf(tree, u"stock"_s).isValid());
        QCOMPARE(page.detail()->key().bytes(), "stock"_ba);
    }

    void aChosenFolderShowsNoKeysDetail()
    {
        FakeBackend backend;
        KeysPage page;
        open(page, backend);
        QTRY_VERIFY(rowOf(page.tree(), u"user:"_s).isValid());
        const auto folder = rowOf(page.tree(), u"user:"_s);
        page.tree()->expand(folder);
        page.tree()->setCurrentIndex(page.tree()->model()->index(0, 0, folder));
        QVERIFY(page.detail()->key().bytes().startsWith("user:"));
        page.tree()->setCurrentIndex(folder);
        QCOMPARE(page.detail()->key().bytes(), QByteArray());
        // And what the filter hides is not on show either.
        page.tree()->setCurrentIndex(page.tree()->model()->index(0, 0, folder));
        page.setFilter(u"no key is named so"_s);
        QTRY_COMPARE(page.detail()->key().bytes(), QByteArray());
    }

    void scansForAPattern()
    {
        FakeBackend backend;
        KeysPage page;
        open(page, backend);
        QTRY_VERIFY(rowOf(page.tree(), u"user:"_s).isValid());
        page.scanButton()->click();
        backend.on<ScanKeys>() = [](const ScanKeys &) -> Result<KeyPage> {
            return KeyPage{{{RedisKey("lock:a"_ba), "string"_ba, std::nullopt, 1}}, 0, 500, 500, {}};
        };
        auto *pattern = page.findChild<QLineEdit *>(u"pattern"_s);
        pattern->setText(u"lock:*"_s);
        QTest::keyClick(pattern, Qt::Key_Return);
        QTRY_COMPARE(page.statusText(), u"1 of 500 keys match"_s);
        QVERIFY(backend.wasCalled(u"scanKeys cache-redis lock:* 0"_s));
        QVERIFY(!rowOf(page.tree(), u"user:"_s).isValid());
        // Where none has such a name, that is said; the list had been blank.
        backend.on<ScanKeys>() = [](const ScanKeys &) -> Result<KeyPage> { return KeyPage{{}, 0, 1000, 4, {}}; };
        pattern->setText(u"lock"_s);
        QTest::keyClick(pattern, Qt::Key_Return);
        QTRY_COMPARE(page.statusText(), u"0 of 4 keys match"_s);
        QVERIFY(!page.tree()->isVisible());
        backend.on<ScanKeys>() = [](const ScanKeys &) -> Result<KeyPage> {
            return KeyPage{{{RedisKey("lock"_ba), "string"_ba, std::nullopt, 1}}, 0, 1000, 4, {}};
        };
        QTest::keyClick(pattern, Qt::Key_Return);
        QTRY_VERIFY(page.tree()->isVisible());
    }

    void looksAtSessions()
    {
        FakeBackend backend;
        SessionsPage page;
        shoot(page, u"sessions-empty"_s);
        QSignalSpy counts(&page, &Page::countChanged);
        open(page, backend);
        auto *table = page.table();
        QTRY_COMPARE(table->model()->rowCount(), 8);
        QCOMPARE(counts.last().first().toString(), u"8"_s);
        shoot(page, u"sessions"_s);
        page.setFilter(u"billing"_s);
        QTRY_COMPARE(table->model()->rowCount(), 2);
        QSignalSpy asked(&page, &Page::lockActivated);
        page.focusContent();
        table->setCurrentIndex(rowOf(table, u"orders-zk"_s));
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(asked.count(), 1);
        page.setFilter({});
        page.showConnection(ConnectionName("cache-redis"_ba));
        QTRY_COMPARE(table->model()->rowCount(), 2);
    }

    void readsTheLog()
    {
        FakeBackend backend;
        LogPage page;
        shoot(page, u"log-empty"_s);
        open(page, backend);
        auto *table = page.table();
        QTRY_COMPARE(table->model()->rowCount(), 11);
        shoot(page, u"log"_s);
        page.onlyWrites()->click();
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(page.copyText().count(u'\n'), 1);
        page.onlyWrites()->click();

        const auto fill = [&](quint64 from, int count) {
            Batch batch;
            for (int i = 0; i < count; ++i) {
                operate::LogEntry entry{.number = from + static_cast<quint64>(i)};
                entry.text = u"get /n%1"_s.arg(entry.number);
                batch.log.push_back(entry);
            }
            backend.tell(batch);
        };
        auto *bar = table->verticalScrollBar();
        fill(100, 200);
        QTRY_VERIFY(bar->maximum() > 0);
        QTRY_COMPARE(bar->value(), bar->maximum()); // follows
        bar->setValue(bar->maximum() / 2);
        const QPersistentModelIndex read = table->indexAt(QPoint(0, 0));
        const int at = table->visualRect(read).top();
        fill(300, 50);
        QVERIFY(bar->value() < bar->maximum()); // holds still
        QCOMPARE(table->visualRect(read).top(), at);
        QVERIFY(page.followButton()->isVisible());
        QCOMPARE(page.followButton()->text(), u"↓ 50 new"_s);
        page.followButton()->click();
        QCOMPARE(bar->value(), bar->maximum());
        QVERIFY(!page.followButton()->isVisible());
    }

    void showsAHugeFolderAsItIsScrolled()
    {
        constexpr int many = 50'000;
        FakeBackend backend;
        ZnodesPage page;
        open(page, backend);
        // What the page looks at first is listed once more when it is watched: not in the middle of what follows.
        QTRY_VERIFY(!backend.calls.filter(QRegularExpression(u"^watchZnodes \\S+ .*/"_s)).isEmpty());
        QTRY_VERIFY(page.model().isLoaded(page.model().find(path("/"))));
        backend.on<ListZnodes>() = [&](const ListZnodes &query) -> Result<std::vector<ZnodeRow>> {
            std::vector<ZnodeRow> rows;
            for (int i = 0; query.path.isRoot() && i < many; ++i)
                rows.push_back({NodeName("n-" + QByteArray::number(100'000 + i)), {}, false, std::nullopt});
            return rows;
        };
        page.model().refresh(path("/"));
        QTRY_COMPARE_WITH_TIMEOUT(page.model().heldBack(path("/")), many - ZnodesModel::rowsAtFirst, 60'000);
        QTRY_COMPARE(page.statusText(), u"/: the first 20,000 of 50,000 children; scroll on for more"_s);
        page.focusContent();
        QTest::keyClick(page.tree(), Qt::Key_End);
        QTRY_COMPARE_WITH_TIMEOUT(page.statusText(), u"/: 10,001 to 30,000 of 50,000 children; scroll for more"_s,
                                  60'000);
        const auto there = page.statusText();
        QVERIFY(!QTest::qWaitFor([&] { return page.statusText() != there; }, 300)); // and no further by itself
        const auto current = page.tree()->currentIndex();
        QCOMPARE(current.data().toString(), u"n-119999"_s);
        QVERIFY(page.tree()->isOnScreen(current)); // nothing jumps
        QTest::keyClick(page.tree(), Qt::Key_Home);
        QTRY_COMPARE_WITH_TIMEOUT(page.statusText(), u"/: the first 20,000 of 50,000 children; scroll on for more"_s,
                                  60'000);
        QVERIFY(!page.detail()->head()->warning().contains(u"no longer exists"_s));
        // A node beyond it is gone to, and what is on screen stands there.
        page.goTo(path("/n-144000"));
        QTRY_COMPARE_WITH_TIMEOUT(page.tree()->currentIndex().data().toString(), u"n-144000"_s, 60'000);
        QTRY_VERIFY(page.tree()->isOnScreen(page.tree()->currentIndex()));
        page.goTo(path("/n-100007"));
        QTRY_COMPARE_WITH_TIMEOUT(page.tree()->currentIndex().data().toString(), u"n-100007"_s, 60'000);
        QTRY_VERIFY(page.tree()->isOnScreen(page.tree()->currentIndex()));
        page.setFilter(u"N-1444"_s);
        QTRY_COMPARE_WITH_TIMEOUT(page.statusText(), u"/: 100 of 50,000 children match"_s, 60'000);
        QVERIFY(rowOf(page.tree(), u"n-144499"_s).isValid());
        QCOMPARE(page.detail()->path().bytes(), QByteArray()); // what a filter hides is not shown
    }

    void showsValuesSafely()
    {
        ValueView view;
        view.setValue("<b>bold</b>\x1b[31m\xff", 17, false);
        QCOMPARE(view.form(),
                 ValueForm::Hex == bestForm("<b>bold</b>\x1b[31m\xff") ? ValueForm::Hex : ValueForm::Text);
        view.setForm(ValueForm::Text);
        QCOMPARE(view.shownText(), u"<b>bold</b>\\x1B[31m\\xFF"_s);
        view.setForm(ValueForm::Hex);
        QVERIFY(view.shownText().startsWith(
            u"00000000  3c 62 3e 62 6f 6c 64 3c  2f 62 3e 1b 5b 33 31 6d  |<b>bold</b>.[31m|\n"_s));
        const QByteArray megabyte(1024 * 1024, 'x');
        view.setForm(ValueForm::Text);
        view.setValue(megabyte, megabyte.size(), false);
        QVERIFY2(view.noteText().contains(u"showing first 64 KiB of 1 MiB"_s), qPrintable(view.noteText()));
        QVERIFY(view.shownText().size() < 70'000);
        QVERIFY(!view.showAllButton()->isHidden());
        view.showAllButton()->click();
        QVERIFY(view.shownText().size() >= megabyte.size());
        QVERIFY(view.showAllButton()->isHidden());
    }

    // In a narrow window the last columns go; in the next one, which is wide, they have the width they had.
    void hiddenColumnsKeepTheirWidth()
    {
        QStandardItemModel model(1, 3);
        model.setHorizontalHeaderLabels({u"Name"_s, u"Ephemerals"_s, u"Bytes of data"_s});
        const auto widths = {std::pair(1, 120), std::pair(2, 130)};
        LiveTree narrow, wide;
        for (auto *tree : {&narrow, &wide}) {
            tree->setModel(&model);
            tree->setWidths(0, widths);
        }
        narrow.setColumnHidden(1, true);
        narrow.setColumnHidden(2, true);
        wide.restoreColumns(narrow.header()->saveState());
        for (const auto &[column, width] : widths) {
            wide.setColumnHidden(column, false);
            QCOMPARE(wide.columnWidth(column), width);
            QVERIFY(wide.columnWidth(column) >= wide.header()->sectionSizeHint(column));
        }
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestPagesTrees)
#include "tst_pages_trees.moc"
