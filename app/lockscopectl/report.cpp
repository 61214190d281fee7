// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/report.h"

#include "app/lockscopectl/locktext.h"
#include "app/lockscopectl/output.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

#include <algorithm>
#include <unistd.h>

namespace lockscope::ctl {

using inspect::FindingCode;
using inspect::Severity;

namespace {

constexpr int statusCells = 16, amountCells = 12, leastTitle = 24, widestReport = 120;

std::optional<bool> &forcedColor()
{
    static std::optional<bool> forced;
    return forced;
}

bool isColored()
{
    static const bool isWanted =
        ::isatty(STDOUT_FILENO) && qEnvironmentVariableIsEmpty("NO_COLOR") && qgetenv("TERM") != "dumb";
    return forcedColor().value_or(isWanted);
}

QString inked(const Span &span)
{
    static const std::map<Ink, QString> codes{{Ink::Bold, u"1"_s},     {Ink::Dim, u"2"_s},    {Ink::Red, u"1;31"_s},
                                              {Ink::Yellow, u"33"_s},  {Ink::Blue, u"34"_s},  {Ink::Cyan, u"36"_s},
                                              {Ink::Magenta, u"35"_s}, {Ink::Reverse, u"7"_s}};
    const auto text = harmlessLine(span.text);
    const auto code = codes.find(span.ink);
    return !isColored() || code == codes.end() || text.trimmed().isEmpty()
               ? text
               : u"\x1b[%1m%2\x1b[0m"_s.arg(code->second, text);
}

Status status(const QString &sign, const QString &ascii, const QString &word, Ink ink)
{
    return {isUnicode() ? sign : ascii, word, ink};
}

// A finding without a sign of its own has its code as the word.
Status statusOfCode(FindingCode code, Severity severity)
{
    switch (code) {
    case FindingCode::Deadlock: return status(u"✕"_s, u"X"_s, u"deadlock"_s, Ink::Red);
    case FindingCode::NoTtl: return status(u"∞"_s, u"N"_s, u"no expiry"_s, Ink::Yellow);
    case FindingCode::DeadlockEnded: return status(u"◷"_s, u"<"_s, u"past"_s, Ink::Magenta);
    case FindingCode::LostWakeup: return status(u"!"_s, u"!"_s, u"lost wake-up"_s, Ink::Red);
    case FindingCode::HolderDisconnected: return status(u"‖"_s, u"="_s, u"disconnected"_s, Ink::Yellow);
    case FindingCode::IdleInTransaction: return status(u"!"_s, u"!"_s, u"idle"_s, Ink::Yellow);
    case FindingCode::ExpiredValue: return status(u"!"_s, u"!"_s, u"expired"_s, Ink::Yellow);
    case FindingCode::NoQuorum: return status(u"?"_s, u"?"_s, u"no quorum"_s, Ink::Yellow);
    case FindingCode::PersistentNode: return status(u"!"_s, u"!"_s, u"persistent"_s, Ink::Yellow);
    default:
        return severity == Severity::Info ? Status{u" "_s, inspect::word(code)}
                                          : status(u"!"_s, u"!"_s, inspect::word(code), Ink::Yellow);
    }
}

QString ageText(std::optional<std::chrono::milliseconds> age, bool atMost)
{
    const auto most = isUnicode() ? u"≤ %1"_s : u"<= %1"_s;
    return !age ? u"-"_s : atMost ? most.arg(formatDuration(*age)) : formatDuration(*age);
}

qsizetype cellsOf(const Line &line)
{
    qsizetype cells = 0;
    for (const auto &span : line)
        cells += ctl::cellsOf(span.text);
    return cells;
}

// Fills the line up so that the text ends at `width`.
void addRight(Line &line, const QString &text, int width)
{
    const auto gap = std::max<qsizetype>(text.startsWith(u' ') ? 0 : 2, width - cellsOf(line) - ctl::cellsOf(text));
    line.push_back({QString(gap, u' ') + text});
}

// Of the release that an incident suggests; empty where its action is none.
QString rehearsalOf(const CommandContext &context, const inspect::Incident &incident)
{
    if (incident.target.empty() || incident.code == FindingCode::LostWakeup
        || incident.code == FindingCode::WrongWatch)
        return {};
    return rehearsalText(context, incident.target.front());
}

} // namespace

bool setColor(const QString &when)
{
    if (when == "always"_L1 || when == "never"_L1)
        forcedColor() = when == "always"_L1;
    return when == "auto"_L1 || forcedColor();
}

QString rehearsalText(const CommandContext &context, const inspect::FindingPlace &place)
{
    const auto connection = context.connections.find(place.lock.connection);
    if (connection == context.connections.end() || context.pictures.recorded())
        return {};
    QStringList words{u"lockscopectl"_s,
                      u"rehearse"_s,
                      app::shellWord(escaped(place.lock.text())),
                      u"--holder"_s,
                      app::shellWord(escaped(place.contender)),
                      u"--connect"_s,
                      app::shellWord(connection->word)};
    for (const auto &file : context.arguments.options.value(u"rules"_s))
        words << u"--rules"_s << app::shellWord(file);
    const auto command = words.join(u' ');
    // A password is not printed.
    return connection->lacksPassword
               ? u"Try (set %1 first): %2"_s.arg(QString::fromLatin1(passwordVariable(connection.key())), command)
               : u"Try: %1"_s.arg(command);
}

bool printLines(const std::vector<Line> &lines)
{
    QString text;
    for (const auto &line : lines) {
        QString whole;
        for (const auto &span : line)
            whole += inked(span);
        while (whole.endsWith(u' '))
            whole.chop(1);
        text += whole + u'\n';
    }
    return printStyled(text);
}

Status statusOf(const inspect::LockSnapshot &lock)
{
    for (const auto code : {FindingCode::Deadlock, FindingCode::LostWakeup, FindingCode::NoTtl,
                            FindingCode::HolderDisconnected, FindingCode::NoQuorum, FindingCode::ExpiredValue}) {
        const auto *finding = lock.find(code);
        if (finding && finding->severity != Severity::Info)
            return statusOfCode(code, finding->severity);
    }
    switch (lock.state) {
    case inspect::LockState::Free: return status(u"○"_s, u"o"_s, u"free"_s, Ink::Plain);
    case inspect::LockState::Held: return status(u"●"_s, u"*"_s, u"held"_s, Ink::Cyan);
    case inspect::LockState::Contended: return status(u"◔"_s, u"%"_s, u"contended"_s, Ink::Yellow);
    }
    return {};
}

Status statusOf(const inspect::Incident &incident)
{
    if (incident.code == FindingCode::LongWait)
        return status(u"◔"_s, u"%"_s, u"blocker"_s, Ink::Yellow);
    return statusOfCode(incident.code == FindingCode::WrongWatch ? FindingCode::LostWakeup : incident.code,
                        incident.severity);
}

Status statusOf(const inspect::Finding &finding)
{
    return statusOfCode(finding.code, finding.severity);
}

void add(std::vector<Line> &lines, const ReportRow &row, int width)
{
    const auto right = std::min(width, widestReport);
    const auto room = std::max<qsizetype>(leastTitle, right - statusCells - row.amounts.size() * amountCells);
    auto texts = row.texts;
    QStringList first{row.title};
    if (row.title.isEmpty() && !texts.isEmpty())
        first = wrapped(texts.takeFirst(), room);
    const QString head = u"%1 %2"_s.arg(row.status.sign, row.status.word);
    Line line{{head, row.status.ink}, {QString(std::max<qsizetype>(1, statusCells - ctl::cellsOf(head)), u' ')}};
    line.push_back({first.takeFirst(), row.title.isEmpty() ? Ink::Plain : Ink::Bold});
    // A name that leaves no space is whole on its line, and the amounts are on the next one.
    const bool isLong = ctl::cellsOf(line.back().text) > room;
    if (isLong) {
        lines.push_back(std::exchange(line, {{QString(statusCells, u' ')}}));
        first = texts.isEmpty() ? QStringList() : wrapped(texts.takeFirst(), room);
        if (!first.isEmpty())
            line.push_back({first.takeFirst()});
    }
    QString amounts;
    for (const auto &amount : row.amounts)
        amounts += QString(std::max<qsizetype>(1, amountCells - ctl::cellsOf(amount)), u' ') + amount;
    if (!amounts.isEmpty())
        addRight(line, amounts, right);
    lines.push_back(std::move(line));
    for (const auto &text : texts)
        first << wrapped(text, right - statusCells);
    for (const auto &more : first)
        lines.push_back({{QString(statusCells, u' ')}, {more}});
    if (!row.command.isEmpty())
        lines.push_back({{QString(statusCells, u' ')}, {row.command}});
}

void addHeading(std::vector<Line> &lines, Line left, const QString &right, int width)
{
    addRight(left, right, std::min(width, widestReport));
    lines.push_back(std::move(left));
}

void addIncidents(std::vector<Line> &lines, const std::vector<inspect::Incident> &incidents,
                  const CommandContext &context, int width)
{
    if (incidents.empty())
        return;
    const auto critical = std::ranges::count(incidents, Severity::Critical, &inspect::Incident::severity);
    const auto warnings = std::ranges::count(incidents, Severity::Warning, &inspect::Incident::severity);
    addHeading(lines, {{u"INCIDENTS"_s, Ink::Bold}},
               u"%1 critical, %2"_s.arg(QString::number(critical), amountOf(warnings, "warning"_L1, "warnings"_L1)),
               width);
    for (const auto &incident : incidents) {
        QStringList texts{incident.cause};
        QStringList names;
        for (const auto &lock : incident.locks)
            names << escaped(lock.text());
        if (incident.code == FindingCode::Deadlock) // whose cause names the clients alone
            texts << u"Locks: %1."_s.arg(names.join(u", "_s));
        texts << incident.action;
        if (const auto folded = foldedText(incident); !folded.isEmpty())
            texts << u"It explains these findings: %1."_s.arg(folded);
        add(lines,
            {statusOf(incident), {}, texts, {ageText(incident.age, incident.atMost)}, rehearsalOf(context, incident)},
            width);
    }
    lines.push_back({});
}

Line connectionLine(const inspect::LinkState &connection)
{
    Line line{{escaped(connection.name.bytes()), Ink::Bold}};
    if (connection.production)
        line.insert(line.end(), {{u"  "_s}, {u"PROD"_s, Ink::Reverse}});
    line.push_back(
        {u"  %1"_s.arg(connection.server.isEmpty() ? infoOf(connection.backend).title : connection.server)});
    line.push_back({u"  %1"_s.arg(harmless(connection.uri)), Ink::Dim});
    return line;
}

} // namespace lockscope::ctl
