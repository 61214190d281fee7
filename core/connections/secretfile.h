// SPDX-License-Identifier: Apache-2.0
// Passwords where no keychain runs, as on a server or in a container: in a file that only its owner can read. The
// keychain comes first, and whoever asked is told where a password went. Main thread only.
#pragma once

#include "core/connections/secretstore.h"

#include "core/base/result.h"

namespace lockscope {

class SecretFile {
public:
    explicit SecretFile(QString path) : m_path(std::move(path)) {}
    // secrets.json in the folder where the desktop keeps settings.
    [[nodiscard]] static QString defaultPath();
    [[nodiscard]] const QString &path() const { return m_path; }

    [[nodiscard]] std::optional<QString> read(const QString &key) const;
    // Whole or not at all. A file that is not understood is left as it is.
    Result<void> write(const QString &key, const QString &secret);
    void remove(const QString &key);

private:
    QString m_path;
};

class SecretsOrFile : public SecretStore {
public:
    // `keychain` may be null: a build without one.
    SecretsOrFile(std::unique_ptr<SecretStore> keychain, SecretFile file)
        : m_keychain(std::move(keychain)), m_file(std::move(file))
    {
    }
    void read(const QString &key, QObject *context, Found found) override;
    void write(const QString &key, const QString &secret, QObject *context, Done done) override;
    void remove(const QString &key) override;

private:
    [[nodiscard]] SecretKept keepInFile(const QString &key, const QString &secret, const QString &why);

    std::unique_ptr<SecretStore> m_keychain;
    SecretFile m_file;
};

} // namespace lockscope
