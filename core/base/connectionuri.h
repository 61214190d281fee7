// SPDX-License-Identifier: Apache-2.0
// "[NAME=]URI", the --connect of both programs, read into a value. See docs/connections.md.
#pragma once

#include "core/base/backendkind.h"
#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/base/transportoptions.h"

#include <QProcessEnvironment>

#include <optional>
#include <vector>

namespace lockscope {

struct HostPort {
    QString host;
    quint16 port = 0;
    friend bool operator==(const HostPort &, const HostPort &) = default;
};
// "10.0.3.7:6379", "[::1]:6379".
[[nodiscard]] QString displayHost(const HostPort &host);

// A connection as asked for. `password` is a secret: it is never printed, logged or written down
// with the rest (displayUri() leaves it out).
struct ConnectionSpec {
    ConnectionName name;
    Scheme scheme = Scheme::ZooKeeper;
    std::vector<HostPort> hosts;
    QString user;
    QString password;
    QByteArray chroot;        // UriPath::Chroot: "" or "/a/b"
    quint16 adminPort = 8080; // ZooKeeper's AdminServer
    int database = 0;         // UriPath::DatabaseNumber
    QString databaseName;     // UriPath::DatabaseName
    QString service;          // BackendScheme::namesService
    quint64 seed = 0;         // sim:
    TransportOptions transport;
    bool production = false;
    bool readOnly = false;
    bool armed = false; // writes are allowed although it is production or read-only by its mark

    [[nodiscard]] bool hasPassword() const { return !password.isEmpty() || !transport.passwordCommand.isEmpty(); }
    // The URI without user, password and password command, for titles, logs and messages.
    [[nodiscard]] QString displayUri() const;
};

// What stands behind the ? of its URI, without it: the AdminServer's port, TLS, SSH. Empty if all is as usual.
[[nodiscard]] QString queryOf(const ConnectionSpec &spec);
// "zk", "redis", "rediss", "mariadb": the schemes of servers.
[[nodiscard]] QStringList serverSchemes();
// Reads one argument. Without NAME= the name stays empty; nameConnections gives it one.
[[nodiscard]] Result<ConnectionSpec> parseConnection(const QString &argument);
// Whether its password holds / or ?, by which it would be cut.
[[nodiscard]] bool hasUnencodedPassword(const QString &argument);
// Names the nameless after their scheme: zk, redis, mariadb, sim; a second one zk2 … Two of one name are an error.
[[nodiscard]] Result<void> nameConnections(std::vector<ConnectionSpec> &specs);
// The environment variable that may hold the connection's password: LOCKSCOPE_PASSWORD_<NAME>.
[[nodiscard]] QByteArray passwordVariable(const ConnectionName &name);
// And its client key's passphrase: LOCKSCOPE_PASSWORD_<NAME>_KEY.
[[nodiscard]] QByteArray passphraseVariable(const ConnectionName &name);
// The environment of a program that is started: ours without such variables.
[[nodiscard]] QProcessEnvironment environmentWithoutPasswords();

} // namespace lockscope
