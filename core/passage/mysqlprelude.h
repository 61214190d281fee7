// SPDX-License-Identifier: Apache-2.0
// How TLS begins in MariaDB's and MySQL's protocol, for a client that knows nothing of it: the server greets in
// clear; who wants TLS answers with the head of its login only, starts TLS, and logs in. The client is shown a
// server without TLS, and its login is held back until the server has been verified. One packet more goes to the
// server than came from the client, so that the numbers of packets are mended until the login is over. Pure.
// Sources: the MySQL internals manual, Connection Phase; MariaDB's knowledge base, Connecting.
#pragma once

#include <QByteArray>
#include <QString>

namespace lockscope::passage {

class MySqlPrelude {
public:
    struct Step {
        QByteArray toClient, toServer; // in clear until TLS has started, encrypted from then on
        bool startTls = false;         // once toServer is out; then tlsStarted()
        QString problem;               // not empty: tell the client (failure()) and close
    };
    [[nodiscard]] Step fromServer(const QByteArray &bytes);
    [[nodiscard]] Step fromClient(const QByteArray &bytes);
    [[nodiscard]] Step tlsStarted();
    // From then on every byte goes through as it is.
    [[nodiscard]] bool isOver() const { return m_state == State::Over; }
    // What a server would say instead of going on.
    [[nodiscard]] QByteArray failure(const QString &why, int number) const;

private:
    enum class State { Greeting, Login, StartingTls, Answers, Over };
    [[nodiscard]] Step greeting(QByteArray packet);
    [[nodiscard]] Step login(QByteArray packet);

    State m_state = State::Greeting;
    QByteArray m_fromServer, m_fromClient; // not yet a whole packet
    QByteArray m_login;                    // waits for TLS
};

} // namespace lockscope::passage
