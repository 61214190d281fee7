// SPDX-License-Identifier: Apache-2.0
#include "core/connections/connectionstore.h"

#include "core/base/fieldreader.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSaveFile>
#include <QStandardPaths>

#ifdef LOCKSCOPE_KEYCHAIN
#include <qt6keychain/keychain.h>
#endif

namespace lockscope {

namespace {

#ifdef LOCKSCOPE_KEYCHAIN
const auto serviceName = u"lockscope"_s;

// Jobs delete themselves when they are done.
class Keychain : public SecretStore {
public:
    void read(const QString &key, QObject *context, Found found) override
    {
        auto *job = new QKeychain::ReadPasswordJob(serviceName);
        job->setKey(key);
        QObject::connect(job, &QKeychain::Job::finished, context, [job, found = std::move(found)] {
            const bool isFound = job->error() == QKeychain::NoError;
            found(isFound ? std::optional(job->textData()) : std::nullopt);
        });
        job->start();
    }
    void write(const QString &key, const QString &secret, QObject *context, Done done) override
    {
        auto *job = new QKeychain::WritePasswordJob(serviceName);
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
        auto *job = new QKeychain::DeletePasswordJob(serviceName);
        job->setKey(key);
        job->start();
    }
};
#endif

constexpr auto ownersOnly = QFileDevice::ReadOwner | QFileDevice::WriteOwner;
constexpr int secretsVersion = 1;
const auto secretsField = u"secrets"_s;

// What is in it, empty where there is no file.
Result<QJsonObject> secretsIn(const QString &path)
{
    if (!QFile::exists(path))
        return QJsonObject();
    QFile::setPermissions(path, ownersOnly); // whoever copied it here may have let others read it
    const auto file = openRegularFile(path);
    if (!file)
        return Error{ErrorCode::Server, u"could not read %1: %2"_s.arg(path, file.error().message)};
    const auto document = QJsonDocument::fromJson((*file)->readAll());
    if (!document.isObject() || document["version"_L1].toInt() != secretsVersion)
        return Error{ErrorCode::Refused, u"could not parse %1; the file stays unchanged"_s.arg(path)};
    return document[secretsField].toObject();
}

Result<void> store(const QString &path, const QJsonObject &secrets)
{
    return writeOwnersFile(path, {{u"version"_s, secretsVersion}, {secretsField, secrets}});
}

} // namespace

std::unique_ptr<SecretStore> systemSecrets()
{
#ifdef LOCKSCOPE_KEYCHAIN
    auto keychain = std::make_unique<Keychain>();
#else
    std::unique_ptr<SecretStore> keychain;
#endif
    return std::make_unique<FallbackSecretStore>(std::move(keychain), SecretFile(SecretFile::defaultPath()));
}

Result<void> writeOwnersFile(const QString &path, const QJsonObject &content)
{
    QDir().mkpath(QFileInfo(path).absolutePath());
    QSaveFile file(path);
    const bool isWritten = file.open(QIODevice::WriteOnly) && file.setPermissions(ownersOnly)
                           && file.write(QJsonDocument(content).toJson()) >= 0 && file.commit();
    if (!isWritten)
        return Error{ErrorCode::Server, u"could not write %1: %2"_s.arg(path, file.errorString())};
    return {};
}

QString SecretFile::defaultPath()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + u"/lockscope/secrets.json"_s;
}

std::optional<QString> SecretFile::read(const QString &key) const
{
    const auto secrets = secretsIn(m_path);
    if (!secrets || !secrets->contains(key))
        return std::nullopt;
    return secrets->value(key).toString();
}

Result<void> SecretFile::write(const QString &key, const QString &secret)
{
    TRY(auto &secrets, secretsIn(m_path));
    secrets.insert(key, secret);
    return store(m_path, secrets);
}

void SecretFile::remove(const QString &key)
{
    auto secrets = secretsIn(m_path);
    if (!secrets || !secrets->contains(key))
        return;
    secrets->remove(key);
    if (secrets->isEmpty())
        QFile::remove(m_path);
    else
        (void)store(m_path, *secrets);
}

// What the file has is there because there was no keychain, and then need not wait for one.
void FallbackSecretStore::read(const QString &key, QObject *context, Found found)
{
    auto kept = m_file.read(key);
    if (!kept && m_keychain) {
        m_keychain->read(key, context, std::move(found));
        return;
    }
    QMetaObject::invokeMethod(
        context, [kept = std::move(kept), found = std::move(found)] { found(kept); }, Qt::QueuedConnection);
}

void FallbackSecretStore::write(const QString &key, const QString &secret, QObject *context, Done done)
{
    if (!m_keychain) {
        const auto kept = keepInFile(key, secret, u"this build has no keychain"_s);
        QMetaObject::invokeMethod(
            context, [kept, done = std::move(done)] { done(kept); }, Qt::QueuedConnection);
        return;
    }
    m_keychain->write(key, secret, context, [this, key, secret, done = std::move(done)](const SecretKept &kept) {
        if (kept.problem.isEmpty())
            m_file.remove(key); // an older one
        // Who was asked for leave and said no has not asked for a file.
        done(kept.isWithoutKeychain ? keepInFile(key, secret, u"no keychain runs here (%1)"_s.arg(kept.problem))
                                    : kept);
    });
}

void FallbackSecretStore::remove(const QString &key)
{
    m_file.remove(key);
    if (m_keychain)
        m_keychain->remove(key);
}

SecretKept FallbackSecretStore::keepInFile(const QString &key, const QString &secret, const QString &why)
{
    SecretKept kept;
    if (const auto written = m_file.write(key, secret); !written)
        kept.problem = why + u"; "_s + written.error().message;
    else
        kept.remark =
            u"%1: the password is in %2, unencrypted, and only you can read that file"_s.arg(why, m_file.path());
    return kept;
}

} // namespace lockscope
