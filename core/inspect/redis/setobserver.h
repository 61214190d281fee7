// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of a Redlock set up to date: an observer on each node, and one lock per key made of
// what they say (quorum.cpp). A node that is not connected, or whose first snapshot is not complete, has not
// answered; coverage says which. Loop thread only; not to be destroyed from within a call to its sink.
#pragma once

#include "core/inspect/redis/observer.h"

namespace lockscope::inspect {

class RedisSetObserver : public KeepingObserver {
public:
    struct Node {
        QString name;                  // "10.0.3.7:6379"
        redis::Connection *connection; // behind the gate
        int database = 0;              // that it selected
    };
    // The connections and `sink` must outlive the observer; at least one node.
    RedisSetObserver(std::vector<Node> nodes, ConnectionName name, ObserverOptions options, ObserverSink &sink);
    ~RedisSetObserver() override;

    void start() override;
    // Asks all nodes at once and gives none much time. The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) override;
    [[nodiscard]] std::vector<SessionSnapshot> sessions() const override;
    [[nodiscard]] std::vector<Coverage> coverage() const override;
    void reconsider() override;

private:
    class Part;
    struct Reading;

    static Task<void> readPart(Part *part, QByteArray name, Deadline deadline, std::shared_ptr<Reading> reading,
                               std::size_t index);
    // What the parts tell.
    void connectionChanged(Part &part);
    void dirty(const QByteArray &name);
    void dirtyAll();
    void mergeDirty();
    void judgeFirstSnapshot();
    void completeFirstSnapshot();
    void notifyProgress();
    void notifyLooked();
    void notifyCost();

    std::set<QByteArray> m_dirty;
    Timer m_mergeTimer;
    Timer m_patience; // with nodes that do not get done
    bool m_started = false;
    std::vector<std::unique_ptr<Part>> m_parts; // last: they tell us
};

// From what each node of a Redlock set says of a key to the one lock that they are together. Pure.

// One node's own snapshot of the key; empty when it has none there. `answered` is false for a node that
// could not be asked: then nothing is known of it.
struct NodeSight {
    QString node;
    bool answered = false;
    std::optional<LockSnapshot> snapshot;
};

// The lock under the key, from the sights of all nodes in the order of the set. The holder is the token that a
// majority of all nodes hold, for as long as a majority holds it; tokens on fewer nodes are claims that do not hold.
// Where so many nodes do not answer that a token may have a majority, it is taken for the holder if no other has as
// many votes. A lock of another kind (Redisson's hash, say) is shown as its node shows it, unless its holders are
// members of a set that are the same on several nodes. Empty when no node has anything there.
[[nodiscard]] std::optional<LockSnapshot> mergeNodes(const std::vector<NodeSight> &sights);

// The nodes' clocks differ: all moments are told by the clock of one of them.
[[nodiscard]] inline ServerTime toClockOf(const LockSnapshot &reference, const LockSnapshot &from, ServerTime moment)
{
    return moment + reference.serverAhead - from.serverAhead;
}

} // namespace lockscope::inspect
