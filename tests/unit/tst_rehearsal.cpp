// SPDX-License-Identifier: Apache-2.0
// What a rehearsal says of a lock: who is next where that is sure, how many are woken, and nothing where it is not.
#include "core/inspect/findings.h"
#include "core/rehearse/rehearsal.h"
#include "core/rules/catalogue.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;
using rehearse::Next;

namespace {

const ServerTime rehearsedAt = ServerTime(std::chrono::hours(24));

Identity identityOn(BackendKind backend, const QByteArray &id, qint64 creation)
{
    switch (backend) {
    case BackendKind::ZooKeeper: return ZnodeIdentity{.path = "/locks/orders/" + id, .czxid = creation};
    case BackendKind::Redis: return RedisIdentity{.value = id};
    case BackendKind::Etcd: return EtcdIdentity{.key = id, .createRevision = creation};
    case BackendKind::MariaDb:
    case BackendKind::PostgreSql: break;
    }
    return SqlIdentity{id};
}

// "H" holds, "w" waits; behind it the mode: "r" reads, "x" excludes. In the order of the queue.
LockSnapshot rehearsedLock(const QByteArray &recipe, const QByteArrayList &shorthand)
{
    const auto &info = recipes::recipeOf(recipe);
    LockSnapshot lock{
        .lock = {ConnectionName("zk"), info.backend == BackendKind::ZooKeeper ? "/locks/orders" : "orders"},
        .backend = info.backend,
        .recipe = recipe,
        .observed = rehearsedAt};
    for (const auto &one : shorthand) {
        const auto i = static_cast<int>(lock.contenders.size());
        Contender contender;
        contender.id = "_c_0000-lock-" + QByteArray::number(i).rightJustified(10, '0');
        contender.role = one.startsWith('H') ? Role::Holder : Role::Waiter;
        contender.mode = one.endsWith('r') ? Mode::Read : info.readWrite ? Mode::Write : Mode::Exclusive;
        contender.position = i;
        contender.session = QString::number(i + 10);
        contender.guard = identityOn(info.backend, contender.id, i + 100);
        if (contender.role == Role::Waiter)
            contender.waitingSince = rehearsedAt - 60s + i * 1s;
        lock.contenders.push_back(std::move(contender));
    }
    return lock;
}

void loseOrder(LockSnapshot &lock)
{
    for (auto &contender : lock.contenders)
        contender.position.reset();
}

struct Case {
    LockSnapshot lock;
    Next next = Next::Certain;
    int nextHolder = 1; // in the queue; where certain
    int granted = 1;
    int woken = 1;
    int inVain = 0;
};

std::map<QByteArray, Case> rehearsalCases()
{
    std::map<QByteArray, Case> cases;
    cases["a mutex: the next of the queue"] = {rehearsedLock("zk-mutex", {"Hx", "wx", "wx"})};
    cases["a herd: all are woken, one gets it"] = {
        .lock = rehearsedLock("zk-herd-mutex", {"Hx", "wx", "wx", "wx"}), .woken = 3, .inVain = 2};
    cases["readers behind a writer get in together"] = {
        .lock = rehearsedLock("curator-rwlock", {"Hx", "wr", "wr", "wx", "wr"}),
        .granted = 2,
        .woken = 3,
        .inVain = 1};
    cases["one reader of two lets nobody in"] = {
        .lock = rehearsedLock("zk-shared", {"Hr", "Hr", "wx"}), .next = Next::NoOne, .granted = 0, .woken = 0};
    cases["nobody waits"] = {
        .lock = rehearsedLock("kazoo-lock", {"Hx"}), .next = Next::NoOne, .granted = 0, .woken = 0};
    cases["a semaphore: the first of the queue, and who moves up"] = {
        .lock = rehearsedLock("curator-semaphore", {"Hx", "Hx", "wx", "wx"}),
        .nextHolder = 2,
        .woken = 2,
        .inVain = 1};
    cases["another's recipe is played as the one it queues with"] = {
        rehearsedLock("zookeeper-recipe-lock", {"Hx", "wx"})};

    auto watchers = rehearsedLock("zk-ephemeral", {"Hx", "wx", "wx"});
    loseOrder(watchers);
    cases["no order among those who watch one node"] = {
        .lock = watchers, .next = Next::Chance, .granted = 0, .woken = 2, .inVain = 1};
    watchers.contenders.pop_back();
    cases["the only one who waits"] = {watchers};
    watchers.waitersKnown = false;
    cases["perhaps not the only one who waits"] = {.lock = watchers, .next = Next::Chance, .granted = 0};

    auto gone = rehearsedLock("zk-mutex", {"Hx", "wx", "wx"});
    addFinding(gone, FindingCode::StaleQueue, QString(), {gone.contenders[1].id});
    cases["who has no connection may come back"] = {.lock = gone, .next = Next::NotKnown, .granted = 0};
    gone.findings.front().contenders.front() = gone.contenders[2].id;
    cases["behind the next it changes nothing"] = {gone};
    auto deaf = rehearsedLock("zk-mutex", {"Hx", "wx", "wx"});
    addFinding(deaf, FindingCode::LostWakeup, QString(), {deaf.contenders[1].id});
    cases["who watches nothing does not hear of it"] = {.lock = deaf, .next = Next::NotKnown, .granted = 0};

    auto polled = rehearsedLock("redis-set-nx", {"Hx"});
    polled.waitersKnown = false;
    cases["who polls is not seen"] = {.lock = polled, .next = Next::Chance, .granted = 0, .woken = 0};
    auto quorum = polled;
    quorum.recipe = "redlock";
    quorum.nodes.resize(3);
    cases["the same on a set of nodes"] = {.lock = quorum, .next = Next::Chance, .granted = 0, .woken = 0};
    auto listeners = rehearsedLock("redisson-lock", {"Hx", "wx", "wx"});
    loseOrder(listeners);
    for (auto &contender : listeners.contenders)
        contender.session.reset();
    cases["processes that listen have no order"] = {
        .lock = listeners, .next = Next::Chance, .granted = 0, .woken = 2, .inVain = 1};
    listeners.contenders.pop_back();
    cases["of one that listens no more is known"] = {
        .lock = listeners, .next = Next::Chance, .granted = 0, .woken = 1};
    auto fair = rehearsedLock("redisson-fair-lock", {"Hx", "wx", "wx", "wx"});
    addFinding(fair, FindingCode::StaleQueue, QString(), {fair.contenders[1].id});
    cases["a fair queue without who is past its moment"] = {.lock = fair, .nextHolder = 2};

    auto silent = rehearsedLock("redisson-fair-lock", {"Hx", "wx", "wx"});
    addFinding(silent, FindingCode::LostWakeup, QString(), {silent.contenders[1].id});
    cases["the first of a fair queue has no subscriber"] = {.lock = silent, .next = Next::NotKnown, .granted = 0};
    cases["a leader is played as a mutex"] = {rehearsedLock("curator-leader", {"Hx", "wx", "wx"})};

    cases["a row: who asked first"] = {rehearsedLock("sql-for-update", {"Hx", "wx", "wx"})};
    auto together = rehearsedLock("sql-for-update", {"Hx", "wx", "wx"});
    together.contenders[2].waitingSince = together.contenders[1].waitingSince;
    cases["two asked in one second"] = {.lock = together, .next = Next::Chance, .granted = 0};
    together.contenders[2].watches = {{together.contenders[1].id, false, Evidence::Server}};
    cases["and the server says who was first"] = {together};
    cases["a named lock"] = {rehearsedLock("sql-get-lock", {"Hx", "wx"})};
    return cases;
}

} // namespace

class TestRehearsal : public QObject {
    Q_OBJECT

    std::map<QByteArray, Case> m_cases = rehearsalCases();

private slots:
    void saysWhoIsNext_data()
    {
        const Rows<QByteArray> row("name");
        for (const auto &[name, one] : m_cases)
            row(name, name);
    }
    void saysWhoIsNext()
    {
        QFETCH(const QByteArray, name);
        const auto &wanted = m_cases.at(name);
        const auto plan = operate::planForceRelease(wanted.lock, wanted.lock.contenders.front().id);
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        const auto said = rehearse::rehearse(*plan);
        QVERIFY2(said, said ? "" : qPrintable(said.error().message));
        const auto assumed = said->assumed.join(u'|');
        QVERIFY2(said->next == wanted.next, qPrintable(QString::fromLatin1(word(said->next)) + u": "_s + assumed));
        QCOMPARE(said->nextHolder.has_value(), wanted.next == Next::Certain);
        if (said->nextHolder)
            QCOMPARE(*said->nextHolder, wanted.lock.contenders[size_t(wanted.nextHolder)].id);
        QVERIFY(said->woken.has_value());
        const bool isAnswered = recipes::recipeOf(wanted.lock.recipe).wakeUp == recipes::WakeUp::Answer;
        QCOMPARE(*said->woken, isAnswered ? std::max(1, wanted.granted) : wanted.woken);
        QCOMPARE(said->wokenInVain, wanted.inVain);
        if (wanted.next == Next::Certain)
            QCOMPARE(int(said->granted.size()), wanted.granted);
        else
            QVERIFY(said->granted.empty());
        QVERIFY(said->alsoLost.empty());
    }

    void saysWhatItAssumed()
    {
        const auto assumedOf = [](LockSnapshot lock) {
            const auto plan = operate::planForceRelease(lock, lock.contenders.front().id);
            const auto said = rehearse::rehearse(*plan);
            return said ? said->assumed.join(u'|') : said.error().message;
        };
        auto lock = rehearsedLock("zk-mutex", {"Hx", "wx"});
        lock.client = QStringLiteral("go-zookeeper");
        QVERIFY(assumedOf(lock).contains("its clients (go-zookeeper) are simulated by Lockscope's own zk-mutex"_L1));
        QVERIFY(assumedOf(lock).contains("the watch of 1 waiter was not observed"_L1));
        lock.contenders[1].watches = {{lock.contenders[0].id, false, Evidence::Server}};
        QVERIFY(!assumedOf(lock).contains("not observed"_L1));
        QVERIFY(assumedOf(rehearsedLock("zookeeper-recipe-lock", {"Hx", "wx"})).contains("simulated as zk-mutex"_L1));
        QVERIFY(assumedOf(rehearsedLock("curator-semaphore", {"Hx", "wx"})).contains("it has 1 permit"_L1));
        QVERIFY(assumedOf(rehearsedLock("sql-for-update", {"Hx", "wx", "wx"})).contains("MySQL 8"_L1));
        QVERIFY(assumedOf(rehearsedLock("pg-for-update", {"Hx", "wx", "wx"})).contains("may be faster"_L1));
    }

    // A number that hangs on what was not seen is not said as one that was.
    void wokenClientsAreReportedWithTheirCertainty()
    {
        const auto said = [](const LockSnapshot &lock) {
            const auto plan = operate::planForceRelease(lock, lock.contenders.front().id);
            const auto rehearsal = rehearse::rehearse(*plan);
            return rehearsal ? sentenceOf(*rehearsal, lock) : rehearsal.error().message;
        };
        auto lock = rehearsedLock("zk-mutex", {"Hx", "wx"});
        QVERIFY2(said(lock).contains(u"; 1 client is woken, if the assumptions hold; "), qPrintable(said(lock)));
        lock.contenders[1].watches = {{lock.contenders[0].id, false, Evidence::Server}};
        QVERIFY2(said(lock).contains(u"; 1 client is woken; "), qPrintable(said(lock)));
        auto polled = rehearsedLock("redis-set-nx", {"Hx"});
        polled.waitersKnown = false;
        QVERIFY2(said(polled).contains(u"; no client is woken, if the assumptions hold; "), qPrintable(said(polled)));
    }

    // The snapshot's holders are what the fork must come to; two in one mutex were let in by something else.
    void unplayableSnapshotIsNotPredicted()
    {
        const auto lock = rehearsedLock("zk-mutex", {"Hx", "Hx", "wx"});
        const auto plan = operate::planForceRelease(lock, lock.contenders.front().id);
        const auto said = rehearse::rehearse(*plan);
        QVERIFY(said);
        QVERIFY(said->next == Next::NotKnown && !said->nextHolder && !said->woken);
        QVERIFY(said->assumed.join(u'|').contains("so the result is unknown"_L1));
        const auto election = rehearsedLock("zk-election", {"Hx", "wx"});
        const auto refused = rehearse::rehearse(*operate::planForceRelease(election, election.contenders.front().id));
        QVERIFY(!refused);
        QVERIFY(refused.error().code == ErrorCode::Unsupported);
    }

    void otherLocksLostAreThoseOfThePlan()
    {
        const auto lock = rehearsedLock("sql-get-lock", {"Hx", "wx"});
        auto plan = *operate::planForceRelease(lock, lock.contenders.front().id);
        plan.otherLocksLost = {"GET_LOCK#other"};
        plan.otherLocksKnown = true;
        const auto said = rehearse::rehearse(plan);
        QVERIFY(said);
        QCOMPARE(said->alsoLost.size(), size_t(1));
        QCOMPARE(sentenceOf(*said, lock),
                 QStringLiteral("%1 gets it next; 1 client is woken; also lost: zk:GET_LOCK#other")
                     .arg(QString::fromLatin1(lock.contenders[1].id)));
    }
};

LOCKSCOPE_TEST(TestRehearsal)
#include "tst_rehearsal.moc"
