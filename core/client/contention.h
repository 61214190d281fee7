// SPDX-License-Identifier: Apache-2.0
// A contender for a lock and its holds, between the loop and the threads of the program. Failures are those of the
// public interface from here on.
#pragma once

#include "core/client/iothread.h"
#include "core/client/server.h"
#include "core/recipes/lockbase.h"

#define LOCKSCOPE_CLIENT_INTERNAL // lockscope::Error is the core's here, and lockscope::v0::Error the public one
#include <lockscope/lockscope.h>

namespace lockscope::client {

[[nodiscard]] v0::Error publicError(const Error &error);

// The server of one client, with all that leads to it. Lives on the loop.
struct Connection {
    IoThread &thread;
    std::unique_ptr<Server> server;
    std::chrono::milliseconds closeTime;
};

class Contention;

// One hold, as both sides see it.
class Held {
public:
    Held(recipes::Grant grant, bool isLease) : m_grant(std::move(grant)), m_isLease(isLease) {}

    // Any thread.
    [[nodiscard]] const recipes::Grant &grant() const { return m_grant; }
    // Takes it for lost if its lease is over by now: true for that one call.
    [[nodiscard]] bool isHeld(bool &hasLapsed);
    [[nodiscard]] std::shared_future<v0::Result<void>> released() const { return m_released; }
    // Whether this call is the first.
    [[nodiscard]] bool beginRelease() { return !m_isReleasing.exchange(true); }

    // Loop thread.
    void extend(Instant validUntil) { m_validUntil = validUntil.time_since_epoch().count(); }
    void listen(std::function<void(const v0::Error &)> listener);
    void lose(const v0::Error &why);
    // Nothing is heard of it from now on.
    void beSilent() { m_listener = {}; }
    // The first one counts.
    void finish(v0::Result<void> released)
    {
        if (!std::exchange(m_isFinished, true))
            m_answer.set_value(std::move(released));
    }
    void endNow() { m_isOver = true; }

private:
    const recipes::Grant m_grant;
    const bool m_isLease;
    std::atomic_bool m_isOver = false, m_isReleasing = false;
    std::atomic<Instant::rep> m_validUntil = 0; // of a lease
    std::promise<v0::Result<void>> m_answer;
    std::shared_future<v0::Result<void>> m_released{m_answer.get_future()};
    std::function<void(const v0::Error &)> m_listener; // loop thread, as what follows
    std::optional<v0::Error> m_loss;
    bool m_isFinished = false;
};

// Loop thread only.
class Contention : public std::enable_shared_from_this<Contention> {
public:
    using Answer = std::function<void(v0::Result<std::shared_ptr<Held>>)>;

    Contention(std::shared_ptr<Connection> connection, Request request);
    ~Contention();
    Contention(const Contention &) = delete;
    Contention &operator=(const Contention &) = delete;

    // `answer` is called once, from the loop.
    void acquire(Deadline deadline, Answer answer);
    void cancel(v0::ErrorCode code, const char *why);
    void release(const std::shared_ptr<Held> &held, Deadline deadline);
    // Its lease is over by the clock.
    void lapse(const std::shared_ptr<Held> &held);

private:
    Task<Result<recipes::Grant>> take(Deadline deadline);
    Task<Result<void>> untilReleased(Deadline deadline);
    Task<void> run(Deadline deadline);
    Task<void> give(std::shared_ptr<Held> held, Deadline deadline);
    Task<void> heedRecipe();
    Task<void> watchNode(recipes::Grant grant);
    Task<void> renew(const recipes::Leased *lease);
    void keep(const recipes::Grant &grant);
    void lose(recipes::Loss loss);
    void drop();
    [[nodiscard]] Loop &loop() const { return m_connection->thread.loop(); }

    const std::shared_ptr<Connection> m_connection;
    const Request m_request;
    std::unique_ptr<Contender> m_contender;
    std::unique_ptr<recipes::Lock> m_lock;
    std::vector<std::shared_ptr<Held>> m_holds; // several of a reentrant recipe
    bool m_isReleasing = false;
    int m_unreleased = 0;   // releases that are not answered
    bool m_isStale = false; // lost, or not released: the next acquire begins with another lock
    Answer m_answer;        // while an acquire waits
    Timer m_late;
    std::unique_ptr<Scope> m_watching; // while it is held
    std::unique_ptr<Scope> m_watched;  // of a hold that was lost, until none of its coroutines runs
    Scope m_releases;
    Scope m_attempt; // last: its coroutines use everything above
};

} // namespace lockscope::client
