// SPDX-License-Identifier: Apache-2.0
// How TLS begins in PostgreSQL's protocol: the server is asked for it (SSLRequest), and answers with one byte.
// And until the login is over: what the server asks for. Source: PostgreSQL's documentation, Frontend/Backend
// Protocol, SSL Session Encryption and Message Formats.
#pragma once

#include "core/transport/speech.h"

namespace lockscope::transport {

class PostgreSqlPrelude final : public Prelude {
public:
    PostgreSqlPrelude(bool isTls, Trust trust) : m_trust(trust), m_state(isTls ? State::Asking : State::Login) {}
    [[nodiscard]] QByteArray request() const override;
    [[nodiscard]] Step fromServer(const QByteArray &bytes) override;
    [[nodiscard]] Step fromClient(const QByteArray &bytes) override;
    [[nodiscard]] Step tlsStarted() override;
    [[nodiscard]] bool isOver() const override { return m_state == State::Over; }
    [[nodiscard]] QByteArray failure(const QString &why, bool isOfTls) const override;

private:
    enum class State { Asking, Login, Over };
    [[nodiscard]] Step login(const QByteArray &bytes);

    const Trust m_trust;
    State m_state;
    QByteArray m_fromServer; // not yet a whole message
    bool m_isRefused = false;
};

inline constexpr SqlSpeech postgreSqlSpeech = speechOf<PostgreSqlPrelude>;

} // namespace lockscope::transport
