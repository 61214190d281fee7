// SPDX-License-Identifier: Apache-2.0
// Whose turn is it: reading numbers, order, mutex, permits, read/write.
#include <version>

#include "core/rules/turn.h"
#include "tests/support/testmain.h"

using namespace lockscope::recipes;

namespace {

// "r12" is a reader, anything else a writer; the number gets the server's form.
std::vector<Queued> queueOf(const QByteArrayList &shorthand)
{
    std::vector<Queued> queue;
    for (const auto &item : shorthand) {
        const auto number = item.mid(1).toInt();
        const NodeName name(item.left(1) + "-" + QByteArray::number(number).rightJustified(10, '0'));
        queue.push_back({*readSequence(name), item.startsWith('r') ? Access::Shared : Access::Exclusive});
    }
    sortQueue(queue);
    return queue;
}

NodeName nodeOf(const QByteArray &shorthand)
{
    return NodeName(shorthand.left(1) + "-" + shorthand.mid(1).rightJustified(10, '0'));
}

// "mine", "gone" or the shorthand of the predecessor.
QByteArray spoken(const Turn &turn)
{
    if (turn.isMine())
        return "mine";
    if (!turn.predecessor)
        return "gone";
    const auto read = readSequence(*turn.predecessor);
    return read->prefix().left(1) + QByteArray::number(read->sequence);
}

} // namespace

class TestTurn : public QObject {
    Q_OBJECT
private slots:
    void readsNumbers_data()
    {
        addColumns<QByteArray, QByteArray, QByteArray>("name", "base", "prefix");
        QTest::addColumn<qint64>("sequence"); // -99: none
        const QByteArray uuid = "_c_0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11-";
        QTest::newRow("curator") << uuid + "lock-0000000041" << QByteArray("lock-") << uuid + "lock-" << qint64(41);
        QTest::newRow("curator, base unknown")
            << uuid + "lock-0000000041" << QByteArray() << uuid + "lock-" << qint64(41);
        QTest::newRow("kazoo") << QByteArray("ab__lock__0000000007") << QByteArray("__lock__")
                               << QByteArray("ab__lock__") << qint64(7);
        QTest::newRow("largest") << QByteArray("lock-2147483647") << QByteArray("lock-") << QByteArray("lock-")
                                 << qint64(2147483647);
        QTest::newRow("large after a dash, base unknown")
            << QByteArray("x-1234567890") << QByteArray() << QByteArray("x-") << qint64(1234567890);
        QTest::newRow("negative, ten characters")
            << QByteArray("lock--000000005") << QByteArray("lock-") << QByteArray("lock-") << qint64(-5);
        QTest::newRow("negative, base unknown")
            << QByteArray("lock--000000005") << QByteArray() << QByteArray("lock-") << qint64(-5);
        QTest::newRow("smallest, eleven characters")
            << QByteArray("lock--2147483648") << QByteArray("lock-") << QByteArray("lock-") << qint64(-2147483648LL);
        QTest::newRow("smallest, base unknown")
            << QByteArray("lock--2147483648") << QByteArray() << QByteArray("lock-") << qint64(-2147483648LL);
        QTest::newRow("smallest, base without dash") << QByteArray("a__WRIT__-2147483648") << QByteArray("__WRIT__")
                                                     << QByteArray("a__WRIT__") << qint64(-2147483648LL);
        QTest::newRow("number alone") << QByteArray("0000000003") << QByteArray() << QByteArray() << qint64(3);
        QTest::newRow("negative alone") << QByteArray("-000000003") << QByteArray() << QByteArray() << qint64(-3);
        QTest::newRow("other base") << QByteArray("read-0000000003") << QByteArray("lock-") << QByteArray()
                                    << qint64(-99);
        QTest::newRow("base not right before")
            << QByteArray("lock-x0000000003") << QByteArray("lock-") << QByteArray() << qint64(-99);
        QTest::newRow("too short") << QByteArray("lock-12") << QByteArray("lock-") << QByteArray() << qint64(-99);
        QTest::newRow("nine digits, no sign")
            << QByteArray("lock000000003") << QByteArray() << QByteArray() << qint64(-99);
        QTest::newRow("no number") << QByteArray("lease_holder") << QByteArray() << QByteArray() << qint64(-99);
        QTest::newRow("empty") << QByteArray() << QByteArray() << QByteArray() << qint64(-99);
    }
    void readsNumbers()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, base);
        QFETCH(QByteArray, prefix);
        QFETCH(qint64, sequence);
        const auto read = readSequence(NodeName(name), base);
        QCOMPARE(read.has_value(), sequence != -99);
        QCOMPARE(sequenceOf(NodeName(name), base).value_or(-99), sequence);
        if (!read)
            return;
        QCOMPARE(read->prefix(), prefix);
        QCOMPARE(read->sequence, sequence);
        QCOMPARE(read->name.bytes(), name);
    }

    void ordersByNumberNeverByName()
    {
        const auto early = *readSequence(NodeName("z-0000000001"));
        const auto late = *readSequence(NodeName("a-0000000002"));
        QVERIFY(comesBefore(early, late));
        QVERIFY(!comesBefore(late, early));
    }

    void theCounterWraps()
    {
        const auto last = *readSequence(NodeName("lock-2147483647"), "lock-");
        const auto first = *readSequence(NodeName("lock--2147483648"), "lock-");
        const auto second = *readSequence(NodeName("lock--2147483647"), "lock-");
        const auto later = *readSequence(NodeName("lock--000000005"), "lock-");
        QVERIFY(comesBefore(last, first));
        QVERIFY(comesBefore(first, second));
        QVERIFY(comesBefore(second, later));
        QVERIFY(!comesBefore(later, last));
    }

    void equalNumbersHaveOneOrder()
    {
        auto queue = queueOf({"b7", "a7", "c7"});
        QCOMPARE(spoken(turnInQueue(queue, nodeOf("a7"))), QByteArray("mine"));
        QCOMPARE(spoken(turnInQueue(queue, nodeOf("b7"))), QByteArray("a7"));
        QCOMPARE(spoken(turnInQueue(queue, nodeOf("c7"))), QByteArray("b7"));
    }

    void aDowngradedReaderStandsBehindItsWriter()
    {
        auto queue = queueOf({"r7", "w7"});
        QCOMPARE(spoken(turnInReadWriteQueue(queue, nodeOf("w7"))), QByteArray("mine"));
        QCOMPARE(spoken(turnInReadWriteQueue(queue, nodeOf("r7"))), QByteArray("w7"));
    }

    void queues_data()
    {
        const Rows<QByteArrayList, QByteArray, int, QByteArray> row("queue", "me", "permits", "turn");
        const QByteArrayList five{"w5", "w2", "w9", "w3", "w7"};
        row("alone", {"w4"}, "w4", 1, "mine");
        row("head", five, "w2", 1, "mine");
        row("second", five, "w3", 1, "w2");
        row("last", five, "w9", 1, "w7");
        row("missing", five, "w4", 1, "gone");
        row("empty", {}, "w4", 1, "gone");
        row("permit 2 of 2", five, "w3", 2, "mine");
        row("third of 2 permits", five, "w5", 2, "w2");
        row("fifth of 2 permits", five, "w9", 2, "w5");
        row("more permits than contenders", five, "w9", 8, "mine");
        row("no permits count as one", five, "w2", 0, "mine");
    }
    void queues()
    {
        QFETCH(QByteArrayList, queue);
        QFETCH(QByteArray, me);
        QFETCH(int, permits);
        QFETCH(QByteArray, turn);
        QCOMPARE(spoken(turnInQueue(queueOf(queue), nodeOf(me), permits)), turn);
    }

    void readersAndWriters_data()
    {
        const Rows<QByteArrayList, QByteArray, QByteArray, QByteArray> row("queue", "me", "nearest", "lowest");
        const QByteArrayList mixed{"r1", "r2", "w3", "r4", "w5", "r6", "r7", "w8"};
        const QByteArray own("mine");
        row("first reader", mixed, "r1", own, own);
        row("second reader", mixed, "r2", own, own);
        row("writer behind readers", mixed, "w3", "r2", "r2");
        row("reader behind one writer", mixed, "r4", "w3", "w3");
        row("writer behind a reader", mixed, "w5", "r4", "r4");
        row("reader behind two writers", mixed, "r6", "w5", "w3");
        row("its neighbour", mixed, "r7", "w5", "w3");
        row("last writer", mixed, "w8", "r7", "r7");
        row("lone writer", {"w3"}, "w3", own, own);
        row("writer at the head", {"r5", "w4"}, "w4", own, own);
        row("missing", mixed, "r9", "gone", "gone");
    }
    void readersAndWriters()
    {
        QFETCH(QByteArrayList, queue);
        QFETCH(QByteArray, me);
        QFETCH(QByteArray, nearest);
        QFETCH(QByteArray, lowest);
        const auto sorted = queueOf(queue);
        QCOMPARE(spoken(turnInReadWriteQueue(sorted, nodeOf(me))), nearest);
        QCOMPARE(spoken(turnInReadWriteQueue(sorted, nodeOf(me), ReaderWatches::LowestWriter)), lowest);
    }
};

LOCKSCOPE_TEST(TestTurn)
#include "tst_turn.moc"
