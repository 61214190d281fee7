// SPDX-License-Identifier: Apache-2.0
// Asks one PostgreSQL for a look: one statement for locks and sessions, so that they are of one moment. What nobody
// waits for, and is no advisory lock, is not asked for. Loop thread only.
#pragma once

#include "core/async/task.h"
#include "core/inspect/postgresql/look.h"
#include "core/inspect/postgresql/pglockrows.h"
#include "core/mariadb/session.h"

#include <set>

namespace lockscope::inspect {

class PgReader {
public:
    // `session` outlives the reader and its tasks.
    explicit PgReader(mariadb::Session &session) : m_session(session) {}

    Task<Result<PgLook>> look(Deadline deadline);
    // The next look reads the rows that are locks by what stands in them as they are then.
    void readLockRowsAnew() { m_lockRows.readAnew(); }
    [[nodiscard]] std::vector<Unexplained> lockTablesNotRead() const { return m_lockRows.unexplained(); }
    // What the last look could not see.
    [[nodiscard]] const QStringList &gaps() const { return m_gaps; }
    [[nodiscard]] bool hasLooked() const { return m_hasLooked; }
    [[nodiscard]] qint64 requests() const { return m_requests; }

private:
    Task<Result<void>> setUp(Deadline deadline);
    Task<Result<void>> readLockRows(PgLook *look, Deadline deadline);
    Task<Result<void>> readPrepared(PgLook *look, Deadline deadline);
    Task<Result<void>> readLimits(PgLook *look, Deadline deadline);
    Task<Result<void>> readRowKeys(PgLook *look, Deadline deadline);
    Task<Result<PgRowKey>> readRowKey(PgLock tuple, Deadline deadline);
    Task<Result<void>> readSharers(PgLook *look, Deadline deadline);
    Task<Result<QByteArrayList>> sharersOf(PgLock tuple, QByteArray waitedFor, Deadline deadline);
    Task<Result<QByteArray>> tableName(QByteArray relation, Deadline deadline);
    Task<Result<QByteArrayList>> readKeyColumns(QByteArray relation, Deadline deadline);
    [[nodiscard]] Reply<mariadb::Rows> send(const QByteArray &text, Deadline deadline,
                                            const QByteArrayList &parameters = {});

    mariadb::Session &m_session;
    mariadb::ConnectionId m_knownFor = 0;
    // Of a row that somebody waits for, and by whom it was known that it is still that row (see readRowKeys).
    struct KnownKey {
        PgRowKey key;
        std::set<QByteArray> waiters;
    };
    std::map<PgRowKeys::key_type, KnownKey> m_rowKeys;
    bool m_isReconnected = false;
    SqlLockRows m_lockRows{pgLockRows()};
    QStringList m_gaps;
    qint64 m_requests = 0;
    bool m_hasLooked = false;
};

} // namespace lockscope::inspect
