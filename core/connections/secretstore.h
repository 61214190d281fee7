// SPDX-License-Identifier: Apache-2.0
// Where passwords are kept: the desktop's keychain, or nowhere. Main thread only; nothing blocks.
#pragma once

#include <version>

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <optional>

namespace lockscope {

class SecretStore {
public:
    // `why` is empty on success.
    using Done = std::function<void(const QString &why)>;
    // Empty when there is none, or the keychain would not say.
    using Found = std::function<void(std::optional<QString> secret)>;

    virtual ~SecretStore() = default;
    // Answers are dropped when `context` died meanwhile.
    virtual void read(const QString &key, QObject *context, Found found) = 0;
    virtual void write(const QString &key, const QString &secret, QObject *context, Done done) = 0;
    virtual void remove(const QString &key) = 0;
};

// The system's keychain; null in a build without QtKeychain: then passwords are asked for each time.
[[nodiscard]] std::unique_ptr<SecretStore> systemSecrets();

} // namespace lockscope
