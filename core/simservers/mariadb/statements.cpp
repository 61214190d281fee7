// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/statements.h"

#include "core/base/identifiers.h"

#include <QHash>

#include <algorithm>
#include <map>
#include <vector>

namespace lockscope::sim {

namespace {

using Kind = SqlStatement::Kind;

// In a pattern: <word> takes an identifier, the same one wherever it comes again; # takes a number.
struct Pattern {
    Kind kind;
    const char *text;
};

constexpr Pattern patterns[] = {
    {Kind::Nothing, "DO 0"},
    {Kind::SetUp, "SET SESSION autocommit = 1 , innodb_lock_wait_timeout = #"},
    {Kind::LockTimeout, "SET SESSION innodb_lock_wait_timeout = #"},
    {Kind::WhoAmI, "SELECT CONNECTION_ID ( ) , VERSION ( )"},
    {Kind::Begin, "START TRANSACTION"},
    {Kind::Commit, "COMMIT"},
    {Kind::Rollback, "ROLLBACK"},
    {Kind::InTransaction, "SELECT @@in_transaction AS <output>"},
    {Kind::One, "SELECT 1 AS <output>"},
    {Kind::LockRow, "SELECT <key> FROM <schema> . <table> WHERE <key> = ? FOR UPDATE"},
    {Kind::LockRowNow, "SELECT <key> FROM <schema> . <table> WHERE <key> = ? FOR UPDATE NOWAIT"},
    {Kind::LockRowSkip, "SELECT <key> FROM <schema> . <table> WHERE <key> = ? LIMIT 1 FOR UPDATE SKIP LOCKED"},
    {Kind::LockRow, "SELECT * FROM <schema> . <table> WHERE <key> = ? FOR UPDATE"},
    {Kind::LockRowNow, "SELECT * FROM <schema> . <table> WHERE <key> = ? FOR UPDATE NOWAIT"},
    {Kind::LockRowSkip, "SELECT * FROM <schema> . <table> WHERE <key> = ? LIMIT 1 FOR UPDATE SKIP LOCKED"},
    {Kind::LockFrom, "SELECT * FROM <schema> . <table> WHERE <key> > = # FOR UPDATE"},
    {Kind::LockByText, "SELECT * FROM <schema> . <table> WHERE <key> = ' # ' FOR UPDATE"},
    {Kind::LockByNumber, "SELECT * FROM <schema> . <table> WHERE <key> = # FOR UPDATE"},
    {Kind::WriteRow, "UPDATE <schema> . <table> SET version = version + 1 WHERE <key> = #"},
    {Kind::ReadCommitted, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"},
    {Kind::ReadVersion, "SELECT `version` AS <output> FROM <schema> . <table> WHERE <key> = ?"},
    {Kind::ReadVersion, "SELECT * FROM <schema> . <table> WHERE <key> = ?"},
    {Kind::WriteVersion, "UPDATE <schema> . <table> SET `version` = `version` + 1 WHERE <key> = ? AND `version` = ?"},
    {Kind::TakeLeasedRow,
     "UPDATE <schema> . <table> SET lock_until = TIMESTAMPADD ( MICROSECOND , ? , UTC_TIMESTAMP ( 3 ) ) , locked_at = "
     "UTC_TIMESTAMP ( 3 ) , locked_by = ? WHERE name = ? AND lock_until < = UTC_TIMESTAMP ( 3 )"},
    {Kind::MakeLeasedRow,
     "INSERT INTO <schema> . <table> ( name , lock_until , locked_at , locked_by ) VALUES ( ? , UTC_TIMESTAMP ( 3 ) , "
     "UTC_TIMESTAMP ( 3 ) , ' ' ) ON DUPLICATE KEY UPDATE name = name"},
    {Kind::ExtendLeasedRow,
     "UPDATE <schema> . <table> SET lock_until = TIMESTAMPADD ( MICROSECOND , ? , UTC_TIMESTAMP ( 3 ) ) WHERE name = ? "
     "AND locked_by = ? AND lock_until > UTC_TIMESTAMP ( 3 )"},
    {Kind::FreeLeasedRow,
     "UPDATE <schema> . <table> SET lock_until = UTC_TIMESTAMP ( 3 ) WHERE name = ? AND locked_by = ? AND lock_until > "
     "UTC_TIMESTAMP ( 3 )"},
    {Kind::IsLeasedRowMine,
     "SELECT COUNT ( * ) AS <output> FROM <schema> . <table> WHERE name = ? AND locked_by = ? AND lock_until > "
     "UTC_TIMESTAMP ( 3 )"},
    {Kind::InsertMark,
     "INSERT INTO <schema> . <table> ( name , owner , created_at ) VALUES ( ? , ? , UTC_TIMESTAMP ( 3 ) )"},
    {Kind::DeleteMark, "DELETE FROM <schema> . <table> WHERE name = ? AND owner = ?"},
    {Kind::DeleteOldMarks,
     "DELETE FROM <schema> . <table> WHERE created_at < UTC_TIMESTAMP ( 3 ) - INTERVAL # SECOND"},
    {Kind::IsMarkMine, "SELECT COUNT ( * ) AS <output> FROM <schema> . <table> WHERE name = ? AND owner = ?"},
    {Kind::ReadFlag, "SELECT status , version FROM <schema> . <table> WHERE id = ?"},
    {Kind::SetFlag,
     "UPDATE <schema> . <table> SET status = 1 , version = version + 1 WHERE version = ? AND id = ? AND status = 0"},
    {Kind::ClearFlag, "UPDATE <schema> . <table> SET status = 0 WHERE id = ? AND version = ? AND status = 1"},
    {Kind::GetLock, "SELECT GET_LOCK ( ? , ? ) AS <output>"},
    {Kind::ReleaseLock, "SELECT RELEASE_LOCK ( ? ) AS <output>"},
    {Kind::IsLockMine, "SELECT IS_USED_LOCK ( ? ) = CONNECTION_ID ( ) AS <output>"},
    {Kind::KillQuery, "KILL QUERY #"},
    {Kind::KillConnection, "KILL #"},
};

bool isWordByte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_'
           || byte == '@';
}

// Behind the closing backtick; -1 when there is none.
qsizetype endOfQuoted(const QByteArray &text, qsizetype at)
{
    for (++at; at < text.size(); ++at) {
        if (text[at] != '`')
            continue;
        if (at + 1 >= text.size() || text[at + 1] != '`')
            return at + 1;
        ++at; // doubled: one that belongs to the name
    }
    return -1;
}

// Words, numbers, names in backticks (with them) and signs. Empty when a backtick is not closed.
QByteArrayList tokensOf(const QByteArray &text)
{
    QByteArrayList tokens;
    for (qsizetype at = 0; at < text.size();) {
        const auto begin = at;
        if (text[at] == ' ') {
            ++at;
            continue;
        }
        if (text[at] == '`') {
            at = endOfQuoted(text, at);
            if (at < 0)
                return {};
        } else if (isWordByte(text[at])) {
            while (at < text.size() && isWordByte(text[at]))
                ++at;
        } else {
            ++at;
        }
        tokens << text.mid(begin, at - begin);
    }
    return tokens;
}

// Without its backticks; empty when the token is no name.
QByteArray nameIn(const QByteArray &token)
{
    if (token.startsWith('`'))
        return token.mid(1, token.size() - 2).replace("``", "`");
    return isWordByte(token[0]) && !isDigits(token) ? token : QByteArray();
}

bool fits(const QByteArrayList &pattern, const QByteArrayList &tokens, SqlStatement &into)
{
    if (pattern.size() != tokens.size())
        return false;
    std::map<QByteArray, QByteArray> names;
    for (qsizetype i = 0; i < pattern.size(); ++i) {
        const auto &wanted = pattern[i];
        const auto &token = tokens[i];
        if (wanted.startsWith('<') && wanted.endsWith('>')) {
            const auto name = nameIn(token);
            const auto [at, isNew] = names.emplace(wanted, name);
            if (name.isEmpty() || at->second != name)
                return false;
        } else if (wanted == "#") {
            if (!isDigits(token))
                return false;
            into.number = token.toLongLong();
        } else if (wanted.compare(token, Qt::CaseInsensitive) != 0) {
            return false;
        }
    }
    if (names.contains("<table>"))
        into.table = names["<schema>"] + '.' + names["<table>"];
    into.key = names["<key>"];
    into.output = names["<output>"].toLower();
    into.parameters = int(pattern.count("?"));
    return true;
}

std::optional<SqlStatement> readAnew(const QByteArray &text)
{
    static const auto known = [] {
        std::vector<std::pair<Kind, QByteArrayList>> all;
        for (const auto &pattern : patterns)
            all.emplace_back(pattern.kind, QByteArray(pattern.text).split(' '));
        return all;
    }();
    const auto tokens = tokensOf(text);
    for (const auto &[kind, pattern] : known) {
        SqlStatement statement;
        statement.kind = kind;
        if (fits(pattern, tokens, statement))
            return statement;
    }
    return std::nullopt;
}

} // namespace

// A recipe sends the same few texts again and again.
std::optional<SqlStatement> readSqlStatement(const QByteArray &text)
{
    constexpr qsizetype most = 200; // a KILL has a number of its own each time
    thread_local QHash<QByteArray, std::optional<SqlStatement>> read;
    const auto at = read.constFind(text);
    if (at != read.constEnd())
        return *at;
    if (read.size() >= most)
        read.clear();
    return *read.insert(text, readAnew(text));
}

SqlAnswer error(int number, const QByteArray &message)
{
    SqlAnswer answer;
    answer.error = number;
    answer.message = message;
    return answer;
}

SqlAnswer changed(bool isOne)
{
    SqlAnswer answer;
    answer.rows.affected = isOne ? 1 : 0;
    return answer;
}

SqlAnswer cells(const QByteArrayList &columns, std::vector<mariadb::Rows::Cell> row)
{
    SqlAnswer answer;
    answer.rows.columns = columns;
    answer.rows.rows.push_back(std::move(row));
    answer.rows.affected = 1;
    return answer;
}

SqlAnswer lockWaitTimeout()
{
    return error(1205, "Lock wait timeout exceeded");
}

SqlAnswer deadlock()
{
    return error(1213, "Deadlock found");
}

SqlAnswer transactionIsAborted()
{
    return error(1402, "The transaction is aborted: nothing is done until it is rolled back");
}

} // namespace lockscope::sim
