// SPDX-License-Identifier: Apache-2.0
// Very many contenders on the simulated ZooKeeper: lists that cost nothing to hand out, and the decision that is
// made from the end of a list instead of all of it.
#include "core/async/scope.h"
#include "core/async/completion.h"
#include "core/recipes/make.h"
#include "core/recipes/zookeeper/queueentry.h"
#include "core/simservers/zookeeper/ensemble.h"
#include "core/zookeeper/session.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/testmain.h"

#include <algorithm>

namespace {

// Writes down how long who joined a queue took from the list that told its place to its first watch.
class NotesItsLeisure : public zk::ForwardingSession {
public:
    using ForwardingSession::ForwardingSession;
    void send(Request &&request) override
    {
        if (std::holds_alternative<Asked<zk::CreateRequest>>(request))
            m_isJoining = true;
        else if (std::holds_alternative<Asked<zk::GetRequest>>(request) && std::exchange(m_isJoining, false))
            m_waits.push_back(loop().now() - m_listed);
        if (const auto *const list = std::get_if<Asked<zk::ChildrenRequest>>(&request); list && m_isJoining)
            list->reply.observe([this](const Result<zk::Children> &) { m_listed = loop().now(); });
        ForwardingSession::send(std::move(request));
    }
    [[nodiscard]] const std::vector<Duration> &waits() const { return m_waits; }

private:
    bool m_isJoining = false;
    Instant m_listed;
    std::vector<Duration> m_waits;
};

} // namespace

class TestSimulatedZooKeeperCrowd : public QObject {
    Q_OBJECT

    struct Contender {
        ZooKeeperWorld::Client client;
        std::unique_ptr<recipes::Lock> lock;
        std::unique_ptr<Scope> scope; // last: its coroutines use the lock
    };
    int m_inside = 0;
    std::vector<qint64> m_tokens; // as they were granted

    Task<void> passThrough(Contender *contender)
    {
        const auto got = co_await contender->lock->acquire(Deadline::never());
        if (!got)
            qFatal("%s", qPrintable(got.error().message));
        m_tokens.push_back(++m_inside == 1 ? *got->fencingToken : -1);
        const auto held = sleepFor(*contender->client.process, 50ms);
        co_await held;
        --m_inside;
        const auto given = co_await contender->lock->release(Deadline::never());
        if (!given)
            qFatal("%s", qPrintable(given.error().message));
    }
    // Again and again, held for no time.
    Task<void> passThroughOften(Contender *contender, int times, std::vector<Instant> *grants)
    {
        for (int i = 0; i < times; ++i) {
            const auto got = co_await contender->lock->acquire(Deadline::never());
            if (!got || ++m_inside != 1)
                qFatal("not granted, or not alone");
            grants->push_back(contender->client.process->now());
            m_tokens.push_back(*got->fencingToken);
            --m_inside;
            const auto given = co_await contender->lock->release(Deadline::never());
            if (!given)
                qFatal("%s", qPrintable(given.error().message));
        }
    }
    static NodeName numbered(const char *base, int number)
    {
        return NodeName(base + QByteArray::number(number).rightJustified(10, '0'));
    }

private slots:
    void aListStaysAsItWas();
    void namesAreKnownToAscendOnlyWhenTheyDo();
    void theEndOfAListDecidesAsTheWholeDoes();
    void aLongQueueDrains_data();
    void aLongQueueDrains();
    void theEagerMutexIsInNoHurryFarBehind();
};

void TestSimulatedZooKeeperCrowd::aListStaysAsItWas()
{
    for (quint64 seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        keeper::NameLog log;
        std::vector<NodeName> names;
        std::vector<std::pair<zk::NameList, std::vector<NodeName>>> lists;
        for (int i = 0; i < 300; ++i) {
            const auto dice = random.below(10);
            if (dice < 5 || names.empty()) {
                names.push_back(numbered("n-", i));
                log.append(names.back());
            } else {
                // Mostly the first one, as in a queue.
                const auto at = names.begin() + std::ptrdiff_t(dice < 9 ? 0 : random.below(names.size()));
                log.remove(*at);
                names.erase(at);
            }
            if (log.isStale())
                log.renew(names);
            lists.emplace_back(log.list(), names);
            QVERIFY(log.list().ascends());
        }
        for (const auto &[list, then] : lists)
            QCOMPARE(list.toVector(), then);
    }
}

void TestSimulatedZooKeeperCrowd::namesAreKnownToAscendOnlyWhenTheyDo()
{
    const auto ascends = [](const std::vector<NodeName> &names) {
        keeper::NameLog log;
        for (const auto &name : names)
            log.append(name);
        return log.list().ascends();
    };
    QVERIFY(ascends({}));
    QVERIFY(ascends({numbered("a-", 1), numbered("b-", 2), numbered("", 7)}));
    QVERIFY(!ascends({numbered("a-", 2), numbered("a-", 1)}));
    QVERIFY(!ascends({numbered("a-", 2), numbered("b-", 2)}));
    QVERIFY(!ascends({numbered("a-", 1), NodeName("leases"), numbered("a-", 2)}));
    QVERIFY(!ascends({numbered("a-", 1), NodeName("a--2147483648")}));
    QVERIFY(!ascends({numbered("a-", 1), NodeName("a-9999999999")}));
    QVERIFY(!ascends({NodeName("a--000000005"), numbered("a-", 1)}));
}

void TestSimulatedZooKeeperCrowd::theEndOfAListDecidesAsTheWholeDoes()
{
    const QByteArrayList bases{"lock-", "__lock__"};
    int waits = 0;
    for (quint64 seed = 1; seed <= 500; ++seed) {
        Random random(seed);
        auto names = std::make_shared<std::vector<NodeName>>();
        static constexpr const char *kinds[] = {"_c_1-lock-", "lock-", "x__lock__", "lease-", "_c_2-lock-"};
        for (int number = 0; names->size() < 12; number += 1 + static_cast<int>(random.below(3)))
            names->push_back(numbered(kinds[random.below(std::size(kinds))], number));
        const auto begin = random.below(3);
        const recipes::Listed quick{{names, begin, names->size(), true}, {}};
        const recipes::Listed slow{quick.names.toVector(), {}};
        const int permits = 1 + static_cast<int>(random.below(4));
        for (const auto &me : *names) {
            const auto some = recipes::contendersBefore(quick, bases, me, permits);
            const auto turn = recipes::turnInQueue(some, me, permits);
            const auto expected = recipes::turnInQueue(recipes::contendersIn(slow, bases), me, permits);
            QCOMPARE(turn.kind, expected.kind);
            QCOMPARE(turn.predecessor, expected.predecessor);
            waits += turn.predecessor ? 1 : 0;
        }
    }
    QVERIFY(waits > 1000);
}

void TestSimulatedZooKeeperCrowd::aLongQueueDrains_data()
{
    addColumns<int, bool>("contenders", "isHerd");
    const auto many = qEnvironmentVariableIntValue("LOCKSCOPE_CROWD"); // to see what a larger one costs
    QTest::newRow("zk-mutex") << (many > 0 ? many : 2'000) << false;
    QTest::newRow("zk-herd-mutex") << (many > 0 ? std::min(many, 2'000) : 200) << true;
}

// Each one waits for the one before it; or every one is told of every other that goes.
void TestSimulatedZooKeeperCrowd::aLongQueueDrains()
{
    QFETCH(int, contenders);
    QFETCH(bool, isHerd);
    m_tokens.clear();
    ZooKeeperWorld world(3);
    QVERIFY(world.make(world.open(), "/locks"));
    std::vector<Contender> crowd(static_cast<std::size_t>(contenders));
    for (auto &contender : crowd) {
        contender.client = world.begin();
        contender.scope = std::make_unique<Scope>(*contender.client.process);
        contender.lock = *recipes::makeLock(QTest::currentDataTag(), *contender.client.session, ZPath("/locks/it"),
                                            {}, Random(m_tokens.size()));
    }
    world.loop.advance(10ms);
    for (auto &contender : crowd)
        contender.scope->launch(passThrough(&contender));
    world.loop.advance(45ms); // all queue, the first still holds
    QCOMPARE(m_tokens.size(), std::size_t(1));
    const auto requests = world.ensemble.requestCount();
    const auto events = world.ensemble.eventCount();
    world.loop.advance(contenders * 60ms);
    QCOMPARE(m_tokens.size(), crowd.size());
    QVERIFY(m_tokens.front() > 0);
    QVERIFY(std::is_sorted(m_tokens.begin(), m_tokens.end()));
    const qint64 n = contenders;
    QCOMPARE(world.ensemble.requestCount() - requests, isHerd ? n + n * (n - 1) / 2 : 2 * n - 1);
    // In the herd the holder, too, still has a watch, all but the very first: each of them hears of its own going.
    QCOMPARE(world.ensemble.eventCount() - events, isHerd ? n * (n - 1) / 2 + n - 1 : n - 1);
    QVERIFY(world.ensemble.below(ZPath("/locks/it")).empty());
}

// Who has joined far behind begins to watch when a hand-off is not just under way. That takes no time from anybody:
// each hand-off is one round trip all the same.
void TestSimulatedZooKeeperCrowd::theEagerMutexIsInNoHurryFarBehind()
{
    constexpr std::size_t times = 10;
    m_tokens.clear();
    ZooKeeperWorld world(5);
    QVERIFY(world.make(world.open(), "/locks"));
    QVERIFY(world.make(world.open(), "/locks/it"));
    world.network.setJudge([](const Message &) { return Delivery{false, 300us}; }); // 1 to 1.2 ms there and back
    std::vector<std::unique_ptr<NotesItsLeisure>> sessions;
    std::vector<Contender> crowd(8);
    std::vector<Instant> grants;
    for (auto &contender : crowd) {
        contender.client = world.open();
        sessions.push_back(std::make_unique<NotesItsLeisure>(*contender.client.session));
        contender.scope = std::make_unique<Scope>(*contender.client.process);
        contender.lock =
            *recipes::makeLock("zk-eager-mutex", *sessions.back(), ZPath("/locks/it"), {}, Random(sessions.size()));
    }
    for (auto &contender : crowd)
        contender.scope->launch(passThroughOften(&contender, times, &grants));
    const auto all = times * crowd.size();
    QVERIFY(world.waitFor([&] { return grants.size() == all; }));
    QVERIFY(std::is_sorted(m_tokens.begin(), m_tokens.end()));
    // A list that is told of the turn may have been asked for 0.1 ms after it.
    for (std::size_t i = 1; i < all; ++i)
        QVERIFY2(grants[i] - grants[i - 1] <= 1300us, qPrintable(QString::number(i)));
    int leisurely = 0;
    for (const auto &session : sessions) {
        for (const auto wait : session->waits()) {
            QVERIFY(wait == 0us || wait == 1ms || wait == 2ms);
            leisurely += wait > 0us ? 1 : 0;
        }
    }
    QVERIFY2(leisurely > int(all) * 3 / 4, qPrintable(QString::number(leisurely)));
    QVERIFY(world.waitFor(
        [&] { return std::ranges::all_of(crowd, [](const auto &contender) { return contender.scope->isIdle(); }); }));
}

LOCKSCOPE_TEST(TestSimulatedZooKeeperCrowd)
#include "tst_zookeeper_crowd.moc"
