// SPDX-License-Identifier: Apache-2.0
// show: one lock, with its queue in order.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/lockwords.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/table.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

using namespace Qt::StringLiterals;
using inspect::LockSnapshot;

namespace {

QString queueTable(const LockSnapshot &lock)
{
    const auto &words = infoOf(lock.backend).words;
    Table table({{u"#"_s, Table::Align::Right},
                 {u"ROLE"_s},
                 {u"MODE"_s},
                 {u"ID"_s},
                 {words.client.toUpper()},
                 {u"ENDPOINT"_s},
                 {u"AGE"_s, Table::Align::Right},
                 {words.waitsFor.toUpper(), Table::Align::Left, true},
                 {u"IDENTITY"_s, Table::Align::Left, true}});
    const auto now = serverNow(lock);
    for (const auto &contender : lock.contenders) {
        const auto role =
            roleWord(contender.role) + (contender.reentry > 1 ? u" ×%1"_s.arg(contender.reentry) : QString());
        // The id is never cut: it is what --holder takes.
        table.add({contender.position ? QString::number(*contender.position) : u"-"_s, role,
                   inspect::word(contender.mode), escaped(contender.id), shown(contender.session),
                   shown(contender.endpoint), ageWords(contender, now), watchWords(contender),
                   contender.identity ? label(*contender.identity, 60) : u"-"_s});
    }
    return table.text(terminalWidth());
}

QString nodeLine(const LockSnapshot &lock, const inspect::NodeSaid &said)
{
    if (!said.answered)
        return u"node %1: no answer"_s.arg(shown(said.node));
    if (!said.value)
        return u"node %1: no token"_s.arg(shown(said.node));
    const auto left =
        said.expiresAt ? u", for "_s + spokenDuration(*said.expiresAt - serverNow(lock)) : u", without an expiry"_s;
    return u"node %1: %2%3"_s.arg(shown(said.node), escaped(*said.value), left);
}

void printText(const LockSnapshot &lock, const QJsonArray &coverage)
{
    QStringList lines;
    lines << inspect::answerSentence(lock, serverNow(lock));
    const auto client = lock.client ? u" (%1)"_s.arg(shown(*lock.client)) : QString();
    lines << u"%1%2, confidence %3: %4"_s.arg(escaped(lock.recipe), client, inspect::word(lock.confidence),
                                              shown(lock.why));
    if (!lock.contenders.empty())
        lines << QString() << queueTable(lock);
    if (!lock.findings.empty())
        lines << QString();
    for (const auto &finding : lock.findings)
        lines << u"%1 %2: %3"_s.arg(inspect::word(finding.severity), inspect::word(finding.code),
                                    harmless(finding.message));
    for (const auto &said : lock.nodes)
        lines << nodeLine(lock, said);
    for (const auto &companion : lock.companions)
        lines << u"belongs to it: %1"_s.arg(label(companion));
    for (const auto &part : coverage) {
        const auto entry = part.toObject();
        if (!entry.value("complete"_L1).toBool())
            lines << u"not everything was seen: %1"_s.arg(harmless(entry.value("message"_L1).toString()));
    }
    print(lines.join(u'\n'));
}

Task<Exit> show(CommandContext &context)
{
    const auto name = lockOf(context);
    if (!name)
        co_return fail(name.error());
    const auto deadline = requestDeadline(context);
    const auto lock = co_await context.workspace.read(*name, deadline);
    if (!lock)
        co_return fail(lock.error());
    const auto coverage = inspect::toJson(context.workspace.find(name->connection)->observer().coverage());
    if (context.json)
        printJson(QJsonObject{{u"lock"_s, inspect::toJson(*lock)}, {u"coverage"_s, coverage}});
    else
        printText(*lock, coverage);
    co_return Exit::Done;
}

} // namespace

CommandSpec showCommand()
{
    CommandSpec spec;
    spec.name = u"show"_s;
    spec.words = u"LOCK"_s;
    spec.summary = u"one lock: who holds it, who waits in which order, who watches whom, what is wrong"_s;
    spec.fewestWords = spec.mostWords = 1;
    spec.answersSoon = true;
    spec.run = show;
    return spec;
}

} // namespace lockscope::ctl
