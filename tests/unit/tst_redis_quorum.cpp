// SPDX-License-Identifier: Apache-2.0
// What the nodes of a Redlock set say apart, and the one lock that they are together: a table.
#include "core/inspect/findings.h"
#include "core/inspect/knownclients.h"
#include "core/inspect/redis/setobserver.h"
#include "core/inspect/json.h"
#include "core/inspect/state/statesnapshot.h"
#include "core/operate/forcereleaseplan.h"
#include "core/operate/releasemethod.h"
#include "tests/support/testmain.h"

#include <QJsonArray>
#include <QJsonObject>

using namespace lockscope::inspect;

namespace {

constexpr ServerTime quorumNoon{43'200s};

// "A20": token A that expires in 20 s; "A": one that never does; "-": nothing; "?": no answer; "R": a lock of
// Redisson's. The nodes are n1, n2 …
NodeSight sightOf(const QString &word, int number)
{
    NodeSight sight{u"n%1"_s.arg(number), word != "?"_L1, std::nullopt};
    if (word == "?"_L1 || word == "-"_L1)
        return sight;
    LockSnapshot lock;
    lock.lock = {ConnectionName("set"), "orders-lock"};
    lock.backend = BackendKind::Redis;
    lock.recipe = word == "R"_L1 ? "redisson-lock" : "redis-set-nx";
    lock.confidence = Confidence::Medium;
    lock.state = LockState::Held;
    lock.observed = quorumNoon;
    Contender holder;
    holder.id = word.left(1).toUtf8();
    holder.role = Role::Holder;
    holder.guard.edit<inspect::RedisIdentity>().value = holder.id;
    if (word.size() > 1)
        holder.expiresAt = quorumNoon + std::chrono::seconds(word.mid(1).toInt());
    lock.contenders.push_back(holder);
    sight.snapshot = lock;
    return sight;
}

std::vector<NodeSight> sightsOf(const QString &row)
{
    std::vector<NodeSight> sights;
    for (const auto &word : row.split(u' '))
        sights.push_back(sightOf(word, static_cast<int>(sights.size()) + 1));
    return sights;
}

// "held: holder A 20, waiter B 30; no-quorum info A B"
QString shown(const std::optional<LockSnapshot> &lock)
{
    if (!lock)
        return u"none"_s;
    QStringList contenders;
    for (const auto &contender : lock->contenders) {
        const auto left = contender.expiresAt
                              ? std::chrono::duration_cast<std::chrono::seconds>(*contender.expiresAt - quorumNoon)
                              : 0s;
        contenders << u"%1 %2 %3"_s.arg(word(contender.role), QString::fromUtf8(contender.id),
                                        contender.expiresAt ? QString::number(left.count()) : u"never"_s);
    }
    QString text = word(lock->state) + u": "_s + contenders.join(u", "_s);
    for (const auto &finding : lock->findings) {
        text += u"; %1 %2"_s.arg(word(finding.code), word(finding.severity));
        for (const auto &id : finding.contenders)
            text += u' ' + QString::fromUtf8(id);
    }
    return text;
}

// "a+b - b": each node's members of a semaphore; the last of them ends with the set, in 20 s.
std::vector<NodeSight> permitsOf(const QString &row)
{
    auto sights = sightsOf(row);
    for (auto &sight : sights) {
        if (!sight.snapshot)
            continue;
        auto &lock = *sight.snapshot;
        lock.recipe = "redis-semaphore";
        const auto members = row.split(u' ')[&sight - sights.data()].split(u'+');
        lock.contenders.clear();
        for (const auto &member : members) {
            Contender holder;
            holder.id = holder.guard.edit<inspect::RedisIdentity>().value = member.toUtf8();
            holder.role = Role::Holder;
            holder.mode = Mode::Permit;
            if (member == members.back())
                holder.expiresAt = quorumNoon + 20s;
            lock.contenders.push_back(holder);
        }
    }
    return sights;
}

QString redLockHolder(int node, const char *thread)
{
    return u"00000000-0000-4000-8000-00000000000%1:%2"_s.arg(node).arg(QLatin1String(thread));
}

// "47 - 47": the thread that holds Redisson's lock on each node, by a client of that node's own.
LockSnapshot redLock(const QByteArray &row)
{
    auto sights = sightsOf(QString::fromUtf8(row.simplified()));
    for (auto &sight : sights) {
        if (!sight.snapshot)
            continue;
        const auto number = static_cast<int>(&sight - sights.data());
        sight.snapshot->recipe = "redisson-lock";
        sight.snapshot->contenders.clear();
        for (const auto &thread : row.simplified().split(' ')[number].split('+')) {
            Contender holder;
            holder.id = holder.guard.edit<inspect::RedisIdentity>().value =
                redLockHolder(number + 1, thread.constData()).toUtf8();
            holder.role = Role::Holder;
            sight.snapshot->contenders.push_back(holder);
        }
    }
    return *mergeNodes(sights);
}

QStringList nodesOf(const operate::ForceReleasePlan &plan)
{
    QStringList all;
    for (const auto &share : plan.shares)
        all << share.node + u' ' + QString::fromUtf8(share.guard.redis().value);
    return all;
}

QString noQuorumText(const QString &row)
{
    const auto lock = mergeNodes(sightsOf(row));
    const auto *finding = lock->find(FindingCode::NoQuorum);
    return finding ? finding->message : QString();
}

} // namespace

class TestRedisQuorum : public QObject {
    Q_OBJECT
private slots:
    void merging_data()
    {
        addColumns<QString, QString>("nodes", "wanted");
        const auto row = [](const char *nodes, const char *wanted) {
            QTest::newRow(nodes) << QString::fromUtf8(nodes) << QString::fromUtf8(wanted);
        };
        // Nobody.
        row("- - -", "none");
        row("? ? ?", "none");
        row("- ? -", "none");
        // One token on a majority: held until the quorum-th last of its keys is gone.
        row("A10 A20 A30", "held: holder A 20");
        row("A10 A20 A30 A40 A50", "held: holder A 30");
        row("A10 A20 A30 A40", "held: holder A 20");
        row("A10", "held: holder A 10");
        row("- A20 A30", "held: holder A 20");
        row("A10 - A20 - A30", "held: holder A 10");
        // A node that does not answer changes nothing, if the others are a majority.
        row("A10 A20 ?", "held: holder A 10");
        row("? A10 A20 A30 ?", "held: holder A 10");
        // Fewer than a majority: nobody holds it.
        row("A10 - -", "free: waiter A 10; no-quorum warning A");
        row("A10 - A20 - -", "free: waiter A 20; no-quorum warning A");
        row("A10 A20 - -", "free: waiter A 20; no-quorum warning A");
        row("A10 A20 B30 B40 C50", "free: waiter A 20, waiter B 40, waiter C 50; no-quorum warning A B C");
        row("C10 B10 B20 - -", "free: waiter B 20, waiter C 10; no-quorum warning B C");
        // Different values, one of them on a majority.
        row("A10 A20 B30", "contended: holder A 10, waiter B 30; no-quorum info A B");
        row("B30 A10 A20", "contended: holder A 10, waiter B 30; no-quorum info A B");
        row("A10 A20 A30 B5 -", "contended: holder A 10, waiter B 5; no-quorum info A B");
        // So many do not answer that it cannot be told: who leads is taken for the holder.
        row("A10 ? ?", "held: holder A 10; no-quorum warning A");
        row("A10 A20 - ? ?", "held: holder A 20; no-quorum warning A");
        row("A10 B20 ?", "free: waiter A 10, waiter B 20; no-quorum warning A B");
        row("A10 A20 B30 ? ?", "contended: holder A 20, waiter B 30; no-quorum warning A B");
        row("A10 - - - ?", "free: waiter A 10; no-quorum warning A");
        // Keys without an expiry.
        row("A A A", "held: holder A never; no-ttl critical A");
        row("A A20 A30", "held: holder A 30; no-ttl critical A");
        row("A A A30", "held: holder A never; no-ttl critical A");
        row("A - -", "free: waiter A never; no-quorum warning A; no-ttl critical A");
        row("B A10 A20", "contended: holder A 10, waiter B never; no-quorum info A B; no-ttl critical B");
        // Locks of another kind.
        row("R - -", "held: holder R never");
        row("A10 A20 R", "held: holder A 10; no-quorum info A");
        row("A10 R -", "free: waiter A 10; no-quorum warning A");
    }
    void merging()
    {
        QFETCH(QString, nodes);
        QFETCH(QString, wanted);
        QCOMPARE(shown(mergeNodes(sightsOf(nodes))), wanted);
    }

    void isARedlock()
    {
        const auto lock = mergeNodes(sightsOf(u"A10 A20 ?"_s));
        QCOMPARE(lock->recipe, QByteArray("redlock"));
        QCOMPARE(lock->lock.text(), QByteArray("set:orders-lock"));
        QVERIFY(lock->confidence == Confidence::High);
        QVERIFY(!lock->waitersKnown);
        QVERIFY2(lock->why.contains(u"2 of 3"_s), qPrintable(lock->why));
        QCOMPARE(lock->contenders.front().guard.redis().value, QByteArray("A"));
        QVERIFY(mergeNodes(sightsOf(u"A10 - -"_s))->confidence == Confidence::Medium);
        QCOMPARE(mergeNodes(sightsOf(u"R - -"_s))->recipe, QByteArray("redisson-lock"));
    }

    void everyNodeIsQuoted()
    {
        const auto lock = mergeNodes(sightsOf(u"A10 - ? B20 R"_s));
        QStringList said;
        for (const auto &node : lock->nodes)
            said << u"%1 %2 %3"_s.arg(node.node, node.answered ? u"answered"_s : u"silent"_s,
                                      node.value ? QString::fromUtf8(*node.value) : u"-"_s);
        QCOMPARE(said, (QStringList{u"n1 answered A"_s, u"n2 answered -"_s, u"n3 silent -"_s, u"n4 answered B"_s,
                                    u"n5 answered -"_s}));
        QCOMPARE(lock->nodes[3].expiresAt, std::optional(quorumNoon + 20s));
        // In the answer to programs, too; a lock that is on no set has no such field.
        const auto json = toJson(*lock).value("nodes"_L1).toArray();
        QCOMPARE(json.size(), 5);
        QCOMPARE(
            json[3].toObject(),
            (QJsonObject{{u"node"_s, u"n4"_s}, {u"answered"_s, true}, {u"value"_s, u"B"_s}, {u"ttlMs"_s, 20'000}}));
        QCOMPARE(json[2].toObject(), (QJsonObject{{u"node"_s, u"n3"_s},
                                                  {u"answered"_s, false},
                                                  {u"value"_s, QJsonValue::Null},
                                                  {u"ttlMs"_s, QJsonValue::Null}}));
        QVERIFY(!toJson(*sightOf(u"A10"_s, 1).snapshot).contains("nodes"_L1));
    }

    void theFindingSaysHowManySaidWhat()
    {
        const auto few = noQuorumText(u"A10 - - - B20"_s);
        for (const auto *part :
             {"A on 1 of them (n1)", "B on 1 of them (n5)", "nothing on 3", "of 5 nodes", "no client holds it"})
            QVERIFY2(few.contains(QLatin1StringView(part)), qPrintable(few));
        const auto stray = noQuorumText(u"A10 A10 B20"_s);
        QVERIFY2(stray.contains(u"a majority holds one value"_s) && stray.contains(u"B on 1 of them (n3)"_s),
                 qPrintable(stray));
        const auto dark = noQuorumText(u"A10 ? ?"_s);
        QVERIFY2(dark.contains(u"no answer from 2"_s) && !dark.contains(u"nobody"_s), qPrintable(dark));
    }

    // The servers' clocks differ; what is told is told by one of them.
    void clocksAreBroughtTogether()
    {
        auto sights = sightsOf(u"A10 A20 A30"_s);
        // The second node's clock is an hour ahead, so are its moments.
        auto &ahead = *sights[1].snapshot;
        ahead.serverAhead = 3'600'000ms;
        ahead.observed += 1h;
        *ahead.contenders.front().expiresAt += 1h;
        const auto lock = mergeNodes(sights);
        QCOMPARE(lock->contenders.front().expiresAt, std::optional(quorumNoon + 20s));
        QCOMPARE(lock->observed, quorumNoon);
        QCOMPARE(lock->nodes[1].expiresAt, std::optional(quorumNoon + 20s));
    }

    void heldSinceAMajorityHadIt()
    {
        auto sights = sightsOf(u"A10 A20 A30 - -"_s);
        sights[0].snapshot->contenders.front().heldSince = quorumNoon - 9s;
        sights[1].snapshot->contenders.front().heldSince = quorumNoon - 5s;
        QVERIFY(!mergeNodes(sights)->contenders.front().heldSince);
        sights[2].snapshot->contenders.front().heldSince = quorumNoon - 7s;
        QCOMPARE(mergeNodes(sights)->contenders.front().heldSince, std::optional(quorumNoon - 5s));
    }

    void longHeldTakesAMajority()
    {
        auto sights = sightsOf(u"A10 A20 A30"_s);
        const Finding found{FindingCode::LongHeld, Severity::Info, u"held for longer than 10 m"_s, {"A"}};
        sights[0].snapshot->findings.push_back(found);
        QVERIFY(mergeNodes(sights)->findings.empty());
        sights[2].snapshot->findings.push_back(found);
        QCOMPARE(mergeNodes(sights)->findings, std::vector<Finding>{found});
    }

    void changedNodeIsNews()
    {
        const auto before = *mergeNodes(sightsOf(u"A10 A20 A30 - -"_s));
        QVERIFY(isEquivalent(before, *mergeNodes(sightsOf(u"A10 A20 A30 - -"_s))));
        QVERIFY(!isEquivalent(before, *mergeNodes(sightsOf(u"A10 A20 - A30 -"_s))));
        QVERIFY(!isEquivalent(before, *mergeNodes(sightsOf(u"A10 A20 A30 - ?"_s))));
    }

    // redis-py knows one Redis: what it holds on one node of a set is held, not waited for.
    void aLockOfOneNodeIsShownAsThatNodeShowsIt()
    {
        auto sights = sightsOf(u"- A20 -"_s);
        QCOMPARE(shown(mergeNodes(sights)).left(4), u"free"_s);
        attribute(*sights[1].snapshot, knownClient("redis-py"));
        const auto lock = mergeNodes(sights);
        QCOMPARE(shown(lock), u"held: holder A 20"_s);
        QCOMPARE(lock->recipe, QByteArray("redis-set-nx"));
        QCOMPARE(lock->nodes[1].value, QByteArray("A"));
        QVERIFY2(lock->why.contains(u"on n2, one node of a set"_s), qPrintable(lock->why));
        sights = sightsOf(u"A20 - -"_s);
        sights[0].snapshot->recipe = "redis-setnx-expire";
        QCOMPARE(shown(mergeNodes(sights)), u"held: holder A 20"_s);
    }

    void redissonsRedLockSaysWhatEveryNodeHolds()
    {
        const auto lock = mergeNodes(sightsOf(u"R R R"_s));
        QCOMPARE(shown(lock), u"held: holder R never"_s);
        QVERIFY(std::ranges::all_of(lock->nodes, [](const NodeSaid &node) { return node.value.has_value(); }));
        QVERIFY2(lock->why.contains(u"on 3 of 3 nodes (n1, n2, n3)"_s), qPrintable(lock->why));
    }

    // RedlockSemaphore of npm: each member by itself is had by who put it on a majority.
    void membersOnAMajorityHold_data()
    {
        addColumns<QString, QString>("nodes", "wanted");
        const auto row = [](const char *nodes, const char *wanted) {
            QTest::newRow(nodes) << QString::fromUtf8(nodes) << QString::fromUtf8(wanted);
        };
        row("a+b a+b a+b", "held: holder a never, holder b 20");
        row("a a a", "held: holder a 20");
        row("a a -", "held: holder a 20");
        row("a+b a+b a", "held: holder a never, holder b 20");
        row("b+a a a", "contended: holder a 20, waiter b never");
        row("b+a a ?", "held: holder a 20, holder b never"); // the third may have b
        row("a a - - -", "free: waiter a never");
        row("a ? ?", "held: holder a 20");
        row("a b c", "held: holder a 20");
    }
    void membersOnAMajorityHold()
    {
        QFETCH(QString, nodes);
        QFETCH(QString, wanted);
        const auto lock = mergeNodes(permitsOf(nodes));
        QCOMPARE(shown(lock), wanted);
        QVERIFY2(!lock->why.contains(u"RedissonRedLock"_s), qPrintable(lock->why));
    }
    void membersSayWhereTheyAre()
    {
        const auto lock = mergeNodes(permitsOf(u"b+a a -"_s));
        QCOMPARE(lock->recipe, QByteArray("redis-semaphore"));
        QVERIFY2(lock->why.contains(u"one lock on 2 of 3 nodes (n1, n2)"_s), qPrintable(lock->why));
        QVERIFY2(lock->why.contains(u"one is on fewer"_s), qPrintable(lock->why));
        QCOMPARE(lock->nodes[0].value, QByteArray("b, a"));
        QCOMPARE(lock->nodes[0].expiresAt, std::optional(quorumNoon + 20s));
        QVERIFY(!lock->nodes[2].value);
        QVERIFY(operate::releaseWay(*lock));
    }
    // On each node what is taken away is what that node has: a client of its own of the one thread, or the member.
    void planHasEachNodesPartOfAHold()
    {
        const auto plan = operate::planForceRelease(redLock("47 47 47"), redLockHolder(1, "47").toUtf8());
        QVERIFY(plan);
        QCOMPARE(nodesOf(*plan), (QStringList{u"n1 "_s + redLockHolder(1, "47"), u"n2 "_s + redLockHolder(2, "47"),
                                              u"n3 "_s + redLockHolder(3, "47")}));
        QVERIFY2(plan->commands.first().startsWith(u"n1: EVALSHA redisson-force-release"_s)
                     && plan->commands.last().startsWith(u"n3: "_s),
                 qPrintable(plan->commands.join(u'\n')));
        QVERIFY2(plan->warnings.join(u' ').contains(u"only the holder's thread number"_s),
                 qPrintable(plan->warnings.join(u'\n')));
        QVERIFY(plan->exact);

        const auto most = operate::planForceRelease(redLock("47 - ?  47 47"), redLockHolder(1, "47").toUtf8());
        QVERIFY(most);
        QCOMPARE(nodesOf(*most), (QStringList{u"n1 "_s + redLockHolder(1, "47"), u"n4 "_s + redLockHolder(4, "47"),
                                              u"n5 "_s + redLockHolder(5, "47")}));
        QVERIFY2(most->warnings.join(u' ').contains(u"n3 did not respond and is skipped"_s),
                 qPrintable(most->warnings.join(u'\n')));

        const auto alone = operate::planForceRelease(redLock("- 47 -"), redLockHolder(2, "47").toUtf8());
        QVERIFY(alone);
        QCOMPARE(nodesOf(*alone), QStringList{u"n2 "_s + redLockHolder(2, "47")});

        const auto member = operate::planForceRelease(*mergeNodes(permitsOf(u"b+a a ab+a"_s)), "a");
        QVERIFY(member);
        QCOMPARE(nodesOf(*member), (QStringList{u"n1 a"_s, u"n2 a"_s, u"n3 a"_s}));
        const auto two = operate::planForceRelease(*mergeNodes(permitsOf(u"b+a ab a"_s)), "a");
        QVERIFY(two);
        QCOMPARE(nodesOf(*two), (QStringList{u"n1 a"_s, u"n3 a"_s}));
    }
    void possiblySeparateHoldsAreRefused_data()
    {
        const Rows<QString> row("nodes");
        row("two threads", u"47 48 47"_s);
        row("no majority", u"47 47 - - -"_s);
        row("two readers on one of them", u"47 47+50 47"_s);
    }
    void possiblySeparateHoldsAreRefused()
    {
        QFETCH(QString, nodes);
        const auto plan = operate::planForceRelease(redLock(nodes.toUtf8()), redLockHolder(1, "47").toUtf8());
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.contains(u"they may be separate holds"_s), qPrintable(plan.error().message));
    }

    // The numbers of a semaphore's permits are each node's own.
    void permitsByNumberAreOfOneNode()
    {
        auto sights = permitsOf(u"0 0 -"_s);
        for (auto &sight : sights) {
            if (sight.snapshot)
                sight.snapshot->contenders.front().guard.edit<inspect::RedisIdentity>().counterpart = "1700000000.5";
        }
        const auto lock = mergeNodes(sights);
        QVERIFY2(!lock->why.contains(u"one lock"_s), qPrintable(lock->why));
        QVERIFY2(lock->why.contains(u"on each with the same holder"_s), qPrintable(lock->why));
    }

    // Its clients differ from node to node, their thread does not.
    void aThreadOnAMajorityIsRedissonsRedLock()
    {
        const auto take = [](std::vector<NodeSight> &sights, const QByteArrayList &holders) {
            for (qsizetype i = 0; i < holders.size(); ++i) {
                auto &holder = sights[static_cast<size_t>(i)].snapshot->contenders[0];
                holder.id = holder.guard.edit<inspect::RedisIdentity>().value = holders[i];
            }
        };
        const QByteArray first = "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29";
        const QByteArray second = "11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29";
        auto sights = sightsOf(u"R R -"_s);
        take(sights, {first + ":45", second + ":45"});
        const auto lock = mergeNodes(sights);
        QCOMPARE(lock->client, u"Redisson (RedissonRedLock)"_s);
        QVERIFY2(lock->why.contains(u"one lock on 2 of 3 nodes (n1, n2): thread 45"_s), qPrintable(lock->why));
        QCOMPARE(lock->nodes[1].value, second + ":45");
        take(sights, {first + ":45", second + ":46"});
        QVERIFY(!mergeNodes(sights)->why.contains(u"one lock"_s));
        sights = sightsOf(u"R - -"_s);
        take(sights, {first + ":45"});
        QVERIFY(!mergeNodes(sights)->why.contains(u"one lock"_s));
    }
};

LOCKSCOPE_TEST(TestRedisQuorum)
#include "tst_redis_quorum.moc"
