// SPDX-License-Identifier: Apache-2.0
// How TLS begins inside of a protocol, for a client that knows nothing of it: what goes to either side until it has.
// And how a login goes on, where the server may not have the password itself (loginguard.h). Each protocol has one of
// its own. Pure.
#pragma once

#include <QByteArray>
#include <QString>

namespace lockscope::passage {

class Prelude {
public:
    struct Step {
        QByteArray toClient, toServer; // in clear until TLS has started, encrypted from then on
        bool startTls = false;         // once toServer is out; then tlsStarted()
        QString problem;               // not empty: tell the client (failure()) and close
        bool isRefusal = false;        // the problem is what the server asked for
    };
    virtual ~Prelude() = default;

    // What the server is asked before the client may say anything: nothing of it is sent until TLS has started.
    [[nodiscard]] virtual QByteArray request() const { return {}; }
    [[nodiscard]] virtual Step fromServer(const QByteArray &bytes) = 0;
    [[nodiscard]] virtual Step fromClient(const QByteArray &bytes) = 0;
    [[nodiscard]] virtual Step tlsStarted() = 0;
    // From then on every byte goes through as it is.
    [[nodiscard]] virtual bool isOver() const = 0;
    // What a server would say instead of going on; empty: the end of the connection says it.
    [[nodiscard]] virtual QByteArray failure(const QString &, bool /*isOfTls*/) const { return {}; }
};

} // namespace lockscope::passage
