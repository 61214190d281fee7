// SPDX-License-Identifier: Apache-2.0
// From what InnoDB prints to the names of rows and named locks.
#include "core/inspect/mariadb/look.h"

#include "core/base/identifiers.h"

namespace lockscope::inspect {

namespace {

QByteArray inBackticks(QByteArray text)
{
    text.replace("`", "``");
    return '`' + text + '`';
}

// `a` as it is written in a LOCK: bare unless it holds what ends a name there.
QByteArray written(const QByteArray &identifier)
{
    const bool isPlain = !identifier.isEmpty() && std::none_of(identifier.begin(), identifier.end(), [](char c) {
        return QByteArrayView(".#=`").contains(c);
    });
    if (isPlain)
        return identifier;
    return inBackticks(identifier);
}

QByteArray writtenValue(const QByteArray &value, bool isOnly)
{
    const bool isUnclear = value.contains(',') && (!isOnly || value.contains('='));
    return value.startsWith('`') || isUnclear ? inBackticks(value) : value;
}

// What stands for a byte behind a backslash in a statement.
char escapedByte(char c)
{
    switch (c) {
    case '0': return '\0';
    case 'b': return '\b';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'Z': return '\x1a';
    default: return c;
    }
}

// The text of a literal that begins at `at`, with its quotes doubled or escaped; `at` moves behind it.
QByteArray literal(const QByteArray &text, qsizetype &at)
{
    const char quote = text[at++];
    QByteArray out;
    for (; at < text.size(); ++at) {
        if (text[at] == '\\' && quote != '`' && at + 1 < text.size()) {
            out += escapedByte(text[++at]);
        } else if (text[at] != quote) {
            out += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == quote) {
            out += text[at++];
        } else {
            ++at;
            break;
        }
    }
    return out;
}

// "`shop`.`stock`" → "shop.stock". A partition ("/* Partition `p0` */") is left out.
QByteArray writtenTable(const QByteArray &table)
{
    QByteArrayList parts;
    for (qsizetype at = 0; at < table.size() && table[at] == '`' && parts.size() < 2;) {
        parts << written(literal(table, at));
        if (at < table.size() && table[at] == '.')
            ++at;
    }
    return parts.isEmpty() ? table : parts.join('.');
}

// "'abc', 7" → abc, 7.
QByteArrayList values(const QByteArray &data)
{
    QByteArrayList out;
    for (qsizetype at = 0; at < data.size();) {
        if (data[at] == '\'') {
            out << literal(data, at);
        } else {
            const auto comma = data.indexOf(',', at);
            const auto end = comma < 0 ? data.size() : comma;
            out << data.mid(at, end - at);
            at = end;
        }
        while (at < data.size() && (data[at] == ',' || data[at] == ' '))
            ++at;
    }
    return out;
}

} // namespace

QByteArray rowLockName(const SqlLockWait &wait, const IndexColumns &columns)
{
    const auto table = writtenTable(wait.table);
    if (wait.index.isEmpty())
        return table;
    const auto at = columns.find({wait.table, wait.index});
    const auto parts = values(wait.data);
    const bool isRecord = at != columns.end() && !at->second.isEmpty() && at->second.size() <= parts.size()
                          && !wait.data.startsWith("supremum");
    if (!isRecord)
        return table + '#' + written(wait.index) + ':' + (wait.data.isEmpty() ? QByteArray("?") : wait.data);
    QByteArrayList named;
    const bool isOnly = at->second.size() == 1;
    for (qsizetype i = 0; i < at->second.size(); ++i) {
        const auto &column = at->second[i];
        named << (i == 0 || isSqlWord(column) ? written(column) : inBackticks(column)) + '='
                     + writtenValue(parts[i], isOnly);
    }
    return table + '#' + named.join(',');
}

std::optional<QByteArray> namedLockIn(const QByteArray &statement)
{
    const auto upper = statement.toUpper();
    auto at = upper.indexOf("GET_LOCK");
    if (at < 0)
        return std::nullopt;
    at += 8;
    while (at < statement.size() && (statement[at] == ' ' || statement[at] == '('))
        ++at;
    if (at >= statement.size() || (statement[at] != '\'' && statement[at] != '"'))
        return std::nullopt;
    return literal(statement, at);
}

} // namespace lockscope::inspect
