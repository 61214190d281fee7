// SPDX-License-Identifier: Apache-2.0
// Locks and elections of etcd's Go client, as they stand in the keys: PREFIX/<lease in hexadecimal>, each with that
// lease, in the order of the revisions that created them. Below a PREFIX that says lock, the lease may be in decimal.
// A key of that form stays a claim where its client wrote it again without its lease: others wait for it all the
// same. Beside them the read/write locks of that client (PREFIX/read/<nanoseconds>, PREFIX/write/<nanoseconds>), and
// locks that are one key with a lease (fixed keys), whose name is KEY#<key>. Pure.
#pragma once

#include "core/etcd/client.h"
#include "core/inspect/snapshot.h"

#include <set>

namespace lockscope::inspect {

// Keys below a lock's PREFIX/ that are no claims of it: clients of the lock wait for each of them that is older than
// their own key, whatever it is. Pure.

// The oldest of them, by the revision that created them.
struct EtcdForeign {
    std::vector<etcd::KeyValue> keys;
    etcd::Revision knownTo = 0; // of those made later nothing is known; 0: all are here
};
// How many of one lock are kept: enough to name who is in the way.
inline constexpr std::size_t mostForeignKeys = 16;

void noteForeign(EtcdForeign &foreign, const etcd::KeyValue &entry);
[[nodiscard]] bool forgetForeign(EtcdForeign &foreign, const QByteArray &key); // whether it was there
// Every PREFIX for which the key is below PREFIX/, the outermost first.
[[nodiscard]] std::vector<QByteArray> prefixesOf(const QByteArray &key);
// "path/1, which has no lease and never ends by itself".
[[nodiscard]] QString foreignText(const etcd::KeyValue &entry);

// Why nothing can be shown at that name. Free (NoNode) only where nothing is left that a client may hold or wait for.
[[nodiscard]] Error noLock(const QByteArray &name, const EtcdForeign &others);
// The same where that very key has a lease.
[[nodiscard]] Error noQueue(const QByteArray &name, const etcd::KeyValue &own);

// What name and value tell of a key that is a lock by itself.
struct EtcdFixedKey {
    bool isElection = false;
    bool isRenewed = false;  // its client renews the lease by itself, as those of queues do
    bool hasMembers = false; // of a cluster, each with a key beside it
    Confidence confidence = Confidence::Low;
    QString client{}; // empty: not known
    QString why{};
};

// One that contends: its key, and what was seen of its time. etcd keeps none.
struct EtcdClaim {
    etcd::KeyValue entry;
    std::optional<EtcdFixedKey> fixed; // then it is the only one
    std::optional<ServerTime> came;    // seen to
    std::optional<ServerTime> first;   // seen to become
};
// Of one lock, by the revision that created them.
using EtcdQueue = std::map<etcd::Revision, EtcdClaim>;

struct EtcdLease {
    std::chrono::seconds granted{};
    ServerTime ends{}; // unless it is renewed
    // The keys that are deleted with it and are no claim's, when they were last asked for: the first of so many.
    std::vector<QByteArray> others{};
    qint64 otherCount = 0;
    int asked = 0; // how often
    bool areKeysTold = true;
};
using EtcdLeases = std::map<etcd::LeaseId, EtcdLease>;

// The lock's name, which is PREFIX; empty if this is no such key.
[[nodiscard]] std::optional<QByteArray> etcdLockOf(const etcd::KeyValue &entry);
// "10.0.0.7:8080", "http://web-1:80": where a service is.
[[nodiscard]] bool isAddress(const QByteArray &value);
// How a key of that name claims its lock.
[[nodiscard]] Mode etcdModeOf(const etcd::KeyValue &entry);
// PREFIX/write of a key of RWMutex of etcd's Go client; empty of other keys. Its readers wait for each older key
// whose name begins so, its writers for each older key below PREFIX/.
[[nodiscard]] QByteArray writersOf(const QByteArray &key);
// Its last part is the number of its own lease, in whatever form.
[[nodiscard]] bool isOwnLease(const etcd::KeyValue &entry);
// The same of a key that is named as such a one, and has no lease or another one.
[[nodiscard]] std::optional<QByteArray> strayLockOf(const etcd::KeyValue &entry);
using EtcdQueues = std::map<QByteArray, EtcdQueue>; // by lock
// Strays are claims of a lock that has others; one that is all there is must have been written again since it was
// made. All others are data.
void addStrays(EtcdQueues &locks, const EtcdQueues &strays);
[[nodiscard]] std::set<etcd::LeaseId> leasesOf(const EtcdQueues &locks);
// What was seen of the time of the same claims before stays known.
void keepTimes(EtcdQueues &locks, const EtcdQueues &before);
void keepTime(EtcdClaim &claim, const EtcdQueues &before, const QByteArray &lock);
// What is below one lock's prefix, told apart.
struct EtcdLockKeys {
    EtcdQueue queue;
    EtcdForeign foreign;
};
// `more`: there are others, younger than these.
[[nodiscard]] EtcdLockKeys etcdKeysOf(const QByteArray &lock, const std::vector<etcd::KeyValue> &entries, bool more);
// The claims that wait for no other key: the first, or each reader before the first writer.
[[nodiscard]] std::set<etcd::Revision> holdersOf(const EtcdQueue &queue, const EtcdForeign &foreign);
// Of a queue that is not empty. Ages are for the caller to judge.
[[nodiscard]] LockSnapshot etcdSnapshot(const LockName &lock, const EtcdQueue &queue, const EtcdForeign &foreign,
                                        const EtcdLeases &leases, ServerTime now);
// Another lock's first waiter that is known to wait for this lock's holder: its key is below that one's prefix, too.
void addWaiterAbove(LockSnapshot &lock, const QByteArray &above, const EtcdQueue &queue, const EtcdForeign &foreign);

// Fixed keys.

[[nodiscard]] QByteArray lockOfFixed(const QByteArray &key);
[[nodiscard]] std::optional<QByteArray> keyOfFixed(const QByteArray &lock);
// A registration of a known system, which is no lock.
[[nodiscard]] bool isKnownEntry(const QByteArray &key);
// Without a lease, but by its name a lock or a leader's mark that its client deletes, or an object of a known system
// whose value tells who holds it.
[[nodiscard]] bool mayBeHeldWithoutLease(const etcd::KeyValue &entry);
// By its name alone, which tells whether to read the value.
[[nodiscard]] bool mayBeFixedKey(const etcd::KeyValue &entry);
// The key that Patroni's leader has as a member, with the same lease; empty if this is named otherwise.
[[nodiscard]] QByteArray patroniMemberOf(const etcd::KeyValue &leader);
// `isBesideQueue`: it is named as a lock that has claims. `hasMember`: patroniMemberOf() is there with that lease.
[[nodiscard]] std::optional<EtcdFixedKey> fixedKeyOf(const etcd::KeyValue &entry, bool isBesideQueue, bool hasMember);
// One that is read alone; `fixed` is empty where nothing says that it is a lock.
struct EtcdFixedRead {
    EtcdClaim claim;
    bool isBesideQueue = false;
};
[[nodiscard]] Task<Result<EtcdFixedRead>> readFixedKey(etcd::Client *client, QByteArray key, Deadline deadline);
// `snapshot` has what does not depend on the form.
[[nodiscard]] LockSnapshot fixedSnapshot(LockSnapshot snapshot, Contender holder, const EtcdClaim &claim);
// The key that is named as the lock is has a lease.
void addFixedKey(LockSnapshot &lock);
// Clients queue below the fixed key.
void addQueueBeside(LockSnapshot &fixed, const QByteArray &queue);
// Of keys that have a lease, or may be held without, and are no claims: those that belong to no lock.
[[nodiscard]] std::vector<Unexplained> unexplainedOf(const std::map<QByteArray, etcd::LeaseId> &leased,
                                                     const EtcdQueues &locks);

// Takes over what the lease's keys are, where they were told.
void noteOtherKeys(EtcdLease &lease, const etcd::LeaseAnswer &answer);
// The leases by which somebody holds or waits.
[[nodiscard]] std::vector<SessionSnapshot> etcdSessions(const EtcdQueues &locks,
                                                        const std::map<QByteArray, EtcdForeign> &foreign,
                                                        const EtcdLeases &leases, const ConnectionName &connection);

// Everything below a prefix that is a lock, read in pages at one revision. Without values: those of the locks' own
// keys are read afterwards, a hundred in a request.
struct EtcdSwept {
    etcd::Revision revision = 0;
    qint64 keys = 0; // looked at
    EtcdQueues locks;
    std::map<QByteArray, EtcdForeign> foreign; // by lock
    std::map<QByteArray, etcd::LeaseId>
        leased; // of keys that are no claims, and not known to be something else; 0: none
};
// No more of those are kept.
inline constexpr std::size_t mostLeasedKeys = 100'000;
// Those without a lease leave room for the others, which may be locks of one key.
inline constexpr std::size_t mostLeaselessKeys = mostLeasedKeys / 2;
[[nodiscard]] inline std::size_t mostKept(const etcd::KeyValue &entry)
{
    return entry.lease != 0 ? mostLeasedKeys : mostLeaselessKeys;
}

// The oldest keys below the lock's prefix, whatever they are.
[[nodiscard]] etcd::RangeRequest oldestOf(const QByteArray &lock, qint64 limit = 1);
// As many as tell of each of its claims whom it waits for.
[[nodiscard]] etcd::RangeRequest keysAround(const QByteArray &lock, const EtcdQueue &queue);
// `looked`: how many keys so far. All outlive the task.
[[nodiscard]] Task<Result<EtcdSwept>> sweepEtcd(etcd::Client *client, QByteArray prefix,
                                                std::function<void(qint64)> looked, Deadline deadline);
// Of a lock that alone was read: the waiters of locks above it that wait for its holder. Names of claims begin with
// a digit or a letter up to f; of a folder with too many of such names not all are seen.
[[nodiscard]] Task<void> addWaitersAbove(LockSnapshot *snapshot, etcd::Client *client, Deadline deadline);

} // namespace lockscope::inspect
