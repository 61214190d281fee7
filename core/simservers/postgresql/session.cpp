// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/postgresql/session.h"

namespace lockscope::sim {

using mariadb::Rows;
using mariadb::Statement;

namespace {

// What an answer of the other server means here.
enum class Meaning {
    TheSame,
    Void,          // a function of no value: an empty text
    TrueOrNothing, // NULL where nobody has the lock; here 0, as where another has it
};

struct Translated {
    Statement statement;
    Meaning meaning = Meaning::TheSame;
};

// One key or two, as the other's name.
QByteArray keyIn(const Statement &statement)
{
    const bool isOfTwo = statement.text.contains("?, ?") || statement.text.contains("objsubid = 2");
    return isOfTwo ? statement.parameters.join(',') : statement.parameters.value(0);
}

Translated translated(Statement statement)
{
    const auto &text = statement.text;
    const auto as = [&statement](const char *words, const QByteArrayList &parameters, Meaning meaning = {}) {
        return Translated{{words, parameters, statement.connection, statement.isLasting}, meaning};
    };
    if (text.startsWith("SELECT pg_advisory_lock("))
        return as("SELECT GET_LOCK(?, ?) AS mine", {keyIn(statement), "31536000"}, Meaning::Void);
    if (text.startsWith("SELECT pg_try_advisory_lock("))
        return as("SELECT GET_LOCK(?, ?) AS mine", {keyIn(statement), "0"});
    if (text.startsWith("SELECT pg_advisory_unlock("))
        return as("SELECT RELEASE_LOCK(?) AS again", {keyIn(statement)}, Meaning::TrueOrNothing);
    if (text.contains("FROM pg_catalog.pg_locks"))
        return as("SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {keyIn(statement)}, Meaning::TrueOrNothing);
    Translated same{std::move(statement), Meaning::TheSame};
    same.statement.text.replace('"', '`');
    return same;
}

Result<Rows> understood(const Result<Rows> &answer, Meaning meaning)
{
    if (!answer || meaning == Meaning::TheSame || answer->rows.empty())
        return answer;
    auto rows = *answer;
    auto &value = rows.rows.front().front();
    value = meaning == Meaning::Void ? QByteArray() : value.value_or("0");
    return rows;
}

class PostgreSqlSession final : public mariadb::ForwardingSession {
public:
    explicit PostgreSqlSession(std::unique_ptr<mariadb::Session> session)
        : ForwardingSession(*session), m_session(std::move(session))
    {
    }

    QByteArray serverVersion() const override { return QByteArrayLiteral("15.8"); }
    mariadb::Features features() const override { return {}; }
    void send(Request &&request) override
    {
        auto &asked = std::get<Asked<Statement>>(request);
        auto there = translated(std::move(asked.request));
        inner()
            .execute(std::move(there.statement), asked.deadline)
            .then([reply = asked.reply, meaning = there.meaning](const Result<Rows> &answer) {
                reply.complete(understood(answer, meaning));
            });
    }

private:
    std::unique_ptr<mariadb::Session> m_session;
};

} // namespace

std::unique_ptr<mariadb::Session> openPostgreSqlSession(Process &process, SqlServer &server, Network &network)
{
    SqlLinkOptions options;
    options.idleAtMost = std::chrono::hours(24 * 365); // it has no limit of its own
    return std::make_unique<PostgreSqlSession>(openSession(process, server, network, options));
}

} // namespace lockscope::sim
