// SPDX-License-Identifier: Apache-2.0
// rehearse: a force-release played in the simulated world, before it is done here.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/rehearse/rehearsal.h"

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

} // namespace

Task<Result<Exit>> runRehearse(CommandContext &context)
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

} // namespace lockscope::ctl
