// SPDX-License-Identifier: Apache-2.0
// The etcd port: what recipes, the inspector and the gate see of an etcd v3 cluster.
//
// A request is sent when called; its answer arrives once. Errors: NotConnected when nothing was sent;
// UnknownOutcome when the connection broke, the deadline passed, or the cluster had no leader while the request was
// out (what recipes send may be sent again); AuthFailed; NoPermission; NoNode (there is no such lease); TooLarge;
// Server for any other. All members: loop thread only.
#pragma once

#include "core/async/passwordsource.h"
#include "core/async/port.h"
#include "core/base/connectionuri.h"

namespace lockscope::etcd {

using Revision = qint64;
using LeaseId = qint64; // 0: none

struct KeyValue {
    QByteArray key;
    QByteArray value; // empty where only keys were asked for
    Revision created = 0, modified = 0;
    LeaseId lease = 0;
    friend bool operator==(const KeyValue &, const KeyValue &) = default;
};

enum class Order { AsStored, OldestFirst, NewestFirst }; // by the revision that created the key

struct RangeAnswer {
    Revision revision = 0; // of the store, when it answered
    std::vector<KeyValue> entries;
    bool more = false;
};
struct RangeRequest {
    using Answer = RangeAnswer;
    static constexpr bool isWrite = false;
    QByteArray key{};
    QByteArray end{}; // up to this key, without it; empty: this one key
    qint64 limit = 0;
    Revision at = 0; // 0: now
    Revision createdUpTo = 0;
    Order order = Order::AsStored;
    bool keysOnly = false;
};

// That the key is there, created at that revision; 0: that there is none.
struct Condition {
    QByteArray key;
    Revision created = 0;
    LeaseId lease = 0; // not 0: and that it hangs on this one
};
struct Operation {
    enum class Kind { Put, Remove, Range };
    Kind kind = Kind::Range;
    RangeRequest range; // Remove and Put: its key
    QByteArray value{};
    LeaseId lease = 0;
};
struct TransactionAnswer {
    Revision revision = 0;
    bool held = false;               // the conditions
    std::vector<RangeAnswer> ranges; // of its Range operations, in order
};
// If all hold, the first operations, else the others.
struct Transaction {
    using Answer = TransactionAnswer;
    std::vector<Condition> conditions;
    std::vector<Operation> then;
    std::vector<Operation> otherwise;
};

struct LeaseAnswer {
    LeaseId id = 0;
    std::chrono::seconds ttl{}; // not above 0: there is no such lease
    std::chrono::seconds granted{};
    std::vector<QByteArray> keys; // where they were asked for
};

// The number is the caller's, so that a lease can be revoked whose answer was lost.
struct GrantRequest {
    using Answer = LeaseAnswer;
    static constexpr bool isWrite = true;
    LeaseId id = 0;
    std::chrono::seconds ttl{};
};
struct KeepAliveRequest {
    using Answer = LeaseAnswer;
    static constexpr bool isWrite = true; // of a lease of ours: it changes nothing that anybody else has
    LeaseId id = 0;
};
struct RevokeRequest {
    using Answer = bool;
    static constexpr bool isWrite = true;
    LeaseId id = 0;
};
struct TimeToLiveRequest {
    using Answer = LeaseAnswer;
    static constexpr bool isWrite = false;
    LeaseId id = 0;
    bool withKeys = false;
};
struct LeasesRequest {
    using Answer = std::vector<LeaseId>;
    static constexpr bool isWrite = false;
};

// Of keys, as a range names them; an `end` of one zero byte: of all from that key on.
struct Permission {
    QByteArray key;
    QByteArray end;
    bool reads = false, writes = false;
    friend bool operator==(const Permission &, const Permission &) = default;
};
// What the connection's user may do.
struct AccessRights {
    bool areUsersOn = false; // otherwise whoever comes may do everything
    QByteArray user;
    bool isRoot = false; // may do everything, too
    std::vector<Permission> permissions;
};

struct AccessRequest {
    using Answer = AccessRights;
    static constexpr bool isWrite = false;
};

struct WatchRequest {
    QByteArray key;
    QByteArray end;
    Revision from = 0;
};
struct WatchEvent {
    bool isRemoved = false;
    KeyValue entry; // of one that was removed: key, and when
    friend bool operator==(const WatchEvent &, const WatchEvent &) = default;
};
// What a watch tells: first that it stands (no events), then events, at last that it is over, and why.
struct WatchNews {
    Revision revision = 0;
    std::vector<WatchEvent> events;
    std::optional<Error> over;
};

// Told also, as Connecting, when another attempt failed.
enum class ClientState { Connecting, Connected, AuthFailed };

class Client : public Port<ClientState, RangeRequest, Transaction, GrantRequest, KeepAliveRequest, RevokeRequest,
                           TimeToLiveRequest, LeasesRequest, AccessRequest> {
public:
    [[nodiscard]] virtual QString lastError() const = 0;             // why it is not connected; empty when it is
    [[nodiscard]] virtual bool isExplained() const { return false; } // of that: Error::isExplained
    [[nodiscard]] virtual QByteArray serverVersion() const = 0;      // "3.4.23"; empty until it was said

    Reply<RangeAnswer> range(RangeRequest request, Deadline deadline) { return ask(std::move(request), deadline); }
    Reply<TransactionAnswer> commit(Transaction transaction, Deadline deadline)
    {
        return ask(std::move(transaction), deadline);
    }
    Reply<LeaseAnswer> grant(LeaseId id, std::chrono::seconds ttl, Deadline deadline)
    {
        return ask(GrantRequest{id, ttl}, deadline);
    }
    Reply<LeaseAnswer> keepAlive(LeaseId id, Deadline deadline) { return ask(KeepAliveRequest{id}, deadline); }
    Reply<bool> revoke(LeaseId id, Deadline deadline) { return ask(RevokeRequest{id}, deadline); }
    Reply<LeaseAnswer> timeToLive(LeaseId id, bool withKeys, Deadline deadline)
    {
        return ask(TimeToLiveRequest{id, withKeys}, deadline);
    }
    Reply<std::vector<LeaseId>> leases(Deadline deadline) { return ask(LeasesRequest(), deadline); }
    Reply<AccessRights> access(Deadline deadline) { return ask(AccessRequest(), deadline); }
    // Told through the loop's queue until it is over or dropped.
    virtual Subscription watch(WatchRequest request, std::function<void(const WatchNews &)> listener) = 0;
};

// The first key that does not begin with this; of an empty one, of all keys.
[[nodiscard]] QByteArray endOfPrefix(const QByteArray &prefix);
// As etcdctl and the Go client write it.
[[nodiscard]] QByteArray leaseText(LeaseId id);

struct ClientOptions {
    std::vector<HostPort> hosts; // of one cluster; whichever answers
    std::vector<HostPort> names; // what a person calls each of them, where a way of ours leads there; empty: hosts
    QString user;
    QString password;                            // never logged
    std::shared_ptr<PasswordSource> passwords{}; // asked at each login; null: `password` it is
    std::chrono::milliseconds askEvery{1000};
    std::chrono::milliseconds answersWithin{5000};
    std::shared_ptr<void> keep; // what has to live for as long as it may connect
};
// Returns at once, in state Connecting.
[[nodiscard]] std::unique_ptr<Client> openClient(Loop &loop, ClientOptions options);

class ForwardingClient : public Forwarding<Client> {
public:
    using Forwarding::Forwarding;

    [[nodiscard]] QString lastError() const override { return inner().lastError(); }
    [[nodiscard]] bool isExplained() const override { return inner().isExplained(); }
    [[nodiscard]] QByteArray serverVersion() const override { return inner().serverVersion(); }
    Subscription watch(WatchRequest request, std::function<void(const WatchNews &)> listener) override
    {
        return inner().watch(std::move(request), std::move(listener));
    }
};

} // namespace lockscope::etcd
