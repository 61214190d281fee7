// SPDX-License-Identifier: Apache-2.0
// One PostgreSQL's observer.
#pragma once

#include "core/async/task.h"
#include "core/inspect/mariadb/sqlobserver.h"
#include "core/inspect/postgresql/reader.h"
#include "core/mariadb/session.h"

#include <QStringList>

namespace lockscope::inspect {

class PostgreSqlObserver final : public SqlObserver {
public:
    PostgreSqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink)
        : SqlObserver(session, std::move(name), std::move(options), sink), m_reader(session)
    {
    }
    ~PostgreSqlObserver() override { stop(); }

    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray lock, Deadline deadline) override;

private:
    Task<Result<Seen>> look(Deadline deadline) override;
    [[nodiscard]] Looks looks() const override
    {
        return {m_reader.hasLooked(), m_reader.requests(), m_reader.gaps(), m_reader.lockTablesNotRead(),
                m_reader.endedDeadlocks()};
    }
    [[nodiscard]] QString coverageDescription() const override;

    PgReader m_reader;
};

// What the user of a connection may do on its PostgreSQL.

// A sentence each, by its memberships. `session` outlives the task.
[[nodiscard]] Task<QStringList> postgreSqlRights(mariadb::Session *session, Deadline deadline);

// The id under which snapshots show what one of our own connections holds.

// The session holds it now. Everybody is told of his own.
[[nodiscard]] Task<std::optional<QByteArray>> ownBackendId(mariadb::Session *session, QByteArray recipe,
                                                           Deadline deadline);

} // namespace lockscope::inspect
