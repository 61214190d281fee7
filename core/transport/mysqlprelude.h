// SPDX-License-Identifier: Apache-2.0
// How TLS begins in MariaDB's and MySQL's protocol, for a client that knows nothing of it: the server greets in
// clear; who wants TLS answers with the head of its login only, starts TLS, and logs in. The client is shown a
// server without TLS, and its login is held back until the server has been verified. One packet more goes to the
// server than came from the client, so that the numbers of packets are mended until the login is over. Pure.
// Without TLS nothing is changed, and what the server asks for in the login is watched (speech.h).
// Sources: the MySQL internals manual, Connection Phase; MariaDB's knowledge base, Connecting.
#pragma once

#include "core/transport/speech.h"

namespace lockscope::transport {

class MySqlPrelude final : public Prelude {
public:
    MySqlPrelude(bool isTls, Trust trust) : m_isTls(isTls), m_guard(trust) {}
    [[nodiscard]] Step fromServer(const QByteArray &bytes) override;
    [[nodiscard]] Step fromClient(const QByteArray &bytes) override;
    [[nodiscard]] Step tlsStarted() override;
    [[nodiscard]] bool isOver() const override { return m_state == State::Over; }
    [[nodiscard]] QByteArray failure(const QString &why, bool isOfTls) const override;

private:
    enum class State { Greeting, Login, StartingTls, Answers, Over };
    [[nodiscard]] Step greeting(QByteArray packet);
    [[nodiscard]] Step login(QByteArray packet);
    [[nodiscard]] Step refused(const QString &why, int number);

    const bool m_isTls;
    MySqlGuard m_guard;
    int m_refusedNumber = -1; // of the packet that the client is not given
    State m_state = State::Greeting;
    QByteArray m_fromServer, m_fromClient; // not yet a whole packet
    QByteArray m_login;                    // waits for TLS
};

inline constexpr SqlSpeech mySqlSpeech = speechOf<MySqlPrelude>;

} // namespace lockscope::transport
