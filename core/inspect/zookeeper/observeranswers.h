// SPDX-License-Identifier: Apache-2.0
// What the servers of one connection answered last, and what their clock says.
#pragma once

#include "core/async/dated.h"
#include "core/async/task.h"
#include "core/inspect/observer.h"
#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

// Whom an observer's parts ask, and whom they tell.
struct ObservedEnsemble {
    zk::Session &session;
    zk::EvidenceSource &source;
    Loop &loop;
    ConnectionName connection;
    QByteArray chroot;
    ObserverOptions options;
    ObserverSink &sink;
};

// Tells the source who the members are, as the ensemble itself keeps it.
[[nodiscard]] Task<void> learnMembers(const ObservedEnsemble &ensemble);

class ServerAnswers {
public:
    explicit ServerAnswers(const ObservedEnsemble &ensemble) : m_ensemble(ensemble) {}

    // What was asked replaces what was known; what was not asked stays, and grows older.
    void absorb(zk::Evidence answer);
    // How many watches there are, asked for by itself: of the rest it says nothing, nor makes it newer.
    void absorbTotals(const zk::Evidence &answer) { m_evidence.childWatchTotal = answer.childWatchTotal; }
    // Where no server tells its clock: it is at least as late as the youngest node.
    void learnFromNodes(const DirectoryView &view);
    // Our own session is connected since now.
    void noteConnected() { m_connectedAt = datedNow(m_ensemble.loop); }

    [[nodiscard]] bool isKnown() const { return m_isKnown; }
    [[nodiscard]] const zk::Evidence &latest() const { return m_evidence; }
    [[nodiscard]] bool canDump() const { return m_evidence.hasAny("dump"); }
    [[nodiscard]] ServerTime askedAt() const;
    [[nodiscard]] std::chrono::milliseconds serverAhead() const { return m_serverAhead; }
    // All but the heads of a directory.
    [[nodiscard]] RecogniseContext context() const;
    // The same for what was known to be true at that time, and may have changed since.
    [[nodiscard]] RecogniseContext contextAsOf(Instant known) const;

private:
    [[nodiscard]] ServerTime serverNow() const;
    void learnServerClock();

    const ObservedEnsemble &m_ensemble;
    zk::Evidence m_evidence;
    bool m_isKnown = false;
    bool m_knowsServerClock = false;
    std::chrono::milliseconds m_serverAhead{};
    std::optional<std::chrono::milliseconds> m_told;                    // as the servers said last
    std::optional<std::chrono::system_clock::time_point> m_connectedAt; // seen ourselves
};

} // namespace lockscope::inspect
