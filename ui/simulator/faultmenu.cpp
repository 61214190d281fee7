// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/faultmenu.h"

#include "core/base/text.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/playedrun.h"
#include "ui/simulator/simulatorwords.h"

#include <QAction>
#include <QMenu>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using contention::FaultKind;
using contention::Moment;
using contention::PlannedFault;

void addFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place,
               std::function<void(const PlannedFault &)> chosen)
{
    menu.setToolTipsVisible(true);
    const QString at = momentText(place.at);
    const auto add = [&](FaultKind kind) {
        if (!comparison.allows(kind))
            return;
        auto *action = menu.addAction(faultTitle(kind));
        action->setObjectName(QString::fromLatin1(nameOf(kind)));
        action->setToolTip(summaryOf(kind));
        PlannedFault fault;
        fault.kind = kind;
        fault.at = place.at;
        fault.contender = place.contender;
        QObject::connect(action, &QAction::triggered, &menu, [chosen, fault] { chosen(fault); });
    };
    menu.addSection(tr("%1 at %2").arg(place.name, at));
    for (const auto kind : contention::allFaults()) {
        if (isOfContender(kind))
            add(kind);
    }
    menu.addSection(tr("The server at %1").arg(at));
    for (const auto kind : contention::allFaults()) {
        if (!isOfContender(kind))
            add(kind);
    }
}

std::optional<std::size_t> messageBetween(const PlayedRun &run, int lane, Moment from, Moment to)
{
    const Moment middle = from + (to - from) / 2;
    std::optional<std::size_t> nearest;
    const auto distance = [&](std::size_t index) { return std::chrono::abs(run.event(index).at - middle); };
    for (const auto *events : {&run.requestsOf(), &run.signalsOf()}) {
        const auto all = events->of(lane);
        auto at = std::ranges::lower_bound(all, from, {}, [&](quint32 index) { return run.event(index).at; });
        for (; at != all.end() && run.event(*at).at <= to; ++at) {
            if (!nearest || distance(*at) < distance(*nearest))
                nearest = *at;
        }
    }
    return nearest;
}

void addMessageFaults(QMenu &menu, const Comparison &comparison, const PlayedRun &run, std::size_t event,
                      std::function<void(const PlannedFault &)> chosen)
{
    const auto &message = run.event(event);
    const QString who = run.laneName(message.contender);
    const bool isRequest = message.mark == contention::Mark::Request;
    const QString what = isRequest ? label(message.what, 40) : tr("what it is told");
    menu.setToolTipsVisible(true);
    menu.addSection(tr("%1: %2 at %3").arg(who, what, momentText(message.at)));
    const auto add = [&](FaultKind kind, const QString &text) {
        if (!comparison.allows(kind))
            return;
        auto *action = menu.addAction(text);
        action->setObjectName(u"message-"_s + QString::fromLatin1(nameOf(kind)));
        action->setToolTip(summaryOf(kind));
        PlannedFault fault;
        fault.kind = kind;
        fault.at = std::max(Moment{}, message.at - Moment(1)); // it lies in wait, or strikes, just before
        fault.contender = message.contender;
        QObject::connect(action, &QAction::triggered, &menu, [chosen, fault] { chosen(fault); });
    };
    if (isRequest) {
        add(FaultKind::LoseRequest, tr("Lose this request"));
        add(FaultKind::LoseReply, tr("Lose the reply to it"));
        add(FaultKind::Delay, tr("Delay it"));
        add(FaultKind::Crash, tr("Crash with it: sent or not, the seed decides"));
    } else {
        add(FaultKind::Pause, tr("Pause %1 just before it hears of this").arg(who));
        add(FaultKind::Partition, tr("Cut %1 off just before").arg(who));
        add(FaultKind::Expire, tr("Expire its session just before"));
    }
}

} // namespace lockscope::ui
