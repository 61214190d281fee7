// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observertell.h"

#include "core/base/duration.h"
#include "core/inspect/pace.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

void Reporter::tell(const SearchFacts &search, qint64 requests)
{
    auto sessions = sessionsOf(m_ensemble.connection, m_answers.latest(), m_snapshots, m_ensemble.session.id(),
                               m_answers.askedAt());
    for (auto &session : sessions)
        session.serverAhead = m_answers.serverAhead();
    if (!isEquivalent(m_told.sessions(), sessions))
        m_told.tell(std::move(sessions));
    m_told.tell(coverageOf(m_ensemble.connection, m_answers.latest(), search));
    tellCost(requests);
}

void Reporter::tellCost(qint64 requests)
{
    const auto &session = m_ensemble.session;
    const auto now = m_ensemble.loop.now();
    const double seconds = std::chrono::duration<double>(now - m_costTold).count();
    Cost cost{session.watchCount(), session.watchedBytes(), session.watchBudgetBytes(),
              m_told.cost().requestsPerSecond};
    // A rate over a few milliseconds would be a burst, called a load.
    if (seconds >= 0.9) {
        cost.requestsPerSecond = static_cast<double>(requests - std::exchange(m_requestsTold, requests)) / seconds;
        m_costTold = now;
    }
    m_told.tell(cost);
}

void Reporter::tellProgress(bool isRunning, bool isFirstComplete, Duration lookTook)
{
    auto now = m_told.progress();
    now.running = isRunning;
    now.firstSnapshotComplete = isFirstComplete;
    now.how = u"crawl"_s;
    if (!m_answers.isKnown() || m_answers.canDump()) {
        const auto every = std::max<Duration>(m_ensemble.options.dumpEvery, lookTook * restPerWork);
        now.how = u"dump every "_s + spokenDuration(std::chrono::duration_cast<std::chrono::milliseconds>(every));
    }
    m_told.tell(std::move(now));
}

void Reporter::tellCrawled(qint64 done, qint64 total)
{
    auto now = m_told.progress();
    now.done = done;
    now.total = total;
    m_told.tell(std::move(now));
}

} // namespace lockscope::inspect
