// SPDX-License-Identifier: Apache-2.0
#include "core/connections/secretstore.h"

#ifdef LOCKSCOPE_KEYCHAIN
#include <QPointer>
#include <qt6keychain/keychain.h>
#endif

namespace lockscope {

#ifdef LOCKSCOPE_KEYCHAIN

namespace {

const QString &serviceName()
{
    static const QString name = QStringLiteral("lockscope");
    return name;
}

// Jobs delete themselves when they are done.
class Keychain : public SecretStore {
public:
    void read(const QString &key, QObject *context, Found found) override
    {
        auto *job = new QKeychain::ReadPasswordJob(serviceName());
        job->setKey(key);
        QObject::connect(job, &QKeychain::Job::finished, context, [job, found = std::move(found)] {
            const bool isFound = job->error() == QKeychain::NoError;
            found(isFound ? std::optional(job->textData()) : std::nullopt);
        });
        job->start();
    }
    void write(const QString &key, const QString &secret, QObject *context, Done done) override
    {
        auto *job = new QKeychain::WritePasswordJob(serviceName());
        job->setKey(key);
        job->setTextData(secret);
        QObject::connect(job, &QKeychain::Job::finished, context, [job, done = std::move(done)] {
            done(job->error() == QKeychain::NoError ? QString() : job->errorString());
        });
        job->start();
    }
    void remove(const QString &key) override
    {
        auto *job = new QKeychain::DeletePasswordJob(serviceName());
        job->setKey(key);
        job->start();
    }
};

} // namespace

std::unique_ptr<SecretStore> systemSecrets()
{
    return std::make_unique<Keychain>();
}

#else

std::unique_ptr<SecretStore> systemSecrets()
{
    return nullptr;
}

#endif

} // namespace lockscope
