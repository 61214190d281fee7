// SPDX-License-Identifier: Apache-2.0
// Whom a node claims a lock for, against its place in the queue: what its session watches, nodes that outlive their
// session, texts that are each client's own. docs/layouts.md, "Queues: who holds, who watches whom".
#include "tests/support/testmain.h"
#include "znoderules.h"

#include "core/inspect/findings.h"

#include <algorithm>

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

class TestRecogniseClaims : public testing::ZnodeRules {
    Q_OBJECT
private slots:
    void firstInQueue_data()
    {
        columns();
        row("a kazoo reader that watches a later writer does not hold", "/kz/rw", R"(
            {h1}__rlock__0000000000 s1 r1
            {h2}__lock__0000000001 s2 w2
            s1 > {h2}__lock__0000000001
            s2 > {h1}__rlock__0000000000)",
            R"(
            /kz/rw kazoo-rwlock high contended (kazoo) !wrong-watch
            {h1}__rlock__0000000000 waits read 0 ->{h2}__lock__0000000001
            {h2}__lock__0000000001 waits write 1 ->{h1}__rlock__0000000000)");
        row("a reader beside it holds and stands first", "/kz/rw", R"(
            {h1}__rlock__0000000000 s1
            {h2}__rlock__0000000001 s2
            {h3}__lock__0000000002 s3
            s1 > {h3}__lock__0000000002
            s3 > {h2}__rlock__0000000001)",
            R"(
            /kz/rw kazoo-rwlock high contended (kazoo) !wrong-watch
            {h2}__rlock__0000000001 holds read 0
            {h1}__rlock__0000000000 waits read 1 ->{h3}__lock__0000000002
            {h3}__lock__0000000002 waits write 2 ->{h2}__rlock__0000000001)");
        row("a waiting reader that watches a later writer is not woken by the holder", "/kz/rw", R"(
            {h1}__lock__0000000000 s1
            {h2}__rlock__0000000001 s2
            {h3}__lock__0000000002 s3
            s2 > {h3}__lock__0000000002
            s3 > {h2}__rlock__0000000001)",
            R"(
            /kz/rw kazoo-rwlock high contended (kazoo) !wrong-watch
            {h1}__lock__0000000000 holds write 0
            {h2}__rlock__0000000001 waits read 1 ->{h3}__lock__0000000002
            {h3}__lock__0000000002 waits write 2 ->{h2}__rlock__0000000001)");
        row("a holder whose session watches all nodes holds", "/kz/rw", R"(
            {h1}__rlock__0000000000 s1
            {h2}__lock__0000000001 s2
            s1 > {h1}__rlock__0000000000
            s1 > {h2}__lock__0000000001
            s2 > {h1}__rlock__0000000000)",
            R"(
            /kz/rw kazoo-rwlock high contended (kazoo)
            {h1}__rlock__0000000000 holds read 0
            {h2}__lock__0000000001 waits write 1 ->{h1}__rlock__0000000000)");
        row("a mutex holder with the watch of a wait that was given up holds", "/l", R"(
            _c_{u1}-lock-0000000000 s1 10.0.0.1
            _c_{u2}-lock-0000000001 s2 10.0.0.2
            s1 > _c_{u2}-lock-0000000001
            s2 > _c_{u1}-lock-0000000000)",
            R"(
            /l curator-mutex medium contended (Curator)
            _c_{u1}-lock-0000000000 holds exclusive 0
            _c_{u2}-lock-0000000001 waits exclusive 1 ->_c_{u1}-lock-0000000000)");
    }
    void firstInQueue() { check(); }

    void onlyALaterNodeThatIsGoneCanHaveLeftTheWatch()
    {
        Input input("/l", R"(
            {h1}__lock__0000000000 s1
            {h2}__lock__0000000001 s2
            s1 > {h2}__lock__0000000001
            s2 > {h1}__lock__0000000000)");
        QCOMPARE(input.locks()[0].holderCount(), 1);
        input.directory.stat.numChildren = 2;
        input.directory.stat.cversion = 2 * 2 - 2; // two creates
        QCOMPARE(input.locks()[0].holderCount(), 0);
        QCOMPARE(input.locks()[0].worst(), Severity::Critical);
        input.directory.stat.cversion = 2 * 3 - 2; // a third node was there after both
        QCOMPARE(input.locks()[0].holderCount(), 1);
    }

    // An order's number is no place in a queue: the counter has not come so far, or the nodes were made in another
    // order.
    void aNumberOfTheClientsOwnIsNoTurn_data()
    {
        const Rows<QByteArray, int, QByteArrayList> row("nodes", "created", "locks");
        const QByteArrayList each{"/locks/order-1700000456", "/locks/order-1700000123"};
        row("beyond the counter", "order-1700000456 s1\norder-1700000123 s2", 9, {each[1], each[0]});
        row("in another order", "order-1700000456 s1\norder-1700000123 s2", 0, {each[1], each[0]});
        row("a known word", "lock-1700000123 s1\nlock-1700000456 s2", 2,
            {"/locks/lock-1700000123", "/locks/lock-1700000456"});
        row("a flat name", "a_lock_0000000007 s1", 2, {"/locks/a_lock_0000000007"});
        row("numbers alone", "1700000123 s1\n1700000456 s2", 2, {"/locks/1700000123", "/locks/1700000456"});
        row("BookKeeper's ledgers", "urL0000000001 s1\nurL0000000009 s2", 3,
            {"/locks/urL0000000001", "/locks/urL0000000009"});
        row("the counter's", "order-0000000001 s1\norder-0000000002 s2", 3, {"/locks"});
        row("the counter's, and one made by hand",
            "lock-0000000000 s1\nlock-0000000001 s2\nlock-0000000002 s3\nlock-1700000456 s4", 4, {"/locks"});
        row("a counter that is over", "lock-2147483647 s1\nlock--2147483648 s2", 2, {"/locks"});
        row("not known", "order-0000000001 s1\norder-0000000009 s2", 0, {"/locks"});
    }
    void aNumberOfTheClientsOwnIsNoTurn()
    {
        QFETCH(QByteArray, nodes);
        QFETCH(int, created);
        QFETCH(QByteArrayList, locks);
        Input input("/locks", nodes);
        input.directory.stat.cversion = 2 * created;
        QByteArrayList names;
        for (const auto &lock : input.locks()) {
            names << lock.lock.name;
            QVERIFY(lock.contenders.front().role == Role::Holder);
            QVERIFY(locks.size() == 1 || lock.waiterCount() == 0);
        }
        std::ranges::sort(names);
        std::ranges::sort(locks);
        QCOMPARE(names, locks);
    }
    void nodesOfOneTransactionAreAQueue()
    {
        Input input("/locks", "order-0000000002 s2\norder-0000000001 s1");
        for (auto &child : input.directory.children)
            child.stat.czxid = 7;
        const auto locks = input.locks();
        QCOMPARE(locks.size(), std::size_t(1));
        QCOMPARE(locks.front().lock.name, "/locks");
        QCOMPARE(locks.front().waiterCount(), 1);
    }
    // The client's number may come again for another node, so what was read of it is read again.
    void onlyACountersNumberIsForOneNode()
    {
        zk::Stat folder;
        QVERIFY(mayHaveGiven(folder, 1'700'000'000)); // not known
        folder.cversion = 7;                          // 5 creates, 2 of which were deleted
        folder.numChildren = 3;
        QCOMPARE(createdIn(folder), qint64(5));
        QVERIFY(mayHaveGiven(folder, 4) && !mayHaveGiven(folder, 5) && mayHaveGiven(folder, -7));
        QVERIFY(mayHaveGiven(folder, 2'147'483'647));
    }
    void twoReadersOfOneLetterHold()
    {
        Input input("/solr/coll1", R"(
            R_0000000000 s1
            R_0000000001 s2
            W_0000000002 s3
            R_0000000003 s4
            s3 > R_0000000001
            s4 > W_0000000002)");
        QCOMPARE(draw(input.locks()), lines(R"(
            /solr/coll1 zk-shared medium contended
            R_0000000000@1 holds read 0
            R_0000000001@2 holds read 1
            W_0000000002@3 waits write 2 ->R_0000000001@2
            R_0000000003@4 waits read 3 ->W_0000000002@3)"));
    }

    void aWaiterKnownByItsWatchMayBeGone()
    {
        Input watched("/locks", "job s1\ns2 > job");
        QVERIFY(watched.locks()[0].why.contains(u"may leave its watch"_s));
        QCOMPARE(watched.locks()[0].waiterCount(), 1);
        Input alone("/locks", "job s1");
        QVERIFY(!alone.locks()[0].why.contains(u"watch"_s));
    }

    void aStuckReadWriteLockIsCritical()
    {
        Input input("/kz/rw", R"(
            {h1}__rlock__0000000001 s1
            {h2}__lock__0000000002 s2
            s1 > {h2}__lock__0000000002
            s2 > {h1}__rlock__0000000001)");
        QCOMPARE(input.locks()[0].worst(), Severity::Warning); // the counter is not known
        input.directory.stat.numChildren = 2;
        input.directory.stat.cversion = 2 * 3 - 2;
        const auto lock = input.locks()[0];
        QCOMPARE(lock.worst(), Severity::Critical);
        QCOMPARE(lock.holderCount(), 0);
        QVERIFY(lock.state != LockState::Free);
        input.evidence.askedAt = std::chrono::system_clock::time_point(std::chrono::milliseconds(500));
        QCOMPARE(input.locks()[0].holderCount(), 1); // asked before they came
    }

    void foreignNodes_data()
    {
        columns();
        row("Curator waits for any child that sorts before its own", "/l", R"(
            {h1}-lock-0000000000 s1
            _c_{u2}-lock-0000000001 s2 10.0.0.2
            s2 > {h1}-lock-0000000000)",
            R"(
            /l curator-mutex medium contended (Curator) !foreign-node
            _c_{u2}-lock-0000000001 waits exclusive 0 ->{h1}-lock-0000000000)");
        row("its election does, too", "/l", R"(
            0000000000 s1
            _c_{u2}-latch-0000000001 s2 b
            _c_{u3}-latch-0000000002 s3 c
            s2 > 0000000000
            s3 > _c_{u2}-latch-0000000001)",
            R"(
            /l curator-leader high contended (Curator) !foreign-node
            _c_{u2}-latch-0000000001 waits exclusive 0 ->0000000000
            _c_{u3}-latch-0000000002 waits exclusive 1 ->_c_{u2}-latch-0000000001)");
        row("a holder that watches nothing does not wait for it", "/l", R"(
            {h1}-lock-0000000000 s1
            _c_{u2}-lock-0000000001 s2 10.0.0.2)",
            R"(
            /l curator-mutex medium held (Curator) !foreign-node
            _c_{u2}-lock-0000000001 holds exclusive 0)");
        row("children that sort behind it are no obstacle", "/l", R"(
            notes - x
            _c_{u2}-lock-0000000001 s2 10.0.0.2)",
            R"(
            /l curator-mutex medium held (Curator) !foreign-node
            _c_{u2}-lock-0000000001 holds exclusive 0)");
    }
    void foreignNodes() { check(); }

    void aForeignNodeBlocksCuratorWhereNoServerTells()
    {
        Input input("/l", R"(
            {h1}-lock-0000000000 s1
            _c_{u2}-lock-0000000001 s2 10.0.0.2)");
        input.context.evidence = nullptr;
        const auto lock = input.locks()[0];
        QCOMPARE(draw({lock}), lines(R"(
            /l curator-mutex medium contended (Curator) !foreign-node
            _c_{u2}-lock-0000000001 waits exclusive 0 ~>{h1}-lock-0000000000)"));
        QCOMPARE(lock.worst(), Severity::Warning);
    }

    void persistentNodes_data()
    {
        columns();
        row("a persistent sibling of the same form holds", "/j/lock", R"(
            item-0000000000 - x
            item-0000000001 s2 w
            item-0000000002 s3 v
            s2 > item-0000000000
            s3 > item-0000000001)",
            R"(
            /j/lock zk-mutex medium contended !persistent-node
            item-0000000000@1 holds exclusive 0
            item-0000000001@2 waits exclusive 1 ->item-0000000000@1
            item-0000000002@3 waits exclusive 2 ->item-0000000001@2)");
        row("flat layout", "/f", R"(
            stock_lock_0000000000 - x
            stock_lock_0000000001 s2)",
            R"(
            /f/stock zk-flat-mutex medium contended !persistent-node
            stock_lock_0000000000@1 holds exclusive 0
            stock_lock_0000000001@2 waits exclusive 1 ~>children)");
        row("alone, in a name that says lock", "/q", R"(
            work-lock-0000000000 - x
            work-lock-0000000001 - x)",
            R"(
            /q zk-mutex low held !persistent-node
            work-lock-0000000000@1 holds exclusive 0)");
        row("alone, as lock-<seq>", "/a", R"(
            lock-0000000001 - x
            lock-0000000002 - x)",
            R"(
            /a zk-mutex low held !persistent-node
            lock-0000000001@1 holds exclusive 0)");
        row("Hive's LOCK TABLE", "/hive/default/sales/day=1", R"(
            LOCK-EXCLUSIVE-0000000000 - q3:1:EXPLICIT:LOCK:10.0.0.9)",
            R"(
            /hive/default/sales/day=1 zk-shared high held (Hive) !persistent-node
            LOCK-EXCLUSIVE-0000000000@1 holds write 0)");
        row("Hive's readers share, beside folders", "/hive/default/sales", R"(
            LOCK-SHARED-0000000000 s1 a
            LOCK-SHARED-0000000001 s2 b
            day=1 - x)",
            R"(
            /hive/default/sales zk-shared high held (Hive)
            LOCK-SHARED-0000000000@1 holds read 0
            LOCK-SHARED-0000000001@2 holds read 1)");
    }
    void persistentNodes() { check(); }

    void textsBeforeTheNumber_data()
    {
        columns();
        row("each client's own: the watch joins them", "/l/lock", R"(
            hostA-0000000000 s1
            hostB-0000000001 s2
            hostC-0000000002 s3
            s2 > hostA-0000000000
            s3 > hostB-0000000001)",
            R"(
            /l/lock zk-mutex medium contended
            hostA-0000000000@1 holds exclusive 0
            hostB-0000000001@2 waits exclusive 1 ->hostA-0000000000@1
            hostC-0000000002@3 waits exclusive 2 ->hostB-0000000001@2)");
        row("locks of their own watch nothing of each other", "/l/locks", R"(
            stock-0000000000 s1
            bill-0000000001 s2)",
            R"(
            /l/locks/bill zk-mutex low held
            bill-0000000001@2 holds exclusive 0
            /l/locks/stock zk-mutex low held
            stock-0000000000@1 holds exclusive 0)");
        row("numbers alone in a folder that says lock", "/n/lock", R"(
            0000000001 s1)",
            R"(
            /n/lock zk-mutex medium held
            0000000001@1 holds exclusive 0)");
        row("two locks never share a name: a folder of that name", "/f/locks", R"(
            stock - x
            stock_lock_0000000001 s1
            bill_lock_0000000002 s2)",
            R"(
            /f/locks/bill zk-flat-mutex medium held
            bill_lock_0000000002@3 holds exclusive 0
            /f/locks/stock_lock_ zk-flat-mutex medium held
            stock_lock_0000000001@2 holds exclusive 0)");
        row("Spring's leftover beside the folder of its lock", "/registry/locks", R"(
            order-42 - x
            _c_{u1}-order-420000000001 s1
            _c_{u2}-order-420000000002 s2)",
            "");
        row("Spring's own folder", "/SpringIntegration-LockRegistry", R"(
            _c_{u1}-order-420000000001 s1
            _c_{u2}-order-420000000002 s2)",
            "");
        row("a UUID in a folder that says lock, also one that ends with ten digits", "/shop/locks", R"(
            {u1} s1 billing)",
            R"(
            /shop/locks/{u1} zk-ephemeral medium held
            {u1}@1 holds exclusive 0)");
        row("members of a barrier there", "/shop/locks", R"(
            {u1} s1
            {u2} s2)",
            "");
        row("a barrier that is ready", "/shop/locks", R"(
            {u1} s1
            ready s1)",
            "");
    }
    void textsBeforeTheNumber() { check(); }

    void uuidClaimsWithoutEvidenceAreOneQueue()
    {
        Input input("/l", R"(
            {u1}-lock-0000000000 s1
            {u2}-lock-0000000001 s2)");
        input.context.evidence = nullptr;
        QCOMPARE(draw(input.locks()), lines(R"(
            /l zk-mutex low contended
            {u1}-lock-0000000000 holds exclusive 0
            {u2}-lock-0000000001 waits exclusive 1 ~>{u1}-lock-0000000000)"));
    }
};

LOCKSCOPE_TEST(TestRecogniseClaims)
#include "tst_recognise_claims.moc"
