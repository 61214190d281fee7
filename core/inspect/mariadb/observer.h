// SPDX-License-Identifier: Apache-2.0
// One MariaDB's or MySQL's observer. It looks less often where the looks of others keep the server from renewing what
// it tells of rows (core/mariadb/freshness.h). Coverage says then how old that may be, and so does each snapshot of a
// row.
#pragma once

#include "core/inspect/mariadb/reader.h"
#include "core/inspect/mariadb/sqlobserver.h"

namespace lockscope::inspect {

class MariaDbObserver final : public SqlObserver {
public:
    MariaDbObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink)
        : SqlObserver(session, std::move(name), std::move(options), sink), m_reader(session)
    {
    }
    ~MariaDbObserver() override { stop(); }

    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray lock, Deadline deadline) override;

private:
    Task<Result<Seen>> look(Deadline deadline) override;
    [[nodiscard]] Duration restAfterLook(Duration usual) override { return m_reader.restAfterLook(usual); }
    [[nodiscard]] Looks looks() const override;
    [[nodiscard]] QString coverageDescription() const override;
    [[nodiscard]] std::vector<LockSnapshot> steadied(std::vector<LockSnapshot> snapshots) const;
    [[nodiscard]] QString oldRowsText() const;

    SqlReader m_reader;
};

} // namespace lockscope::inspect
