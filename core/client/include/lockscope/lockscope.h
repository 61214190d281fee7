// SPDX-License-Identifier: Apache-2.0
/// @file
/// Distributed locks on ZooKeeper, Redis, MariaDB, MySQL, PostgreSQL and etcd, compatible with the clients whose
/// recipes they are: Curator, kazoo, Redisson, Redlock, etcd's own, and plain SQL.
///
///     #include <lockscope/lockscope.h>
///     #include <lockscope/zookeeper.h>              // links that backend, and no other
///
///     auto client = lockscope::connect("zk://10.0.0.1,10.0.0.2");
///     auto lock = client->lock("/orders/42", "curator-mutex");
///     auto hold = lock->acquire(std::chrono::seconds(10));
///     if (!hold)
///         return report(hold.error().message);
///     hold->onLost([](const lockscope::Error &) { stop(); });
///     write(hold->fencingToken());                  // released at the end of the scope
///
/// **Threads.** All clients of a process share one background thread, which the first connect() starts. It idles
/// while there is no client, and runs until the process ends. Every function may be called from any thread; one
/// object is not to be destroyed while another thread is in one of its functions, acquire() of a Lock excepted.
/// Callbacks run on the background thread. They must not be empty, must not throw and must not block: connect() and
/// acquire() return ErrorCode::Refused there. release() begins, and returns ErrorCode::UnknownOutcome unless its
/// result is known already.
///
/// **Qt.** The library uses Qt Core and Qt Network inside; no header needs Qt. If the process has no
/// QCoreApplication, the background thread makes one, and keeps the locale as it was. A program that uses Qt itself
/// makes its own before the first connect(), and destroys the objects of the library before it.
///
/// **Ownership.** Lock and Hold keep their connection open after the Client is destroyed. The destructor of a Hold
/// waits for its release for at most ConnectOptions::closeTimeout and one second. The last object of a connection
/// waits until that has closed: usually for milliseconds, with a silent server for one or two times closeTimeout,
/// and never for more than six times and one second. On the background thread no destructor waits.
///
/// **The end of the process.** Destroy all objects before main() returns. A static Client outlives what Qt needs,
/// and its destructor may crash the process, as it does on SQL servers. After fork() only the parent has the
/// background thread: the child must not use the library, nor destroy its objects, before it calls exec() or
/// _exit().
#pragma once

#include <lockscope/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

LOCKSCOPE_BEGIN_API

/// The monotonic clock by which deadlines and leases are measured. A change of the wall clock has no influence.
using Clock = std::chrono::steady_clock;

/// How to connect.
struct ConnectOptions {
    /// How long connect() waits for the server.
    std::chrono::milliseconds timeout{15'000};
    /// How long a destructor waits for its release, and the last one for each step of closing the connection.
    std::chrono::milliseconds closeTimeout{2'000};
    /// ZooKeeper: the session timeout that is asked for; the server may choose another.
    std::chrono::milliseconds sessionTimeout{10'000};
    /// Not empty: instead of those of the URI. They never appear in an error.
    std::string user{}, password{};
};

/// How to take a lock. What a recipe does not have is ErrorCode::BadInput.
struct LockOptions {
    /// Read/write recipes: take the read side, which several hold at once.
    bool read = false;
    /// Semaphores: how many may hold it. Empty: one, or, where the server stores the number, that number.
    std::optional<int> limit{};
    /// Redis, etcd and `sql-shedlock`: the length of the lease. It is renewed at each third of it while held, unless
    /// the recipe says otherwise, so it only matters after a crash or an outage. etcd rounds up to seconds.
    std::chrono::milliseconds ttl{30'000};
};

/// A lock that is held. Movable. Destroying it releases.
class LOCKSCOPE_EXPORT Hold {
public:
    Hold(Hold &&other) noexcept;
    Hold &operator=(Hold &&other) noexcept; ///< Releases what this one held before.
    /// Releases, and waits for at most ConnectOptions::closeTimeout; on the background thread it does not wait.
    ~Hold();

    /// What `lockscopectl show` and the desktop app list this hold as: a node, a token, a connection.
    [[nodiscard]] std::string id() const;
    /// A number that only grows from one holder to the next, for the resource to refuse older ones by. Empty where
    /// the recipe has none.
    [[nodiscard]] std::optional<std::int64_t> fencingToken() const;
    /// How many releases in a row came too late before this: optimistic recipes only, else 0.
    [[nodiscard]] int conflicts() const;

    /// Whether it is held as far as this process can know. False for good once it was released or lost. Leases
    /// (Redis, etcd, `sql-shedlock`): false not later than the lease's end by the local Clock, less a margin of 1 %
    /// for clock drift, even if the background thread is not scheduled. ZooKeeper: false when the session expired or
    /// the connection was down for so long that it may have. SQL: false when the connection is found broken. A
    /// process that was stopped may get true for a moment after it continues on ZooKeeper and SQL. After a suspended
    /// machine wakes up leases may do so, too, for the local Clock stops meanwhile. Fence writes by token.
    [[nodiscard]] bool isHeld() const;
    /// Calls `callback` once, on the background thread, when the hold is lost: session expired, lease ended, node,
    /// key or row deleted by another client, connection broken. At once if it is lost already. Not called once
    /// release() or the destructor has begun. A second call replaces the first callback.
    void onLost(std::function<void(const Error &)> callback);

    /// Releases it and waits for the server. Returns at most one second after `timeout`. Further calls send nothing
    /// and return the same result. ErrorCode::NotHeld if it was lost before, ErrorCode::Conflict if an optimistic
    /// lock was overtaken. ErrorCode::UnknownOutcome if the server did not answer: the release continues in the
    /// background, and the session or lease ends the hold at the latest, where the recipe has one.
    Result<void> release(std::chrono::milliseconds timeout = std::chrono::seconds(10));

    struct State;
    explicit Hold(std::unique_ptr<State> state); ///< For the library.

private:
    std::unique_ptr<State> m_state;
};

/// One contender for one lock, as a thread is one for other clients: one acquire at a time; two Lock objects of the
/// same name exclude each other. Movable. A Hold outlives its Lock.
class LOCKSCOPE_EXPORT Lock {
public:
    Lock(Lock &&other) noexcept;
    Lock &operator=(Lock &&other) noexcept; ///< Cancels an acquire of the one before.
    /// Cancels an acquire that waits, asynchronous ones included. Does not release a Hold.
    ~Lock();

    /// Waits until it is held or the deadline passes; Clock::time_point::max() is no deadline, and a deadline in the
    /// past tries once. Returns at most two seconds after the deadline, also if the server vanished. While it is
    /// held by this object: once more of reentrant recipes, which then takes as many releases; else
    /// ErrorCode::BadInput. Before an error is returned, what was made on the server is deleted again, or
    /// ErrorCode::UnknownOutcome says that this is not confirmed yet.
    Result<Hold> acquire(Clock::time_point deadline = Clock::time_point::max());
    /// The same with a span from now. More than a year is no deadline.
    Result<Hold> acquire(std::chrono::milliseconds wait);

    /// Returns at once. The future becomes ready like acquire() returns; dropping it releases what it holds.
    [[nodiscard]] std::future<Result<Hold>> acquireAsync(Clock::time_point deadline = Clock::time_point::max());
    /// The same with a callback, which is called once, on the background thread.
    void acquireAsync(Clock::time_point deadline, std::function<void(Result<Hold>)> callback);

    /// Ends an acquire that waits with ErrorCode::Cancelled. Nothing happens if none does, or if it is held already.
    void cancel();

    struct State;
    explicit Lock(std::unique_ptr<State> state); ///< For the library.

private:
    std::unique_ptr<State> m_state;
};

/// A connection. Locks on ZooKeeper share its session, those on Redis and etcd its connection; each lock on a SQL
/// server has a connection of its own. It reconnects by itself; a session that expired is replaced at the next
/// acquire. Movable.
class LOCKSCOPE_EXPORT Client {
public:
    Client(Client &&other) noexcept;
    Client &operator=(Client &&other) noexcept;
    ~Client();

    /// A lock of that name. Sends nothing. `recipe` is an ID of `lockscopectl recipes`; empty: `zk-mutex` on
    /// ZooKeeper and `etcd-mutex` on etcd, and ErrorCode::BadInput elsewhere. Names: a ZooKeeper path, a Redis key, a
    /// prefix of etcd keys, and on SQL servers `schema.table#column=value`, `GET_LOCK#name`, `ADVISORY#number`.
    /// ErrorCode::BadInput or ErrorCode::Unsupported if the recipe cannot be acquired here; a bad name is reported by
    /// acquire().
    [[nodiscard]] Result<Lock> lock(std::string name, std::string recipe = {}, LockOptions options = {});
    /// The IDs that lock() accepts here.
    [[nodiscard]] std::vector<std::string> recipes() const;

    struct State;
    explicit Client(std::unique_ptr<State> state); ///< For the library.

private:
    std::unique_ptr<State> m_state;
};

/// Connects, and waits until that succeeded or failed. `uri` is as in `lockscopectl --connect` (docs/connections.md):
/// `zk://host:2181/chroot`, `redis://host`, `redis://a,b,c` for Redlock, `rediss+cluster://…`, `etcd://host`,
/// `mariadb://user@host/database`, `postgresql://user@host/database`, with `?tls=on`, `?ssh=…` and the like. An
/// optional `NAME=` before it is ignored. The backend's header must be included in the program.
LOCKSCOPE_EXPORT Result<Client> connect(const std::string &uri, const ConnectOptions &options = {});

/// The version of the library that is linked at run time: "0.1.0". LOCKSCOPE_CLIENT_VERSION is that of the headers.
[[nodiscard]] LOCKSCOPE_EXPORT const char *version();

LOCKSCOPE_END_API
