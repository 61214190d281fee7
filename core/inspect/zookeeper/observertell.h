// SPDX-License-Identifier: Apache-2.0
// Tells what there is to say beside the locks: sessions, coverage, progress, cost. Each only when it is news.
#pragma once

#include "core/inspect/askedrate.h"
#include "core/inspect/changereporter.h"
#include "core/inspect/zookeeper/observerjudge.h"

namespace lockscope::inspect {

class Reporter {
public:
    Reporter(const ObservedEnsemble &ensemble, const ServerAnswers &answers, const SnapshotStore &snapshots)
        : m_ensemble(ensemble), m_answers(answers), m_snapshots(snapshots), m_told(ensemble.connection, ensemble.sink)
    {
    }

    // `requests`: sent so far.
    void tell(const SearchFacts &search, qint64 requests);
    // What the servers say they were asked in all, in an answer to mntr; null: nobody answered.
    void noteServed(qint64 requests, const zk::Evidence *totals);
    void tellProgress(bool isRunning, bool isFirstComplete, Duration lookTook);
    void tellCrawled(qint64 done, qint64 total);

    [[nodiscard]] const std::vector<SessionSnapshot> &sessions() const { return m_told.sessions(); }
    [[nodiscard]] const std::vector<Coverage> &coverage() const { return m_told.coverage(); }

private:
    void tellCost(qint64 requests);

    const ObservedEnsemble &m_ensemble;
    const ServerAnswers &m_answers;
    const SnapshotStore &m_snapshots;
    ChangeReporter m_told;
    AskedRate m_asked;
};

} // namespace lockscope::inspect
