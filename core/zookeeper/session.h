// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper port: what recipes, the inspector and the gate see of a session.
//
// Every request is sent when it is called (so that create and list can leave together) and answered
// through the returned Reply. Requests of one session are answered in the order they were sent.
// Errors: UnknownOutcome when the connection broke or the deadline passed while the request was out
// (it may have happened), NotConnected when nothing was sent, SessionExpired when the session is
// over, AuthFailed when the server refused the credentials. All members: loop thread only.
#pragma once

#include "core/async/port.h"
#include "core/base/bytes.h"

#include <QMetaType>

namespace lockscope::zk {

// The names of a node's children, as one answer listed them.
//
// A window on names that are shared, so that copying a list of 100,000 costs nothing: a server that hands out one
// list after another (the simulated one) only appends behind the windows it gave away. From a real server the
// list is alone with its names. Not to be read while somebody appends on another thread.
class NameList {
public:
    using Names = std::vector<NodeName>;
    using const_iterator = Names::const_iterator;
    using value_type = NodeName;

    NameList() = default;
    NameList(Names names) : m_names(std::make_shared<const Names>(std::move(names))), m_end(m_names->size()) {}
    // The names from `begin` on, before `end`. `ascends`: see below.
    NameList(std::shared_ptr<const Names> names, std::size_t begin, std::size_t end, bool ascends)
        : m_names(std::move(names)), m_begin(begin), m_end(end), m_ascends(ascends)
    {
    }

    NameList(const NameList &) = default;
    NameList &operator=(const NameList &) = default;
    // What was moved from is empty. An answer is moved a dozen times on its way.
    NameList(NameList &&other) noexcept
        : m_names(std::move(other.m_names)), m_begin(std::exchange(other.m_begin, 0)),
          m_end(std::exchange(other.m_end, 0)), m_ascends(std::exchange(other.m_ascends, false))
    {
    }
    NameList &operator=(NameList &&other) noexcept
    {
        NameList moved(std::move(other));
        m_names.swap(moved.m_names);
        m_begin = moved.m_begin;
        m_end = moved.m_end;
        m_ascends = moved.m_ascends;
        return *this;
    }

    [[nodiscard]] const_iterator begin() const { return all().begin() + std::ptrdiff_t(m_begin); }
    [[nodiscard]] const_iterator end() const { return all().begin() + std::ptrdiff_t(m_end); }
    [[nodiscard]] std::size_t size() const { return m_end - m_begin; }
    [[nodiscard]] bool empty() const { return m_end == m_begin; }
    [[nodiscard]] const NodeName &operator[](std::size_t i) const { return (*m_names)[m_begin + i]; }
    [[nodiscard]] const NodeName &front() const { return (*this)[0]; }
    [[nodiscard]] const NodeName &back() const { return (*this)[size() - 1]; }
    [[nodiscard]] Names toVector() const { return {begin(), end()}; }
    // Known to be so: every name ends with a sequence number, none of them negative, each greater than the one
    // before. False says nothing.
    [[nodiscard]] bool ascends() const { return m_ascends; }

private:
    [[nodiscard]] const Names &all() const
    {
        static const Names none;
        return m_names ? *m_names : none;
    }

    std::shared_ptr<const Names> m_names; // null: none
    std::size_t m_begin = 0, m_end = 0;
    bool m_ascends = false;
};

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
// listens any more; the server keeps its side until it fires.
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

// Every request there is, as a value. Its verb is that of messages: cannot read "/locks/orders". It is a write when
// it changes what others see; of a transaction its parts say so.

struct CreateRequest {
    using Answer = Created;
    static constexpr const char *verb = "create";
    static constexpr bool isWrite = true;
    ZPath path;
    QByteArray data;
    CreateMode mode = CreateMode::Persistent;
    Acls acls;
    std::optional<std::chrono::milliseconds> timeToLive{}; // for the modes with a TTL, which need one
};
struct RemoveRequest {
    using Answer = bool;
    static constexpr const char *verb = "delete";
    static constexpr bool isWrite = true;
    ZPath path;
    qint32 version = anyVersion;
};
struct GetRequest {
    using Answer = Node;
    static constexpr const char *verb = "read";
    static constexpr bool isWrite = false;
    ZPath path;
    std::optional<Watch> watch;
};
struct SetRequest {
    using Answer = Stat;
    static constexpr const char *verb = "write";
    static constexpr bool isWrite = true;
    ZPath path;
    QByteArray data;
    qint32 version = anyVersion;
};
struct ExistsRequest {
    using Answer = Stat;
    static constexpr const char *verb = "look for";
    static constexpr bool isWrite = false;
    ZPath path;
    std::optional<Watch> watch;
};
struct ChildrenRequest {
    using Answer = Children;
    static constexpr const char *verb = "list";
    static constexpr bool isWrite = false;
    ZPath path;
    std::optional<Watch> watch;
};
struct MultiRequest {
    using Answer = std::vector<OpResult>;
    static constexpr const char *verb = "change";
    std::vector<Op> ops;
};
struct SyncRequest {
    using Answer = bool;
    static constexpr const char *verb = "sync";
    static constexpr bool isWrite = false;
    ZPath path;
};
struct AclsRequest {
    using Answer = NodeAcls;
    static constexpr const char *verb = "read the ACL of";
    static constexpr bool isWrite = false;
    ZPath path;
};
struct SetAclsRequest {
    using Answer = bool;
    static constexpr const char *verb = "set the ACL of";
    static constexpr bool isWrite = true;
    ZPath path;
    Acls acls;
    qint32 version = anyVersion;
};
struct AddAuthRequest {
    using Answer = bool;
    static constexpr const char *verb = "add credentials of the scheme";
    static constexpr bool isWrite = false;
    QByteArray scheme, credentials;
};

// The request's watch, where it is a read that has one.
template <class R>
[[nodiscard]] const std::optional<Watch> &watchOf(const R &request)
{
    if constexpr (requires { request.watch; }) {
        return request.watch;
    } else {
        static const std::optional<Watch> none;
        return none;
    }
}

class Session : public Port<SessionState, CreateRequest, RemoveRequest, GetRequest, SetRequest, ExistsRequest,
                            ChildrenRequest, MultiRequest, SyncRequest, AclsRequest, SetAclsRequest, AddAuthRequest> {
public:
    [[nodiscard]] virtual SessionId id() const = 0;                      // none until connected
    [[nodiscard]] virtual std::chrono::milliseconds timeout() const = 0; // as negotiated
    // When the present connection was made, by our wall clock; empty while not connected and in worlds
    // without one. Beside the server's own word for that moment (`cons`) it tells how far its clock is off.
    [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> connectedAt() const { return {}; }

    // BadInput for the modes with a TTL.
    Reply<Created> create(ZPath path, QByteArray data, CreateMode mode, Acls acls, Deadline deadline)
    {
        return ask(CreateRequest{std::move(path), std::move(data), mode, std::move(acls)}, deadline);
    }
    // For the modes with a TTL, BadInput for the others and for a TTL below 1 ms or above 2^40 - 1 ms.
    // Unsupported where the server does not know them (its setting extendedTypesEnabled).
    Reply<Created> createWithTtl(ZPath path, QByteArray data, CreateMode mode, std::chrono::milliseconds timeToLive,
                                 Acls acls, Deadline deadline)
    {
        return ask(CreateRequest{std::move(path), std::move(data), mode, std::move(acls), timeToLive}, deadline);
    }
    Reply<bool> remove(ZPath path, qint32 version, Deadline deadline)
    {
        return ask(RemoveRequest{std::move(path), version}, deadline);
    }
    Reply<Node> get(ZPath path, std::optional<Watch> watch, Deadline deadline)
    {
        return ask(GetRequest{std::move(path), std::move(watch)}, deadline);
    }
    Reply<Stat> set(ZPath path, QByteArray data, qint32 version, Deadline deadline)
    {
        return ask(SetRequest{std::move(path), std::move(data), version}, deadline);
    }
    // NoNode is an answer like another; with a watch it then fires on creation.
    Reply<Stat> exists(ZPath path, std::optional<Watch> watch, Deadline deadline)
    {
        return ask(ExistsRequest{std::move(path), std::move(watch)}, deadline);
    }
    Reply<Children> children(ZPath path, std::optional<Watch> watch, Deadline deadline)
    {
        return ask(ChildrenRequest{std::move(path), std::move(watch)}, deadline);
    }
    Reply<std::vector<OpResult>> multi(std::vector<Op> ops, Deadline deadline)
    {
        return ask(MultiRequest{std::move(ops)}, deadline);
    }
    // What is read after it is no older than the leader's state when it was sent.
    Reply<bool> sync(ZPath path, Deadline deadline) { return ask(SyncRequest{std::move(path)}, deadline); }
    Reply<NodeAcls> acls(ZPath path, Deadline deadline) { return ask(AclsRequest{std::move(path)}, deadline); }
    Reply<bool> setAcls(ZPath path, Acls acls, qint32 version, Deadline deadline)
    {
        return ask(SetAclsRequest{std::move(path), std::move(acls), version}, deadline);
    }
    // Succeeds with any digest password: ZooKeeper checks only against ACLs, node by node.
    Reply<bool> addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline)
    {
        return ask(AddAuthRequest{std::move(scheme), std::move(credentials)}, deadline);
    }

    // Watched path bytes now, and the most allowed (reads with a watch beyond it fail with
    // BudgetExceeded; the client re-sends all watches in one packet after a reconnect).
    [[nodiscard]] virtual qsizetype watchedBytes() const = 0;
    [[nodiscard]] virtual qsizetype watchBudgetBytes() const = 0;
    [[nodiscard]] virtual int watchCount() const = 0;
};

class ForwardingSession : public Forwarding<Session> {
public:
    using Forwarding::Forwarding;

    [[nodiscard]] SessionId id() const override { return inner().id(); }
    [[nodiscard]] std::chrono::milliseconds timeout() const override { return inner().timeout(); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> connectedAt() const override
    {
        return inner().connectedAt();
    }
    [[nodiscard]] qsizetype watchedBytes() const override { return inner().watchedBytes(); }
    [[nodiscard]] qsizetype watchBudgetBytes() const override { return inner().watchBudgetBytes(); }
    [[nodiscard]] int watchCount() const override { return inner().watchCount(); }
};

} // namespace lockscope::zk
