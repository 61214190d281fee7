// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/past.h"

#include "core/base/text.h"
#include "core/workspace/newsfeed.h"

#include <QJsonDocument>

namespace lockscope {

using history::Moment;
using inspect::Contender;
using inspect::Role;

namespace {

constexpr std::size_t mostEvents = 200; // of the timeline: the last ones

QString cell(const QString &text)
{
    return text.isEmpty() ? u"-"_s : codeSpan(text, true);
}

QString cell(const QByteArray &bytes)
{
    return cell(label(bytes, 120));
}

QString textCell(const std::optional<QString> &text)
{
    return text ? cell(escaped(text->toUtf8())) : u"-"_s;
}

QString row(const QStringList &cells)
{
    return u"| "_s + cells.join(u" | "_s) + u" |\n"_s;
}

QString tableHead(const QStringList &titles)
{
    return row(titles) + row(QStringList(titles.size(), u"---"_s));
}

// The time of day is enough within a timeline: its date stands at the top.
QString clock(const NoteFacts &facts, Moment at)
{
    return inspect::isoTime(at + facts.wallSetBy);
}

QString serverWords(const NoteFacts &facts)
{
    const auto &info = infoOf(facts.lock.backend);
    const auto &server = facts.connection.server;
    return server.isEmpty() ? u"%1, version not known"_s.arg(info.title) : cell(escaped(server.toUtf8()));
}

QString environment(const NoteFacts &facts)
{
    const auto &lock = facts.lock;
    const auto ahead = lock.serverAhead;
    const auto serverTime = inspect::isoTime(facts.asOf + ahead);
    QString text = row({u" "_s, u" "_s}) + row({u"---"_s, u"---"_s});
    text += row({u"Connection"_s,
                 cell(facts.connection.name.bytes()) + u", "_s + cell(escaped(facts.connection.uri.toUtf8()))});
    text +=
        row({u"Environment"_s, facts.connection.production ? u"**PRODUCTION**"_s : u"not marked as production"_s});
    text += row({u"Server"_s, serverWords(facts)});
    text += row({u"As of"_s, u"%1, by the server's clock about %2"_s.arg(clock(facts, facts.asOf), serverTime)});
    text += row({u"Seen by"_s, facts.source.isEmpty() ? u"one read of the server"_s : facts.source});
    text += row({u"Recipe"_s, u"%1, confidence %2: %3"_s.arg(cell(lock.recipe), inspect::word(lock.confidence),
                                                             cell(escaped(lock.why.toUtf8())))});
    return text + row({u"Written by"_s, QStringLiteral("Lockscope " LOCKSCOPE_VERSION)});
}

QString age(const Contender &one, inspect::ServerTime now)
{
    const auto since = one.role == Role::Holder ? one.heldSince : one.waitingSince;
    if (!since)
        return u"-"_s;
    return (one.heldAtMost ? u"at most "_s : QString()) + formatDuration(now - *since);
}

// The account it logged in with is nothing that it says.
QString ofItself(const Contender &one, BackendKind backend)
{
    QStringList words;
    if (one.identity && !one.identity->isEmpty())
        words << (infoOf(backend).isIdentityAnAccount ? u"user "_s : QString()) + cell(*one.identity);
    const auto program = one.program.value_or(one.work ? one.work->application : QByteArray());
    if (!program.isEmpty())
        words << cell(program);
    return words.isEmpty() ? u"-"_s : words.join(u", "_s);
}

// What the user calls it, before what its server does.
QString labelled(const Contender &one, const QString &cells)
{
    if (one.label.isEmpty())
        return cells;
    const auto label = cell(escaped(one.label.toUtf8()));
    return cells == "-"_L1 ? label : label + u", "_s + cells;
}

QString queue(const NoteFacts &facts)
{
    const auto &lock = facts.lock;
    const auto now = facts.asOf + lock.serverAhead;
    if (lock.contenders.empty())
        return u"It is empty.\n"_s;
    QString text = tableHead({u"#"_s, u"Role"_s, u"Mode"_s, u"Id"_s, u"Client"_s, u"From"_s, u"For"_s,
                              u"Ends by itself in"_s, u"Its own name"_s});
    for (const auto &contender : lock.contenders) {
        const auto left = contender.expiresAt
                              ? formatDuration(std::max(std::chrono::milliseconds(0), *contender.expiresAt - now))
                              : u"-"_s;
        text += row({contender.position ? QString::number(*contender.position) : u"-"_s,
                     inspect::word(contender.role), inspect::word(contender.mode), cell(escaped(contender.id)),
                     labelled(contender, textCell(contender.session)), textCell(contender.endpoint),
                     age(contender, now), left, ofItself(contender, lock.backend)});
    }
    QString doing;
    for (const auto &one : lock.contenders) {
        const auto work = one.work ? inspect::workLines(*one.work, now).join(u"; "_s) : QString();
        if (!work.isEmpty())
            doing += u"- %1: %2\n"_s.arg(cell(escaped(one.id)), codeSpan(work));
    }
    text += (doing.isEmpty() ? doing : u'\n' + doing);
    if (!lock.waitersKnown)
        text += u"\nMore clients may be waiting without being visible.\n"_s;
    return text;
}

QString incidents(const NoteFacts &facts)
{
    QString text;
    for (const auto &incident : facts.incidents)
        text += u"- **%1 %2** %3\n  %4\n"_s.arg(inspect::word(incident.severity), kindWord(incident),
                                                codeSpan(incident.cause), codeSpan(incident.action));
    return text;
}

QString findings(const NoteFacts &facts)
{
    QString text;
    auto all = facts.lock.findings;
    std::ranges::stable_sort(all, std::greater(), &inspect::Finding::severity);
    for (const auto &finding : all)
        text += u"- %1 `%2`: %3\n"_s.arg(inspect::word(finding.severity), inspect::word(finding.code),
                                         codeSpan(harmless(finding.message)));
    for (const auto &part : facts.coverage) {
        if (!part.complete)
            text += u"- Incomplete: %1\n"_s.arg(codeSpan(harmless(part.message)));
        for (const auto &deadlock : part.endedDeadlocks) {
            if (part.connection == facts.lock.lock.connection && inspect::isInvolved(deadlock, facts.lock.lock.name))
                text += u"- %1 `%2`: %3\n"_s.arg(inspect::word(inspect::Severity::Info),
                                                 inspect::word(inspect::FindingCode::DeadlockEnded),
                                                 codeSpan(harmless(inspect::deadlockText(deadlock))));
        }
    }
    return text.isEmpty() ? u"None with what was seen.\n"_s : text;
}

QString spansRow(const QString &what, const history::Spans &spans)
{
    if (spans.count == 0)
        return row({what, u"0"_s, u"-"_s, u"-"_s, u"-"_s, u"-"_s});
    return row({what, QString::number(spans.count), formatDuration(spans.p50), formatDuration(spans.p90),
                formatDuration(spans.p99), formatDuration(spans.max)});
}

QString timeline(const NoteFacts &facts)
{
    const auto problem = codeSpan(harmless(facts.historyProblem));
    if (!facts.history)
        return facts.historyProblem.isEmpty()
                   ? u"No history: this is a single read. `lockscopectl record` records one.\n"_s
                   : u"The history could not be read: %1. The past of this lock is unknown.\n"_s.arg(problem);
    const auto line = history::timelineOf(*facts.history, facts.labels);
    const auto first = line.events.size() - std::min(line.events.size(), mostEvents);
    QString text = first == 0   ? QString()
                   : first == 1 ? u"1 earlier event is left out.\n\n"_s
                                : u"%1 earlier events are left out.\n\n"_s.arg(first);
    if (!facts.historyProblem.isEmpty())
        text += u"Incomplete: recording stopped (%1). Later changes may be missing.\n\n"_s.arg(problem);
    text += tableHead({u"When it was seen"_s, u"Who"_s, u"Its own name"_s, u"From"_s, u"What"_s});
    for (auto i = first; i < line.events.size(); ++i) {
        const auto &event = line.events[i];
        const bool isQuoted = !event.words.isEmpty();
        const auto words = history::wordsOf(event);
        text += row({clock(facts, event.at), labelled(event.contender, cell(escaped(event.contender.id))),
                     ofItself(event.contender, facts.lock.backend), textCell(event.contender.endpoint),
                     isQuoted ? cell(escaped(words.toUtf8())) : words});
    }
    text +=
        u"\nHand-offs: %1. Forced releases: %2. Times are observation times: changes between two reads are not recorded, and a hand-off seen in one read counts as a gap of 0.\n\n"_s
            .arg(QString::number(line.handOffs), QString::number(line.forced));
    text += tableHead({u" "_s, u"Number"_s, u"p50"_s, u"p90"_s, u"p99"_s, u"Longest"_s});
    return text + spansRow(u"Holds"_s, line.holds) + spansRow(u"Waits that ended in a hold"_s, line.waits)
           + spansRow(u"Gaps: not held, but waited for"_s, line.gaps);
}

// LOCK in JSON, in a few words.
QString stateWords(const QByteArray &json)
{
    const auto lock = QJsonDocument::fromJson(json).object();
    if (lock.isEmpty())
        return u"-"_s;
    QStringList holders;
    int waiting = 0;
    for (const auto &entry : lock.value("contenders"_L1).toArray()) {
        const auto contender = entry.toObject();
        const auto identity = contender.value("identity"_L1).toString().left(80);
        if (contender.value("role"_L1).toString() == "holder"_L1)
            holders << contender.value("id"_L1).toString()
                           + (identity.isEmpty() ? QString() : u" (%1)"_s.arg(identity));
        else
            ++waiting;
    }
    const auto by = holders.isEmpty() ? QString() : u" by "_s + holders.join(u", "_s);
    return cell(harmless(lock.value("state"_L1).toString() + by + u"; %1 waiting"_s.arg(waiting)));
}

QString actions(const NoteFacts &facts)
{
    const auto gap = facts.actsProblem.isEmpty()
                         ? QString()
                         : u"Incomplete: the audit log could not be read (%1). Actions may be missing.\n"_s.arg(
                             codeSpan(harmless(facts.actsProblem)));
    if (facts.acts.empty())
        return gap.isEmpty() ? u"None is recorded for this lock.\n"_s : gap;
    QString text = gap.isEmpty() ? gap : gap + u'\n';
    text += tableHead({u"Time"_s, u"Who"_s, u"Action"_s, u"Holder"_s, u"Phase"_s, u"Outcome"_s, u"Reason"_s,
                       u"Before"_s, u"After"_s});
    const auto shown = [](const QString &words) { return cell(escaped(words.toUtf8())); };
    for (const auto &act : facts.acts)
        text += row({clock(facts, act.time), shown(act.actor), shown(act.action), cell(escaped(act.holder)),
                     shown(act.phase), shown(act.outcome), shown(act.reason), stateWords(act.before),
                     stateWords(act.after)});
    return text;
}

} // namespace

QString codeSpan(const QString &text, bool inTable)
{
    qsizetype longest = 0;
    qsizetype run = 0;
    for (const auto character : text) {
        run = character == u'`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const QString fence(longest + 1, u'`');
    const bool isPadded = text.isEmpty() || text.startsWith(u'`') || text.endsWith(u'`') || text.startsWith(u' ');
    const auto pad = isPadded ? u" "_s : QString();
    auto inner = text;
    inner.replace(u'\n', u' ');
    // In a cell a bar ends it, in code too; a backslash before it is the table's own.
    if (inTable)
        inner.replace(u'|', u"\\|"_s);
    return fence + pad + inner + pad + fence;
}

QString incidentNote(const NoteFacts &facts)
{
    auto sentence = inspect::answerSentence(facts.lock, facts.asOf + facts.lock.serverAhead);
    if (facts.goneBy)
        sentence = u"%1 is not there at %2; as of %3: %4"_s.arg(
            escaped(facts.lock.lock.name), clock(facts, *facts.goneBy), clock(facts, facts.asOf), sentence);
    QString text = u"# Incident: %1\n\n"_s.arg(codeSpan(escaped(facts.lock.lock.text())));
    text += codeSpan(sentence) + u"\n\n"_s;
    text += u"## Environment\n\n"_s + environment(facts);
    text += u"\n## Queue\n\n"_s + queue(facts);
    if (!facts.incidents.empty())
        text += u"\n## Incidents\n\n"_s + incidents(facts);
    text += u"\n## Findings\n\n"_s + findings(facts);
    text += u"\n## Timeline\n\n"_s + timeline(facts);
    text += u"\n## Actions\n\n"_s + actions(facts);
    return text;
}

void addActs(NoteFacts &facts, const std::vector<operate::AuditRecord> &records, history::Moment upTo)
{
    for (const auto &record : records) {
        auto act = actOf(record);
        if (record.lock == facts.lock.lock.text() && act.time <= upTo)
            facts.acts.push_back(std::move(act));
    }
}

void addRecordedActs(NoteFacts &facts)
{
    const auto audited = facts.acts;
    for (const auto &[at, act] : facts.history->acts) {
        const auto isSame = [&recorded = act](inspect::Act known) {
            known.time = recorded.time; // A clock that was set in between moves it.
            return known == recorded;
        };
        if (std::ranges::none_of(audited, isSame))
            facts.acts.push_back(act);
    }
}

} // namespace lockscope
