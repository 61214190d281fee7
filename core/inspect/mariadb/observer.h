// SPDX-License-Identifier: Apache-2.0
// One MariaDB's or MySQL's observer. It looks less often where the looks of others keep the server from renewing what
// it tells of rows (core/mariadb/session.h). Coverage says then how old that may be, and so does each snapshot of a
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

// What the user of a connection may do there: a sentence each, by the privileges that the server lists for
// CURRENT_USER(); what roles add is not in that list, and said not to be. `session` outlives the task.
[[nodiscard]] Task<QStringList> mariaDbRights(mariadb::Session *session, Deadline deadline);

// The id under which snapshots show what one of our own connections holds. Empty where the server does not tell:
// without PROCESS, or while others keep what it says of transactions from being renewed. `recipe`: sql-for-update or
// sql-get-lock; none has an id of this kind else. The session holds it now.
[[nodiscard]] Task<std::optional<QByteArray>> ownContenderId(mariadb::Session *session, QByteArray recipe,
                                                             Deadline deadline);

} // namespace lockscope::inspect
