// SPDX-License-Identifier: Apache-2.0
// etcd: which keys with a lease are locks by themselves, which are registrations, and what stays unexplained.
#include "core/inspect/etcd/recognise.h"
#include "core/inspect/findings.h"
#include "core/operate/releasemethod.h"
#include "core/operate/forcereleaseplan.h"
#include "core/rehearse/rehearsal.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

const ConnectionName fixedConnection("etcd");
constexpr ServerTime fixedNow(1'700'000'000s);
const auto uuid1 = QByteArray::fromHex("4c98291eeb0411f19b8402fc00000001");
const auto uuid4 = QByteArray::fromHex("9f1c3f0e6a774c5e8d3b0a4b5c6d7e8f");

etcd::KeyValue leasedKey(const QByteArray &key, const QByteArray &value = {}, etcd::LeaseId lease = 7)
{
    return {key, value, 11, 11, lease};
}

EtcdQueue fixedQueue(const etcd::KeyValue &entry, bool isBesideQueue = false, bool hasMember = false)
{
    EtcdClaim claim;
    claim.entry = entry;
    claim.fixed = fixedKeyOf(entry, isBesideQueue, hasMember);
    return {{entry.created, claim}};
}

LockSnapshot fixedLock(const etcd::KeyValue &entry, const EtcdLeases &leases = {})
{
    return etcdSnapshot({fixedConnection, lockOfFixed(entry.key)}, fixedQueue(entry), {}, leases, fixedNow);
}

} // namespace

class TestEtcdFixedKeys : public QObject {
    Q_OBJECT
private slots:
    void knowsClientsByNameAndValue_data()
    {
        const Rows<QByteArray, QByteArray, QString, bool> row("key", "value", "client", "isElection");
        row("python-etcd3", "/locks/orders", uuid1, u"python-etcd3"_s, false);
        row("python-etcd3, a path", "/locks/shop/orders", uuid1, u"python-etcd3"_s, false);
        row("etcd3gw", "/locks/orders", "4c98291e-eb04-11f1-9b84-02fc00000001", u"etcd3gw"_s, false);
        row("tooz", "/tooz/locksorders", uuid4, u"tooz"_s, false);
        row("tooz, leader of a group", "/tooz/lockstooz/groups/g/TOOZ_GROUP_LEADER", uuid4, u"tooz"_s, true);
        row("CloudTik", "cloudtik/locks/head", "2024-05-01 10:00:00.123456", u"CloudTik"_s, false);
        row("etcd3-py", "_locks/orders", "web-1:1a2b3c4d", u"etcd3-py"_s, false);
        row("etcd3-py, reentrant", "_locks/orders", "web-1:proc:4711", u"etcd3-py"_s, false);
    }
    void knowsClientsByNameAndValue()
    {
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, value);
        QFETCH(QString, client);
        QFETCH(bool, isElection);
        const auto fixed = fixedKeyOf(leasedKey(key, value), false, false);
        QVERIFY(fixed && fixed->confidence == Confidence::High);
        QCOMPARE(fixed->client, client);
        QCOMPARE(fixed->isElection, isElection);
        QVERIFY(mayBeFixedKey(leasedKey(key)));
        QVERIFY(!fixedKeyOf(leasedKey(key, value, 0), false, false)); // without a lease
    }

    void namesThatSayItAreMediumOrLow_data()
    {
        const Rows<QByteArray, int, bool> row("key", "confidence", "isElection");
        const auto medium = static_cast<int>(Confidence::Medium);
        const auto low = static_cast<int>(Confidence::Low);
        row("a script's leader", "/leader", medium, true);
        row("Patroni's without its member", "/service/batman/leader", medium, true);
        row("a lock", "/app/import-lock", medium, false);
        row("in a folder of locks", "/locks/orders", medium, false);
        row("python-etcd3's folder, another value", "/locks/42", medium, false);
        row("the word further up", "/locks/shop/orders", low, false);
        row("contenders side by side", "/orders-lock/host-1", low, false);
        row("candidates side by side", "/election/host-1", low, true);
        row("a client's lock", "/app/lock-client-17", medium, false);
        row("the lock of events", "lock:billing-events", medium, false);
        row("the leader of an interface", "/app/leader-user-api", medium, true);
        row("a lock on a lease", "/leases/7/lock", medium, false);
    }
    void namesThatSayItAreMediumOrLow()
    {
        QFETCH(QByteArray, key);
        QFETCH(int, confidence);
        QFETCH(bool, isElection);
        const auto fixed = fixedKeyOf(leasedKey(key, "host-1"), false, false);
        QVERIFY(fixed && fixed->client.isEmpty() && !fixed->isRenewed);
        QCOMPARE(static_cast<int>(fixed->confidence), confidence);
        QCOMPARE(fixed->isElection, isElection);
    }

    void otherLeasedKeyIsNotALock_data()
    {
        const Rows<QByteArray, QByteArray> row("key", "value");
        row("a service", "services/web/10.0.0.1:80", "{}");
        row("etcd's naming", "my-service/10.0.0.1:80", R"({"Op":0,"Addr":"10.0.0.1:80"})");
        row("go-zero", "user.rpc/7587868007797608997", "10.0.0.7:80");
        row("a service of locks", "/services/lock-service", "10.0.0.1:80");
        row("a service of locks, an instance", "services/lock-svc/10.0.0.1:80", "{}");
        row("an instance of a service", "/service/lock/v1/10.0.0.1:80", "{}");
        row("a board of leaders", "game/leader-board", "[]");
        row("Stolon's keeper", "stolon/cluster/lock/keepers/info/k1", "{}");
        row("go-micro", "/micro/registry/lock-service/lock-service-1", "{}");
        row("Kubernetes, an event of a lock", "/registry/events/default/leader-lock.17a1b2c3d4e5f6", "k8s");
        row("Kubernetes, an API server", "/registry/masterleases/10.0.0.1", "k8s");
        row("a network's subnet", "/coreos.com/network/subnets/10.5.1.0-24", "{}");
        row("Patroni's member", "/service/batman/members/pg-1", "{}");
        row("a setting", "/config/feature-x", "on");
        row("a setting's lease", "/dhcp/leases/10.0.0.5", "aa:bb");
        row("a block", "/blocks/clock", "");
        row("a fixed name without a word", "mylock2", "");
        row("RWMutex of etcd's recipes", "rwlock/lock/1700000000000000000", "");
        row("a claim of another lease", "/locks/694d7a3f1b2c3d4e", "");
        row("its own lease, as etcdctl prints it", "/locks/0000000000000007", "");
        row("its own lease", "/election/0000000000000007", "");
        row("the folder itself", "/locks/", "");
        row("the empty name's claim", "/694d7a3f1b2c3d4e", "");
        row("tooz, another value", "/tooz/locksorders", "x");
    }
    void otherLeasedKeyIsNotALock()
    {
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, value);
        QVERIFY(!fixedKeyOf(leasedKey(key, value), false, false));
    }

    void keyWithoutALeaseMayBeHeld_data()
    {
        const Rows<QByteArray, bool> row("key", "mayBe");
        row("a semaphore of airlock", "com.coreos.airlock/groups/workers/v1/semaphore", true);
        row("an election of Kubernetes", "/registry/leases/kube-system/kube-scheduler", true);
        row("the same in OpenShift", "/kubernetes.io/leases/openshift-etcd/installer", true);
        row("a node's heartbeat", "/registry/leases/kube-node-lease/node-1", false);
        row("that an API server is there", "/registry/leases/kube-system/apiserver-x7", false);
        row("a role in an election", "/registry/roles/kube-system/leader-election-role", false);
        row("a script's lock", "/app/import-lock", true);
        row("one in a folder of locks", "/locks/orders", true);
        row("Patroni's leader without its lease", "/service/batman/leader", true);
        row("a claim that lost its lease", "/locks/694d7a3f1b2c3d4e", false);
        row("a lock's time-out", "/config/lock-timeout", false);
        row("a setting of a lock", "/app/lock/retries", false);
        row("a file of packages' versions", "/repo/composer.lock", false);
        row("a setting", "/config/feature-x", false);
    }
    void keyWithoutALeaseMayBeHeld()
    {
        QFETCH(QByteArray, key);
        QFETCH(bool, mayBe);
        QCOMPARE(mayBeHeldWithoutLease(leasedKey(key, "x", 0)), mayBe);
        QVERIFY(!mayBeHeldWithoutLease(leasedKey(key, "x")));
    }

    void patroniIsKnownByItsMember()
    {
        const auto leader = leasedKey("/service/batman/leader", "pg-1");
        QCOMPARE(patroniMemberOf(leader), QByteArray("/service/batman/members/pg-1"));
        QVERIFY(patroniMemberOf(leasedKey("/service/batman/config", "x")).isEmpty());
        const auto fixed = fixedKeyOf(leader, false, true);
        QVERIFY(fixed && fixed->client == u"Patroni"_s && fixed->isElection && fixed->isRenewed);
        QVERIFY(fixed->confidence == Confidence::High);
    }

    void keyNamedAsAQueueIsALock()
    {
        const auto fixed = fixedKeyOf(leasedKey("mylock2"), true, false);
        QVERIFY(fixed && fixed->confidence == Confidence::Medium && fixed->client.isEmpty());
        QVERIFY(!fixedKeyOf(leasedKey("mylock2", "data"), true, false));
    }

    void addressesMayBeARegistry_data()
    {
        const Rows<QByteArray, QByteArray, bool, int> row("name", "value", "isClaim", "confidence");
        const auto medium = static_cast<int>(Confidence::Medium);
        const auto high = static_cast<int>(Confidence::High);
        row("an endpoint of etcd's naming", "services/user", R"({"Op":0,"Addr":"10.0.0.1:80"})", false, high);
        row("addresses", "services/user", "10.0.0.1:8080", true, medium);
        row("a URL", "services/user", "http://web-1:80", true, medium);
        row("addresses of an election", "shop/leader", "10.0.0.1:8080", true, high);
        row("addresses of a lock", "shop/user-lock", "10.0.0.1:8080", true, high);
        row("names", "services/user", "host-a", true, high);
        row("nothing", "services/user", "", true, high);
    }
    void addressesMayBeARegistry()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, value);
        QFETCH(bool, isClaim);
        QFETCH(int, confidence);
        const auto entry = leasedKey(name + "/7", value);
        QCOMPARE(etcdLockOf(entry).has_value(), isClaim);
        if (!isClaim)
            return;
        const auto lock = etcdSnapshot({fixedConnection, name}, {{11, EtcdClaim{.entry = entry}}}, {}, {}, fixedNow);
        QCOMPARE(static_cast<int>(lock.confidence), confidence);
        QCOMPARE(lock.why.contains(u"registry"_s), confidence == static_cast<int>(Confidence::Medium));
    }

    void leaseHoldsIt()
    {
        const auto entry = leasedKey("/locks/orders", uuid1);
        const EtcdLeases leases{{7, {.granted = 60s, .ends = fixedNow + 10s}}};
        const auto lock = fixedLock(entry, leases);
        QCOMPARE(lock.recipe, QByteArray("etcd-key-lock"));
        QVERIFY(lock.state == LockState::Held && !lock.waitersKnown && lock.client == u"python-etcd3"_s);
        const auto &holder = lock.contenders.front();
        QCOMPARE(holder.id, QByteArray("7@11"));
        QVERIFY(holder.role == Role::Holder && holder.identity == uuid1 && holder.session == u"7"_s);
        QVERIFY(holder.expiresAt == fixedNow + 10s);
        QVERIFY(lock.findings.empty()); // python-etcd3 renews nothing by itself
        const auto sessions = etcdSessions({{lock.lock.name, fixedQueue(entry)}}, {}, leases, fixedConnection);
        QVERIFY(sessions.size() == 1 && sessions[0].holds.front() == "KEY#/locks/orders"
                && sessions[0].waits.empty());
        QCOMPARE(keyOfFixed(lock.lock.name), std::optional<QByteArray>("/locks/orders"));
        QVERIFY(!keyOfFixed("/locks/orders"));
    }

    void clientThatRenewsAndDoesNotIsReported()
    {
        const EtcdLeases leases{{7, {.granted = 30s, .ends = fixedNow + 8s}}};
        QVERIFY(
            fixedLock(leasedKey("_locks/orders", "web-1:1a2b3c4d"), leases).find(FindingCode::HolderDisconnected));
    }

    void releaseComparesTheLease()
    {
        const auto lock = fixedLock(leasedKey("/locks/orders", uuid1));
        const auto plan = operate::planForceRelease(lock, "7@11");
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        QVERIFY(plan->exact && !plan->nextHolder);
        QCOMPARE(plan->commands,
                 QStringList{u"txn: if create_revision(/locks/orders) = 11 and lease(/locks/orders) = 7 "
                             "then delete /locks/orders"_s});
        QCOMPARE(plan->wakes, u"no waiter is visible; clients that poll notice it at their next attempt"_s);
        const auto ending = operate::planWay(lock, "7@11", operate::ReleaseAction::EndLease);
        QVERIFY(ending && ending->wakes == plan->wakes);
        const auto rehearsal = rehearse::rehearse(*plan);
        QVERIFY2(rehearsal, rehearsal ? "" : qPrintable(rehearsal.error().message));
        QVERIFY(rehearsal->next != rehearse::Next::Certain);
    }

    void electionIsNotRehearsed()
    {
        const auto lock = fixedLock(leasedKey("/app/leader", "host-1"));
        QCOMPARE(lock.recipe, QByteArray("etcd-key-election"));
        const auto plan = operate::planForceRelease(lock, "7@11");
        QVERIFY(plan && plan->warnings.join(u' ').contains(u"this is an election"_s));
    }

    void otherKeysOfALeaseAreNotLocks()
    {
        EtcdLease lease;
        noteOtherKeys(lease, {7, 7s, 10s, {"/locks/orders", "seen/a"}});
        QCOMPARE(lease.others, std::vector<QByteArray>{"seen/a"});
    }

    void kubernetesMakesFewGroups()
    {
        std::map<QByteArray, etcd::LeaseId> leased;
        const auto add = [&leased](const QByteArray &key) {
            if (!isKnownEntry(key))
                leased.emplace(key, 7);
        };
        for (int i = 0; i < 5000; ++i) {
            const auto number = QByteArray::number(i);
            add("/registry/events/team-" + number + "/web-" + number + ".17a1b2c3d4e5f6");
        }
        add("/registry/masterleases/10.0.0.1");
        QVERIFY(unexplainedOf(leased, {}).empty());
        for (const auto *kind : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}) {
            for (int i = 0; i < 100; ++i)
                add(QByteArray("/svc-") + kind + "/team/" + kind + "/host-" + QByteArray::number(i));
        }
        const auto groups = unexplainedOf(leased, {});
        QVERIFY(!groups.empty() && groups.size() <= 10);
        qint64 sum = 0;
        for (const auto &group : groups)
            sum += group.count;
        QCOMPARE(sum, qint64(1200));
        QCOMPARE(unexplainedOf({{"jobs/nightly", 7}}, {}).front().text,
                 u"1 key has a lease and belongs to no known lock"_s);
        QCOMPARE(unexplainedOf({{"/app/import-lock", 0}}, {}).front().text,
                 u"1 key without a lease may be a lock; its value is not read"_s);
    }

    void claimsOfAnEmptyNameAreNamedSo()
    {
        const etcd::LeaseId lease = 0x694d7a3f1b2c3d4e;
        const auto groups = unexplainedOf({{"/694d7a3f1b2c3d4e", lease}, {"/694d7a3f1b2c3d4f", lease}}, {});
        QCOMPARE(groups.size(), std::size_t(2));
        QCOMPARE(groups[0].example, QByteArray("/694d7a3f1b2c3d4f")); // another lease's number
        QVERIFY(groups[1].text.contains(u"etcdctl lock \"\""_s) && groups[1].example == "/694d7a3f1b2c3d4e");
    }

    void keysOfALockAreExplained()
    {
        const auto leader = leasedKey("/service/batman/leader", "pg-1");
        const EtcdQueues locks{{"KEY#/service/batman/leader", fixedQueue(leader, false, true)},
                               {"KEY#_locks/orders", fixedQueue(leasedKey("_locks/orders", "web-1:1a2b3c4d", 9))}};
        const std::map<QByteArray, etcd::LeaseId> leased{{"/service/batman/members/pg-1", 7},
                                                         {"/service/batman/members/pg-2", 8},
                                                         {"_locks/orders/holders", 9},
                                                         {"_locks/orders/other", 5}};
        const auto groups = unexplainedOf(leased, locks);
        QVERIFY(groups.size() == 1 && groups.front().example == "_locks/orders/other");
    }
};

LOCKSCOPE_TEST(TestEtcdFixedKeys)
#include "tst_etcd_fixedkeys.moc"
