// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/statements.h"

#include "core/base/text.h"
#include "core/base/fieldreader.h"

#include <QHash>

namespace lockscope::sim {

namespace {

using Kind = SqlStatement::Kind;

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
        // In the order of the enumeration.
        const auto kinds =
            QByteArray(
                "Nothing SetUp LockTimeout WhoAmI Begin Commit Rollback InTransaction One LockRow LockRowNow "
                "LockRowSkip LockFrom LockByText LockByNumber WriteRow ReadCommitted ReadVersion WriteVersion "
                "TakeLeasedRow MakeLeasedRow ExtendLeasedRow FreeLeasedRow IsLeasedRowMine InsertMark DeleteMark "
                "DeleteOldMarks IsMarkMine ReadFlag SetFlag ClearFlag GetLock ReleaseLock IsLockMine KillQuery "
                "KillConnection")
                .split(' ');
        std::vector<std::pair<Kind, QByteArrayList>> all;
        for (const auto &line : readResource(u"sql/simulated-statements.txt"_s).split('\n')) {
            auto words = line.split(' ');
            const auto kind = kinds.indexOf(words.takeFirst());
            if (kind >= 0)
                all.emplace_back(static_cast<Kind>(kind), std::move(words));
            else if (!line.isEmpty() && !line.startsWith('#'))
                qFatal("%s is no statement", line.constData());
        }
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
