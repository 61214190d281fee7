// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper from 3.9.3 on says nothing of a node to whom may not read it (ZOOKEEPER-2590): it is in the queue all
// the same. Directories in, locks out, as in tst_recognise_zookeeper.
#include "tests/support/testmain.h"
#include "znoderules.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

class TestRecogniseHidden : public testing::ZnodeRules {
    Q_OBJECT
private slots:
    void hidden_data()
    {
        columns();
        row("the first: who comes next does not hold", "/l/lock", R"(
            _c_{u1}-lock-0000000000 ?
            _c_{u2}-lock-0000000001 s2
            s2 > _c_{u1}-lock-0000000000)",
            R"(
            /l/lock curator-mutex medium contended (Curator)
            _c_{u1}-lock-0000000000 holds exclusive 0
            _c_{u2}-lock-0000000001 waits exclusive 1 ->_c_{u1}-lock-0000000000)");
        row("all of them", "/l/lock", R"(
            {h1}__lock__0000000000 ?
            {h2}__lock__0000000001 ?)",
            R"(
            /l/lock kazoo-lock medium contended (kazoo)
            {h1}__lock__0000000000 holds exclusive 0
            {h2}__lock__0000000001 waits exclusive 1 ~>{h1}__lock__0000000000)");
        row("no known client's names: a queue only where one of them is known to be ephemeral", "/jobs", R"(
            job-0000000000 ?
            job-0000000001 ?)",
            "");
        row("and then with all of them", "/jobs", R"(
            job-0000000000 ?
            job-0000000001 s1)",
            R"(
            /jobs zk-mutex low contended
            job-0000000000 holds exclusive 0
            job-0000000001@2 waits exclusive 1 ~>children)");
        row("the owner's number is in the name", "/l", R"(
            x-{d1}-0000000000 ?
            x-{d2}-0000000001 s2)",
            R"(
            /l zookeeper-recipe-lock high contended (ZooKeeper's Java recipe)
            x-{d1}-0000000000 holds exclusive 0
            x-{d2}-0000000001@2 waits exclusive 1 ~>x-{d1}-0000000000)");
        row("a writer's number and a reader's are no downgrade", "/l/rw", R"(
            _c_{u1}-__WRIT__0000000002 ?
            _c_{u2}-__READ__0000000002 ?)",
            R"(
            /l/rw curator-rwlock high contended (Curator) !sequence-overflow
            _c_{u1}-__WRIT__0000000002 holds write 0
            _c_{u2}-__READ__0000000002 waits read 1 ~>_c_{u1}-__WRIT__0000000002)");
        row("one without a number is nobody's lock", "/l/lock", "leader ?", "");
    }
    void hidden() { check(); }

    void hiddenNodeOwnerIsTakenFromSessionList()
    {
        const Input input("/l/lock", R"(
            _c_{u1}-lock-0000000000 ?s1
            _c_{u2}-lock-0000000001 ?)");
        const auto locks = input.locks();
        QCOMPARE(locks.size(), 1u);
        const auto &holder = locks.front().contenders.front(), &waiter = locks.front().contenders.back();
        QCOMPARE(holder.session, zk::SessionId{sessionNumber(1)}.text());
        QCOMPARE(holder.endpoint, u"10.0.0.1:1000"_s);
        QVERIFY(!holder.heldSince && !waiter.waitingSince && !waiter.session);
        QCOMPARE(holder.guard.znode().czxid, 0); // nothing can be released by force
    }
};

LOCKSCOPE_TEST(TestRecogniseHidden)
#include "tst_recognise_hidden.moc"
