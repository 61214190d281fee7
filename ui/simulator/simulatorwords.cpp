// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/simulatorwords.h"

#include "core/base/duration.h"
#include "core/workspace/values.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using contention::FaultKind;
using contention::Moment;

namespace {

// Without a decimal that says nothing.
QString shortNumber(double value)
{
    return QString::number(value, 'g', 4);
}

} // namespace

QString momentText(Moment at)
{
    if (at >= 2min)
        return spokenDuration(std::chrono::duration_cast<std::chrono::milliseconds>(at));
    const double us = static_cast<double>(at.count());
    if (at >= 1s)
        return u"%1 s"_s.arg(us / 1e6, 0, 'f', at < 100s ? 2 : 1);
    if (at >= 1ms || at.count() == 0)
        return u"%1 ms"_s.arg(us / 1e3, 0, 'f', 1);
    return u"%1 µs"_s.arg(at.count());
}

QString axisText(Moment at)
{
    if (at.count() == 0)
        return u"0"_s;
    if (at < 1ms)
        return u"%1 µs"_s.arg(at.count());
    const double us = static_cast<double>(at.count());
    return at < 1s ? u"%1 ms"_s.arg(shortNumber(us / 1e3)) : u"%1 s"_s.arg(shortNumber(us / 1e6));
}

QString durationText(std::chrono::milliseconds span)
{
    return span < 1s ? u"%1 ms"_s.arg(span.count())
                     : u"%1 s"_s.arg(shortNumber(static_cast<double>(span.count()) / 1e3));
}

QString recipeTitle(const QByteArray &recipe)
{
    const auto title = QCoreApplication::translate("Recipe", recipes::recipeOf(recipe).title);
    return title.isEmpty() ? QString::fromLatin1(recipe) : title;
}

bool isOfContender(FaultKind kind)
{
    switch (kind) {
    case FaultKind::RestartEmpty:
    case FaultKind::Failover:
    case FaultKind::Lag:
    case FaultKind::LostPublish: return false;
    default: return true;
    }
}

QString faultTitle(FaultKind kind)
{
    switch (kind) {
    case FaultKind::Pause: return Simulator::tr("Pause");
    case FaultKind::Crash: return Simulator::tr("Crash");
    case FaultKind::LoseRequest: return Simulator::tr("Lose its next request");
    case FaultKind::LoseReply: return Simulator::tr("Lose its next reply");
    case FaultKind::Delay: return Simulator::tr("Delay its messages");
    case FaultKind::Partition: return Simulator::tr("Cut it off");
    case FaultKind::Expire: return Simulator::tr("Expire its session");
    case FaultKind::Lag: return Simulator::tr("Let the follower lag");
    case FaultKind::ClockJump: return Simulator::tr("Let its clock jump");
    case FaultKind::Drift: return Simulator::tr("Let its clock drift");
    case FaultKind::RestartEmpty: return Simulator::tr("Restart the server, empty");
    case FaultKind::Failover: return Simulator::tr("Fail over, losing the last writes");
    case FaultKind::LostPublish: return Simulator::tr("Lose the next publish");
    case FaultKind::DeadThread: return Simulator::tr("Kill its thread, not its watchdog");
    case FaultKind::ForceRelease: return Simulator::tr("Force-release what it holds");
    }
    return {};
}

QString faultSummary(contention::FaultKind kind)
{
    return QCoreApplication::translate("FaultKind", summaryOf(kind).toUtf8().constData());
}

QString plannedText(const contention::PlannedFault &fault, const QString &lane)
{
    const QString name = QString::fromLatin1(nameOf(fault.kind));
    const QString at = momentText(fault.at);
    if (fault.clock == contention::PlannedFault::Clock::Server)
        return Simulator::tr("%1 of server %2 at %3").arg(name, QString::number(fault.server + 1), at);
    if (fault.clock == contention::PlannedFault::Clock::Client)
        return Simulator::tr("%1 %2 at %3").arg(name, lane, at);
    return isOfContender(fault.kind) ? Simulator::tr("%1 %2 at %3").arg(name, lane, at)
                                     : Simulator::tr("%1 at %2").arg(name, at);
}

} // namespace lockscope::ui
