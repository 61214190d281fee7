// SPDX-License-Identifier: Apache-2.0
// A simulated SQL server that contenders contend on: what its dialects have in common.
#pragma once

#include "core/contention/sqlaccess.h"

namespace lockscope::contention {

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
