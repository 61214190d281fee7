// SPDX-License-Identifier: Apache-2.0
// What the inspector says against what the clients know: random scenes of every recipe on simulated servers, and of
// some clients that are only recognized, stopped at a random moment. Who holds, who waits, in which order and behind
// whom is taken from the clients themselves. LOCKSCOPE_SCENES: how many scenes of each layout.
#include "rehearsalscenes.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <algorithm>
#include <set>

namespace {

constexpr int usualScenes = std::max(1, 12 / testing::sanitizerShare);
constexpr std::size_t leastLayouts = 25;
constexpr int actions = 24;
constexpr int mostClients = 8;

enum class Stage { Waits, Holds, Over, Died };

struct SceneClient {
    std::unique_ptr<recipes::Lock> lock;
    std::optional<recipes::Grant> grant;
    Stage stage = Stage::Waits;
    bool reads = false;
    QString problem;
};

class RandomScene {
public:
    RandomScene(const QByteArray &recipe, quint64 seed)
        : m_random(seed), m_recipe(recipes::recipeOf(recipe)), m_servers(sceneOf(recipe, seed))
    {
        m_scope = std::make_unique<Scope>(m_servers->loop());
        m_limit = m_recipe.counted && recipe != "curator-semaphore-mutex" ? 1 + int(m_random.below(3)) : 1;
        for (int i = 0; i < actions; ++i)
            act();
        m_servers->loop().advance(2s); // what was under way is done
    }
    ~RandomScene()
    {
        m_scope.reset();
        for (auto &client : m_clients)
            client->lock.reset();
    }
    RandomScene(const RandomScene &) = delete;
    RandomScene &operator=(const RandomScene &) = delete;

    // What is wrong with the snapshot; empty: nothing.
    [[nodiscard]] QString compare()
    {
        for (const auto &client : m_clients) {
            if (!client->problem.isEmpty())
                return client->problem;
        }
        const auto seen = m_servers->look();
        if (!seen && count(Stage::Holds) > 0)
            return u"somebody holds it, and the inspector says: "_s + seen.error().message;
        return seen ? compare(*seen) : QString();
    }
    [[nodiscard]] QString compare(const inspect::LockSnapshot &seen)
    {
        for (const auto &wrong : {wrongHolders(seen), wrongWaiters(seen), wrongOrder(seen), wrongEdges(seen)}) {
            if (!wrong.isEmpty())
                return wrong + u"; "_s + told(seen);
        }
        return {};
    }
    [[nodiscard]] Result<inspect::LockSnapshot> look() { return m_servers->look(); }
    [[nodiscard]] int count(Stage stage) const
    {
        return int(std::ranges::count(m_clients, stage, [](const auto &client) { return client->stage; }));
    }

private:
    void act()
    {
        const auto holders = of(Stage::Holds), waiters = of(Stage::Waits);
        const auto dice = m_random.below(10);
        if (dice < 5 && std::ssize(holders) + std::ssize(waiters) < mostClients)
            join();
        else if (dice < 8 && !holders.empty())
            m_scope->launch(release(holders[m_random.below(holders.size())]));
        else if (dice == 8 && !waiters.empty())
            leave(waiters[m_random.below(waiters.size())]);
        else if (dice == 9 && m_clients.size() > 2)
            kill(int(m_random.below(m_clients.size())));
        m_servers->loop().advance(std::chrono::milliseconds(20 + m_random.below(500)));
    }

    void join()
    {
        recipes::AcquireOptions options;
        options.limit = m_limit;
        options.readMode = m_recipe.readWrite && m_random.below(100) < 55;
        auto made = m_servers->open(options);
        m_clients.push_back(std::make_unique<SceneClient>());
        auto &client = *m_clients.back();
        client.reads = options.readMode;
        if (!made) {
            client.problem = made.error().message;
            client.stage = Stage::Over;
            return;
        }
        client.lock = *std::move(made);
        const bool isPatient = m_random.below(5) != 0;
        const auto deadline =
            isPatient ? Deadline::never() : Deadline::after(m_servers->loop(), 100ms + 100ms * m_random.below(10));
        m_scope->launch(take(&client, deadline));
        m_servers->loop().advance(20ms); // arrivals are in the order of their numbers
    }
    static Task<void> take(SceneClient *client, Deadline deadline)
    {
        auto came = co_await client->lock->acquire(deadline);
        if (client->stage != Stage::Waits)
            co_return;
        client->stage = came ? Stage::Holds : Stage::Over;
        if (came)
            client->grant = *came;
    }
    Task<void> release(int number)
    {
        auto *client = m_clients[size_t(number)].get();
        client->stage = Stage::Over; // it does nothing under the lock any more
        auto done = co_await client->lock->release(m_servers->soon());
        if (!done && client->stage == Stage::Over)
            client->problem = u"release: "_s + done.error().message;
    }
    void leave(int number)
    {
        auto &client = *m_clients[size_t(number)];
        client.stage = Stage::Over;
        client.lock.reset();
    }
    void kill(int number)
    {
        auto &client = *m_clients[size_t(number)];
        if (client.stage == Stage::Over || !m_servers->kill(number))
            return;
        client.stage = Stage::Died;
    }

    [[nodiscard]] std::vector<int> of(Stage stage) const
    {
        std::vector<int> all;
        for (int i = 0; i < int(m_clients.size()); ++i) {
            if (m_clients[size_t(i)]->stage == stage)
                all.push_back(i);
        }
        return all;
    }
    static QByteArray nameOf(const inspect::Contender &one) { return one.session ? one.session->toUtf8() : one.id; }
    // By the snapshot's name of it; none: it is of no client that is known by its name. Some clients write all the
    // same into a key: then it is who holds now.
    [[nodiscard]] std::optional<int> clientOf(const inspect::Contender &one)
    {
        const auto name = nameOf(one);
        std::optional<int> found;
        for (int i = 0; i < int(m_clients.size()); ++i) {
            const auto &client = *m_clients[size_t(i)];
            const bool isNamedByGrant = m_recipe.backend != BackendKind::ZooKeeper;
            if (isNamedByGrant && !client.grant)
                continue;
            const bool isNamed = m_servers->clientOf(i, client.grant.value_or(recipes::Grant())) == name;
            if (isNamed && (!found || client.stage == Stage::Holds || client.stage == Stage::Died))
                found = i;
            if (isNamed && client.stage == Stage::Holds)
                break;
        }
        return found;
    }

    [[nodiscard]] QString wrongHolders(const inspect::LockSnapshot &seen)
    {
        std::set<int> shown;
        auto nameless = std::ranges::count_if(
            m_clients, [](const auto &client) { return client->stage == Stage::Died && !client->grant; });
        for (const auto &one : seen.contenders) {
            if (one.role != inspect::Role::Holder)
                continue;
            const auto who = clientOf(one);
            // Who died while it waited was never told its name.
            if (!who && nameless-- > 0)
                continue;
            if (!who)
                return u"a holder is shown that nobody is: "_s + QString::fromUtf8(one.id);
            const auto &client = *m_clients[size_t(*who)];
            const bool isHolder = client.stage == Stage::Holds || client.stage == Stage::Died;
            const bool isOfNameless = client.stage == Stage::Over && m_recipe.id == "redis-setnx-expire";
            if (isOfNameless && nameless-- > 0)
                continue; // all of its clients write the same
            if (!isHolder)
                return u"client %1 is shown as the holder"_s.arg(*who);
            shown.insert(*who);
        }
        for (const auto who : of(Stage::Holds)) {
            if (!shown.contains(who))
                return u"client %1 holds it and is not shown"_s.arg(who);
        }
        return {};
    }
    [[nodiscard]] QString wrongWaiters(const inspect::LockSnapshot &seen)
    {
        std::set<int> shown;
        for (const auto &one : seen.contenders) {
            const auto who = clientOf(one);
            if (one.role != inspect::Role::Waiter || !who)
                continue;
            const auto stage = m_clients[size_t(*who)]->stage;
            if (stage != Stage::Waits && stage != Stage::Died)
                return u"client %1 is shown as waiting"_s.arg(*who);
            shown.insert(*who);
        }
        const bool isQueue = m_recipe.backend == BackendKind::ZooKeeper && m_recipe.fair;
        for (const auto who : of(Stage::Waits)) {
            if (isQueue && seen.waitersKnown && !shown.contains(who))
                return u"client %1 waits and is not shown"_s.arg(who);
        }
        return {};
    }
    // Clients come one after the other, so that their numbers are the order of a fair queue.
    [[nodiscard]] QString wrongOrder(const inspect::LockSnapshot &seen)
    {
        int last = -1;
        for (const auto &one : seen.contenders) {
            const auto who = clientOf(one);
            if (one.role != inspect::Role::Waiter || !who || !m_recipe.fair)
                continue;
            if (*who < last)
                return u"client %1 is shown behind client %2"_s.arg(*who).arg(last);
            last = *who;
        }
        return {};
    }
    [[nodiscard]] QString wrongEdges(const inspect::LockSnapshot &seen)
    {
        for (const auto &one : seen.contenders) {
            const auto who = clientOf(one);
            for (const auto &edge : one.watches) {
                const auto *target = seen.find(edge.target);
                const auto behind = target ? clientOf(*target) : std::nullopt;
                if (who && behind && m_recipe.fair && *behind >= *who)
                    return u"client %1 is shown to wait for client %2, which came later"_s.arg(*who).arg(*behind);
            }
        }
        return {};
    }
    [[nodiscard]] QString told(const inspect::LockSnapshot &seen)
    {
        static const QStringList stages{u"waits"_s, u"holds"_s, u"over"_s, u"died"_s};
        QStringList truth, shown;
        for (int i = 0; i < int(m_clients.size()); ++i)
            truth << u"%1 %2%3"_s.arg(QString::number(i), stages[int(m_clients[size_t(i)]->stage)],
                                      m_clients[size_t(i)]->reads ? u" (reads)"_s : QString());
        for (const auto &one : seen.contenders)
            shown << (one.role == inspect::Role::Holder ? u"holds "_s : u"waits "_s)
                         + QString::number(clientOf(one).value_or(-1));
        return u"truth: %1; shown: %2"_s.arg(truth.join(u", "_s), shown.join(u", "_s));
    }

    Random m_random;
    const recipes::RecipeInfo &m_recipe;
    int m_limit = 1;
    std::unique_ptr<SceneServers> m_servers;
    std::vector<std::unique_ptr<SceneClient>> m_clients;
    std::unique_ptr<Scope> m_scope;
};

} // namespace

class TestScenes : public QObject {
    Q_OBJECT

private slots:
    // Else the comparison below would prove nothing.
    void aWrongSnapshotIsNoticed()
    {
        int tried = 0;
        for (quint64 seed = 1; seed < 100 && tried < 3; ++seed) {
            RandomScene scene("zk-mutex", seed);
            const auto seen = scene.look();
            if (!seen || seen->waiterCount() < 2 || scene.count(Stage::Holds) == 0 || scene.count(Stage::Died) > 0)
                continue;
            ++tried;
            QCOMPARE(scene.compare(*seen), QString());
            auto wrong = *seen;
            std::swap(wrong.contenders[0].role, wrong.contenders[1].role);
            QVERIFY(scene.compare(wrong).contains(u"is shown as the holder"_s));
            wrong = *seen;
            std::reverse(wrong.contenders.begin() + 1, wrong.contenders.end());
            QVERIFY(scene.compare(wrong).contains(u"is shown behind client"_s));
            wrong = *seen;
            wrong.contenders.pop_back();
            QVERIFY(scene.compare(wrong).contains(u"waits and is not shown"_s));
            wrong = *seen;
            wrong.contenders[1].watches = {{seen->contenders[2].id, false, inspect::Evidence::Inferred}};
            QVERIFY(scene.compare(wrong).contains(u"which came later"_s));
        }
        QCOMPARE(tried, 3);
    }

    void shownContendersAreTheClients_data()
    {
        const Rows<QByteArray> row("recipe");
        std::size_t layouts = 0;
        for (const auto &recipe : recipes::catalogue()) {
            // Who waits on a simulated SQL server the scene itself would say; Redlock needs several servers.
            const bool isHere = recipe.backend == BackendKind::ZooKeeper || recipe.backend == BackendKind::Etcd
                                || (recipe.backend == BackendKind::Redis && recipe.id != "redlock");
            if ((recipe.acquirable && recipe.simulated && isHere) || testing::ForeignEtcdLock::plays(recipe.id)) {
                row(recipe.id, recipe.id);
                ++layouts;
            }
        }
        QVERIFY(layouts >= leastLayouts);
    }
    void shownContendersAreTheClients()
    {
        QFETCH(QByteArray, recipe);
        const auto asked = qEnvironmentVariableIntValue("LOCKSCOPE_SCENES");
        const int scenesOfRecipe = asked > 0 ? asked : usualScenes;
        int held = 0, waited = 0;
        for (int i = 0; i < scenesOfRecipe; ++i) {
            RandomScene scene(recipe, quint64(7000 + i));
            held += scene.count(Stage::Holds) > 0;
            waited += scene.count(Stage::Waits) > 0;
            const auto wrong = scene.compare();
            QVERIFY2(wrong.isEmpty(), qPrintable(u"scene %1: %2"_s.arg(i).arg(wrong)));
        }
        if (testing::sanitizerShare == 1) {
            QVERIFY(held >= scenesOfRecipe / 3);
            QVERIFY(waited >= scenesOfRecipe / 4);
        }
    }
};

LOCKSCOPE_TEST(TestScenes)
#include "tst_scenes.moc"
