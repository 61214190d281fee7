// SPDX-License-Identifier: Apache-2.0
// The lines beside a queue: a table of who watches whom, and what stands beside each row.
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "ui/models/queuemodel.h"

using namespace lockscope::ui;
using inspect::Evidence;
using inspect::Role;

namespace {

const SystemTime railsPresent = SystemTime(1'700'000'000s);

// "b>a" watches as a server reported, "b~a" as inferred, "b>*" watches the directory; contenders in this order.
inspect::LockSnapshot queueOf(const QString &order, const QString &watches)
{
    inspect::LockSnapshot lock;
    for (const auto &id : order.split(u' ')) {
        inspect::Contender contender;
        contender.id = id.toUtf8();
        for (const auto &watch : watches.split(u' ', Qt::SkipEmptyParts)) {
            if (watch.left(1) != id)
                continue;
            const auto evidence = watch[1] == u'>' ? Evidence::Server : Evidence::Inferred;
            const bool isDirectory = watch[2] == u'*';
            contender.watches.append({isDirectory ? QByteArray() : watch.mid(2).toUtf8(), isDirectory, evidence});
        }
        lock.contenders.push_back(contender);
    }
    return lock;
}

QChar signOf(RailPart part)
{
    return part == RailPart::Seen ? u'|' : part == RailPart::Inferred ? u':' : u'.';
}

// A row as "up down; lane: above below tick" for each lane that is in use; "<" marks the target.
QString drawn(const RailRow &row)
{
    QString text = QString(signOf(row.up)) + signOf(row.down);
    for (const auto &lane : row.lanes) {
        if (lane == RailRow::Lane())
            continue;
        text += u' ' + QString(signOf(lane.above)) + signOf(lane.below) + signOf(lane.tick);
        text += lane.isTarget ? u"<"_s : QString();
    }
    return text;
}

} // namespace

class TestQueueRails : public QObject {
    Q_OBJECT

private slots:
    void linesFollowTheWatches_data()
    {
        const testing::Rows<QString, QString, QStringList> row("order", "watches", "drawn");
        row("no client watches", u"a b"_s, QString(), {u".."_s, u".."_s});
        row("each the one before", u"a b c"_s, u"b>a c~b"_s, {u".|"_s, u"|:"_s, u":."_s});
        row("a herd on the holder", u"a b c d"_s, u"b>a c>a d>a"_s,
            {u".| .||<"_s, u"|. ||."_s, u".. |||"_s, u".. |.|"_s});
        row("a herd on the directory", u"a b c"_s, u"b>* c>*"_s, {u".. ||."_s, u".. |||"_s, u".. |.|"_s});
        row("readers behind a writer", u"w r s"_s, u"r>w s~w"_s, {u".| .::<"_s, u"|. ::."_s, u".. :.:"_s});
        row("a client that is not in the queue", u"a b"_s, u"b>x"_s, {u".."_s, u".."_s});
        row("of itself", u"a b"_s, u"b>b"_s, {u".."_s, u".."_s});
        row("of one behind it", u"a b c"_s, u"a>c"_s, {u".. .||"_s, u".. ||."_s, u".. |.|<"_s});
        row("two at once", u"a b c d"_s, u"c>a d>b"_s,
            {u".. .||<"_s, u".. ||. .||<"_s, u".. |.| ||."_s, u".. |.|"_s});
    }
    void linesFollowTheWatches()
    {
        QFETCH(QString, order);
        QFETCH(QString, watches);
        QFETCH(QStringList, drawn);
        QStringList found;
        for (const auto &row : railsOf(queueOf(order, watches)))
            found << ::drawn(row);
        QCOMPARE(found, drawn);
    }

    // Of 10,000 that watch the holder each row has its part, and no row is looked at twice.
    void aHerdOfManyIsOneLane()
    {
        inspect::LockSnapshot lock;
        for (int i = 0; i < 10'000; ++i) {
            inspect::Contender contender;
            contender.id = QByteArray::number(i);
            if (i > 0)
                contender.watches.append({"0", false, Evidence::Server});
            lock.contenders.push_back(contender);
        }
        const auto rows = railsOf(lock);
        QCOMPARE(std::ssize(rows), 10'000);
        QCOMPARE(drawn(rows[5000]), u".. |||"_s);
        QCOMPARE(drawn(rows.back()), u".. |.|"_s);
    }

    void wakeUpIsExplained()
    {
        auto lock = testing::queueLock("zk", "/locks/a", 3, testing::serverTime(railsPresent));
        QCOMPARE(wakeUpText(lock), u"Watch chain: an arrow points at what a waiter watches. One release wakes 1."_s);
        lock.contenders[1].role = Role::Holder; // as of readers
        QVERIFY(wakeUpText(lock).endsWith(u"A release wakes at most 1."_s));
        lock.recipe = "sql-get-lock";
        QVERIFY2(!wakeUpText(lock).contains(u"wakes"_s), qPrintable(wakeUpText(lock)));
        lock = testing::queueLock("zk", "/locks/a", 48, testing::serverTime(railsPresent));
        for (std::size_t i = 1; i < lock.contenders.size(); ++i)
            lock.contenders[i].watches = {{{}, true, Evidence::Inferred}};
        QCOMPARE(wakeUpText(lock), u"Herd: 48 waiters watch the children of the queue. One release wakes 48."_s);
        for (std::size_t i = 1; i < lock.contenders.size(); ++i)
            lock.contenders[i].watches = {{lock.contenders[0].id, false, Evidence::Server}};
        QCOMPARE(wakeUpText(lock), u"Herd: 48 waiters watch the holder. One release wakes 48."_s);
        const auto redis = testing::redisLock("redis", "k", 10s, testing::serverTime(railsPresent));
        QCOMPARE(wakeUpText(redis), u"No server knows who waits: clients of this recipe ask again and again."_s);
        lock = testing::queueLock("zk", "/locks/a", 0, testing::serverTime(railsPresent));
        QCOMPARE(wakeUpText(lock), u"No client waits. A release wakes no client."_s);
        lock.contenders.clear();
        QVERIFY(wakeUpText(lock).startsWith(u"Free"_s));
    }
};

LOCKSCOPE_TEST(TestQueueRails)
#include "tst_queue_rails.moc"
