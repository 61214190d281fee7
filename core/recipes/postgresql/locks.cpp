// SPDX-License-Identifier: Apache-2.0
// The locks on a PostgreSQL.
#include "core/base/text.h"
#include "core/postgresql/dialect.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

namespace {

// For refuseOwnedRow().
const QByteArray pgClock = QByteArrayLiteral(
    "SELECT localtimestamp(3)::text AS here, (now() AT TIME ZONE 'UTC')::timestamp(3)::text AS utc, "
    "extract(epoch FROM now())::bigint::text AS seconds");

// In PostgreSQL's quotes.
QByteArray pgTable(const RowName &row)
{
    return postgresql::quotedName(row.schema) + '.' + postgresql::quotedName(row.table);
}

QByteArray pgCondition(const RowName &row)
{
    return mapped<QByteArrayList>(row.columns,
                                  [&](const auto &column) { return postgresql::quotedName(column) + " = ?"; })
        .join(" AND ");
}

// The advisory lock of a session. Source: PostgreSQL documentation, "Advisory Locks" and "Advisory Lock Functions".
//   1. SELECT pg_advisory_lock(key), or of two keys. If another session has it, the server queues us, first come
//      first served, and answers when it is ours. Without time to wait: pg_try_advisory_lock.
//   2. A wait ends by pg_cancel_backend, ours at the deadline or somebody else's. It may come when the lock is ours
//      already: that stays, whatever becomes of the statement.
//   3. To give it back, pg_advisory_unlock(key). False: it was not ours.
// When that is done, whatever went wrong included: sqllock.cpp.
//
// It outlives transactions; the end of the connection ends it, so a lost reply needs no question. Each database has
// its own. No fencing token.

// pg-advisory: a lock by a number, held by a connection.
class AdvisoryLock final : public NamedLock {
public:
    AdvisoryLock(mariadb::Session &session, const QByteArray &lock, AdvisoryName name)
        : NamedLock(session, lock), m_name(std::move(name)), m_places(m_name.keys.size() == 1 ? "?" : "?, ?")
    {
    }
    ~AdvisoryLock() override { shutDown(); }

private:
    Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) override
    {
        if (deadline.hasPassed(session().loop())) {
            const mariadb::Statement once{"SELECT pg_try_advisory_lock(" + m_places + ")::int AS mine", m_name.keys,
                                          connection, false};
            CO_TRY(const auto &answer, co_await session().execute(once, answerBy(session(), deadline)));
            if (answer.cell(0, "mine") != QByteArray("1"))
                co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
            co_return true;
        }
        const mariadb::Statement waiting{"SELECT pg_advisory_lock(" + m_places + ")::text AS mine", m_name.keys,
                                         connection, false};
        const auto answer = co_await session().execute(waiting, deadline);
        if (!answer && answer.error().code == ErrorCode::TimedOut)
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        if (!answer) // 2
            co_return answer.error();
        co_return true;
    }

    [[nodiscard]] mariadb::Statement ownershipQuery() const override
    {
        const QByteArray one = "classid = (? >> 32) & 4294967295 AND objid = ? & 4294967295 AND objsubid = 1";
        const QByteArray two = "classid = ?::bigint & 4294967295 AND objid = ?::bigint & 4294967295 AND objsubid = 2";
        const bool isOne = m_name.keys.size() == 1;
        const auto keys = isOne ? m_name.keys + m_name.keys : m_name.keys;
        return {"SELECT count(*) AS mine FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND "
                "pid = pg_backend_pid() AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = "
                "current_database()) AND "
                    + (isOne ? QByteArray(one).replace("?", "?::bigint") : two),
                keys,
                {},
                false};
    }
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override
    {
        return {&session(), connection, "SELECT pg_advisory_unlock(" + m_places + ")::int AS again", m_name.keys};
    }

    AdvisoryName m_name;
    QByteArray m_places; // "?" or "?, ?"
};

// The row lock. Source: PostgreSQL documentation, "Row-Level Locks" and "The Locking Clause" of SELECT; src/backend/
// access/heap/README.tuplock.
//   1. START TRANSACTION: the lock will live as long as this.
//   2. SELECT the row FOR UPDATE. If another transaction has it, the server lets us wait: the first for that
//      transaction's end, all others for the right to be the next. Without time to wait: NOWAIT.
//   3. No such row: nothing is locked. That is an error of its own, not "free". A row that is itself a lock, and says
//      that it is taken (rowname.h): refused.
//   4. Whatever went wrong (no time left, victim of a deadlock, connection lost): ROLLBACK. A statement that
//      failed has ended the transaction already; until its ROLLBACK the connection is good for nothing.
//   5. To release, COMMIT (sqllock.cpp).
//
// Who comes in the moment in which it is freed, before the next one has woken up, gets it: not quite first come first
// served. A lost reply needs no question: with the connection the server drops the transaction and its locks. No
// fencing token.

// pg-for-update: a row locked for the length of a transaction.
class PgRowLock final : public TransactionLock {
public:
    PgRowLock(mariadb::Session &session, const QByteArray &lock, RowName row)
        : TransactionLock(session, lock), m_row(std::move(row))
    {
    }
    ~PgRowLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override
    {
        UndoGuard guard(UndoCall{waitGroup(), undoing(connection)});                      // 4
        CO_TRY_VOID(co_await session().begin(connection, answerBy(session(), deadline))); // 1
        const bool hasTime = !deadline.hasPassed(session().loop());
        const QByteArray how = hasTime ? " FOR UPDATE" : " FOR UPDATE NOWAIT";
        const mariadb::Statement select{"SELECT * FROM " + pgTable(m_row) + " WHERE " + pgCondition(m_row) + how,
                                        m_row.values, connection, false};
        auto locking = session().execute(select, hasTime ? deadline : answerBy(session(), deadline)); // 2
        const auto row = co_await locking;
        if (!row && row.error().code == ErrorCode::TimedOut)
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        if (!row)
            co_return row.error();
        if (row->rows.empty()) // 3
            co_return Error{ErrorCode::NoRow, u"the row does not exist, so there is nothing to lock"_s};
        const mariadb::Statement clock{pgClock, {}, connection, false};
        CO_TRY_VOID(co_await refuseOwnedRow(&session(), m_row, *row, clock, deadline));
        guard.dismiss();
        co_return holdOn(connection);
    }

    RowName m_row;
};

// A row of a work queue. Source: PostgreSQL documentation, "The Locking Clause" of SELECT, SKIP LOCKED.
//   1. START TRANSACTION: the row will be ours as long as this.
//   2. SELECT one of the rows that fit FOR UPDATE SKIP LOCKED: those that others have are passed over, so
//      nobody waits.
//   3. None: ROLLBACK, so that what comes meanwhile is seen, rest a little, and begin anew while there is time.
//   4. Whatever went wrong: ROLLBACK.
//   5. To release, COMMIT (sqllock.cpp). What was done for the row is to be written in it before, on the same
//      connection; or the row is handed out again.
//
// In which order rows are handed out is the table's business. Nobody waits, so a server never shows who has which.

constexpr auto pollsQueueEvery = 100ms;

// pg-skip-locked: any one row of a work queue, held for the length of a transaction.
class SkipLockedLock final : public TransactionLock {
public:
    // `queue`: the rows that fit, as the name of one.
    SkipLockedLock(mariadb::Session &session, const QByteArray &lock, RowName queue)
        : TransactionLock(session, lock), m_queue(std::move(queue))
    {
    }
    ~SkipLockedLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override
    {
        auto &loop = session().loop();
        UndoGuard guard(UndoCall{waitGroup(), undoing(connection)}); // 4
        for (;;) {
            CO_TRY(const auto &got, co_await tryOnce(connection, deadline));
            if (got)
                break;
            if (deadline.hasPassed(loop))
                co_return Error{ErrorCode::TimedOut,
                                u"timed out: others have every row that fits, or there is none"_s, true};
            const auto next = std::min<Instant>(deadline.when(), loop.now() + pollsQueueEvery);
            co_await sleepUntil(loop, next); // 3
        }
        guard.dismiss();
        co_return holdOn(connection);
    }

    Task<Result<bool>> tryOnce(mariadb::ConnectionId connection, Deadline deadline)
    {
        CO_TRY_VOID(co_await session().begin(connection, answerBy(session(), deadline))); // 1
        const mariadb::Statement select{"SELECT * FROM " + pgTable(m_queue) + " WHERE " + pgCondition(m_queue)
                                            + " LIMIT 1 FOR UPDATE SKIP LOCKED",
                                        m_queue.values, connection, false};
        CO_TRY(const auto &row, co_await session().execute(select, answerBy(session(), deadline))); // 2
        if (!row.rows.empty()) {
            const mariadb::Statement clock{pgClock, {}, connection, false};
            CO_TRY_VOID(co_await refuseOwnedRow(&session(), m_queue, row, clock, deadline));
            co_return true;
        }
        CO_TRY_VOID(co_await session().rollback(connection, answerBy(session(), deadline)));
        co_return false;
    }

    RowName m_queue;
};

using MadeOnPostgreSql = Result<std::unique_ptr<Lock>> (*)(mariadb::Session &, const QByteArray &);

template <class Recipe, auto readName>
Result<std::unique_ptr<Lock>> madeOnPostgreSql(mariadb::Session &session, const QByteArray &lock)
{
    TRY(auto &name, readName(lock));
    return std::unique_ptr<Lock>(std::make_unique<Recipe>(session, lock, name));
}

} // namespace

Result<std::unique_ptr<Lock>> makePostgreSqlLock(const QByteArray &id, mariadb::Session &session,
                                                 const QByteArray &lock, const AcquireOptions &options)
{
    if (const auto no = objectionTo(id, BackendKind::PostgreSql, options))
        return *no;
    static const std::map<QByteArray, MadeOnPostgreSql> makers{
        {"pg-advisory", madeOnPostgreSql<AdvisoryLock, readAdvisoryName>},
        {"pg-for-update", madeOnPostgreSql<PgRowLock, readRowName>},
        {"pg-skip-locked", madeOnPostgreSql<SkipLockedLock, readRowName>},
    };
    const auto maker = makers.find(id);
    if (maker == makers.end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(session, lock);
}

Result<AdvisoryName> readAdvisoryName(const QByteArray &lock)
{
    const QByteArray advisoryPrefix("ADVISORY#");
    AdvisoryName name;
    bool isNumber = lock.startsWith(advisoryPrefix);
    const auto parts = lock.mid(advisoryPrefix.size()).split(',');
    for (const auto &part : parts) {
        bool fits = false;
        // Written as the server shows it, so that one lock has one name.
        const qint64 whole = parts.size() == 1 ? part.toLongLong(&fits) : part.toInt(&fits);
        isNumber = isNumber && fits && part == QByteArray::number(whole);
        name.keys << part;
    }
    if (!isNumber || parts.size() > 2)
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" is not an advisory lock; write ADVISORY#KEY (a 64-bit integer) or ADVISORY#KEY,KEY (two 32-bit integers), for example ADVISORY#42"_s
                .arg(label(lock))};
    return name;
}

} // namespace lockscope::recipes
