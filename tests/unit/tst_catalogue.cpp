// SPDX-License-Identifier: Apache-2.0
// The catalogue of recipes: complete, and honest about what can be acquired.
#include "core/rules/catalogue.h"
#include "tests/support/testmain.h"

#include <QTest>

#include <set>

using namespace lockscope;
using namespace lockscope::recipes;

namespace {

// docs/command-line.md, "Recipe ids".
const QByteArrayList documentedIds{
    "zk-ephemeral", "zk-herd-mutex", "zk-mutex", "zk-eager-mutex", "zk-flat-mutex", "zk-shared-herd", "zk-shared",
    "zk-election", "zk-lease", "curator-mutex", "curator-semaphore-mutex", "curator-rwlock", "curator-semaphore",
    "curator-leader", "zookeeper-recipe-lock", "kazoo-lock", "kazoo-rwlock", "kazoo-semaphore", "redis-setnx-expire",
    "redis-getset", "redis-set-nx", "redlock", "redisson-lock", "redisson-fair-lock", "redisson-rwlock",
    "redisson-fenced-lock", "redisson-semaphore", "sql-for-update", "sql-version", "sql-get-lock"};

} // namespace

class TestCatalogue : public QObject {
    Q_OBJECT
private slots:
    void hasEveryIdOnce()
    {
        std::set<QByteArray> seen;
        for (const auto &recipe : catalogue()) {
            QVERIFY2(seen.insert(recipe.id).second, recipe.id);
            QVERIFY2(documentedIds.contains(recipe.id), recipe.id);
        }
        QCOMPARE(seen.size(), static_cast<size_t>(documentedIds.size()));
    }

    void saysWhatItIs()
    {
        for (const auto &recipe : catalogue()) {
            QVERIFY2(!recipe.summary.isEmpty() && !recipe.summary.contains(QLatin1Char('\n')), recipe.id);
            const auto backend = recipe.id.startsWith("sql-") ? BackendKind::MariaDb
                : recipe.id.startsWith("redis") || recipe.id == "redlock" ? BackendKind::Redis
                                                                          : BackendKind::ZooKeeper;
            QVERIFY2(recipe.backend == backend, recipe.id);
            QCOMPARE(findRecipe(recipe.id), &recipe);
        }
        QVERIFY(!findRecipe("zk-"));
    }

    void itsFieldsAgree()
    {
        for (const auto &recipe : catalogue()) {
            QVERIFY2(!recipe.storesLimit || recipe.counted, recipe.id);
            QVERIFY2(!recipe.renewed || recipe.endsBy != EndsBy::Session, recipe.id);
            QVERIFY2(!recipe.losesTokensWithData || recipe.fenced, recipe.id);
            QVERIFY2(recipe.quorum == (recipe.release == ReleaseWay::QuorumDelete), recipe.id);
            QVERIFY2((recipe.wakeupsPerRelease == u"0") == (recipe.wakeUp == WakeUp::Polling || recipe.wakeUp == WakeUp::Answer)
                         || !recipe.acquirable, recipe.id);
            QVERIFY2(recipe.interoperable.isEmpty() || recipeOf(recipe.interoperable).acquirable, recipe.id);
        }
    }

    void countsExactlyWhatCanBeAcquired()
    {
        QByteArrayList seenOnly;
        for (const auto &recipe : catalogue()) {
            const QStringList counts{recipe.requestsAcquireFree, recipe.requestsAcquireQueued, recipe.requestsRelease,
                                     recipe.wakeupsPerRelease};
            for (const auto &count : counts)
                QVERIFY2(count.isEmpty() != recipe.acquirable, recipe.id);
            const bool saysSo = !recipe.flaws.empty()
                && recipe.flaws.front().startsWith(QStringLiteral("recognised only"));
            QVERIFY2(saysSo != recipe.acquirable, recipe.id);
            if (!recipe.acquirable)
                seenOnly << recipe.id;
        }
        QCOMPARE(seenOnly, (QByteArrayList{"zk-election", "zk-lease", "zookeeper-recipe-lock", "curator-leader"}));
    }
};

LOCKSCOPE_TEST(TestCatalogue)
#include "tst_catalogue.moc"
