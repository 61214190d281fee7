// SPDX-License-Identifier: Apache-2.0
// The eager mutex on a real server: what it saves, and that it never believes too much. It takes its turn
// on the word of an event; each test here takes away one of the reasons why it may.
#include "core/async/completion.h"
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

#include <set>

namespace {

// A server that, after a reconnect, tells of one node last: of the first that is watched, which is our own.
class TellsOfItLast : public testing::FaultySession {
public:
    using FaultySession::FaultySession;
    void send(Request &&request) override
    {
        if (auto *const get = std::get_if<Asked<zk::GetRequest>>(&request))
            delay(get->request);
        FaultySession::send(std::move(request));
    }
    [[nodiscard]] bool knows() const { return !m_kept->empty(); }
    void tell()
    {
        for (const auto &call : std::exchange(*m_kept, {}))
            call();
    }

private:
    void delay(zk::GetRequest &request)
    {
        if (!m_first)
            m_first = request.path;
        if (!request.watch || request.path != *m_first)
            return;
        zk::Watch late(loop());
        late.event().then([told = *request.watch, kept = m_kept](const zk::WatchEvent &event) {
            kept->push_back([told, event] { told.event().complete(event); });
        });
        request.watch = late;
    }

    std::optional<ZPath> m_first;
    std::shared_ptr<std::vector<std::function<void()>>> m_kept =
        std::make_shared<std::vector<std::function<void()>>>();
};

struct Load {
    Loop *loop;
    std::set<QByteArray> inside;    // nodes of those who believe that they hold
    std::set<QByteArray> condemned; // nodes that the operator removes or has removed
    qint64 lastToken = 0;
    int grants = 0, abandoned = 0, removals = 0, overlaps = 0, outOfOrder = 0, failures = 0;

    void enter(const recipes::Grant &grant)
    {
        ++grants;
        inside.insert(grant.id);
        // A removed node may have come to its turn just before: then its owner believes for a while, as after
        // any force-release. (That it believes nothing else is tested step by step, not under load.) All
        // others are alone, and come in the order of the queue.
        if (condemned.contains(grant.id))
            return;
        for (const auto &other : inside)
            overlaps += other == grant.id || condemned.contains(other) ? 0 : 1;
        outOfOrder += *grant.fencingToken > lastToken ? 0 : 1;
        lastToken = *grant.fencingToken;
    }
};

Task<void> contend(recipes::Lock *lock, Load *load, int rounds, int impatient, Random random)
{
    for (int i = 0; i < rounds; ++i) {
        const bool hurries = int(random.below(100)) < impatient;
        const auto deadline = hurries ? Deadline::after(*load->loop, std::chrono::milliseconds(1 + random.below(15)))
                                      : Deadline::never();
        const auto grant = co_await lock->acquire(deadline);
        if (!grant) {
            if (hurries && grant.error().code == ErrorCode::TimedOut)
                ++load->abandoned;
            else
                ++load->failures;
            continue;
        }
        load->enter(*grant);
        auto pause = sleepFor(*load->loop, 1ms);
        co_await pause;
        load->inside.erase(grant->id);
        const auto never = Deadline::never();
        const auto released = co_await lock->release(never);
        if (!released && !load->condemned.contains(grant->id))
            ++load->failures;
    }
}

// Removes one of those that are two or more places away from their turn, again and again.
Task<void> interfere(zk::Session *session, ZPath directory, Load *load, Random random)
{
    for (;;) {
        auto pause = sleepFor(*load->loop, 3ms);
        co_await pause;
        const auto soon = Deadline::after(*load->loop, 15s);
        auto listing = session->children(directory, std::nullopt, soon);
        const auto listed = co_await listing;
        if (!listed || listed->names.size() < 4)
            continue;
        auto names = listed->names.toVector();
        std::ranges::sort(names, {}, [](const NodeName &name) { return name.bytes().last(10); });
        const NodeName victim = names[2 + random.below(names.size() - 2)];
        load->condemned.insert(victim.bytes());
        auto removing = session->remove(directory.child(victim), zk::anyVersion, soon);
        const auto gone = co_await removing;
        load->removals += gone ? 1 : 0;
    }
}

} // namespace

class TestRecipesEager : public RecipeFixture {
    Q_OBJECT

    // By number, as they queue.
    QByteArrayList queue()
    {
        auto names = nodes();
        std::sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return a.last(10) < b.last(10); });
        return names;
    }
    bool queued(int n) { return prepare("zk-eager-mutex", n) && queueUp(n); }
    bool isQuiet(int i)
    {
        return QTest::qWaitFor([&] { return counting(i).isIdle(); }, 20'000);
    }
    // The waiter has noticed that its node is gone and stands at the end of the queue again.
    bool hasJoinedAgain(int i, int creates, int nodesNow)
    {
        return QTest::qWaitFor(
            [&] {
                return counting(i).count(RequestKind::Create) == creates && counting(i).isIdle()
                       && nodes().size() == nodesNow;
            },
            20'000);
    }
    bool releases(int i)
    {
        contender(i).release();
        return QTest::qWaitFor([&] { return contender(i).released.has_value(); }, 20'000) && *contender(i).released;
    }
    bool takesAwayInOneTransaction(const QByteArrayList &ids)
    {
        std::vector<zk::Op> ops;
        for (const auto &id : ids) {
            ops.push_back({.kind = zk::Op::Kind::Remove, .path = nodeOf(id)});
        }
        return bool(await(m_admin->multi(ops, soon())));
    }

private slots:
    void theEventAloneGrants()
    {
        QVERIFY(queued(2));
        QCOMPARE(counting(1).spoken(), QByteArray("create 1, get 2, children 1"));
        QCOMPARE(counting(1).roundTrips(), 2); // create and list together, both watches together
        counting(1).reset();
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(counting(1).requests(), 0);
        QCOMPARE(counting(1).events(), 1);
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->id});
        QVERIFY(releases(1));
        QTRY_COMPARE(counting(1).events(), 2); // it hears of its own node, too
    }

    void theListComesBeforeTheTurn()
    {
        QVERIFY(queued(4));
        for (int i = 0; i < 4; ++i)
            counting(i).reset();
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(1).holds());
        // The third learns now that the second is the lowest; the fourth hears nothing.
        QTRY_COMPARE(counting(2).count(RequestKind::Children), 1);
        QVERIFY(isQuiet(2));
        QVERIFY(!contender(2).granted);
        QCOMPARE(counting(2).spoken(), QByteArray("children 1"));
        QCOMPARE(counting(3).events(), 0);
        QVERIFY(releases(1));
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(2).spoken(), QByteArray("children 1"));
        QCOMPARE(counting(2).events(), 2);
    }

    // An operator removes the waiter's own node, then the holder's. The event of the second would make two
    // holders: the one that believes it, and the one behind it.
    void ownNodeGoesThenThePredecessor_data()
    {
        addRows<bool>("atOnce", {{"one after the other", false}, {"in one transaction", true}});
    }
    void ownNodeGoesThenThePredecessor()
    {
        QFETCH(bool, atOnce);
        QVERIFY(prepare("zk-eager-mutex", 3));
        for (int round = 1; round <= 10; ++round) {
            for (int i = 0; i < 3; ++i)
                counting(i).reset();
            QVERIFY(queueUp(3));
            const auto all = queue();
            if (atOnce) {
                QVERIFY(takesAwayInOneTransaction({all[1], all[0]}));
            } else {
                const auto own = m_admin->remove(nodeOf(all[1]), zk::anyVersion, soon());
                QVERIFY(await(m_admin->remove(nodeOf(all[0]), zk::anyVersion, soon()))); // right behind it
                QVERIFY(await(own));
            }
            QTRY_VERIFY(contender(2).holds());
            QVERIFY(hasJoinedAgain(1, 2, 2));
            QVERIFY(!contender(1).granted);
            QCOMPARE(contender(0).codeOfRelease(), int(ErrorCode::NotHeld));
            QVERIFY(releases(2));
            QTRY_VERIFY(contender(1).holds());
            QVERIFY((*contender(1).granted)->id != all[1]);
            QVERIFY(releases(1));
        }
    }

    // The one before us is only a waiter: that it goes means nothing.
    void aPredecessorThatOnlyWaitedGoes()
    {
        QVERIFY(queued(3));
        const auto all = queue();
        QVERIFY(takeAway(all[1]));
        QVERIFY(hasJoinedAgain(1, 2, 3));
        QTRY_COMPARE(counting(2).count(RequestKind::Children), 2);
        QVERIFY(isQuiet(2));
        QVERIFY(!contender(2).granted);
        QCOMPARE(counting(2).spoken(), QByteArray("create 1, get 3, children 2"));
        // It knows now that it is the next one, and watches the holder already.
        counting(2).reset();
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE((*contender(2).granted)->id, all[2]);
        QCOMPARE(counting(2).requests(), 0);
        QVERIFY(!contender(1).granted);
        QVERIFY(releases(2));
        QTRY_VERIFY(contender(1).holds());
    }

    // After a reconnect the server tells of what was missed in any order.
    void cutOffWhileBothGo()
    {
        QVERIFY(prepare("zk-eager-mutex", 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(add(m_server->address()));
        for (int round = 1; round <= 8; ++round) {
            for (int i = 0; i < 3; ++i)
                counting(i).reset();
            QVERIFY(queueUp(3));
            const auto all = queue();
            m_cable->cut();
            QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
            QVERIFY(takeAway(all[1]));
            QVERIFY(takeAway(all[0]));
            QTRY_VERIFY(contender(2).holds());
            m_cable->mend();
            QVERIFY(hasJoinedAgain(1, 2, 2));
            QVERIFY(!contender(1).granted);
            contender(0).release();
            QTRY_VERIFY(contender(0).released);
            QVERIFY(releases(2));
            QTRY_VERIFY(contender(1).holds());
            QVERIFY(releases(1));
        }
    }

    void cutOffWhileBothGoAndToldInTheWrongOrder()
    {
        QVERIFY(prepare("zk-eager-mutex", 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(add(m_server->address()));
        TellsOfItLast session(counting(1));
        auto made = recipes::makeLock(m_recipe, session, m_path, {}, Random(11));
        QVERIFY(made);
        contender(1).lock = std::move(*made);
        QVERIFY(queueUp(3));
        const auto all = queue();
        counting(1).reset();
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        QVERIFY(takeAway(all[1]));
        QVERIFY(takeAway(all[0]));
        QTRY_VERIFY(contender(2).holds());
        m_cable->mend();
        QTRY_VERIFY(session.knows() && counting(1).events() >= 2);
        // The holder's end is all that the recipe was told of.
        QVERIFY(hasJoinedAgain(1, 1, 2));
        QVERIFY(!contender(1).granted);
        session.tell();
        QVERIFY(isQuiet(1));
        QVERIFY(!contender(1).granted);
        QVERIFY(releases(2));
        QTRY_VERIFY(contender(1).holds());
        contender(1).lock.reset();
    }

    void aReconnectIsFollowedByAList()
    {
        QVERIFY(prepare("zk-eager-mutex", 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(2));
        counting(1).reset();
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        QTRY_COMPARE(counting(1).spoken(), QByteArray("children 1"));
        QVERIFY(isQuiet(1));
        // From there on the event is enough again; the watches came along.
        QVERIFY(!contender(1).granted);
        counting(1).reset();
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(counting(1).requests(), 0);
    }

    // Data written to our own node spends the watch on it: it is set again before anything is believed.
    void ownDataChangesThenBothGo()
    {
        QVERIFY(queued(3));
        const auto all = queue();
        counting(1).reset();
        QVERIFY(await(m_admin->set(nodeOf(all[1]), "__REVOKE__", zk::anyVersion, soon())));
        QTRY_COMPARE(counting(1).count(RequestKind::Get), 1);
        QVERIFY(isQuiet(1));
        QCOMPARE(counting(1).requests(), 1);
        QVERIFY(!contender(1).granted);
        // And once more, with the new watch held back until both nodes are gone.
        faulty(1).plan(RequestKind::Get, 1, RequestFault::HoldRequest);
        QVERIFY(await(m_admin->set(nodeOf(all[1]), "again", zk::anyVersion, soon())));
        QTRY_COMPARE(counting(1).count(RequestKind::Get), 2);
        QVERIFY(takeAway(all[1]));
        QVERIFY(takeAway(all[0]));
        QTRY_VERIFY(contender(2).holds());
        faulty(1).letThrough();
        QVERIFY(hasJoinedAgain(1, 1, 2)); // reset above: the second create is the first counted
        QVERIFY(!contender(1).granted);
        QVERIFY(releases(2));
        QTRY_VERIFY(contender(1).holds());
    }

    // A watch whose answer is lost may or may not be there: it is asked for again, behind a new list.
    void aWatchesReplyIsLost_data()
    {
        addColumns<int, int>("which", "fate");
        for (const int which : {1, 2, 3}) {
            QTest::addRow("watch %d, reply lost", which) << which << int(RequestFault::LoseReply);
            QTest::addRow("watch %d, request lost", which) << which << int(RequestFault::LoseRequest);
        }
    }
    void aWatchesReplyIsLost()
    {
        QFETCH(int, which);
        QFETCH(int, fate);
        QVERIFY(prepare("zk-eager-mutex", 3));
        QVERIFY(queueUp(2));
        faulty(2).plan(RequestKind::Get, which, RequestFault(fate));
        contender(2).acquire();
        QTRY_COMPARE(counting(2).count(RequestKind::Get), 4);
        QVERIFY(isQuiet(2));
        QCOMPARE(counting(2).spoken(), QByteArray("create 1, get 4, children 2"));
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(1).holds());
        QTRY_COMPARE(counting(2).count(RequestKind::Children), 3);
        QVERIFY(isQuiet(2));
        QVERIFY(!contender(2).granted);
        counting(2).reset();
        QVERIFY(releases(1));
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(2).requests(), 0);
        QCOMPARE(nodes(), QByteArrayList{(*contender(2).granted)->id});
    }

    // Anyone with Curator's names queues with it, and it with them: here the lazy one of the same layout.
    void takesTurnsWithTheLazyOne()
    {
        QVERIFY(prepare("zk-eager-mutex", 3));
        m_contenders[1] = contenderWith(*m_clients[1], "zk-mutex", m_path, 77);
        QVERIFY(contender(0).takes());
        for (int i = 1; i < 3; ++i) {
            contender(i).acquire();
            QTRY_COMPARE(nodes().size(), i + 1);
            QTRY_VERIFY(counting(i).count(RequestKind::Get) >= 1);
            QVERIFY(isQuiet(i));
        }
        for (int i = 0; i < 3; ++i) {
            QTRY_VERIFY(contender(i).holds());
            QVERIFY(i == 2 || !contender(i + 1).granted);
            QVERIFY(releases(i));
        }
        QCOMPARE(nodes().size(), 0);
    }

    // Several sessions, a third of the attempts give up, and an operator removes waiters' nodes: one holder at a
    // time, in the order of the queue.
    void oneAtATimeUnderLoad()
    {
        constexpr int impatient = 33; // of a hundred attempts
        constexpr int sessions = 4, perSession = 2, rounds = 40;
        QVERIFY(prepare("zk-eager-mutex", sessions));
        Load load{&m_loop, {}, {}};
        {
            Scope disturbing(m_loop);
            Scope working(m_loop);
            std::vector<std::unique_ptr<recipes::Lock>> locks;
            for (int i = 0; i < sessions * perSession; ++i) {
                auto made = recipes::makeLock(m_recipe, counting(i % sessions), m_path, {}, Random(900 + quint64(i)));
                QVERIFY(made);
                locks.push_back(std::move(*made));
                working.launch(contend(locks.back().get(), &load, rounds, impatient, Random(50 + quint64(i))));
            }
            disturbing.launch(interfere(m_admin.get(), m_path, &load, Random(3)));
            QTRY_VERIFY_WITH_TIMEOUT(working.isIdle(), 120'000);
        }
        QCOMPARE(load.failures, 0);
        QCOMPARE(load.overlaps, 0);
        QCOMPARE(load.outOfOrder, 0);
        QCOMPARE(load.grants + load.abandoned, sessions * perSession * rounds);
        QVERIFY(load.grants > rounds);
        QVERIFY(load.abandoned > 0);
        QVERIFY(load.removals > 0);
        QTRY_COMPARE(nodes().size(), 0);
    }
};

LOCKSCOPE_TEST(TestRecipesEager)
#include "tst_recipes_eager.moc"
