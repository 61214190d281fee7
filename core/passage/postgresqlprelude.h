// SPDX-License-Identifier: Apache-2.0
// How TLS begins in PostgreSQL's protocol: the server is asked for it (SSLRequest), and answers with one byte.
// Source: PostgreSQL's documentation, Frontend/Backend Protocol, SSL Session Encryption.
#pragma once

#include "core/passage/speech.h"

namespace lockscope::passage {

class PostgreSqlPrelude final : public Prelude {
public:
    [[nodiscard]] QByteArray request() const override;
    [[nodiscard]] Step fromServer(const QByteArray &bytes) override;
    [[nodiscard]] Step fromClient(const QByteArray &bytes) override;
    [[nodiscard]] Step tlsStarted() override;
    [[nodiscard]] bool isOver() const override { return m_isOver; }

private:
    bool m_isOver = false;
};

[[nodiscard]] std::unique_ptr<Prelude> makePostgreSqlPrelude();
inline constexpr Speech postgreSqlTls{true, makePostgreSqlPrelude};

} // namespace lockscope::passage
