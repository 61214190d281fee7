// Asks one server for a look: which statements it understands, which privileges and instruments it lacks,
// and how often it may be asked. Loop thread only.
#pragma once

#include "core/async/task.h"
#include "core/inspect/mariadb/look.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

class SqlReader {
public:
    // `session` outlives the reader and its tasks.
    explicit SqlReader(mariadb::Session &session) : m_session(session) {}

    // One look at a time, and never sooner than MariaDB's snapshot of its locks is made anew: that happens
    // only when nobody has read it for 100 ms. What the server refuses is left out and said in gaps().
    // `also` is a named lock to ask for in any case.
    Task<Result<SqlLook>> look(Deadline deadline, QByteArray also = {});
    [[nodiscard]] const QStringList &gaps() const { return m_gaps; }
    [[nodiscard]] bool hasLooked() const { return m_hasLooked; }
    [[nodiscard]] qint64 requests() const { return m_requests; }

private:
    class Turn;
    enum class NamedLocks { NotAsked, PerformanceSchema, Plugin, WaitersOnly };

    Task<Result<SqlLook>> ask(Deadline deadline, QByteArray also);
    Task<Result<NamedLocks>> findNamedLocks(Deadline deadline);
    Task<Result<bool>> readRowLocks(SqlLook *look, Deadline deadline);
    Task<Result<bool>> readProcesses(SqlLook *look, Deadline deadline);
    Task<Result<bool>> readNamedLocks(SqlLook *look, Deadline deadline, QByteArray also);
    Task<Result<bool>> addHolders(SqlLook *look, Deadline deadline, QByteArray also);
    Task<Result<bool>> readColumns(SqlLook *look, Deadline deadline);
    [[nodiscard]] Reply<mariadb::Rows> send(const QByteArray &text, Deadline deadline, const QByteArrayList &parameters = {});
    void note(const QString &gap);

    mariadb::Session &m_session;
    mariadb::ConnectionId m_knownFor = 0; // the connection all this was found out on
    NamedLocks m_namedLocks = NamedLocks::NotAsked;
    IndexColumns m_columns;
    QStringList m_gaps;    // of the last look
    QStringList m_newGaps; // of the one under way
    qint64 m_requests = 0;
    Instant m_lastLook{};
    bool m_hasLooked = false;
    std::optional<OneShot<bool>> m_looking; // completes when the look under way has ended
};

} // namespace lockscope::inspect
