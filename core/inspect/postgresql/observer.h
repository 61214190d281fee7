// SPDX-License-Identifier: Apache-2.0
// One PostgreSQL's observer.
#pragma once

#include "core/inspect/mariadb/sqlobserver.h"
#include "core/inspect/postgresql/reader.h"

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
        return {m_reader.hasLooked(), m_reader.requests(), m_reader.gaps() + m_unexplained,
                m_reader.lockTablesNotRead()};
    }
    [[nodiscard]] QString whatIsSeen() const override;

    PgReader m_reader;
    QStringList m_unexplained; // waits of the last look that no snapshot shows
};

} // namespace lockscope::inspect
