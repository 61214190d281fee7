// SPDX-License-Identifier: Apache-2.0
// What lockscopectl prints: results to stdout, everything else to stderr, as one line each. All of it passes
// core/base/text.h here: whatever text comes from a file or a server, no control character reaches the terminal.
#pragma once

#include "core/base/result.h"

#include <QJsonObject>
#include <QStringList>

#include <map>
#include <vector>

namespace lockscope::ctl {

// To stdout, flushed. Returns false when nobody reads any more (a closed pipe).
bool print(const QString &text);
// One line with "schema" added.
bool printJsonLine(QJsonObject object);
// A whole answer, indented.
bool printJson(QJsonObject object);
// One line to stderr: what was tried, on what, what to do next. Without the credentials of any URI in it.
void printError(const QString &message);
// Lines with control sequences of our own: all other text in them was made harmless before.
bool printStyled(const QString &lines);
// To stderr, for previews and questions under --json.
void printNote(const QString &text);
// To stderr, in place of what the terminal's last line shows.
void showOnLine(const QString &text);

// What is printed meanwhile: it goes here, and to no terminal. One at a time.
class CapturedOutput {
public:
    CapturedOutput();
    ~CapturedOutput();
    Q_DISABLE_COPY(CapturedOutput)
    QByteArray out, errors;
};

// Whether the terminal shows more than ASCII.
[[nodiscard]] bool isUnicode();
// Columns of the terminal; 0 when stdout is none (nothing is cut then).
[[nodiscard]] int terminalWidth();

// Rows in aligned columns, for people. Text is expected escaped; what does not fit the terminal is cut
// in the widest columns, never the numbers, and sentences are continued on the next line.
class Table {
public:
    enum class Align { Left, Right };
    struct Column {
        QString title;
        Align align = Align::Left;
        bool cuttable = false;
        bool isProse = false; // sentences, in the last column: continued on the next line instead of being cut
    };

    // Of titles with | between them. Before a title, > aligns it right, ~ lets it be cut, + says that it is prose.
    [[nodiscard]] static std::vector<Column> columnsOf(const QString &titles);
    explicit Table(std::vector<Column> columns) : m_columns(std::move(columns)) {}
    void add(QStringList cells) { m_rows.push_back(std::move(cells)); }
    // Above the rows that follow, over the whole width.
    void addHeading(const QString &title) { m_headings.emplace(m_rows.size(), title); }
    [[nodiscard]] bool isEmpty() const { return m_rows.empty(); }
    // Without a final newline. `width` 0, where stdout is no terminal: a row is a line of whole cells with tabs
    // between them.
    [[nodiscard]] QString text(int width) const;

private:
    [[nodiscard]] std::vector<qsizetype> widths(int width) const;
    [[nodiscard]] QString tabbed() const;
    std::vector<Column> m_columns;
    std::vector<QStringList> m_rows;
    std::map<std::size_t, QString> m_headings; // by the row they stand above
};

// Continued at its spaces; a word that is wider than a line is broken.
[[nodiscard]] QStringList wrapped(const QString &text, qsizetype cells);
// The same, but a word that is wider stays whole: a name or a command. Nothing of an empty text.
[[nodiscard]] QStringList wrappedWhole(const QString &text, qsizetype cells);
// Terminal cells a text takes: CJK characters take two, combining marks none.
[[nodiscard]] qsizetype cellsOf(const QString &text);

} // namespace lockscope::ctl
