// SPDX-License-Identifier: Apache-2.0
// What a sandbox with TLS shows itself by: an authority of its own, and by it a certificate for the servers
// (127.0.0.1 and localhost) and one for clients. Made by the openssl program, gone with the sandbox.
#pragma once

#include "core/base/connectionuri.h"
#include "core/sandbox/temporaryfolder.h"

namespace lockscope::sandbox {

class Certificates {
public:
    // Blocks for a moment. Unsupported where openssl is not installed.
    [[nodiscard]] static Result<std::unique_ptr<Certificates>> make();

    // In PEM form; the keys as PKCS #8, without a passphrase.
    [[nodiscard]] QString authority() const { return m_folder->file(QStringLiteral("ca.pem")); }
    [[nodiscard]] QString server() const { return m_folder->file(QStringLiteral("server.pem")); }
    [[nodiscard]] QString serverKey() const { return m_folder->file(QStringLiteral("server.key")); }
    [[nodiscard]] QString serverBoth() const { return m_folder->file(QStringLiteral("server-both.pem")); }
    [[nodiscard]] QString client() const { return m_folder->file(QStringLiteral("client.pem")); }
    [[nodiscard]] QString clientKey() const { return m_folder->file(QStringLiteral("client.key")); }
    // What a connection to those servers says.
    [[nodiscard]] TlsOptions forClients() const;
    // Another authority, that signed none of these: to be refused by.
    [[nodiscard]] QString stranger() const { return m_folder->file(QStringLiteral("stranger.pem")); }

private:
    explicit Certificates(std::unique_ptr<TemporaryFolder> folder) : m_folder(std::move(folder)) {}
    std::unique_ptr<TemporaryFolder> m_folder;
};

} // namespace lockscope::sandbox
