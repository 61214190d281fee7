// SPDX-License-Identifier: Apache-2.0
// What the servers of one connection answered last, and what their clock says.
#pragma once

#include "core/async/dated.h"
#include "core/async/task.h"
#include "core/inspect/observer.h"
#include "core/inspect/snapshot.h"
#include "core/inspect/zookeeper/recognise.h"

#include <vector>

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

// An ensemble's clock that is set while we look on. It dates nodes, and tells nobody; but a node that was made under
// our eyes was made between two looks, and one whose date says otherwise was dated by a clock that was set, or by
// another leader's. Nodes are numbered in the order they were made: all that come after it are dated so, none before.

// From so much on it is another clock: less is what a leader's may differ from that of the member we asked, and what
// a look takes.
constexpr std::chrono::seconds anotherClock(5);

class ClockSteps {
public:
    // A node that came between the two looks, by the clock as it was when we began. True: that clock was set.
    bool saw(qint64 czxid, ServerTime dated, ServerTime before, ServerTime now);
    // When it was made, by that clock.
    [[nodiscard]] ServerTime made(qint64 czxid, ServerTime dated) const { return dated - setBy(czxid); }
    [[nodiscard]] bool wasSet() const { return !m_steps.empty(); }
    // What the clock was set by in all.
    [[nodiscard]] std::chrono::milliseconds setBy() const;
    // A node came before our eyes: from then on what is dated ahead of the clock is no word on how far ahead it is.
    [[nodiscard]] bool isCompared() const { return m_isCompared; }

private:
    struct Step {
        qint64 czxid; // from this node on
        std::chrono::milliseconds by;
    };
    [[nodiscard]] std::chrono::milliseconds setBy(qint64 czxid) const;

    std::vector<Step> m_steps; // in their order
    bool m_isCompared = false;
};

} // namespace lockscope::inspect
