// SPDX-License-Identifier: Apache-2.0
// "[NAME=]URI", the --connect of both programs, read into a value. See docs/connections.md.
#pragma once

#include "core/base/backendkind.h"
#include "core/base/bytes.h"
#include "core/base/result.h"

#include <QProcessEnvironment>

namespace lockscope {

// How a connection gets to its servers, whatever they are: TLS, SSH and Kubernetes, and where its password comes
// from, as the query of its URI says. What is done
// with it: core/transport.

struct TlsOptions {
    bool isOn = false;
    QString ca;             // PEM file: these authorities and no others; empty: the system's
    QString cert, key;      // PEM files, for a server that asks who its client is; both or neither
    QString keyPassphrase;  // from the environment only; never printed, never in a URI
    QString serverName;     // what the certificate has to be for; empty: the host's name in the URI
    bool isVerified = true; // false: whoever stands in between may read and change everything
    friend bool operator==(const TlsOptions &, const TlsOptions &) = default;
};

struct SshOptions {
    QString user, host; // as the system's ssh knows it: a name of its configuration, too
    quint16 port = 0;   // 0: as ssh's configuration says
    [[nodiscard]] bool isOn() const { return !host.isEmpty(); }
    // "ops@bastion:2222"
    [[nodiscard]] QString target() const;
    friend bool operator==(const SshOptions &, const SshOptions &) = default;
};

// What the system's kubectl forwards to.
struct KubeOptions {
    QString context; // of its configuration; empty: the current one
    QString space;   // the namespace
    QString kind;    // "svc", "pod", "deployment", "statefulset"; empty: a service of that name, else a pod
    QString name;
    quint16 port = 0; // of the pod or the service; 0: as the URI's host says
    [[nodiscard]] bool isOn() const { return !name.isEmpty(); }
    // "prod/shop/svc/redis:6379"
    [[nodiscard]] QString target() const;
    friend bool operator==(const KubeOptions &, const KubeOptions &) = default;
};

struct TransportOptions {
    TlsOptions tls;
    SshOptions ssh;
    KubeOptions kube;
    QString passwordCommand; // prints the password at each connect; not shown: it may hold a secret itself

    // Its servers are reached by a program of the system that forwards to them.
    [[nodiscard]] bool isTunnelled() const { return ssh.isOn() || kube.isOn(); }

    // Reads one option of a query. False: it is none of these.
    [[nodiscard]] Result<bool> read(const QString &key, const QString &value);
    // Once all are read: whether they fit together, with what the scheme implies.
    [[nodiscard]] Result<void> settle(bool isTlsScheme);
    // As parts of a query, percent-encoded: "ca=/etc/ca.pem". The scheme may say that it is TLS.
    [[nodiscard]] QStringList query(bool isTlsScheme) const;
    // Empty, or what everybody who looks at this connection has to know.
    [[nodiscard]] QString warning() const;

private:
    QString m_switch; // tls=, as written
};

// The same of a connection of which only its address is known.
[[nodiscard]] QString transportWarning(const QString &uri);

// "h:1?tls=on&ssh=ops@bastion" without what may hold an @ and is no credentials.
[[nodiscard]] QString withoutTunnelOption(const QString &uri);
// For what others read: a command may hold a secret.
[[nodiscard]] QString withoutPasswordCommand(const QString &uri);

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
