// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsql.h"
#include "core/recipes/postgresql/make.h"
#include "core/workspace/postgresqllink.h"

#include "core/base/random.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class PostgreSqlPool : public ContenderPool {
public:
    PostgreSqlPool(PostgreSqlPort &port, const ContenderPoolContext &context)
        : m_port(port), m_scenario(context.scenario), m_name("lockscope_simulate_" + context.name),
          m_key(QByteArray::number(static_cast<qint64>(Random::fromSystem().next() >> 1))),
          m_isAdvisory(recipes::recipeOf(context.scenario.recipe).shape == recipes::Shape::NamedLock)
    {
        for (int i = 0; i < m_scenario.contenders; ++i) {
            m_sessions.push_back(m_port.openSession());
            m_traced.push_back(std::make_unique<contention::TracedSql>(*m_sessions.back(), context.trace, i));
        }
    }

    [[nodiscard]] bool isReady() const override
    {
        return std::all_of(m_sessions.begin(), m_sessions.end(),
                           [](const auto &session) { return session->state() == mariadb::SessionState::Connected; });
    }

    // A row of our own needs a table of our own, and that a schema.
    Task<Result<void>> prepare(Deadline deadline) override
    {
        if (m_isAdvisory)
            co_return Result<void>();
        const QByteArrayList statements{"CREATE SCHEMA " + m_name,
                                        "CREATE TABLE " + m_name + ".row (id INT PRIMARY KEY)",
                                        "INSERT INTO " + m_name + ".row VALUES (1)"};
        for (const auto &text : statements) {
            const mariadb::Statement statement{text, {}, {}, true};
            auto executing = m_port.session().execute(statement, deadline);
            const auto done = co_await executing;
            if (!done)
                co_return Error{done.error().code,
                                u"simulate needs a row of its own, and could not make it on %1: %2"_s.arg(
                                    m_port.uri(), done.error().message)};
        }
        co_return Result<void>();
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        const auto lock = m_isAdvisory ? "ADVISORY#" + m_key : m_name + ".row#id=1";
        return recipes::makePostgreSqlLock(m_scenario.recipe, *m_traced[std::size_t(contender)], lock, options);
    }

    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        // Free if it can be had; what is had by that ends with the statement's own transaction.
        const mariadb::Statement asking{"SELECT pg_try_advisory_xact_lock(?)::int AS free", {m_key}, {}, false};
        const mariadb::Statement dropping{"DROP SCHEMA " + m_name + " CASCADE", {}, {}, true};
        const auto statement = m_isAdvisory ? asking : dropping;
        auto executing = m_port.session().execute(statement, deadline);
        const auto done = co_await executing;
        if (m_isAdvisory && done && done->cell(0, "free") != QByteArray("1"))
            left.push_back("ADVISORY#" + m_key);
        if (!m_isAdvisory && !done)
            left.push_back("schema " + m_name);
        co_return left;
    }

private:
    PostgreSqlPort &m_port;
    const contention::Scenario m_scenario;
    const QByteArray m_name, m_key;
    const bool m_isAdvisory;
    std::vector<std::unique_ptr<mariadb::Session>> m_sessions;
    std::vector<std::unique_ptr<contention::TracedSql>> m_traced; // by contender
};

} // namespace

std::unique_ptr<ContenderPool> makePostgreSqlPool(PostgreSqlPort &port, const ContenderPoolContext &context)
{
    return std::make_unique<PostgreSqlPool>(port, context);
}

} // namespace lockscope
