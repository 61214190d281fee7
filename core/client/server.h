// SPDX-License-Identifier: Apache-2.0
// What the library needs of a backend: a connection, and contenders on it. Loop thread only.
#pragma once

#include "core/async/passwordsource.h"
#include "core/recipes/lock.h"
#include "core/rules/catalogue.h"
#include "core/transport/transport.h"

namespace lockscope::client {

struct Request {
    QByteArray lock;
    QByteArray recipe;
    recipes::AcquireOptions options;
};

// One contender for a lock.
class Contender {
public:
    virtual ~Contender() = default;
    // A session of its own, where it has one.
    [[nodiscard]] virtual Task<Result<void>> connect(Deadline) { co_return Result<void>(); }
    // The contender outlives it.
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock() = 0;
    // Looks, beside the recipe, whether the node or key is taken away. Nothing where the recipe notices that itself.
    virtual void watchOver(const recipes::Holding & /*holding*/, const recipes::Grant & /*grant*/) {}
    // Its session is over: the next acquire takes another contender.
    [[nodiscard]] virtual bool isOver() const { return false; }
    // Whether something is still followed up over a session of its own.
    [[nodiscard]] virtual bool isCleaningUp() const { return false; }
};

class Server {
public:
    virtual ~Server() = default;
    // NotConnected says why.
    [[nodiscard]] virtual Task<Result<void>> connect(Deadline deadline) = 0;
    // The server outlives it.
    [[nodiscard]] virtual std::unique_ptr<Contender> open(const Request &request) = 0;
    [[nodiscard]] virtual bool isCleaningUp() const { return false; }
};

// A connection as it was asked for, and what leads to it.
struct Reach {
    Loop &loop;
    ConnectionSpec spec;
    std::chrono::milliseconds sessionTimeout;
    std::shared_ptr<transport::Transport> transport;
    std::shared_ptr<PasswordSource> passwords; // null: the spec's it is

    // What went wrong on the way says more than what a client was left with.
    [[nodiscard]] Error notConnected(const QString &lastError, bool isAuth) const
    {
        const auto problem = transport->problem();
        return {isAuth ? ErrorCode::AuthFailed : ErrorCode::NotConnected,
                u"could not connect to %1: %2"_s.arg(spec.displayUri(), problem.isEmpty() ? lastError : problem),
                !isAuth};
    }
};

// Until a port is connected; at once where its only server cannot be reached. The port outlives it.
template <class Port>
Task<Result<void>> untilUp(const Reach *reach, Port *port, Deadline deadline)
{
    using State = decltype(port->state());
    const bool isAlone = reach->spec.hosts.size() == 1 && reach->transport->isDirect();
    for (;;) {
        if (port->state() == State::Connected)
            co_return Result<void>();
        const bool isAuth = port->state() == State::AuthFailed;
        const auto why = port->lastError();
        if (isAuth || (isAlone && !why.isEmpty()) || deadline.hasPassed(reach->loop))
            co_return reach->notConnected(why.isEmpty() ? u"no answer in time"_s : why, isAuth);
        const Completion<bool> changed(reach->loop);
        const auto subscription = port->onState([changed](State) { changed.complete(true); });
        changed.completeAt(Deadline::at(std::min<Instant>(deadline.when(), reach->loop.now() + 100ms)), false);
        co_await changed;
    }
}

using MakeServer = std::unique_ptr<Server> (*)(Reach reach);
// Any thread. What a program links calls it before connect().
bool addBackend(BackendKind backend, MakeServer make);

} // namespace lockscope::client
