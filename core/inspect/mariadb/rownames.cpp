// SPDX-License-Identifier: Apache-2.0
// From what InnoDB prints to the names of rows and named locks.
#include "core/inspect/mariadb/poll.h"

namespace lockscope::inspect {

namespace {

const QByteArray gapPrefix("before ");

// `a` as it is written in a LOCK: bare unless it holds what ends a name there.
QByteArray written(const QByteArray &identifier)
{
    const bool isPlain = !identifier.isEmpty() && std::none_of(identifier.begin(), identifier.end(), [](char c) {
        return QByteArrayView(".#=`").contains(c);
    });
    if (isPlain && !identifier.startsWith(gapPrefix))
        return identifier;
    return mariadb::quotedName(identifier);
}

QByteArray writtenValue(const QByteArray &value, bool isOnly)
{
    const bool isUnclear = value.contains(',') && (!isOnly || value.contains('='));
    return value.startsWith('`') || isUnclear ? mariadb::quotedName(value) : value;
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

void skipSpace(const QByteArray &text, qsizetype &at)
{
    while (at < text.size() && QByteArrayView(" \t\r\n").contains(text[at]))
        ++at;
}

// In backticks, or up to what cannot be in a bare one.
QByteArray identifier(const QByteArray &text, qsizetype &at)
{
    if (at < text.size() && text[at] == '`')
        return literal(text, at);
    const auto from = at;
    while (at < text.size() && !QByteArrayView(" \t\r\n.,;()=#`'\"").contains(text[at]))
        ++at;
    return text.mid(from, at - from);
}

QByteArray word(const QByteArray &text, qsizetype &at)
{
    skipSpace(text, at);
    const auto from = at;
    while (at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z')))
        ++at;
    return text.mid(from, at - from);
}

// "shop.stock" as written() writes its parts; `at` is behind it then.
std::optional<std::pair<QByteArray, QByteArray>> tableAt(const QByteArray &name, qsizetype &at)
{
    const auto part = [&] {
        if (at < name.size() && name[at] == '`')
            return literal(name, at);
        const auto from = at;
        while (at < name.size() && name[at] != '.' && name[at] != '#')
            ++at;
        return name.mid(from, at - from);
    };
    const auto schema = part();
    if (schema.isEmpty() || at >= name.size() || name[at] != '.')
        return std::nullopt;
    ++at;
    const auto table = part();
    return table.isEmpty() ? std::nullopt : std::optional(std::pair(schema, table));
}

std::optional<std::pair<QByteArray, QByteArray>> tableBehind(const QByteArray &name, const QByteArray &prefix)
{
    qsizetype at = prefix.size();
    const auto table = name.startsWith(prefix) ? tableAt(name, at) : std::nullopt;
    return at == name.size() ? table : std::nullopt;
}

const QByteArray partitionMark("` /* Partition ");

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

// " of partition `p0`": each has an end of its own. Empty for a table without partitions.
QByteArray ofPartition(const QByteArray &table)
{
    const auto at = table.indexOf(partitionMark);
    if (at < 0)
        return {};
    auto partition = table.mid(at + partitionMark.size());
    partition.chop(3); // " */", of which a name that was cut may lack a part
    return " of partition " + partition;
}

// "17:3:2" of "254:17:3:2", or of MySQL's longer ones: where the row is. Two that are not told stay two.
QByteArray placeIn(const QByteArray &lockId)
{
    constexpr qsizetype parts = 4;
    const auto numbers = lockId.split(':');
    return numbers.size() < parts ? QByteArray() : numbers.mid(1, parts - 1).join(':');
}

} // namespace

void RowDataCache::keep(std::vector<SqlLockWait> &waits)
{
    std::map<QByteArray, QByteArray> here; // by table, index and place
    const auto whereOf = [](const SqlLockWait &wait) {
        return wait.table + '#' + wait.index + ':' + placeIn(wait.id);
    };
    for (auto &wait : waits) {
        if (const auto before = m_data.find(wait.id); wait.data.isEmpty() && before != m_data.end())
            wait.data = before->second;
        if (!wait.data.isEmpty() && !placeIn(wait.id).isEmpty())
            here.emplace(whereOf(wait), wait.data);
    }
    m_data.clear();
    for (auto &wait : waits) {
        if (const auto at = here.find(whereOf(wait)); wait.data.isEmpty() && at != here.end())
            wait.data = at->second;
        if (!wait.id.isEmpty() && !wait.data.isEmpty())
            m_data.emplace(wait.id, wait.data);
    }
}

QByteArray withoutPartition(const QByteArray &table)
{
    const auto at = table.indexOf(partitionMark);
    return at < 0 ? table : table.left(at + 1);
}

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
        return table + '#' + written(wait.index) + ':' + (wait.data.isEmpty() ? '?' + placeIn(wait.id) : wait.data)
               + ofPartition(wait.table);
    QByteArrayList named;
    const bool isOnly = at->second.size() == 1;
    for (qsizetype i = 0; i < at->second.size(); ++i) {
        const auto &column = at->second[i];
        named << (i == 0 || isSqlWord(column) ? written(column) : mariadb::quotedName(column)) + '='
                     + writtenValue(parts[i], isOnly);
    }
    return table + '#' + named.join(',');
}

QByteArray innoDbLockName(const SqlLockWait &wait, const IndexColumns &columns)
{
    return isForGap(wait) ? gapPrefix + rowLockName(wait, columns) : rowLockName(wait, columns);
}

QByteArray objectLockName(const SqlObject &object)
{
    if (object.schema.isEmpty())
        return "SERVER#" + object.type;
    return object.type + '#' + written(object.schema) + (object.name.isEmpty() ? "" : '.' + written(object.name));
}

QByteArray tableLockName(const QByteArray &schema, const QByteArray &table)
{
    return objectLockName({"TABLE", schema, table});
}

std::optional<SqlObject> objectOfLock(const QByteArray &name)
{
    static const QByteArrayList types{"TABLE", "SCHEMA", "FUNCTION", "PROCEDURE", "TRIGGER", "EVENT", "TABLESPACE"};
    const auto type = name.left(std::max<qsizetype>(name.indexOf('#'), 0));
    if (type == "SERVER")
        return SqlObject{name.mid(type.size() + 1), {}, {}};
    if (!types.contains(type))
        return std::nullopt;
    if (const auto named = tableBehind(name, type + '#'))
        return SqlObject{type, named->first, named->second};
    qsizetype at = type.size() + 1;
    const auto whole = at < name.size() && name[at] == '`' ? literal(name, at) : name.mid(at);
    const bool isWhole = name.mid(type.size() + 1) == written(whole);
    return isWhole && type != "TABLE" ? std::optional(SqlObject{type, whole, {}}) : std::nullopt;
}

std::optional<SqlLockRow> lockRowNamed(const QByteArray &name)
{
    SqlLockRow row{.layout = recipes::rowLayoutNamed(name)};
    qsizetype at = row.layout ? row.layout->prefix.size() : 0;
    const auto table = row.layout ? tableAt(name, at) : std::nullopt;
    if (!table)
        return std::nullopt;
    row.schema = table->first;
    row.table = table->second;
    const auto rest = name.mid(at + 1);
    if (at >= name.size()) {
        row.names = {row.layout->only};
    } else if (row.layout->name.size() == 1) {
        row.names = {rest};
    } else {
        for (qsizetype from = 0; from < rest.size(); ++from) {
            const auto comma = rest.indexOf(',', from);
            const auto end = comma < 0 ? rest.size() : comma;
            if (rest[from] == '`') {
                row.names << literal(rest, from);
            } else {
                row.names << rest.mid(from, end - from);
                from = end;
            }
        }
    }
    return lockRowName(row) == name ? std::optional(row) : std::nullopt;
}

bool isLockRowName(const QByteArray &name)
{
    return recipes::rowLayoutNamed(name) != nullptr;
}

QByteArray lockRowName(const SqlLockRow &row)
{
    const auto table = row.layout->prefix + written(row.schema) + '.' + written(row.table);
    if (!row.layout->only.isEmpty() && (row.names.isEmpty() || row.names == QByteArrayList{row.layout->only}))
        return table;
    QByteArrayList parts = row.names;
    for (auto &part : parts)
        part = parts.size() == 1 ? part : writtenValue(part, false);
    return table + '#' + parts.join(',');
}

std::optional<std::pair<QByteArray, QByteArray>> tableIn(const QByteArray &statement, const QByteArray &database)
{
    qsizetype at = 0;
    const auto verb = word(statement, at).toUpper();
    if (verb != "ALTER" && verb != "DROP" && verb != "TRUNCATE" && verb != "RENAME")
        return std::nullopt;
    auto before = at;
    auto next = word(statement, at).toUpper();
    for (; next == "ONLINE" || next == "IGNORE"; next = word(statement, at).toUpper())
        before = at;
    if (next != "TABLE" && verb != "TRUNCATE")
        return std::nullopt;
    if (next != "TABLE")
        at = before;
    before = at;
    if (word(statement, at).toUpper() == "IF" && word(statement, at).toUpper() == "EXISTS")
        before = at;
    at = before;
    skipSpace(statement, at);
    auto schema = database;
    auto table = identifier(statement, at);
    skipSpace(statement, at);
    if (at < statement.size() && statement[at] == '.') {
        schema = table;
        skipSpace(statement, ++at);
        table = identifier(statement, at);
        skipSpace(statement, at);
    }
    const bool namesMore = (verb == "DROP" && at < statement.size() && statement[at] == ',')
                           || (verb == "RENAME" && statement.indexOf(',', at) >= 0);
    return schema.isEmpty() || table.isEmpty() || namesMore ? std::nullopt : std::optional(std::pair(schema, table));
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
