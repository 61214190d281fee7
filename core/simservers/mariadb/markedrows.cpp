// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/markedrows.h"

namespace lockscope::sim {

using Kind = SqlStatement::Kind;

bool MarkedRows::isAbout(Kind kind)
{
    return kind >= Kind::InsertMark && kind <= Kind::ClearFlag;
}

SqlAnswer MarkedRows::run(const SqlStatement &what, const QByteArrayList &parameters)
{
    if (!m_tables.contains(what.table))
        return error(1146, "Unknown table '" + what.table + '\'');
    if (what.kind == Kind::DeleteOldMarks)
        return deleteOld(what.table, std::chrono::seconds(what.number));
    const RowId row{what.table, what.kind == Kind::SetFlag ? parameters[1] : parameters[0]};
    const auto mark = m_marks.find(row);
    const bool isItsMark = mark != m_marks.end() && mark->second.owner == parameters.value(1);
    const auto at = m_flags.find(row);
    auto *flag = at == m_flags.end() ? nullptr : &at->second;
    switch (what.kind) {
    case Kind::InsertMark:
        if (mark != m_marks.end())
            return error(1062, "Duplicate entry '" + row.value + "' for key 'PRIMARY'");
        m_marks.emplace(row, Mark{parameters[1], m_world.now()});
        return changed(true);
    case Kind::DeleteMark:
        if (isItsMark)
            m_marks.erase(mark);
        return changed(isItsMark);
    case Kind::IsMarkMine: return cells({what.output}, {isItsMark ? "1" : "0"});
    case Kind::SetFlag: {
        const bool isFree = flag && !flag->isSet && QByteArray::number(flag->version) == parameters[0];
        if (isFree)
            *flag = {flag->version + 1, true};
        return changed(isFree);
    }
    case Kind::ClearFlag: {
        const bool isSo = flag && flag->isSet && QByteArray::number(flag->version) == parameters[1];
        if (isSo)
            flag->isSet = false;
        return changed(isSo);
    }
    default: break;
    }
    auto answer =
        cells({"status", "version"}, {flag && flag->isSet ? "1" : "0", QByteArray::number(flag ? flag->version : 0)});
    if (!flag)
        answer.rows.rows.clear();
    return answer;
}

// As a supervisor does it, whoever still works.
SqlAnswer MarkedRows::deleteOld(const QByteArray &table, std::chrono::seconds limit)
{
    SqlAnswer answer;
    answer.rows.affected = qint64(std::erase_if(m_marks, [&](const auto &one) {
        return one.first.table == table && one.second.since < m_world.now() - Duration(limit);
    }));
    return answer;
}

QByteArrayList MarkedRows::leftBehind() const
{
    QByteArrayList left;
    for (const auto &[row, mark] : m_marks)
        left << "mark " + row.table + '#' + row.value;
    for (const auto &[row, flag] : m_flags) {
        if (flag.isSet)
            left << "flag of " + row.table + '#' + row.value;
    }
    return left;
}

bool MarkedRows::end(const RowId &row)
{
    const auto flag = m_flags.find(row);
    if (flag == m_flags.end())
        return m_marks.erase(row) > 0;
    return std::exchange(flag->second.isSet, false);
}

} // namespace lockscope::sim
