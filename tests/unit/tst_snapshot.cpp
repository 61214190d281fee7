// SPDX-License-Identifier: Apache-2.0
// Snapshots as values, as JSON and as a sentence; names that say lock.
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/inspect/lockterms.h"
#include "tests/support/testmain.h"

#include <QJsonDocument>
#include <QRegularExpression>

using namespace lockscope::inspect;

namespace {

const ServerTime observedAt{std::chrono::milliseconds(1700000000123)};

Contender one(const QByteArray &id, Role role, int position)
{
    return Contender{.id = id, .role = role, .position = position};
}

// With single quotes: moc 6.4 loses its way in a raw string of double ones.
QJsonObject json(QByteArray text)
{
    return QJsonDocument::fromJson(text.replace('\'', '"')).object();
}

LockSnapshot orders()
{
    LockSnapshot lock{.lock = {ConnectionName("zk"), "/locks/orders"}};
    lock.recipe = "kazoo-lock";
    lock.client = u"kazoo"_s;
    lock.why = u"2 ephemeral children"_s;
    lock.confidence = Confidence::High;
    lock.state = LockState::Contended;
    lock.observed = observedAt;
    Contender holder = one("a-0", Role::Holder, 0);
    holder.session = u"0x1000009b4890001"_s;
    holder.endpoint = u"10.0.3.7:56332"_s;
    holder.identity = "host\x1b[1m";
    holder.heldSince = observedAt - 252s;
    holder.heldAtMost = true;
    Contender waiter = one("b-1", Role::Waiter, 1);
    waiter.waitingSince = observedAt - 238s;
    waiter.expiresAt = observedAt + 5s;
    waiter.watches = {{"a-0", false, inspect::Evidence::Server}, {{}, true, inspect::Evidence::Inferred}};
    lock.contenders = {holder, waiter};
    lock.findings = {{FindingCode::Herd, Severity::Info, u"1 release wakes 2"_s, {"b-1"}}};
    return lock;
}

} // namespace

class TestSnapshot : public QObject {
    Q_OBJECT
private slots:
    void isTheDocumentedJson()
    {
        const auto expected = json(R"({
            'lock': 'zk:/locks/orders', 'backend': 'zookeeper', 'recipe': 'kazoo-lock', 'client': 'kazoo',
            'why': '2 ephemeral children', 'confidence': 'high', 'state': 'contended',
            'observed': '2023-11-14T22:13:20.123Z',
            'findings': [{'code': 'herd', 'severity': 'info', 'message': '1 release wakes 2', 'contenders': ['b-1']}],
            'contenders': [
              {'id': 'a-0', 'role': 'holder', 'mode': 'exclusive', 'position': 0, 'session': '0x1000009b4890001',
               'endpoint': '10.0.3.7:56332', 'identity': 'host\\x1B[1m', 'reentry': 1, 'heldMs': 252000,
               'heldAtMost': true, 'waitingMs': null, 'ttlMs': null, 'watches': []},
              {'id': 'b-1', 'role': 'waiter', 'mode': 'exclusive', 'position': 1, 'session': null,
               'endpoint': null, 'identity': null, 'reentry': 1, 'heldMs': null, 'waitingMs': 238000, 'ttlMs': 5000,
               'watches': [{'target': 'a-0', 'evidence': 'server'}, {'target': 'children', 'evidence': 'inferred'}]}
            ]})");
        QVERIFY(!expected.isEmpty());
        const auto actual = toJson(orders());
        for (const auto &key : expected.keys())
            QVERIFY2(actual.value(key) == expected.value(key), qPrintable(key));
        QCOMPARE(actual, expected);
    }

    void escapesNamesAndIds()
    {
        auto lock = orders();
        lock.lock.name = "/a\nb\\";
        lock.contenders[0].id = "\xff";
        const auto json = toJson(lock);
        QCOMPARE(json["lock"_L1].toString(), u"zk:/a\\x0Ab\\\\"_s);
        QCOMPARE(json["contenders"_L1][0]["id"_L1].toString(), u"\\xFF"_s);
    }

    void agesAreNeverNegative()
    {
        auto lock = orders();
        lock.contenders[0].heldSince = observedAt + 3ms;
        lock.contenders[1].expiresAt = observedAt - 1s;
        const QJsonArray contenders = toJson(lock)["contenders"_L1].toArray();
        QCOMPARE(contenders[0]["heldMs"_L1].toInt(-1), 0);
        QCOMPARE(contenders[1]["ttlMs"_L1].toInt(-1), 0);
    }

    void saysSessionsAndCoverage()
    {
        SessionSnapshot session{.connection = ConnectionName("zk"),
                                .session = u"0x1"_s,
                                .holds = {"/locks/a"},
                                .expiresAt = observedAt + 2s};
        const QJsonObject expected{{u"session"_s, u"0x1"_s},
                                   {u"connection"_s, u"zk"_s},
                                   {u"endpoint"_s, QJsonValue()},
                                   {u"client"_s, QJsonValue()},
                                   {u"holds"_s, QJsonArray{u"/locks/a"_s}},
                                   {u"waits"_s, QJsonArray()},
                                   {u"expiresMs"_s, 2000}};
        QCOMPARE(toJson(session, observedAt), expected);
        const auto coverage = toJson(std::vector<Coverage>{{ConnectionName("zk"), false, u"watches: 1 of 3"_s}});
        QCOMPARE(coverage[0]["complete"_L1].toBool(true), false);
        QCOMPARE(coverage[0]["message"_L1].toString(), u"watches: 1 of 3"_s);
    }

    void countsAndFinds()
    {
        auto lock = orders();
        QCOMPARE(lock.holderCount(), 1);
        QCOMPARE(lock.waiterCount(), 1);
        QCOMPARE(lock.worst(), Severity::Info);
        lock.findings.push_back({FindingCode::NoTtl, Severity::Critical, {}, {}});
        lock.findings.push_back({FindingCode::LongWait, Severity::Warning, {}, {}});
        QCOMPARE(lock.worst(), Severity::Critical);
        QCOMPARE(lock.find("b-1"), &lock.contenders[1]);
        QVERIFY(!lock.find("c"));
    }

    // Holders and waiters by their modes, and which of them gets in when the first waiter gives up.
    void knowsWhomAWaiterKeepsOut_data()
    {
        const Rows<QByteArray, QByteArray, int> row("holders", "waiters", "in");
        row("two readers behind an ALTER", "rr", "wrr", 2);
        row("up to the next writer", "r", "wrwr", 1);
        row("a writer holds", "w", "wrr", 0);
        row("nobody behind it", "r", "w", 0);
        row("a writer behind it", "r", "ww", 0);
    }
    void knowsWhomAWaiterKeepsOut()
    {
        QFETCH(QByteArray, holders);
        QFETCH(QByteArray, waiters);
        QFETCH(int, in);
        LockSnapshot lock = orders();
        lock.contenders.clear();
        for (const auto mode : holders + waiters) {
            const int place = int(lock.contenders.size());
            auto next = one(QByteArray::number(place), place < holders.size() ? Role::Holder : Role::Waiter, place);
            next.mode = mode == 'r' ? Mode::Read : Mode::Write;
            lock.contenders.push_back(next);
        }
        const auto first = lock.contenders[size_t(holders.size())].id;
        const auto letIn = lock.waitersGrantedWithout(first);
        QCOMPARE(int(letIn.size()), in);
        if (in > 0)
            QCOMPARE(letIn.front(), &lock.contenders[size_t(holders.size()) + 1]);
        if (waiters.endsWith('r'))
            QVERIFY2(lock.waitersGrantedWithout(lock.contenders.back().id).empty(), "a reader keeps nobody out");
    }

    void knowsWhoIsNext()
    {
        auto lock = orders();
        QCOMPARE(lock.nextAfter("a-0"), &lock.contenders[1]);
        QVERIFY2(!lock.nextAfter("b-1"), "a waiter that gives up lets nobody in");
        lock.contenders[1].position.reset();
        QVERIFY2(!lock.nextAfter("a-0"), "no order, no next");

        LockSnapshot shared = orders();
        shared.contenders[0].mode = Mode::Read;
        auto second = one("r-1", Role::Holder, 1);
        second.mode = Mode::Read;
        shared.contenders.insert(shared.contenders.begin() + 1, second);
        QVERIFY2(!shared.nextAfter("a-0"), "the other reader still holds");
    }

    void answersInOneSentence_data()
    {
        const Rows<LockSnapshot, QString> row("lock", "sentence");

        auto lock = orders();
        lock.contenders[0].heldAtMost = false;
        for (int i = 2; i < 4; ++i) {
            auto waiter = one("w", Role::Waiter, i);
            waiter.waitingSince = observedAt - 1s;
            lock.contenders.push_back(waiter);
        }
        row("held, three wait", lock,
            u"/locks/orders is held by host\\x1B[1m (10.0.3.7) for 4 m 12 s; 3 wait, the oldest 3 m 58 s"_s);
        row("at most, one waits", orders(),
            u"/locks/orders is held by host\\x1B[1m (10.0.3.7) for at most 4 m 12 s; 1 waits, for 3 m 58 s"_s);

        auto free = orders();
        free.contenders.clear();
        free.state = LockState::Free;
        row("free", free, u"/locks/orders is free; no client waits"_s);

        auto unseen = orders();
        unseen.contenders.resize(1);
        unseen.waitersKnown = false;
        unseen.contenders[0].endpoint.reset();
        unseen.contenders[0].heldSince.reset();
        row("by identity, waiters unknown", unseen,
            u"/locks/orders is held by host\\x1B[1m; waiters are not visible"_s);
        unseen.contenders[0].identity.reset();
        unseen.findings = {{FindingCode::NoTtl, Severity::Critical, {}, {}}};
        row("no TTL", unseen,
            u"/locks/orders is held by session 0x1000009b4890001; waiters are not visible; "
            "it never expires by itself"_s);

        auto readers = orders();
        readers.contenders[0].mode = Mode::Read;
        readers.contenders[0].heldAtMost = false;
        row("one reader", readers,
            u"/locks/orders is held by reader host\\x1B[1m (10.0.3.7) for 4 m 12 s; 1 waits, for 3 m 58 s"_s);
        auto second = one("r", Role::Holder, 1);
        second.mode = Mode::Read;
        readers.contenders.insert(readers.contenders.begin(), second);
        row("readers", readers,
            u"/locks/orders is held by 2 readers, the longest for 4 m 12 s; 1 waits, for 3 m 58 s"_s);
        for (auto &contender : readers.contenders)
            contender.mode = Mode::Permit;
        readers.contenders.pop_back();
        row("permits", readers,
            u"/locks/orders is held by 2 permit holders, the longest for 4 m 12 s; no client waits"_s);

        LockSnapshot counter;
        counter.lock.name = "sem";
        counter.state = LockState::Held;
        counter.waitersKnown = false;
        counter.state = LockState::Contended;
        row("kept from all clients by no holder", counter, u"no client holds sem; waiters are not visible"_s);
        counter.state = LockState::Held;
        row("no owners on the wire", counter,
            u"sem is held by a client that is not visible; waiters are not visible"_s);
    }
    void answersInOneSentence()
    {
        QFETCH(LockSnapshot, lock);
        QFETCH(QString, sentence);
        QCOMPARE(answerSentence(lock, observedAt), sentence);
        static const QRegularExpression present(u"\\b(is|are|holds|waits?|expires)\\b"_s);
        const auto past = answerSentence(lock, observedAt, Tense::Past);
        QVERIFY2(!past.contains(present), qPrintable(past));
    }

    void namesThatSayLock_data()
    {
        const Rows<QByteArray, bool> row("name", "says");
        for (const char *name :
             {"lock",      "orders-lock", "lock:orders", "orderLock",  "OrderLock",     "LOCK_orders",
              "my.lock.7", "lock7",       "cron:mutex",  "lease/3",    "api_semaphore", "locks/orders",
              "HTTPLock",  "лиса:lock",   "shedlock",    "ordersLOCK", "SLocks",        "7Lease",
              "lock{",     "a:MUTEX:b",   "xSemaphoreY"})
            row(name, QByteArray(name), true);
        row("between bytes that are no text", QByteArray("\x02\x00\x00\x00lock\x9b\x00:orders", 17), true);
        row("behind bytes that are no text", QByteArray("\xac\xed\x00\x05t\x00\x04\xfflock", 12), true);
        row("before a byte that is no text", QByteArray("mutex\xff"), true);
        row("a part of a word between such bytes",
            QByteArray("\xff"
                       "block\xff"),
            false);
        for (const char *name :
             {"block", "clock", "release", "blockLister", "unlocked", "Clock", "orders", "", "flock:1", "locksmith",
              "semaphored", "BLOCK-7", "LOCKorders", "lOCK", "блокlock", "loc", "mute:x", "-", "sema:phore"})
            row(name[0] ? name : "empty", QByteArray(name), false);
    }
    void namesThatSayLock()
    {
        QFETCH(QByteArray, name);
        QFETCH(bool, says);
        QCOMPARE(saysLock(name), says);
    }
};

LOCKSCOPE_TEST(TestSnapshot)
#include "tst_snapshot.moc"
