// SPDX-License-Identifier: Apache-2.0
// Every recipe that can be acquired, none left out, as a user runs it: lockscopectl holds it, others wait, `show`
// names the recipe, the holders, the queue in order and who watches whom, and the next one enters when a holder
// gives it back or is freed by force.
#include "core/rules/catalogue.h"
#include "core/sandbox/server.h"
#include "tests/support/redlockfixture.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <set>

namespace {

constexpr int redlockNodes = 3;
constexpr int patienceInAQueueMs = 3 * patienceMs;

// A recipe with contenders in order, each with options of its own, and how `show` draws them.
struct Played {
    const char *name;
    QByteArray recipe;
    QStringList contenders;
    int holders;
    const char *seen;
};

const QString noOptions, onePermit = u"--limit 1"_s, twoPermits = u"--limit 2"_s;
const QString reads = u"--mode read"_s, writes = u"--mode write"_s;
const QStringList both{noOptions, noOptions}, allThree{noOptions, noOptions, noOptions};

const std::vector<Played> playedRecipes{
    {"node", "zk-ephemeral", both, 1, "zk-ephemeral: 0 holds exclusive, 1 waits exclusive ->0"},
    {"herd", "zk-herd-mutex", both, 1, "zk-herd-mutex: 0 holds exclusive, 1 waits exclusive ~>children"},
    {"mutex", "zk-mutex", both, 1, "curator-mutex: 0 holds exclusive, 1 waits exclusive ->0"},
    {"eager",
     "zk-eager-mutex",
     {noOptions, noOptions, noOptions, noOptions},
     1,
     "curator-mutex: 0 holds exclusive, 1 waits exclusive ->0, 2 waits exclusive ->1 ->0, 3 waits exclusive ->2 ->1"},
    {"flat", "zk-flat-mutex", allThree, 1,
     "zk-flat-mutex: 0 holds exclusive, 1 waits exclusive ->0, 2 waits exclusive ->1"},
    {"shared",
     "zk-shared",
     {reads, reads, writes, reads, writes, reads},
     2,
     "zk-shared: 0 holds read, 1 holds read, 2 waits write ->1, 3 waits read ->2, 4 waits write ->3, "
     "5 waits read ->4"},
    {"shared, readers behind a writer",
     "zk-shared",
     {writes, reads, reads},
     1,
     "zk-shared: 0 holds write, 1 waits read ->0, 2 waits read ->0"},
    {"shared, the herd",
     "zk-shared-herd",
     {reads, writes, reads},
     1,
     "zk-shared: 0 holds read, 1 waits write ~>children, 2 waits read ~>children"},
    {"Curator's mutex", "curator-mutex", allThree, 1,
     "curator-mutex: 0 holds exclusive, 1 waits exclusive ->0, 2 waits exclusive ->1"},
    {"Curator's semaphore mutex", "curator-semaphore-mutex", allThree, 1,
     "curator-semaphore: 0 holds permit, 1 waits permit ~>children, 2 waits permit ->1"},
    {"Curator's semaphore",
     "curator-semaphore",
     {twoPermits, twoPermits, twoPermits, twoPermits},
     2,
     "curator-semaphore: 0 holds permit, 1 holds permit, 2 waits permit ~>children, 3 waits permit ->2"},
    {"Curator's read and write lock",
     "curator-rwlock",
     {reads, reads, noOptions, writes, reads},
     2,
     "curator-rwlock: 0 holds read, 1 holds read, 2 waits write ->1, 3 waits write ->2, 4 waits read ->2"},
    {"kazoo's lock", "kazoo-lock", both, 1, "kazoo-lock: 0 holds exclusive, 1 waits exclusive ->0"},
    {"kazoo's readers",
     "kazoo-rwlock",
     {reads, reads, writes},
     2,
     "kazoo-rwlock: 0 holds read, 1 holds read, 2 waits write ->1"},
    {"kazoo's reader behind a writer",
     "kazoo-rwlock",
     {writes, reads},
     1,
     "kazoo-rwlock: 0 holds write, 1 waits read ->0"},
    {"kazoo's writers look like its lock",
     "kazoo-rwlock",
     {writes, writes},
     1,
     "kazoo-lock: 0 holds exclusive, 1 waits exclusive ->0"},
    {"kazoo's semaphore",
     "kazoo-semaphore",
     {onePermit, noOptions},
     1,
     "kazoo-semaphore: 0 holds permit, 1 waits permit ~>children"},
    // Who polls is not to be seen.
    {"setnx", "redis-setnx-expire", both, 1, "redis-setnx-expire: 0 holds exclusive"},
    {"getset", "redis-getset", both, 1, "redis-getset: 0 holds exclusive"},
    {"set nx", "redis-set-nx", both, 1, "redis-set-nx: 0 holds exclusive"},
    {"redlock", "redlock", both, 1, "redlock: 0 holds exclusive"},
    {"Redisson's lock", "redisson-lock", both, 1, "redisson-lock: 0 holds exclusive, 1 waits exclusive"},
    {"Redisson's fair lock", "redisson-fair-lock", both, 1,
     "redisson-fair-lock: 0 holds exclusive, 1 waits exclusive"},
    {"Redisson's fenced lock", "redisson-fenced-lock", both, 1,
     "redisson-fenced-lock: 0 holds exclusive, 1 waits exclusive"},
    {"Redisson's writer", "redisson-rwlock", both, 1, "redisson-rwlock: 0 holds write, 1 waits exclusive"},
    {"Redisson's reader", "redisson-rwlock", {reads, noOptions}, 1, "redisson-rwlock: 0 holds read, 1 waits write"},
    {"Redisson's semaphore",
     "redisson-semaphore",
     {twoPermits, twoPermits, twoPermits},
     2,
     "redisson-semaphore: 0 holds permit, 1 holds permit, 2 waits permit"},
    {"row", "sql-for-update", both, 1, "sql-for-update: 0 holds exclusive, 1 waits exclusive ->0"},
    {"named lock", "sql-get-lock", both, 1, "sql-get-lock: 0 holds exclusive, 1 waits exclusive ~>0"},
    {"row with a time", "sql-shedlock", both, 1, "sql-shedlock: 0 holds exclusive"},
    {"row as a mark", "sql-insert-mark", both, 1, "sql-insert-mark: 0 holds exclusive"},
    {"flag with a version", "sql-status-flag", both, 1, "sql-status-flag: 0 holds exclusive"},
    {"advisory lock", "pg-advisory", both, 1, "pg-advisory: 0 holds exclusive, 1 waits exclusive ->0"},
    {"PostgreSQL's row", "pg-for-update", both, 1, "pg-for-update: 0 holds exclusive, 1 waits exclusive ->0"},
};

} // namespace

class TestCtlRecipes : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::vector<testing::Node> m_nodes;
    std::unique_ptr<sandbox::Server> m_mariaDb, m_postgreSql;
    QStringList m_connect;
    QString m_lock;
    int m_count = 0;
    std::vector<std::unique_ptr<Ctl>> m_queue;

    // A fresh lock of this recipe.
    void begin(const QByteArray &recipe)
    {
        const auto number = QString::number(++m_count);
        const auto backend = recipes::findRecipe(recipe)->backend;
        QString uri = m_servers.zk(), place = u"/locks/%1/stock"_s.arg(number);
        if (recipe == "redlock") {
            QStringList hosts;
            for (const auto &node : m_nodes)
                hosts << displayHost(node.server->address());
            uri = u"redis://"_s + hosts.join(u',');
        } else if (backend == BackendKind::Redis) {
            uri = m_servers.redisUri();
        } else if (backend == BackendKind::MariaDb) {
            uri = u"mariadb://root@127.0.0.1:%1/shop"_s.arg(m_mariaDb->address().port);
        } else if (backend == BackendKind::PostgreSql) {
            uri = u"postgresql://shop@127.0.0.1:%1/shop"_s.arg(m_postgreSql->address().port);
        }
        if (backend == BackendKind::Redis)
            place = u"orders-lock-"_s + number;
        else if (backend == BackendKind::MariaDb)
            place = recipe == "sql-get-lock"      ? u"GET_LOCK#nightly"_s
                    : recipe == "sql-shedlock"    ? u"SHEDLOCK#shop.shedlock#nightly"_s
                    : recipe == "sql-insert-mark" ? u"MARK#shop.lock_marks#nightly"_s
                    : recipe == "sql-status-flag" ? u"FLAG#shop.lock_flags#1"_s
                                                  : u"shop.stock#id=1"_s;
        else if (backend == BackendKind::PostgreSql)
            place = recipe == "pg-advisory" ? u"ADVISORY#42"_s : u"public.stock#id=1"_s;
        m_connect = QStringList{u"--connect"_s, u"it="_s + uri};
        m_lock = u"it:"_s + place;
    }
    Ctl &join(const QByteArray &recipe, const QString &options)
    {
        m_queue.push_back(std::make_unique<Ctl>(
            m_connect + QStringList{u"acquire"_s, m_lock, u"--recipe"_s, QString::fromLatin1(recipe), u"--json"_s}
            + options.split(u' ', Qt::SkipEmptyParts)));
        return *m_queue.back();
    }
    bool hasEntered(size_t i) { return m_queue[i]->jsonLine(patienceInAQueueMs).value("acquired"_L1).toBool(); }
    Ran ran(const QStringList &words) const { return run(m_connect + words); }
    QJsonObject show() const { return ran({u"show"_s, m_lock, u"--json"_s}).json().value("lock"_L1).toObject(); }
    static QString idOf(const QJsonObject &lock, int place)
    {
        return lock.value("contenders"_L1).toArray().at(place).toObject().value("id"_L1).toString();
    }
    // "curator-mutex: 0 holds exclusive, 1 waits exclusive ->0": contenders by their place, a proven watch as ->, an
    // inferred as ~>.
    static QString draw(const QJsonObject &lock)
    {
        const auto contenders = lock.value("contenders"_L1).toArray();
        QStringList ids;
        for (const auto &contender : contenders)
            ids << contender.toObject().value("id"_L1).toString();
        QStringList out;
        for (const auto &entry : contenders) {
            const auto one = entry.toObject();
            QString text = u"%1 %2 %3"_s.arg(out.size())
                               .arg(one.value("role"_L1).toString() == u"holder"_s ? u"holds"_s : u"waits"_s,
                                    one.value("mode"_L1).toString());
            for (const auto &watch : one.value("watches"_L1).toArray()) {
                const auto target = watch.toObject().value("target"_L1).toString();
                text += watch.toObject().value("evidence"_L1).toString() == u"server"_s ? u" ->"_s : u" ~>"_s;
                text += target == u"children"_s ? target : QString::number(ids.indexOf(target));
            }
            out << text;
        }
        return lock.value("recipe"_L1).toString() + u": "_s + out.join(u", "_s);
    }
    static void asRows(bool (*wanted)(const Played &))
    {
        QTest::addColumn<int>("played");
        for (size_t i = 0; i < playedRecipes.size(); ++i) {
            if (wanted(playedRecipes[i]))
                QTest::newRow(playedRecipes[i].name) << int(i);
        }
    }
    static const Played &ofRow()
    {
        return playedRecipes[size_t(*static_cast<int *>(QTest::qData("played", qMetaTypeId<int>())))];
    }
    static bool isPermit(const QByteArray &recipe) { return recipe.endsWith("-semaphore"); }

private slots:
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        OK(testing::startNodes(m_servers.loop, redlockNodes, m_nodes));
        OK(startInto(m_mariaDb, sandbox::makeMariaDb()));
        const auto problem = startInto(m_postgreSql, sandbox::makePostgreSql());
        QVERIFY2(!m_postgreSql || problem.isEmpty(), qPrintable(problem));
    }
    void cleanup()
    {
        for (const auto &ctl : m_queue)
            ctl->signal(SIGTERM);
        m_queue.clear();
    }
    void cleanupTestCase()
    {
        m_postgreSql.reset();
        m_mariaDb.reset();
        m_nodes.clear();
        m_servers.stop();
    }

    void noneIsLeftOut()
    {
        // Nobody waits for these: theSecondWriterIsTold(), tst_postgresql; and tst_etcd.
        std::set<QByteArray> played{"sql-version", "pg-skip-locked", "etcd-mutex"};
        for (const auto &one : playedRecipes)
            played.insert(one.recipe);
        for (const auto &recipe : recipes::catalogue())
            QVERIFY2(played.contains(recipe.id) == recipe.acquirable, recipe.id);
    }

    void isHeldShownAndHandedOn_data()
    {
        asRows([](const Played &) { return true; });
    }
    void isHeldShownAndHandedOn()
    {
        const auto &[name, recipe, contenders, holders, seen] = ofRow();
        if (recipes::findRecipe(recipe)->backend == BackendKind::PostgreSql && !m_postgreSql)
            QSKIP("no PostgreSQL is installed that could be run");
        begin(recipe);
        const auto expected = QString::fromLatin1(seen).split(u", "_s);
        QStringList held;
        for (int i = 0; i < contenders.size(); ++i) {
            auto &ctl = join(recipe, contenders[i]);
            if (i < holders) {
                const auto had = ctl.jsonLine(patienceInAQueueMs);
                QVERIFY(had.value("acquired"_L1).toBool());
                QCOMPARE(had.value("fencingToken"_L1).isString(), recipes::findRecipe(recipe)->fenced);
                held << had.value("id"_L1).toString();
                continue;
            }
            // Each is queued before the next one comes.
            const auto queued = std::min(qsizetype(i) + 1, expected.size());
            QTRY_COMPARE_WITH_TIMEOUT(show().value("contenders"_L1).toArray().size(), queued, patienceMs);
        }
        QTRY_COMPARE_WITH_TIMEOUT(draw(show()), QString::fromLatin1(seen), patienceInAQueueMs);
        const auto lock = show();
        QCOMPARE(lock.value("lock"_L1).toString(), m_lock);
        QStringList ids;
        for (int i = 0; i < holders; ++i)
            ids << idOf(lock, i);
        ids.sort(); // permits of one pool have no order
        held.sort();
        QCOMPARE(ids, held);
        for (const auto &entry : lock.value("findings"_L1).toArray())
            QCOMPARE(entry.toObject().value("severity"_L1).toString(), u"info"_s);
        // A permit that comes back lets the next one in, else all holders go before it does.
        const int leavers = isPermit(recipe) ? 1 : holders;
        for (int i = 0; i < leavers; ++i) {
            m_queue[size_t(i)]->signal(SIGTERM);
            QCOMPARE(m_queue[size_t(i)]->jsonLine().value("reason"_L1).toString(), u"interrupted"_s);
            QCOMPARE(m_queue[size_t(i)]->finish().status, 0);
        }
        QVERIFY(hasEntered(size_t(holders)));
    }

    void forceReleaseLetsTheNextOneIn_data()
    {
        asRows([](const Played &one) {
            return recipes::findRecipe(one.recipe)->backend == BackendKind::Redis && one.holders == 1;
        });
    }
    void forceReleaseLetsTheNextOneIn()
    {
        const auto &[name, recipe, contenders, holders, seen] = ofRow();
        begin(recipe);
        const auto had = join(recipe, contenders[0]).jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool());
        join(recipe, contenders[1]);
        QTRY_COMPARE(draw(show()), QString::fromLatin1(seen));
        QStringList force{u"force-release"_s, m_lock, u"--holder"_s, had.value("id"_L1).toString(), u"--json"_s};
        if (recipe == "redis-getset")
            force << u"--not-exact"_s; // a moment may be the next holder's as well
        const auto dry = ran(force + QStringList{u"--dry-run"_s});
        QVERIFY2(dry.status == 0, dry.what());
        QVERIFY2(dry.json().value("commands"_L1).toArray().size() >= 2, dry.what());
        const auto forced = ran(force + QStringList{u"--yes"_s});
        QVERIFY2(forced.status == 0 && forced.json().value("released"_L1).toBool(), forced.what());
        QVERIFY(hasEntered(1)); // long before any lease ends
        // Whose value says nothing about anybody cannot tell that the lock is another's now.
        if (recipe == "redis-setnx-expire" || recipe == "redis-getset")
            return;
        QCOMPARE(m_queue[0]->jsonLine().value("reason"_L1).toString(), u"lost"_s);
        QCOMPARE(m_queue[0]->finish().status, 1);
    }

    // An optimistic lock keeps nobody out: whoever comes second to the end finds out.
    void theSecondWriterIsTold()
    {
        begin("sql-version");
        auto &first = join("sql-version", {});
        QVERIFY(first.jsonLine().value("acquired"_L1).toBool());
        const auto entered = join("sql-version", u"--hold 10ms"_s).finish();
        QVERIFY2(entered.status == 0, entered.what());
        first.signal(SIGTERM);
        const auto ended = first.finish();
        QVERIFY2(ended.status == 1 && ended.err.contains("conflict"), ended.what());
    }

    // A semaphore that stores its number would stay with it, and its application's own be refused.
    void aStoredLimitIsMadeOnlyWhenSaidAndMustAgree_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto *recipe : {"kazoo-semaphore", "redisson-semaphore"})
            row(recipe, QByteArray(recipe));
    }
    void aStoredLimitIsMadeOnlyWhenSaidAndMustAgree()
    {
        QFETCH(QByteArray, recipe);
        begin(recipe);
        const auto refused = join(recipe, {}).finish();
        QVERIFY2(refused.status == 2 && refused.err.contains("--limit"), refused.what());
        QVERIFY(show().value("contenders"_L1).toArray().isEmpty());
        QVERIFY(join(recipe, u"--limit 2"_s).jsonLine().value("acquired"_L1).toBool());
        const auto other = join(recipe, u"--limit 3"_s).finish();
        QVERIFY2(other.status != 0 && other.err.contains("2 permits"), other.what());
    }

    void unsupportedOptionIsRefusedAtOnce_data()
    {
        const Rows<QByteArray, QString, QString> row("recipe", "lock", "options");
        row("permits of a mutex", "curator-mutex", u"refused"_s, u"--limit 2"_s);
        row("a semaphore's reader", "curator-semaphore", u"refused"_s, u"--mode read"_s);
        row("the separator in a name", "zk-flat-mutex", u"a_lock_b"_s, {});
    }
    void unsupportedOptionIsRefusedAtOnce()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(QString, lock);
        QFETCH(QString, options);
        begin(recipe);
        m_lock = u"it:/refused/"_s + lock;
        const auto refused = join(recipe, options).finish();
        QVERIFY2(refused.status != 0 && refused.status != 5 && refused.out.isEmpty(), refused.what());
        QVERIFY2(lock == u"refused" || refused.err.contains("_lock_"), refused.what());
        QVERIFY(!await(m_servers.session->exists(ZPath("/refused"), std::nullopt, m_servers.soon())));
    }
};

LOCKSCOPE_TEST(TestCtlRecipes)
#include "tst_ctl_recipes.moc"
