// SPDX-License-Identifier: Apache-2.0
#include "core/contention/checkers.h"

#include "core/contention/mutants/mutants.h"
#include "core/contention/recording.h"
#include "core/rules/turn.h"

#include <algorithm>
#include <set>

namespace lockscope::contention {

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
        m_trace.breaks("exclusion", event.contender, u"all believe to hold it: %1"_s.arg(names.join(u", "_s)));
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
