// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/tilekinds.h"

#include "ui/simulator/countertiles.h"
#include "ui/simulator/simulatorwords.h"
#include "ui/theme/text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using contention::Mark;

namespace {

TileFigure ofDrain(const PlayedRun &run, std::size_t happened, qint64 Tally::*what)
{
    const auto tally = run.tallyAfter(happened);
    return {tally ? spokenCount((*tally).*what) : u"–"_s};
}

// Where nobody is told, none in vain is no praise.
TileFigure inVain(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto tally = run.tallyAfter(happened);
    if (!tally || tally->watchEvents == 0)
        return {u"–"_s};
    return {spokenCount(tally->wastedWakeups), tally->wastedWakeups > 0 ? 1 : -1};
}

TileFigure waitP99(const PlayedRun &run, std::size_t happened, Moment at)
{
    const Moment wait = run.waitP99After(happened, at);
    return {wait.count() == 0 && happened < run.eventCount() ? u"–"_s : momentText(wait)};
}

qint64 countOf(const PlayedRun &run, std::size_t happened, Mark mark)
{
    const auto begin = run.recording().events.begin();
    return std::count_if(begin, begin + static_cast<std::ptrdiff_t>(std::min(happened, run.eventCount())),
                         [mark](const contention::Event &event) { return event.mark == mark; });
}

TileFigure grants(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto &counters = run.recording().counters;
    return {spokenCount(happened >= run.eventCount() ? counters.grants : countOf(run, happened, Mark::Holds))};
}

// Who tries again has not given up for good; who comes for another round has, in the one before.
TileFigure gaveUp(const PlayedRun &run, std::size_t happened, Moment)
{
    if (happened >= run.eventCount())
        return {spokenCount(run.recording().counters.gaveUp)};
    qint64 forGood = 0;
    std::set<int> gone;
    for (std::size_t i = 0; i < happened; ++i) {
        const auto &event = run.event(i);
        if (event.mark == Mark::GivesUp)
            gone.insert(event.contender);
        else if (event.mark == Mark::Dies)
            gone.erase(event.contender);
        else if (event.mark == Mark::Joins && gone.erase(event.contender) > 0 && event.what != "again")
            ++forGood;
    }
    return {spokenCount(forGood + static_cast<qint64>(gone.size()))};
}

TileFigure allRequests(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto &counters = run.recording().counters;
    return {
        spokenCount(happened >= run.eventCount() ? counters.allRequests : run.wholeTallyAfter(happened).requests)};
}

TileFigure allTold(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto &counters = run.recording().counters;
    return {spokenCount(happened >= run.eventCount()
                            ? counters.allWatchEvents
                            : countOf(run, happened, Mark::WatchEvent) + countOf(run, happened, Mark::Message))};
}

// Who believes to hold it, and since when they are too many: the checkers say when that begins.
class TooMany {
public:
    explicit TooMany(const contention::Scenario &scenario) : m_scenario(scenario) {}

    void see(const contention::Event &event)
    {
        switch (event.mark) {
        case Mark::Joins:
            if (event.what != "again")
                m_isReader[event.contender] = event.what == "read";
            break;
        case Mark::Holds: m_believers.insert(event.contender); break;
        case Mark::Breaks:
            if (event.what == "exclusion" && !m_since)
                m_since = event.at;
            break;
        case Mark::Releases:
        case Mark::Loses:
        case Mark::Dies:
            if (m_believers.erase(event.contender) > 0 && m_since && !areTooMany()) {
                m_longest = std::max(m_longest.value_or(Moment{}), event.at - *m_since);
                m_since.reset();
            }
            break;
        default: break;
        }
    }
    // None: they never were.
    [[nodiscard]] std::optional<Moment> longestAt(Moment at) const
    {
        return m_since ? std::optional(std::max(m_longest.value_or(Moment{}), at - *m_since)) : m_longest;
    }

private:
    [[nodiscard]] bool areTooMany() const
    {
        std::set<int> rows; // each is a lock
        if (m_scenario.rows > 1)
            return std::ranges::any_of(m_believers,
                                       [&](int believer) { return !rows.insert(believer % m_scenario.rows).second; });
        return static_cast<int>(m_believers.size()) > m_scenario.limit
               && std::ranges::any_of(m_believers, [&](int believer) {
                      const auto at = m_isReader.find(believer);
                      return at == m_isReader.end() || !at->second;
                  });
    }

    const contention::Scenario &m_scenario;
    std::map<int, bool> m_isReader;
    std::set<int> m_believers;
    std::optional<Moment> m_since, m_longest;
};

TileFigure overlap(const PlayedRun &run, std::size_t happened, Moment at)
{
    const Moment whole = run.recording().counters.longestOverlap;
    std::optional<Moment> longest = whole.count() > 0 ? std::optional(whole) : std::nullopt;
    if (happened < run.eventCount()) {
        TooMany tooMany(run.recording().scenario);
        for (std::size_t i = 0; i < happened; ++i)
            tooMany.see(run.event(i));
        longest = tooMany.longestAt(at);
    }
    if (!longest)
        return {CounterTiles::tr("never")};
    // At the moment where it begins, which is where lessons stop, "0.0 ms" would deny it.
    return {longest->count() == 0 ? CounterTiles::tr("now") : momentText(*longest), 1};
}

// No praise for none: the one that breaks nothing may simply not have come so far.
TileFigure violations(const PlayedRun &run, std::size_t happened, Moment)
{
    const auto count = happened >= run.eventCount() ? static_cast<qint64>(run.recording().violations.size())
                                                    : countOf(run, happened, Mark::Breaks);
    return {spokenCount(count), count > 0 ? 1 : 0};
}

const TileKind tileKinds[] = {
    {"requests", [] { return CounterTiles::tr("requests"); },
     [] { return CounterTiles::tr("Sent from the first release on"); },
     [](const PlayedRun &run, std::size_t happened, Moment) { return ofDrain(run, happened, &Tally::requests); },
     true},
    {"watchEvents", [] { return CounterTiles::tr("told"); },
     [] { return CounterTiles::tr("Of watches, or messages of a publish, from the first release on"); },
     [](const PlayedRun &run, std::size_t happened, Moment) { return ofDrain(run, happened, &Tally::watchEvents); },
     true},
    {"wastedWakeups", [] { return CounterTiles::tr("told in vain"); },
     [] { return CounterTiles::tr("Told, and yet not its turn"); }, &inVain, true},
    {"waitP99Ms", [] { return CounterTiles::tr("wait p99"); },
     [] { return CounterTiles::tr("99 of 100 waits so far are not longer, those that go on included"); }, &waitP99},
    {"allRequests", [] { return CounterTiles::tr("all requests"); },
     [] { return CounterTiles::tr("Sent since the start"); }, &allRequests},
    {"allWatchEvents", [] { return CounterTiles::tr("all told"); },
     [] { return CounterTiles::tr("Of watches, or messages of a publish, since the start"); }, &allTold},
    {"grants", [] { return CounterTiles::tr("grants"); },
     [] { return CounterTiles::tr("How often somebody got the lock"); }, &grants},
    {"gaveUp", [] { return CounterTiles::tr("gave up"); },
     [] { return CounterTiles::tr("Who waited, got nothing, and does not try again"); }, &gaveUp},
    {"longestOverlapMs", [] { return CounterTiles::tr("two at once"); },
     [] { return CounterTiles::tr("How long, at the longest, more believed to hold it than may"); }, &overlap},
    {"violations", [] { return CounterTiles::tr("violations"); },
     [] { return CounterTiles::tr("How often what must hold has broken"); }, &violations},
};

} // namespace

const TileKind *tileKind(const QByteArray &name)
{
    const auto *at = std::ranges::find_if(tileKinds, [&](const TileKind &kind) { return name == kind.name; });
    return at == std::end(tileKinds) ? nullptr : at;
}

} // namespace lockscope::ui
