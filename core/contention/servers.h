// SPDX-License-Identifier: Apache-2.0
// The servers that contenders contend on, seen from a run: a way to open a connection, what can go wrong
// with them, and what is left on them. One implementation per kind of server of the simulated world.
#pragma once

#include "core/recipes/lock.h"
#include "core/base/backendkind.h"
#include "core/simservers/network.h"
#include "core/contention/trace.h"

namespace lockscope::contention {

// One contender's way to the lock. Its process outlives it; where contenders share a process they share what
// the real clients would share (a session, a subscription).
class ContenderAccess {
public:
    virtual ~ContenderAccess() = default;
    // Whether a request sent now would be sent.
    [[nodiscard]] virtual bool isReady() const = 0;
    // A contender of the scenario's recipe on the scenario's lock. Outlived by this.
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) = 0;
    // Something else with its connection (scenario.h); what came of it, in a few words. Of a command that the rules
    // of its servers let pass; none where nothing else is done.
    [[nodiscard]] virtual std::optional<Completion<QByteArray>> act(const QByteArray & /*command*/) { return {}; }
};

class Servers {
public:
    virtual ~Servers() = default;

    [[nodiscard]] virtual std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender) = 0;
    [[nodiscard]] virtual int count() const = 0; // they are numbered from 0

    // The faults that are the servers' own. Each returns whether it could be done now, for example whether
    // anybody holds what is to be taken.
    virtual bool expire(int /*contender*/) { return false; }
    // As an operator does it: the node or key of who holds the lock by the server's word; or, by mistake, the
    // node of one who waits (on servers where a waiter has something to lose).
    virtual bool forceRelease(bool /*ofWaiter*/) { return false; }
    virtual bool lag(Duration /*by*/, Duration /*lasts*/) { return false; }
    virtual bool jumpClock(std::chrono::milliseconds /*by*/) { return false; }
    // Of one of them.
    virtual bool jumpClockOf(int server, std::chrono::milliseconds by) { return server == 0 && jumpClock(by); }
    // Of one of them, or, with -1, of as many as it takes to matter.
    virtual bool restartEmpty(Duration /*downFor*/, int /*only*/) { return false; }
    virtual bool failover(int /*only*/) { return false; }
    virtual bool loseNextPublish() { return false; }

    // With the names of contenders ("{c00}") replaced by those of what stands for them there.
    [[nodiscard]] virtual QByteArray resolved(const QByteArray &command) const { return command; }
    // An operator stops one of them, or starts it again. False where that is not played.
    virtual bool setStopped(int /*server*/, bool /*isStopped*/) { return false; }

    // What there is to be seen on them now, in words, for whoever looks; nothing changes by that. Names of contenders
    // where the server knows whose it is.
    [[nodiscard]] virtual std::vector<ServerLine> state() const { return {}; }
    // Nodes and keys of the lock that are there now, without what recipes leave on purpose.
    [[nodiscard]] virtual std::vector<QByteArray> leftBehind() const = 0;
    // How long at most the lock may stay free while somebody waits and nothing is wrong any more.
    [[nodiscard]] virtual Duration longestGap() const = 0;
    // After the last client went: how long until nothing may be left.
    [[nodiscard]] virtual Duration longestLife() const = 0;
};

// The servers that the scenario's recipe needs.
struct ServersContext {
    const Scenario &scenario;
    VirtualLoop &world;
    sim::Network &network;
    Trace &trace;
    Random random;
};
[[nodiscard]] std::unique_ptr<Servers> makeServers(const ServersContext &context);
#define LOCKSCOPE_SERVERS(Name)                                                                                      \
    [[nodiscard]] std::unique_ptr<Servers> make##Name##Servers(const ServersContext &context);
LOCKSCOPE_BACKENDS(LOCKSCOPE_SERVERS)
#undef LOCKSCOPE_SERVERS

} // namespace lockscope::contention
