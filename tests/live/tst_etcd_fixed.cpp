// SPDX-License-Identifier: Apache-2.0
// etcd: locks that are one key with a lease, as their clients leave them, and keys that belong to no lock.
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "etcdfixture.h"
#include "tests/support/testmain.h"

using inspect::FindingCode;
using inspect::Role;

class TestEtcdFixedKeysLive : public EtcdFixture {
    Q_OBJECT
private:
    etcd::LeaseId m_leases = 0x7100;

    // Empty if it went wrong.
    QByteArray leased(const QByteArray &key, const QByteArray &value, etcd::LeaseId lease = 0)
    {
        if (lease == 0) {
            lease = ++m_leases;
            if (!answerOf(m_gated->grant(lease, 60s, Deadline::after(m_loop, 10s))))
                return {};
        }
        auto putting = transactionOf(etcd::Operation::Kind::Put, key, lease);
        putting.then.front().value = value;
        return answerOf(m_gated->commit(putting, Deadline::after(m_loop, 10s))) ? etcd::leaseText(lease)
                                                                                : QByteArray();
    }
    [[nodiscard]] std::unique_ptr<inspect::EtcdObserver> looking(KeepingSink &sink, const QByteArray &prefix)
    {
        inspect::ObserverOptions options{.follow = true};
        return std::make_unique<inspect::EtcdObserver>(*m_gated, ConnectionName("etcd"), prefix, options, sink);
    }

private slots:
    void initTestCase() { OK_OR_SKIP(m_server, startServer()); }
    void cleanupTestCase() { endServer(); }

    void nothingUnderstoodIsSaidSo()
    {
        for (int i = 0; i < 30; ++i)
            QVERIFY(!leased("/registry/events/ns/web." + QByteArray::number(i), "k8s").isEmpty());
        auto found = run(connect() + QStringList{u"findings"_s});
        QVERIFY2(found.out.contains("no problems found\n") || found.out.trimmed().endsWith("no problems found"),
                 found.what());
        QVERIFY(!leased("jobs/nightly", "owner-1").isEmpty());
        found = run(connect() + QStringList{u"findings"_s});
        QVERIFY2(found.out.contains("but not everything on the servers is understood"), found.what());
        const auto listed = run(connect() + QStringList{u"locks"_s});
        QVERIFY2(listed.out.contains("1 key has a lease and belongs to no known lock: jobs/nightly"), listed.what());
        const auto all = run(connect() + QStringList{u"locks"_s, u"--json"_s}).json();
        QVERIFY(all["coverage"_L1].toArray().first()["complete"_L1].toBool());
        QCOMPARE(all["unexplained"_L1].toArray().size(), 1);
        // Whether somebody locks by it is not known.
        const auto refused = run(acquiring("jobs/nightly"));
        QVERIFY2(refused.status == 4 && refused.err.contains("jobs/nightly with the lease"), refused.what());
        QVERIFY(removeKey("jobs/nightly"));
    }

    void objectThatNamesItsHolderIsUnexplained()
    {
        const QByteArray key = "com.coreos.airlock/groups/workers/v1/semaphore";
        KeepingSink sink;
        const auto looks = looking(sink, {});
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        const auto put = [&](const QByteArray &name) {
            auto putting = transactionOf(etcd::Operation::Kind::Put, name, 0);
            putting.then.front().value = R"({"total_slots":1,"holders":["node-7"]})";
            return static_cast<bool>(answerOf(m_gated->commit(putting, Deadline::after(m_loop, 10s))));
        };
        QVERIFY(put(key) && put("/registry/leases/kube-node-lease/node-1"));
        const auto groups = [&] { return looks->coverage().front().unexplained; };
        QVERIFY(eventually([&] { return groups().size() == 1 && groups().front().example == key; }));
        const auto listed = run(connect() + QStringList{u"locks"_s});
        QVERIFY2(listed.out.contains("1 key without a lease may be a lock; its value is not read: " + key),
                 listed.what());
        const auto shown = run(connect() + QStringList{u"show"_s, u"etcd:"_s + QString::fromLatin1(key)});
        QVERIFY2(shown.err.contains("it may not be free") && shown.err.contains("which has no lease"), shown.what());
        QVERIFY(removeKey(key) && removeKey("/registry/leases/kube-node-lease/node-1"));
        QVERIFY(eventually([&] { return groups().empty(); }));
    }

    void readersAndWritersAreFollowed()
    {
        const QByteArray name = "shop/orders", stamp = "170000000000000000";
        KeepingSink sink;
        const auto looks = looking(sink, "shop/");
        QVERIFY(!leased(name + "/read/" + stamp + '0', {}).isEmpty());
        looks->start();
        const auto holders = [&] {
            const auto seen = looks->snapshots();
            return seen.size() == 1 && seen.front().lock.name == name ? static_cast<int>(seen.front().holderCount())
                                                                      : -1;
        };
        QVERIFY(eventually([&] { return holders() == 1; }));
        QVERIFY(!leased(name + "/read/" + stamp + '1', {}).isEmpty());
        QVERIFY(eventually([&] { return holders() == 2; }));
        QVERIFY(!leased(name + "/write/" + stamp + '2', {}).isEmpty());
        QVERIFY(!leased(name + "/read/" + stamp + '3', {}).isEmpty());
        QVERIFY(eventually([&] { return looks->snapshots().front().waiterCount() == 2; }));
        QCOMPARE(holders(), 2);
        QVERIFY(removeKey(name + "/read/" + stamp + '0') && removeKey(name + "/read/" + stamp + '1'));
        QVERIFY(eventually([&] { return looks->snapshots().front().waiterCount() == 1; }));
        QCOMPARE(holders(), 1);
        const auto writer = looks->snapshots().front().contenders.front();
        QVERIFY(writer.mode == inspect::Mode::Write && writer.heldSince);
        // Data of the same form is none, at first and later, and a writer waits for it.
        QVERIFY(!leased("shop/mail/read/" + stamp + '4', "hello").isEmpty());
        const auto listed = run(connect() + QStringList{u"locks"_s, u"--json"_s}).json();
        QCOMPARE(listed["locks"_L1].toArray().size(), 1);
        QVERIFY(listed["locks"_L1][0]["recipe"_L1].toString() == u"etcd-rwmutex"_s);
        QCOMPARE(listed["unexplained"_L1].toArray().size(), 1);
        QVERIFY(!leased("shop/mail/write/" + stamp + '5', {}).isEmpty());
        QVERIFY(eventually([&] { return looks->snapshots().size() == 2; }));
        const auto seen = shown("shop/mail");
        QCOMPARE(seen["state"_L1].toString(), u"contended"_s);
        QVERIFY(eventually([&] { return looks->snapshots().front().holderCount() == 0; }));
        const auto id = QString::fromUtf8(writer.id);
        const auto freed = forced(name, id, {u"--yes"_s, u"--reason"_s, u"test"_s});
        QVERIFY2(freed.status == 0, freed.what());
        QVERIFY(eventually([&] {
            const auto now = looks->snapshots();
            return now.back().holderCount() == 1 && now.back().contenders.front().mode == inspect::Mode::Read;
        }));
        for (const auto *key : {"shop/orders/read/1700000000000000003", "shop/mail/read/1700000000000000004",
                                "shop/mail/write/1700000000000000005"})
            QVERIFY(removeKey(key));
    }

    void pythonEtcd3sLockIsHeldByItsLease()
    {
        const QByteArray key = "/locks/orders", name = "KEY#" + key;
        const auto lease = leased(key, QByteArray::fromHex("4c98291eeb0411f19b8402fc00000001"));
        QVERIFY(!lease.isEmpty());
        const auto seen = shown(name);
        QCOMPARE(seen["recipe"_L1].toString(), u"etcd-key-lock"_s);
        QCOMPARE(seen["client"_L1].toString(), u"python-etcd3"_s);
        QCOMPARE(seen["confidence"_L1].toString(), u"high"_s);
        const auto id = idsOf(seen).value(0);
        QVERIFY2(id.startsWith(QString::fromLatin1(lease) + u'@'), qPrintable(id));
        for (const auto *command : {"locks", "sessions", "graph"}) {
            const auto said = run(connect() + QStringList{QString::fromLatin1(command)});
            QVERIFY2(said.status == 0 && said.out.contains(name), said.what());
        }
        const auto sessions =
            run(connect() + QStringList{u"sessions"_s, u"--json"_s}).json()["sessions"_L1].toArray();
        QCOMPARE(sessions.first()["holds"_L1].toArray(), (QJsonArray{u"etcd:"_s + QString::fromUtf8(name)}));
        QVERIFY(!sessions.first().toObject().contains("alsoEnds"_L1));
        const auto refused = run(acquiring(key));
        QVERIFY2(refused.status == 4 && refused.err.contains(name) && refused.err.contains("python-etcd3"),
                 refused.what());
        const auto own = run(acquiring(name));
        QVERIFY2(own.status != 0 && own.err.contains("cannot be acquired") == false, own.what());
        const auto rehearsed =
            run(connect() + QStringList{u"rehearse"_s, u"etcd:"_s + QString::fromUtf8(name), u"--holder"_s, id});
        QVERIFY2(rehearsed.status == 0, rehearsed.what());
        const auto planned = forced(name, id, {u"--dry-run"_s});
        QVERIFY2(planned.out.contains("no waiter is visible; clients that poll notice it"), planned.what());
        const auto released = forced(name, id, {u"--yes"_s, u"--json"_s});
        QVERIFY2(released.status == 0 && released.json()["released"_L1].toBool(), released.what());
        const auto again = forced(name, id, {u"--yes"_s});
        QVERIFY2(again.status == 4, again.what());
    }

    // The same name, in both forms: neither keeps the other out.
    void nodesKeyBesideAQueueIsALockOfItsOwn()
    {
        const QByteArray key = "mylock2", name = "KEY#mylock2";
        KeepingSink sink;
        const auto looks = looking(sink, key);
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        const auto lease = leased(key, "");
        QVERIFY(!lease.isEmpty());
        QVERIFY(eventually([&] { return sink.coverage.size() == 1 && !sink.coverage.front().unexplained.empty(); }));
        QVERIFY(sink.coverage.front().complete && !sink.find(name));
        const auto queued = ++m_leases;
        QVERIFY(answerOf(m_gated->grant(queued, 60s, Deadline::after(m_loop, 10s))));
        QVERIFY(!leased(key + '/' + etcd::leaseText(queued), "", queued).isEmpty());
        QVERIFY(eventually([&] { return sink.find(name) && sink.find(key); }));
        QVERIFY(sink.find(key)->find(FindingCode::ForeignNode) && sink.find(name)->find(FindingCode::ForeignNode));
        const auto &holder = sink.find(name)->contenders.front();
        QVERIFY(holder.role == Role::Holder && holder.session == QString::fromLatin1(lease) && !holder.heldSince);
        QVERIFY(eventually([&] { return sink.coverage.front().unexplained.empty(); }));
        // A single look, and one that reads the lock alone, tell the same.
        KeepingSink second;
        const auto anew = looking(second, key);
        anew->start();
        QVERIFY(
            eventually([&] { return anew->firstSnapshot().isComplete() && second.find(name) && second.find(key); }));
        QVERIFY(second.find(name)->confidence == inspect::Confidence::Medium);
        QCOMPARE(idsOf(shown(name)).value(0), QString::fromUtf8(holder.id));
        const auto refused = run(acquiring(key));
        QVERIFY2(refused.status == 4 && refused.err.contains(name), refused.what());
        QVERIFY(removeKey(key));
        QVERIFY(eventually([&] { return !sink.find(name) && !sink.find(key)->find(FindingCode::ForeignNode); }));
        QVERIFY(sink.isConsistent);
        QVERIFY(removeKey(key + '/' + etcd::leaseText(queued)));
    }

    void patronisLeaderIsAnElection()
    {
        const QByteArray name = "KEY#/service/batman/leader";
        const auto lease = ++m_leases;
        QVERIFY(answerOf(m_gated->grant(lease, 30s, Deadline::after(m_loop, 10s))));
        QVERIFY(!leased("/service/batman/members/pg-1", "{}", lease).isEmpty());
        QVERIFY(!leased("/service/batman/members/pg-2", "{}").isEmpty());
        KeepingSink sink;
        const auto looks = looking(sink, "/service/");
        looks->start();
        QVERIFY(eventually([&] { return looks->firstSnapshot().isComplete(); }));
        QVERIFY(!leased("/service/batman/leader", "pg-1", lease).isEmpty());
        QVERIFY(eventually([&] { return sink.find(name) && sink.find(name)->contenders.front().expiresAt; }));
        const auto seen = *sink.find(name);
        QVERIFY(seen.recipe == "etcd-key-election" && seen.client == u"Patroni"_s
                && seen.contenders.front().heldSince);
        QCOMPARE(seen.contenders.front().identity, QByteArray("pg-1"));
        QVERIFY(eventually([&] { return sink.coverage.front().unexplained.empty(); }));
        const auto shownNow = shown(name);
        QCOMPARE(shownNow["client"_L1].toString(), u"Patroni"_s);
        const auto id = idsOf(shownNow).value(0);
        // The whole lease names its member key.
        const auto planned = forced(name, id, {u"--method"_s, u"end-lease"_s, u"--dry-run"_s, u"--json"_s});
        QCOMPARE(planned.json()["leaseKeys"_L1].toArray(),
                 (QJsonArray{u"/service/batman/leader"_s, u"/service/batman/members/pg-1"_s}));
        // Another takes it over without creating the key anew: what was planned for the first is not done.
        const auto plan = operate::planForceRelease(seen, seen.contenders.front().id);
        QVERIFY(plan);
        QVERIFY(!leased("/service/batman/leader", "pg-2").isEmpty());
        const auto late = sent(*plan);
        QVERIFY(!late && late.error().code == ErrorCode::Refused);
        QVERIFY(eventually([&] { return sink.find(name)->contenders.front().identity == "pg-2"; }));
        QVERIFY(sink.find(name)->contenders.front().id != seen.contenders.front().id);
        for (const auto *key :
             {"/service/batman/leader", "/service/batman/members/pg-1", "/service/batman/members/pg-2"})
            QVERIFY(removeKey(key));
    }
};

LOCKSCOPE_TEST(TestEtcdFixedKeysLive)
#include "tst_etcd_fixed.moc"
