// SPDX-License-Identifier: Apache-2.0
// Where passwords are kept: the desktop's keychain, or where none runs a file (secretfile.h). Main thread only; no
// keychain is waited for.
#pragma once

#include <version>

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

// The system's keychain, with the file beside it.
[[nodiscard]] std::unique_ptr<SecretStore> systemSecrets();

} // namespace lockscope
