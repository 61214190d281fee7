// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/output.h"

#include "core/base/text.h"

#include <QJsonDocument>

#include <cstdio>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <cwchar>
#include <numeric>

namespace lockscope::ctl {

namespace {

CapturedOutput *captured = nullptr;

bool write(std::FILE *to, const QByteArray &bytes)
{
    if (captured) {
        (to == stdout ? captured->out : captured->errors) += bytes;
        return true;
    }
    const bool written = std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), to)
                         == static_cast<std::size_t>(bytes.size());
    return std::fflush(to) == 0 && written;
}

bool printObject(QJsonObject object, QJsonDocument::JsonFormat format)
{
    object["schema"_L1] = u"lockscope/1"_s;
    auto bytes = QJsonDocument(object).toJson(format);
    if (!bytes.endsWith('\n'))
        bytes += '\n';
    return write(stdout, bytes);
}

} // namespace

CapturedOutput::CapturedOutput()
{
    captured = this;
}

CapturedOutput::~CapturedOutput()
{
    captured = nullptr;
}

bool print(const QString &text)
{
    // Tabs stand between the cells of a table, each of which was made harmless before.
    auto cells = text.split(u'\t');
    for (auto &cell : cells)
        cell = harmlessLines(cell);
    return write(stdout, cells.join(u'\t').toUtf8() + '\n');
}

bool printStyled(const QString &lines)
{
    return write(stdout, lines.toUtf8());
}

bool printJsonLine(QJsonObject object)
{
    return printObject(std::move(object), QJsonDocument::Compact);
}

bool printJson(QJsonObject object)
{
    return printObject(std::move(object), captured ? QJsonDocument::Compact : QJsonDocument::Indented);
}

void printError(const QString &message)
{
    auto line = harmlessLine(message);
    // Whatever is wrong with a URI, or wherever it was written: no password in it is said again.
    // Whom ssh is told to be is none.
    static const QRegularExpression credentials(u"://\\S*:(?:(?![?&](?:ssh|kube)=[^\\s&@]*@)\\S)*@"_s);
    line.replace(credentials, u"://…@"_s);
    write(stderr, "lockscopectl: " + line.toUtf8() + '\n');
}

void printNote(const QString &text)
{
    write(stderr, harmlessLines(text).toUtf8());
}

void showOnLine(const QString &text)
{
    write(stderr, "\r\x1b[K" + harmlessLine(text).toUtf8());
}

bool isUnicode()
{
    static const bool unicode = QByteArray(::nl_langinfo(CODESET)) == "UTF-8";
    return unicode;
}

bool isDumbTerminal()
{
    const auto term = qgetenv("TERM");
    return term.isEmpty() || term == "dumb";
}

int terminalWidth()
{
    winsize size = {};
    if (captured || !::isatty(STDOUT_FILENO) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

namespace {

qsizetype cellsOfOne(char32_t c)
{
    const int width = ::wcwidth(static_cast<wchar_t>(c));
    return width < 0 ? 1 : width; // unknown to this locale: assume one
}

constexpr qsizetype columnGap = 2;
constexpr qsizetype narrowest = 8;
constexpr qsizetype narrowestProse = 40;

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

std::vector<Table::Column> Table::columnsOf(const QString &titles)
{
    return mapped<std::vector<Column>>(titles.split(u'|'), [](const QString &title) {
        static const QString signs = u">~+"_s;
        const auto sign = signs.indexOf(title.front());
        return Column{sign < 0 ? title : title.sliced(1), sign == 0 ? Align::Right : Align::Left, sign == 1,
                      sign == 2};
    });
}

std::vector<qsizetype> Table::widths(int width) const
{
    std::vector<qsizetype> wide;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
        auto most = cellsOf(m_columns[c].title);
        for (const auto &row : m_rows)
            most = std::max(most, cellsOf(row.value(static_cast<qsizetype>(c))));
        wide.push_back(most);
    }
    const auto total = [&] {
        qsizetype sum = columnGap * (static_cast<qsizetype>(wide.size()) - 1);
        for (const auto cells : wide)
            sum += cells;
        return sum;
    };
    while (total() > width) {
        // The widest column that may give does, first.
        std::size_t widest = wide.size();
        for (std::size_t c = 0; c < wide.size(); ++c) {
            const auto &column = m_columns[c];
            const bool gives = column.isProse ? wide[c] > narrowestProse : column.cuttable && wide[c] > narrowest;
            if (gives && (widest == wide.size() || wide[c] > wide[widest]))
                widest = c;
        }
        if (widest == wide.size())
            break;
        --wide[widest];
    }
    return wide;
}

QString firstCells(const QString &text, qsizetype cells)
{
    qsizetype end = 0, used = 0;
    for (const char32_t c : text.toUcs4()) {
        used += cellsOfOne(c);
        if (end > 0 && used > cells)
            break;
        end += QChar::requiresSurrogates(c) ? 2 : 1;
    }
    return text.first(end);
}

QStringList wrapped(const QString &text, qsizetype cells)
{
    QStringList lines;
    QString line;
    for (auto word : text.split(u' ')) {
        if (!line.isEmpty() && cellsOf(line) + 1 + cellsOf(word) > cells)
            lines << std::exchange(line, {});
        while (!word.isEmpty() && cellsOf(word) > cells) {
            lines << firstCells(word, cells);
            word = word.sliced(lines.back().size());
        }
        line += line.isEmpty() ? word : u' ' + word;
    }
    return lines << line;
}

QStringList wrappedWhole(const QString &text, qsizetype cells)
{
    for (const auto &word : text.split(u' '))
        cells = std::max(cells, cellsOf(word));
    return text.isEmpty() ? QStringList() : wrapped(text, cells);
}

QString Table::text(int width) const
{
    if (width == 0)
        return tabbed();
    const auto wide = widths(width);
    const auto total = std::accumulate(wide.begin(), wide.end(), columnGap * (std::ssize(wide) - 1));
    const auto titles = mapped<QStringList>(m_columns, [&](const auto &column) { return column.title; });
    QStringList lines;
    const auto addLine = [&](const QStringList &cells) {
        QString line;
        QStringList rest; // of what is continued
        for (std::size_t c = 0; c < wide.size(); ++c) {
            auto cell = cells.value(static_cast<qsizetype>(c));
            if (m_columns[c].isProse) {
                rest = wrapped(cell, wide[c]);
                cell = rest.takeFirst();
            } else {
                cell = cut(cell, wide[c]);
            }
            const QString padding(std::max<qsizetype>(0, wide[c] - cellsOf(cell)), u' ');
            if (c > 0)
                line += QString(columnGap, u' ');
            line += m_columns[c].align == Align::Right ? padding + cell : cell + padding;
        }
        while (line.endsWith(u' '))
            line.chop(1);
        lines << line;
        const auto indent = total - (wide.empty() ? 0 : wide.back());
        for (const auto &more : rest)
            lines << QString(indent, u' ') + more;
    };
    addLine(titles);
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        if (const auto heading = m_headings.find(row); heading != m_headings.end())
            lines << QString() << heading->second;
        addLine(m_rows[row]);
    }
    return lines.join(u'\n');
}

QString Table::tabbed() const
{
    QStringList lines, titles;
    for (const auto &column : m_columns)
        titles << column.title;
    if (!titles.isEmpty())
        lines << titles.join(u'\t');
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        if (const auto heading = m_headings.find(row); heading != m_headings.end())
            lines << QString() << heading->second;
        const auto cells = mapped<QStringList>(m_rows[row], [&](const auto &cell) { return harmlessLine(cell); });
        lines << cells.join(u'\t');
    }
    return lines.join(u'\n');
}

} // namespace lockscope::ctl
