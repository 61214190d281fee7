// SPDX-License-Identifier: Apache-2.0
// One private server on a free loopback port in a temporary folder of its own: ZooKeeper (Debian's
// jar), redis-server, mariadbd, etcd or PostgreSQL. The sandbox of the programs and the fixtures of the
// tests are made of these.
//
// The child dies with us (PR_SET_PDEATHSIG, which follows the thread that forked: start servers from
// the main thread), and its folder is removed when the object is destroyed; folders left over by a
// crash are swept at the next start.
#pragma once

#include "core/base/connectionuri.h"

#include <QByteArrayList>

#include <set>

#include <sys/types.h>

namespace lockscope::sandbox {

// A folder below the system's temporary one, for us alone (0700), removed with the object.
//
// It is named lockscope-<pid>-<random> and holds a file `owner` that we keep locked while we live:
// the lock, not the number, says whether its process is gone (numbers are used again, and mean
// nothing across containers that share /tmp).
class TemporaryFolder {
public:
    [[nodiscard]] static Result<std::unique_ptr<TemporaryFolder>> make();
    ~TemporaryFolder();
    Q_DISABLE_COPY(TemporaryFolder)

    [[nodiscard]] QString path() const { return m_path; }
    [[nodiscard]] QString file(const QString &name) const { return m_path + QLatin1Char('/') + name; }
    // A file only we can read.
    [[nodiscard]] Result<void> write(const QString &name, const QByteArray &text) const;

private:
    explicit TemporaryFolder(QString path) : m_path(std::move(path)) {}
    [[nodiscard]] bool markAsOwned();

    QString m_path;
    int m_lock = -1;
};

// What a sandbox with TLS shows itself by: an authority of its own, and by it a certificate for the servers
// (127.0.0.1 and localhost) and one for clients. Made by the openssl program, gone with the sandbox.

class Certificates {
public:
    // Blocks for a moment. Unsupported where openssl is not installed.
    [[nodiscard]] static Result<std::unique_ptr<Certificates>> make();

    // In PEM form; the keys as PKCS #8, without a passphrase.
    [[nodiscard]] QString authority() const { return m_folder->file(QStringLiteral("ca.pem")); }
    [[nodiscard]] QString server() const { return m_folder->file(QStringLiteral("server.pem")); }
    [[nodiscard]] QString serverKey() const { return m_folder->file(QStringLiteral("server.key")); }
    [[nodiscard]] QString serverBoth() const { return m_folder->file(QStringLiteral("server-both.pem")); }
    [[nodiscard]] QString client() const { return m_folder->file(QStringLiteral("client.pem")); }
    [[nodiscard]] QString clientKey() const { return m_folder->file(QStringLiteral("client.key")); }
    // What a connection to those servers says.
    [[nodiscard]] TlsOptions forClients() const;
    // Another authority, that signed none of these: to be refused by.
    [[nodiscard]] QString stranger() const { return m_folder->file(QStringLiteral("stranger.pem")); }

private:
    explicit Certificates(std::unique_ptr<TemporaryFolder> folder) : m_folder(std::move(folder)) {}
    std::unique_ptr<TemporaryFolder> m_folder;
};

class LoopbackQuestion;

// Ports and questions on 127.0.0.1, without an event loop.

// A port nobody listens on now. Below the range the kernel takes for outgoing connections: there a
// client that keeps calling a stopped server could end up connected to itself, and the server could
// not start again. 0 if there is none. Somebody may still take it before we do.
[[nodiscard]] quint16 freeLoopbackPort();
// One that is not in `taken`, to which it is added.
[[nodiscard]] quint16 freeLoopbackPort(std::set<quint16> &taken);

// A child process that cannot outlive us: the kernel kills it when the thread that started it ends
// (PR_SET_PDEATHSIG), however that comes about. Start it from the main thread, therefore.
//
// It gets a process group of its own, so that Ctrl+C in a terminal reaches us and not the child: we
// decide in which order things end. It inherits no open files.
class ChildProcess {
public:
    struct Command {
        QByteArrayList arguments; // the program first, with its path
        QByteArray folder;        // where it runs
        QByteArray output;        // the file that gets what it prints, appended
    };

    ChildProcess() = default;
    ~ChildProcess() { kill(); }
    Q_DISABLE_COPY(ChildProcess)

    // An error if it could not be started at all, the program's name being wrong included.
    [[nodiscard]] Result<void> start(const Command &command);
    [[nodiscard]] bool isRunning();
    [[nodiscard]] pid_t pid() const { return m_pid; } // 0 when there is none
    void kill();                                      // SIGKILL, and waits for its end
    void suspend();                                   // SIGSTOP, and waits until it stands still
    void resume();                                    // SIGCONT

private:
    pid_t m_pid = 0;
};

// The program's path; Unsupported where it is not installed, with the name of its package. Servers are no commands of
// ordinary users: their folder is often not in PATH.
[[nodiscard]] Result<QByteArray> findProgram(const QString &program, const QString &server, const QString &package);
[[nodiscard]] Error notInstalled(const QString &program, const QString &server, const QString &package);

// What differs between the kinds of servers. What they have in common is in Server: a folder, a port, a child
// process, and asking it until it answers.
class ServerKind {
public:
    virtual ~ServerKind() = default;
    [[nodiscard]] virtual QString name() const = 0;               // "ZooKeeper"
    [[nodiscard]] virtual quint16 adminPort() const { return 0; } // as in Server
    // The port it must have because others were told of it; 0: any that is free.
    [[nodiscard]] virtual quint16 fixedPort() const { return 0; }
    // Takes ports and writes the configuration. Called again after "address in use".
    [[nodiscard]] virtual Result<void> prepare(const TemporaryFolder &folder, quint16 port) = 0;
    [[nodiscard]] virtual QByteArrayList arguments(const TemporaryFolder &folder) const = 0;
    // A question that a server answers when it is ready, and whether this is such an answer.
    [[nodiscard]] virtual QByteArray question() const = 0;
    // Where it is asked: a socket in its folder; empty: its port.
    [[nodiscard]] virtual QString questionSocket() const { return {}; }
    [[nodiscard]] virtual bool isReadyAnswer(const QByteArray &answer) const = 0;
    // For a kind that has more processes to look after than the one: before that is killed.
    virtual void end(const TemporaryFolder & /*folder*/, ChildProcess & /*child*/) const {}
};

// The first words of a client that speaks TLS; and whether a server answered as one that does: with its own, or
// with a refusal.
[[nodiscard]] QByteArray tlsQuestion();
[[nodiscard]] bool isTlsAnswer(const QByteArray &answer);

class Server {
public:
    explicit Server(std::unique_ptr<ServerKind> kind) : m_kind(std::move(kind)) {}
    ~Server() { stop(); }
    Q_DISABLE_COPY(Server)

    // Starts (or starts again, on the same port and data) and returns when it answers. Blocks.
    Result<void> start(std::chrono::milliseconds atMost);
    // The same in steps that never block: begin() launches, then poll() now and then, until it says
    // true (it answers) or fails. Both in the thread that start() would be called in.
    Result<void> begin();
    Result<bool> poll();
    [[nodiscard]] bool isRunning() { return m_child.isRunning(); } // its process; a paused one is
    void stop();                                                   // SIGKILL, waits
    void pause() { m_child.suspend(); }                            // SIGSTOP
    void resume() { m_child.resume(); }                            // SIGCONT
    [[nodiscard]] HostPort address() const { return {QStringLiteral("127.0.0.1"), m_port}; }
    [[nodiscard]] quint16 adminPort() const { return m_kind->adminPort(); } // 0: none
    [[nodiscard]] QString log() const;                                      // what it printed

private:
    [[nodiscard]] Result<void> launch();
    [[nodiscard]] Result<void> prepareElsewhere();
    [[nodiscard]] std::unique_ptr<LoopbackQuestion> ask() const;
    [[nodiscard]] Error gaveUp(const QString &how) const;

    std::unique_ptr<ServerKind> m_kind;
    // The child goes before its folder.
    std::unique_ptr<TemporaryFolder> m_folder;
    ChildProcess m_child;
    std::shared_ptr<LoopbackQuestion> m_question; // shared: a unique one would have to be known here
    std::chrono::steady_clock::time_point m_askedAt;
    quint16 m_port = 0;
    bool m_hasAnswered = false; // from then on it keeps its port
    bool m_isReady = false;
    int m_portTries = 0;
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
