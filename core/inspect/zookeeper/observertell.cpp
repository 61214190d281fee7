// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observertell.h"

#include "core/base/duration.h"
#include "core/inspect/coverage.h"
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
    auto coverage = coverageOf(m_ensemble.connection, m_answers.latest(), search);
    addHidden(coverage, m_snapshots.hidden());
    m_told.tell(std::move(coverage));
    tellCost(requests);
}

void Reporter::tellCost(qint64 requests)
{
    const auto &session = m_ensemble.session;
    m_asked.note(m_ensemble.loop.now(), requests);
    Cost cost{session.watchCount(), session.watchedBytes(), session.watchBudgetBytes()};
    m_asked.putInto(cost);
    m_told.tell(cost);
}

void Reporter::noteServed(qint64 requests, const zk::Evidence *totals)
{
    // What is missing is no small share of theirs: it is said of all members or not at all.
    const bool isWhole = totals && totals->isComplete("mntr");
    m_asked.noteServed(m_ensemble.loop.now(), requests, isWhole ? totals->requestsServed : std::nullopt,
                       isWhole ? totals->answers.at("mntr").members : 0);
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
