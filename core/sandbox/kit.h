// SPDX-License-Identifier: Apache-2.0
// What the sandbox has of each backend: a private server, and what plays on it in the demo. Beside the server's code.
#pragma once

#include "core/base/backendkind.h"
#include "core/sandbox/certificates.h"
#include "core/sandbox/demo.h"
#include "core/sandbox/server.h"

#include <vector>

namespace lockscope::sandbox {

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
template <class Made>
Result<std::vector<std::unique_ptr<Server>>> alone(Result<std::unique_ptr<Made>> made)
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
