// SPDX-License-Identifier: Apache-2.0
// Reads the statements that the simulated MariaDB understands: exactly those that the session and the recipes
// of core/recipes/mariadb send, what those of a PostgreSQL become (core/simservers/postgresql/session.h), and a few
// that a person types who locks rows. Anything else is an error, as it is on a real server that cannot read it.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::sim {

struct SqlStatement {
    enum class Kind {
        Nothing,     // DO 0
        SetUp,       // autocommit, and a lock wait timeout
        LockTimeout, // SET SESSION innodb_lock_wait_timeout = seconds
        WhoAmI,      // CONNECTION_ID(), VERSION()
        Begin,
        Commit,
        Rollback,
        InTransaction, // @@in_transaction
        One,           // SELECT 1
        LockRow,       // SELECT … FOR UPDATE
        LockRowNow,    // … NOWAIT
        LockRowSkip,   // … SKIP LOCKED
        LockFrom,      // SELECT * … WHERE id >= 3 FOR UPDATE
        LockByText,    // … WHERE code = '3' …
        LockByNumber,  // … WHERE code = 3 …, where code is text; or id = 3
        WriteRow,      // UPDATE … SET version = version + 1 WHERE id = 3
        ReadCommitted, // of the transactions that follow
        ReadVersion,
        WriteVersion,    // SET version = version + 1 WHERE … AND version = …
        TakeLeasedRow,   // UPDATE of a row whose time is over to its new owner and time
        MakeLeasedRow,   // INSERT of a free one, where there is none
        ExtendLeasedRow, // UPDATE of its time, if it says so still; its owner
        FreeLeasedRow,
        IsLeasedRowMine,
        InsertMark, // a row that is there while it is held; its owner
        DeleteMark,
        DeleteOldMarks, // that are older than so many seconds, whoever has them
        IsMarkMine,
        ReadFlag, // status and version
        SetFlag,  // status 1 and the next version, WHERE the version is … and the status 0
        ClearFlag,
        GetLock,
        ReleaseLock,
        IsLockMine, // IS_USED_LOCK(?) = CONNECTION_ID()
        KillQuery,
        KillConnection,
    };
    Kind kind = Kind::Nothing;
    QByteArray table;  // "schema.table", where there is one
    QByteArray key;    // the column that says which row
    QByteArray output; // the column that is answered: its name in the answer
    qint64 number = 0; // the one that stands in the text
    int parameters = 0;

    // It says in its text which rows it looks for.
    [[nodiscard]] bool isOfManyRows() const { return kind >= Kind::LockFrom && kind <= Kind::WriteRow; }
    [[nodiscard]] bool isForNamedLock() const { return kind == Kind::GetLock; }
    // After an error in a transaction of a PostgreSQL, until that is ended.
    [[nodiscard]] bool isRefusedWhenAborted() const
    {
        return kind != Kind::Commit && kind != Kind::Rollback && kind != Kind::Nothing && kind != Kind::SetUp;
    }
};

// Empty: a syntax error.
[[nodiscard]] std::optional<SqlStatement> readSqlStatement(const QByteArray &text);

// What the simulated MariaDB answers to a statement: rows, or an error with the server's number for it.
struct SqlAnswer {
    int error = 0; // the server's number; 0 when it went well
    QByteArray message;
    mariadb::Rows rows;
};

[[nodiscard]] SqlAnswer error(int number, const QByteArray &message);
// One row.
[[nodiscard]] SqlAnswer cells(const QByteArrayList &columns, std::vector<mariadb::Rows::Cell> row);
// Of a write: that one row, or none.
[[nodiscard]] SqlAnswer changed(bool isOne);
[[nodiscard]] SqlAnswer lockWaitTimeout();
[[nodiscard]] SqlAnswer deadlock();
[[nodiscard]] SqlAnswer transactionIsAborted();

} // namespace lockscope::sim
