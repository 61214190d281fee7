// SPDX-License-Identifier: Apache-2.0
// How a connection gets to its servers, whatever they are: TLS, SSH and Kubernetes, and where its password comes
// from, as the query of its URI says. See
// docs/connections.md. What is done with it: core/transport.
#pragma once

#include "core/base/result.h"

namespace lockscope {

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

} // namespace lockscope
