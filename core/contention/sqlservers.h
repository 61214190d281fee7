// SPDX-License-Identifier: Apache-2.0
// A simulated SQL server that contenders contend on: what its dialects have in common.
#pragma once

#include "core/contention/servers.h"
#include "core/contention/traced/tracedport.h"
#include "core/rules/catalogue.h"
#include "core/simservers/mariadb/server.h"

namespace lockscope::contention {

// A contender's way to a row or a named lock on a simulated SQL server, in a run or in a rehearsal. Which one it is
// changes nothing.

inline const QByteArray simulatedTable("sim.row"), simulatedKey("id"), simulatedRow("1");

[[nodiscard]] inline bool takesNamedLock(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).shape == recipes::Shape::NamedLock;
}

// What came of a statement that somebody typed: which rows it found.
[[nodiscard]] inline QByteArray sqlWords(const mariadb::Rows &answer)
{
    if (answer.columns.isEmpty())
        return answer.affected > 0 ? QByteArray::number(answer.affected) + " changed" : QByteArray("ok");
    QByteArrayList first;
    for (const auto &row : answer.rows)
        first << row.front().value_or("NULL");
    return first.isEmpty() ? QByteArray("no row") : answer.columns.front() + ' ' + first.join(", ");
}

class SqlAccess final : public ContenderAccess {
public:
    using Make = std::function<Result<std::unique_ptr<recipes::Lock>>(mariadb::Session &session, Random random)>;

    SqlAccess(std::unique_ptr<mariadb::Session> session, Trace &trace, int contender, Make make)
        : m_session(std::move(session)), m_traced(*m_session, trace, contender), m_make(std::move(make))
    {
    }
    ~SqlAccess() override
    {
        if (onGone)
            onGone();
    }
    Q_DISABLE_COPY(SqlAccess)

    [[nodiscard]] bool isReady() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool /*readMode*/, Random random) override
    {
        return m_make(m_traced, std::move(random));
    }
    [[nodiscard]] std::optional<Completion<QByteArray>> act(const QByteArray &command) override
    {
        Completion<QByteArray> words(m_traced.loop());
        m_traced.execute({command, {}, {}, false}, Deadline::never())
            .then([words](const Result<mariadb::Rows> &answer) {
                words.complete(answer ? sqlWords(*answer) : answer.error().message.toUtf8());
            });
        return words;
    }
    [[nodiscard]] mariadb::ConnectionId connection() const { return m_session->connectionId(); }
    // Told when it goes.
    std::function<void()> onGone;

private:
    std::unique_ptr<mariadb::Session> m_session;
    TracedSql m_traced;
    const Make m_make;
};

// What opens one.
struct SqlAccessContext {
    const Scenario &scenario;
    sim::Network &network;
    Trace &trace;
    sim::SqlServer &server;
    sim::Process &process;
    int contender;
};

class SqlServers : public Servers {
public:
    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender) final;
    [[nodiscard]] int count() const final { return 1; }
    bool expire(int contender) final;
    // KILL of who holds it, or of who waits.
    bool forceRelease(bool ofWaiter) override;
    [[nodiscard]] std::vector<ServerLine> state() const override;
    [[nodiscard]] std::vector<QByteArray> leftBehind() const final;
    // Who died while it waited is noticed when it gets its turn, or within a second; and whose last message was
    // late, when that has come: the end of a connection comes behind it.
    [[nodiscard]] Duration longestGap() const final { return 2 * Duration(m_context.scenario.ttl) + 10s; }
    [[nodiscard]] Duration longestLife() const final { return 2 * Duration(m_context.scenario.ttl) + 2s; }

protected:
    // Named locks stand in the picture as `kind` and their name; contenders contend for that one `name`.
    SqlServers(const ServersContext &context, const sim::SqlServerRules &rules, QByteArray kind, QByteArray name);

    [[nodiscard]] virtual std::unique_ptr<SqlAccess> openAccess(const SqlAccessContext &context) const = 0;
    // The rows that a recipe locks.
    [[nodiscard]] virtual std::vector<ServerLine> rows() const = 0;
    [[nodiscard]] ServerLine rowLine(const sim::RowId &row, const QByteArray &what) const;
    [[nodiscard]] const Scenario &scenario() const { return m_context.scenario; }
    [[nodiscard]] Trace &trace() const { return m_context.trace; }

    sim::SqlServer m_server;

private:
    // `queue`: who has it, then who waits, by the server's numbers.
    [[nodiscard]] ServerLine line(const QByteArray &name, const QByteArray &what,
                                  const std::deque<mariadb::ConnectionId> &queue) const;
    [[nodiscard]] QByteArray nameOf(mariadb::ConnectionId connection) const;

    const ServersContext m_context;
    const QByteArray m_kind, m_name;
    std::map<int, SqlAccess *> m_accesses; // of those that are there
};

} // namespace lockscope::contention
