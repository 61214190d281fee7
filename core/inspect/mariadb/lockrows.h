// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by what stands in them (core/rules/rowlayouts.h). Found by the names of their tables where the
// credentials may look, and by their columns. Of any SQL server: what it is asked differs, and how it answers.
#pragma once

#include "core/inspect/mariadb/poll.h"

namespace lockscope::inspect {

struct LockRowTable {
    QByteArray schema, name;
    const recipes::RowLayout *layout = nullptr;
    QByteArrayList columns{}; // in lower case
    QByteArrayList zoned{};   // those of them whose times say their zone
    bool isReadable = false;
};

constexpr std::size_t mostLockRows = 1000, mostLockTables = 100; // of one table, and of those

struct LockRowDialect {
    // Every table whose name contains a word for a lock or is among the parameter's (in lower case, with commas; the
    // parameter is there twice): those, then Liquibase's and ShedLock's first. Columns table_schema, name and
    // is_readable; and, without whichColumns, columns and zoned (each in one, with commas).
    QByteArray whichTables;
    // Of a table, by schema and name: column name, in lower case. Not asked again of a table that is known.
    QByteArray whichColumns;
    // How its questions for rows are written; `column` is quoted.
    QByteArray from; // "FROM "
    QByteArray (*quoted)(const QByteArray &name);
    QByteArray (*asText)(const QByteArray &column);
    QByteArray (*isTrue)(const QByteArray &column);
    QByteArray exactly; // before a text that is compared byte by byte
    // As `moment` reads it; NULL where it is no time.
    QByteArray (*timeOf)(const QByteArray &column, recipes::RowTime time, bool isZoned, bool isInUtc);
    // Of what may be NULL or no time, too: that has not passed.
    QByteArray (*isAhead)(const QByteArray &column, recipes::RowTime time, bool isZoned);
    QByteArray beforeRows; // sent before that, if anything
    std::optional<ServerTime> (*moment)(const mariadb::Rows &rows, std::size_t row, const QByteArray &column);
    // The server has an opinion: what the connection is suffering from is nobody's gap.
    bool (*isRefusal)(const Error &error);
    QString (*readErrorText)(const Error &error); // of a table's rows
};

// Columns name0, name1 …, locked_by, flag, stamp, since, since_in_utc, ends and ends_in_utc of those that are locked.
// Its parameters are the layout's values of `free`.
[[nodiscard]] QByteArray lockRowsQuestion(const LockRowDialect &dialect, const LockRowTable &table);

// MariaDB's and MySQL's.
[[nodiscard]] const LockRowDialect &ownLockRows();

// Tables are looked for seldom, their rows are read each second; else what was read last is told again.
// Sends questions to one session. Loop thread only.
class SqlAsker {
public:
    explicit SqlAsker(mariadb::Session &session) : m_session(session) {}
    [[nodiscard]] qint64 requests() const { return m_requests; }

protected:
    [[nodiscard]] Reply<mariadb::Rows> send(const QByteArray &query, Deadline deadline,
                                            const QByteArrayList &parameters = {});
    // What is asked for anyway goes with what has to be asked before: send() has its answer then.
    void sendAhead(const QByteArray &query, Deadline deadline, const QByteArrayList &parameters = {});

    mariadb::Session &m_session;
    std::map<QByteArray, Reply<mariadb::Rows>> m_ahead; // by text
    qint64 m_requests = 0;
};

class SqlLockRows {
public:
    // The dialect lives for ever.
    explicit SqlLockRows(const LockRowDialect &dialect) : m_dialect(&dialect) {}

    void forget() { *this = SqlLockRows(*m_dialect); }
    // Where the next read looks for tables: those of the user's rules, that their question names.
    [[nodiscard]] std::optional<QByteArray> namesToFind(Instant now) const;
    // The next read is of now.
    void readAnew()
    {
        m_read.reset();
        m_isStale = true;
    }
    // What cannot be read is said in gaps(). Tables that somebody keeps others out of are not asked for: a question
    // would wait, too.
    Task<Result<void>> read(SqlSend send, Loop *loop, std::vector<SqlTableLock> kept, Deadline deadline);
    [[nodiscard]] const std::vector<SqlLockRow> &rows() const { return m_rows; }
    [[nodiscard]] QStringList gaps() const { return m_tableGaps + m_gaps; }
    // Of these: tables of locks whose rows the last read could not see.
    [[nodiscard]] const QStringList &rowsNotRead() const { return m_gaps; }
    // Tables whose rows may be locks by their names, and which are not read.
    [[nodiscard]] std::vector<Unexplained> unexplained() const;

private:
    Task<Result<void>> findTables(SqlSend send, Deadline deadline);
    // Each of several questions is sent before the first answer is waited for.
    using Asking = std::optional<Reply<mariadb::Rows>>;
    struct AskedTable {
        LockRowTable table;
        Asking before, rows;
    };
    [[nodiscard]] const LockRowTable *knownTable(const LockRowTable &table) const;
    [[nodiscard]] Asking askForColumns(const SqlSend &send, const LockRowTable &table, Deadline deadline) const;
    // Its columns, and their layout if one fits; known ones are not asked for again.
    Task<Result<LockRowTable>> withLayout(LockRowTable table, Asking columns);
    [[nodiscard]] AskedTable askForRows(const SqlSend &send, const LockRowTable &table, Deadline deadline) const;
    Task<Result<void>> readTable(AskedTable asked);
    void take(const LockRowTable &table, const mariadb::Rows &rows);
    void takeRuled(const LockRowTable &table, std::vector<SqlLockRow> rows);

    const LockRowDialect *m_dialect;
    std::vector<LockRowTable> m_tables;
    std::vector<SqlLockRow> m_rows;
    QByteArrayList m_otherTables;
    QStringList m_tableGaps, m_gaps; // of the last search for tables, and of the last read
    std::optional<Instant> m_looked, m_read;
    bool m_isStale = false; // was to be read anew while it was read
    int m_rules = 0;        // recipes::userRulesGeneration() of the last search for tables
};

} // namespace lockscope::inspect
