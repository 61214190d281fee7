// SPDX-License-Identifier: Apache-2.0
#include "core/world/postgresql/session.h"

#include "core/mariadb/forwardingsession.h"

namespace lockscope::world {

using namespace Qt::StringLiterals;
using mariadb::Rows;
using mariadb::Statement;

namespace {

// What an answer of the other server means here.
enum class Meaning {
    TheSame,
    GrantOrEnd,   // GET_LOCK answers a wait that was ended; pg_advisory_lock fails
    SkippedIfNot, // NOWAIT fails where SKIP LOCKED finds nothing
};

struct Translated {
    Statement statement;
    Meaning meaning = Meaning::TheSame;
};

// One key or two, as the other's name.
QByteArray keyIn(const Statement &statement)
{
    return statement.text.contains("?, ?") ? statement.parameters.join(',') : statement.parameters.value(0);
}

Translated translated(Statement statement)
{
    const auto &text = statement.text;
    const auto as = [&statement](const char *words, const QByteArrayList &parameters, Meaning meaning = {}) {
        return Translated{{words, parameters, statement.connection, statement.isLasting}, meaning};
    };
    if (text.startsWith("SELECT pg_advisory_lock("))
        return as("SELECT GET_LOCK(?, ?) AS mine", {keyIn(statement), "31536000"}, Meaning::GrantOrEnd);
    if (text.startsWith("SELECT pg_try_advisory_lock("))
        return as("SELECT GET_LOCK(?, ?) AS mine", {keyIn(statement), "0"});
    if (text.startsWith("SELECT pg_advisory_unlock("))
        return as("SELECT RELEASE_LOCK(?) AS again", {keyIn(statement)});
    if (text.contains("FROM pg_catalog.pg_locks"))
        return as("SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {keyIn(statement)});
    if (text == "SELECT 1 AS mine")
        return as("SELECT @@in_transaction AS mine", {});
    Translated same{std::move(statement), Meaning::TheSame};
    same.statement.text.replace('"', '`');
    const QByteArray skipping(" LIMIT 1 FOR UPDATE SKIP LOCKED");
    if (same.statement.text.endsWith(skipping)) {
        same.statement.text.replace(skipping, " FOR UPDATE NOWAIT");
        same.meaning = Meaning::SkippedIfNot;
    }
    return same;
}

Result<Rows> understood(const Result<Rows> &answer, Meaning meaning, bool isLate)
{
    if (meaning == Meaning::SkippedIfNot && !answer && answer.error().code == ErrorCode::TimedOut && !isLate)
        return Rows();
    if (meaning == Meaning::GrantOrEnd && answer && answer->cell(0, "mine") != QByteArray("1"))
        return Error{isLate ? ErrorCode::TimedOut : ErrorCode::Cancelled,
                     isLate ? u"timed out"_s : u"the statement was ended from outside"_s, true};
    return answer;
}

class PostgreSqlSession final : public mariadb::ForwardingSession {
public:
    explicit PostgreSqlSession(std::unique_ptr<mariadb::Session> session)
        : ForwardingSession(*session), m_session(std::move(session))
    {
    }

    QByteArray serverVersion() const override { return QByteArrayLiteral("15.8"); }
    Reply<Rows> execute(Statement statement, Deadline deadline) override
    {
        auto there = translated(std::move(statement));
        auto &world = loop();
        Reply<Rows> reply(world);
        inner()
            .execute(std::move(there.statement), deadline)
            .then([reply, deadline, meaning = there.meaning, &world](const Result<Rows> &answer) {
                reply.complete(understood(answer, meaning, deadline.hasPassed(world)));
            });
        return reply;
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

} // namespace lockscope::world
