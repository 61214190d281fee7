// SPDX-License-Identifier: Apache-2.0
// The etcd port: what recipes, the inspector and the gate see of an etcd v3 cluster.
//
// A request is sent when called; its answer arrives once. Errors: NotConnected when nothing was sent;
// UnknownOutcome when the connection broke, the deadline passed, or the cluster had no leader while the request was
// out (what recipes send may be sent again); AuthFailed; NoPermission; NoNode (there is no such lease); TooLarge;
// Server for any other. All members: loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/async/scope.h"
#include "core/async/statelisteners.h"
#include "core/base/connectionuri.h"

#include <functional>
#include <memory>
#include <vector>

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

struct RangeRequest {
    QByteArray key;
    QByteArray end; // up to this key, without it; empty: this one key
    qint64 limit = 0;
    Revision at = 0; // 0: now
    Revision createdUpTo = 0;
    Order order = Order::AsStored;
    bool keysOnly = false;
};
struct RangeAnswer {
    Revision revision = 0; // of the store, when it answered
    std::vector<KeyValue> entries;
    bool more = false;
};

// That the key is there, created at that revision; 0: that there is none.
struct Condition {
    QByteArray key;
    Revision created = 0;
    LeaseId lease = 0; // not 0: and that it hangs on this one
};
// If all hold, the first operations, else the others.
struct Operation {
    enum class Kind { Put, Remove, Range };
    Kind kind = Kind::Range;
    RangeRequest range; // Remove and Put: its key
    QByteArray value{};
    LeaseId lease = 0;
};
struct Transaction {
    std::vector<Condition> conditions;
    std::vector<Operation> then;
    std::vector<Operation> otherwise;
};
struct TransactionAnswer {
    Revision revision = 0;
    bool held = false;               // the conditions
    std::vector<RangeAnswer> ranges; // of its Range operations, in order
};

struct LeaseAnswer {
    LeaseId id = 0;
    std::chrono::seconds ttl{}; // not above 0: there is no such lease
    std::chrono::seconds granted{};
    std::vector<QByteArray> keys; // where they were asked for
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

enum class ClientState { Connecting, Connected, AuthFailed };

class Client {
public:
    virtual ~Client() = default;

    [[nodiscard]] virtual Loop &loop() const = 0;
    [[nodiscard]] virtual ClientState state() const = 0;
    [[nodiscard]] virtual QString lastError() const = 0;             // why it is not connected; empty when it is
    [[nodiscard]] virtual bool isExplained() const { return false; } // of that: Error::isExplained
    [[nodiscard]] virtual QByteArray serverVersion() const = 0;      // "3.4.23"; empty until it was said
    // Called on every change; with Connecting also when another attempt failed.
    virtual Subscription onState(std::function<void(ClientState)> listener) = 0;

    virtual Reply<RangeAnswer> range(RangeRequest request, Deadline deadline) = 0;
    virtual Reply<TransactionAnswer> commit(Transaction transaction, Deadline deadline) = 0;
    // The number is the caller's, so that a lease can be revoked whose answer was lost.
    virtual Reply<LeaseAnswer> grant(LeaseId id, std::chrono::seconds ttl, Deadline deadline) = 0;
    virtual Reply<LeaseAnswer> keepAlive(LeaseId id, Deadline deadline) = 0;
    virtual Reply<bool> revoke(LeaseId id, Deadline deadline) = 0;
    virtual Reply<LeaseAnswer> timeToLive(LeaseId id, bool withKeys, Deadline deadline) = 0;
    virtual Reply<std::vector<LeaseId>> leases(Deadline deadline) = 0;
    virtual Reply<AccessRights> access(Deadline deadline) = 0;
    // Told through the loop's queue until it is over or dropped.
    virtual Subscription watch(WatchRequest request, std::function<void(const WatchNews &)> listener) = 0;

    // Work that goes on after whoever started it is gone, for as long as the client lives. Must not call the client
    // from a destructor.
    [[nodiscard]] Scope &background() { return m_background.in(loop()); }

private:
    LazyScope m_background;
};

// The first key that does not begin with this; of an empty one, of all keys.
[[nodiscard]] QByteArray endOfPrefix(const QByteArray &prefix);
// As etcdctl and the Go client write it.
[[nodiscard]] QByteArray leaseText(LeaseId id);

struct ClientOptions {
    std::vector<HostPort> hosts; // of one cluster; whichever answers
    std::vector<HostPort> names; // what a person calls each of them, where a way of ours leads there; empty: hosts
    QString user;
    QString password; // never logged
    std::chrono::milliseconds askEvery{1000};
    std::chrono::milliseconds answersWithin{5000};
    std::shared_ptr<void> keep; // what has to live for as long as it may connect
};
// Returns at once, in state Connecting.
[[nodiscard]] std::unique_ptr<Client> openClient(Loop &loop, ClientOptions options);

// A client that hands everything on to another one: the base of those that stand before a client.
class ForwardingClient : public Client {
public:
    explicit ForwardingClient(Client &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] ClientState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    [[nodiscard]] bool isExplained() const override { return m_inner.isExplained(); }
    [[nodiscard]] QByteArray serverVersion() const override { return m_inner.serverVersion(); }
    Subscription onState(std::function<void(ClientState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    Reply<AccessRights> access(Deadline deadline) override { return m_inner.access(deadline); }

protected:
    [[nodiscard]] Client &inner() const { return m_inner; }

private:
    Client &m_inner;
};

} // namespace lockscope::etcd
