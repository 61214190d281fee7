// SPDX-License-Identifier: Apache-2.0
#include "core/rules/objectreader.h"

#include "core/base/text.h"
#include "core/base/tomllibrary.h"

#include <QJsonArray>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

void ObjectReader::checkFields(const QStringList &known)
{
    for (const auto &field : m_json.keys()) {
        if (!known.contains(field))
            object(field, u"is not known here; what is: %1"_s.arg(known.join(u", "_s)));
    }
}

QString ObjectReader::text(const QString &field)
{
    const auto value = m_json[field];
    if (has(field) && !value.isString())
        object(field, u"must be a text"_s);
    return value.toString();
}

void ObjectReader::flag(const QString &field, bool &into)
{
    into = m_json[field].toBool();
    if (has(field) && !m_json[field].isBool())
        object(field, u"must be true or false"_s);
}

std::optional<RulePattern> ObjectReader::pattern(const QString &field, const QStringList &says)
{
    auto read = RulePattern::read(text(field));
    if (const auto *why = std::get_if<QString>(&read)) {
        if (!has(field) || m_json[field].isString())
            object(field, has(field) ? *why : u"is missing: "_s + *why);
        return std::nullopt;
    }
    auto found = std::get<RulePattern>(std::move(read));
    for (const auto &group : says.isEmpty() ? QByteArrayList() : found.groups()) {
        if (const auto named = QString::fromLatin1(group); !says.contains(named))
            object(field, u"the group \"%1\" says nothing; what does: %2"_s.arg(named, says.join(u", "_s)));
    }
    return found;
}

// In lower case, as PostgreSQL keeps a name without quotes and MariaDB compares it.
QByteArray TableReader::column(const QString &field, const QJsonValue &value)
{
    const auto name = value.toString().toUtf8().toLower();
    if (name.isEmpty() || name.contains('\0') || value.toString().size() > longestRuleName)
        object(field, u"must be the name of a column"_s);
    else if (!m_rule.layout.columns.contains(name))
        m_rule.layout.columns << name;
    return name;
}

RowTime TableReader::time(const QString &field, const QString &of)
{
    static const std::map<QString, RowTime> times{{u"seconds"_s, RowTime::Epoch},
                                                  {u"server"_s, RowTime::Server},
                                                  {u"utc"_s, RowTime::Utc},
                                                  {u"unclear"_s, RowTime::Unclear}};
    auto time = RowTime::Unclear;
    if (has(field) && !has(of))
        object(field, u"describes the column of \"%1\", which is missing"_s.arg(of));
    else
        choose(field, times, time);
    return time;
}

void TableReader::readLock()
{
    constexpr qsizetype mostColumns = 8;
    const auto lock = m_json[u"lock"_s];
    const auto columns = lock.isString() ? QJsonArray{lock} : lock.toArray();
    if (columns.isEmpty() || columns.size() > mostColumns)
        object(u"lock"_s,
               u"must be the column whose value names the lock, or an array of at most %1 such columns"_s.arg(
                   mostColumns));
    for (qsizetype i = 0; i < std::min(columns.size(), mostColumns); ++i)
        m_rule.layout.name << column(lock.isString() ? u"lock"_s : u"lock[%1]"_s.arg(i), columns[i]);
}

QByteArrayList TableReader::values(const QString &field)
{
    constexpr qsizetype mostValues = 20;
    const auto all = m_json[field].toArray();
    const bool areTexts = std::ranges::all_of(all, [](const QJsonValue &one) { return one.isString(); });
    if (has(field) && (all.isEmpty() || all.size() > mostValues || !areTexts))
        object(field, u"must be an array of at most %1 texts"_s.arg(mostValues));
    return mapped<QByteArrayList>(all, [](const QJsonValue &one) { return one.toString().toUtf8(); });
}

void TableReader::readFlag()
{
    auto &layout = m_rule.layout;
    if (has(u"flag"_s))
        layout.flag = column(u"flag"_s, m_json[u"flag"_s]);
    layout.held = values(u"held"_s);
    layout.free = values(u"free"_s);
    if (has(u"held"_s) != has(u"free"_s) || (has(u"held"_s) && !has(u"flag"_s)))
        object(u"held"_s, u"needs \"free\" and \"flag\", and \"free\" needs it"_s);
    for (const auto &value : layout.held) {
        if (layout.free.contains(value))
            object(u"free"_s, u"has \"%1\", as \"held\" has"_s.arg(QString::fromUtf8(value)));
    }
}

void TableReader::readTimes()
{
    auto &layout = m_rule.layout;
    if (has(u"since"_s))
        layout.since = column(u"since"_s, m_json[u"since"_s]);
    if (has(u"until"_s))
        layout.ends = column(u"until"_s, m_json[u"until"_s]);
    layout.sinceTime = time(u"sinceTime"_s, u"since"_s);
    layout.endsTime = time(u"untilTime"_s, u"until"_s);
    flag(u"sinceRenewed"_s, layout.isSinceRenewed);
}

// What the row says while it is a lock.
void TableReader::readWhy()
{
    auto &layout = m_rule.layout;
    const auto named = [](const QByteArray &column) { return QString::fromUtf8(column); };
    const auto state = !layout.held.isEmpty() ? u"%1 is %2"_s.arg(named(layout.flag), named(layout.held.join(" or ")))
                       : !layout.flag.isEmpty() ? u"%1 is 1"_s.arg(named(layout.flag))
                       : !layout.ends.isEmpty()
                           ? u"the row says until when it is locked (%1)"_s.arg(named(layout.ends))
                           : u"the row exists"_s;
    layout.why = u"by your rule \"%1\": %2"_s.arg(m_rule.name, state);
}

TableRule TableReader::read()
{
    static const auto known =
        u"name table lock flag held free owner token since sinceTime until untilTime sinceRenewed about"_s.split(
            u' ');
    checkFields(known);
    auto &layout = m_rule.layout;
    m_rule.name = text(u"name"_s).simplified();
    for (const auto character : m_rule.name.toUpper()) {
        const bool isPlain = (character >= u'A' && character <= u'Z') || (character >= u'0' && character <= u'9');
        layout.prefix += isPlain ? character.toLatin1() : '-';
    }
    if (m_rule.name.isEmpty() || m_rule.name.size() > longestRuleName
        || layout.prefix.count('-') == layout.prefix.size())
        object(u"name"_s,
               u"must be the name of these locks, with a Latin letter or a digit, at most %1 characters"_s.arg(
                   longestRuleName));
    // No lock of a server or of a built-in layout is named so.
    layout.prefix = "RULE-" + layout.prefix + '#';
    layout.client = m_rule.name;
    layout.mayHaveMore = true;
    layout.table = text(u"table"_s).toUtf8().toLower();
    if (layout.table.isEmpty() || layout.table.contains(',') || layout.table.contains('.'))
        object(u"table"_s, u"must be the name of the table, without its schema; it may not contain a comma or dot"_s);
    readLock();
    readFlag();
    if (has(u"owner"_s) && has(u"token"_s))
        object(u"token"_s, u"is in place of \"owner\": a value that no two holds share"_s);
    layout.isOwnerToken = has(u"token"_s);
    const auto owner = layout.isOwnerToken ? u"token"_s : u"owner"_s;
    if (has(owner))
        layout.owner = column(owner, m_json[owner]);
    readTimes();
    layout.release = layout.flag.isEmpty() ? RowRelease::Delete : RowRelease::ResetFlag;
    readWhy();
    return m_rule;
}

namespace {

using LinesOfFields = std::map<QString, int>;

QString textOfToml(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

int lineOfToml(const toml::source_region &where)
{
    return static_cast<int>(where.begin.line);
}

QJsonValue valueOf(const toml::node &node, const QString &path, LinesOfFields &lines);

QJsonObject objectOf(const toml::table &table, const QString &path, LinesOfFields &lines)
{
    QJsonObject object;
    for (const auto &[key, node] : table) {
        const auto name = textOfToml(key.str());
        const auto inner = path.isEmpty() ? name : path + u'.' + name;
        lines.try_emplace(inner, lineOfToml(key.source()));
        object.insert(name, valueOf(node, inner, lines));
    }
    return object;
}

QJsonValue valueOf(const toml::node &node, const QString &path, LinesOfFields &lines)
{
    if (const auto *table = node.as_table())
        return objectOf(*table, path, lines);
    if (const auto *array = node.as_array()) {
        QJsonArray all;
        for (const auto &one : *array) {
            const auto inner = path + u'[' + QString::number(all.size()) + u']';
            lines.try_emplace(inner, lineOfToml(one.source()));
            all.append(valueOf(one, inner, lines));
        }
        return all;
    }
    if (const auto *text = node.as_string())
        return textOfToml(text->get());
    if (const auto *number = node.as_integer())
        return static_cast<qint64>(number->get());
    if (const auto *number = node.as_floating_point())
        return number->get();
    if (const auto *flag = node.as_boolean())
        return flag->get();
    return QJsonValue::Null;
}

} // namespace

std::variant<FileFields, TomlMistake> readToml(const QByteArray &text)
{
    const auto parsed = toml::parse(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    if (!parsed)
        return TomlMistake{lineOfToml(parsed.error().source()), textOfToml(parsed.error().description())};
    FileFields read;
    read.lines.try_emplace(QString(), 1);
    read.fields = objectOf(parsed.table(), {}, read.lines);
    return read;
}

JsonLines::JsonLines(const QByteArray &text) : m_text(text)
{
    value({});
}

int lineOf(const std::map<QString, int> &lines, QString field)
{
    for (;;) {
        if (const auto at = lines.find(field); at != lines.end())
            return at->second;
        const auto dot = std::max(field.lastIndexOf(u'.'), field.lastIndexOf(u'['));
        if (dot <= 0)
            return 0;
        field.truncate(dot);
    }
}

void JsonLines::step()
{
    m_line += here() == '\n' ? 1 : 0;
    ++m_at;
}

void JsonLines::skipSpace()
{
    while (m_at < m_text.size() && QByteArrayView(" \t\r\n").contains(here()))
        step();
}

QString JsonLines::string()
{
    const auto begin = m_at + 1;
    for (step(); m_at < m_text.size() && here() != '"'; step()) {
        if (here() == '\\')
            step();
    }
    step();
    return QString::fromUtf8(m_text.mid(begin, m_at - begin - 1));
}

// Any depth is one that the parser took.
void JsonLines::value(const QString &path)
{
    skipSpace();
    m_lines.try_emplace(path, m_line);
    if (here() == '{' || here() == '[')
        several(path, here() == '{');
    else if (here() == '"')
        string();
    else
        while (m_at < m_text.size() && !QByteArrayView(",]} \t\r\n").contains(here()))
            step();
}

void JsonLines::several(const QString &path, bool isObject)
{
    int index = 0;
    step();
    for (;;) {
        skipSpace();
        if (m_at >= m_text.size() || here() == '}' || here() == ']') {
            step();
            return;
        }
        if (here() == ',') {
            step();
            continue;
        }
        QString inner = path + u'[' + QString::number(index++) + u']';
        if (isObject) {
            const int line = m_line;
            const auto key = string();
            inner = path.isEmpty() ? key : path + u'.' + key;
            m_lines.try_emplace(inner, line);
            skipSpace();
            step(); // the colon
        }
        value(inner);
    }
}

} // namespace lockscope::recipes
