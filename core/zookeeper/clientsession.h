// SPDX-License-Identifier: Apache-2.0
// The session on libzookeeper, as the room's own files see it; everybody else uses openSession().
#pragma once

#include "core/zookeeper/client.h"
#include "core/zookeeper/sendable.h"

#include <zookeeper/zookeeper.h>

namespace lockscope::zk {

class Client;

// The way from libzookeeper's threads into the loop: callbacks copy what they were given and post it.
//
// The C library calls from threads of its own until zookeeper_close() has returned, which is long after
// the session object is gone. So callbacks know only this mailbox, which outlives them and which the
// session closes when it dies: from then on nothing is posted, and what was posted finds nobody.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
public:
    Mailbox(Loop &loop, Client &client) : m_loop(&loop), m_client(&client) {}

    // Any thread. `news` runs in the loop if the session still lives then.
    void post(std::function<void(Client &)> news)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_loop)
            return;
        m_loop->post([self = shared_from_this(), call = std::move(news)] {
            if (self->m_client)
                call(*self->m_client);
        });
    }

    // Any thread. False if the session is gone already: then the caller has to close the handle.
    [[nodiscard]] bool putHandle(zhandle_t *handle)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_loop)
            return false;
        m_handle = handle;
        return true;
    }
    [[nodiscard]] zhandle_t *handle()
    {
        const std::lock_guard lock(m_mutex);
        return m_handle;
    }

    // Loop thread, at the end of the session. Returns the handle that is to be closed, if there is one.
    [[nodiscard]] zhandle_t *close()
    {
        const std::lock_guard lock(m_mutex);
        m_loop = nullptr;
        m_client = nullptr;
        return std::exchange(m_handle, nullptr);
    }

    // Any thread. Calls that the library has not answered yet.
    void callSent() { ++m_callsOut; }
    void callAnswered() { --m_callsOut; }
    [[nodiscard]] bool hasCallsOut() const { return m_callsOut > 0; }

private:
    std::mutex m_mutex;
    std::atomic<int> m_callsOut = 0;
    Loop *m_loop;     // null once closed
    Client *m_client; // touched by the loop's thread only
    zhandle_t *m_handle = nullptr;
};

// The watches of one session: who listens on which path, and how many bytes of paths that makes.
//
// After a reconnect the C client sends every watched path again in a single packet; beyond the server's
// buffer that is an endless loop of reconnects. Hence the budget. Any number of listeners on one path
// and kind share the server's one watch and count once. Loop thread only.
class WatchRegistry {
public:
    // `prefixBytes`: the chroot, which the client puts before every path it sends.
    WatchRegistry(qsizetype budgetBytes, qsizetype prefixBytes)
        : m_budgetBytes(budgetBytes), m_prefixBytes(prefixBytes)
    {
    }

    // Before a read with a watch leaves: books its place. False when the budget does not allow it.
    [[nodiscard]] bool reserve(const ZPath &path, WatchKind kind);
    // The read is answered, and it set the watch (the listener may now be called), or it did not.
    void arm(const ZPath &path, WatchKind kind, Watch listener);
    void release(const ZPath &path, WatchKind kind);

    void fire(const ZPath &path, WatchKind kind, EventKind event);
    // The session is over: everybody is told so.
    void endSession();

    [[nodiscard]] qsizetype bytes() const { return m_bytes; }
    [[nodiscard]] qsizetype budgetBytes() const { return m_budgetBytes; }
    // Paths and kinds that are watched or about to be.
    [[nodiscard]] int count() const { return static_cast<int>(m_slots.size()); }

private:
    struct Key {
        ZPath path;
        WatchKind kind;
        friend bool operator==(const Key &, const Key &) = default;
    };
    struct KeyHash {
        size_t operator()(const Key &key) const { return qHash(key.path, static_cast<size_t>(key.kind)); }
    };
    struct WatchSlot {
        int reserved = 0; // reads under way
        std::vector<Watch> listeners;
    };
    using WatchSlots = std::unordered_map<Key, WatchSlot, KeyHash>;

    [[nodiscard]] qsizetype bytesOf(const ZPath &path) const { return m_prefixBytes + path.bytes().size(); }
    void dropIfEmpty(WatchSlots::iterator at);

    qsizetype m_budgetBytes;
    qsizetype m_prefixBytes;
    qsizetype m_bytes = 0;
    WatchSlots m_slots;
};

// The watch that a read is to set.
struct WatchRequest {
    Watch listener;
    WatchKind kind;
    bool alsoWhenMissing; // exists sets its watch on a missing node, too
};

// A request that is out. Lives in the session, so that nothing of the loop is ever touched by the library's threads.
class Outstanding {
public:
    Outstanding(Attempt attempt, std::optional<WatchRequest> watch)
        : m_attempt(std::move(attempt)), m_watch(std::move(watch))
    {
    }
    virtual ~Outstanding() = default;
    virtual void fail(Error error) = 0;
    [[nodiscard]] const Attempt &attempt() const { return m_attempt; }
    [[nodiscard]] const std::optional<WatchRequest> &watch() const { return m_watch; }

private:
    Attempt m_attempt;
    std::optional<WatchRequest> m_watch;
};

template <class T>
class OutstandingReply : public Outstanding {
public:
    OutstandingReply(Attempt attempt, std::optional<WatchRequest> watch, Reply<T> reply)
        : Outstanding(std::move(attempt), std::move(watch)), m_reply(std::move(reply))
    {
    }
    void fail(Error error) override { m_reply.complete(std::move(error)); }
    void succeed(T value) { m_reply.complete(std::move(value)); }

private:
    Reply<T> m_reply;
};

// What the library hands back to a completion callback, which owns and deletes it.
struct Call {
    Mailbox *mailbox; // outlives the handle
    quint64 id;
};

class Client : public EndPort<Session> {
public:
    Client(Loop &loop, SessionOptions options);
    ~Client() override { endSession(SessionState::Closed); }

    [[nodiscard]] SessionState state() const override { return m_state; }
    [[nodiscard]] SessionId id() const override { return m_id; }
    [[nodiscard]] std::chrono::milliseconds timeout() const override { return m_timeout; }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> connectedAt() const override;

    void send(Request &&request) override;

    [[nodiscard]] qsizetype watchedBytes() const override { return m_watches.bytes(); }
    [[nodiscard]] qsizetype watchBudgetBytes() const override { return m_watches.budgetBytes(); }
    [[nodiscard]] int watchCount() const override { return m_watches.count(); }

    // News from the library, posted through the mailbox.
    void handleOpened();
    void openFailed(const QByteArray &why);
    void stateReported(int libraryState, SessionId id, std::chrono::milliseconds negotiated,
                       std::chrono::system_clock::time_point when);
    void watchFired(const ZPath &path, WatchKind kind, EventKind event) { m_watches.fire(path, kind, event); }
    template <class T>
    void answered(quint64 id, int returnCode, T value)
    {
        if (const auto request = takeAnswered(id, returnCode))
            static_cast<OutstandingReply<T> &>(*request).succeed(std::move(value));
    }
    void multiFailed(quint64 id, int returnCode, std::size_t part, const Attempt &attempt);

private:
    template <class R>
    void submit(Asked<R> &asked);
    [[nodiscard]] Error overError(const Attempt &attempt) const;
    [[nodiscard]] std::optional<Error> sendError(const Attempt &attempt, qsizetype payloadBytes,
                                                 Deadline deadline) const;
    // The request if it succeeded; a failed one has been told so already.
    [[nodiscard]] std::unique_ptr<Outstanding> takeAnswered(quint64 id, int returnCode);
    [[nodiscard]] std::unique_ptr<Outstanding> take(quint64 id);
    void settleWatch(const Outstanding &request, int returnCode);
    void open();
    void applyState();
    void changeState(SessionState state);
    void endSession(SessionState state);

    // As the library last reported it; counts once the handle is ours.
    struct Reported {
        int libraryState = 0;
        SessionId id;
        std::chrono::milliseconds timeout{};
        std::chrono::system_clock::time_point when;
    };

    SessionOptions m_options;
    std::shared_ptr<Mailbox> m_mailbox;
    zhandle_t *m_handle = nullptr; // null until opened and after the end
    SessionState m_state = SessionState::Connecting;
    Reported m_reported;
    SessionId m_id;
    std::chrono::milliseconds m_timeout{};
    WatchRegistry m_watches;
    quint64 m_nextId = 1;
    std::unordered_map<quint64, std::unique_ptr<Outstanding>> m_out;
    std::chrono::milliseconds m_openRetry{250};
    Timer m_openTimer;
};

// What libzookeeper calls: from its own threads, copying only, see Mailbox.
namespace callbacks {

// The handle's context is its Mailbox.
void onSession(zhandle_t *handle, int type, int state, const char *path, void *mailbox);
// One pair of functions with one context for all watches: so the library keeps a single entry per path.
void onDataWatch(zhandle_t *handle, int type, int state, const char *path, void *mailbox);
void onChildWatch(zhandle_t *handle, int type, int state, const char *path, void *mailbox);
void onLog(const char *line);

// `data` is a Call.
void onCreated(int returnCode, const char *path, const ::Stat *stat, const void *data);
void onDone(int returnCode, const void *data);
void onSynced(int returnCode, const char *path, const void *data);
void onNode(int returnCode, const char *value, int length, const ::Stat *stat, const void *data);
void onStat(int returnCode, const ::Stat *stat, const void *data);
void onChildren(int returnCode, const String_vector *names, const ::Stat *stat, const void *data);
void onAcls(int returnCode, ACL_vector *acls, ::Stat *stat, const void *data);
// `data` is a MultiCall.
void onMulti(int returnCode, const void *data);

// ACLs in the library's form, valid as long as this.
class CAcls {
public:
    explicit CAcls(Acls acls);
    Q_DISABLE_COPY(CAcls)
    [[nodiscard]] ::ACL_vector *vector() { return &m_vector; }

private:
    Acls m_acls;
    std::vector<::ACL> m_entries;
    ::ACL_vector m_vector{};
};

// A multi under way: the library writes the results into it. Owned like a Call by its callback.
class MultiCall : public Call {
public:
    MultiCall(Mailbox *mailbox, quint64 id, std::vector<Op> ops, qsizetype prefixBytes);
    [[nodiscard]] int send(zhandle_t *handle);
    [[nodiscard]] std::vector<OpResult> results() const;
    // The part that made the whole fail.
    [[nodiscard]] std::size_t failedPart() const;
    [[nodiscard]] int failedCode(int returnCode) const;
    [[nodiscard]] Attempt attempt(std::size_t part) const { return attemptOf(m_ops[part]); }

private:
    std::vector<Op> m_ops;
    std::deque<CAcls> m_acls;
    std::vector<QByteArray> m_created; // buffers for the paths
    std::vector<::Stat> m_stats;
    std::vector<zoo_op_t> m_parts;
    std::vector<zoo_op_result_t> m_results;
};

[[nodiscard]] int libraryMode(CreateMode mode);

} // namespace callbacks

} // namespace lockscope::zk
