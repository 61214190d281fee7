// SPDX-License-Identifier: Apache-2.0
// A session on MariaDB that tells the trace what one contender sends and hears.
#pragma once

#include "core/contention/trace.h"
#include "core/mariadb/session.h"

namespace lockscope::contention {

class TracedSql : public mariadb::Session {
public:
    TracedSql(mariadb::Session &inner, Trace &trace, int contender)
        : m_inner(inner), m_trace(&trace), m_contender(contender)
    {
    }

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] mariadb::SessionState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    [[nodiscard]] mariadb::ConnectionId connectionId() const override { return m_inner.connectionId(); }
    [[nodiscard]] QByteArray serverVersion() const override { return m_inner.serverVersion(); }
    mariadb::Subscription onState(std::function<void(mariadb::SessionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    Reply<mariadb::Rows> execute(mariadb::Statement statement, Deadline deadline) override;
    void interrupt(mariadb::ConnectionId connection) override { m_inner.interrupt(connection); }

private:
    mariadb::Session &m_inner;
    Trace *m_trace;
    const int m_contender;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
};

} // namespace lockscope::contention
