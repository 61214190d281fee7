// SPDX-License-Identifier: Apache-2.0
// What goes to an SQL server that writes: releases.
#pragma once

#include "core/inspect/mariadb/poll.h"
#include "core/operate/gate.h"
#include "core/operate/releasemethod.h"

namespace lockscope::operate {

// Taking an SQL lock away: KILL CONNECTION, only while its holder still holds.
//
// KILL takes a number and nothing else, so whether that number still stands for the same hold is looked at right
// before, and nothing that may be old counts:
//   named lock  IS_USED_LOCK, and since when this server runs;
//   row lock    the transaction by its number and start, in a copy that was made while we asked (freshMark()); where
//               somebody reads too often for that, in SHOW ENGINE INNODB STATUS, which is printed from what is; in
//               data_locks where the server has these (MySQL), whose STATUS leaves out transactions that only read.
// Where the server has blocks without a name (MariaDB), it looks and kills in one statement: between the two lie
// microseconds (more where the server's thread has to wait for a processor), not the way to the server and back, and
// both are on one server whatever stands between. INNODB STATUS cannot be part of a statement; there the block asks
// instead whether the connection has begun a statement since before it was printed: if not, it cannot have let go.
// Without blocks (MySQL) one round trip lies between. A COMMIT that is being done when the KILL comes is done, and
// then the connection ends.
//
// Afterwards it is looked at the same way whether the hold is gone: what is rolled back keeps its locks so long.

[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline);

// What else a connection holds that goes with it when it is killed.

// The plan with what the server says of that: other named locks, rows and tables by name in otherLocksLost, its
// transaction in the warnings. What the server does not tell stays "not known". For plans that kill; any other comes
// back as it is, but without the ways that this server does not have. Reads only.
[[nodiscard]] Task<ForceReleasePlan> withKillLosses(ForceReleasePlan plan, mariadb::Session *session,
                                                    Deadline deadline);

// Whether a transaction is still the one that was seen to hold a row, asked in ways that nobody can make old.

// Whom a KILL is meant for, and what came of it.
enum class KillVerdict {
    Killed,
    Gone,    // it does not hold any more
    Another, // the connection, or the server, is in another life by now
    Old,     // what the server said may be old: nothing was done
    Busy,    // it went on between the look and the act: nothing was done
    Idle,    // no statement of it runs, or it does not wait: nothing was done
};

struct KillTarget {
    mariadb::Session *session = nullptr;
    mariadb::ConnectionId ours = 0; // every statement is for this connection of ours, or is not sent
    mariadb::ConnectionId connection = 0;
    QByteArray held;          // true in SQL while it holds: a named lock, or a table; empty for a row
    QByteArray waits;         // of such a lock: its state in PROCESSLIST while it waits
    QByteArray guard;         // a transaction's: "trx 4711 started 1700000000000"
    QByteArray transaction;   // its number; empty while it has none
    QByteArray serverStarted; // where there is no transaction: seconds since 1970

    [[nodiscard]] bool isTransaction() const { return !guard.isEmpty(); }
    [[nodiscard]] bool hasBlocks() const { return session->features().blocks; }
    // What was looked at in another statement can be held against the number of its last one, in a block.
    [[nodiscard]] bool hasNumbersInBlocks() const { return hasBlocks() && session->features().statementNumbers; }
    [[nodiscard]] QByteArray number() const { return QByteArray::number(connection); }

    [[nodiscard]] Reply<mariadb::Rows> ask(const QByteArray &text, Deadline deadline) const
    {
        return session->execute({text, {}, ours, false}, deadline);
    }
    // What it does stays, should the connection break.
    [[nodiscard]] Reply<mariadb::Rows> act(const QByteArray &text, Deadline deadline) const
    {
        return session->execute({text, {}, ours, true}, deadline);
    }
};

// Three sums over INNODB_TRX (called t), in SQL, for fresh, present and same: whether the copy was made while this
// was asked, whether the connection has a transaction, and whether that is the one.
[[nodiscard]] QByteArray rowFacts(const KillTarget &target);
// By these, in a question of its own, where there are no blocks: Killed where it holds and may be killed.
[[nodiscard]] Task<Result<KillVerdict>> lookAfresh(KillTarget target, Deadline deadline);
// Without a copy. Where data_locks are told, these are what is; else SHOW ENGINE INNODB STATUS is printed from it.
[[nodiscard]] Task<Result<mariadb::InStatus>> lookAtWhatIs(KillTarget target, Deadline deadline);
// INNODB_TRX has a number for a transaction that has locked for reading only, too: 0, or where it stands in memory,
// which the next one of that connection has as well.
[[nodiscard]] bool isNumbered(const QByteArray &transaction);

// What the KILL of a table's holder is guarded by, in SQL.

// Whatever is in it, as a text that needs no quotes.
[[nodiscard]] QByteArray sqlLiteral(const QByteArray &text);
// Who has a table: METADATA_LOCK_INFO says it where performance_schema does not. False for locks on anything else.
[[nodiscard]] Task<bool> saysTablesByPlugin(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline);
// True in SQL while the connection has the table ("TABLE#shop.stock"), in a mode that the guard names if it names
// any.
[[nodiscard]] QByteArray hasTable(const QByteArray &lock, const QByteArray &guard, mariadb::ConnectionId connection,
                                  bool isByPlugin);

// Force-release of Liquibase's and ShedLock's locks: one row, changed by an UPDATE that compares who has set it, and
// when.

[[nodiscard]] bool hasRow(const inspect::Contender &one);
// An UPDATE of that row alone; its parameters: the row's name, then who has set it, and when.
using FreeingText = QByteArray (*)(const inspect::SqlLockRow &row);
[[nodiscard]] QByteArray freeingText(const inspect::SqlLockRow &row); // MariaDB's and MySQL's
[[nodiscard]] QByteArray freeingPgText(const inspect::SqlLockRow &row);
void planClearRow(ForceReleasePlan &plan, const inspect::Contender &holder, FreeingText text);
[[nodiscard]] QString askedAgain(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
// What frees the row of a client whose locks are not released from here: for a person, with the row as it was seen.
// Empty for other locks.
[[nodiscard]] QString ownFreeing(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
[[nodiscard]] Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, FreeingText text,
                                          Deadline deadline);

// Taking a PostgreSQL lock away: pg_terminate_backend, only while its holder still holds; and what is gentler,
// pg_cancel_backend of the statement that runs or waits.
//
// Both take a process number and nothing else, so one statement compares and acts: the backend by its number and its
// start (backend_start), of a row or a table its transaction's start, too (xact_start), and in pg_locks, read in that
// moment, that it still holds (or waits). Between the comparison and the signal lie microseconds. Afterwards it is
// looked at whether the backend is gone.
//
// A prepared transaction has no backend: nothing is sent, and it is said what ends it.

// What the gate knows of its questions.
[[nodiscard]] SqlWriteWords postgreSqlWriteWords();

[[nodiscard]] Task<Result<Sent>> sendPostgreSqlRelease(ForceReleasePlan plan, mariadb::Session *session,
                                                       Deadline deadline);
// The plan with what the server says of what else goes with the backend. For plans that terminate; any other comes
// back as it is. Reads only.
[[nodiscard]] Task<ForceReleasePlan> withBackendLosses(ForceReleasePlan plan, mariadb::Session *session,
                                                       Deadline deadline);

} // namespace lockscope::operate
