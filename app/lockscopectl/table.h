// SPDX-License-Identifier: Apache-2.0
// Rows in aligned columns, for people. Text is expected escaped; what does not fit the terminal is cut
// in the widest columns, never the numbers, and sentences are continued on the next line.
#pragma once

#include <QStringList>

#include <map>
#include <vector>

namespace lockscope::ctl {

class Table {
public:
    enum class Align { Left, Right };
    struct Column {
        QString title;
        Align align = Align::Left;
        bool cuttable = false;
        bool isProse = false; // sentences, in the last column: continued on the next line instead of being cut
    };

    explicit Table(std::vector<Column> columns) : m_columns(std::move(columns)) {}
    void add(QStringList cells) { m_rows.push_back(std::move(cells)); }
    // Above the rows that follow, over the whole width.
    void addHeading(const QString &title) { m_headings.emplace(m_rows.size(), title); }
    [[nodiscard]] bool isEmpty() const { return m_rows.empty(); }
    // Without a final newline. `width` 0: as wide as it gets, but no cell that may be cut wider than 200; a row is a
    // line then.
    [[nodiscard]] QString text(int width) const;

private:
    [[nodiscard]] std::vector<qsizetype> widths(int width) const;
    std::vector<Column> m_columns;
    std::vector<QStringList> m_rows;
    std::map<std::size_t, QString> m_headings; // by the row they stand above
};

// Terminal cells a text takes: CJK characters take two, combining marks none.
[[nodiscard]] qsizetype cellsOf(const QString &text);

} // namespace lockscope::ctl
