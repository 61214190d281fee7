// SPDX-License-Identifier: Apache-2.0

#include "core/base/logging.h"
#include "core/sandbox/server.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>

#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockscope::sandbox {

namespace {

const QString ownerFile = u"owner"_s;

Error failed(const QString &what, const QString &path)
{
    return {ErrorCode::Server, u"%1 %2 failed: %3"_s.arg(what, path, QString::fromLocal8Bit(std::strerror(errno))),
            false};
}

// True when the process that made this folder is certainly gone.
bool isAbandoned(const QFileInfo &folder)
{
    const int fd =
        ::open(QFile::encodeName(folder.filePath() + u'/' + ownerFile).constData(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        // The file appears under this name when it is locked already, so free means left behind.
        const bool free = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
        ::close(fd);
        return free;
    }
    // Made a moment ago, or its maker died before it could sign it.
    const auto pid = folder.fileName().section(u'-', 1, 1).toInt();
    const bool gone = pid > 0 && ::kill(pid, 0) < 0 && errno == ESRCH;
    return gone && folder.lastModified().secsTo(QDateTime::currentDateTime()) > 60;
}

} // namespace

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make()
{
    const QString pattern = u"%1/lockscope-%2-XXXXXX"_s.arg(QDir::tempPath()).arg(::getpid());
    QByteArray name = QFile::encodeName(pattern);
    if (!::mkdtemp(name.data()))
        return failed(u"making the folder"_s, pattern);
    std::unique_ptr<TemporaryFolder> folder(new TemporaryFolder(QFile::decodeName(name)));
    if (!folder->markAsOwned())
        return failed(u"locking the folder"_s, folder->path());
    return folder;
}

TemporaryFolder::~TemporaryFolder()
{
    // The lock goes last: whoever finds the folder before is told that it is ours. What a program that was killed had
    // started itself (initdb's servers) may write for a moment yet.
    bool isGone = QDir(m_path).removeRecursively();
    for (int tries = 0; !isGone && tries < 40; ++tries) {
        std::this_thread::sleep_for(50ms);
        isGone = QDir(m_path).removeRecursively();
    }
    if (!isGone)
        qCWarning(logSandbox).noquote() << "could not remove" << m_path;
    if (m_lock >= 0)
        ::close(m_lock);
}

Result<void> TemporaryFolder::write(const QString &name, const QByteArray &text) const
{
    const QString path = file(name);
    const int fd = ::open(QFile::encodeName(path).constData(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(u"writing"_s, path);
    const auto written = ::write(fd, text.constData(), static_cast<size_t>(text.size()));
    ::close(fd);
    if (written != text.size())
        return failed(u"writing"_s, path);
    return {};
}

bool TemporaryFolder::markAsOwned()
{
    const QByteArray unsigned_ = QFile::encodeName(file(u"owner.new"_s));
    m_lock = ::open(unsigned_.constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return m_lock >= 0 && ::flock(m_lock, LOCK_EX | LOCK_NB) == 0
           && ::rename(unsigned_.constData(), QFile::encodeName(file(ownerFile)).constData()) == 0;
}

void sweepLeftovers()
{
    const QDir temp(QDir::tempPath());
    const auto found = temp.entryInfoList({u"lockscope-*-*"_s}, QDir::Dirs | QDir::Hidden | QDir::NoSymLinks);
    for (const auto &folder : found) {
        // Others' folders are none of our business, and anybody may make one in /tmp.
        if (folder.ownerId() != ::getuid() || !isAbandoned(folder))
            continue;
        qCInfo(logSandbox).noquote() << "removing" << folder.filePath() << "left over by an ended sandbox";
        QDir(folder.filePath()).removeRecursively();
    }
}

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
