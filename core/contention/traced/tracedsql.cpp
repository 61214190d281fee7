// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsql.h"

namespace lockscope::contention {

Reply<mariadb::Rows> TracedSql::execute(mariadb::Statement statement, Deadline deadline)
{
    const auto verb = statement.text.left(statement.text.indexOf(' '));
    m_trace->sent(m_contender, verb, statement.text, statement.text.size());
    auto reply = inner().execute(std::move(statement), deadline);
    reply.observe([verb, trace = m_trace, contender = m_contender,
                   alive = std::weak_ptr<bool>(m_alive)](const Result<mariadb::Rows> &result) {
        if (!alive.expired())
            trace->answered(contender, verb, !result, 0);
    });
    return reply;
}

} // namespace lockscope::contention
