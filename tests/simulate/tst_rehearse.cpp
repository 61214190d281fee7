// SPDX-License-Identifier: Apache-2.0
// A rehearsal against what happens: random scenes of every recipe whose waiters are woken, on servers that stand for
// the real ones. What the inspector sees is rehearsed, then the same release is really sent there.
#include "rehearsalscenes.h"

#include "core/inspect/findings.h"
#include "core/rehearse/rehearsal.h"
#include "tests/support/testmain.h"

using rehearse::Next;

namespace {

constexpr int scenes = 50;

struct SceneContender {
    std::unique_ptr<recipes::Lock> lock;
    std::optional<recipes::Grant> grant;
    bool left = false;
    bool failed = false;
};

class Scene {
public:
    Scene(const QByteArray &recipe, quint64 seed) : m_random(seed), m_recipe(recipes::recipeOf(recipe))
    {
        servers = sceneOf(recipe, seed);
        m_scope = std::make_unique<Scope>(servers->loop());
        recipes::AcquireOptions options;
        options.limit = m_recipe.counted && m_recipe.id != "curator-semaphore-mutex" ? 1 + int(m_random.below(3)) : 1;
        const int count = 1 + options.limit + int(m_random.below(7));
        for (int i = 0; i < count; ++i) {
            options.readMode = m_recipe.readWrite && m_random.below(2) == 0;
            add(options);
        }
        for (int i = 0; i < count; ++i) {
            const bool leaves = !contenders[size_t(i)]->grant && m_random.below(4) == 0;
            if (leaves)
                leave(i);
        }
        servers->loop().advance(1s);
    }
    ~Scene()
    {
        m_scope.reset();
        for (auto &contender : contenders)
            contender->lock.reset();
    }

    [[nodiscard]] std::vector<int> queue() const
    {
        std::vector<int> all;
        for (size_t i = 0; i < contenders.size(); ++i) {
            if (!contenders[i]->left)
                all.push_back(int(i));
        }
        return all;
    }
    // Grants from here on.
    std::vector<int> granted;
    std::vector<std::unique_ptr<SceneContender>> contenders;
    std::unique_ptr<SceneServers> servers;
    Random &random() { return m_random; }

private:
    void add(const recipes::AcquireOptions &options)
    {
        auto made = servers->open(options);
        QVERIFY2(made, made ? "" : qPrintable(made.error().message));
        contenders.push_back(std::make_unique<SceneContender>());
        contenders.back()->lock = *std::move(made);
        const int times = m_recipe.reentrant ? 1 + int(m_random.below(3)) : 1;
        m_scope->launch(take(int(contenders.size()) - 1, times));
        servers->loop().advance(20ms);
    }
    void leave(int i)
    {
        contenders[size_t(i)]->left = true;
        contenders[size_t(i)]->lock.reset();
        servers->loop().advance(50ms);
    }
    Task<void> take(int i, int times)
    {
        auto &one = *contenders[size_t(i)];
        const auto never = Deadline::never();
        for (int time = 0; time < times; ++time) {
            auto came = co_await one.lock->acquire(never);
            if (!came) {
                one.failed = true;
                co_return;
            }
            if (time > 0)
                continue;
            one.grant = *came;
            granted.push_back(i);
        }
    }

    Random m_random;
    const recipes::RecipeInfo &m_recipe;
    std::unique_ptr<Scope> m_scope;
};

} // namespace

class TestRehearse : public QObject {
    Q_OBJECT

    static QByteArray nameOf(const inspect::Contender &one) { return one.session ? one.session->toUtf8() : one.id; }

    // What was foretold and what came; empty where they agree. Counts what was said with certainty.
    static QString playScene(const QByteArray &recipe, quint64 seed, std::map<Next, int> &said)
    {
        Scene scene(recipe, seed);
        if (auto *sql = dynamic_cast<SqlScene *>(scene.servers.get()))
            sql->queue = scene.queue();
        const auto snapshot = scene.servers->look();
        if (!snapshot)
            return snapshot.error().code == ErrorCode::NoNode ? QString() : snapshot.error().message;
        std::vector<QByteArray> holders;
        for (const auto &contender : snapshot->contenders) {
            if (contender.role == inspect::Role::Holder)
                holders.push_back(contender.id);
        }
        if (holders.empty())
            return QStringLiteral("nobody holds it");
        const auto holder = holders[scene.random().below(holders.size())];
        const auto plan = operate::planForceRelease(*snapshot, holder);
        if (!plan)
            return plan.error().message;
        const auto foretold = rehearse::rehearse(*plan);
        if (!foretold)
            return foretold.error().message;
        ++said[foretold->next];

        scene.granted.clear();
        const auto sent = scene.servers->release(*plan);
        if (!sent)
            return sent.error().message;
        scene.servers->loop().advance(2s);
        if (foretold->next == Next::Chance)
            return snapshot->waiterCount() > 1 && scene.granted.empty() ? QStringLiteral("nobody got it") : QString();
        if (foretold->next == Next::NotKnown)
            return foretold->assumed.join(u'|');
        if (foretold->next == Next::NoOne)
            return scene.granted.empty() ? QString() : QStringLiteral("foretold: nobody; somebody got it");
        if (scene.granted.empty())
            return QStringLiteral("foretold: somebody; nobody got it");
        if (snapshot->find(*foretold->nextHolder)->id.startsWith("subscriber "))
            return {}; // the only process that waits
        // Readers get in together, and which of them hears of it first is chance: as they stand in the queue.
        std::ranges::sort(scene.granted);
        QByteArrayList wanted, came;
        for (const auto &id : foretold->granted)
            wanted << nameOf(*snapshot->find(id));
        for (const auto i : scene.granted)
            came << scene.servers->clientOf(i, *scene.contenders[size_t(i)]->grant);
        if (wanted != came)
            return QStringLiteral("foretold %1, came %2")
                .arg(QString::fromUtf8(wanted.join(' ')), QString::fromUtf8(came.join(' ')));
        return {};
    }

private slots:
    void nextHolderIsTheOneThatGetsIt_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto &recipe : recipes::catalogue()) {
            // Its simulated server is MariaDB's, which is played here already.
            const bool isHere = recipe.simulated && recipe.backend != BackendKind::PostgreSql;
            if (recipe.acquirable && isHere && recipe.wakeUp != recipes::WakeUp::Polling)
                row(recipe.id, recipe.id);
        }
    }
    void nextHolderIsTheOneThatGetsIt()
    {
        QFETCH(QByteArray, recipe);
        std::map<Next, int> said;
        for (int i = 0; i < scenes; ++i) {
            const auto wrong = playScene(recipe, quint64(1000 + i), said);
            QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("scene %1: %2").arg(i).arg(wrong)));
        }
        qInfo("%s: certain %d, chance %d, nobody %d", recipe.constData(), said[Next::Certain], said[Next::Chance],
              said[Next::NoOne]);
        // A queue is never left to chance.
        if (recipes::recipeOf(recipe).fair) {
            QCOMPARE(said[Next::Chance], 0);
            QVERIFY(said[Next::Certain] > 0);
        }
    }
};

LOCKSCOPE_TEST(TestRehearse)
#include "tst_rehearse.moc"
