// SPDX-License-Identifier: Apache-2.0
// One private server on a free loopback port in a temporary folder of its own: ZooKeeper (Debian's
// jar), redis-server, mariadbd, etcd or PostgreSQL. The sandbox of the programs and the fixtures of the
// tests are made of these.
//
// The child dies with us (PR_SET_PDEATHSIG, which follows the thread that forked: start servers from
// the main thread), and its folder is removed when the object is destroyed; folders left over by a
// crash are swept at the next start.
#pragma once

#include "core/sandbox/certificates.h"

#include <QByteArrayList>

#include <chrono>
#include <memory>

namespace lockscope::sandbox {

class Certificates;

class Server {
public:
    virtual ~Server() = default;
    // Starts (or starts again, on the same port and data) and returns when it answers. Blocks.
    virtual Result<void> start(std::chrono::milliseconds atMost) = 0;
    // The same in steps that never block: begin() launches, then poll() now and then, until it says
    // true (it answers) or fails. Both in the thread that start() would be called in.
    virtual Result<void> begin() = 0;
    virtual Result<bool> poll() = 0;
    [[nodiscard]] virtual bool isRunning() = 0; // its process; a paused one is
    virtual void stop() = 0;                    // SIGKILL, waits
    virtual void pause() = 0;                   // SIGSTOP
    virtual void resume() = 0;                  // SIGCONT
    [[nodiscard]] virtual HostPort address() const = 0;
    [[nodiscard]] virtual quint16 adminPort() const = 0; // 0: none
    [[nodiscard]] virtual QString log() const = 0;       // what it printed
};

struct ZooKeeperOptions {
    bool adminServer = true;
    QByteArray fourLetterWords = "*";    // the whitelist
    std::chrono::milliseconds tick{200}; // sessions from 2 to 100 ticks … see maxSession
    std::chrono::milliseconds maxSession{60'000};
    bool syncsItsLog = false;                          // as a server does whose data must outlive the machine
    std::chrono::milliseconds reapingInterval{60'000}; // looks for empty containers and nodes past their TTL
    bool requiresSasl = false; // it closes whatever session has not authenticated so, and answers nothing before
    const Certificates *tls = nullptr; // clients speak TLS only, and show a certificate; outlives the making
};
using ZooKeeperServer = Server;
// Debian's server, or the one of the class path in LOCKSCOPE_ZOOKEEPER_CLASSPATH. An error when the programs
// are not installed; says which package to install.
[[nodiscard]] Result<std::unique_ptr<ZooKeeperServer>> makeZooKeeper(ZooKeeperOptions options = {});
// The members of one ensemble, server 1 first. A member answers once a majority runs: begin() all of them, then
// poll() or startAll().
using ZooKeeperMembers = std::vector<std::unique_ptr<ZooKeeperServer>>;
[[nodiscard]] Result<ZooKeeperMembers> makeZooKeeperEnsemble(int members, ZooKeeperOptions options = {});
// Launches each of them.
[[nodiscard]] Result<void> beginAll(const std::vector<std::unique_ptr<Server>> &servers);
// Blocks until each of them answers.
[[nodiscard]] Result<void> startAll(const ZooKeeperMembers &members, std::chrono::milliseconds atMost);

struct RedisOptions {
    QByteArray password;
    QByteArray notifyKeyspaceEvents; // "" = off, as Redis' default
    QByteArrayList moreArguments;
    const Certificates *tls = nullptr; // as above
};
[[nodiscard]] Result<std::unique_ptr<Server>> makeRedis(RedisOptions options = {});

struct MariaDbOptions {
    bool performanceSchema = true; // who waits for a named lock can then be seen
    QByteArrayList moreArguments;
    const Certificates *tls = nullptr; // as above
};
// User root has every right, from this machine, without a password. There is a table shop.stock. Debian's MariaDB, or
// the MySQL whose program LOCKSCOPE_MYSQLD names.
[[nodiscard]] Result<std::unique_ptr<Server>> makeMariaDb(MariaDbOptions options = {});

struct EtcdOptions {
    QByteArrayList moreArguments = {};
    const Certificates *tls = nullptr; // as above
};
[[nodiscard]] Result<std::unique_ptr<Server>> makeEtcd(EtcdOptions options = {});

// User shop is let in from this machine without a password, and owns the database shop with the tables stock and
// jobs. With certificates (which outlive it) only over TLS, and who shows one of that authority. Settings as for
// postgres -c: "deadlock_timeout=10ms".
[[nodiscard]] Result<std::unique_ptr<Server>> makePostgreSql(const Certificates *tls = nullptr,
                                                             const QByteArrayList &settings = {});

// Removes temporary folders of sandboxes whose process is gone.
void sweepLeftovers();

// Several private Redis servers that are one: a cluster, a primary with sentinels.

struct RedisClusterOptions {
    int primaries = 3;
    std::chrono::milliseconds nodeTimeout{2000};
    const Certificates *tls = nullptr; // as in server.h; the nodes among themselves, too
};
// Its primaries, then a replica of each in the same order. They answer once all run: startAll().
[[nodiscard]] Result<std::vector<std::unique_ptr<Server>>> makeRedisCluster(RedisClusterOptions options = {});

// What the sentinels of a sandbox call the Redis they watch over.
inline constexpr char sandboxService[] = "mymaster";
struct RedisSentinelOptions {
    int sentinels = 3;
    std::chrono::milliseconds downAfter{3000};
    const Certificates *tls = nullptr; // as above
};
// The primary, its replica, then the sentinels.
[[nodiscard]] Result<std::vector<std::unique_ptr<Server>>> makeRedisSentinels(RedisSentinelOptions options = {});

} // namespace lockscope::sandbox
