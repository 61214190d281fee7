// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper ensemble: a leader (member 0) and its followers, their znodes, sessions and watches, on
// the world's time. What sessions do goes over links (openSession()); the functions below are for whoever directs the
// world: they act at once, and past every access list.
//
// Not simulated: elections (a member that is down is one that cannot be reached) and pings one by one. The
// ensemble outlives the sessions on it, and nothing of the world runs any more when it is gone.
#pragma once

#include "core/simservers/network.h"
#include "core/zookeeper/session.h"

#include <list>
#include <string_view>

namespace lockscope::sim::zookeeper {

// What travels between a simulated session and the simulated servers: ZooKeeper's requests, answers and
// notifications as values, with the numbers of the protocol for what went wrong.
enum class Code : int {
    Ok = 0,
    ConnectionLoss = -4,
    BadArguments = -8,
    NoNode = -101,
    NoAuth = -102,
    BadVersion = -103,
    NoChildrenForEphemerals = -108,
    NodeExists = -110,
    NotEmpty = -111,
    InvalidAcl = -114,
    AuthFailed = -115,
    Closing = -116,
};

enum class Verb { Create, Remove, Get, Set, Exists, Children, Multi, Check, Sync, Acls, SetAcls, AddAuth, Close };

struct Request {
    Verb verb = Verb::Check;
    ZPath path;
    QByteArray data; // AddAuth: the credentials, with the scheme as the path
    zk::CreateMode mode = zk::CreateMode::Persistent;
    std::chrono::milliseconds timeToLive{};
    zk::Acls acls;
    qint32 version = zk::anyVersion;
    bool watches = false;
    std::vector<Request> parts;
};

struct Answer {
    Code code = Code::Ok;
    qint64 zxid = 0; // the last one that the server had applied
    ZPath path;
    QByteArray data;
    zk::Stat stat;
    zk::NameList names;
    zk::Acls acls;
    std::vector<zk::OpResult> results;
    std::size_t failedPart = 0;
};

// The first thing said on a connection.
struct Hello {
    zk::SessionId session; // none: a new one
    std::chrono::milliseconds timeout{};
    qint64 lastZxidSeen = 0;
    std::vector<std::pair<QByteArray, QByteArray>> credentials; // scheme, secret
    std::vector<ZPath> dataWatches, missingWatches, childWatches;
};
struct Welcome {
    zk::SessionId session; // none: it has expired
    std::chrono::milliseconds timeout{};
};

// The client's end of a connection. Called on its process.
class Receiver {
public:
    virtual ~Receiver() = default;
    virtual void welcomed(const Welcome &welcome) = 0;
    virtual void answered(quint64 number, Answer &&answer) = 0;
    virtual void notified(const zk::WatchEvent &event) = 0;
};

// The znodes as one server keeps them: names, data and every field of a Stat, changed by transactions that
// have been found good before (ensemble.h).

// The names of a znode's children, as they were made, ready to be listed again and again: a list is a window on
// them. Queues come at the end and go at the front, which moves the window; what goes elsewhere spoils the log,
// and it is written anew before the next list.
class NameLog {
public:
    void append(const NodeName &name);
    void remove(const NodeName &name);
    // Not what is listed next: it has to be written anew.
    void spoil() { m_isStale = true; }
    [[nodiscard]] bool isStale() const { return m_isStale; }
    void renew(std::vector<NodeName> names);
    // Only when not stale.
    [[nodiscard]] zk::NameList list() const { return {m_names, m_begin, m_names->size(), m_ascends}; }

private:
    using Names = std::vector<NodeName>;
    std::shared_ptr<Names> m_names = std::make_shared<Names>(); // what was listed is never changed
    std::size_t m_begin = 0;
    bool m_isStale = false;
    bool m_ascends = true;
    qint64 m_lastNumber = -1; // while it ascends
};

enum class NodeKind : quint8 { Persistent, Ephemeral, Container, TimeToLive };
using SharedAcls = std::shared_ptr<const zk::Acls>;
// What nearly every node has, kept once.
[[nodiscard]] const SharedAcls &openAcls();

struct Family;

struct Znode : OnFreeList {
    Znode();
    ~Znode();

    Znode *parent = nullptr;                    // null: the root
    Znode *older = nullptr, *younger = nullptr; // siblings, as they were made
    Znode *before = nullptr, *after = nullptr;  // the same session's, as they were made
    QByteArray name;
    QByteArray data;
    SharedAcls acls;
    qint64 czxid = 0, mzxid = 0, pzxid = 0;
    std::chrono::milliseconds ctime{}, mtime{};
    std::chrono::milliseconds timeToLive{};
    quint64 owner = 0;  // the session, of an ephemeral node
    quint64 serial = 0; // counts the nodes of the tree as they were made
    qint32 version = 0;
    qint32 creates = 0; // children ever made: the next sequence number
    qint32 aversion = 0;
    NodeKind kind = NodeKind::Persistent;
    std::unique_ptr<Family> family; // null until it has a child

    [[nodiscard]] qint32 childCount() const;
    [[nodiscard]] ZPath path() const;
    [[nodiscard]] zk::Stat stat() const;
    // In the order in which they were made.
    [[nodiscard]] zk::NameList childNames() const;
    [[nodiscard]] const Znode *eldestChild() const;
};

struct Family {
    freelist::UnorderedMap<std::string_view, std::unique_ptr<Znode>> byName; // the view is of the child's own name
    Znode *eldest = nullptr, *youngest = nullptr;
    NameLog names;
};

// One thing that a transaction does.
struct Change {
    enum class Kind { Create, Remove, SetData, SetAcls };
    Kind kind = Kind::Remove;
    ZPath path;
    QByteArray data;
    SharedAcls acls;       // the node's: the new ones, or those it has
    SharedAcls parentAcls; // both decide who is told; the parent's not where it is of no concern
    NodeKind nodeKind = NodeKind::Persistent;
    quint64 owner = 0;
    std::chrono::milliseconds timeToLive{};
    qint32 version = 0; // new: of the data, of the access list; Create: the parent's counter
};
struct Stamp {
    qint64 zxid = 0;
    std::chrono::milliseconds time{}; // since the epoch, by the leader's clock
};

class Tree {
public:
    // With what every server has: /zookeeper and its children.
    Tree();

    [[nodiscard]] Znode *find(const ZPath &path) { return findBytes(path.bytes()); }
    [[nodiscard]] const Znode *find(const ZPath &path) const { return const_cast<Tree *>(this)->find(path); }
    [[nodiscard]] Znode &root() { return m_root; }
    // Where that is, or would be; the root's is the root.
    [[nodiscard]] Znode *parentOf(const ZPath &path);

    // What takes the changes back again, the last one first.
    using Undo = std::vector<std::function<void()>>;
    void apply(const Change &change, Stamp stamp, Undo *undo = nullptr);

    using BySerial = std::map<quint64, Znode *>;
    // As they were made.
    [[nodiscard]] std::vector<ZPath> ephemeralsOf(quint64 session) const;
    // Containers and nodes with a time to live.
    [[nodiscard]] const BySerial &mortals() const { return m_mortals; }
    [[nodiscard]] qint64 count() const { return m_count; }

private:
    [[nodiscard]] Znode *findBytes(QByteArrayView path);
    void create(const Change &change, Stamp stamp, Undo *undo);
    void remove(const Change &change, Stamp stamp, Undo *undo);
    void setData(const Change &change, Stamp stamp, Undo *undo);
    void setAcls(const Change &change, Undo *undo);
    void addBuiltin(Znode &parent, const char *name);
    void enroll(Znode *node);
    void applyFault(Znode *node);
    void attach(Znode &parent, std::unique_ptr<Znode> node);
    [[nodiscard]] std::unique_ptr<Znode> detach(Znode *node);

    Znode m_root;
    freelist::UnorderedMap<quint64, Znode *> m_ephemerals; // the last one of each session
    BySerial m_mortals;
    quint64 m_lastSerial = 0;
    qint64 m_count = 1;
};

// What a server does with one request, looking at its tree only: which change it makes or why it is refused,
// in the order in which the real server asks, and what a read answers.

// Who may do what: ZooKeeper's access lists with the schemes world, digest, ip and auth.
struct Identity {
    QByteArray scheme;
    QByteArray id;
    friend bool operator==(const Identity &, const Identity &) = default;
};
using Identities = std::vector<Identity>;

// What these credentials prove; none for a scheme that the servers do not know.
[[nodiscard]] std::optional<Identity> identify(const QByteArray &scheme, const QByteArray &credentials);
[[nodiscard]] bool isAllowed(const zk::Acls &acls, int permissions, const Identities &who);
// As it is stored: "auth" replaced by who asks. None if the servers do not take it.
[[nodiscard]] std::optional<zk::Acls> fixedUp(const zk::Acls &acls, const Identities &who);
// As it is shown to who may not change it.
[[nodiscard]] zk::Acls withoutSecrets(zk::Acls acls);

struct Caller {
    quint64 session = 0;
    const Identities *identities = nullptr;
};

struct Verdict {
    Code code = Code::Ok;
    std::optional<Change> change; // a check makes none
};
// Create, Remove, Set, SetAcls, Check.
[[nodiscard]] Verdict judge(Tree &tree, const Request &request, const Caller &caller);
// Of the node of that path.
[[nodiscard]] Change removalOf(const Znode &node, const ZPath &path);
// Get, Exists, Children, Acls; the watch is not its business. `existsNeedsRead`: it is of a version that asks.
[[nodiscard]] Answer read(const Tree &tree, const Request &request, const Identities &who, bool existsNeedsRead);

[[nodiscard]] bool isWrite(Verb verb);

// Takes away containers that were used and are empty, and nodes whose time to live is over. The servers look at them
// again and again; here they are looked at when there may be something to do.
class Reaper {
public:
    // The leader's tree, and its wall clock. `remove` is a transaction of its own.
    Reaper(VirtualLoop &world, const Tree &tree, Duration interval,
           std::function<std::chrono::milliseconds()> wallNow, std::function<void(const ZPath &)> remove)
        : m_world(world), m_tree(tree), m_interval(interval), m_wallNow(std::move(wallNow)),
          m_remove(std::move(remove))
    {
    }

    void noteChange(const Change &change);
    void lookAgain(); // the clock has jumped

private:
    void plan(Instant due);
    void reap();

    VirtualLoop &m_world;
    const Tree &m_tree;
    const Duration m_interval;
    const std::function<std::chrono::milliseconds()> m_wallNow;
    const std::function<void(const ZPath &)> m_remove;
    std::optional<Instant> m_dueAt;
    Timer m_timer;
};

// Who watches what on one server: the connections, by path. A watch fires once; a connection that watches a
// path twice is told once. Connections that are gone are left in place until the list is used or grows.
class WatchLists {
public:
    using IsOpen = std::function<bool(quint64 connection)>;
    explicit WatchLists(IsOpen isOpen) : m_isOpen(std::move(isOpen)) {}

    void add(const ZPath &path, quint64 connection);
    // Those that are to be told, as they connected, also who is gone since; the list is empty afterwards.
    [[nodiscard]] std::vector<quint64> take(const ZPath &path);
    [[nodiscard]] bool isEmpty() const { return m_lists.empty(); }
    // Of open connections, each once.
    [[nodiscard]] std::vector<quint64> of(const ZPath &path) const;
    // Of open connections, each counted once per path.
    [[nodiscard]] qint64 count() const;

private:
    static constexpr std::size_t leastTidy = 16;
    struct List {
        std::vector<quint64> watchers;
        std::size_t tidyAt = leastTidy;
    };
    // Sorted, each once.
    static void sort(std::vector<quint64> &watchers);
    void tidy(std::vector<quint64> &watchers) const;

    IsOpen m_isOpen;
    // Never walked where the order would show.
    using Lists = freelist::UnorderedMap<ZPath, List>;
    Lists m_lists;
    Lists::value_type *m_last = nullptr; // added to last: that of a herd is added to again and again
    std::size_t m_tidyAt = leastTidy;    // of a new list: a herd comes back as large as it was told last
};

// What a client that connects again watches there: what it is told of at once, since it has changed after the last
// that it heard of; the rest is watched again.
[[nodiscard]] std::vector<zk::WatchEvent> watchAgain(const Hello &hello, quint64 connection, const Tree &tree,
                                                     WatchLists &data, WatchLists &children);

struct EnsembleOptions {
    int members = 1;
    int firstServer = 0;                               // member i is server firstServer + i of the network
    std::chrono::milliseconds tick{2'000};             // sessions last 2 to 20 ticks and expire on one
    std::chrono::milliseconds reapingInterval{60'000}; // of containers and nodes whose time has passed
    bool existsNeedsRead = false;                      // as from 3.9.3 on (ZOOKEEPER-2590)
};

class Ensemble;

// The servers' end of a connection. What is called on it has arrived.
class Connection : public EnableLocalShared<Connection> {
public:
    void greet(const Hello &hello);
    void receive(quint64 number, const Request &request);

private:
    friend class Ensemble;
    void add(Identity identity);
    struct Waiting {
        qint64 zxid; // goes on when the member has applied it
        Call goOn;
    };

    Ensemble *m_ensemble = nullptr; // null when it is over
    quint64 m_number = 0;
    int m_member = 0;
    quint64 m_session = 0;
    bool m_isSilent = false; // as its session is
    LocalShared<NetworkLink> m_link;
    LocalWeak<Receiver> m_client;
    std::shared_ptr<const Identities> m_identities; // nearly all have the same
    std::unique_ptr<std::list<Waiting>> m_waiting;  // behind a write or a sync, in their order; none: nothing
};

class Ensemble {
public:
    Ensemble(Network &network, EnsembleOptions options);
    ~Ensemble();
    Q_DISABLE_COPY(Ensemble)

    [[nodiscard]] Network &network() const { return m_network; }
    [[nodiscard]] int memberCount() const { return static_cast<int>(m_members.size()); }
    [[nodiscard]] int serverOf(int member) const { return m_options.firstServer + member; }
    // For sessions: until when they wait for answers.
    [[nodiscard]] DueTimes &dueTimes() { return m_dueTimes; }
    // For sessions: the end of a link that has just been made to that member.
    [[nodiscard]] LocalShared<Connection> accept(int member, LocalShared<NetworkLink> link,
                                                 LocalWeak<Receiver> client);

    // As that member has it; the leader has all that was decided.
    [[nodiscard]] std::optional<zk::Node> node(const ZPath &path, int member = 0) const;
    // Everything below it, parents first, siblings as they were made.
    [[nodiscard]] std::vector<ZPath> below(const ZPath &path, int member = 0) const;
    // Whose connections wait to be told of it, on whichever member; of its children, of itself.
    [[nodiscard]] std::vector<zk::SessionId> watchersOf(const ZPath &path, bool ofChildren) const;
    // False if it does not exist or has children.
    bool removeByForce(const ZPath &path);
    bool expire(zk::SessionId session);
    [[nodiscard]] std::vector<zk::SessionId> sessions() const;
    // Without a majority nobody is served, and no session expires: a new leader gives each its whole time again. The
    // members that cannot be reached are the network's.
    void setServing(bool isServing);
    [[nodiscard]] bool isServing() const { return m_isServing; }
    // The last change that this member has applied.
    [[nodiscard]] qint64 appliedBy(int member) const { return m_members[std::size_t(member)].applied; }
    // A follower applies what the leader has decided that much later.
    void setLag(int member, Duration lag);
    // Of the servers' wall clock: what ctime and mtime say and a time to live counts by. Sessions do not notice.
    void jumpClock(std::chrono::milliseconds by);
    // As if that many children of it had been made already.
    void presetCounter(const ZPath &path, qint32 creates);

    [[nodiscard]] qint64 nodeCount() const { return m_members.front().tree.count(); }
    [[nodiscard]] qint64 watchCount() const;
    [[nodiscard]] qint64 requestCount() const { return m_requests; }
    [[nodiscard]] qint64 eventCount() const { return m_events; }

private:
    friend class Connection;
    struct Transaction {
        Instant at{};
        Stamp stamp;
        std::vector<Change> changes;
    };
    struct Member {
        explicit Member(const WatchLists::IsOpen &isOpen) : data(isOpen), children(isOpen) {}
        Tree tree;
        WatchLists data, children;
        qint64 applied = 0;
        Duration lag{};
        std::deque<std::shared_ptr<const Transaction>> behind; // not applied yet
        Timer catchUp;
        std::set<quint64> waiting; // connections
    };
    struct Session {
        std::chrono::milliseconds timeout{};
        LocalShared<Connection> connection;
        bool isSilent = false;
        Timer expiry;
    };

    // Connections and sessions.
    void greet(Connection &connection, const Hello &hello);
    void receive(Connection &connection, quint64 number, const Request &request);
    void openSession(Connection &connection, const Hello &hello);
    void attach(Connection &connection, quint64 session);
    void drop(Connection &connection);
    void watchSilence(quint64 session, bool hasJustSpoken);
    void endSession(quint64 session);
    void sendWelcome(Connection &connection, const Welcome &welcome);
    void sendAnswer(Connection &connection, quint64 number, Answer &&answer);
    void sendEvent(Connection &connection, zk::EventKind kind, const ZPath &path);

    // Requests.
    void serve(Connection &connection, quint64 number, const Request &request);
    [[nodiscard]] Answer answerTo(Connection &connection, const Request &request);
    [[nodiscard]] Answer addAuth(Connection &connection, const Request &request);
    [[nodiscard]] Answer execute(const Request &request, const Caller &caller);
    [[nodiscard]] Answer executeAll(const Request &request, const Caller &caller);
    // Whether nothing that this connection asked before waits, and its member has applied that transaction.
    [[nodiscard]] bool isReady(const Connection &connection, qint64 zxid)
    {
        return !connection.m_waiting && memberOf(connection).applied >= zxid;
    }
    void orderly(Connection &connection, qint64 zxid, Call goOn);
    [[nodiscard]] Stamp newStamp() { return {++m_zxid, wallNow()}; }
    // What the leader's tree has taken already.
    void publish(Transaction transaction);
    void commitRemovals(const std::vector<ZPath> &paths);
    void catchUp(int member);
    void announce(Member &member, const Change &change);
    void tell(const std::vector<quint64> &connections, zk::EventKind kind, const ZPath &path, const zk::Acls &acls);
    void goOnWaiting(Member &member);

    [[nodiscard]] std::chrono::milliseconds wallNow() const;

    Member &leader() { return m_members.front(); }
    Member &memberOf(const Connection &connection)
    {
        return m_members[static_cast<std::size_t>(connection.m_member)];
    }
    [[nodiscard]] VirtualLoop &world() const { return m_network.world(); }

    Network &m_network;
    const EnsembleOptions m_options;
    DueTimes m_dueTimes;
    std::deque<Member> m_members; // the leader first
    freelist::UnorderedMap<quint64, Session> m_sessions;
    freelist::UnorderedMap<quint64, LocalShared<Connection>> m_connections;
    quint64 m_lastConnection = 0, m_lastSession = 0;
    qint64 m_zxid = 0;
    std::chrono::milliseconds m_clockOffset{0};
    std::optional<Reaper> m_reaper;
    bool m_isServing = true;
    qint64 m_requests = 0, m_events = 0;
};

// A ZooKeeper session of the simulated world: the whole port, over a link to the ensemble, on a process that can
// be paused and killed. It behaves as the session on libzookeeper (core/zookeeper/client.h) does.

struct SessionOptions {
    std::chrono::milliseconds timeout{10'000};
    QByteArray user; // digest auth when not empty
    QByteArray password;
    qsizetype watchBudgetBytes = 512 * 1024;
    std::optional<int> member; // to begin with; none: drawn
    // Between two attempts to connect, drawn from this range.
    Duration retryLeast = std::chrono::milliseconds(20);
    Duration retryMost = std::chrono::milliseconds(200);
    Random random{1};
};

// Returns at once, in state Connecting. The process and the ensemble outlive the session; a session on a process
// that was killed may be destroyed afterwards.
[[nodiscard]] std::unique_ptr<zk::Session> openSession(Process &process, Ensemble &ensemble, SessionOptions options);

} // namespace lockscope::sim::zookeeper
