// SPDX-License-Identifier: Apache-2.0
// A connection to a database, whose locks live with it: MariaDB's and PostgreSQL's differ in how it is opened, in
// what a lock is called, and in what has to stand there before.
#pragma once

#include "testenvironment.h"

#include "core/mariadb/dialect.h"
#include "tests/support/countingsql.h"
#include "tests/support/plannedports.h"

#include <algorithm>

namespace lockscope::contract {

struct SqlWay {
    std::unique_ptr<mariadb::Session> (*open)(Loop &loop, const HostPort &server, const QString &user);
    Result<std::unique_ptr<recipes::Lock>> (*make)(const QByteArray &recipe, mariadb::Session &session,
                                                   const QByteArray &lock, const recipes::AcquireOptions &options,
                                                   Random random);
    QByteArray (*lockOf)(const recipes::RecipeInfo &recipe, const TestName &name);
    // Every lock has its row, whether its recipe wants one or not.
    std::function<void(const TestName &)> furnish;
};

class SqlClient final : public CabledClient<mariadb::Session, testing::PlannedSql, testing::CountingSql> {
public:
    SqlClient(Loop &loop, const HostPort &server, SqlWay way, const QString &user)
        : CabledClient(server), m_way(std::move(way))
    {
        use(m_way.open(loop, m_cable.address(), user), plan);
    }

    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                const recipes::AcquireOptions &options, Random random) override
    {
        m_way.furnish(name);
        return m_way.make(recipe, *m_counting, m_way.lockOf(recipes::recipeOf(recipe), name), options,
                          std::move(random));
    }
    bool isOver() const override { return !isConnected() && m_real->state() != mariadb::SessionState::Connecting; }
    int requests() const override { return m_counting->statements(); }
    QByteArray spoken() const override { return QByteArray::number(requests()) + " statements"; }
    int wakeUps() const override { return 0; } // a waiter hears by its own answer
    // Who waits has a statement out: as calm as it gets.
    bool isIdle() const override { return true; }
    qsizetype held() const override { return m_planned->held(); }
    void letThrough() override { m_planned->letThrough(); }

private:
    SqlWay m_way;
};

// What stands for a lock lives with a connection, or in a row of a table "contract".
class SqlEnvironment : public OneServer<mariadb::Session> {
public:
    using OneServer::OneServer;
    ~SqlEnvironment() override
    {
        dismissClients();
        m_admin.reset();
        mariadb::waitForClosingSessions(5s);
    }

    QString whatIsForEver(const TestName &, const recipes::Grant &) override { return {}; }
    QString addForeign(const TestName &) override { return QStringLiteral("nothing stands beside a row"); }
    bool clear(const TestName &) override { return true; }
    std::unique_ptr<Client> powerless(const TestName &) override
    {
        auto client = std::make_unique<SqlClient>(loop(), m_server->address(), way(), QStringLiteral("onlooker"));
        eventually([&] { return client->isConnected(); });
        return client;
    }

protected:
    virtual SqlWay way() = 0;
    Result<void> furnishServer(std::unique_ptr<mariadb::Session> admin, const QByteArrayList &statements)
    {
        m_admin = std::move(admin);
        if (!eventually([this] { return isConnected(); }))
            return Error{ErrorCode::NotConnected, m_admin->lastError()};
        for (const auto &text : statements) {
            const auto done = ask(text);
            if (!done)
                return done.error();
        }
        return {};
    }
    Result<mariadb::Rows> ask(const QByteArray &text, const QByteArrayList &parameters = {})
    {
        return testing::await(
            m_admin->execute({text, parameters, std::nullopt, false}, Deadline::after(loop(), 15s)));
    }
    bool isRowLocked(const TestName &name)
    {
        const auto all = ask("SELECT name FROM " + m_table + " WHERE name = ? FOR UPDATE SKIP LOCKED", {name});
        return all && all->rows.empty();
    }
    static QByteArrayList sorted(QByteArrayList all)
    {
        std::sort(all.begin(), all.end());
        return all;
    }

    QByteArray m_table; // "contract", with its schema
    QByteArrayList m_furnished;
};

} // namespace lockscope::contract
