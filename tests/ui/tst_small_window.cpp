// SPDX-License-Identifier: Apache-2.0
// The window on a small screen, 1366 × 768: what a row says has its room, and a queue is whole below its findings.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/ui/cutparts.h"
#include "tests/ui/windowfixture.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/page.h"
#include "ui/parts/notices.h"
#include "ui/screenshot.h"
#include "ui/shell/bars.h"
#include "ui/shell/connectionchooser.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"
#include "ui/views/timelineview.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSplitter>
#include <QTemporaryDir>

using inspect::ChangeKind;

class TestSmallWindow : public testing::WindowFixture {
    Q_OBJECT

    void tell(const QByteArray &name)
    {
        m_backend->notifyConnection(testing::connectedStatus(name, Scheme::ZooKeeper, false, m_now));
    }

private slots:
    void init()
    {
        openWindow();
        m_window->resize(880, 768); // the list above the lock
    }

    // What a client calls itself, and its address.
    void theQueueNamesItsClientsWhole()
    {
        tell("zk");
        auto lock = queueLock("zk", "/locks/payout", 2, testing::serverTime(present));
        int port = 45538;
        for (auto &contender : lock.contenders) {
            contender.identity = "payout-" + QByteArray::number(*contender.position + 1);
            contender.endpoint = u"127.0.0.1:%1"_s.arg(port++);
        }
        m_backend->notifyLocks({change(ChangeKind::Added, lock)});
        m_window->selectLock(lock.lock);
        const auto *queue = page().detail().findChild<ui::QueueTable *>(u"queueTable"_s);
        QTRY_COMPARE(queue->model()->rowCount(), 3);
        for (int row = 0; row < 3; ++row) {
            const auto who = queue->model()->index(row, ui::QueueModel::Who);
            QTRY_VERIFY2(queue->columnWidth(ui::QueueModel::Who) >= queue->sizeHintForIndex(who).width(),
                         qPrintable(who.data().toString()));
        }
    }

    // Of many connections the status bar says of how many not all is seen, and what of the worst; the tip says all.
    void theCoverageOfFiveConnectionsIsSaidShort()
    {
        m_window->resize(1366, 768);
        Batch batch;
        for (const auto *name : {"zk", "redis", "mariadb", "etcd", "postgresql"}) {
            const ConnectionName connection(name);
            tell(name);
            auto &seen = batch.coverage.emplace_back(inspect::CoverageSeen{connection, {}}).coverage;
            if (connection != ConnectionName("redis"))
                seen.push_back({connection, false, u"sessions are not listed: no right to look at them"_s});
            if (connection == ConnectionName("etcd"))
                seen.push_back({connection, false, u"the user may read /locks only"_s});
        }
        m_backend->tell(batch);
        const auto *coverage = part<QLabel>("coverage");
        QVERIFY2(coverage->text().startsWith(u"◐ Incomplete on 4 of 5: etcd: "_s), qPrintable(coverage->text()));
        QCOMPARE(coverage->toolTip().count(u"not listed"_s), 4);
        const auto first = coverage->text().section(u" · "_s, 0, 0);
        QVERIFY(coverage->fontMetrics().horizontalAdvance(first) < coverage->width());
    }

    void histogramTextFits()
    {
        ui::SpanHistogram waits(u"Waits"_s, false, nullptr);
        const auto fits = [&waits](qsizetype lines) {
            const auto all = waits.linesIn(waits.sizeHint().width());
            const QFontMetricsF metrics(ui::textFont(11));
            return all.size() == lines && std::ranges::all_of(all, [&](const QString &line) {
                       return metrics.horizontalAdvance(line) <= waits.sizeHint().width();
                   });
        };
        waits.setSpans({});
        QVERIFY2(fits(1), qPrintable(waits.words()));
        waits.setSpans({16s, 19s});
        QVERIFY2(fits(1), qPrintable(waits.words()));
        waits.setSpans(std::vector<std::chrono::milliseconds>(12'345, 12min + 19s));
        QVERIFY2(fits(2), qPrintable(waits.words()));
    }

    // At the height of a small screen a finding of many lines leaves the queue its room, and opens.
    void aLongFindingIsTwoLinesUntilItIsOpened()
    {
        tell("live");
        auto lock = queueLock("live", "/a", 2, testing::serverTime(present));
        inspect::addFinding(lock, inspect::FindingCode::Deadlock, u"holds zk:/a and waits for zk:/b; "_s.repeated(20),
                            {lock.contenders[0].id});
        inspect::addFinding(lock, inspect::FindingCode::LongWait, u"has waited for 4 m"_s, {lock.contenders[1].id});
        std::vector<inspect::SnapshotChange> changes{change(ChangeKind::Added, lock)};
        for (int i = 0; i < 40; ++i) // a list that takes its half
            changes.push_back(change(ChangeKind::Added, queueLock("live", "/more/" + QByteArray::number(i), 1,
                                                                  testing::serverTime(present))));
        m_backend->notifyLocks(changes);
        m_window->selectLock({ConnectionName("live"), "/a"});
        const auto banners = [this] {
            auto all = page().detail().findChildren<ui::Banner *>();
            all.removeIf([](const auto *one) { return !one->isVisible(); });
            return all;
        };
        QTRY_COMPARE(banners().size(), 1);
        const auto line = banners()[0]->fontMetrics().lineSpacing();
        QTRY_VERIFY(banners()[0]->height() <= 2 * line + 16);
        const auto *queue = page().detail().findChild<ui::QueueTable *>(u"queueTable"_s);
        QTRY_VERIFY2(queue->viewport()->height() >= queue->rowHeight(0),
                     qPrintable(QString::number(queue->viewport()->height())));
        QCOMPARE(banners()[0]->button()->text(), u"and 1 more"_s);
        banners()[0]->button()->click();
        QTRY_COMPARE(banners().size(), 2);
        QTRY_VERIFY(banners()[0]->height() > 2 * line + 16);
        QCOMPARE(banners()[0]->button()->text(), u"Less"_s);
        banners()[0]->button()->click();
        QTRY_COMPARE(banners().size(), 1);
    }

    // With rows, findings and somebody who waits long for much; lessons and the simulator have suites of their own.
    void noLabelOfAnyPageIsCut_data()
    {
        QTest::addColumn<bool>("none");
        for (const auto &row : ui::allPages()) {
            if (row.id != u"lessons"_s && row.id != u"simulator"_s)
                QTest::addRow("%s", qPrintable(row.id)) << false;
        }
    }
    void noLabelOfAnyPageIsCut()
    {
        for (const auto *name : {"zk", "redis", "mariadb", "etcd", "postgresql"})
            tell(name);
        std::vector<inspect::SnapshotChange> all;
        for (int i = 0; i < 14; ++i) {
            auto lock = queueLock("zk", "/services/payments/locks/nightly-settlement/europe-" + QByteArray::number(i),
                                  i, testing::serverTime(present));
            inspect::addFinding(lock, inspect::FindingCode::LongWait,
                                u"has waited for long and longer; "_s.repeated(9), {lock.contenders[0].id});
            all.push_back(change(ChangeKind::Added, lock));
        }
        m_backend->notifyLocks(all);
        m_window->selectLock(all.back().lock.lock);
        m_window->showPage(QString::fromLatin1(QTest::currentDataTag()));
        QTRY_COMPARE(testing::cutParts(*m_window), QStringList());
        QTest::qWait(300); // what a page works out beside the window
        QTRY_COMPARE(testing::cutParts(*m_window), QStringList());
    }

    // Its word had stood at the top, where a button makes the banner higher than its one line.
    void aBannersWordStandsBesideItsLine()
    {
        ui::Banner banner;
        banner.say(ui::Banner::Look::Ok, u"Done."_s, u"zk:/app was created"_s, u"Undo…"_s);
        banner.resize(800, banner.sizeHint().height());
        banner.show();
        QVERIFY(QTest::qWaitForWindowExposed(&banner));
        const auto labels = banner.findChildren<QLabel *>();
        QCOMPARE(labels.size(), 2);
        QTRY_VERIFY(std::abs(labels[0]->geometry().center().y() - labels[1]->geometry().center().y()) <= 1);
    }

    // A list of a few rows leaves the room to who waits; where somebody dragged the handle it stays.
    void aShortListLeavesItsRoomToTheDetail()
    {
        tell("zk");
        std::vector<inspect::SnapshotChange> changes;
        for (const auto *name : {"/locks/a", "/locks/b", "/locks/c"})
            changes.push_back(change(ChangeKind::Added, queueLock("zk", name, 3, testing::serverTime(present))));
        m_backend->notifyLocks(changes);
        auto &table = page().table();
        QTRY_COMPARE(table.model()->rowCount(), 3);
        auto *splitter = qobject_cast<QSplitter *>(page().detail().parentWidget());
        QVERIFY(splitter);
        const auto share = [&] { return splitter->sizes().front(); };
        QTRY_VERIFY2(share() < 260, QByteArray::number(share()).constData());
        QCOMPARE(table.verticalScrollBar()->maximum(), 0); // all rows are whole
        changes.clear();
        for (int i = 0; i < 40; ++i)
            changes.push_back(change(ChangeKind::Added, queueLock("zk", "/more/" + QByteArray::number(i), 1,
                                                                  testing::serverTime(present))));
        m_backend->notifyLocks(changes);
        QTRY_COMPARE(table.model()->rowCount(), 43);
        const auto whole = splitter->sizes().front() + splitter->sizes().back();
        QTRY_COMPARE(share(), whole / 2);

        const QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        page().saveView(settings);
        QVERIFY(!settings.contains(u"locks/splitter"_s)); // nobody dragged it
        splitter->setSizes({260, whole - 260});
        emit splitter->splitterMoved(260, 1);
        // Laid out twice, in which it would be divided anew.
        const auto divided = [splitter] { return splitter->sizes().front() + splitter->sizes().back(); };
        m_window->resize(880, 740);
        QTRY_VERIFY(divided() < whole);
        m_window->resize(880, 768);
        QTRY_COMPARE(divided(), whole);
        QVERIFY2(std::abs(share() - 260) <= 20, QByteArray::number(share()).constData());
        page().saveView(settings);
        QVERIFY(settings.contains(u"locks/splitter"_s));
    }

    void aPictureShowsWhatHasItsRoom()
    {
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, m_now);
        status.cost.requestsPerSecond = 1;
        m_backend->notifyConnection(status);
        QTRY_COMPARE(testing::cutParts(*m_window), QStringList());
        status.cost.requestsPerSecond = 123456;
        m_backend->notifyConnection(status);
        const QTemporaryDir folder;
        QString whyNot;
        QVERIFY2(ui::saveScreenshot(*m_window, folder.filePath(u"now.png"_s), &whyNot), qPrintable(whyNot));
        QCOMPARE(testing::cutParts(*m_window), QStringList());
    }

    // What Lockscope asks, and of how much. Of several servers the one on which it weighs most; the tip has all.
    void theShareOfWhatIsAskedIsSaid()
    {
        auto zk = testing::connectedStatus("zk", Scheme::ZooKeeper, false, m_now);
        zk.cost.requestsPerSecond = 4.5;
        m_backend->notifyConnection(zk);
        const auto *asked = part<QLabel>("requests");
        QTRY_COMPARE(asked->text(), u"4.5 requests/s"_s);
        QVERIFY(asked->toolTip().contains(u"zk: 4.5 requests/s; the servers do not report the total load"_s));
        zk.cost.servedPerSecond = 1500;
        m_backend->notifyConnection(zk);
        QTRY_COMPARE(asked->text(), u"4.5 requests/s · 0.3 % of all"_s);
        QVERIFY(
            asked->toolTip().contains(u"zk: 4.5 of the 1500 requests/s that the servers count themselves, 0.3 %"_s));
        auto redis = testing::connectedStatus("redis", Scheme::Redis, false, m_now);
        redis.cost.requestsPerSecond = 4;
        redis.cost.servedPerSecond = 3; // one was on its way
        m_backend->notifyConnection(redis);
        m_backend->notifyConnection(testing::connectedStatus("etcd", Scheme::Etcd, false, m_now));
        QTRY_COMPARE(asked->text(), u"12 requests/s · redis: 100 % of all"_s);
        QVERIFY(asked->toolTip().contains(u"etcd: 3.5 requests/s; the servers"_s));
        redis.cost.servedPerSecond = 40'000;
        m_backend->notifyConnection(redis);
        QTRY_COMPARE(asked->text(), u"12 requests/s · zk: 0.3 % of all"_s);
        QTRY_COMPARE(testing::cutParts(*m_window), QStringList());
        zk.cost.servedPerSecond = 4'000'000;
        m_backend->notifyConnection(zk);
        QTRY_COMPARE(asked->text(), u"12 requests/s · redis: < 0.1 % of all"_s);
    }

    void theMarkOfAnEnvironmentHasItsPadding()
    {
        tell("zk");
        m_backend->notifyLocks({lockOf("/a", 1)});
        m_window->selectLock({ConnectionName("zk"), "/a"});
        const auto *mark = part<ui::ConnectionChooser>("environment");
        QTRY_VERIFY(mark->isVisible());
        QTRY_VERIFY2(mark->width() >= mark->fontMetrics().horizontalAdvance(mark->shownName()) + 10,
                     qPrintable(QString::number(mark->width())));
    }

    // What is told once is read there: the coverage, which stays, gives way for as long.
    void aNoticeHasTheRoomThatThereIs()
    {
        m_window->resize(1195, 768);
        tell("zk");
        const auto sentence =
            u"The previous session did not exit cleanly. Its recording up to 12:41:07 can be opened with “Open what was left”"_s;
        auto *bar = m_window->findChild<ui::StatusBar *>();
        bar->notify(sentence);
        QCOMPARE(part<QLabel>("notice")->text(), sentence);
        QTRY_VERIFY2(testing::cutParts(*bar).isEmpty(), qPrintable(testing::cutParts(*bar).join(u'\n')));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestSmallWindow)
#include "tst_small_window.moc"
