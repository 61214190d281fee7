// SPDX-License-Identifier: Apache-2.0
// The real Redis connection: hiredis formats and parses, QSslSocket carries (plain or TLS).
//
// RESP2. Reconnects by itself with back-off (first at once, then doubling from 50 ms to 5 s) and logs
// in again (AUTH, SELECT, CLIENT SETNAME lockscope). A wrong password is AuthFailed and is not retried;
// a database that SELECT refuses is Closed. A peer that falls silent for 30 s counts as gone.
#pragma once

#include "core/async/passwordsource.h"
#include "core/redis/clusternodes.h"

namespace lockscope::redis {

// What a RespConnection sends and hears bytes through: a socket, or a link of the simulated world.
//
// Destroying it ends the connection; no call-back comes afterwards, and it may be destroyed from inside
// one. Loop thread only.
class Transport {
public:
    struct Callbacks {
        std::function<void()> opened;
        std::function<void(QByteArrayView)> received;
        std::function<void(const QString &, bool isOfTls)> broken; // why, in the end that nobody of us wanted
    };
    Transport() = default;
    virtual ~Transport() = default;
    Q_DISABLE_COPY(Transport)

    // May find the connection broken, and say so before it returns.
    virtual void write(const QByteArray &bytes) = 0;
};

// Begins to connect; the first call-back comes later, from the loop.
using MakeTransport = std::function<std::unique_ptr<Transport>(Transport::Callbacks)>;

struct ConnectionOptions {
    HostPort host;
    // Where to connect so as to reach a host: a door that leads to it. Asked each time, also for hosts that servers
    // name by themselves (nodes of a cluster, the primary of sentinels). Null: the host itself.
    std::function<HostPort(const HostPort &)> door;
    // Of the host, whatever door leads to it. The certificate and its name are checked unless it says no.
    TlsOptions tls;
    QByteArray user;
    QByteArray password;                         // never logged
    std::shared_ptr<PasswordSource> passwords{}; // asked at each connect; null: `password` it is
    int database = 0;
    qint64 replyLimitBytes = 256LL * 1024 * 1024; // a reply beyond it breaks the connection (TooLarge)
    bool logs = true; // false where connections break by the thousand: in a simulated world
};

// Returns at once, in state Connecting. Loop thread only.
[[nodiscard]] std::unique_ptr<Connection> openConnection(Loop &loop, ConnectionOptions options);
// The same client over another carrier, which takes what the options say of TLS: the simulated world's.
[[nodiscard]] std::unique_ptr<Connection> openConnection(Loop &loop, ConnectionOptions options,
                                                         MakeTransport makeTransport);

// Reads a script from resources (":/lockscope/lua/<name>.lua") and hashes it. Any thread. A name that
// is not there is a broken build and ends the program.
[[nodiscard]] Script loadScript(const QByteArray &name);

// Several Redis servers as one connection: a cluster, a primary with sentinels, or whichever of these an address
// turns out to be.

// A Redis Cluster as one Redis: the port redis::Connection over the nodes of a cluster, so that recipes, the
// observer and the gate work on it as they are.
//
// A command goes to the node that has its key's slot; MOVED and ASK are followed, CLUSTERDOWN, TRYAGAIN and a node
// that is gone are waited for, in bounded tries and no longer than the deadline. Only what surely was not executed
// is sent again. A pipeline is split by node; its answers keep their order, its commands keep theirs on one node
// only. A command without a key that asks about the whole (SCAN, DBSIZE, PUBSUB, CLIENT LIST …) asks each primary,
// and their answers are put together; see clusternodes.h. Keys in several slots are refused.
//
// What a script publishes it publishes on the sharded channel of that name as well, and counts who hears it there:
// from Redis 7 on Redisson's clients wait on these.

// Returns at once, in state Connecting. `seeds`: some of its nodes. Loop thread only.
[[nodiscard]] std::unique_ptr<Connection> openCluster(Loop &loop, std::vector<HostPort> seeds, OpenNode open);
// The same with what each connection to a node has but the host.
[[nodiscard]] std::unique_ptr<Connection> openCluster(Loop &loop, std::vector<HostPort> seeds,
                                                      const ConnectionOptions &options);

// The primary that Redis' sentinels name, as one connection that stays when another server becomes it.
//
// Any sentinel that answers is asked for the address (SENTINEL GET-MASTER-ADDR-BY-NAME); the server there has to
// say itself that it is a primary (ROLE), for sentinels may be late. Asked again when a sentinel tells of a
// switch, when the primary is gone, when it refuses a write as a replica does, and every ten seconds. Between two
// primaries the state is Connecting, and what was out has an unknown outcome; subscriptions move. Sentinels get
// the password when they ask for one. Loop thread only.

// Opens the connection to a server, or to a sentinel: with or without what one logs in with.
struct SentinelOpeners {
    std::function<std::unique_ptr<Connection>(const HostPort &)> server;
    std::function<std::unique_ptr<Connection>(const HostPort &, bool withPassword)> sentinel;
    bool hasPassword = false;
};

// Returns at once, in state Connecting.
[[nodiscard]] std::unique_ptr<Connection> openBySentinels(Loop &loop, std::vector<HostPort> sentinels,
                                                          QByteArray service, SentinelOpeners openers);
// The same with what each connection has but the host; sentinels have one database.
[[nodiscard]] std::unique_ptr<Connection> openBySentinels(Loop &loop, std::vector<HostPort> sentinels,
                                                          QByteArray service, const ConnectionOptions &options);

// A connection to one Redis that asks, before anybody may use it, what that server is: a node of a cluster is left
// for the whole cluster, a replica is told of. Who may not ask takes the server for what it was called. The role
// is asked again after each reconnect. Loop thread only.
struct ServerPlace {
    bool isInCluster = false;
    QString replicaOf; // "10.0.0.1:6379"; empty: a primary, or not told
};
// Of the answers to INFO cluster and ROLE.
[[nodiscard]] ServerPlace placeOf(const Value &info, const Value &role);

struct FindingOpeners {
    std::function<std::unique_ptr<Connection>()> server;
    std::function<std::unique_ptr<Connection>()> cluster; // of which it is a node
};

// `found`: each time it was told; the first time before the state says Connected.
[[nodiscard]] std::unique_ptr<Connection> openFinding(Loop &loop, FindingOpeners openers,
                                                      std::function<void(const ServerPlace &)> found);
[[nodiscard]] std::unique_ptr<Connection> openFinding(Loop &loop, const ConnectionOptions &options,
                                                      std::function<void(const ServerPlace &)> found);

} // namespace lockscope::redis
