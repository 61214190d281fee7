// SPDX-License-Identifier: Apache-2.0
// The locks on a MariaDB or MySQL; each one's rules stand in its own file.
#pragma once

#include "core/base/random.h"
#include "core/mariadb/session.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/sqllock.h"
#include "core/async/task.h"

#include <QScopeGuard>

namespace lockscope::recipes {

// What the locks share that are a row which says itself whose it is: the answer to a write may be lost, and is asked
// for; what may have become ours is given back. To the server such a row is no lock: the connection may end.

// Nobody knows whether the server has done it; or it can be asked again on the next connection.
[[nodiscard]] bool isUncertain(const Error &error);

// `asking` answers 1 in the column "mine" if the row is ours.
[[nodiscard]] Task<Result<bool>> isRowOurs(mariadb::Session *session, mariadb::Statement asking, Deadline deadline);
// Keeps asking over broken connections until the deadline.
[[nodiscard]] Task<Result<bool>> whoseAtLast(mariadb::Session *session, mariadb::Statement asking, Deadline deadline);

// Sends `freeing`, which compares whose row it is, until it was done. True when it is certainly not ours any more.
[[nodiscard]] Task<bool> giveBackRow(mariadb::Session *session, mariadb::Statement freeing);

// A write is out: unless somebody says that the row is not ours, or keeps it, it is given back when this goes.
struct RowReturn {
    mariadb::Session *session;
    WaitGroup waitGroup;
    mariadb::Statement freeing;
    void operator()() const { waitGroup.add(session->background(), giveBackRow(session, freeing)); }
};
using RowGuard = QScopeGuard<RowReturn>;

// What release() answers. `freeing` changes the row if it is ours; it goes on in the background if there is no
// answer, or nobody to hear it.
[[nodiscard]] Task<Result<void>> freeRow(mariadb::Session *session, WaitGroup waitGroup, mariadb::Statement freeing,
                                         QString what, Deadline deadline);

// sql-for-update: a row locked for the length of a transaction.
class ForUpdateLock final : public TransactionLock {
public:
    ForUpdateLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~ForUpdateLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;
    Task<Result<mariadb::Rows>> lockRow(mariadb::ConnectionId connection, Deadline deadline);
    [[nodiscard]] mariadb::Statement ownershipQuery() const override;

    RowName m_row;
};

// sql-get-lock: a lock with a name, held by a connection.
class GetLockLock final : public NamedLock {
public:
    // `lock` is what it is called, `name` what the server is given.
    GetLockLock(mariadb::Session &session, const QByteArray &lock, QByteArray name);
    ~GetLockLock() override { shutDown(); }

private:
    Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) override;
    [[nodiscard]] mariadb::Statement ownershipQuery() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    QByteArray m_name;
};

// sql-version: an optimistic lock, a column that counts who wrote last.
class VersionLock final : public LockBase {
public:
    VersionLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~VersionLock() override { shutDown(); }

    // BadVersion when somebody else wrote meanwhile: nothing was written, and the work has to be done
    // again, from acquire() on. UnknownOutcome when the answer was lost: it may have been written.
    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<qint64>> readVersion(Deadline deadline);
    [[nodiscard]] bool isHeld() const override { return m_version.has_value(); }
    void letGo() override { m_version.reset(); }

    mariadb::Session *m_session;
    RowName m_row;
    std::optional<qint64> m_version; // that was read, and not written yet
    int m_conflicts = 0;             // in a row
};

// One try to have a row that says whose it is: a new token for each, so that what takes back an earlier one can never
// hit this one.
struct RowClaim {
    LeasedRowName row;
    QByteArray token;
};

// What the locks share that are a row which says itself whose it is.
class RowLockBase : public LockBase {
public:
    RowLockBase(mariadb::Session &session, const QByteArray &lock, LeasedRowName row, Random random)
        : LockBase(session.loop(), lock), m_session(&session), m_row(std::move(row)), m_random(std::move(random)),
          m_waitGroup(session.loop())
    {
    }

protected:
    Task<Result<Grant>> take(Deadline deadline) override;
    virtual Task<Result<Grant>> poll(Deadline deadline) = 0;

    mariadb::Session *m_session;
    LeasedRowName m_row;
    Random m_random;
    WaitGroup m_waitGroup;
};

// sql-shedlock: a row that says who has it, and until when.
class LeasedRow final : public RowLockBase {
public:
    // `ttl` at least 1 ms. The table has ShedLock's columns, times with milliseconds (TIMESTAMP(3)).
    LeasedRow(mariadb::Session &session, const QByteArray &lock, LeasedRowName row, std::chrono::milliseconds ttl,
              Random random);
    ~LeasedRow() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    using Session = mariadb::Session;
    struct Held {
        Held(Session &session, RowClaim its, std::chrono::milliseconds ttl, Instant asked,
             std::function<void(Loss)> onEnd);
        RowClaim claim;
        KeepAlive life;
    };

    Task<Result<Grant>> poll(Deadline deadline) override;
    [[nodiscard]] bool isHeld() const override { return m_held && !m_held->life.isOver(); }
    void letGo() override;

    std::chrono::milliseconds m_ttl;
    bool m_isRowThere = false; // certainly
    std::optional<Held> m_held;
};

// sql-insert-mark: a row that is there while the lock is held.
class MarkLock final : public RowLockBase {
public:
    // The table has the columns name, its primary key, owner and created_at.
    using RowLockBase::RowLockBase;
    ~MarkLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    Task<Result<Grant>> poll(Deadline deadline) override;
    [[nodiscard]] bool isHeld() const override { return m_held.has_value(); }
    void letGo() override;

    std::optional<RowClaim> m_held;
};

// sql-status-flag: a flag in a row, set by comparing its version.
class FlagLock final : public RowLockBase {
public:
    // The row is there; its table has the columns id, version and status. UnknownOutcome of acquire(): nobody can
    // tell whether the flag is ours, and nothing is given back.
    using RowLockBase::RowLockBase;
    ~FlagLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    struct Seen {
        qint64 version = 0;
        bool isSet = false;
    };

    Task<Result<Grant>> poll(Deadline deadline) override;
    Task<Result<Seen>> look(Deadline deadline);
    Task<Result<bool>> setOnce(qint64 version, Deadline deadline);
    // After a lost answer. UnknownOutcome unless the flag is certainly not ours.
    Task<Result<void>> findNotOurs(qint64 version, Deadline deadline);
    [[nodiscard]] bool isHeld() const override { return m_version.has_value(); }
    void letGo() override;

    std::optional<qint64> m_version; // that we have written, and not cleared yet
};

} // namespace lockscope::recipes
