// SPDX-License-Identifier: Apache-2.0
#include "core/connections/secretfile.h"

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
            SecretKept kept;
            if (job->error() != QKeychain::NoError)
                kept.problem = job->errorString();
            // Where nobody answers on the bus that is "another error"; who says no is told apart.
            kept.isWithoutKeychain = job->error() == QKeychain::NoBackendAvailable
                                     || job->error() == QKeychain::NotImplemented
                                     || job->error() == QKeychain::OtherError;
            done(kept);
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

std::unique_ptr<SecretStore> keychainOfSystem()
{
    return std::make_unique<Keychain>();
}

} // namespace

#else

namespace {

std::unique_ptr<SecretStore> keychainOfSystem()
{
    return nullptr;
}

} // namespace

#endif

std::unique_ptr<SecretStore> systemSecrets()
{
    return std::make_unique<SecretsOrFile>(keychainOfSystem(), SecretFile(SecretFile::defaultPath()));
}

} // namespace lockscope
