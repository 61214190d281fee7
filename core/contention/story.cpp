// SPDX-License-Identifier: Apache-2.0
#include "core/contention/recording.h"

#include "core/base/text.h"

#include <QJsonDocument>

#include <span>

namespace lockscope::contention {

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

QString msOf(Moment at)
{
    return QString::number(static_cast<double>(at.count()) / 1000, 'f', 3);
}

QString lineHead(const Recording &recording, const Event &event, const QString &mark)
{
    const auto who = event.contender == nobody ? QByteArrayLiteral("-") : recording.laneName(event.contender);
    return u"%1 ms  %2  %3"_s.arg(msOf(event.at), 12).arg(QString::fromLatin1(who), -5).arg(mark, -9);
}

QString line(const Recording &recording, const Event &event)
{
    QString text = lineHead(recording, event, QString::fromLatin1(nameOf(event.mark)));
    if (!event.what.isEmpty())
        text += u' ' + label(event.what);
    if (!event.where.isEmpty())
        text += u"  "_s + label(event.where);
    if (event.token != 0)
        text += u"  token %1"_s.arg(event.token);
    return text;
}

using Events = std::span<const Event>;

bool isExchange(const Event &event)
{
    return event.mark == Mark::Request || event.mark == Mark::Answer;
}

bool isSame(const Event &one, const Event &other)
{
    return one.contender == other.contender && one.mark == other.mark && one.what == other.what
           && one.where == other.where && one.token == other.token;
}

// Who asks again and again, and hears the same, would fill pages with it. A round is what a contender asks, of one
// server or of five, until it has heard of all of it; in whichever order the answers come.
class Repetitions {
public:
    explicit Repetitions(Events events) : m_events(events), m_isRepeated(events.size())
    {
        std::map<int, std::vector<std::size_t>> ofContender;
        for (std::size_t i = 0; i < events.size(); ++i)
            ofContender[events[i].contender].push_back(i);
        for (const auto &[contender, own] : ofContender)
            fold(roundsOf(own));
    }

    [[nodiscard]] bool isRepeated(std::size_t event) const { return m_isRepeated[event]; }
    struct Fold {
        std::size_t times = 0, last = 0; // more often; the event that ends it
    };
    // That begins with this event.
    [[nodiscard]] const Fold *at(std::size_t event) const
    {
        const auto found = m_folds.find(event);
        return found == m_folds.end() ? nullptr : &found->second;
    }

private:
    struct Round {
        std::vector<std::size_t> events;
        QByteArrayList said; // sorted; of what is no exchange nothing: it repeats nothing
        friend bool operator==(const Round &a, const Round &b) { return !a.said.isEmpty() && a.said == b.said; }
    };
    static constexpr std::size_t fewest = 3;            // more often; a few stay as they are
    static constexpr std::size_t lengths[] = {1, 2, 3}; // rounds that repeat together

    [[nodiscard]] std::vector<Round> roundsOf(const std::vector<std::size_t> &own) const
    {
        std::vector<Round> rounds;
        int unanswered = 0;
        for (const auto index : own) {
            const auto &event = m_events[index];
            if (unanswered <= 0 || !isExchange(event)) {
                rounds.emplace_back();
                unanswered = 0;
            }
            rounds.back().events.push_back(index);
            if (!isExchange(event))
                continue;
            unanswered += event.mark == Mark::Request ? 1 : -1;
            rounds.back().said << QByteArray(nameOf(event.mark)) + ' ' + event.what + ' ' + event.where;
        }
        for (auto &round : rounds)
            std::ranges::sort(round.said);
        return rounds;
    }

    void fold(const std::vector<Round> &rounds)
    {
        for (std::size_t from = 0; from < rounds.size();) {
            std::size_t after = from + 1;
            for (const auto length : lengths) {
                auto end = std::min(from + length, rounds.size());
                while (end < rounds.size() && rounds[end - length] == rounds[end])
                    ++end;
                const auto times = (end - from) / length - 1; // after the first one
                if (end - from < length || times <= fewest)
                    continue;
                after = from + (times + 1) * length;
                for (auto i = from + length; i < after; ++i) {
                    for (const auto event : rounds[i].events)
                        m_isRepeated[event] = true;
                }
                m_folds[rounds[from + length].events.front()] = {times, rounds[after - 1].events.back()};
                break;
            }
            from = after;
        }
    }

    Events m_events;
    std::vector<bool> m_isRepeated;
    std::map<std::size_t, Fold> m_folds;
};

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
    const Events shown(events.begin(), broken == events.end() ? events.end() : broken + 1);
    const Repetitions repetitions(shown);
    QStringList lines;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (const auto *fold = repetitions.at(i))
            lines << lineHead(recording, shown[i], u"…"_s) + u' '
                         + u"the same %1 times more, until %2 ms"_s.arg(QString::number(fold->times),
                                                                        msOf(shown[fold->last].at));
        if (repetitions.isRepeated(i))
            continue;
        const auto first = i;
        while (isExchange(shown[i]) && i + 1 < shown.size() && isSame(shown[i], shown[i + 1])
               && !repetitions.isRepeated(i + 1))
            ++i; // of several servers at once
        lines << line(recording, shown[first]) + (i > first ? u"  × %1"_s.arg(i - first + 1) : QString());
    }
    const auto before = lines.size() - static_cast<qsizetype>(most);
    if (before > 0)
        lines = QStringList(u"… %1 lines before"_s.arg(before)) + lines.sliced(before);
    return lines;
}

} // namespace lockscope::contention
