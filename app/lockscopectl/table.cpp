// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/table.h"

#include <algorithm>
#include <cwchar>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

qsizetype cellsOfOne(char32_t c)
{
    const int width = ::wcwidth(static_cast<wchar_t>(c));
    return width < 0 ? 1 : width; // unknown to this locale: assume one
}

constexpr qsizetype gap = 2;
constexpr qsizetype narrowest = 8;
constexpr qsizetype widestCell = 200; // of what may be cut: a key of 100 kB would pad every row

QString cut(const QString &text, qsizetype cells)
{
    if (cellsOf(text) <= cells)
        return text;
    // From the left: names differ at their end (a sequence number, a lock's own name).
    const auto all = text.toUcs4();
    qsizetype left = cells - 1;
    auto from = all.size();
    while (from > 0 && left >= cellsOfOne(all[from - 1]))
        left -= cellsOfOne(all[--from]);
    return u'…' + QString::fromUcs4(reinterpret_cast<const char32_t *>(all.constData()) + from, all.size() - from);
}

} // namespace

qsizetype cellsOf(const QString &text)
{
    qsizetype cells = 0;
    for (const char32_t c : text.toUcs4())
        cells += cellsOfOne(c);
    return cells;
}

std::vector<qsizetype> Table::widths(int width) const
{
    std::vector<qsizetype> wide;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
        auto most = cellsOf(m_columns[c].title);
        for (const auto &row : m_rows)
            most = std::max(most, cellsOf(row.value(static_cast<qsizetype>(c))));
        if (m_columns[c].cuttable)
            most = std::min(most, widestCell);
        wide.push_back(most);
    }
    const auto total = [&] {
        qsizetype sum = gap * (static_cast<qsizetype>(wide.size()) - 1);
        for (const auto cells : wide)
            sum += cells;
        return sum;
    };
    while (width > 0 && total() > width) {
        // The widest column that may be cut gives first.
        std::size_t widest = wide.size();
        for (std::size_t c = 0; c < wide.size(); ++c) {
            if (m_columns[c].cuttable && wide[c] > narrowest && (widest == wide.size() || wide[c] > wide[widest]))
                widest = c;
        }
        if (widest == wide.size())
            break;
        --wide[widest];
    }
    return wide;
}

QString Table::text(int width) const
{
    const auto wide = widths(width);
    QStringList titles;
    for (const auto &column : m_columns)
        titles << column.title;
    QStringList lines;
    const auto addLine = [&](const QStringList &cells) {
        QString line;
        for (std::size_t c = 0; c < wide.size(); ++c) {
            const auto cell = cut(cells.value(static_cast<qsizetype>(c)), wide[c]);
            const QString padding(std::max<qsizetype>(0, wide[c] - cellsOf(cell)), u' ');
            if (c > 0)
                line += QString(gap, u' ');
            line += m_columns[c].align == Align::Right ? padding + cell : cell + padding;
        }
        while (line.endsWith(u' '))
            line.chop(1);
        lines << line;
    };
    addLine(titles);
    for (const auto &row : m_rows)
        addLine(row);
    return lines.join(u'\n');
}

} // namespace lockscope::ctl
