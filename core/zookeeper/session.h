// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper port: what recipes, the inspector and the gate see of a session.
//
// Every request is sent when it is called (so that create and list can leave together) and answered
// through the returned Reply. Requests of one session are answered in the order they were sent.
// Errors: UnknownOutcome when the connection broke or the deadline passed while the request was out
// (it may have happened), NotConnected when nothing was sent, SessionExpired when the session is
// over, AuthFailed when the server refused the credentials. All members: loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/async/scope.h"
#include "core/async/statelisteners.h"
#include "core/base/znode.h"
#include "core/zookeeper/namelist.h"

#include <QMetaType>

#include <memory>
#include <vector>

namespace lockscope::zk {

enum class CreateMode {
    Persistent,
    Ephemeral,
    PersistentSequential,
    EphemeralSequential,
    Container,
    PersistentWithTtl,
    PersistentSequentialWithTtl,
};

struct Created {
    ZPath path; // with the sequence number the server gave
    Stat stat;
};
struct Node {
    QByteArray data;
    Stat stat;
};
struct Children {
    NameList names; // in the server's order, which means nothing
    Stat stat;      // the parent's
};
struct NodeAcls {
    Acls acls;
    Stat stat;
};

enum class EventKind {
    Created,
    Deleted,
    DataChanged,
    ChildrenChanged,
    SessionOver, // the session expired or was closed: the watch will never fire
};
struct WatchEvent {
    EventKind kind = EventKind::SessionOver;
    ZPath path;
};

// A one-shot watch. Made by whoever wants to know, handed to a read, fires at most once. Session
// death fires it too (SessionOver), so nobody waits for ever. Dropping every copy means nobody
// listens any more; the server keeps its side until it fires or removeWatch is called.
class Watch {
public:
    explicit Watch(Loop &loop) : m_event(loop) {}
    [[nodiscard]] const Completion<WatchEvent> &event() const { return m_event; }

private:
    Completion<WatchEvent> m_event;
};

enum class WatchKind { Data, Children }; // Data covers exists and get

enum class SessionState {
    Connecting, // first connect, or the connection broke: the session may still live
    Connected,
    Expired,    // over; open a new Session
    AuthFailed, // over
    Closed,     // by us
};

// One part of a multi.
struct Op {
    enum class Kind { Create, Remove, Set, Check };
    Kind kind = Kind::Check;
    ZPath path;
    QByteArray data;
    CreateMode mode = CreateMode::Persistent;
    Acls acls;
    qint32 version = -1;
};
struct OpResult {
    ZPath created; // Create only
    Stat stat;     // Set only
};

constexpr qint32 anyVersion = -1;

class Session {
public:
    virtual ~Session() = default;

    [[nodiscard]] virtual Loop &loop() const = 0;
    [[nodiscard]] virtual SessionState state() const = 0;
    [[nodiscard]] virtual SessionId id() const = 0;                      // none until connected
    [[nodiscard]] virtual std::chrono::milliseconds timeout() const = 0; // as negotiated
    // When the present connection was made, by our wall clock; empty while not connected and in worlds
    // without one. Beside the server's own word for that moment (`cons`) it tells how far its clock is off.
    [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> connectedAt() const { return {}; }
    // Called on every change, through the queue, from then on.
    virtual Subscription onState(std::function<void(SessionState)> listener) = 0;

    // BadInput for the modes with a TTL.
    virtual Reply<Created> create(ZPath path, QByteArray data, CreateMode mode, Acls acls, Deadline deadline) = 0;
    // For the modes with a TTL, BadInput for the others and for a TTL below 1 ms or above 2^40 - 1 ms.
    // Unsupported where the server does not know them (its setting extendedTypesEnabled).
    virtual Reply<Created> createWithTtl(ZPath path, QByteArray data, CreateMode mode,
                                         std::chrono::milliseconds timeToLive, Acls acls, Deadline deadline) = 0;
    virtual Reply<bool> remove(ZPath path, qint32 version, Deadline deadline) = 0;
    virtual Reply<Node> get(ZPath path, std::optional<Watch> watch, Deadline deadline) = 0;
    virtual Reply<Stat> set(ZPath path, QByteArray data, qint32 version, Deadline deadline) = 0;
    // NoNode is an answer like another; with a watch it then fires on creation.
    virtual Reply<Stat> exists(ZPath path, std::optional<Watch> watch, Deadline deadline) = 0;
    virtual Reply<Children> children(ZPath path, std::optional<Watch> watch, Deadline deadline) = 0;
    virtual Reply<std::vector<OpResult>> multi(std::vector<Op> ops, Deadline deadline) = 0;
    // What is read after it is no older than the leader's state when it was sent.
    virtual Reply<bool> sync(ZPath path, Deadline deadline) = 0;
    virtual Reply<NodeAcls> acls(ZPath path, Deadline deadline) = 0;
    virtual Reply<bool> setAcls(ZPath path, Acls acls, qint32 version, Deadline deadline) = 0;
    // Succeeds with any digest password: ZooKeeper checks only against ACLs, node by node.
    virtual Reply<bool> addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline) = 0;
    // Takes every watch of ours of that kind off the path, here and on the server.
    virtual Reply<bool> removeWatches(ZPath path, WatchKind kind, Deadline deadline) = 0;

    // Watched path bytes now, and the most allowed (reads with a watch beyond it fail with
    // BudgetExceeded; the client re-sends all watches in one packet after a reconnect).
    [[nodiscard]] virtual qsizetype watchedBytes() const = 0;
    [[nodiscard]] virtual qsizetype watchBudgetBytes() const = 0;
    [[nodiscard]] virtual int watchCount() const = 0;

    // Work that goes on after whoever started it is gone, for as long as the session lives: taking away
    // a node nobody waits for any more. Such work must not call the session from a destructor.
    [[nodiscard]] Scope &background() { return m_background.in(loop()); }

private:
    LazyScope m_background;
};

// A session that hands everything on to another one: the base of those that stand before a session and change one
// thing of it. Whoever derives overrides what it changes.
class ForwardingSession : public Session {
public:
    explicit ForwardingSession(Session &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] SessionState state() const override { return m_inner.state(); }
    [[nodiscard]] SessionId id() const override { return m_inner.id(); }
    [[nodiscard]] std::chrono::milliseconds timeout() const override { return m_inner.timeout(); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> connectedAt() const override
    {
        return m_inner.connectedAt();
    }
    Subscription onState(std::function<void(SessionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }

    [[nodiscard]] qsizetype watchedBytes() const override { return m_inner.watchedBytes(); }
    [[nodiscard]] qsizetype watchBudgetBytes() const override { return m_inner.watchBudgetBytes(); }
    [[nodiscard]] int watchCount() const override { return m_inner.watchCount(); }

protected:
    [[nodiscard]] Session &inner() const { return m_inner; }

private:
    Session &m_inner;
};

} // namespace lockscope::zk
