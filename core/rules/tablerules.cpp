// SPDX-License-Identifier: Apache-2.0
#include "core/rules/tablerules.h"

#include "core/base/text.h"

#include <QJsonArray>

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

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

} // namespace lockscope::recipes
