// SPDX-License-Identifier: Apache-2.0
#include "core/base/backendkind.h"

#include <algorithm>

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

BackendInfo zooKeeper()
{
    return {
        .kind = BackendKind::ZooKeeper,
        .word = u"zookeeper"_s,
        .title = u"ZooKeeper"_s,
        .defaultName = u"zk"_s,
        .defaultPort = 2181,
        .schemes = {{u"zk"_s, Scheme::ZooKeeper}},
        .path = UriPath::Chroot,
        .hasAdminPort = true,
        .namesPaths = true,
        .isSessionOneClient = true,
        .isTokenTransactionId = true,
        .uriHelp = u"zk://[user:password@]host:port[,host:port…][/chroot][?admin=PORT]"_s,
        .lockHelp = u"a queue's directory (zk:/locks/orders), a lock's only node"_s,
        .exampleLock = u"/locks/orders"_s,
        .exampleName = u"orders-zk"_s,
        .exampleHosts = u"10.0.1.11:2181,10.0.1.12:2181"_s,
        .userMissing = u"none: nodes with an ACL stay closed"_s,
        .pathLabel = u"&Chroot"_s,
        .pathMissing = u"none: the whole tree"_s,
        .words = {.entry = u"node"_s,
                  .looked = u"znodes"_s,
                  .lookedOne = u"znode"_s,
                  .client = u"session"_s,
                  .waitsFor = u"watches"_s,
                  .whoWaits = u"Who watches whom"_s,
                  .raw = u"Raw nodes"_s,
                  .rawEntry = u"Node"_s,
                  .rawValue = u"Data"_s,
                  .wokenBy = u"woken by the deletion of %1"_s,
                  .nothing = u"no node of it is left"_s},
    };
}

BackendInfo redis()
{
    return {
        .kind = BackendKind::Redis,
        .word = u"redis"_s,
        .title = u"Redis"_s,
        .defaultName = u"redis"_s,
        .defaultPort = 6379,
        .schemes = {{u"redis"_s, Scheme::Redis},
                    {u"rediss"_s, Scheme::RedisTls, true},
                    {.word = u"redis+cluster"_s,
                     .scheme = Scheme::RedisCluster,
                     .isOneDeployment = true,
                     .exampleUri = u"redis+cluster://10.0.5.1:6379,10.0.5.2:6379"_s,
                     .title = u"Redis Cluster"_s},
                    {.word = u"redis+sentinel"_s,
                     .scheme = Scheme::RedisSentinel,
                     .isOneDeployment = true,
                     .namesService = true,
                     .defaultPort = 26379,
                     .exampleUri = u"redis+sentinel://10.0.5.1:26379,10.0.5.2:26379/mymaster"_s,
                     .title = u"Redis behind Sentinel"_s}},
        .path = UriPath::DatabaseNumber,
        .isNodesApart = true,
        .hasTtl = true,
        .areThreadsNamed = true,
        .uriHelp = u"redis://[user:password@]host:port[,host:port…][/db] (several: a Redlock set), rediss://…, "
                   u"redis+cluster://host:port[,…], redis+sentinel://host:port[,…]/SERVICE[/db]"_s,
        .lockHelp = u"a Redis key (redis:orders-lock)"_s,
        .exampleLock = u"orders-lock"_s,
        .exampleName = u"cache-redis"_s,
        .exampleHosts = u"10.0.5.1:6379 (several: a Redlock set)"_s,
        .userMissing = u"none: the default user"_s,
        .pathLabel = u"&Database"_s,
        .pathMissing = u"0"_s,
        .words = {.entry = u"key"_s,
                  .looked = u"keys"_s,
                  .lookedOne = u"key"_s,
                  .client = u"client"_s,
                  .waitsFor = u"waits for"_s,
                  .whoWaits = u"Who waits for whom"_s,
                  .raw = u"Raw values"_s,
                  .rawEntry = u"In the key"_s,
                  .rawValue = u"Value"_s,
                  .wokenBy = u"woken by the release message of %1"_s,
                  .nothing = u"no key of it is left"_s},
    };
}

BackendWords wordsOfSql(const QString &entry)
{
    return {.entry = entry,
            .looked = u"locks"_s,
            .lookedOne = u"lock"_s,
            .client = u"connection"_s,
            .waitsFor = u"waits for"_s,
            .whoWaits = u"Who blocks whom"_s,
            .raw = u"Connections"_s,
            .rawEntry = u"Connection"_s,
            .rawValue = u"Transaction or connection"_s,
            .wokenBy = {},
            .nothing = u"the server lists no holder and no waiter"_s};
}

BackendInfo mariaDb()
{
    return {
        .kind = BackendKind::MariaDb,
        .word = u"mariadb"_s,
        .title = u"MariaDB or MySQL"_s,
        .defaultName = u"mariadb"_s,
        .defaultPort = 3306,
        .schemes = {{u"mariadb"_s, Scheme::MariaDb}, {u"mysql"_s, Scheme::MariaDb}},
        .path = UriPath::DatabaseName,
        .isOneHost = true,
        .oneLockEach = true,
        .isIdentityAnAccount = true,
        .uriHelp = u"mariadb://[user[:password]@]host:port[/database]"_s,
        .lockHelp = u"a row (mariadb:shop.stock#id=1), a named SQL lock (mariadb:GET_LOCK#name), a "
                    u"table (mariadb:TABLE#shop.stock)"_s,
        .exampleLock = u"shop.stock#id=1"_s,
        .exampleName = u"billing-sql"_s,
        .exampleHosts = u"10.0.6.1:3306 (one server)"_s,
        .userMissing = u"none: an anonymous user"_s,
        .pathLabel = u"&Database"_s,
        .pathMissing = u"none: all that the user may see"_s,
        .endsStatement = u"KILL QUERY"_s,
        .words = wordsOfSql(u"row"_s),
    };
}

BackendInfo etcd()
{
    return {
        .kind = BackendKind::Etcd,
        .word = u"etcd"_s,
        .title = u"etcd"_s,
        .defaultName = u"etcd"_s,
        .defaultPort = 2379,
        .schemes = {{u"etcd"_s, Scheme::Etcd}, {u"etcds"_s, Scheme::Etcd, true}},
        .path = UriPath::DatabaseName,
        .hasTtl = true,
        .isSessionOneClient = true,
        .uriHelp = u"etcd://[user:password@]host:port[,host:port…][/PREFIX]"_s,
        .lockHelp = u"a mutex of etcd by the prefix of its keys (etcd:orders for the keys orders/…)"_s,
        .exampleLock = u"orders"_s,
        .exampleName = u"orders-etcd"_s,
        .exampleHosts = u"10.0.7.1:2379,10.0.7.2:2379"_s,
        .userMissing = u"none: for a cluster without authentication"_s,
        .pathLabel = u"&Prefix"_s,
        .pathMissing = u"none: all keys"_s,
        .words = {.entry = u"key"_s,
                  .looked = u"keys"_s,
                  .lookedOne = u"key"_s,
                  .client = u"lease"_s,
                  .waitsFor = u"watches"_s,
                  .whoWaits = u"Who watches whom"_s,
                  .raw = u"Raw keys"_s,
                  .rawEntry = u"Key"_s,
                  .rawValue = u"Value"_s,
                  .wokenBy = u"woken by the deletion of %1"_s,
                  .nothing = u"no key of it is left"_s},
    };
}

BackendInfo postgreSql()
{
    return {
        .kind = BackendKind::PostgreSql,
        .word = u"postgresql"_s,
        .title = u"PostgreSQL"_s,
        .defaultName = u"postgresql"_s,
        .defaultPort = 5432,
        .schemes = {{u"postgresql"_s, Scheme::PostgreSql}, {u"postgres"_s, Scheme::PostgreSql}},
        .path = UriPath::DatabaseName,
        .isOneHost = true,
        .oneLockEach = true,
        .isIdentityAnAccount = true,
        .uriHelp = u"postgresql://[user[:password]@]host:port[/database]"_s,
        .lockHelp = u"an advisory lock by its key or its two (postgresql:ADVISORY#42, ADVISORY#7,42), a row "
                    u"(postgresql:public.stock#id=1), a table"_s,
        .exampleLock = u"ADVISORY#42"_s,
        .exampleName = u"billing-pg"_s,
        .exampleHosts = u"10.0.7.1:5432 (one server)"_s,
        .userMissing = u"none: the system's login name"_s,
        .pathLabel = u"&Database"_s,
        .pathMissing = u"none: the one of the user's name"_s,
        .endsStatement = u"pg_cancel_backend"_s,
        .breaksCyclesAfter = u"deadlock_timeout"_s,
        .words = wordsOfSql(u"lock"_s),
    };
}

} // namespace

const std::vector<BackendInfo> &allBackends()
{
    static const std::vector<BackendInfo> all{zooKeeper(), redis(), mariaDb(), etcd(), postgreSql()};
    return all;
}

const BackendInfo &infoOf(BackendKind kind)
{
    return allBackends()[static_cast<std::size_t>(kind)];
}

std::optional<BackendKind> backendOf(Scheme scheme)
{
    for (const auto &backend : allBackends()) {
        if (std::ranges::find(backend.schemes, scheme, &BackendScheme::scheme) != backend.schemes.end())
            return backend.kind;
    }
    return std::nullopt;
}

const BackendScheme *schemeInfoOf(Scheme scheme)
{
    for (const auto &backend : allBackends()) {
        const auto found = std::ranges::find(backend.schemes, scheme, &BackendScheme::scheme);
        if (found != backend.schemes.end())
            return &*found;
    }
    return nullptr;
}

bool areNodesApart(Scheme scheme)
{
    const auto backend = backendOf(scheme);
    return backend && infoOf(*backend).isNodesApart && !schemeInfoOf(scheme)->isOneDeployment;
}

} // namespace lockscope
