// SPDX-License-Identifier: Apache-2.0
// A folder below the system's temporary one, for us alone (0700), removed with the object.
//
// It is named lockscope-<pid>-<random> and holds a file `owner` that we keep locked while we live:
// the lock, not the number, says whether its process is gone (numbers are used again, and mean
// nothing across containers that share /tmp).
#pragma once

#include "core/base/connectionuri.h"

namespace lockscope::sandbox {

class TemporaryFolder {
public:
    [[nodiscard]] static Result<std::unique_ptr<TemporaryFolder>> make();
    ~TemporaryFolder();
    Q_DISABLE_COPY(TemporaryFolder)

    [[nodiscard]] QString path() const { return m_path; }
    [[nodiscard]] QString file(const QString &name) const { return m_path + QLatin1Char('/') + name; }
    // A file only we can read.
    [[nodiscard]] Result<void> write(const QString &name, const QByteArray &text) const;

private:
    explicit TemporaryFolder(QString path) : m_path(std::move(path)) {}
    [[nodiscard]] bool markAsOwned();

    QString m_path;
    int m_lock = -1;
};

// What a sandbox with TLS shows itself by: an authority of its own, and by it a certificate for the servers
// (127.0.0.1 and localhost) and one for clients. Made by the openssl program, gone with the sandbox.

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
