// SPDX-License-Identifier: Apache-2.0
// The kinds of servers that locks live on: the registry of backends. What each has of its own stands in its own
// files; what they have in common is said here, and shared code reads that instead of asking which backend it is.
// ARCHITECTURE.md says what a new one takes.
#pragma once

#include <QByteArray>
#include <QString>

#include <optional>
#include <vector>

namespace lockscope {

// All there are. A room that has something of each (a link, a way of release, recipes, simulated servers …) walks
// this list for the functions that make it: make<Name>Link(), releaseMethodsOf<Name>() and so on.
#define LOCKSCOPE_BACKENDS(EACH) EACH(ZooKeeper) EACH(Redis) EACH(MariaDb) EACH(Etcd) EACH(PostgreSql)

#define LOCKSCOPE_KIND(Name) Name,
enum class BackendKind : quint8 { LOCKSCOPE_BACKENDS(LOCKSCOPE_KIND) };
#undef LOCKSCOPE_KIND

// What stands before the colon of a connection's URI.
enum class Scheme {
    ZooKeeper,
    Redis,
    RedisTls,
    RedisCluster,
    RedisSentinel,
    MariaDb,
    Sandbox,
    Simulated,
    Etcd,
    PostgreSql
};

struct BackendScheme {
    QString word; // "zk"
    Scheme scheme;
    bool tls = false;
    bool isOneDeployment = false; // its hosts are parts of one, also where the backend's are nodes apart
    bool namesService = false;    // the first part of the path names what the hosts are asked for
    quint16 defaultPort = 0;      // 0: the backend's
    QString exampleUri = {};      // where it is not only the backend's with another word
    QString title = {};           // of one deployment: "Redis Cluster"
};

// What the path of a connection's URI means.
enum class UriPath { Chroot, DatabaseNumber, DatabaseName };

// What people who run such servers call the parts of a lock.
struct BackendWords {
    QString entry;     // what stands for a lock: a "node", a "key", a "row"
    QString looked;    // what is looked through to find them, many: "znodes"
    QString lookedOne; // one of them
    QString client;    // who holds or waits, as the server knows it: a "session", a "connection"
    QString waitsFor;  // what a waiter does to the one before it: it "watches", "waits for"
    QString whoWaits;  // the title of the picture of that
    QString raw;       // the title of what the server says, as it says it
    QString rawEntry;  // a contender there
    QString rawValue;  // and what it left
    QString wokenBy;   // how the next one hears that %1 let go; empty: the server lets it in
    QString nothing;   // of a lock that is gone
    [[nodiscard]] const QString &lookedAs(qint64 count) const { return count == 1 ? lookedOne : looked; }
};

struct BackendInfo {
    BackendKind kind;
    QString word;        // of the JSON, of sandbox options: "zookeeper"
    QString title;       // "ZooKeeper"
    QString defaultName; // of a connection
    quint16 defaultPort;
    std::vector<BackendScheme> schemes; // the first is the one that is written
    UriPath path;
    bool hasAdminPort = false; // the URI takes ?admin=PORT
    // Several hosts are independent nodes, of which a majority counts: none may stand there twice.
    bool isNodesApart = false;
    // A connection is to one server; several in a URI are refused, not tried one after the other.
    bool isOneHost = false;
    bool namesPaths = false;           // a lock's name is a path: "/" first, none at the end
    bool hasTtl = false;               // holds are leases, whose length the client says
    bool oneLockEach = false;          // a session carries one lock at a time
    bool isSessionOneClient = false;   // with all its threads; and no other server gives its id to anybody else
    bool isIdentityAnAccount = false;  // what stands for a client's identity is the user it logged in as
    bool areThreadsNamed = false;      // what an entry says of its holder may be its client and that one's thread
    bool isTokenTransactionId = false; // a fencing token is a zxid, which is written in hexadecimal
    QString uriHelp;                   // its URIs, for --help
    QString lockHelp;                  // what its locks are called, likewise
    QString exampleLock;
    QString exampleName;            // for a form
    QString exampleHosts;           // there, too
    QString userMissing;            // there: as whom one comes without a user
    QString pathLabel, pathMissing; // there: what the URI's path is called, and what it means when there is none
    QString endsStatement = {};     // the command that ends what a connection runs or waits for; empty: there is none
    QString breaksCyclesAfter = {}; // the setting after which it ends a deadlock on one server; empty: it does not
    BackendWords words;
};

[[nodiscard]] const BackendInfo &infoOf(BackendKind kind);
[[nodiscard]] const std::vector<BackendInfo> &allBackends(); // in the order of the enumeration
// What answers under it; nothing for what stands for several servers, or for none.
[[nodiscard]] std::optional<BackendKind> backendOf(Scheme scheme);
// Nothing likewise.
[[nodiscard]] const BackendScheme *schemeInfoOf(Scheme scheme);
// Several hosts are independent nodes, of which a majority counts.
[[nodiscard]] bool areNodesApart(Scheme scheme);

// A name as a person typed it, or a shell completed it.

// As that backend has it: a path without the slashes at its end.
[[nodiscard]] inline QByteArray nameAsStored(BackendKind kind, QByteArray typed)
{
    while (infoOf(kind).namesPaths && typed.size() > 1 && typed.endsWith('/'))
        typed.chop(1);
    return typed;
}

} // namespace lockscope
