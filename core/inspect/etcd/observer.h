// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of the locks on one etcd cluster up to date: a sweep at one revision, then a watch of
// everything below the prefix from the next revision on, which misses nothing: what changed is in its events, and
// nothing is read again. Where the watch ends (the connection broke, the history was compacted) it begins again
// with a sweep. How long leases last is asked for, some of them each second.
//
// Survives reconnects. Loop thread only; not to be destroyed from within a call to its sink.
#pragma once

#include "core/inspect/observer.h"
#include "core/inspect/etcd/recognise.h"

namespace lockscope::inspect {

class EtcdObserver : public KeepingObserver {
public:
    // `client` (behind the gate) and `sink` must outlive the observer. `prefix`: only keys that begin with it.
    EtcdObserver(etcd::Client &client, ConnectionName name, QByteArray prefix, ObserverOptions options,
                 ObserverSink &sink);

    void start() override
    {
        if (m_work.isIdle())
            m_work.launch(observe());
    }
    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) override;
    [[nodiscard]] std::vector<Coverage> coverage() const override;

private:
    Task<void> observe();
    Task<Result<void>> sweep();
    Task<Result<EtcdSwept>> sweepBelow(QByteArray prefix);
    Task<void> follow();
    Task<void> askLeases(int most);
    Task<Result<void>> askLease(etcd::LeaseId id);
    Task<void> askForeign(QByteArray name);
    Task<void> askFixed(QByteArray key);
    Task<Result<LockSnapshot>> readFixed(QByteArray key, Deadline deadline);
    [[nodiscard]] bool hasLease(const QByteArray &key) const
    {
        const auto at = m_leased.find(key);
        return at != m_leased.end() && at->second != 0;
    }
    [[nodiscard]] std::optional<EtcdFixedKey> fixedNow(const etcd::KeyValue &entry) const;
    [[nodiscard]] std::optional<QByteArray> claimOf(const etcd::WatchEvent &event) const;
    void heedLeased(const etcd::WatchEvent &event, bool isClaim, std::set<QByteArray> &changed);
    void heedForeign(const etcd::WatchEvent &event, const std::optional<QByteArray> &lock,
                     std::set<QByteArray> &changed);
    // The locks whose claims are in this one's way: they say so.
    void addNested(const QByteArray &name, std::set<QByteArray> &names) const
    {
        for (const auto &entry : foreignOf(name).keys) {
            if (const auto at = m_keys.find(entry.key); at != m_keys.end())
                names.insert(at->second.first);
        }
    }
    void noteHolders(const QByteArray &name, const std::set<etcd::Revision> &before);
    [[nodiscard]] const EtcdForeign &foreignOf(const QByteArray &name) const;
    [[nodiscard]] std::set<etcd::Revision> heldBy(const QByteArray &name) const;
    Task<bool> mayReadMore();
    void take(EtcdSwept swept);
    void heed(const etcd::WatchNews &news);
    void apply(const etcd::WatchEvent &event, std::set<QByteArray> &changed);
    void settle(std::set<QByteArray> names);
    [[nodiscard]] LockSnapshot snapshotOf(const QByteArray &name, const EtcdQueue &queue,
                                          const EtcdForeign &foreign) const;
    [[nodiscard]] ServerTime now() const { return std::chrono::floor<std::chrono::milliseconds>(datedNow(m_loop)); }
    void tell();

    etcd::Client &m_client;
    const QByteArray m_asked; // the prefix that whoever connected wants to see
    QByteArray m_prefix;      // what is looked at: narrower where the user may read no more of it
    bool m_isNarrowed = false;
    Instant m_widerAsked{}; // when it was last tried whether the user may read more by now
    EtcdQueues m_locks;
    std::map<QByteArray, std::pair<QByteArray, etcd::Revision>> m_keys; // of claims: lock, and when created
    std::map<QByteArray, EtcdForeign> m_foreign;                        // by lock
    // Locks whose foreign keys are being read: who holds them is not known yet. Whether one came or went meanwhile.
    std::map<QByteArray, bool> m_unread;
    // Of keys that are no claims, and not known to be something else; 0: without a lease.
    std::map<QByteArray, etcd::LeaseId> m_leased;
    std::vector<Unexplained> m_unexplained; // of these
    bool m_isLedgerOld = false;
    EtcdLeases m_leases;
    etcd::LeaseId m_lastAsked = 0;
    etcd::Revision m_revision = 0;
    qint64 m_keysLooked = 0;
    qint64 m_requests = 0;
    bool m_isSweeping = false;
    bool m_isWatching = false;
    Completion<bool> m_over; // the watch
    QString m_problem;       // why what is shown may be of earlier
    QString m_leaseProblem;
    Scope m_work; // last: its coroutines use everything above
};

// What the user of a connection may do in an etcd, by the server's own word.

// A sentence each.
[[nodiscard]] QStringList etcdRightsOf(const etcd::AccessRights &access);
// The prefixes below `prefix` of which the user may read every key, none of them below another, in order.
[[nodiscard]] QByteArrayList readablePrefixes(const etcd::AccessRights &access, const QByteArray &prefix);
// The one such prefix that is narrower. Of several somebody has to choose: `refused`, with what there is. `client`
// outlives the task.
[[nodiscard]] Task<Result<QByteArray>> onlyReadablePrefix(etcd::Client *client, QByteArray prefix, Error refused);
// Which of several to name in the URI, and how; or that there is none.
[[nodiscard]] QString prefixToChoose(const QByteArrayList &prefixes);
// The rights, asked; where that is refused, that. `client` outlives the task.
[[nodiscard]] Task<QStringList> etcdRights(etcd::Client *client, Deadline deadline);

} // namespace lockscope::inspect
