// SPDX-License-Identifier: Apache-2.0
// An etcd of the simulated world, of one member: keys with their revisions, transactions, leases, watches. On virtual
// time; belongs to the world's thread. Reads at a past revision are not simulated.
//
// A lease ends by the server's own monotonic clock: not before its time, and at the next of its looks (each half
// second). The differential test (tests/live/tst_simulated_etcd.cpp) holds it against the real one.
#pragma once

#include "core/etcd/client.h"
#include "core/simservers/network.h"

namespace lockscope::sim {

class EtcdServer {
public:
    using OnNews = std::function<void(const etcd::WatchNews &)>;

    explicit EtcdServer(VirtualLoop &world) : m_world(world) {}
    Q_DISABLE_COPY(EtcdServer)

    [[nodiscard]] static QByteArray version() { return QByteArrayLiteral("3.4.23"); }

    // Of each request of the port.
    [[nodiscard]] Result<etcd::RangeAnswer> answer(const etcd::RangeRequest &request) const;
    [[nodiscard]] Result<etcd::TransactionAnswer> answer(const etcd::Transaction &transaction);
    [[nodiscard]] Result<etcd::LeaseAnswer> answer(const etcd::GrantRequest &request);
    [[nodiscard]] Result<etcd::LeaseAnswer> answer(const etcd::KeepAliveRequest &request);
    [[nodiscard]] Result<bool> answer(const etcd::RevokeRequest &request);
    [[nodiscard]] Result<etcd::LeaseAnswer> answer(const etcd::TimeToLiveRequest &request) const;
    [[nodiscard]] Result<std::vector<etcd::LeaseId>> answer(const etcd::LeasesRequest &request) const;
    [[nodiscard]] static Result<etcd::AccessRights> answer(const etcd::AccessRequest &)
    {
        return etcd::AccessRights();
    }

    // Told that it stands, then what happened since the revision asked for, then what happens.
    void watch(quint64 watch, const etcd::WatchRequest &request, OnNews onNews);
    void unwatch(quint64 watch);
    [[nodiscard]] quint64 newWatch() { return ++m_lastWatch; }

    [[nodiscard]] const std::map<QByteArray, etcd::KeyValue> &entries() const { return m_entries; }

private:
    struct Lease {
        std::chrono::seconds ttl{};
        Instant ends{};
        std::set<QByteArray> keys;
        Timer timer;
    };
    struct Watch {
        etcd::WatchRequest request;
        OnNews onNews;
    };

    [[nodiscard]] bool holds(const etcd::Condition &condition) const;
    [[nodiscard]] std::optional<Error> objectionTo(const std::vector<etcd::Operation> &operations) const;
    void put(const etcd::Operation &operation, etcd::Revision revision);
    bool remove(const QByteArray &key, etcd::Revision revision);
    void end(etcd::LeaseId id);
    void watchOver(etcd::LeaseId id);
    // What changed in this revision is told.
    void publish(etcd::Revision revision);
    void tell(const Watch &watch, etcd::Revision revision, const std::vector<etcd::WatchEvent> &events) const;

    VirtualLoop &m_world;
    etcd::Revision m_revision = 1;
    std::map<QByteArray, etcd::KeyValue> m_entries;
    std::map<etcd::LeaseId, Lease> m_leases;
    std::map<quint64, Watch> m_watches;
    std::map<QByteArray, std::set<quint64>> m_watchesOfKey; // of those of one key
    std::set<quint64> m_watchesOfRanges;
    quint64 m_lastWatch = 0;
    std::vector<etcd::WatchEvent> m_changes; // of the revision that is being made
    std::deque<std::pair<etcd::Revision, std::vector<etcd::WatchEvent>>> m_history;
};

// A client of the simulated etcd: what core/etcd/client.h is of a real one, over a link that can break. It asks once
// a second whether the server is there; one that does not answer for five counts as gone, and what is watched ends.
// Reconnects with the same back-off, and tells the same errors.
//
// Lives on `process`, which outlives it, as do the server and the network.
[[nodiscard]] std::unique_ptr<etcd::Client> openEtcd(Process &process, EtcdServer &server, Network &network);

} // namespace lockscope::sim
