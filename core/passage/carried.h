// SPDX-License-Identifier: Apache-2.0
// One connection of ours, carried on from a door to its server, until either side closes. It outlives its door, so
// that a session can say farewell. Passages' thread only.
#pragma once

#include "core/passage/speech.h"
#include "core/passage/sshtunnel.h"
#include "core/passage/thread.h"

#include <QSslSocket>

namespace lockscope::passage {

// Where a door leads.
struct Route {
    HostPort server;  // as it is called
    HostPort dialled; // where that is: itself, or another door
    Speech speech;
    TlsOptions tls;
    std::shared_ptr<SshTunnel> tunnel; // null: dialled is
    std::shared_ptr<Problem> problem;
};

class Carried : public QObject {
public:
    // Owns itself.
    static void begin(std::unique_ptr<QTcpSocket> client, Route route);
    ~Carried() override;

private:
    Carried(std::unique_ptr<QTcpSocket> client, Route route);
    void dial();
    void dialThroughTunnel(const QString &socket);
    void dialHost();
    void farIsOpen();
    void tlsIsOn();
    void farBroke(const QString &why, bool isOfTls = false);
    void take(const Prelude::Step &step);
    void readClient();
    void readServer();
    void clientEnded();
    void serverEnded();
    [[nodiscard]] bool isInPrelude() const { return m_prelude && !m_prelude->isOver(); }
    [[nodiscard]] qint64 unsentToServer() const;

    const Route m_route;
    const InUse m_inUse{InUse::By::Carried};
    std::unique_ptr<QTcpSocket> m_client;
    std::unique_ptr<QIODevice> m_far;         // a QSslSocket, or a QLocalSocket
    QSslSocket *m_socket = nullptr;           // m_far, where it is one
    const std::unique_ptr<Prelude> m_prelude; // none: TLS from the first byte, or never
    bool m_isAsking = false;                  // the server, for TLS
    bool m_isOpen = false;                    // bytes may go to the server
    bool m_isTold = false;                    // the client was told why there is nothing
    bool m_isEnding = false;
};

} // namespace lockscope::passage
