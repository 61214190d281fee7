// SPDX-License-Identifier: Apache-2.0
// Directories of ZooKeeper that look like locks and are none: docs/layouts.md, "Rules for ZooKeeper".
#include "tests/support/testmain.h"
#include "znoderules.h"

class TestRecogniseNoLocks : public lockscope::testing::ZnodeRules {
    Q_OBJECT
private slots:
    void noLocks_data()
    {
        columns();
        row("24 ClickHouse block numbers", "/clickhouse/t/block_numbers/all",
            "block-0000000001 s1 x\nblock-0000000002 s2 x", "");
        row("ClickHouse log", "/clickhouse/t/log", "log-0000000001 - x\nlog-0000000002 - x", "");
        row("ClickHouse queue", "/clickhouse/t/replicas/r/queue", "queue-0000000001 - x", "");
        row("ClickHouse mutations", "/clickhouse/t/mutations", "0000000001 - x", "");
        row("ClickHouse abandonable markers", "/clickhouse/t/temp", "abandonable_lock-0000000001 s1 x", "");
        row("ClickHouse liveness", "/clickhouse/t/replicas/r", "is_active s1 x", "");
        row("ClickHouse dummy election", "/clickhouse/t/leader_election", "leader_election-0 - x", "");
        row("Kafka brokers", "/brokers/ids", "1 s1 {}\n2 s2 {}", "");
        row("Kafka one broker", "/brokers/ids", "1 s1 {}", "");
        row("Kafka notifications", "/config/changes", "config_change_0000000001 - {}\nconfig_change_0000000002 - {}",
            "");
        row("Kafka ISR changes", "/isr_change_notification", "isr_change_0000000001 - {}", "");
        row("Kafka log dir events", "/log_dir_event_notification", "log_dir_event_0000000001 - {}", "");
        row("Kafka ACL changes", "/kafka-acl-changes", "acl_changes_0000000001 - {}", "");
        row("HBase region servers", "/hbase/rs", "a,1,2 s1 x", "");
        row("HBase backup masters", "/hbase/backup-masters", "a,1,2 s1 x", "");
        row("Solr live nodes", "/live_nodes", "10.0.0.1:8983_solr s1", "");
        row("Solr node roles", "/node_roles/data/on", "10.0.0.1:8983_solr s1", "");
        row("Solr overseer leader beside its queue", "/overseer_elect", "leader s1 x\nelection - ", "");
        row("DistributedQueue", "/q", "qn-0000000001 - x\nqn-0000000002 - x", "");
        row("kazoo LockingQueue", "/q/entries", "entry-100-0000000001 - x", "");
        row("kazoo LockingQueue taken", "/q/taken", "entry-100-0000000001 s1 x", "");
        row("kazoo party", "/p", "{h1}__party__0000000001 s1\n{h2}__party__0000000002 s2", "");
        row("Curator double barrier", "/b", "{u1} s1\n{u2} s2\nready s1", "");
        row("kazoo double barrier", "/b", "{h1} s1\n{h2} s2\nready s1", "");
        row("Flink's job graph", "/flink/default/jobgraphs/0123456789abcdef0123456789abcdef", "{u1} s1\n{u2} s2", "");
        row("Flink's job graph, one process", "/flink/default/jobgraphs/0123456789abcdef0123456789abcdef", "{u1} s1",
            "");
        row("Flink's job graph, newer", "/flink/default/jobgraphs/0123456789abcdef0123456789abcdef/locks", "{u1} s1",
            "");
        row("Flink's checkpoint", "/flink/default/checkpoints/0123456789abcdef0123456789abcdef/0000000000000000007",
            "{u1} s1", "");
        row("Flink's checkpoint, newer",
            "/flink/default/jobs/0123456789abcdef0123456789abcdef/checkpoints/0000000000000000007/locks", "{u1} s1",
            "");
        row("another folder of locks that a UUID is in", "/shop/jobgraphs/nightly/locks", "{u1} s1", R"(
            /shop/jobgraphs/nightly/locks/{u1} zk-ephemeral medium held
            {u1}@1 holds exclusive 0)");
        row("kazoo double barrier in a folder that says lock", "/shop/locks", "{h1} s1\n{h2} s2\nready s1", "");
        row("kazoo shallow party in a folder that says lock", "/shop/locks", "{h1}-web-1 s1\n{h2}-web-2 s2", "");
        row("Curator's persistent node, protected", "/shop/locks", "_c_{u1}-web-1 s1", "");
        row("a service of locks", "/grpc/lock-service", "10.0.0.1:80 s1\n10.0.0.2:80 s2", "");
        row("a service of locks, camel case", "/rpc/LockServer2", "10.0.0.1:80 s1\n10.0.0.2:80 s2", "");
        row("a service of locks, one instance", "/services/lock-service", "{u1} s1", R"(
            /services/lock-service/{u1} zk-ephemeral low held
            {u1}@1 holds exclusive 0)");
        row("what happened to locks", "/game/lock-history", "10.0.0.1:80 s1\n10.0.0.2:80 s2", "");
        row("the lock of a service", "/locks", "lock-service s1\nworker s2", R"(
            /locks/lock-service zk-ephemeral medium held
            lock-service@1 holds exclusive 0
            /locks/worker zk-ephemeral medium held
            worker@2 holds exclusive 0)");
        row("the lock of one of several", "/shop", "lock-order-service s1\nlock_worker1 s2\nlock-okapi s3", R"(
            /shop/lock-order-service zk-ephemeral medium held
            lock-order-service@1 holds exclusive 0
            /shop/lock_worker1 zk-ephemeral medium held
            lock_worker1@2 holds exclusive 0
            /shop/lock-okapi zk-ephemeral medium held
            lock-okapi@3 holds exclusive 0)");
        row("a barrier of locks, a party", "/shop", "lock-barrier s1\nlocks-party s2", "");
        row("Ignite's nodes", "/apacheIgnite/default/n", R"(
            a:1:x|0000000000 s1
            b:2:y|0000000001 s2
            s2 > a:1:x|0000000000)",
            "");
        row("items of Curator's DistributedQueue", "/q/orders-locks", "queue-0000000003 s1\nqueue-0000000004 s2", "");
        row("members of a group", "/services/api", "host-a s1\nhost-b s2", "");
        row("persistent sequential siblings", "/tasks", "task-0000000001 - x\ntask-0000000002 - x", "");
        row("one numbered node of no known name", "/a", "turn-0000000001 s1 x", "");
        row("ordinary folders", "/", "a - x\nb - y", "");
        row("nothing", "/a", "", "");
    }
    void noLocks() { check(); }
};

LOCKSCOPE_TEST(TestRecogniseNoLocks)
#include "tst_recognise_nolocks.moc"
