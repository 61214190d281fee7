// SPDX-License-Identifier: Apache-2.0
// Where passwords are kept: the desktop's keychain, or where none runs a file (SecretFile). Main thread only; no
// keychain is waited for.
#pragma once

#include <version>

#include "core/base/result.h"

#include <QJsonObject>
#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <optional>

namespace lockscope {

// What became of a secret that was to be kept.
struct SecretKept {
    QString problem;                // why it was not; empty: it was
    QString remark;                 // where it is, if that is not the keychain
    bool isWithoutKeychain = false; // the problem: none runs here
};

class SecretStore {
public:
    using Done = std::function<void(const SecretKept &kept)>;
    // Empty when there is none, or the keychain would not say.
    using Found = std::function<void(std::optional<QString> secret)>;

    virtual ~SecretStore() = default;
    // Answers are dropped when `context` died meanwhile.
    virtual void read(const QString &key, QObject *context, Found found) = 0;
    virtual void write(const QString &key, const QString &secret, QObject *context, Done done) = 0;
    virtual void remove(const QString &key) = 0;
};

// Whole or not at all, and its owner's alone before there is anything in it.
[[nodiscard]] Result<void> writeOwnersFile(const QString &path, const QJsonObject &content);

// The system's keychain, with the file beside it.
[[nodiscard]] std::unique_ptr<SecretStore> systemSecrets();

// Passwords where no keychain runs, as on a server or in a container: in a file that only its owner can read. The
// keychain comes first, and whoever asked is told where a password went. Main thread only.
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

class FallbackSecretStore : public SecretStore {
public:
    // `keychain` may be null: a build without one.
    FallbackSecretStore(std::unique_ptr<SecretStore> keychain, SecretFile file)
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
