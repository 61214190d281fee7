// SPDX-License-Identifier: Apache-2.0
#include "core/contention/round.h"

#include "core/async/completion.h"
#include "core/contention/mutants/mutants.h"
#include "core/contention/recording.h"
#include "core/rules/turn.h"

#include <algorithm>
#include <set>

namespace lockscope::contention {

bool isReader(const Scenario &scenario, int contender)
{
    // Spread evenly, and the same for every seed; the first writes.
    return contender > 0
           && contender * scenario.readersPercent / 100 != (contender - 1) * scenario.readersPercent / 100;
}

Round::Round(Loop &loop, const Scenario &scenario, Trace &trace, Resource &resource, Pace pace)
    : m_loop(loop), m_scenario(scenario), m_trace(trace), m_resource(resource), m_pace(pace), m_allDone(loop),
      m_notDone(scenario.contenders), m_isDone(std::size_t(scenario.contenders)),
      m_contenders(std::size_t(scenario.contenders))
{
    m_trace.beginRound();
}

void Round::add(int number, Loop &loop, std::unique_ptr<recipes::Lock> lock)
{
    ContenderPlan plan;
    plan.number = number;
    plan.reads = isReader(m_scenario, number);
    plan.isShared = plan.reads || m_scenario.limit > 1;
    plan.isOptimistic = isOptimistic(m_scenario.recipe);
    plan.hold = m_scenario.hold;
    plan.wait = m_scenario.wait;
    plan.tries = m_scenario.tries;
    m_contenders[std::size_t(number)] = std::make_unique<ContenderActor>(
        loop, std::move(lock), plan, m_trace, m_resource, [this, number] { done(number); });
}

void Round::remove(int number)
{
    m_contenders[std::size_t(number)].reset();
    done(number);
}

void Round::done(int number)
{
    if (m_isDone[std::size_t(number)])
        return;
    m_isDone[std::size_t(number)] = true;
    if (--m_notDone == 0)
        m_allDone.complete(true);
}

bool Round::holds(int number) const
{
    const auto &contender = m_contenders[std::size_t(number)];
    return contender && contender->holds();
}

void Round::stopWorking(int number)
{
    if (auto &contender = m_contenders[std::size_t(number)])
        contender->stopWorking();
    done(number); // it asks for nothing any more
}

Task<void> Round::join(Random random)
{
    if (m_scenario.arrival == Arrival::Queued)
        co_await joinQueued();
    else
        co_await joinSpread(random);
}

Task<void> Round::joinQueued()
{
    const Completion<bool> mayRelease(m_loop);
    if (auto &first = m_contenders.front()) {
        first->holdUntil(mayRelease);
        first->join();
    }
    for (int waited = 0; waited < 5000 && !isDone(0) && !holds(0); ++waited) {
        co_await sleepFor(m_loop, 1ms);
    }
    for (std::size_t i = 1; i < m_contenders.size(); ++i) {
        if (auto &contender = m_contenders[i])
            contender->join();
        co_await sleepFor(m_loop, m_pace.apart);
    }
    co_await untilQuiet();
    mayRelease.complete(true);
}

Task<void> Round::joinSpread(Random random)
{
    std::vector<std::pair<Duration, std::size_t>> arrivals;
    const auto within = std::chrono::duration_cast<Duration>(m_scenario.arriveWithin).count();
    for (std::size_t i = 0; i < m_contenders.size(); ++i)
        arrivals.emplace_back(Duration(static_cast<Duration::rep>(random.below(static_cast<quint64>(within) + 1))),
                              i);
    std::sort(arrivals.begin(), arrivals.end());
    const auto began = m_loop.now();
    for (const auto &[after, number] : arrivals) {
        co_await sleepUntil(m_loop, began + after);
        if (auto &contender = m_contenders[number])
            contender->join();
    }
}

// Nothing is asked or answered any more; or they poll, which goes on for ever.
Task<void> Round::untilQuiet()
{
    const auto began = m_trace.now();
    for (;;) {
        co_await sleepFor(m_loop, 2ms);
        const bool isQuiet = m_trace.now() - m_trace.lastTraffic() >= m_pace.quiet;
        if (isQuiet || m_trace.now() - began > 500 * std::max<Duration>(m_pace.apart, 1ms))
            co_return;
    }
}

Checkers::Checkers(const Scenario &scenario, Trace &trace)
    : m_scenario(scenario), m_trace(trace), m_isOptimistic(isOptimistic(scenario.recipe)),
      m_readers(std::size_t(scenario.contenders))
{
    const auto *recipe = playable(scenario.recipe);
    // Permits and readers may overtake each other on their way back from the server.
    // Of two locks each has numbers of its own.
    m_isFair = recipe && recipe->fair && !recipe->counted && scenario.readersPercent == 0 && scenario.locks == 1
               && scenario.rows == 1;
}

void Checkers::see(const Event &event)
{
    switch (event.mark) {
    case Mark::Joins:
        if (event.what != "again")
            m_readers[std::size_t(event.contender)] = event.what == "read";
        break;
    case Mark::Holds: begins(event); break;
    case Mark::Releases:
    case Mark::Loses:
    case Mark::Dies: ends(event); break;
    default: break;
    }
}

bool Checkers::isTooMany() const
{
    if (m_scenario.rows > 1) { // each is a lock
        std::set<int> rows;
        return std::any_of(m_believers.begin(), m_believers.end(), [&](const auto &believer) {
            return !rows.insert(believer.first % m_scenario.rows).second;
        });
    }
    if (int(m_believers.size()) <= m_scenario.limit)
        return false;
    return std::any_of(m_believers.begin(), m_believers.end(),
                       [this](const auto &believer) { return !m_readers[std::size_t(believer.first)]; });
}

void Checkers::begins(const Event &event)
{
    if (m_isOptimistic)
        return;
    m_believers[event.contender] = event.at;
    if (isTooMany() && !m_overlapSince) {
        m_overlapSince = event.at;
        QStringList names;
        for (const auto &[contender, since] : m_believers)
            names << u"%1 (for %2 ms)"_s.arg(QString::fromLatin1(contenderName(contender, m_scenario.contenders)))
                         .arg((event.at - since).count() / 1000);
        m_trace.breaks("exclusion", event.contender, u"all believe they hold it: %1"_s.arg(names.join(u", "_s)));
    }
    if (event.token != 0) {
        if (event.token <= m_highestToken && !m_readers[std::size_t(event.contender)] && m_scenario.limit == 1)
            m_trace.breaks("tokens", event.contender,
                           u"its fencing token %1 is not above %2"_s.arg(event.token).arg(m_highestToken));
        m_highestToken = std::max(m_highestToken, event.token);
    }
    // Of a queue of znodes the grant is the node's name.
    const auto place = recipes::readSequence(NodeName(event.what));
    if (!m_isFair || !place)
        return;
    if (m_lastSequence && place->sequence < *m_lastSequence)
        m_trace.breaks("order", event.contender,
                       u"number %1 was granted after number %2"_s.arg(place->sequence).arg(*m_lastSequence));
    m_lastSequence = place->sequence;
}

void Checkers::ends(const Event &event)
{
    if (m_believers.erase(event.contender) == 0 || !m_overlapSince || isTooMany())
        return;
    m_longestOverlap = std::max(m_longestOverlap, event.at - *m_overlapSince);
    m_overlapSince.reset();
}

} // namespace lockscope::contention
