// SPDX-License-Identifier: Apache-2.0
#include "core/contention/story.h"

#include "core/base/text.h"

#include <QJsonDocument>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

namespace {

// Nothing in it but what an option says.
bool hasOptionsForAll(Scenario scenario)
{
    const Scenario plain;
    scenario.keepsEvents = plain.keepsEvents; // not of the run, of what is kept of it
    return scenario.planned.empty() && scenario.withheld.empty() && scenario.locks == plain.locks
           && scenario.isOppositeOrder == plain.isOppositeOrder && scenario.acts.empty()
           && scenario.acquires == plain.acquires && scenario.tries == plain.tries && scenario.rows == plain.rows
           && scenario.isIndexed == plain.isIndexed && scenario.servers == plain.servers && scenario.aof == plain.aof
           && scenario.leastLatency == plain.leastLatency && scenario.mostLatency == plain.mostLatency;
}

// In quotes no shell looks into.
QString quoted(QString text)
{
    return u'\'' + text.replace(u'\'', u"'\\''"_s) + u'\'';
}

QString msText(std::chrono::milliseconds span)
{
    return QString::number(span.count()) + u"ms"_s;
}

QStringList options(const Scenario &scenario)
{
    const Scenario plain;
    QStringList words{u"--recipe %1"_s.arg(QString::fromUtf8(scenario.recipe)),
                      u"--contenders %1"_s.arg(scenario.contenders)};
    const auto add = [&words](const char *option, const QString &value, bool isSaid) {
        if (isSaid)
            words << u"--%1 %2"_s.arg(QString::fromLatin1(option), value);
    };
    add("rounds", QString::number(scenario.rounds), scenario.rounds != plain.rounds);
    add("hold", msText(scenario.hold), scenario.hold != plain.hold);
    add("seed", QString::number(scenario.seed), true);
    add("spread", msText(scenario.arriveWithin), scenario.arrival == Arrival::Spread);
    add("readers", QString::number(scenario.readersPercent), scenario.readersPercent != plain.readersPercent);
    add("limit", QString::number(scenario.limit), scenario.limit != plain.limit);
    add("ttl", msText(scenario.ttl), scenario.ttl != plain.ttl);
    add("session-timeout", msText(scenario.sessionTimeout), scenario.sessionTimeout != plain.sessionTimeout);
    if (scenario.wait)
        add("wait", msText(*scenario.wait), true);
    add("per-process", QString::number(scenario.perProcess), scenario.perProcess != plain.perProcess);
    for (const auto fault : scenario.faults)
        add("fault", QString::fromLatin1(nameOf(fault)), true);
    if (scenario.checksFencingTokens)
        words << u"--fencing"_s;
    return words;
}

QString line(const Recording &recording, const Event &event)
{
    const auto who = event.contender == nobody ? QByteArrayLiteral("-") : recording.laneName(event.contender);
    QString text = u"%1 ms  %2  %3"_s.arg(static_cast<double>(event.at.count()) / 1000, 12, 'f', 3)
                       .arg(QString::fromLatin1(who), -5)
                       .arg(QString::fromLatin1(nameOf(event.mark)), -9);
    if (!event.what.isEmpty())
        text += u' ' + label(event.what);
    if (!event.where.isEmpty())
        text += u"  "_s + label(event.where);
    if (event.token != 0)
        text += u"  token %1"_s.arg(event.token);
    return text;
}

} // namespace

QString commandLine(const Scenario &scenario)
{
    const auto command = u"lockscopectl simulate "_s;
    if (hasOptionsForAll(scenario))
        return command + options(scenario).join(u' ');
    const auto json = QJsonDocument(scenario.toJson()).toJson(QJsonDocument::Compact);
    return command + u"--scenario "_s + quoted(QString::fromUtf8(json));
}

QStringList eventLines(const Recording &recording, const QByteArray &invariant, std::size_t most)
{
    const auto &events = recording.events;
    const auto broken = std::find_if(events.begin(), events.end(), [&](const Event &event) {
        return !invariant.isEmpty() && event.mark == Mark::Breaks && event.what == invariant;
    });
    const auto end = broken == events.end() ? events.end() : broken + 1;
    const auto count = static_cast<std::size_t>(end - events.begin());
    QStringList lines;
    if (count > most)
        lines << u"… %1 events before"_s.arg(count - most);
    for (auto at = end - static_cast<std::ptrdiff_t>(std::min(count, most)); at != end; ++at)
        lines << line(recording, *at);
    return lines;
}

} // namespace lockscope::contention
