// SPDX-License-Identifier: Apache-2.0
// How to know that what InnoDB says of its transactions is not old.
//
// It answers questions for INNODB_TRX, INNODB_LOCKS and INNODB_LOCK_WAITS from a copy, and makes a new one only when
// nobody has read the copy for 100 ms. Somebody who reads more often keeps it as it is, for hours if need be.
//
// A copy holds the statement that each transaction ran when it was made. So whoever asks has a transaction of its
// own, and writes a mark into the question that was never used before: a copy with that mark was made while this
// question ran. (That our connection is in it proves nothing: it may be there from an earlier look.) The transaction
// reads nothing and takes no read view, so it keeps nothing from being purged.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::mariadb {

// Of InnoDB's copy; a little more than it takes.
constexpr std::chrono::milliseconds copyRestsFor{120};

// Once per connection: without it START TRANSACTION … SNAPSHOT opens a read view.
inline const QByteArray withoutReadView =
    QByteArrayLiteral("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
// Once per connection: no look waits longer for a table that somebody else has for himself. Seconds; 1 is the least.
inline const QByteArray shortTableWaits = QByteArrayLiteral("SET SESSION lock_wait_timeout = 1");
// The next question reads what was committed, and may change nothing, whatever it comes to run.
inline const QByteArray committedNext =
    QByteArrayLiteral("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY");
inline const QByteArray beginLook = QByteArrayLiteral("START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT");
inline const QByteArray endLook = QByteArrayLiteral("ROLLBACK");

// To stand near the beginning of a question: a copy keeps its first 1024 characters. No quotes, no wildcards.
[[nodiscard]] QByteArray freshMark();
// True, in the table INNODB_TRX called t, of our own transaction in a copy that was made while we asked.
[[nodiscard]] QByteArray isMarked(const QByteArray &mark);

// Which server this is, and since when it runs: "server" (a name) and "started" (seconds since 1970). Both sides of
// the difference are of one moment, so that the same server always says the same.
[[nodiscard]] QByteArray serverQuestion(const Session &session);

// What SHOW ENGINE INNODB STATUS says of a transaction: it prints them as they are, not from the copy.
enum class InStatus {
    Active,
    NotThere,
    NotKnown, // the text was cut off, is of another server, or names one of them twice: it holds what clients wrote
};
// `ours` has to be there, too: a transaction that this connection has open while it asks.
[[nodiscard]] InStatus findInStatus(const QByteArray &status, const QByteArray &transaction, ConnectionId connection,
                                    ConnectionId ours);

} // namespace lockscope::mariadb
