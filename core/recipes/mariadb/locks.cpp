// SPDX-License-Identifier: Apache-2.0
// The locks on a MariaDB or MySQL, but for two (rowclaim.cpp).
#include "core/base/text.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

using mariadb::Statement;

namespace {

// The row lock. Source: MariaDB documentation, "SELECT ... FOR UPDATE" and "InnoDB Lock Modes".
//   1. START TRANSACTION: the lock will live as long as this.
//   2. SELECT the row FOR UPDATE. If another transaction has it, the server queues us, first come first
//      served, and answers when the row is ours. Without time to wait: NOWAIT.
//   3. The server's own lock wait timeout (1205) is not ours: while there is time, ask again.
//   4. No such row: nothing is locked. That is an error of its own, not "free". A row that is itself a lock, and says
//      that it is taken (rowname.h): refused.
//   5. Whatever else went wrong (no time left, victim of a deadlock, connection lost): ROLLBACK, so that
//      an attempt that failed holds nothing.
//   6. To release, COMMIT (sqllock.cpp). Who waited next has the row at once, and is told by its own answer.
//
// A lost reply needs no question: with the connection the server drops the transaction and its locks. No
// fencing token.

// sql-for-update: a row locked for the length of a transaction.
class ForUpdateLock final : public TransactionLock {
public:
    ForUpdateLock(mariadb::Session &session, const QByteArray &lock, RowName row)
        : TransactionLock(session, lock), m_row(std::move(row))
    {
    }
    ~ForUpdateLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override
    {
        UndoGuard guard(UndoCall{waitGroup(), undoing(connection)});                      // 5
        CO_TRY_VOID(co_await session().begin(connection, answerBy(session(), deadline))); // 1
        CO_TRY(const auto &row, co_await lockRow(connection, deadline));                  // 2, 3
        if (row.rows.empty())                                                             // 4
            co_return Error{ErrorCode::NoRow, u"the row does not exist, so there is nothing to lock"_s};
        const mariadb::Statement clock{ownClock, {}, connection, false};
        CO_TRY_VOID(co_await refuseOwnedRow(&session(), m_row, row, clock, deadline));
        guard.dismiss();
        co_return holdOn(connection);
    }

    Task<Result<mariadb::Rows>> lockRow(mariadb::ConnectionId connection, Deadline deadline)
    {
        const mariadb::Statement select{"SELECT * FROM " + m_row.quotedTable() + " WHERE " + m_row.condition()
                                            + " FOR UPDATE",
                                        m_row.values, connection, false};
        auto once = select;
        once.text += " NOWAIT";
        auto &loop = session().loop();
        for (bool isFirst = true;; isFirst = false) {
            const bool hasTime = !deadline.hasPassed(loop);
            if (!hasTime && !isFirst)
                co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
            auto locking = hasTime ? session().execute(select, deadline)
                                   : session().execute(once, answerBy(session(), deadline));
            auto row = co_await locking;
            if (row || row.error().code != ErrorCode::TimedOut || !hasTime)
                co_return row;
        }
    }

    [[nodiscard]] mariadb::Statement ownershipQuery() const override
    {
        // It ends only with the transaction, and that only with the connection, or when the server rolls it back: of
        // that its victim is told, and what it can say later depends on the server.
        const auto features = session().features();
        const QByteArray notTold = "SELECT 1 AS mine";
        const auto byEvents = features.transactionEvents ? mariadb::hasTransactionByEvents : notTold;
        return {features.inTransaction ? "SELECT @@in_transaction AS mine" : byEvents, {}, {}, false};
    }

    RowName m_row;
};

// The named lock. Source: MariaDB documentation, "GET_LOCK" and "RELEASE_LOCK".
//   1. SELECT GET_LOCK(name, seconds left). If another connection has the name, the server queues us,
//      first come first served, and answers 1 when it is ours, 0 when the time was over.
//   2. NULL: somebody ended the wait (KILL QUERY). Named locks have deadlocks, too: an error of its own.
//   3. To give it back, SELECT RELEASE_LOCK(name). 0 or NULL: it was not ours.
// When that is done: sqllock.cpp.
//
// COMMIT does not release it; the end of the connection does, so a lost reply needs no question. It is not
// replicated: each server has its own. MariaDB compares names byte by byte, MySQL does not mind case. No
// fencing token.

// "0.25"; a year when there is no limit (a negative number would be no lock at all on MariaDB).
QByteArray secondsLeft(const Loop &loop, Deadline deadline)
{
    constexpr std::chrono::hours longest(24 * 365);
    const auto left = std::min<Duration>(deadline.remaining(loop), longest);
    return QByteArray::number(std::chrono::duration<double>(left).count(), 'f', 3);
}

// For a server that knows whole seconds only: no sooner than the deadline, which ours ends.
QByteArray wholeSecondsLeft(const Loop &loop, Deadline deadline)
{
    return QByteArray::number(qint64(std::chrono::ceil<std::chrono::seconds>(deadline.remaining(loop)).count()));
}

// sql-get-lock: a lock with a name, held by a connection.
class GetLockLock final : public NamedLock {
public:
    // `lock` is what it is called, `name` what the server is given.
    GetLockLock(mariadb::Session &session, const QByteArray &lock, QByteArray name)
        : NamedLock(session, lock), m_name(std::move(name))
    {
    }
    ~GetLockLock() override { shutDown(); }

private:
    Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) override
    {
        constexpr auto tooSoon = 20ms;
        auto &loop = session().loop();
        for (bool isTooSoon = false;;) {
            const auto seconds = isTooSoon ? wholeSecondsLeft(loop, deadline) : secondsLeft(loop, deadline);
            const mariadb::Statement question{"SELECT GET_LOCK(?, ?) AS mine", {m_name, seconds}, connection, false};
            // The server keeps the time; ours only ends what it forgot.
            const auto grace = isTooSoon ? 0ms : 500ms;
            const auto latest =
                deadline.isNever() ? deadline : Deadline::at(std::max(deadline.when(), loop.now()) + grace);
            CO_TRY(const auto &answer, co_await session().execute(question, latest));
            const auto mine = answer.cell(0, "mine");
            if (!mine) // 2
                co_return Error{ErrorCode::Cancelled,
                                u"the server ended the wait (NULL): KILL QUERY, or out of memory"_s, true};
            // MySQL rounds: of 10.3 s it waits 10, of 0.3 none.
            isTooSoon = !deadline.isNever() && deadline.remaining(loop) > tooSoon;
            if (*mine == "1" || (!deadline.isNever() && !isTooSoon))
                co_return *mine == "1";
        }
    }
    [[nodiscard]] mariadb::Statement ownershipQuery() const override
    {
        return {"SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {m_name}, {}, false};
    }
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override
    {
        return {&session(), connection, "SELECT RELEASE_LOCK(?) AS again", {m_name}};
    }

    QByteArray m_name;
};

// The optimistic lock. Source: Kung and Robinson, "On Optimistic Methods for Concurrency Control"; the
// version column of every object-relational mapper.
//   1. SELECT version. It is the fencing token, and nobody is kept out by our having read it.
//   2. (The work, from what was read.)
//   3. To release, UPDATE … SET version = version + 1 WHERE version = what was read. One row changed: nobody
//      wrote meanwhile, and what is written under the new version is ours.
//   4. No row changed: a conflict. Somebody was faster, our work is stale, and nothing was written. Start
//      again at 1. It is counted, and after so many conflicts in a row we give up instead.
//
// Nothing waits and nothing is held, so nothing can be seen, lost or taken away. Under contention all but one
// of a round work in vain.

constexpr int mostConflicts = 100; // in a row: more of them are a fault that an operator has to see

const QByteArray versionColumn("`version`");

// sql-version: an optimistic lock, a column that counts who wrote last.
class VersionLock final : public LockBase {
public:
    VersionLock(mariadb::Session &session, const QByteArray &lock, RowName row)
        : LockBase(session.loop(), lock), m_session(&session), m_row(std::move(row))
    {
    }
    ~VersionLock() override { shutDown(); }

    // BadVersion when somebody else wrote meanwhile: nothing was written, and the work has to be done
    // again, from acquire() on. UnknownOutcome when the answer was lost: it may have been written.
    Task<Result<void>> release(Deadline deadline) override
    {
        if (!m_version)
            co_return Error{ErrorCode::NotHeld, u"%1: no version was read, or it was written already"_s.arg(name())};
        const auto version = *std::exchange(m_version, std::nullopt);
        const auto what = name();
        const auto alive = self();
        const mariadb::Statement update{"UPDATE " + m_row.quotedTable() + " SET " + versionColumn + " = "
                                            + versionColumn + " + 1 WHERE " + m_row.condition() + " AND "
                                            + versionColumn + " = ?",
                                        m_row.values + QByteArrayList{QByteArray::number(version)},
                                        {},
                                        true};
        const auto written = co_await m_session->execute(update, answerBy(*m_session, deadline)); // 3
        if (!written)
            co_return Error{written.error().code, u"%1: %2"_s.arg(what, written.error().message)};
        const bool isConflict = written->affected == 0;
        const int conflicts = alive.expired() ? int(isConflict) : m_conflicts = isConflict ? m_conflicts + 1 : 0;
        if (isConflict) // 4
            co_return Error{
                ErrorCode::BadVersion,
                u"%1: conflict, another client wrote since version %2 was read. Nothing was written. Repeat the work from the current data (conflicts in a row: %3)"_s
                    .arg(what, QString::number(version), QString::number(conflicts)),
                true};
        co_return Result<void>();
    }

    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_version)
            co_return false;
        const auto mine = *m_version;
        const auto version = co_await readVersion(deadline);
        if (!version && version.error().code == ErrorCode::NoRow)
            co_return false;
        if (!version)
            co_return version.error();
        co_return *version == mine;
    }

private:
    Task<Result<Grant>> take(Deadline deadline) override
    {
        if (m_conflicts >= mostConflicts) {
            m_conflicts = 0;
            co_return Error{ErrorCode::BadVersion, u"gave up after %1 conflicts in a row"_s.arg(mostConflicts), true};
        }
        CO_TRY_VOID(co_await untilConnected(m_session, deadline));
        CO_TRY(const auto &version, co_await readVersion(deadline)); // 1
        m_version = version;
        co_return Grant{QByteArray::number(version), version, {}, m_conflicts};
    }

    Task<Result<qint64>> readVersion(Deadline deadline)
    {
        const mariadb::Statement select{
            "SELECT * FROM " + m_row.quotedTable() + " WHERE " + m_row.condition(), m_row.values, {}, false};
        CO_TRY(const auto &row, co_await m_session->execute(select, answerBy(*m_session, deadline)));
        if (row.rows.empty())
            co_return Error{ErrorCode::NoRow, u"the row does not exist, so it has no version"_s};
        bool isNumber = false;
        const auto version = row.cell(0, "version").value_or(QByteArray()).toLongLong(&isNumber);
        if (!isNumber)
            co_return Error{ErrorCode::Unsupported, u"its column \"version\" holds no whole number"_s};
        const mariadb::Statement clock{ownClock, {}, {}, false};
        CO_TRY_VOID(co_await refuseOwnedRow(m_session, m_row, row, clock, deadline));
        co_return version;
    }

    [[nodiscard]] bool isHeld() const override { return m_version.has_value(); }
    void letGo() override { m_version.reset(); }

    mariadb::Session *m_session;
    RowName m_row;
    std::optional<qint64> m_version; // that was read, and not written yet
    int m_conflicts = 0;             // in a row
};

// A row that is there while the lock is held. Source: the scheme that introductions to distributed locks begin with:
// who inserts the mark has the lock, and deletes it (docs/layouts.md, "MariaDB and MySQL").
//   1. INSERT the mark, with a token that nobody else has. It went in: the lock is ours. The table's primary key, the
//      name, lets in one.
//   2. There is one already (1062), or we were the victim of a deadlock with others who insert: pause, a little at
//      random, and go to 1.
//   3. The answer to 1 was lost: read whether the mark there is ours.
//   4. To release, DELETE the mark, if it is ours.
//
// Nothing ends it: of a client that died the mark stays until somebody deletes it. That is often left to a
// supervisor, which deletes what is older than a limit and cannot know whether its client still works. Not fair,
// nobody is woken, no fencing token.

// Not lasting, although a mark stays: so whoever gives up on the answer kills the connection. An INSERT that comes
// behind our DELETE would stay for good.
Statement inserting(const RowClaim &claim)
{
    return {"INSERT INTO " + claim.row.quotedTable() + " (name, owner, created_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
            {claim.row.name, claim.token},
            {},
            false};
}

Statement deleting(const RowClaim &claim)
{
    return {"DELETE FROM " + claim.row.quotedTable() + " WHERE name = ? AND owner = ?",
            {claim.row.name, claim.token},
            {},
            true};
}

Statement askingWhoseMark(const RowClaim &claim)
{
    return {"SELECT COUNT(*) AS mine FROM " + claim.row.quotedTable() + " WHERE name = ? AND owner = ?",
            {claim.row.name, claim.token},
            {},
            false};
}

// Whether the mark is ours now. Relieves the guard when it certainly is not.
Task<Result<bool>> insertOnce(mariadb::Session *session, RowClaim claim, RowGuard *guard, Deadline deadline)
{
    const auto inserted = co_await session->execute(inserting(claim), answerBy(*session, deadline));
    if (inserted && inserted->affected == 1)
        co_return true;
    if (!inserted && isUncertain(inserted.error()) && inserted.error().code != ErrorCode::NotConnected) {
        auto ours = co_await whoseAtLast(session, askingWhoseMark(claim), deadline); // 3
        co_return ours;
    }
    guard->dismiss();
    const auto code = inserted ? ErrorCode::NodeExists : inserted.error().code;
    const bool mayTryAgain = code == ErrorCode::NodeExists || code == ErrorCode::DeadlockVictim; // 2
    if (!mayTryAgain && code != ErrorCode::NotConnected)
        co_return inserted.error();
    co_return false;
}

// sql-insert-mark: a row that is there while the lock is held.
class MarkLock final : public RowLockBase {
public:
    // The table has the columns name, its primary key, owner and created_at.
    using RowLockBase::RowLockBase;
    ~MarkLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override
    {
        if (!m_held)
            co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
        const RowClaim claim = *std::exchange(m_held, std::nullopt);
        auto freed = co_await freeRow(m_session, m_waitGroup, deleting(claim), name(), deadline); // 4
        co_return freed;
    }
    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_held)
            co_return false;
        const auto ours = co_await isRowOurs(m_session, askingWhoseMark(*m_held), deadline);
        co_return ours;
    }

private:
    Task<Result<Grant>> poll(Deadline deadline) override
    {
        auto &loop = m_session->loop();
        for (;;) {
            CO_TRY_VOID(co_await untilConnected(m_session, deadline));
            const RowClaim claim{m_row, uuidToken(m_random)};
            RowGuard guard(RowReturn{m_session, m_waitGroup, deleting(claim)});
            CO_TRY(const auto &taken, co_await insertOnce(m_session, claim, &guard, deadline)); // 1
            if (taken) {
                guard.dismiss();
                m_held = claim;
                co_return Grant{claim.token, std::nullopt, {}};
            }
            if (deadline.hasPassed(loop))
                co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
            co_await pauseBetweenTries(loop, m_random, deadline); // 2
        }
    }

    [[nodiscard]] bool isHeld() const override { return m_held.has_value(); }
    void letGo() override
    {
        if (m_held)
            m_waitGroup.add(m_session->background(), giveBackRow(m_session, deleting(*m_held)));
        m_held.reset();
    }

    std::optional<RowClaim> m_held;
};

using MadeOnMariaDb = Result<std::unique_ptr<Lock>> (*)(mariadb::Session &, const QByteArray &,
                                                        const AcquireOptions &, Random);

template <class Recipe, auto readName>
Result<std::unique_ptr<Lock>> made(mariadb::Session &session, const QByteArray &lock, const AcquireOptions &, Random)
{
    TRY(auto &name, readName(lock));
    return std::unique_ptr<Lock>(std::make_unique<Recipe>(session, lock, name));
}

Result<std::unique_ptr<Lock>> madeMark(mariadb::Session &session, const QByteArray &lock, const AcquireOptions &,
                                       Random random)
{
    TRY(auto &name, readMarkName(lock));
    return std::unique_ptr<Lock>(std::make_unique<MarkLock>(session, lock, name, std::move(random)));
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, mariadb::Session &session, const QByteArray &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, BackendKind::MariaDb, options))
        return *no;
    static const std::map<QByteArray, MadeOnMariaDb> makers{
        {"sql-for-update", made<ForUpdateLock, readRowName>},
        {"sql-version", made<VersionLock, readRowName>},
        {"sql-get-lock", made<GetLockLock, readNamedLock>},
        {"sql-shedlock", makeLeasedRow},
        {"sql-insert-mark", madeMark},
        {"sql-status-flag", makeFlagLock},
    };
    const auto maker = makers.find(id);
    if (maker == makers.end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(session, lock, options, std::move(random));
}

} // namespace lockscope::recipes
