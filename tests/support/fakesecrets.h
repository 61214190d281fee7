// SPDX-License-Identifier: Apache-2.0
// A keychain in memory.
#pragma once

#include "core/connections/connectionstore.h"

#include <map>

namespace lockscope::testing {

// It can be locked, and it can say nothing at all.
class FakeSecrets : public SecretStore {
public:
    struct Box {
        std::map<QString, QString> secrets;
        bool isLocked = false;
        bool isSilent = false;
        bool isAbsent = false; // no keychain runs
    };
    explicit FakeSecrets(Box &box) : m_box(box) {}

    void read(const QString &key, QObject *context, Found found) override
    {
        const auto secret = m_box.secrets.find(key);
        std::optional<QString> value;
        if (!m_box.isLocked && !m_box.isAbsent && secret != m_box.secrets.end())
            value = secret->second;
        if (!m_box.isSilent)
            QMetaObject::invokeMethod(
                context, [found, value] { found(value); }, Qt::QueuedConnection);
    }
    void write(const QString &key, const QString &secret, QObject *context, Done done) override
    {
        SecretKept kept{.isWithoutKeychain = m_box.isAbsent};
        if (m_box.isAbsent)
            kept.problem = QStringLiteral("nobody answers");
        else if (m_box.isLocked)
            kept.problem = QStringLiteral("the keychain is locked");
        else
            m_box.secrets[key] = secret;
        QMetaObject::invokeMethod(
            context, [done, kept] { done(kept); }, Qt::QueuedConnection);
    }
    void remove(const QString &key) override { m_box.secrets.erase(key); }

private:
    Box &m_box;
};

} // namespace lockscope::testing
