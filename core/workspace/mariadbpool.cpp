// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsql.h"
#include "core/workspace/mariadblink.h"

#include "core/base/text.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class MariaDbPool : public ContenderPool {
public:
    MariaDbPool(MariaDbPort &port, const ContenderPoolContext &context)
        : m_port(port), m_scenario(context.scenario), m_name("lockscope_simulate_" + context.name),
          m_isNamed(recipes::recipeOf(context.scenario.recipe).shape == recipes::Shape::NamedLock),
          m_isLeased(recipes::recipeOf(context.scenario.recipe).endsBy == recipes::EndsBy::Lease)
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

    // A row of our own needs a table of our own, and that a database.
    Task<Result<void>> prepare(Deadline deadline) override
    {
        if (m_isNamed)
            co_return Result<void>();
        QByteArrayList statements{"CREATE DATABASE " + m_name};
        if (m_isLeased)
            statements
                << "CREATE TABLE " + m_name
                       + ".shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL, locked_at "
                         "TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL) "
                         "ENGINE=InnoDB";
        else
            statements << "CREATE TABLE " + m_name
                              + ".row (id INT PRIMARY KEY, version BIGINT NOT NULL) ENGINE=InnoDB"
                       << "INSERT INTO " + m_name + ".row VALUES (1, 0)";
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
        const auto lock = m_isNamed    ? "GET_LOCK#" + m_name
                          : m_isLeased ? "SHEDLOCK#" + m_name + ".shedlock#sim"
                                       : m_name + ".row#id=1";
        return recipes::makeLock(m_scenario.recipe, *m_traced[std::size_t(contender)], lock, options,
                                 Random::fromSystem());
    }

    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        const mariadb::Statement asking{"SELECT IS_USED_LOCK(?) AS holder", {m_name}, {}, false};
        const mariadb::Statement dropping{"DROP DATABASE " + m_name, {}, {}, true};
        const auto statement = m_isNamed ? asking : dropping;
        auto executing = m_port.session().execute(statement, deadline);
        const auto done = co_await executing;
        if (m_isNamed && done && done->cell(0, "holder"))
            left.push_back("GET_LOCK#" + m_name);
        if (!m_isNamed && !done)
            left.push_back("database " + m_name);
        co_return left;
    }

private:
    MariaDbPort &m_port;
    const contention::Scenario m_scenario;
    const QByteArray m_name;
    const bool m_isNamed, m_isLeased;
    std::vector<std::unique_ptr<mariadb::Session>> m_sessions;
    std::vector<std::unique_ptr<contention::TracedSql>> m_traced; // by contender
};

} // namespace

std::unique_ptr<ContenderPool> makeMariaDbPool(MariaDbPort &port, const ContenderPoolContext &context)
{
    return std::make_unique<MariaDbPool>(port, context);
}

} // namespace lockscope
