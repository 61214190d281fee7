// SPDX-License-Identifier: Apache-2.0
// A contender's way to a row or a named lock on a simulated SQL server, in a run or in a rehearsal. Which one it is
// changes nothing.
#pragma once

#include "core/contention/servers.h"
#include "core/contention/traced/tracedport.h"
#include "core/rules/catalogue.h"
#include "core/simservers/mariadb/server.h"

namespace lockscope::contention {

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

} // namespace lockscope::contention
