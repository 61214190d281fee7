// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

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
        ::isatty(STDOUT_FILENO) && qEnvironmentVariableIsEmpty("NO_COLOR") && !isDumbTerminal();
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
    for (const auto &line : lines)
        text += inked(line) + u'\n';
    return printStyled(text);
}

QString inked(const Line &line)
{
    QString text;
    for (const auto &span : line)
        text += inked(span);
    while (text.endsWith(u' '))
        text.chop(1);
    return text;
}

void addFolded(std::vector<Line> &lines, const Line &line, int width)
{
    Line row;
    qsizetype used = 0;
    for (const auto &span : line) {
        auto rest = harmlessLine(span.text);
        if (ctl::cellsOf(rest) + used > width) {
            QString text;
            for (const char32_t c : rest.toUcs4()) {
                const auto one = QString::fromUcs4(&c, 1);
                const auto cells = ctl::cellsOf(one);
                if (used + cells > width) {
                    row.push_back({std::exchange(text, {}), span.ink});
                    lines.push_back(std::exchange(row, {}));
                    used = 0;
                }
                text += one;
                used += cells;
            }
            rest = text;
        } else {
            used += ctl::cellsOf(rest);
        }
        row.push_back({rest, span.ink});
    }
    lines.push_back(row);
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
                  const CommandContext &context, int width, bool isBrief)
{
    if (incidents.empty())
        return;
    const auto critical = std::ranges::count(incidents, Severity::Critical, &inspect::Incident::severity);
    const auto warnings = std::ranges::count(incidents, Severity::Warning, &inspect::Incident::severity);
    addHeading(lines, {{u"INCIDENTS"_s, Ink::Bold}},
               u"%1 critical, %2"_s.arg(QString::number(critical), amountOf(warnings, "warning"_L1, "warnings"_L1)),
               width);
    for (const auto &incident : incidents) {
        ReportRow row{statusOf(incident), {}, {incident.cause}, {ageText(incident.age, incident.atMost)}};
        if (isBrief) {
            const auto room = std::max(leastTitle, std::min(width, widestReport) - statusCells - amountCells);
            const auto cause = wrapped(incident.cause, room - 4); // the dots fit, too
            row.texts = {cause.size() > 1 ? cause.front() + (isUnicode() ? u" …"_s : u" ..."_s) : cause.front()};
            add(lines, row, width);
            continue;
        }
        auto &texts = row.texts;
        const auto names =
            mapped<QStringList>(incident.locks, [&](const auto &lock) { return escaped(lock.text()); });
        if (incident.code == FindingCode::Deadlock) // whose cause names the clients alone
            texts << u"Locks: %1."_s.arg(names.join(u", "_s));
        texts << incident.action;
        if (const auto folded = foldedText(incident); !folded.isEmpty())
            texts << u"It explains these findings: %1."_s.arg(folded);
        row.command = rehearsalOf(context, incident);
        add(lines, row, width);
    }
    if (!isBrief)
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

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

constexpr int mostText = 60;

const Contender *firstHolder(const LockSnapshot &lock)
{
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            return &contender;
    }
    return nullptr;
}

QString shape(const QString &unicode, const QString &ascii)
{
    return isUnicode() ? unicode : ascii;
}

} // namespace

QJsonArray namesBeside(const LockSnapshot &lock, const std::vector<QByteArray> &others)
{
    return mapped<QJsonArray>(others, [&](const auto &other) {
        return escaped(inspect::LockName{lock.lock.connection, other}.text());
    });
}

QString shown(const QString &text)
{
    return escaped(text.toUtf8());
}

QString shown(const std::optional<QString> &text)
{
    return text ? shown(*text) : u"-"_s;
}

QString idWithLabel(const LockSnapshot &lock, const QByteArray &id)
{
    const auto *one = lock.find(id);
    return one && !one->label.isEmpty() ? u"%1 (%2)"_s.arg(escaped(id), shown(one->label)) : escaped(id);
}

QString stateWord(const LockSnapshot &lock)
{
    const auto word = inspect::word(lock.state);
    switch (lock.state) {
    case inspect::LockState::Free: return shape(u"○ "_s, u"o "_s) + word;
    case inspect::LockState::Held: return shape(u"● "_s, u"* "_s) + word;
    case inspect::LockState::Contended: return shape(u"◔ "_s, u"% "_s) + word;
    }
    return word;
}

QString roleSign(Role role)
{
    return role == Role::Holder ? shape(u"●"_s, u"*"_s) : shape(u"○"_s, u"o"_s);
}

QString roleWord(Role role)
{
    return u"%1 %2"_s.arg(roleSign(role), inspect::word(role));
}

QString sessionText(const Contender &contender, BackendKind backend)
{
    return contender.session ? u"%1 %2"_s.arg(infoOf(backend).words.client, shown(*contender.session)) : QString();
}

QString clientText(const Contender &contender, BackendKind backend)
{
    if (!contender.label.isEmpty())
        return shown(contender.label);
    if (const auto name = inspect::selfNameOf(contender, backend))
        return inspect::nameLabel(*name);
    if (contender.endpoint)
        return shown(*contender.endpoint);
    const auto session = sessionText(contender, backend);
    return session.isEmpty() ? escaped(contender.id) : session;
}

QString holderText(const LockSnapshot &lock)
{
    const auto *holder = firstHolder(lock);
    if (!holder)
        return {};
    const auto name = clientText(*holder, lock.backend);
    const int others = lock.holderCount() - 1;
    return others > 0 ? u"%1 and %2"_s.arg(name, amountOf(others, "other"_L1, "others"_L1)) : name;
}

QString identityWords(const Contender &contender)
{
    QStringList words;
    if (contender.identity && !contender.identity->isEmpty())
        words << inspect::nameLabel(*contender.identity);
    const auto shared = contender.work ? contender.work->application : QByteArray();
    if (const auto program = contender.program.value_or(shared); !program.isEmpty())
        words << u'(' + inspect::nameLabel(program) + u')';
    return words.isEmpty() ? u"-"_s : words.join(u' ');
}

QString waitingWords(const LockSnapshot &lock)
{
    const auto count = QString::number(lock.waiterCount());
    // Clients that poll cannot be seen: the number is then the least there may be.
    return lock.waitersKnown ? count : count + u'+';
}

QString ageWords(const LockSnapshot &lock, inspect::ServerTime now)
{
    const auto *holder = firstHolder(lock);
    return holder ? ageWords(*holder, now) : u"-"_s;
}

QString ageWords(const Contender &contender, inspect::ServerTime now)
{
    const auto since = contender.role == Role::Holder ? contender.heldSince : contender.waitingSince;
    if (!since)
        return u"-"_s;
    const auto most = contender.heldAtMost ? shape(u"≤ "_s, u"<= "_s) : QString();
    return most + formatDuration(now - *since);
}

QString watchWords(const Contender &contender)
{
    QStringList words;
    for (const auto &edge : contender.watches) {
        const auto target = edge.children ? u"children"_s : label(edge.target, mostText);
        words << (edge.evidence == inspect::Evidence::Server ? target : target + u" (inferred)"_s);
    }
    return words.isEmpty() ? u"-"_s : words.join(u", "_s);
}

QString findingWords(const LockSnapshot &lock)
{
    QStringList codes;
    auto findings = lock.findings;
    std::ranges::stable_sort(findings, std::greater(), &inspect::Finding::severity);
    for (const auto &finding : findings) {
        const auto mark = finding.severity == inspect::Severity::Critical  ? u"!! "_s
                          : finding.severity == inspect::Severity::Warning ? u"! "_s
                                                                           : QString();
        const auto code = mark + inspect::word(finding.code);
        if (!codes.contains(code))
            codes << code;
    }
    return codes.join(u", "_s);
}

QJsonArray waitersUnknownJson(const inspect::WaitGraph &graph)
{
    QJsonArray names;
    for (const auto &lock : graph.locks) {
        if (!lock.waitersKnown)
            names.append(escaped(lock.name.text()));
    }
    return names;
}

QStringList unseenWaiterWords(const inspect::WaitGraph &graph)
{
    const auto all = waitersUnknownJson(graph);
    if (all.isEmpty())
        return {};
    const auto names = mapped<QStringList>(all, [](const auto &name) { return name.toString(); });
    return {u"waiters unknown for %1: %2"_s.arg(amountOf(all.size(), "lock"_L1, "locks"_L1), firstNamed(names, 3))};
}

inspect::Coverage deadlocksUnknown(const ConnectionName &name)
{
    return {name, false, u"whether it is part of a deadlock: not all servers could be read for that"_s};
}

// Those that were there then; of a broken file none.
std::vector<Mute> mutesAt(history::Moment moment)
{
    const auto now = std::chrono::floor<std::chrono::seconds>(moment);
    auto mutes = readMutes();
    if (!mutes) {
        printError(mutes.error().message);
        return {};
    }
    std::erase_if(*mutes, [now](const Mute &mute) { return mute.since > now || mute.until <= now; });
    return *mutes;
}

QStringList unlinkedWords(const inspect::WaitGraph &graph)
{
    const auto sentence = unlinkedSentence(graph, u"--label PATTERN=NAME on clients of each server links them"_s);
    return sentence.isEmpty() ? QStringList() : QStringList(sentence);
}

QJsonArray unlinkedJson(const inspect::WaitGraph &graph)
{
    return mapped<QJsonArray>(unlinkedConnections(graph), [&](const auto &name) { return escaped(name.bytes()); });
}

} // namespace lockscope::ctl
