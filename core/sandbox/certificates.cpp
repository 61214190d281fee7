// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/certificates.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>

namespace lockscope::sandbox {

namespace {

constexpr int opensslTakesAtMost = 20'000; // ms
const QString validDays = u"30"_s;

Result<void> runOpenSsl(const TemporaryFolder &folder, const QStringList &arguments)
{
    const QString program = QStandardPaths::findExecutable(u"openssl"_s);
    if (program.isEmpty())
        return Error{ErrorCode::Unsupported,
                     u"no TLS for private servers: openssl is not installed; Debian's package is openssl"_s};
    QProcess process;
    process.setWorkingDirectory(folder.path());
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, arguments);
    const bool isDone = process.waitForFinished(opensslTakesAtMost) && process.exitCode() == 0;
    if (isDone)
        return {};
    const auto said = QString::fromLocal8Bit(process.readAll()).trimmed().section(u'\n', -2).simplified().left(300);
    return Error{ErrorCode::Server, u"making certificates with openssl failed: %1"_s.arg(said)};
}

QStringList newKey(const QString &name, const QString &subject)
{
    return {u"req"_s,    u"-newkey"_s, u"ec"_s, u"-pkeyopt"_s, u"ec_paramgen_curve:prime256v1"_s,
            u"-nodes"_s, u"-subj"_s,   subject, u"-keyout"_s,  name + u".key"_s};
}

Result<void> makeAuthority(const TemporaryFolder &folder, const QString &name)
{
    // Whoever looks closely (Python from 3.13 on) takes none that does not say what its key is for.
    const QStringList itself{
        u"-x509"_s, u"-days"_s,      validDays, u"-addext"_s, u"keyUsage=critical,keyCertSign,cRLSign"_s,
        u"-out"_s,  name + u".pem"_s};
    return runOpenSsl(folder, newKey(name, u"/CN=Lockscope sandbox, %1"_s.arg(name)) + itself);
}

Result<void> makeCertificate(const TemporaryFolder &folder, const QString &name, const QString &subject,
                             const QByteArray &extensions)
{
    const QByteArray always = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\nkeyUsage=critical,"
                              "digitalSignature\n";
    if (auto written = folder.write(name + u".ext"_s, always + extensions); !written)
        return written;
    const QString request = name + u".csr"_s;
    if (auto made = runOpenSsl(folder, newKey(name, subject) + QStringList{u"-out"_s, request}); !made)
        return made;
    return runOpenSsl(folder, {u"x509"_s, u"-req"_s, u"-in"_s, request, u"-CA"_s, u"ca.pem"_s, u"-CAkey"_s,
                               u"ca.key"_s, u"-CAcreateserial"_s, u"-days"_s, validDays, u"-extfile"_s,
                               name + u".ext"_s, u"-out"_s, name + u".pem"_s});
}

QByteArray bytesOf(const QString &name)
{
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

Result<std::unique_ptr<Certificates>> Certificates::make()
{
    TRY(auto &folder, TemporaryFolder::make());
    for (const auto &name : {u"ca"_s, u"stranger"_s}) {
        TRY_VOID(makeAuthority(*folder, name));
    }
    // etcd's gateway is a client of its own server, and shows it the server's certificate.
    const QByteArray forServers =
        "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n";
    TRY_VOID(makeCertificate(*folder, u"server"_s, u"/CN=lockscope-server"_s, forServers));
    // Without a CommonName: etcd's gateway refuses one where users are on.
    const QByteArray forClients = "extendedKeyUsage=clientAuth\n";
    TRY_VOID(makeCertificate(*folder, u"client"_s, u"/O=lockscope-client"_s, forClients));
    std::unique_ptr<Certificates> certificates(new Certificates(std::move(folder)));
    // ZooKeeper reads both from one file.
    const auto both = bytesOf(certificates->serverKey()) + bytesOf(certificates->server());
    TRY_VOID(certificates->m_folder->write(u"server-both.pem"_s, both));
    return certificates;
}

TlsOptions Certificates::forClients() const
{
    TlsOptions tls;
    tls.isOn = true;
    tls.ca = authority();
    tls.cert = client();
    tls.key = clientKey();
    return tls;
}

} // namespace lockscope::sandbox
