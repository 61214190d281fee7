// SPDX-License-Identifier: Apache-2.0
// Locks in places, and under names, that others use too: a folder's name denies nothing, a watched node proves
// little, and a list is not judged by what was said after it.
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/recognise.h"
#include "tests/support/testmain.h"
#include "znodetable.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

class TestPlaces : public QObject {
    Q_OBJECT

    static void columns() { addColumns<QByteArray, QByteArray, QByteArray>("path", "nodes", "expected"); }
    static void row(const char *name, const char *path, const char *nodes, const char *expected)
    {
        QTest::newRow(name) << QByteArray(path) << QByteArray(nodes) << QByteArray(expected);
    }

private slots:
    void aFoldersNameDeniesNoLock_data()
    {
        const Rows<QByteArray> row("path");
        for (const char *path : {"/app/owners/42", "/owners", "/x/taken", "/x/taken/1", "/leaders/a", "/mutations/7",
                                 "/mutations", "/block_numbers/a", "/live_nodes", "/brokers/ids", "/hbase/rs",
                                 "/consumers/g/owners/t", "/collections/c/leaders/s", "/overseer_elect"})
            row(path, QByteArray(path));
    }
    void aFoldersNameDeniesNoLock()
    {
        QFETCH(QByteArray, path);
        for (const QByteArray base :
             {"{h1}__lock__0000000001", "_c_{u1}-lock-0000000001", "_c_{h1}-lock-0000000001"}) {
            QVERIFY(candidateDirectory(ZPath(path), {NodeName(expand(base))}));
            const Input input(path, base + " s1");
            QCOMPARE(input.locks().size(), std::size_t(1));
            QCOMPARE(input.locks()[0].lock.name, path);
        }
    }

    void locksOfNoKnownClientInSuchFolders_data()
    {
        const Rows<QByteArray> row("path");
        for (const char *path : {"/app/owners/42", "/x/taken/1", "/leaders/a", "/mutations/7", "/x/mutations"})
            row(path, QByteArray(path));
    }
    void locksOfNoKnownClientInSuchFolders()
    {
        QFETCH(QByteArray, path);
        QCOMPARE(Input(path, "lock-0000000001 s1\nlock-0000000002 s2").locks().size(), std::size_t(1));
        QCOMPARE(Input(path, "the-lock s1 x").locks().size(), std::size_t(1));
    }

    void otherSystemsQueuesAreLeftOut_data()
    {
        columns();
        row("Kafka consumers' ids", "/consumers/g/ids", "g_host-1 s1 {}", "");
        row("Kafka partition owners", "/consumers/g/owners/topic", "0 s1 x", "");
        row("Solr shard leader", "/collections/c/leaders/shard1", "leader s1 {}", "");
        row("Solr shard leader, older", "/collections/c/leaders", "shard1 s1 {}", "");
        row("HBase below another name", "/hbase-unsecure/rs", "a,1,2 s1 x", "");
    }
    void otherSystemsQueuesAreLeftOut()
    {
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, nodes);
        QVERIFY(Input(path, nodes).locks().empty());
        QVERIFY(!candidateDirectory(ZPath(path), {NodeName(nodes.left(nodes.indexOf(' ')))}));
    }

    void otherClients_data()
    {
        columns();
        row("Rust zookeeper: each latch has an id of its own", "/app/leader", R"(
            latch-{u1}-0000000000 s1
            latch-{u2}-0000000001 s2
            s1 > latch-{u1}-0000000000
            s2 > latch-{u2}-0000000001
            s2 > latch-{u1}-0000000000)",
            R"(
            /app/leader zk-election medium contended (Rust zookeeper)
            latch-{u1}-0000000000 holds exclusive 0
            latch-{u2}-0000000001 waits exclusive 1 ->latch-{u1}-0000000000)");
        row("Rust zookeeper-client: three watches that a server reports", "/desk", R"(
            n-0000000000 s1
            n-0000000001 s2
            n-0000000002 s3
            n-0000000003 s4
            s2 > n-0000000000
            s3 > n-0000000001
            s4 > n-0000000002)",
            R"(
            /desk zk-mutex medium contended
            n-0000000000@1 holds exclusive 0
            n-0000000001@2 waits exclusive 1 ->n-0000000000@1
            n-0000000002@3 waits exclusive 2 ->n-0000000001@2
            n-0000000003@4 waits exclusive 3 ->n-0000000002@3)");
        row("two of three watches prove nothing", "/desk", R"(
            n-0000000000 s1
            n-0000000001 s2
            n-0000000002 s3
            s2 > n-0000000000)",
            R"(
            /desk zk-mutex low contended !herd
            n-0000000000@1 holds exclusive 0
            n-0000000001@2 waits exclusive 1 ->n-0000000000@1
            n-0000000002@3 waits exclusive 2 ~>children)");
        row("go-zookeeper beside Curator", "/l", R"(
            _c_{h1}-lock-0000000000 s1
            _c_{u2}-lock-0000000001 s2)",
            R"(
            /l curator-mutex medium contended (Curator and go-zookeeper)
            _c_{h1}-lock-0000000000 holds exclusive 0
            _c_{u2}-lock-0000000001 waits exclusive 1 ~>_c_{h1}-lock-0000000000)");
        row("a membership node with one instance, watched", "/services/api", R"(
            host-a s1
            s2 > host-a)",
            R"(
            /services/api/host-a zk-ephemeral low contended
            host-a@1 holds exclusive 0
            s2 waits exclusive - ->host-a@1)");
        row("Lockscope's own lock of one node", "/app", R"(
            turn s1 10.0.0.1 {u1}
            other s3 x)",
            R"(
            /app/turn zk-ephemeral medium held
            turn@1 holds exclusive 0)");
        row("Curator's writer that goes on reading: whoever queues may watch either node", "/rw", R"(
            _c_{u1}-__WRIT__0000000000 s1
            _c_{u2}-__READ__0000000000 s1
            _c_{u3}-__WRIT__0000000001 s2
            s2 > _c_{u1}-__WRIT__0000000000)",
            R"(
            /rw curator-rwlock high contended (Curator)
            _c_{u1}-__WRIT__0000000000 holds write 0
            _c_{u2}-__READ__0000000000 holds read 1
            _c_{u3}-__WRIT__0000000001 waits write 2 ->_c_{u1}-__WRIT__0000000000)");
    }
    void otherClients()
    {
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, nodes);
        QFETCH(QByteArray, expected);
        const Input input(path, nodes);
        QCOMPARE(draw(input.locks()), lines(expected));
    }

    void readerFollowsAWriterThatReadsAsWell()
    {
        const QByteArray both = "_c_{u1}-__WRIT__0000000000 s1\n_c_{u2}-__READ__0000000000 s1\n";
        const auto writerNext = Input("/rw", both + "_c_{u3}-__WRIT__0000000001 s2").locks()[0];
        QVERIFY2(!writerNext.nextAfter(writerNext.contenders[0].id), "it goes on reading, which keeps writers out");
        const auto readerNext = Input("/rw", both + "_c_{u3}-__READ__0000000001 s2").locks()[0];
        QCOMPARE(readerNext.nextAfter(readerNext.contenders[0].id), &readerNext.contenders[2]);
        const auto alone = Input("/rw", "_c_{u1}-__WRIT__0000000000 s1\n_c_{u3}-__WRIT__0000000001 s2").locks()[0];
        QCOMPARE(alone.nextAfter(alone.contenders[0].id), &alone.contenders[1]);
    }

    // P let go and W moved up between the listing and the question who watches what.
    void anOldListIsNotJudgedByNewerEvidence_data()
    {
        const Rows<QByteArray, FindingCode> row("nodes", "code");
        row("wrong watch",
            "{h1}__lock__0000000001 s1\n{h2}__lock__0000000002 s2\n"
            "{h3}__lock__0000000003 s3\ns2 > {h1}__lock__0000000001\n"
            "s3 > {h1}__lock__0000000001",
            FindingCode::WrongWatch);
        row("watches nothing", "{h1}__lock__0000000001 s1\n{h2}__lock__0000000002 s2", FindingCode::LostWakeup);
    }
    void anOldListIsNotJudgedByNewerEvidence()
    {
        QFETCH(QByteArray, nodes);
        QFETCH(FindingCode, code);
        Input input("/l", nodes);
        LostWakeupMemory memory;
        bool wantsNewerList = false;
        const auto judged = [&] {
            wantsNewerList = false;
            input.context.wantsNewerList = &wantsNewerList;
            input.context.listedAt = input.directory.listedAt;
            auto lock = input.locks()[0];
            input.evidence.askedAt += 1s;
            memory.judge(lock, input.context);
            return lock.find(code) != nullptr;
        };
        input.evidence.answeredAt = Instant(10s);
        input.directory.listedAt = Instant(9s);
        for (int look = 0; look < 3; ++look) {
            QVERIFY(!judged());
            QVERIFY2(wantsNewerList, "the follower is told to list it again");
        }
        input.directory.listedAt = Instant(10s); // listed once they had answered
        QVERIFY(judged() || judged());
        QVERIFY(!wantsNewerList);
    }

    void anOldListMakesNoSemaphore()
    {
        Input input("/l", "_c_{u1}-lock-0000000001 s1\n_c_{u2}-lock-0000000002 s2\n_c_{u3}-lock-0000000003 s3\n"
                          "s3 > _c_{u1}-lock-0000000001");
        QCOMPARE(input.locks()[0].holderCount(), 2);
        input.evidence.answeredAt = Instant(10s);
        QCOMPARE(input.locks()[0].holderCount(), 1);
    }
};

LOCKSCOPE_TEST(TestPlaces)
#include "tst_places.moc"
