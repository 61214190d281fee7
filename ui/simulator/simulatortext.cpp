// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/simulatortext.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"

#include <QRegularExpression>

namespace lockscope::ui {

using contention::FaultKind;
using contention::Moment;

namespace {

QLocale ungrouped()
{
    auto locale = lessons::localeOf(displayLanguage());
    locale.setNumberOptions(QLocale::OmitGroupSeparator);
    return locale;
}

// Without a decimal that says nothing.
QString shortNumber(double value)
{
    return ungrouped().toString(value, 'g', 4);
}

} // namespace

QString formatCount(qint64 count)
{
    return lessons::formatCount(count, displayLanguage());
}

QString formatNumber(double value, int digits)
{
    return ungrouped().toString(value, 'f', digits);
}

QString formatSize(qint64 bytes)
{
    constexpr double kibi = 1024;
    const auto size = static_cast<double>(bytes);
    if (bytes < 1024)
        return Simulator::tr("%1 B").arg(bytes);
    return bytes < 1024 * 1024 ? Simulator::tr("%1 KiB").arg(formatNumber(size / kibi, 1))
                               : Simulator::tr("%1 MiB").arg(formatNumber(size / kibi / kibi, 1));
}

QString joinedSentences(const QStringList &sentences)
{
    return sentences.join(displayLanguage() == lessons::Language::Chinese ? QString() : u" "_s);
}

QString momentText(Moment at)
{
    const double us = static_cast<double>(at.count());
    if (at >= 2min) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at).count();
        return at < 1h
                   ? Simulator::tr("%1 m %2 s").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'))
                   : Simulator::tr("%1 h %2 m").arg(seconds / 3600).arg(seconds % 3600 / 60, 2, 10, QLatin1Char('0'));
    }
    if (at >= 1s)
        return Simulator::tr("%1 s").arg(formatNumber(us / 1e6, at < 100s ? 2 : 1));
    if (at >= 1ms || at.count() == 0)
        return Simulator::tr("%1 ms").arg(formatNumber(us / 1e3, 1));
    return Simulator::tr("%1 µs").arg(at.count());
}

QString axisText(Moment at)
{
    if (at.count() == 0)
        return u"0"_s;
    if (at < 1ms)
        return Simulator::tr("%1 µs").arg(at.count());
    const double us = static_cast<double>(at.count());
    return at < 1s ? Simulator::tr("%1 ms").arg(shortNumber(us / 1e3))
                   : Simulator::tr("%1 s").arg(shortNumber(us / 1e6));
}

QString durationText(std::chrono::milliseconds span)
{
    return span < 1s ? Simulator::tr("%1 ms").arg(span.count())
                     : Simulator::tr("%1 s").arg(shortNumber(static_cast<double>(span.count()) / 1e3));
}

QString recipeTitle(const QByteArray &recipe)
{
    const auto *mutant = contention::findMutant(recipe);
    const auto title =
        QCoreApplication::translate("Recipe", mutant ? mutant->title : recipes::recipeOf(recipe).title.constData());
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
    return Simulator::tr(contention::wordsOf(kind).title.constData());
}

QString faultSummary(contention::FaultKind kind)
{
    return QCoreApplication::translate("FaultKind", summaryOf(kind).toUtf8().constData());
}

namespace {

// How a part of a state begins (core/contention/…servers.cpp), and what of it is said.
constexpr const char *states[] = {
    QT_TRANSLATE_NOOP("ServerState", "children watched by %1"),
    QT_TRANSLATE_NOOP("ServerState", "watched by %1"),
    QT_TRANSLATE_NOOP("ServerState", "locked by %1"),
    QT_TRANSLATE_NOOP("ServerState", "created at %1"),
    QT_TRANSLATE_NOOP("ServerState", "lease %1 of %2"),
    QT_TRANSLATE_NOOP("ServerState", "lease %1"),
    QT_TRANSLATE_NOOP("ServerState", "version %1"),
    QT_TRANSLATE_NOOP("ServerState", "queue: %1"),
    QT_TRANSLATE_NOOP("ServerState", "by %1"),
    QT_TRANSLATE_NOOP("ServerState", "of %1"),
    QT_TRANSLATE_NOOP("ServerState", "free"),
};

QString formatPart(const QString &part)
{
    static const QRegularExpression place(u"%[12]"_s);
    for (const auto *state : states) {
        const QString form = QString::fromLatin1(state).replace(place, u"(.+)"_s);
        const auto match = QRegularExpression(QRegularExpression::anchoredPattern(form)).match(part);
        if (!match.hasMatch())
            continue;
        auto said = QCoreApplication::translate("ServerState", state);
        for (int i = 1; i <= match.lastCapturedIndex(); ++i)
            said.replace(u"%%1"_s.arg(i), match.captured(i));
        return said;
    }
    return part;
}

} // namespace

QString formatState(const QString &state)
{
    if (displayLanguage() == lessons::Language::English)
        return state;
    QStringList parts = state.split(u", "_s);
    std::ranges::transform(parts, parts.begin(), formatPart);
    return parts.join(Simulator::tr(", ", "between the parts of what a server has"));
}

QString plannedText(const contention::PlannedFault &fault, const QString &lane)
{
    const QString name = QCoreApplication::translate("FaultName", nameOf(fault.kind).constData());
    const QString at = momentText(fault.at);
    if (fault.clock == contention::PlannedFault::Clock::Server)
        return Simulator::tr("%1 of server %2 at %3").arg(name, QString::number(fault.server + 1), at);
    if (fault.only >= 0)
        return Simulator::tr("%1 of server %2 at %3").arg(name, QString::number(fault.only + 1), at);
    if (fault.clock == contention::PlannedFault::Clock::Client)
        return Simulator::tr("%1 %2 at %3").arg(name, lane, at);
    return isOfContender(fault.kind) ? Simulator::tr("%1 %2 at %3").arg(name, lane, at)
                                     : Simulator::tr("%1 at %2").arg(name, at);
}

QString actText(const contention::Act &act, int contenders)
{
    const QString what = label(act.command, 80), at = momentText(act.at);
    return act.contender < 0
               ? Simulator::tr("%1 at %2").arg(what, at)
               : Simulator::tr("%1: %2 at %3")
                     .arg(QString::fromLatin1(contention::contenderName(act.contender, contenders)), what, at);
}

} // namespace lockscope::ui
