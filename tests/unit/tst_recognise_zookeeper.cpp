// SPDX-License-Identifier: Apache-2.0
// One row per rule of docs/layouts.md, "Rules for ZooKeeper", by its number: directories in, locks out.
#include "tests/support/testmain.h"
#include "znoderules.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

class TestRecogniseZookeeper : public testing::ZnodeRules {
    Q_OBJECT
private slots:
    void curator_data()
    {
        columns();
        row("1 read/write: a blocked reader waits for the lowest writer", "/l/rw", R"(
            _c_{u1}-__READ__0000000000 s1 10.0.0.1
            _c_{u2}-__READ__0000000001 s2 10.0.0.2
            _c_{u3}-__WRIT__0000000002 s3 10.0.0.3
            _c_{u4}-__WRIT__0000000003 s4 10.0.0.4
            _c_{u5}-__READ__0000000004 s5 10.0.0.5
            s3 > _c_{u2}-__READ__0000000001
            s5 > _c_{u3}-__WRIT__0000000002)",
            R"(
            /l/rw curator-rwlock high contended (Curator)
            _c_{u1}-__READ__0000000000 holds read 0
            _c_{u2}-__READ__0000000001 holds read 1
            _c_{u3}-__WRIT__0000000002 waits write 2 ->_c_{u2}-__READ__0000000001
            _c_{u4}-__WRIT__0000000003 waits write 3 ~>_c_{u3}-__WRIT__0000000002
            _c_{u5}-__READ__0000000004 waits read 4 ->_c_{u3}-__WRIT__0000000002)");
        row("1 read/write: downgrade, a reader of its writer's own number", "/l/rw", R"(
            _c_{u9}-__WRIT__0000000002 s1
            _c_{u1}-__READ__0000000002 s1
            _c_{u3}-__WRIT__0000000004 s3)",
            R"(
            /l/rw curator-rwlock high contended (Curator)
            _c_{u9}-__WRIT__0000000002 holds write 0
            _c_{u1}-__READ__0000000002 holds read 1
            _c_{u3}-__WRIT__0000000004 waits write 2 ~>_c_{u1}-__READ__0000000002)");
        row("2, 3 semaphore: the newest lease of the head of locks is pending", "/l/sem", R"(
            locks - 
            leases - 
            leases/_c_{u1}-lease-0000000000 s1 10.0.0.1
            leases/_c_{u2}-lease-0000000001 s2 10.0.0.2
            locks/_c_{u3}-lock-0000000002 s3 10.0.0.3
            leases/_c_{u4}-lease-0000000002 s3 10.0.0.3
            locks/_c_{u5}-lock-0000000003 s4 10.0.0.4
            locks/_c_{u6}-lock-0000000004 s5 10.0.0.5
            s4 > locks/_c_{u3}-lock-0000000002)",
            R"(
            /l/sem curator-semaphore high contended (Curator)
            _c_{u1}-lease-0000000000 holds permit 0
            _c_{u2}-lease-0000000001 holds permit 1
            _c_{u4}-lease-0000000002 waits permit 2 ~>children
            _c_{u5}-lock-0000000003 waits permit 3 ->_c_{u4}-lease-0000000002
            _c_{u6}-lock-0000000004 waits permit 4 ~>_c_{u5}-lock-0000000003)");
        row("2 semaphore: a lease older than its session's place in locks is granted", "/l/sem", R"(
            leases/_c_{u1}-lease-0000000000 s1
            locks/_c_{u2}-lock-0000000001 s1)",
            R"(
            /l/sem curator-semaphore high contended (Curator)
            _c_{u1}-lease-0000000000 holds permit 0
            _c_{u2}-lock-0000000001 waits permit 1 ~>children)");
        row("2 semaphore: nobody asks for a lease, and the server took the empty container locks away", "/l/sem", R"(
            leases - 
            leases/_c_{u1}-lease-0000000000 s1)",
            R"(
            /l/sem curator-semaphore high held (Curator)
            _c_{u1}-lease-0000000000 holds permit 0)");
        row("3 without leases beside it, locks is a mutex of its own", "/app", R"(
            locks - 
            other - 
            locks/_c_{u2}-lock-0000000001 s1 10.0.0.1)",
            R"(
            /app/locks curator-mutex medium held (Curator)
            _c_{u2}-lock-0000000001 holds exclusive 0)");
        row("4 leader latch", "/l/latch", R"(
            _c_{u2}-latch-0000000001 s2 two
            _c_{u1}-latch-0000000000 s1)",
            R"(
            /l/latch curator-leader high contended (Curator)
            _c_{u1}-latch-0000000000 holds exclusive 0
            _c_{u2}-latch-0000000001 waits exclusive 1 ~>_c_{u1}-latch-0000000000)");
        row("5 mutex: by sequence, not by name", "/locks/orders", R"(
            _c_{u1}-lock-0000000012 s3 10.0.0.3
            _c_{u2}-lock-0000000010 s2 10.0.0.2
            _c_{u3}-lock-0000000009 s1 10.0.0.1
            s2 > _c_{u3}-lock-0000000009
            s3 > _c_{u2}-lock-0000000010)",
            R"(
            /locks/orders curator-mutex medium contended (Curator)
            _c_{u3}-lock-0000000009 holds exclusive 0
            _c_{u2}-lock-0000000010 waits exclusive 1 ->_c_{u3}-lock-0000000009
            _c_{u1}-lock-0000000012 waits exclusive 2 ->_c_{u2}-lock-0000000010)");
        row("5 leader selector: an id of its own", "/l/leader", R"(
            _c_{u1}-lock-0000000000 s1 node-a
            _c_{u2}-lock-0000000001 s2 node-b)",
            R"(
            /l/leader curator-leader medium contended (Curator)
            _c_{u1}-lock-0000000000 holds exclusive 0
            _c_{u2}-lock-0000000001 waits exclusive 1 ~>_c_{u1}-lock-0000000000)");
        row("5 old semaphore of two: each watches the one two places before it", "/l/old", R"(
            _c_{u1}-lock-0000000000 s1
            _c_{u2}-lock-0000000001 s2
            _c_{u3}-lock-0000000002 s3
            _c_{u4}-lock-0000000003 s4
            s3 > _c_{u1}-lock-0000000000
            s4 > _c_{u2}-lock-0000000001)",
            R"(
            /l/old curator-semaphore medium contended (Curator)
            _c_{u1}-lock-0000000000 holds permit 0
            _c_{u2}-lock-0000000001 holds permit 1
            _c_{u3}-lock-0000000002 waits permit 2 ->_c_{u1}-lock-0000000000
            _c_{u4}-lock-0000000003 waits permit 3 ->_c_{u2}-lock-0000000001)");
        row("5 Spring Integration", "/SpringIntegration-LockRegistry/job", R"(
            _c_{u1}-lock-0000000000 s1 10.0.0.1)",
            R"(
            /SpringIntegration-LockRegistry/job curator-mutex medium held (Spring Integration)
            _c_{u1}-lock-0000000000 holds exclusive 0)");
        row("revocation asked for", "/l/r", R"(
            _c_{u1}-lock-0000000000 s1 __REVOKE__)",
            R"(
            /l/r curator-mutex medium held (Curator) !revocation-requested
            _c_{u1}-lock-0000000000 holds exclusive 0)");
        row("6 go-zookeeper", "/l/go", R"(
            _c_{h1}-lock-0000000000 s1
            _c_{h2}-lock-0000000001 s2)",
            R"(
            /l/go zk-mutex high contended (go-zookeeper)
            _c_{h1}-lock-0000000000 holds exclusive 0
            _c_{h2}-lock-0000000001 waits exclusive 1 ~>_c_{h1}-lock-0000000000)");
        row("6 go-zookeeper fails beside a node it cannot read", "/l/go", R"(
            _c_{h1}-lock-0000000000 s1
            notes - x)",
            R"(
            /l/go zk-mutex high held (go-zookeeper) !foreign-node
            _c_{h1}-lock-0000000000 holds exclusive 0)");
        row("Curator and go queue together", "/l/mixed", R"(
            _c_{h1}-lock-0000000000 s1
            _c_{u2}-lock-0000000001 s2 10.0.0.2)",
            R"(
            /l/mixed curator-mutex medium contended (Curator and go-zookeeper)
            _c_{h1}-lock-0000000000 holds exclusive 0
            _c_{u2}-lock-0000000001 waits exclusive 1 ~>_c_{h1}-lock-0000000000)");
        row("kazoo beside Curator excludes only with the pattern", "/l/mixed", R"(
            _c_{u1}-lock-0000000000 s1 10.0.0.1
            {h2}__lock__0000000001 s2)",
            R"(
            /l/mixed curator-mutex medium contended (Curator) !foreign-node
            _c_{u1}-lock-0000000000 holds exclusive 0
            {h2}__lock__0000000001 waits exclusive 1 ~>_c_{u1}-lock-0000000000)");
    }
    void curator() { check(); }

    void kazoo_data()
    {
        columns();
        row("7, 9 readers and writers: a reader waits for the nearest writer", "/l/rw", R"(
            {h1}__lock__0000000000 s1
            {h2}__lock__0000000001 s2
            {h3}__rlock__0000000002 s3
            s3 > {h2}__lock__0000000001)",
            R"(
            /l/rw kazoo-rwlock high contended (kazoo)
            {h1}__lock__0000000000 holds write 0
            {h2}__lock__0000000001 waits write 1 ~>{h1}__lock__0000000000
            {h3}__rlock__0000000002 waits read 2 ->{h2}__lock__0000000001)");
        row("10 lock", "/l/lock", R"(
            {h2}__lock__0000000001 s2 two
            {h1}__lock__0000000002 s1 one
            s1 > {h2}__lock__0000000001)",
            R"(
            /l/lock kazoo-lock medium contended (kazoo)
            {h2}__lock__0000000001 holds exclusive 0
            {h1}__lock__0000000002 waits exclusive 1 ->{h2}__lock__0000000001)");
        row("10 lock with ephemeral=False", "/l/lock", R"(
            {h2}__lock__0000000001 -)",
            R"(
            /l/lock kazoo-lock medium held (kazoo) !persistent-node
            {h2}__lock__0000000001 holds exclusive 0)");
        row("12 lease: held", "/l/lease", R"(
            lease_holder - {"version": 1, "holder": "host-a", "end": "1970-01-01T00:20:00"}
            {h2}__lock__0000000001 s2)",
            R"(
            /l/lease zk-lease high held (kazoo)
            lease_holder@1 holds exclusive 0)");
        row("12a Helix: held", "/main/LOCK/PARTICIPANT", R"(
            host-1 - {"id":"LOCK","simpleFields":{"OWNER":"admin-7","MESSAGE":"swap","TIMEOUT":"1200000"}})",
            R"(
            /main/LOCK/PARTICIPANT/host-1 zk-lease high held (Helix)
            host-1@admin-7:1200000 holds exclusive 0)");
        row("12a Helix: released", "/main/LOCK/PARTICIPANT", R"(
            host-1 - {"id":"LOCK","simpleFields":{"OWNER":"","MESSAGE":"","TIMEOUT":"-1"}})",
            R"(
            /main/LOCK/PARTICIPANT/host-1 zk-lease high free (Helix))");
        row("12a Helix: over", "/main/LOCK/RESOURCE", R"(
            db - {"id":"LOCK","simpleFields":{"OWNER":"admin-7","MESSAGE":"","TIMEOUT":"600000"}})",
            R"(
            /main/LOCK/RESOURCE/db zk-lease high free (Helix))");
        row("12a Helix: never ends", "/main/LOCK/RESOURCE", R"(
            db - {"id":"LOCK","simpleFields":{"OWNER":"admin-7","MESSAGE":"","TIMEOUT":"9223372036854775807"}})",
            R"(
            /main/LOCK/RESOURCE/db zk-lease high held (Helix)
            db@admin-7:9223372036854775807 holds exclusive 0)");
        row("12a another record of Helix", "/main/CONFIGS/RESOURCE", R"(
            db - {"id":"db","simpleFields":{"OWNER":"admin-7","TIMEOUT":"9000"}})",
            "");
        row("12 lease: over", "/l/lease", R"(
            lease_holder - {"version": 1, "holder": "host-a", "end": "1970-01-01T00:10:00"})",
            R"(
            /l/lease zk-lease high free (kazoo))");
    }
    void kazoo() { check(); }

    void kazooSemaphore()
    {
        // 8, 11: the guard is not a lock of its own; its head watches the pool's children.
        const Input input("/l/pool", R"(
            {h2} s2 two
            {h1} s1 one
            ~guard/{h3}__lock__0000000007 s3 b'three'
            ~guard/{h4}__lock__0000000008 s4
            s4 > ~guard/{h3}__lock__0000000007)",
                          "2");
        const auto locks = input.locks();
        QCOMPARE(draw(locks), lines(R"(
            /l/pool kazoo-semaphore high contended (kazoo)
            {h2}@1 holds permit 0
            {h1}@2 holds permit 1
            {h3}__lock__0000000007 waits permit 2 ~>children
            {h4}__lock__0000000008 waits permit 3 ->{h3}__lock__0000000007)"));
        QCOMPARE(locks[0].contenders[2].identity, QByteArray("three"));
        QVERIFY(!locks[0].contenders[0].heldAtMost);
        QCOMPARE(locks[0].companions, std::vector<QByteArray>{"/l/pool-__lock__"});
    }

    void others_data()
    {
        columns();
        row("13 ZooKeeper's Java recipe, negative session", "/l/x", R"(
            x-{d1}-0000000003 s1
            x-{d9}-0000000002 s9)",
            R"(
            /l/x zookeeper-recipe-lock high contended (ZooKeeper's Java recipe)
            x-{d9}-0000000002@2 holds exclusive 0
            x-{d1}-0000000003@1 waits exclusive 1 ~>x-{d9}-0000000002@2)");
        row("14 ZooKeeper's C recipe", "/l/x", R"(
            x-{x1}-0000000002 s1)",
            R"(
            /l/x zookeeper-recipe-lock high held (ZooKeeper's C recipe)
            x-{x1}-0000000002@1 holds exclusive 0)");
        row("13, 14 somebody else's session in the name", "/queue", R"(
            x-{d2}-0000000003 s1)",
            "");
        row("15 Solr: join at the head has the head's number", "/overseer_elect/election", R"(
            {d1}-10.0.0.1:8983_solr-n_0000000004 s1
            {d2}-10.0.0.2:8983_solr-n_0000000004 s2
            {d3}-10.0.0.3:8983_solr-n_0000000005 s3)",
            R"(
            /overseer_elect/election zk-election high contended (Solr)
            {d1}-10.0.0.1:8983_solr-n_0000000004@1 holds exclusive 0
            {d2}-10.0.0.2:8983_solr-n_0000000004@2 waits exclusive 1 ~>{d1}-10.0.0.1:8983_solr-n_0000000004@1
            {d3}-10.0.0.3:8983_solr-n_0000000005@3 waits exclusive 2 ~>{d2}-10.0.0.2:8983_solr-n_0000000004@2)");
        row("16 LeaderElectionSupport", "/elect", R"(
            n_0000000001 s1 host-a
            n_0000000002 s2 host-b)",
            R"(
            /elect zk-election medium contended (ZooKeeper's LeaderElectionSupport)
            n_0000000001@1 holds exclusive 0
            n_0000000002@2 waits exclusive 1 ~>n_0000000001@1)");
        row("16a Mesos: its folder has others", "/mesos", R"(
            json.info_0000000003 s1 {}
            json.info_0000000005 s2 {}
            log_replicas - )",
            R"(
            /mesos zk-election high contended (Mesos)
            json.info_0000000003@1 holds exclusive 0
            json.info_0000000005@2 waits exclusive 1 ~>children)");
        row("16b BookKeeper's auditor", "/ledgers/underreplication/auditorelection", R"(
            V_0000000003 s1 bookieId
            V_0000000005 s2 bookieId
            s2 > V_0000000003)",
            R"(
            /ledgers/underreplication/auditorelection zk-election high contended (BookKeeper)
            V_0000000003@1 holds exclusive 0
            V_0000000005@2 waits exclusive 1 ->V_0000000003@1)");
        row("17 Pulsar: brokers watch the node", "/loadbalance", R"(
            leader s1 {}
            brokers - 
            s2 > leader)",
            R"(
            /loadbalance/leader zk-election high contended (Pulsar)
            leader@1 holds exclusive 0
            s2 waits exclusive - ->leader@1)");
        row("17 Helix", "/PINOT/CONTROLLER", "LEADER s1 {}", R"(
            /PINOT/CONTROLLER/LEADER zk-election high held (Helix)
            LEADER@1 holds exclusive 0)");
        row("17 Schema Registry", "/schema_registry", "schema_registry_master s1 {}", R"(
            /schema_registry/schema_registry_master zk-election high held (Confluent Schema Registry)
            schema_registry_master@1 holds exclusive 0)");
        row("17 HDFS: standbys watch the node", "/hadoop-ha/ns1", R"(
            ActiveStandbyElectorLock s1 x
            ActiveBreadCrumb - x
            s2 > ActiveStandbyElectorLock)",
            R"(
            /hadoop-ha/ns1/ActiveStandbyElectorLock zk-election high contended (HDFS)
            ActiveStandbyElectorLock@1 holds exclusive 0
            s2 waits exclusive - ->ActiveStandbyElectorLock@1)");
        row("17 YARN", "/yarn-leader-election/c1", R"(
            ActiveStandbyElectorLock s1 x)",
            R"(
            /yarn-leader-election/c1/ActiveStandbyElectorLock zk-election high held (YARN)
            ActiveStandbyElectorLock@1 holds exclusive 0)");
        row("18 HBase table lock", "/hbase/table-lock/t",
            "write-7@host-a0000000002 s2 \xff header\n"
            "read-6@host-b0000000001 s1 \xff header",
            R"(
            /hbase/table-lock/t zk-shared high contended (HBase before 2.0)
            read-6@host-b0000000001@2 holds read 0
            write-7@host-a0000000002@1 waits write 1 ~>read-6@host-b0000000001@2)");
        row("19 DistributedLock for .NET", "/dn", R"(
            read-0000000001 s1
            write-0000000002 s2)",
            R"(
            /dn zk-shared medium contended (DistributedLock (.NET))
            read-0000000001@1 holds read 0
            write-0000000002@2 waits write 1 ~>read-0000000001@1)");
        row("20 zk-ruby, exclusive only", "/_zklocking/a", R"(
            ex0000000001 s1
            ex0000000002 s2)",
            R"(
            /_zklocking/a zk-mutex high contended (zk-ruby)
            ex0000000001@1 holds exclusive 0
            ex0000000002@2 waits exclusive 1 ~>ex0000000001@1)");
        row("20 zk-ruby, shared", "/_zklocking/a", R"(
            sh0000000001 s1
            ex0000000002 s2)",
            R"(
            /_zklocking/a zk-shared high contended (zk-ruby)
            sh0000000001@1 holds read 0
            ex0000000002@2 waits write 1 ~>sh0000000001@1)");
        row("HBase master", "/hbase", R"(
            master s1 x
            rs - )",
            R"(
            /hbase/master zk-election high held (HBase)
            master@1 holds exclusive 0)");
        row("Kafka controller, waited for by the brokers", "/", R"(
            controller s1 {"version":2,"brokerid":1,"timestamp":"1"}
            brokers - 
            s2 > controller
            s3 > controller)",
            R"(
            /controller zk-election high contended (Kafka) !herd
            controller@1 holds exclusive 0
            s2 waits exclusive - ->controller@1
            s3 waits exclusive - ->controller@1)");
        row("old ClickHouse election", "/clickhouse/t/leader_election", R"(
            leader_election-0000000001 s1 r1)",
            R"(
            /clickhouse/t/leader_election zk-election medium held (ClickHouse before 21.12)
            leader_election-0000000001@1 holds exclusive 0)");
        row("27 ShedLock: held, over, unreadable", "/shedlock", R"(
            job-a - 1970-01-01T00:20:00.123456789Z
            job-b - 1970-01-01T00:10:00Z
            job-c - )",
            R"(
            /shedlock/job-a zk-lease high held (ShedLock)
            job-a@1 holds exclusive 0
            /shedlock/job-b zk-lease high free (ShedLock)
            /shedlock/job-c zk-lease high held (ShedLock)
            job-c@3 holds exclusive 0)");
    }
    void others() { check(); }

    void conventions_data()
    {
        columns();
        row("21 textbook shared lock", "/shared", R"(
            10.0.0.1-W-0000000000 s1
            10.0.0.2-R-0000000001 s2
            10.0.0.3-R-0000000002 s3
            s2 > 10.0.0.1-W-0000000000
            s3 > 10.0.0.1-W-0000000000)",
            R"(
            /shared zk-shared medium contended
            10.0.0.1-W-0000000000@1 holds write 0
            10.0.0.2-R-0000000001@2 waits read 1 ->10.0.0.1-W-0000000000@1
            10.0.0.3-R-0000000002@3 waits read 2 ->10.0.0.1-W-0000000000@1)");
        row("21 its herd variant shows by what is not watched", "/shared", R"(
            a-W-0000000000 s1
            b-W-0000000001 s2
            c-W-0000000002 s3)",
            R"(
            /shared zk-shared medium contended !herd
            a-W-0000000000@1 holds write 0
            b-W-0000000001@2 waits write 1 ~>children
            c-W-0000000002@3 waits write 2 ~>children)");
        row("22 flat layout, two locks in one directory", "/locks", R"(
            stock_lock_0000000001 s1
            price_lock_0000000002 s2
            stock_lock_0000000003 s3
            s3 > stock_lock_0000000001)",
            R"(
            /locks/price zk-flat-mutex medium held
            price_lock_0000000002@2 holds exclusive 0
            /locks/stock zk-flat-mutex medium contended
            stock_lock_0000000001@1 holds exclusive 0
            stock_lock_0000000003@3 waits exclusive 1 ->stock_lock_0000000001@1)");
        row("herd mutex", "/h", R"(
            herd-0000000000 s1
            herd-0000000001 s2
            herd-0000000002 s3)",
            R"(
            /h zk-herd-mutex medium contended !herd
            herd-0000000000@1 holds exclusive 0
            herd-0000000001@2 waits exclusive 1 ~>children
            herd-0000000002@3 waits exclusive 2 ~>children)");
        row("23 npm zk-lock", "/locks/a", R"(
            lock-0000000000 s1 lock
            lock-0000000001 s2 lock)",
            R"(
            /locks/a zk-herd-mutex medium contended (npm zk-lock)
            lock-0000000000@1 holds exclusive 0
            lock-0000000001@2 waits exclusive 1 ~>children)");
        row("23 lock-<seq> of anybody", "/a", R"(
            lock-0000000000 s1
            lock-0000000001 s2
            s2 > lock-0000000000)",
            R"(
            /a zk-mutex medium contended
            lock-0000000000@1 holds exclusive 0
            lock-0000000001@2 waits exclusive 1 ->lock-0000000000@1)");
        row("25 siblings that share a base name", "/desk", R"(
            turn-0000000000 s1
            turn-0000000001 s2)",
            R"(
            /desk zk-mutex low contended
            turn-0000000000@1 holds exclusive 0
            turn-0000000001@2 waits exclusive 1 ~>children)");
        row("25 readers and a writer by their names, proven by a watch", "/l/rw", R"(
            readLock-0000000000 s1
            readLock-0000000001 s2
            writeLock-0000000002 s3
            s3 > readLock-0000000001)",
            R"(
            /l/rw zk-shared medium contended
            readLock-0000000000@1 holds read 0
            readLock-0000000001@2 holds read 1
            writeLock-0000000002@3 waits write 2 ->readLock-0000000001@2)");
        row("25 readers behind a writer", "/l/rw", R"(
            w-lock-0000000000 s1
            r-lock-0000000001 s2
            r-lock-0000000002 s3
            s2 > w-lock-0000000000
            s3 > w-lock-0000000000)",
            R"(
            /l/rw zk-shared medium contended
            w-lock-0000000000@1 holds write 0
            r-lock-0000000001@2 waits read 1 ->w-lock-0000000000@1
            r-lock-0000000002@3 waits read 2 ->w-lock-0000000000@1)");
        row("25 readers without a writer", "/l/rw", R"(
            shared-0000000000 s1
            shared-0000000001 s2)",
            R"(
            /l/rw zk-shared low held
            shared-0000000000@1 holds read 0
            shared-0000000001@2 holds read 1)");
        row("25 a word that only contains one of these", "/work", R"(
            thread-0000000000 s1
            thread-0000000001 s2)",
            R"(
            /work zk-mutex low contended
            thread-0000000000@1 holds exclusive 0
            thread-0000000001@2 waits exclusive 1 ~>children)");
        row("26 alone, and its name says lock", "/app", R"(
            nightly-lock s1 host:7
            config - )",
            R"(
            /app/nightly-lock zk-ephemeral medium held
            nightly-lock@1 holds exclusive 0)");
        row("26 its folder says lock", "/locks", R"(
            job-a s1
            job-b s2
            s3 > job-b)",
            R"(
            /locks/job-a zk-ephemeral medium held
            job-a@1 holds exclusive 0
            /locks/job-b zk-ephemeral medium contended
            job-b@2 holds exclusive 0
            s3 waits exclusive - ->job-b@2)");
        row("26 alone and watched by those who own nothing", "/app/main", R"(
            leader s1
            s2 > leader
            s3 > leader)",
            R"(
            /app/main/leader zk-ephemeral low contended !herd
            leader@1 holds exclusive 0
            s2 waits exclusive - ->leader@1
            s3 waits exclusive - ->leader@1)");
        row("26 alone, not watched, no word", "/services/api", R"(
            host-a s1)",
            R"(
            /services/api/host-a zk-ephemeral low held
            host-a@1 holds exclusive 0)");
        row("a node the recipe does not know", "/l/k", R"(
            {h1}__lock__0000000000 s1
            notes - )",
            R"(
            /l/k kazoo-lock medium held (kazoo) !foreign-node
            {h1}__lock__0000000000 holds exclusive 0)");
    }
    void conventions() { check(); }

    void order_data()
    {
        columns();
        row("after the wrap the negative numbers are the newer ones", "/l", R"(
            _c_{h1}-lock--2147483648 s2
            _c_{h2}-lock-2147483647 s1
            _c_{h3}-lock--000000005 s3)",
            R"(
            /l zk-mutex high contended (go-zookeeper)
            _c_{h2}-lock-2147483647 holds exclusive 0
            _c_{h1}-lock--2147483648 waits exclusive 1 ~>_c_{h2}-lock-2147483647
            _c_{h3}-lock--000000005 waits exclusive 2 ~>_c_{h1}-lock--2147483648)");
        row("equal numbers: the counter has run over", "/l", R"(
            {h1}__lock__2147483647 s1
            {h2}__lock__2147483647 s2)",
            R"(
            /l kazoo-lock medium contended (kazoo) !sequence-overflow
            {h1}__lock__2147483647 holds exclusive 0
            {h2}__lock__2147483647 waits exclusive 1 ~>{h1}__lock__2147483647)");
        row("a reader of another session with a writer's number is no downgrade", "/l", R"(
            _c_{u1}-__WRIT__0000000002 s1
            _c_{u2}-__READ__0000000002 s2)",
            R"(
            /l curator-rwlock high contended (Curator) !sequence-overflow
            _c_{u1}-__WRIT__0000000002 holds write 0
            _c_{u2}-__READ__0000000002 waits read 1 ~>_c_{u1}-__WRIT__0000000002)");
    }
    void order() { check(); }
};

LOCKSCOPE_TEST(TestRecogniseZookeeper)
#include "tst_recognise_zookeeper.moc"
