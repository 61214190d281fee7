// SPDX-License-Identifier: Apache-2.0
// MariaDB: a lock is a row of shop.contract or a named lock; both live with a connection.
#include "testenvironment.h"

#include "core/mariadb/client.h"
#include "tests/support/countingsql.h"
#include "tests/support/plannedports.h"

#include <algorithm>

namespace lockscope::contract {

using namespace Qt::StringLiterals;
using test::await;
using test::Cable;

namespace {

std::unique_ptr<mariadb::Session> openSession(Loop &loop, const HostPort &server, const QString &user)
{
    mariadb::SessionOptions options;
    options.host = server;
    options.user = user;
    options.askIdleEvery = 200ms;
    options.idleAnswersWithin = 30s; // it is paused here for longer than a server may be silent
    return mariadb::openSession(loop, options);
}

class MariaDbClient : public Client {
public:
    MariaDbClient(Loop &loop, const HostPort &server, std::function<void(const TestName &)> furnish,
                  const QString &user = u"root"_s)
        : m_furnish(std::move(furnish))
    {
        m_cable = std::make_unique<Cable>(server);
        m_real = openSession(loop, m_cable->address(), user);
        m_planned = std::make_unique<testing::PlannedSql>(*m_real, plan);
        m_counting = std::make_unique<testing::CountingSql>(*m_planned);
    }

    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                const recipes::AcquireOptions &options, Random) override
    {
        m_furnish(name);
        const bool isNamed = recipes::recipeOf(recipe).shape == recipes::Shape::NamedLock;
        const QByteArray lock = (isNamed ? "GET_LOCK#" : "shop.contract#name=") + name;
        return recipes::makeLock(recipe, *m_counting, lock, options);
    }
    bool isConnected() const override { return m_real->state() == mariadb::SessionState::Connected; }
    bool isOver() const override
    {
        return m_real->state() != mariadb::SessionState::Connected
               && m_real->state() != mariadb::SessionState::Connecting;
    }
    int requests() const override { return m_counting->statements(); }
    QByteArray spoken() const override { return QByteArray::number(requests()) + " statements"; }
    int wakeUps() const override { return 0; } // a waiter hears by its own answer
    void resetCounts() override { m_counting->reset(); }
    // Who waits has a statement out: as calm as it gets.
    bool isIdle() const override { return true; }
    void cut() override { m_cable->cut(); }
    void mend() override { m_cable->mend(); }
    qsizetype held() const override { return m_planned->traffic().held(); }
    void letThrough() override { m_planned->traffic().letThrough(); }

private:
    std::function<void(const TestName &)> m_furnish;
    std::unique_ptr<Cable> m_cable;
    std::unique_ptr<mariadb::Session> m_real;
    std::unique_ptr<testing::PlannedSql> m_planned;
    std::unique_ptr<testing::CountingSql> m_counting;
};

class MariaDbEnvironment : public TestEnvironment {
public:
    using TestEnvironment::TestEnvironment;
    ~MariaDbEnvironment() override
    {
        dismissClients();
        m_admin.reset();
        mariadb::waitForClosingSessions(5s);
    }

    Result<void> start() override
    {
        auto made = sandbox::makeMariaDb();
        if (!made)
            return made.error();
        m_server = std::move(*made);
        auto started = m_server->start(60s);
        if (!started)
            return started;
        m_admin = openSession(loop(), m_server->address(), u"root"_s);
        if (!eventually([this] { return m_admin->state() == mariadb::SessionState::Connected; }))
            return Error{ErrorCode::NotConnected, m_admin->lastError()};
        for (
            const QByteArray text : {
                "CREATE TABLE shop.contract (name VARCHAR(64) PRIMARY KEY, version BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB",
                "CREATE USER 'onlooker'@'%'",
                "CREATE USER 'onlooker'@'localhost'",
            }) {
            const auto done = ask(text);
            if (!done)
                return done.error();
        }
        return {};
    }

    QByteArrayList claims(const TestName &name) override
    {
        QByteArrayList all;
        const auto named = ask("SELECT t.PROCESSLIST_ID AS id, m.LOCK_STATUS AS status FROM "
                               "performance_schema.metadata_locks m JOIN performance_schema.threads t "
                               "ON t.THREAD_ID = m.OWNER_THREAD_ID WHERE m.OBJECT_TYPE = 'USER LEVEL LOCK' "
                               "AND m.OBJECT_NAME = ?",
                               {name});
        for (size_t row = 0; named && row < named->rows.size(); ++row)
            all << "GET_LOCK " + named->cell(row, "status").value_or("?") + ' '
                       + named->cell(row, "id").value_or("?");
        if (isRowLocked(name))
            all << "row " + name;
        const auto waiting =
            ask("SELECT ID AS id FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Query', 'Execute') "
                "AND ID <> CONNECTION_ID() AND INFO LIKE '%contract%FOR UPDATE%'");
        for (size_t row = 0; waiting && isRowLocked(name) && row < waiting->rows.size(); ++row)
            all << "waiting " + waiting->cell(row, "id").value_or("?");
        std::sort(all.begin(), all.end());
        return all;
    }
    bool confirms(const TestName &name, const recipes::Grant &grant) override
    {
        const auto owner = ask("SELECT IS_USED_LOCK(?) AS owner", {name});
        return isRowLocked(name) || (owner && owner->cell(0, "owner") == grant.id);
    }
    // As force-release does: the connection goes, and all it holds.
    bool takeAway(const TestName &, const recipes::Grant &grant) override { return bool(ask("KILL " + grant.id)); }
    bool takeAwayClaim(const QByteArray &claim) override
    {
        return bool(ask("KILL " + claim.mid(claim.lastIndexOf(' ') + 1)));
    }
    QString whatIsForEver(const TestName &, const recipes::Grant &) override { return {}; }
    QByteArrayList everything() override
    {
        QByteArrayList names;
        const auto named = ask("SELECT OBJECT_NAME AS name FROM performance_schema.metadata_locks "
                               "WHERE OBJECT_TYPE = 'USER LEVEL LOCK'");
        for (size_t row = 0; named && row < named->rows.size(); ++row)
            names << named->cell(row, "name").value_or("?");
        std::sort(names.begin(), names.end());
        return names;
    }
    QString addForeign(const TestName &) override { return u"nothing stands beside a row"_s; }
    bool clear(const TestName &) override { return true; }
    std::unique_ptr<Client> powerless(const TestName &) override
    {
        auto client = std::make_unique<MariaDbClient>(loop(), m_server->address(), furnishing(), u"onlooker"_s);
        eventually([&] { return client->isConnected(); });
        return client;
    }

    void pause() override { m_server->pause(); }
    void resume() override { m_server->resume(); }
    Result<void> restart() override
    {
        m_server->stop();
        auto started = m_server->start(60s);
        eventually([this] { return m_admin->state() != mariadb::SessionState::Connected; }, 2s);
        eventually([this] { return m_admin->state() == mariadb::SessionState::Connected; });
        return started;
    }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override
    {
        return std::make_unique<MariaDbClient>(loop(), m_server->address(), furnishing());
    }

private:
    Result<mariadb::Rows> ask(const QByteArray &text, const QByteArrayList &parameters = {})
    {
        return await(m_admin->execute({text, parameters, std::nullopt, false}, Deadline::after(loop(), 15s)));
    }
    // Every lock has its row, whether its recipe wants one or not.
    std::function<void(const TestName &)> furnishing()
    {
        return [this](const TestName &name) {
            if (m_furnished.contains(name))
                return; // and it may be locked by now
            m_furnished << name;
            if (!ask("INSERT IGNORE INTO shop.contract (name) VALUES (?)", {name}))
                qFatal("no row for a lock");
        };
    }
    bool isRowLocked(const TestName &name)
    {
        const auto all = ask("SELECT name FROM shop.contract WHERE name = ? FOR UPDATE SKIP LOCKED", {name});
        return all && all->rows.empty();
    }

    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<mariadb::Session> m_admin;
    QByteArrayList m_furnished;
};

} // namespace

std::unique_ptr<TestEnvironment> makeMariaDbEnvironment(Loop &loop)
{
    return std::make_unique<MariaDbEnvironment>(loop);
}

} // namespace lockscope::contract
