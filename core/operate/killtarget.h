// SPDX-License-Identifier: Apache-2.0
// Whom a KILL is meant for, and what came of it. See killconnection.h.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::operate {

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

} // namespace lockscope::operate
