// SPDX-License-Identifier: Apache-2.0
// The table of locks: its order, its filter, and exactly which signals each change makes.
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "core/inspect/findings.h"
#include "ui/models/locksmodel.h"
#include "ui/models/queuemodel.h"

#include <QApplication>
#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <random>

using namespace lockscope::ui;
using inspect::ChangeKind;
using inspect::LockName;
using inspect::LockSnapshot;
using inspect::SnapshotChange;

namespace {

const SystemTime start = SystemTime(1'700'000'000s);

// Every signal of the model as a line of text, in order.
class Recorder : public QObject {
public:
    explicit Recorder(QAbstractItemModel &model)
    {
        connect(&model, &QAbstractItemModel::rowsInserted, this,
                [this](const QModelIndex &, int first, int last) { lines << u"+%1-%2"_s.arg(first).arg(last); });
        connect(&model, &QAbstractItemModel::rowsRemoved, this,
                [this](const QModelIndex &, int first, int last) { lines << u"-%1-%2"_s.arg(first).arg(last); });
        connect(&model, &QAbstractItemModel::rowsMoved, this,
                [this](const QModelIndex &, int first, int, const QModelIndex &, int to) {
                    lines << u"%1>%2"_s.arg(first).arg(to);
                });
        connect(&model, &QAbstractItemModel::dataChanged, this,
                [this](const QModelIndex &from, const QModelIndex &upTo) {
                    lines << u"~%1-%2"_s.arg(from.row()).arg(upTo.row());
                });
        connect(&model, &QAbstractItemModel::layoutChanged, this, [this] { lines << u"layout"_s; });
        connect(&model, &QAbstractItemModel::modelReset, this, [this] { lines << u"reset"_s; });
    }
    QStringList take() { return std::exchange(lines, {}); }

private:
    QStringList lines;
};

QStringList names(const QAbstractItemModel &model)
{
    QStringList list;
    for (int row = 0; row < model.rowCount(); ++row)
        list << model.index(row, LockRow::Lock).data().toString();
    return list;
}

} // namespace

class TestLocksModel : public QObject {
    Q_OBJECT

private:
    SystemTime m_now = start;
    std::unique_ptr<LocksModel> m_model;
    int m_shows = 0;
    std::unique_ptr<QAbstractItemModelTester> m_tester;

    LockSnapshot zk(const QByteArray &path, int waiters)
    {
        return queueLock("zk", path, waiters, testing::serverTime(start));
    }
    void add(LockSnapshot lock) { m_model->apply({change(ChangeKind::Added, std::move(lock))}); }

private slots:
    // A row says why it is found, where its own cells do not show it.
    void aHitNamesWhatMatches_data()
    {
        const Rows<QString, QString> row("text", "match");
        row("the name", u"orders"_s, QString());
        row("a waiter's address", u"10.0.3.8:"_s, u"waiter 10.0.3.8:5"_s);
        row("what a waiter runs", u"update stock"_s, u"waiter runs UPDATE stock SET n = ?"_s);
        row("an application", u"shop-web"_s, u"holder shop-web"_s);
        row("a user's label", u"nightly"_s, u"waiter nightly report"_s);
    }
    void aHitNamesWhatMatches()
    {
        QFETCH(const QString, text);
        auto lock = testing::queueLock("zk", "/locks/orders", 1, testing::serverTime(start));
        lock.contenders[1].endpoint = u"10.0.3.8:5"_s;
        lock.contenders[1].label = u"nightly report"_s;
        lock.contenders[0].work.set({.application = "shop-web"});
        lock.contenders[1].work.set({.statement = "UPDATE stock SET n = ?"});
        LocksModel model;
        model.apply({SnapshotChange{ChangeKind::Added, lock}});
        model.setText(text);
        QCOMPARE(model.rowCount(), 1);
        QTEST(model.matchAt(0), "match");
    }

    void init()
    {
        m_now = start;
        m_model = std::make_unique<LocksModel>();
        m_model->setClock([this] { return m_now; });
        m_model->rank();
        m_tester = std::make_unique<QAbstractItemModelTester>(m_model.get(),
                                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
    }
    void cleanup()
    {
        m_tester.reset();
        m_model.reset();
    }

    void ordersBySeverityThenWaitingThenName()
    {
        m_model->apply({change(ChangeKind::Added, zk("/b", 0)), change(ChangeKind::Added, zk("/two", 2)),
                        change(ChangeKind::Added, zk("/a", 0)), change(ChangeKind::Added, zk("/one", 1)),
                        change(ChangeKind::Added, redisLock("redis", "forever", {}, testing::serverTime(start)))});
        QCOMPARE(names(*m_model), (QStringList{u"forever"_s, u"/two"_s, u"/one"_s, u"/a"_s, u"/b"_s}));
    }

    void oneBatchIsOneInsertion()
    {
        Recorder recorder(*m_model);
        m_model->apply({change(ChangeKind::Added, zk("/c", 0)), change(ChangeKind::Added, zk("/a", 0)),
                        change(ChangeKind::Added, zk("/b", 0))});
        QCOMPARE(recorder.take(), (QStringList{u"+0-2"_s}));
        m_model->apply({change(ChangeKind::Added, zk("/a2", 0)), change(ChangeKind::Added, zk("/a1", 0)),
                        change(ChangeKind::Added, zk("/d", 0))});
        QCOMPARE(recorder.take(), (QStringList{u"+3-3"_s, u"+1-2"_s}));
        QCOMPARE(names(*m_model).join(u' '), u"/a /a1 /a2 /b /c /d"_s);
    }

    void changeInPlaceIsOneRange()
    {
        for (const auto *path : {"/a", "/b", "/c"})
            add(zk(path, 0));
        Recorder recorder(*m_model);
        auto b = zk("/b", 0);
        b.contenders[0].endpoint = u"10.9.9.9:1"_s;
        auto c = zk("/c", 0);
        c.contenders[0].endpoint = u"10.9.9.8:1"_s;
        m_model->apply({change(ChangeKind::Changed, c), change(ChangeKind::Changed, b)});
        QCOMPARE(recorder.take(), (QStringList{u"~1-2"_s}));
        QCOMPARE(m_model->index(1, LockRow::Holder).data().toString(), u"10.9.9.9:1"_s);
    }

    void moreWaitersMoveTheRow()
    {
        for (const auto *path : {"/a", "/b", "/c"})
            add(zk(path, 0));
        Recorder recorder(*m_model);
        m_model->apply({change(ChangeKind::Changed, zk("/c", 3))});
        QCOMPARE(recorder.take(), (QStringList{u"2>0"_s, u"~0-0"_s}));
        m_model->apply({change(ChangeKind::Changed, zk("/c", 0))});
        QCOMPARE(recorder.take(), (QStringList{u"0>3"_s, u"~2-2"_s}));
        QCOMPARE(names(*m_model).join(u' '), u"/a /b /c"_s);
    }

    void removalIsInRanges()
    {
        for (const auto *path : {"/a", "/b", "/c", "/d"})
            add(zk(path, 0));
        Recorder recorder(*m_model);
        m_model->apply({change(ChangeKind::Removed, zk("/b", 0)), change(ChangeKind::Removed, zk("/d", 0)),
                        change(ChangeKind::Removed, zk("/c", 0))});
        QCOMPARE(recorder.take(), (QStringList{u"-1-3"_s}));
        QCOMPARE(m_model->counts().all, 1);
        QVERIFY(!m_model->snapshot({ConnectionName("zk"), "/b"}));
    }

    void filterKeepsOrderAndCounts()
    {
        add(zk("/a", 0));
        add(zk("/b", 2));
        add(redisLock("redis", "forever", {}, testing::serverTime(start)));
        QCOMPARE(m_model->counts(), (LockCounts{3, 1, 1, 0, 0}));
        Recorder recorder(*m_model);
        m_model->setChip(LocksModel::Chip::Contended);
        QCOMPARE(names(*m_model).join(u' '), u"/b"_s);
        QCOMPARE(recorder.take(), (QStringList{u"-2-2"_s, u"-0-0"_s}));
        m_model->setChip(LocksModel::Chip::All);
        QCOMPARE(recorder.take(), (QStringList{u"+1-1"_s, u"+0-0"_s}));
        m_model->setText(u" 0X1000009B4890002 "_s); // the session of the first waiter
        QCOMPARE(names(*m_model).join(u' '), u"/b"_s);
        QCOMPARE(m_model->counts(), (LockCounts{1, 1, 0, 0, 0})); // a click on a chip shows so many
        QCOMPARE(m_model->total(), 3);
        m_model->setText({});
        QCOMPARE(m_model->counts(), (LockCounts{3, 1, 1, 0, 0}));
        m_model->setConnection(ConnectionName("redis"));
        QCOMPARE(names(*m_model).join(u' '), u"forever"_s);
        QCOMPARE(m_model->counts(), (LockCounts{1, 0, 1, 0, 0}));
        m_model->setConnection({});
        m_model->setMine({LockName{ConnectionName("zk"), "/a"}});
        m_model->setChip(LocksModel::Chip::Mine);
        QCOMPARE(names(*m_model).join(u' '), u"/a"_s);
    }

    // What a client calls itself is what people look for; a host has many clients.
    void aHolderIsNamedAndFoundByItsName()
    {
        auto lock = zk("/named", 1);
        lock.contenders[0].identity = "app-9";
        lock.contenders[0].endpoint = u"10.0.3.7:56332"_s;
        lock.contenders[1].identity = "app-10";
        add(lock);
        const auto holder = [this] { return m_model->index(0, LockRow::Holder).data().toString(); };
        QCOMPARE(holder(), u"app-9 · 10.0.3.7:56332"_s);
        inspect::addFinding(lock, inspect::FindingCode::HolderDisconnected, u"silent"_s, {lock.contenders[0].id});
        m_model->apply({change(ChangeKind::Changed, lock)});
        QCOMPARE(holder(), u"app-9 · 10.0.3.7:56332 (silent)"_s);
        for (const auto &name : {u"app-9"_s, u"app-10"_s, u"nobody"_s}) {
            m_model->setText(name);
            QCOMPARE(m_model->rowCount(), name == "nobody"_L1 ? 0 : 1);
        }
    }

    // The whole of its sentence is where there is room; of it the first words would be of another lock.
    void aDeadlockIsNamedByTheOtherLocks()
    {
        auto lock = zk("/a", 1);
        inspect::addFinding(lock, inspect::FindingCode::Deadlock, u"app-3 holds zk:/a and waits for zk:/b"_s);
        lock.findings.back().also = {{ConnectionName("zk"), "/b"}, {ConnectionName("redis"), "seat"}};
        add(lock);
        QCOMPARE(m_model->index(0, LockRow::FindingColumn).data().toString(), u"deadlock with /b, redis:seat"_s);
    }

    void contendersInTheQueueAreNamed()
    {
        auto lock = zk("/named", 1);
        lock.contenders[0].endpoint = u"10.0.3.7:56332"_s;
        lock.contenders[1].endpoint = u"10.0.3.8:56315"_s;
        lock.contenders[1].identity = "app-10";
        QueueModel queue;
        queue.setSnapshot(std::make_shared<inspect::LockSnapshot>(lock));
        const auto who = [&queue](int row) { return queue.index(row, QueueModel::Who).data().toString(); };
        QCOMPARE(who(0), u"10.0.3.7:56332"_s);
        QCOMPARE(who(1), u"app-10 · 10.0.3.8:56315"_s);
        queue.setOwn({lock.contenders[1].id});
        QCOMPARE(who(1), u"app-10 · 10.0.3.8:56315 (you)"_s);
    }

    void changesEnterAndLeaveTheFilter()
    {
        add(zk("/a", 0));
        m_model->setChip(LocksModel::Chip::Contended);
        Recorder recorder(*m_model);
        m_model->apply({change(ChangeKind::Changed, zk("/a", 1))});
        QCOMPARE(recorder.take(), (QStringList{u"+0-0"_s}));
        m_model->apply({change(ChangeKind::Changed, zk("/a", 0))});
        QCOMPARE(recorder.take(), (QStringList{u"-0-0"_s}));
        QVERIFY(m_model->snapshot({ConnectionName("zk"), "/a"}));
    }

    void scatteredBatchesAreOneLayoutChange()
    {
        std::vector<SnapshotChange> even;
        std::vector<SnapshotChange> odd;
        for (int i = 0; i < 1000; ++i) {
            const auto path = "/l/" + QByteArray::number(i).rightJustified(5, '0');
            (i % 2 ? odd : even).push_back(change(ChangeKind::Added, zk(path, 0)));
        }
        m_model->apply(even);
        const QPersistentModelIndex kept = m_model->index(250, LockRow::Lock);
        const auto keptName = kept.data().toString();
        Recorder recorder(*m_model);
        m_model->apply(odd);
        QCOMPARE(recorder.take(), (QStringList{u"+500-999"_s, u"layout"_s}));
        QVERIFY(names(*m_model) == [&] {
            auto list = names(*m_model);
            list.sort();
            return list;
        }());
        QCOMPARE(kept.data().toString(), keptName);
        for (auto &removed : odd)
            removed.kind = ChangeKind::Removed;
        m_model->apply(odd);
        QCOMPARE(recorder.take(), (QStringList{u"layout"_s, u"-500-999"_s}));
        QCOMPARE(kept.data().toString(), keptName);
        QCOMPARE(kept.row(), 250);
    }

    void sortByColumnAndBack()
    {
        add(zk("/a", 0));
        add(zk("/b", 2));
        add(zk("/c", 1));
        const QPersistentModelIndex kept = m_model->index(0, LockRow::Lock);
        m_model->sort(LockRow::Lock, Qt::DescendingOrder);
        QCOMPARE(names(*m_model).join(u' '), u"/c /b /a"_s);
        QCOMPARE(kept.data().toString(), u"/b"_s);
        m_model->apply({change(ChangeKind::Added, zk("/bb", 0))});
        QCOMPARE(names(*m_model).join(u' '), u"/c /bb /b /a"_s);
        m_model->sort(LockRow::Waiting, Qt::AscendingOrder);
        QCOMPARE(names(*m_model).join(u' '), u"/a /bb /c /b"_s);
        m_model->sort(-1, Qt::AscendingOrder);
        QCOMPARE(names(*m_model).join(u' '), u"/b /c /a /bb"_s);
    }

    void rankFollowsTheGrowingSums()
    {
        // One has waited long, three began just now: they overtake.
        auto slow = queueLock("zk", "/slow", 1, testing::serverTime(start));
        slow.contenders[1].waitingSince = testing::serverTime(start) - 10s;
        auto crowd = queueLock("zk", "/crowd", 3, testing::serverTime(start));
        for (std::size_t i = 1; i < 4; ++i)
            crowd.contenders[i].waitingSince = testing::serverTime(start);
        add(slow);
        add(crowd);
        QCOMPARE(names(*m_model).join(u' '), u"/slow /crowd"_s);
        Recorder recorder(*m_model);
        m_now += 4s;
        m_model->rank();
        QCOMPARE(recorder.take(), QStringList());
        m_now += 4s;
        m_model->rank();
        QCOMPARE(recorder.take(), (QStringList{u"layout"_s}));
        QCOMPARE(names(*m_model).join(u' '), u"/crowd /slow"_s);
    }

    // The rows stand in the order of before until all have been settled.
    void removedLockIsFoundInTheOldOrder()
    {
        auto slow = queueLock("zk", "/slow", 1, testing::serverTime(start));
        slow.contenders[1].waitingSince = testing::serverTime(start) - 10s;
        add(slow);
        add(zk("/none", 0));
        auto crowd = queueLock("zk", "/crowd", 3, testing::serverTime(start));
        for (std::size_t i = 1; i < 4; ++i)
            crowd.contenders[i].waitingSince = testing::serverTime(start);
        add(crowd);
        m_model->setOrderHeld(true);
        m_model->apply({change(ChangeKind::Removed, slow)});
        m_now += 8s;
        m_model->rank();
        m_model->settle();
        QCOMPARE(names(*m_model).join(u' '), u"/crowd /none"_s);
        QCOMPARE(m_model->all().size(), std::size_t(2));
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{}));
    }

    void agesTickByTheServersClockAndFreeze()
    {
        auto lock = zk("/a", 0);
        lock.contenders[0].heldSince = testing::serverTime(start) + 1h - 5s; // the server's clock is an hour ahead
        lock.serverAhead = 1h;
        add(lock);
        const auto held = [this] { return m_model->index(0, LockRow::Held).data().toString(); };
        QCOMPARE(held(), u"5.0 s"_s);
        m_now += 2s;
        QCOMPARE(held(), u"7.0 s"_s);
        Recorder recorder(*m_model);
        m_model->tick(0, 40);
        QCOMPARE(recorder.take(), (QStringList{u"~0-0"_s}));
        m_model->setFrozen(ConnectionName("zk"), m_now);
        m_now += 1min;
        QCOMPARE(held(), u"7.0 s"_s);
        m_model->setFrozen(ConnectionName("zk"), {});
        QCOMPARE(held(), u"1 m 07 s"_s);
    }

    void staysRightUnderRandomBatches()
    {
        // Against the plainest model there is: a map, sorted afresh.
        std::mt19937 random(20240117);
        const auto below = [&random](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
        std::map<QByteArray, LockSnapshot> truth;
        m_tester.reset(); // checks every row on every signal; the comparison below does that once a batch
        for (int round = 0; round < 150; ++round) {
            std::vector<SnapshotChange> batch;
            const int size = round % 10 == 0 ? 300 : below(8) + 1;
            for (int i = 0; i < size; ++i) {
                const auto path = "/l/" + QByteArray::number(below(600));
                auto lock = zk(path, below(4));
                if (below(5) == 0)
                    addFinding(lock, inspect::FindingCode::LongWait, u"waits long"_s);
                if (below(3) == 0) {
                    batch.push_back(change(ChangeKind::Removed, lock));
                    truth.erase(path);
                } else {
                    batch.push_back(change(ChangeKind::Changed, lock));
                    truth[path] = lock;
                }
            }
            if (round % 20 == 7)
                m_model->setChip(round % 40 == 7 ? LocksModel::Chip::Contended : LocksModel::Chip::All);
            if (round % 30 == 11)
                m_model->sort(round % 60 == 11 ? LockRow::Waiting : -1, Qt::AscendingOrder);
            m_model->setOrderHeld(round % 3 != 0);
            m_model->apply(testing::newest({.locks = batch}).locks);
            m_model->setOrderHeld(false);
            LocksModel fresh;
            fresh.setClock([this] { return m_now; });
            fresh.rank();
            fresh.setChip(m_model->chip());
            if (round % 60 >= 11 && round % 60 < 41)
                fresh.sort(LockRow::Waiting, Qt::AscendingOrder);
            for (const auto &[path, lock] : truth)
                fresh.apply({change(ChangeKind::Added, lock)});
            QCOMPARE(names(*m_model), names(fresh));
            QCOMPARE(m_model->counts(), fresh.counts());
        }
    }

    void aHeldOrderMovesNoRowAndSaysWhatWaits()
    {
        for (const auto *path : {"/a", "/b", "/c"})
            add(zk(path, 0));
        m_model->setOrderHeld(true);
        Recorder recorder(*m_model);
        m_model->apply({change(ChangeKind::Changed, zk("/c", 3))});
        add(zk("/aa", 2));
        m_model->apply({change(ChangeKind::Removed, zk("/b", 0))});
        QCOMPARE(recorder.take(), (QStringList{u"~2-2"_s, u"~1-1"_s}));
        QCOMPARE(names(*m_model).join(u' '), u"/a /b /c"_s);
        QCOMPARE(m_model->factsAt(2).waiters, 3); // what it says is so, wherever it stands
        QVERIFY(m_model->isGoneAt(1));
        const auto heldBy = [this](int row) { return m_model->index(row, LockRow::Held).data().toString(); };
        const QString heldAtLast = heldBy(1);
        QCOMPARE(heldBy(0), heldAtLast);
        m_now += 1min;
        QCOMPARE(heldBy(1), heldAtLast); // it gets no older than it was
        QVERIFY(heldBy(0) != heldAtLast);
        QVERIFY(!m_model->snapshot({ConnectionName("zk"), "/b"}));
        QCOMPARE(m_model->counts(), (LockCounts{3, 2, 0, 0, 0}));
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{3, 1, 0}));
        m_model->setOrderHeld(false);
        QCOMPARE(names(*m_model).join(u' '), u"/c /aa /a"_s);
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{}));
    }

    // Nobody has to leave the list to see what is critical: it comes on top at once. The row that is aimed at stays.
    void aCriticalLockComesOnTopOfAHeldOrder_data()
    {
        const Rows<int, QString, QString> row("aim", "withNew", "withBoth");
        row("nothing is aimed at", -1, u"forever /a /b /c"_s, u"/c forever /a /b"_s);
        row("the first", 0, u"/a forever /b /c"_s, u"/a forever /c /b"_s);
        row("the second", 1, u"forever /b /a /c"_s, u"/c /b /a forever"_s);
        row("the last", 2, u"forever /a /c /b"_s, u"forever /a /c /b"_s);
    }
    void aCriticalLockComesOnTopOfAHeldOrder()
    {
        QFETCH(int, aim);
        QFETCH(QString, withNew);
        QFETCH(QString, withBoth);
        for (const auto *path : {"/a", "/b", "/c"})
            add(zk(path, 0));
        m_model->setOrderHeld(true);
        m_model->setAim([aim] { return aim; });
        const auto aimedAt = names(*m_model).value(aim);
        add(redisLock("redis", "forever", {}, testing::serverTime(start)));
        QCOMPARE(names(*m_model).join(u' '), withNew);
        QCOMPARE(names(*m_model).value(aim), aimedAt);
        auto critical = zk("/c", 3);
        addFinding(critical, inspect::FindingCode::Deadlock, u"waits for itself"_s);
        m_model->apply({change(ChangeKind::Changed, critical)});
        QCOMPARE(names(*m_model).value(aim), aimedAt);
        QCOMPARE(names(*m_model).join(u' '), withBoth);
        QCOMPARE(m_model->counts().critical, 2);
        m_model->apply({change(ChangeKind::Changed, zk("/b", 1))}); // nothing else moves
        QCOMPARE(names(*m_model).join(u' '), withBoth);
        m_model->setOrderHeld(false);
        QCOMPARE(names(*m_model).join(u' '), u"/c forever /b /a"_s);
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{}));
    }

    // A row whose facts changed, and which stands where it belongs all the same, does not want to move.
    void onlyRowsThatStandWrongWantToMove_data()
    {
        QTest::addColumn<QList<int>>("waiters"); // of /a to /e, which begin with 8 6 4 2 0
        QTest::addColumn<int>("rows");
        const auto row = [](const char *what, const QList<int> &waiters, int rows) {
            QTest::newRow(what) << waiters << rows;
        };
        row("none changed", {8, 6, 4, 2, 0}, 0);
        row("more wait, fewer than above", {8, 7, 4, 2, 0}, 0);
        row("all more by one", {9, 7, 5, 3, 1}, 0);
        row("up by one place", {8, 6, 4, 5, 0}, 1);
        row("to the top", {8, 6, 4, 2, 9}, 1);
        row("down", {8, 1, 4, 2, 0}, 1);
        row("two change places with others", {8, 4, 6, 2, 0}, 1);
        row("two up, one of them in its place", {8, 7, 9, 2, 0}, 1);
        row("all turned round", {0, 2, 4, 6, 8}, 4);
    }
    void onlyRowsThatStandWrongWantToMove()
    {
        QFETCH(QList<int>, waiters);
        QFETCH(int, rows);
        const QByteArrayList paths{"/a", "/b", "/c", "/d", "/e"};
        for (int i = 0; i < 5; ++i)
            add(zk(paths[i], 8 - 2 * i));
        m_model->sort(LockRow::Waiting, Qt::DescendingOrder);
        m_model->setOrderHeld(true);
        for (int i = 0; i < 5; ++i)
            m_model->apply({change(ChangeKind::Changed, zk(paths[i], waiters[i]))});
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{rows, 0, 0}));
        const auto before = names(*m_model);
        m_model->setOrderHeld(false);
        QCOMPARE(names(*m_model) == before, rows == 0);
        QCOMPARE(m_model->waiting(), LocksModel::Waiting{});
    }

    void returningLockKeepsItsRowInAHeldOrder()
    {
        add(zk("/a", 0));
        add(zk("/b", 0));
        m_model->setOrderHeld(true);
        m_model->apply({change(ChangeKind::Removed, zk("/a", 0))});
        m_model->apply({change(ChangeKind::Added, zk("/a", 0))});
        QVERIFY(!m_model->isGoneAt(0));
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{}));
        QCOMPARE(m_model->counts().all, 2);
        m_model->settle(); // a click on the hint, with the pointer still there
        m_model->apply({change(ChangeKind::Changed, zk("/b", 1))});
        QCOMPARE(names(*m_model).join(u' '), u"/a /b"_s);
        m_model->setText(u"/b"_s); // whoever searches wants to see it now
        QCOMPARE(names(*m_model).join(u' '), u"/b"_s);
        QCOMPARE(m_model->waiting(), (LocksModel::Waiting{}));
    }

    // Whoever is filtered out is held all the same; who has gone is not.
    void locksOfOneThreadAreFoundAmongAllRows()
    {
        const QByteArray thread = "6d1cf0f4-8d7e-4b83-9e8a-3d1c1f6b8a01:57";
        const auto held = [](const char *connection, const QByteArray &name, const QByteArray &who) {
            auto lock = redisLock(connection, name, 30s, testing::serverTime(start));
            lock.contenders.resize(1);
            lock.contenders[0].role = inspect::Role::Holder;
            lock.contenders[0].id = who;
            return lock;
        };
        add(held("redis", "c", thread));
        add(held("redis", "a", thread));
        add(held("redis", "b", thread + ":write"));
        add(held("redis", "another", thread + '1'));
        add(held("redis2", "elsewhere", thread));
        add(held("redis", "word", "a-token"));
        m_model->setText(u"nothing is called so"_s);
        const auto with = [this](const QByteArray &name) {
            return heldWith(*m_model->snapshot({ConnectionName("redis"), name}), m_model->all());
        };
        QCOMPARE(with("a"), (std::vector<QByteArray>{"b", "c"}));
        QCOMPARE(with("another"), std::vector<QByteArray>());
        QCOMPARE(with("word"), std::vector<QByteArray>());
        m_model->apply({change(ChangeKind::Removed, held("redis", "c", thread))});
        QCOMPARE(with("a"), std::vector<QByteArray>{"b"});
    }

    void hostileNamesStayText()
    {
        auto lock = zk("/<b>bold</b>\x1b[31m", 0);
        add(lock);
        QCOMPARE(m_model->index(0, LockRow::Lock).data().toString(), u"/<b>bold</b>\\x1B[31m"_s);
        QVERIFY(m_model->index(0, LockRow::Lock).data(Qt::ToolTipRole).toString().contains(u"&lt;b&gt;bold"_s));
    }

    // Rows are of the newest snapshot, whatever stands in it.
    void anIdTwiceInAQueueLeavesNoRowOfBefore()
    {
        QueueModel queue;
        const QAbstractItemModelTester tester(&queue, QAbstractItemModelTester::FailureReportingMode::QtTest);
        auto lock = zk("/a", 3);
        const auto all = lock.contenders;
        const auto show = [&](std::vector<std::size_t> which) {
            lock.contenders.clear();
            for (const auto one : which) {
                lock.contenders.push_back(all[one]);
                lock.contenders.back().identity = QByteArray::number(qulonglong(++m_shows));
            }
            const auto shared = std::make_shared<LockSnapshot>(lock);
            queue.setSnapshot(shared);
            for (int row = 0; row < queue.rowCount(); ++row) {
                const auto &shown = queue.contenderAt(row);
                QVERIFY(
                    std::ranges::any_of(shared->contenders, [&shown](const auto &one) { return &one == &shown; }));
            }
        };
        show({0, 1});
        show({0, 0, 1});
        show({1, 1, 1});
        show({1});
        QCOMPARE(queue.rowCount(), 1);
        show({});
        QCOMPARE(queue.rowCount(), 0);
        show({2, 2, 0, 1});
        show({0, 1, 2});
        QCOMPARE(queue.rowCount(), 3);
        QCOMPARE(queue.contenderAt(2).id, all[2].id);
    }

    void queueMovesUpInDeltas()
    {
        QueueModel queue;
        QAbstractItemModelTester tester(&queue, QAbstractItemModelTester::FailureReportingMode::QtTest);
        queue.setClock([this] { return m_now; });
        auto lock = zk("/a", 4);
        queue.setSnapshot(std::make_shared<inspect::LockSnapshot>(lock));
        Recorder recorder(queue);
        QCOMPARE(queue.rowCount(), 5);
        QCOMPARE(queue.pillAt(0).word, u"holds"_s);
        const QPersistentModelIndex second = queue.index(2, 0);
        lock.contenders.erase(lock.contenders.begin());
        lock.contenders[0].role = inspect::Role::Holder;
        lock.contenders[0].heldSince = testing::serverTime(start);
        queue.setSnapshot(std::make_shared<inspect::LockSnapshot>(lock));
        QCOMPARE(recorder.take(), (QStringList{u"-0-0"_s, u"~0-0"_s}));
        QCOMPARE(second.row(), 1);
        auto joined = zk("/a", 7);
        lock.contenders.insert(lock.contenders.end(), joined.contenders.begin() + 5, joined.contenders.end());
        queue.setSnapshot(std::make_shared<inspect::LockSnapshot>(lock));
        QCOMPARE(recorder.take(), (QStringList{u"+4-6"_s}));
        std::swap(lock.contenders[1], lock.contenders[2]);
        queue.setSnapshot(std::make_shared<inspect::LockSnapshot>(lock));
        QCOMPARE(recorder.take(), (QStringList{u"2>1"_s, u"~1-1"_s}));
        QCOMPARE(second.row(), 2);
    }
};

LOCKSCOPE_GUI_TEST(TestLocksModel)
#include "tst_locksmodel.moc"
