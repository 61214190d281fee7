// SPDX-License-Identifier: Apache-2.0
// The catalogue of recipes: complete, and honest about what can be acquired.
#include "core/rules/catalogue.h"
#include "tests/support/testmain.h"

#include <QFile>

#include <set>

using namespace lockscope::recipes;

namespace {

// The first column of docs/names-and-ids.md, "Recipe IDs".
std::set<QByteArray> documentedIds()
{
    QFile page(QFINDTESTDATA("../../docs/names-and-ids.md"));
    if (!page.open(QIODevice::ReadOnly))
        return {};
    const auto text = page.readAll();
    const auto begin = text.indexOf("\n## Recipe IDs\n");
    std::set<QByteArray> ids;
    for (const auto &line : text.mid(begin, text.indexOf("\n## ", begin + 1) - begin).split('\n')) {
        const auto quoted = line.split('|').value(1).split('`');
        for (qsizetype i = 1; i < quoted.size(); i += 2)
            ids.insert(quoted[i]);
    }
    return ids;
}

} // namespace

class TestCatalogue : public QObject {
    Q_OBJECT
private slots:
    void hasEveryIdOnce()
    {
        std::set<QByteArray> seen;
        for (const auto &recipe : catalogue())
            QVERIFY2(seen.insert(recipe.id).second, recipe.id);
        QVERIFY(seen == documentedIds());
    }

    void saysWhatItIs()
    {
        for (const auto &recipe : catalogue()) {
            QVERIFY2(!recipe.summary.isEmpty() && !recipe.summary.contains(QLatin1Char('\n')), recipe.id);
            const auto backend = recipe.id.startsWith("sql-")                              ? BackendKind::MariaDb
                                 : recipe.id.startsWith("etcd-")                           ? BackendKind::Etcd
                                 : recipe.id.startsWith("pg-")                             ? BackendKind::PostgreSql
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
            QVERIFY2(recipe.quorum == (recipe.release == ReleaseMechanism::QuorumDelete), recipe.id);
            const bool isWoken = recipe.wakeUp == WakeUp::Watch || recipe.wakeUp == WakeUp::Message;
            QVERIFY2(!recipe.acquirable || isWoken == (recipe.counts.wakeUps != u"0"), recipe.id);
            QVERIFY2(recipe.playedBy.isEmpty() || recipeOf(recipe.playedBy).acquirable, recipe.id);
        }
    }

    void countsExactlyWhatCanBeAcquired()
    {
        QByteArrayList seenOnly;
        for (const auto &recipe : catalogue()) {
            const QStringList counts{recipe.counts.acquireFree, recipe.counts.acquireQueued, recipe.counts.release,
                                     recipe.counts.wakeUps};
            for (const auto &count : counts)
                QVERIFY2(count.isEmpty() != recipe.acquirable, recipe.id);
            const bool saysSo =
                !recipe.flaws.empty() && recipe.flaws.front().startsWith(QStringLiteral("recognised only"));
            QVERIFY2(saysSo != recipe.acquirable, recipe.id);
            if (!recipe.acquirable)
                seenOnly << recipe.id;
        }
        QCOMPARE(seenOnly,
                 (QByteArrayList{"zk-election",     "zk-lease",       "zookeeper-recipe-lock", "curator-leader",
                                 "redis-semaphore", "redis-rwlock",   "redis-session",         "redis-rule",
                                 "sql-innodb-lock", "sql-table-lock", "sql-liquibase",         "sql-row-lock",
                                 "etcd-election",   "etcd-rwmutex",   "etcd-key-lock",         "etcd-key-election",
                                 "pg-table",        "pg-liquibase",   "pg-shedlock",           "pg-row-lock"}));
    }
};

LOCKSCOPE_TEST(TestCatalogue)
#include "tst_catalogue.moc"
