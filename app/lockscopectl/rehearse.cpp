// SPDX-License-Identifier: Apache-2.0
// rehearse: a force-release played in the simulated world, before it is done here.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/report.h"
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/rehearse/rehearsal.h"

#include <QJsonArray>

namespace lockscope::ctl {

using rehearse::Rehearsal;

namespace {

QJsonObject rehearsalJson(const Rehearsal &rehearsal)
{
    const auto ids = mapped<QJsonArray>(rehearsal.granted, [](const auto &id) { return escaped(id); });
    const auto lost = mapped<QJsonArray>(rehearsal.alsoLost, [](const auto &lock) { return escaped(lock.text()); });
    const QJsonValue none;
    return {{u"lock"_s, escaped(rehearsal.lock.text())},
            {u"holder"_s, escaped(rehearsal.holder)},
            {u"next"_s, QString::fromLatin1(word(rehearsal.next))},
            {u"nextHolder"_s, rehearsal.nextHolder ? QJsonValue(escaped(*rehearsal.nextHolder)) : none},
            {u"granted"_s, ids},
            {u"woken"_s, rehearsal.woken ? QJsonValue(*rehearsal.woken) : none},
            {u"wastedWakeups"_s, rehearsal.woken ? QJsonValue(rehearsal.wokenInVain) : none},
            {u"wokenObserved"_s, rehearsal.woken ? QJsonValue(rehearsal.isWokenSeen) : none},
            {u"otherLocksLost"_s, lost},
            {u"otherLocksComplete"_s, rehearsal.isAlsoLostKnown},
            {u"assumed"_s, QJsonArray::fromStringList(rehearsal.assumed)}};
}

void printRehearsal(const Rehearsal &rehearsal, const inspect::LockSnapshot &lock)
{
    QStringList lines{u"simulated only; nothing was sent"_s,
                      u"%1, taken from %2: %3"_s.arg(escaped(rehearsal.lock.text()),
                                                     idWithLabel(lock, rehearsal.holder),
                                                     sentenceOf(rehearsal, lock))};
    for (const auto &assumed : rehearsal.assumed)
        lines << u"assumed: "_s + assumed;
    print(lines.join(u'\n'));
}

Task<Result<Exit>> rehearseRelease(CommandContext &context)
{
    CO_TRY(const auto &lock, lockOf(context));
    const auto holder = unescaped(context.arguments.value(u"holder"_s));
    if (!holder || holder->isEmpty())
        co_return fail(Error{ErrorCode::BadInput,
                             u"rehearse: --holder ID is required; run \"lockscopectl show LOCK\" to list IDs"_s});
    auto plan = co_await context.workspace.planForceRelease(lock, *holder, requestDeadline(context));
    if (!plan) {
        printError(u"rehearse: "_s + plan.error().message);
        // No such lock is the same to this command as nobody holding it.
        co_return plan.error().code == ErrorCode::NoNode ? Exit::Refused : app::exitFor(plan.error().code);
    }
    inspect::addLabels(plan->before, context.labels);
    CO_TRY(const auto &rehearsal, rehearse::rehearse(*plan));
    if (context.json)
        printJson(rehearsalJson(rehearsal));
    else
        printRehearsal(rehearsal, plan->before);
    co_return Exit::Done;
}

} // namespace

CommandSpec rehearseCommand()
{
    CommandSpec spec;
    spec.name = u"rehearse"_s;
    spec.words = u"LOCK --holder ID"_s;
    spec.summary = u"simulate a force-release and report the next holder"_s;
    spec.more =
        u"Runs the release on a simulated copy of the lock. Reports the next holder, the clients woken, the locks lost and the assumptions. The real server is only read."_s;
    spec.options = {
        {u"holder"_s, u"ID"_s, u"required: its ID as in `show`, or session:0x…"_s},
    };
    spec.fewestWords = spec.mostWords = 1;
    spec.answersSoon = true;
    spec.examples = {u"rehearse zk:/locks/orders --holder ID"_s, u"rehearse zk:/locks/orders --holder ID --json"_s};
    spec.run = rehearseRelease;
    return spec;
}

} // namespace lockscope::ctl
