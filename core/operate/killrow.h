// SPDX-License-Identifier: Apache-2.0
// Whether a transaction is still the one that was seen to hold a row, asked in ways that nobody can make old.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/freshness.h"
#include "core/mariadb/session.h"
#include "core/operate/forcereleaseplan.h"

namespace lockscope::operate {

// Whom a KILL is meant for, and what came of it. See killconnection.h.
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

} // namespace lockscope::operate
