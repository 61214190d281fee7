// SPDX-License-Identifier: Apache-2.0
// As much of an HTTP/1.1 server as a scraper needs: GET /metrics, one answer per connection. What it answers is given
// to it; a request costs nothing else.
#pragma once

#include "core/base/connectionuri.h"

#include <QHostAddress>
#include <QTcpServer>
#include <QTcpSocket>

namespace lockscope::ctl {

class MetricsServer {
public:
    struct Address {
        QHostAddress host;
        quint16 port = 0; // 0: any that is free
    };
    // "[ADDRESS:]PORT": of this machine only where no address is given.
    [[nodiscard]] static Result<Address> parseAddress(const QString &text);

    MetricsServer();
    // Where it listens then.
    [[nodiscard]] Result<HostPort> listen(const Address &address);
    void setText(QByteArray text) { m_text = std::move(text); }

private:
    void accept(QTcpSocket *socket);
    void read(QTcpSocket *socket);

    QTcpServer m_server;
    QByteArray m_text; // empty: nothing is known yet
    int m_open = 0;
};

} // namespace lockscope::ctl
