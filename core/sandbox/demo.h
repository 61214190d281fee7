// SPDX-License-Identifier: Apache-2.0
// Live contention for a sandbox: the situations one wants to see, made with real sessions and real
// keys, and kept moving. What plays here (all invented):
//
//   /locks/orders          zk-mutex: a queue of four, each watching the one before it
//   /locks/reindex         zk-herd-mutex: one holder, four that all wake at each release
//   /locks/catalog         readers and writers under Curator's names
//   /locks/nightly-report  a holder that crashed, and one who waits until its session expires
//   /locks/accounts/alice and bob  kazoo's: two clients in a deadlock, which nothing ends by itself
//   lock:invoice-export    a token as redis-py writes it, without a TTL
//   lock:session-cleanup   the same with a TTL that is renewed
//   orders:checkout        Redisson's lock; who waits has subscribed to its channel
//   payments:payout        Redisson's fair lock with its queue
//   shop.stock#id=1        a row with a holder, idle inside its transaction, and two who wait for it
//   GET_LOCK#nightly-report  a named lock and one who waits
//   public.stock#id=1, ADVISORY#42  the same on a PostgreSQL: a row's queue, an advisory lock's
//   shop.stock#id=2        two who write by its version column: one conflict every few seconds, which leaves no
//                          trace on the server but the rows of shop.version_conflicts
//
// What is taken away by force comes back after a while.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lock.h"
#include "core/sandbox/server.h"

namespace lockscope::sandbox {

// What the scenes of the demo share: the loop, chance, and the count of what is not up yet.

// One per demo; the scenes live in its scope. Loop thread only.
class DemoStage {
public:
    DemoStage(Loop &loop, Random random) : m_loop(loop), m_random(random), m_filled(loop) {}

    [[nodiscard]] Loop &loop() { return m_loop; }
    [[nodiscard]] Random &random() { return m_random; }
    [[nodiscard]] Random newRandom() { return Random(m_random.next()); }
    [[nodiscard]] const Completion<bool> &filled() const { return m_filled; }

    Task<void> sleep(std::chrono::milliseconds span) { co_await sleepFor(m_loop, span); }
    // Between one and two thirds more of that, so that no two do everything in step.
    Task<void> rest(std::chrono::milliseconds span);

    void sceneBegins() { ++m_notUpYet; }
    void sceneIsUp()
    {
        if (--m_notUpYet == 0)
            m_filled.complete(true);
    }

private:
    Loop &m_loop;
    Random m_random;
    Completion<bool> m_filled;
    int m_notUpYet = 0;
};

// Takes the lock again and again, for as long as the task lives. Who was freed by force while it held comes back a
// little later. Both outlive the task. `work` is begun each time it is taken.
[[nodiscard]] Task<void> takeTurns(DemoStage *stage, recipes::Lock *lock, std::chrono::milliseconds hold,
                                   std::function<void()> work = {});

// A client that comes to a queue: it says when it is connected, and contends from then on.
using JoinQueue = std::function<Task<void>(const Completion<bool> &joined)>;
// A scene that is up once `clients` of them have come, one after the other, so that the queue is in that order. Stage
// and scope outlive the task.
[[nodiscard]] Task<void> queueUp(DemoStage *stage, Scope *scope, int clients, JoinQueue client);

// 8-4-4-4-12 hex digits, as clients name themselves.
[[nodiscard]] inline QByteArray randomUuid(Random &random)
{
    const auto hex = random.bytes(16).toHex();
    return hex.left(8) + '-' + hex.mid(8, 4) + "-4" + hex.mid(13, 3) + "-a" + hex.mid(17, 3) + '-' + hex.mid(20);
}

// Or until it cannot be. Both outlive the task.
template <class Port>
[[nodiscard]] Task<void> untilConnected(DemoStage *stage, Port *port)
{
    using State = decltype(port->state());
    const Completion<bool> done(stage->loop());
    const auto subscription = port->onState([done](State) { done.complete(true); });
    if (port->state() != State::Connecting)
        co_return;
    co_await done;
}

class Demo {
public:
    // Uses the first of each backend among the connections; any of them may be missing.
    // Loop thread only, and the loop must be a thread's Qt event loop.
    Demo(Loop &loop, const std::vector<ConnectionSpec> &connections, Random random);

    // Completes when everything above can be seen: true; false when something did not come up in time.
    [[nodiscard]] Completion<bool> filled() const { return m_stage.filled(); }

private:
    DemoStage m_stage;
    std::vector<std::shared_ptr<void>> m_scenes; // each closes its sessions in the background
};

// What the sandbox has of each backend: a private server, and what plays on it in the demo. Beside the server's code.

// Another way to have servers of a backend: several that are one.
struct SandboxVariant {
    QString option;  // of the sandbox command: "redis-cluster"
    QString what;    // for the help
    QByteArray name; // of the connection
    Scheme scheme;
    // `tls`: null without; outlives the servers.
    Result<std::vector<std::unique_ptr<Server>>> (*make)(const Certificates *tls);
    std::size_t unnamed = 0; // the first so many of them the URI does not name
    QString service = {};
};

struct SandboxKit {
    QString what; // for the help: "a ZooKeeper", "N Redis servers"
    int most;     // so many at once
    bool apart; // each of them is a connection of its own; else they are one ensemble, and the number may be left out
    int usual;  // and without a choice
    QString user;
    // So many of them: one, or an ensemble's members.
    Result<std::vector<std::unique_ptr<Server>>> (*make)(int count);
    // The scenes go on for as long as what it returns lives.
    std::shared_ptr<void> (*play)(DemoStage &stage, const ConnectionSpec &server);
    // The same with TLS, for clients that show a certificate; null: there is no such thing yet.
    Result<std::vector<std::unique_ptr<Server>>> (*makeWithTls)(int count,
                                                                const Certificates &certificates) = nullptr;
    std::vector<SandboxVariant> variants = {};
    bool isOnlyAskedFor = false; // not part of "sandbox:"
};
[[nodiscard]] const SandboxKit &kitOf(BackendKind backend);

// One server, as make() gives it.
inline Result<std::vector<std::unique_ptr<Server>>> alone(Result<std::unique_ptr<Server>> made)
{
    if (!made)
        return made.error();
    std::vector<std::unique_ptr<Server>> servers;
    servers.push_back(std::move(*made));
    return servers;
}

// `Demo` is what plays on a server.
template <class Demo>
std::shared_ptr<void> playDemo(DemoStage &stage, const ConnectionSpec &server)
{
    return std::make_shared<Demo>(stage, server);
}

// demozookeeper.cpp
[[nodiscard]] std::shared_ptr<void> playOnZooKeeper(DemoStage &stage, const ConnectionSpec &server);

// Of one server by itself, or several that know nothing of each other. `make` takes the options.
template <class Demo, auto make, class Options>
SandboxKit kitOfSingle(QString what)
{
    return {.what = std::move(what),
            .most = 1,
            .apart = true,
            .usual = 0,
            .user = {},
            .make = [](int) { return alone(make({})); },
            .play = playDemo<Demo>,
            .makeWithTls =
                [](int, const Certificates &certificates) {
                    Options options;
                    options.tls = &certificates;
                    return alone(make(std::move(options)));
                }};
}

#define LOCKSCOPE_SANDBOX(Name) [[nodiscard]] SandboxKit sandboxOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_SANDBOX)
#undef LOCKSCOPE_SANDBOX

} // namespace lockscope::sandbox
