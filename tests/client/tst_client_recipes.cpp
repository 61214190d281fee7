// SPDX-License-Identifier: Apache-2.0
// Every recipe that can be acquired, through the C++ library and on a real server of its kind: it excludes another
// contender, and lets it in after the release.
#include "tests/client/clientfixture.h"

#include "core/async/qtloop.h"
#include "core/mariadb/dialect.h"
#include "core/rules/catalogue.h"

namespace {

// What a lock of this recipe is called; {} where any name does.
std::string nameFor(const recipes::RecipeInfo &recipe)
{
    const auto id = recipe.id.toStdString();
    static const std::map<std::string, std::string> names{
        {"sql-for-update", "shop.stock#id=1"},
        {"sql-version", "shop.stock#id=2"},
        {"sql-get-lock", "GET_LOCK#client"},
        {"sql-shedlock", "SHEDLOCK#client.shedlock#job"},
        {"sql-insert-mark", "MARK#client.lock_marks#job"},
        {"sql-status-flag", "FLAG#client.lock_flags#1"},
        {"pg-advisory", "ADVISORY#42"},
        {"pg-for-update", "public.stock#id=1"},
        {"pg-skip-locked", "public.jobs#id=1"},
    };
    const auto named = names.find(id);
    return named != names.end() ? named->second
                                : (recipe.backend == BackendKind::ZooKeeper ? "/client/" : "client:") + id;
}

} // namespace

class TestClientRecipes : public QObject {
    Q_OBJECT

    std::map<BackendKind, std::unique_ptr<sandbox::Server>> m_servers;
    std::vector<std::unique_ptr<sandbox::Server>> m_set; // of Redlock
    std::map<BackendKind, std::string> m_uris;
    std::map<BackendKind, std::optional<Client>> m_clients;

    void start(BackendKind backend, const char *scheme, Result<std::unique_ptr<sandbox::Server>> made,
               const char *rest = "")
    {
        auto &server = m_servers[backend];
        OK(startInto(server, std::move(made)));
        m_uris[backend] = uriOf(scheme, *server, rest);
    }
    void makeTables()
    {
        QtLoop loop;
        const auto admin = mariadb::openSession(
            loop, {.host = m_servers[BackendKind::MariaDb]->address(), .user = QStringLiteral("root")});
        const QByteArrayList statements{
            "CREATE DATABASE client",
            "CREATE TABLE client.shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL, locked_at "
            "TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL) ENGINE=InnoDB",
            "CREATE TABLE client.lock_marks (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(64) NOT NULL, created_at "
            "DATETIME(3) NOT NULL) ENGINE=InnoDB",
            "CREATE TABLE client.lock_flags (id INT PRIMARY KEY, version BIGINT NOT NULL, status INT NOT NULL) "
            "ENGINE=InnoDB",
            "INSERT INTO client.lock_flags VALUES (1, 0, 0)"};
        QVERIFY(eventually([&] { return admin->state() == mariadb::SessionState::Connected; }));
        for (const auto &statement : statements) {
            const auto done = answerOf(admin->execute({statement, {}, {}, true}, Deadline::after(loop, 15s)));
            QVERIFY2(done, done ? "" : qPrintable(done.error().message));
        }
    }

private slots:
    void initTestCase()
    {
        start(BackendKind::ZooKeeper, "zk://", sandbox::makeZooKeeper());
        start(BackendKind::Redis, "redis://", sandbox::makeRedis());
        start(BackendKind::MariaDb, "mariadb://root@", sandbox::makeMariaDb(), "/shop");
        start(BackendKind::Etcd, "etcd://", sandbox::makeEtcd());
        start(BackendKind::PostgreSql, "postgresql://shop@", sandbox::makePostgreSql(), "/shop");
        makeTables();
        for (const auto &[backend, uri] : m_uris) {
            auto client = v0::connect(uri);
            QVERIFY2(client, textOf(client).constData());
            m_clients[backend] = std::move(*client);
        }
    }
    void cleanupTestCase()
    {
        m_clients.clear();
        m_servers.clear();
        m_set.clear();
    }

    void eachRecipeExcludes_data()
    {
        const Rows<QByteArray> row("id");
        for (const auto &recipe : recipes::catalogue()) {
            if (recipe.acquirable)
                row(recipe.id.constData(), recipe.id);
        }
    }
    void eachRecipeExcludes()
    {
        QFETCH(QByteArray, id);
        const auto &recipe = recipes::recipeOf(id);
        std::optional<Client> set;
        if (recipe.quorum) {
            std::string hosts;
            for (int i = 0; i < 3; ++i) {
                OK(startInto(m_set.emplace_back(), sandbox::makeRedis()));
                hosts += (i ? "," : "") + displayHost(m_set.back()->address()).toStdString();
            }
            GOT(set, v0::connect("redis://" + hosts));
        }
        auto &client = set ? *set : *m_clients[recipe.backend];
        const auto known = client.recipes();
        QVERIFY(std::ranges::count(known, id.toStdString()) == 1);
        v0::LockOptions options;
        if (recipe.counted)
            options.limit = 1;
        GOT(auto lock, client.lock(nameFor(recipe), id.toStdString(), options));
        GOT(auto other, client.lock(nameFor(recipe), id.toStdString(), options));

        GOT(auto hold, lock.acquire(20s));
        QVERIFY(hold.isHeld());
        QVERIFY(!hold.id().empty());
        QCOMPARE(hold.fencingToken().has_value(), recipe.fenced);
        if (recipe.optimistic) { // nothing is held: who was slower finds out when it writes
            GOT(auto second, other.acquire(20s));
            QVERIFY(second.release());
            QCOMPARE(codeOf(hold.release()), code(v0::ErrorCode::Conflict));
            return;
        }
        const auto refused = other.acquire(Millis(300));
        QCOMPARE(textOf(refused).isEmpty(), false);
        QCOMPARE(codeOf(refused), code(v0::ErrorCode::TimedOut));
        QVERIFY(hold.isHeld());

        const auto token = hold.fencingToken();
        auto waiting = other.acquireAsync();
        const auto released = hold.release();
        QVERIFY2(released, textOf(released).constData());
        QVERIFY(!hold.isHeld());
        GOT(auto next, waiting.get());
        QVERIFY(next.isHeld());
        QVERIFY(!token || *next.fencingToken() > *token);
        QVERIFY(next.release());
        GOT(auto again, lock.acquire(20s)); // the same object once more
        QVERIFY(again.isHeld());
    }

    void reentrantHoldTakesAsManyReleases()
    {
        GOT(auto lock, m_clients[BackendKind::ZooKeeper]->lock("/client/twice", "curator-mutex"));
        GOT(auto other, m_clients[BackendKind::ZooKeeper]->lock("/client/twice", "curator-mutex"));
        GOT(auto first, lock.acquire(20s));
        GOT(auto second, lock.acquire(20s));
        QVERIFY(first.release());
        QVERIFY(second.isHeld());
        QCOMPARE(codeOf(other.acquire(Millis(200))), code(v0::ErrorCode::TimedOut));
        QVERIFY(second.release());
        GOT(auto theirs, other.acquire(20s));
        QVERIFY(theirs.isHeld());
    }

    void readersShare()
    {
        auto &client = *m_clients[BackendKind::ZooKeeper];
        GOT(auto one, client.lock("/client/shared", "curator-rwlock", {.read = true}));
        GOT(auto two, client.lock("/client/shared", "curator-rwlock", {.read = true}));
        GOT(auto writer, client.lock("/client/shared", "curator-rwlock"));
        GOT(auto first, one.acquire(20s));
        GOT(auto second, two.acquire(20s));
        QVERIFY(first.isHeld() && second.isHeld());
        QCOMPARE(codeOf(writer.acquire(Millis(200))), code(v0::ErrorCode::TimedOut));
    }

    void wrongRecipesAndNamesAreRefused()
    {
        auto &client = *m_clients[BackendKind::Redis];
        QCOMPARE(codeOf(client.lock("a", "no-such-recipe")), code(v0::ErrorCode::BadInput));
        QCOMPARE(codeOf(client.lock("a", "zk-mutex")), code(v0::ErrorCode::BadInput));
        QCOMPARE(codeOf(client.lock("a", "redis-set-nx", {.read = true})), code(v0::ErrorCode::BadInput));
        QCOMPARE(codeOf(client.lock("a", "redis-semaphore")), code(v0::ErrorCode::Unsupported));
        GOT(auto nameless, client.lock("", "redis-set-nx"));
        QCOMPARE(codeOf(nameless.acquire(5s)), code(v0::ErrorCode::BadInput));
        QCOMPARE(codeOf(client.lock("a")), code(v0::ErrorCode::BadInput)); // none is recommended on Redis
        GOT(auto usual, m_clients[BackendKind::Etcd]->lock("client/usual"));
        GOT(auto hold, usual.acquire(5s));
        QVERIFY(hold.isHeld());
    }
};

LOCKSCOPE_TEST(TestClientRecipes)
#include "tst_client_recipes.moc"
