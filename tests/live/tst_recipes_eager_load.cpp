// SPDX-License-Identifier: Apache-2.0
// The eager mutex under load: several sessions, attempts that are abandoned, and an operator who removes
// waiters' nodes. One holder at a time, in the order of the queue.
#include "core/async/sleep.h"
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

#include <set>

using namespace lockscope;
using namespace lockscope::testing;

namespace {

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

class TestRecipesEagerLoad : public RecipeFixture {
    Q_OBJECT

private slots:
    // A third of the attempts give up, and somebody removes waiters' nodes.
    void oneAtATime()
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

LOCKSCOPE_TEST(TestRecipesEagerLoad)
#include "tst_recipes_eager_load.moc"
