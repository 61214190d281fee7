// SPDX-License-Identifier: Apache-2.0
// A session on MariaDB that tells the trace what one contender sends and hears.
#pragma once

#include "core/contention/trace.h"
#include "core/mariadb/session.h"

namespace lockscope::contention {

class TracedSql : public mariadb::ForwardingSession {
public:
    TracedSql(mariadb::Session &inner, Trace &trace, int contender)
        : ForwardingSession(inner), m_trace(&trace), m_contender(contender)
    {
    }

    Reply<mariadb::Rows> execute(mariadb::Statement statement, Deadline deadline) override;

private:
    Trace *m_trace;
    const int m_contender;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
};

} // namespace lockscope::contention
