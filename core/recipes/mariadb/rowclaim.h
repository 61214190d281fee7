// SPDX-License-Identifier: Apache-2.0
// What the locks on a MariaDB or MySQL share that are a row which says itself whose it is: the answer to a write may
// be lost, and is asked for; what may have become ours is given back. To the server such a row is no lock: the
// connection may end.
#pragma once

#include "core/recipes/make.h"
#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

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
