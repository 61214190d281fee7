// SPDX-License-Identifier: Apache-2.0
// What is on its way to the window: the newest of each lock, the longest waiting first, so many at a time.
#include "core/workspace/backend.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using inspect::ChangeKind;

class TestNews : public QObject {
    Q_OBJECT

    static constexpr WallTime start{1'000'000s};

    static inspect::SnapshotChange change(ChangeKind kind, const QByteArray &name, const QByteArray &holder = {})
    {
        inspect::SnapshotChange made;
        made.kind = kind;
        made.lock.lock = {ConnectionName("zk"), name};
        made.lock.contenders.resize(1);
        made.lock.contenders.front().id = holder;
        return made;
    }
    // "+a 1", "~b 2", "-c": what is told.
    static QByteArrayList told(const Batch &batch)
    {
        QByteArrayList all;
        for (const auto &lock : batch.locks) {
            const auto *sign = lock.kind == ChangeKind::Added ? "+" : lock.kind == ChangeKind::Changed ? "~" : "-";
            all << sign + lock.lock.lock.name + lock.lock.contenders.front().id;
        }
        return all;
    }

private slots:
    void theNewestOfEachIsTold()
    {
        News pending;
        pending.add(change(ChangeKind::Added, "a", "1"), start);
        pending.add(change(ChangeKind::Changed, "b", "1"), start);
        pending.add(change(ChangeKind::Changed, "a", "2"), start);
        pending.add(change(ChangeKind::Removed, "b"), start);
        QCOMPARE(told(pending.take(10)), (QByteArrayList{"+a2", "-b"}));
        QVERIFY(pending.isEmpty() && pending.take(10).locks.empty());
    }

    // One that changes all the time keeps no other from being told.
    void oldestNewsIsTakenFirst()
    {
        News pending;
        for (const auto *name : {"c", "a", "b"})
            pending.add(change(ChangeKind::Changed, name, "1"), start);
        QCOMPARE(told(pending.take(1)), QByteArrayList{"~c1"});
        pending.add(change(ChangeKind::Changed, "c", "2"), start + 1s);
        pending.add(change(ChangeKind::Changed, "b", "2"), start + 1s);
        QCOMPARE(pending.oldestOf(ConnectionName("zk")), std::optional(start));
        QCOMPARE(told(pending.take(2)), (QByteArrayList{"~a1", "~b2"}));
        QCOMPARE(pending.oldestOf(ConnectionName("zk")), std::optional(start + 1s));
        QCOMPARE(told(pending.take(2)), QByteArrayList{"~c2"});
        QCOMPARE(pending.oldestOf(ConnectionName("zk")), std::nullopt);
    }

    // What another connection has to tell makes nothing of this one older.
    void anothersBacklogHoldsBackNothing()
    {
        News pending;
        pending.add(change(ChangeKind::Changed, "a", "1"), start);
        auto theirs = change(ChangeKind::Changed, "a", "1");
        theirs.lock.lock.connection = ConnectionName("other");
        pending.add(theirs, start + 1s);
        QCOMPARE(pending.oldestOf(ConnectionName("other")), std::optional(start + 1s));
        QCOMPARE(pending.oldestOf(ConnectionName("third")), std::nullopt);
    }

    // A first look is over when the locks that it found are told, whatever else has changed since.
    void earlierNewsIsTakenBeforeLaterNews()
    {
        News pending;
        QVERIFY(pending.isTakenBefore(pending.next()));
        pending.add(change(ChangeKind::Added, "a"), start);
        pending.add(change(ChangeKind::Added, "b"), start);
        const auto moment = pending.next();
        pending.add(change(ChangeKind::Added, "c"), start);
        QVERIFY(!pending.isTakenBefore(moment));
        (void)pending.take(1);
        QVERIFY(!pending.isTakenBefore(moment));
        (void)pending.take(1);
        QVERIFY(pending.isTakenBefore(moment));
        pending.add(change(ChangeKind::Changed, "a"), start);
        QVERIFY(pending.isTakenBefore(moment));
    }
};

LOCKSCOPE_TEST(TestNews)
#include "tst_news.moc"
