// SPDX-License-Identifier: Apache-2.0
// The real Redis connection: hiredis formats and parses, QSslSocket carries (plain or TLS).
//
// RESP2. Reconnects by itself with back-off (first at once, then doubling from 50 ms to 5 s) and logs
// in again (AUTH, SELECT, CLIENT SETNAME lockscope). A wrong password is AuthFailed and is not retried;
// a database that SELECT refuses is Closed. A peer that falls silent for 30 s counts as gone.
#pragma once

#include "core/async/passwordsource.h"
#include "core/base/connectionuri.h"
#include "core/redis/connection.h"

#include <QByteArray>
#include <QString>

#include <functional>
#include <memory>

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

} // namespace lockscope::redis
