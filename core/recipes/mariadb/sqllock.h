// SPDX-License-Identifier: Apache-2.0
// What the locks that live and die with an SQL connection share: which connection holds, noticing that it
// is gone, and that nothing is left behind by an attempt that failed.
//
// A session carries one such lock at a time: a transaction belongs to the whole connection, and ending a
// wait ends whatever the connection does.
#pragma once

#include "core/recipes/lockbase.h"
#include "core/recipes/mariadb/undo.h"

namespace lockscope::recipes {

class SqlLock : public LockBase {
public:
    Task<Result<bool>> isStillMine(Deadline deadline) final;

protected:
    SqlLock(mariadb::Session &session, const QByteArray &lock);

    Task<Result<Grant>> take(Deadline deadline) final;
    // On a connection that stands. What may be held when it fails is in the hands of an UndoGuard.
    virtual Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) = 0;
    // Answers 1 in the column "mine" while the lock is ours.
    [[nodiscard]] virtual mariadb::Statement whetherMine() const = 0;
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

} // namespace lockscope::recipes
