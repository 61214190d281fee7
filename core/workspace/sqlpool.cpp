// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsql.h"
#include "core/workspace/sqllink.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class SqlPool : public ContenderPool {
public:
    SqlPool(SqlLink &link, const ContenderPoolContext &context)
        : m_link(link), m_scenario(context.scenario),
          m_lock(link.kit().runLock(recipes::recipeOf(context.scenario.recipe), "lockscope_simulate_" + context.name))
    {
        for (int i = 0; i < m_scenario.contenders; ++i) {
            m_sessions.push_back(m_link.openSession());
            m_traced.push_back(std::make_unique<contention::TracedSql>(*m_sessions.back(), context.trace, i));
        }
    }

    [[nodiscard]] bool isReady() const override
    {
        return std::all_of(m_sessions.begin(), m_sessions.end(),
                           [](const auto &session) { return session->state() == mariadb::SessionState::Connected; });
    }

    Task<Result<void>> prepare(Deadline deadline) override
    {
        for (const auto &text : m_lock.making) {
            const mariadb::Statement statement{text, {}, {}, true};
            auto executing = m_link.session().execute(statement, deadline);
            const auto done = co_await executing;
            if (!done)
                co_return Error{done.error().code,
                                u"simulate needs a row of its own, and could not make it on %1: %2"_s.arg(
                                    m_link.spec().displayUri(), done.error().message)};
        }
        co_return Result<void>();
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return m_link.kit().makeLock(m_scenario.recipe, *m_traced[std::size_t(contender)], m_lock.name, options);
    }

    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        auto executing = m_link.session().execute(m_lock.ending, deadline);
        const auto done = co_await executing;
        const bool isLeft =
            m_lock.making.isEmpty() ? done && done->cell(0, "held") == QByteArray("1") : !done.operator bool();
        co_return isLeft ? std::vector{m_lock.left} : std::vector<QByteArray>();
    }

private:
    SqlLink &m_link;
    const contention::Scenario m_scenario;
    const SqlRunLock m_lock;
    std::vector<std::unique_ptr<mariadb::Session>> m_sessions;
    std::vector<std::unique_ptr<contention::TracedSql>> m_traced; // by contender
};

} // namespace

std::unique_ptr<ContenderPool> makeSqlPool(SqlLink &link, const ContenderPoolContext &context)
{
    return std::make_unique<SqlPool>(link, context);
}

} // namespace lockscope
