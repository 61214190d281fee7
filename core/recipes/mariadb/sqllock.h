// SPDX-License-Identifier: Apache-2.0
// What the locks that live and die with an SQL connection share: which connection holds, noticing that it
// is gone, and that nothing is left behind by an attempt that failed.
//
// A session carries one such lock at a time: a transaction belongs to the whole connection, and ending a
// wait ends whatever the connection does.
#pragma once

#include "core/recipes/lockbase.h"
#include "core/recipes/make.h"
#include "core/recipes/mariadb/rowname.h"

#include <QScopeGuard>

namespace lockscope::recipes {

// Giving back what a connection may hold for us, when nobody waits for it any more. Loop thread only; the
// session outlives it.
struct Undo {
    mariadb::Session *session = nullptr;
    mariadb::ConnectionId connection = 0;
    // "ROLLBACK"; or one that is sent again for as long as it answers 1 in the column "again".
    QByteArray text;
    QByteArrayList parameters;
};

// Ends what the connection waits for and undoes it, in the background.
void undoInBackground(const WaitGroup &waitGroup, Undo undo);

// Something may be held: undone when this goes out of scope, unless it is dismissed.
struct UndoCall {
    WaitGroup waitGroup;
    Undo undo;
    void operator()() const { undoInBackground(waitGroup, undo); }
};
using UndoGuard = QScopeGuard<UndoCall>;

class SqlLock : public LockBase {
public:
    Task<Result<bool>> isStillMine(Deadline deadline) final;

protected:
    SqlLock(mariadb::Session &session, const QByteArray &lock);

    Task<Result<Grant>> take(Deadline deadline) final;
    // On a connection that stands. What may be held when it fails is in the hands of an UndoGuard.
    virtual Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) = 0;
    // Answers 1 in the column "mine" while the lock is ours.
    [[nodiscard]] virtual mariadb::Statement ownershipQuery() const = 0;
    [[nodiscard]] virtual Undo undoing(mariadb::ConnectionId connection) const = 0;

    [[nodiscard]] bool isHeld() const final { return m_connection && m_session->connectionId() == *m_connection; }
    void letGo() final;
    [[nodiscard]] Grant holdOn(mariadb::ConnectionId connection);
    void forget() { m_connection.reset(); }

    [[nodiscard]] mariadb::Session &session() const { return *m_session; }
    [[nodiscard]] const WaitGroup &waitGroup() const { return m_waitGroup; }

private:
    [[nodiscard]] Task<Result<void>> untilGivenBack(Deadline deadline);
    void heed(mariadb::SessionState state);

    mariadb::Session *m_session;
    WaitGroup m_waitGroup;
    std::optional<mariadb::ConnectionId> m_connection; // that holds it
    Subscription m_state;
};

// Waiting for a connection and for answers, as the SQL recipes do.

// Until the session is connected. AuthFailed, NotConnected (closed for good) or TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(mariadb::Session *session, Deadline deadline);

// How long to wait for the answer to a statement that does not wait for anybody: not longer than the
// deadline, but long enough to learn what became of it, and not for ever.
[[nodiscard]] Deadline answerBy(const mariadb::Session &session, Deadline deadline);

// What is held by a transaction, whatever its statement asks for.
class TransactionLock : public SqlLock {
public:
    // By COMMIT. UnknownOutcome when the connection broke while that was out: the lock is gone in any case,
    // whether what was written stays is not known.
    Task<Result<void>> release(Deadline deadline) final;

protected:
    using SqlLock::SqlLock;
    // It ends only with the transaction, and that only with the connection.
    [[nodiscard]] mariadb::Statement ownershipQuery() const override { return {"SELECT 1 AS mine", {}, {}, false}; }
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const final
    {
        return {&session(), connection, "ROLLBACK", {}};
    }
};

// A lock by a name or a number that a connection holds, whatever its transactions do, and that who holds it gets
// again: GET_LOCK, pg_advisory_lock.
class NamedLock : public SqlLock {
public:
    [[nodiscard]] int holdCount() const final { return isHeld() ? m_count : 0; }
    Task<Result<void>> release(Deadline deadline) final;

protected:
    using SqlLock::SqlLock;
    // False: the time was over. Asked by who has it already, too. The statement of undoing() gives it back once, and
    // answers 1 in the column "again" if it was ours.
    virtual Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) = 0;

private:
    Task<Result<Grant>> reenter(Deadline deadline) final;
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) final;

    int m_count = 0;
    bool m_mayBeMore = false; // to the server, after a re-entry whose answer did not come
};

// What the locks on a MariaDB or MySQL share that are a row which says itself whose it is: the answer to a write may
// be lost, and is asked for; what may have become ours is given back. To the server such a row is no lock: the
// connection may end.

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
    // After a failure, once nothing of it is left, or with UnknownOutcome.
    Task<Result<Grant>> take(Deadline deadline) override
    {
        auto taken = co_await poll(deadline);
        if (taken)
            co_return taken;
        const bool isClean =
            co_await m_waitGroup.finished(answerBy(*m_session, Deadline::at(m_session->loop().now())));
        co_return isClean ? taken.error() : lateGrantError(taken.error());
    }
    virtual Task<Result<Grant>> poll(Deadline deadline) = 0;

    mariadb::Session *m_session;
    LeasedRowName m_row;
    Random m_random;
    WaitGroup m_waitGroup;
};

// sql-shedlock: a row that says who has it, and until when.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLeasedRow(mariadb::Session &session, const QByteArray &lock,
                                                          const AcquireOptions &options, Random random);
// sql-status-flag: a flag in a row, set by comparing its version.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeFlagLock(mariadb::Session &session, const QByteArray &lock,
                                                         const AcquireOptions &options, Random random);

} // namespace lockscope::recipes
