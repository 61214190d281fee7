// SPDX-License-Identifier: Apache-2.0
#include "core/transport/transport.h"

#include "core/async/scope.h"
#include "core/transport/tunnel.h"
#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <QCoreApplication>
#include <QSslCertificate>
#include <QSslCipher>
#include <QSslConfiguration>
#include <QSslError>
#include <QSslKey>
#include <QThread>
#include <condition_variable>
#include <deque>
#include <thread>

namespace lockscope::transport {

namespace {

// What to do about a server that speaks no TLS.
constexpr auto withoutTls = "if that port does not use TLS, omit tls=, and write redis:// or etcd://"_L1;

Error unusable(const QString &what, const QString &file, const QString &why)
{
    return Error{ErrorCode::BadInput, u"TLS: %1 %2: %3"_s.arg(what, file, why)};
}

Result<QByteArray> contentOf(const QString &what, const QString &name)
{
    constexpr qint64 most = 16LL * 1024 * 1024; // the system's authorities are 200 kB
    const auto content = readRegularFile(name, most);
    return content ? content : unusable(what, name, content.error().message);
}

Result<QList<QSslCertificate>> certificatesIn(const QString &what, const QString &name)
{
    TRY(const auto &content, contentOf(what, name));
    auto certificates = QSslCertificate::fromData(content, QSsl::Pem);
    if (certificates.isEmpty())
        return unusable(what, name, u"holds no certificate in PEM form"_s);
    return certificates;
}

Result<QSslKey> keyIn(const TlsOptions &tls)
{
    TRY(const auto &content, contentOf(u"the key"_s, tls.key));
    for (const auto kind : {QSsl::Rsa, QSsl::Ec, QSsl::Dsa}) {
        QSslKey key(content, kind, QSsl::Pem, QSsl::PrivateKey, tls.keyPassphrase.toUtf8());
        if (!key.isNull())
            return key;
    }
    const bool isLocked = content.contains("ENCRYPTED");
    return unusable(u"the key"_s, tls.key,
                    isLocked ? u"is encrypted, and the passphrase is missing or wrong; it is read from "
                               "LOCKSCOPE_PASSWORD_<NAME>_KEY"_s
                             : u"holds no RSA, EC or DSA key in PEM form"_s);
}

QString dayOf(const QDateTime &moment)
{
    return moment.toUTC().toString(Qt::ISODate);
}

QString namesOf(const QSslCertificate &certificate)
{
    QStringList names = certificate.subjectAlternativeNames().values();
    if (names.isEmpty())
        names = certificate.subjectInfo(QSslCertificate::CommonName);
    names.removeDuplicates();
    return names.isEmpty() ? u"nothing"_s : label(names.join(u", "_s).toUtf8());
}

QString issuerOf(const QSslCertificate &certificate)
{
    return label(certificate.issuerDisplayName().toUtf8(), 80);
}

QString inWords(const QSslError &error, const TlsOptions &tls, const QString &name)
{
    const auto certificate = error.certificate();
    const auto remedy = tls.ca.isEmpty() ? u"name its file with ca="_s : u"it is not in %1"_s.arg(tls.ca);
    switch (error.error()) {
    case QSslError::CertificateExpired:
        return u"the server's certificate expired on %1"_s.arg(dayOf(certificate.expiryDate()));
    case QSslError::CertificateNotYetValid:
        return u"the server's certificate is valid from %1 on, which is in the future"_s.arg(
            dayOf(certificate.effectiveDate()));
    case QSslError::HostNameMismatch:
        return u"the server's certificate is not for the host name %1, but for %2; if that is right, give it with "
               u"servername="_s.arg(name, namesOf(certificate));
    case QSslError::SelfSignedCertificate:
    case QSslError::SelfSignedCertificateInChain:
        return u"the server's certificate is self-signed or of an authority that is not trusted (%1); %2"_s.arg(
            issuerOf(certificate), remedy);
    case QSslError::UnableToGetIssuerCertificate:
    case QSslError::UnableToGetLocalIssuerCertificate:
    case QSslError::UnableToVerifyFirstCertificate:
    case QSslError::CertificateUntrusted:
        return u"the authority of the server's certificate is not trusted (%1); %2"_s.arg(issuerOf(certificate),
                                                                                          remedy);
    case QSslError::CertificateRevoked: return u"the server's certificate was revoked"_s;
    default: return label(error.errorString().toUtf8());
    }
}

Result<QSslConfiguration> readConfiguration(const TlsOptions &tls)
{
    if (!QSslSocket::supportsSsl())
        return Error{ErrorCode::Unsupported, u"TLS: this Qt does not support it (no OpenSSL at run time)"_s};
    auto configuration = QSslConfiguration::defaultConfiguration();
    configuration.setProtocol(QSsl::TlsV1_2OrLater);
    configuration.setPeerVerifyMode(tls.isVerified ? QSslSocket::VerifyPeer : QSslSocket::VerifyNone);
    if (!tls.ca.isEmpty()) {
        TRY(const auto &authorities, certificatesIn(u"the authorities"_s, tls.ca));
        configuration.setCaCertificates(authorities);
    }
    if (!tls.cert.isEmpty()) {
        TRY(const auto &chain, certificatesIn(u"the client certificate"_s, tls.cert));
        TRY(const auto &key, keyIn(tls));
        configuration.setLocalCertificateChain(chain);
        configuration.setPrivateKey(key);
    }
    return configuration;
}

} // namespace

// In a thread that ends with it. What OpenSSL could not read (an EC key as an RSA one) stays in its thread's list of
// errors, and another connection of that thread that reads next takes it for an error of its own, and ends.
Result<QSslConfiguration> tlsConfiguration(const TlsOptions &tls)
{
    std::optional<Result<QSslConfiguration>> read;
    std::thread([&read, &tls] { read = readConfiguration(tls); }).join();
    return std::move(*read);
}

QString tlsNameOf(const TlsOptions &tls, const QString &host)
{
    return tls.serverName.isEmpty() ? host : tls.serverName;
}

Result<void> prepareTls(QSslSocket &socket, const TlsOptions &tls, const QString &host)
{
    TRY(const auto &configuration, tlsConfiguration(tls));
    socket.setSslConfiguration(configuration);
    socket.setPeerVerifyName(tlsNameOf(tls, host));
    return {};
}

TlsProblem tlsProblem(const QSslSocket &socket, const TlsOptions &tls, const QString &host)
{
    const auto errors = socket.sslHandshakeErrors();
    if (tls.isVerified && !errors.isEmpty() && socket.error() == QAbstractSocket::SslHandshakeFailedError) {
        auto words =
            mapped<QStringList>(errors, [&](const auto &error) { return inWords(error, tls, tlsNameOf(tls, host)); });
        words.removeDuplicates();
        return {u"TLS: "_s + words.join(u"; "_s), true};
    }
    const bool isShaken = socket.isEncrypted() || !socket.sessionCipher().isNull();
    if (socket.error() == QAbstractSocket::RemoteHostClosedError && !isShaken)
        return {u"TLS: the server closed the connection without a handshake"_s + clause(withoutTls), true};
    const auto said = socket.errorString();
    const auto alert = alertInWords(said, tls);
    return alert.isEmpty() ? TlsProblem{label(said.toUtf8())} : TlsProblem{alert, true};
}

QString closedWithoutAWord()
{
    return u"the server closed the connection without a message. The port may accept TLS only (tls=on, rediss://, "
           u"etcds://)"_s;
}

QString silentHandshake()
{
    return u"TLS: the server accepted the connection but does not start the handshake"_s + clause(withoutTls);
}

QString alertInWords(const QString &said, const TlsOptions &tls)
{
    struct Alert {
        QLatin1StringView mark;
        QString words;
    };
    const bool isNameless = tls.cert.isEmpty();
    const auto demanded = u"the server demands a client certificate; name it and its key with cert= and key="_s;
    const std::array alerts{
        Alert{"certificate required"_L1, demanded},
        Alert{"alert unknown ca"_L1, u"the server does not know the authority of our client certificate"_s},
        Alert{"alert certificate expired"_L1, u"the server reports that our client certificate has expired"_s},
        Alert{"alert certificate revoked"_L1, u"the server reports that our client certificate was revoked"_s},
        Alert{"alert certificate unknown"_L1, isNameless ? demanded : u"the server rejects our client certificate"_s},
        Alert{"alert bad certificate"_L1, isNameless ? demanded : u"the server rejects our client certificate"_s},
        Alert{"handshake failure"_L1,
              isNameless ? u"the server rejects the handshake; it may demand a client certificate (cert= and key=)"_s
                         : u"the server rejects the handshake"_s},
        Alert{"alert unrecognized name"_L1, u"the server does not know the requested host name"_s},
        Alert{"wrong version number"_L1, u"the server does not use TLS"_s + clause(withoutTls)},
        Alert{"packet length too long"_L1, u"the server does not use TLS"_s + clause(withoutTls)},
    };
    for (const auto &alert : alerts) {
        if (said.contains(alert.mark, Qt::CaseInsensitive))
            return u"TLS: "_s + alert.words;
    }
    return {};
}

struct Transport::Inside {
    std::shared_ptr<Tunnel> tunnel; // null without ssh and kubectl
    std::vector<std::unique_ptr<LoopbackListener>> doors;
};

Transport::Transport(TransportOptions transport, std::vector<HostPort> servers) : m_transport(std::move(transport))
{
    if (isDirect())
        return;
    m_inUse.emplace(InUse::By::Owner);
    m_inside = std::make_shared<Inside>();
    if (!m_transport.isTunnelled())
        return;
    onTransportThread(
        [inside = m_inside, transport = m_transport, servers = std::move(servers), problem = m_problem] {
            // Not deleted where its own signal, or that of what goes through it, is being handled.
            inside->tunnel = {makeTunnel(transport, servers, problem).release(),
                              [](Tunnel *gone) { gone->deleteLater(); }};
        });
}

Transport::~Transport()
{
    if (m_doors.empty() && !m_transport.isTunnelled())
        return;
    // Its last reference is that of the transports' thread.
    onTransportThread([inside = std::exchange(m_inside, nullptr)]() mutable { inside.reset(); });
}

HostPort Transport::door(const HostPort &server, Speech speech)
{
    if (!m_inside) { // it would have been direct
        m_inUse.emplace(InUse::By::Owner);
        m_inside = std::make_shared<Inside>();
    }
    const auto known = std::ranges::find_if(
        m_doors, [&](const Opened &one) { return one.server == server && one.speech == speech; });
    if (known != m_doors.end())
        return known->door;
    const auto dialled = !speech.isTls ? server : through(server);
    const auto open = openPort();
    if (open.port == 0) {
        m_problem->set(QStringLiteral("no port on 127.0.0.1 is available"));
        return {QStringLiteral("127.0.0.1"), 0};
    }
    onTransportThread([inside = m_inside, open, server, dialled, speech, tls = m_transport.tls, problem = m_problem] {
        Route route{server, dialled, speech, tls, nullptr, problem};
        if (!speech.isTls)
            route.tunnel = inside->tunnel;
        inside->doors.push_back(std::make_unique<LoopbackListener>(open, std::move(route)));
    });
    m_doors.push_back({server, speech, {QStringLiteral("127.0.0.1"), open.port}});
    return m_doors.back().door;
}

HostPort Transport::through(const HostPort &server)
{
    return m_transport.isTunnelled() ? door(server, asItIs) : server;
}

HostPort Transport::throughSql(const HostPort &server, const SqlSpeech &speech, bool hasPassword)
{
    const auto &tls = m_transport.tls;
    if (hasPassword && !tls.isOn)
        return door(server, speech.plain);
    return throughTls(server, hasPassword && !tls.isVerified ? speech.unverified : speech.verified);
}

HostPort Transport::throughTls(const HostPort &server, Speech speech)
{
    return m_transport.tls.isOn ? door(server, speech) : through(server);
}

namespace {

// Never destroyed: what is carried may go on when static objects are. The work waits behind a mutex of the standard
// library (core/async/passwordsource.h says why).
struct Hub {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    QThread *thread = nullptr;
    QObject *there = nullptr;
    bool isWorking = false;
    bool isOver = false; // the program's end: no work is done any more
    int owners = 0;
    int carried = 0;
    [[nodiscard]] bool isIdle() const { return carried == 0 && !isWorking && work.empty(); }
};

Hub &hub()
{
    static auto *const instance = new Hub;
    return *instance;
}

void runNext()
{
    std::function<void()> work;
    {
        const std::lock_guard lock(hub().mutex);
        if (hub().work.empty())
            return;
        work = std::move(hub().work.front());
        hub().work.pop_front();
        hub().isWorking = true;
    }
    work();
    work = {}; // and what it held
    const std::lock_guard lock(hub().mutex);
    hub().isWorking = false;
    hub().changed.notify_all();
}

// Without the mutex, which its work takes.
void end(QThread *thread, QObject *there)
{
    if (!thread)
        return;
    thread->quit();
    thread->wait();
    delete there;
    delete thread;
}

// When the application object goes, whatever is still carried: after main() Qt's own objects are destroyed, and what
// runs on among them crashes. What comes later is kept and not done.
void endForGood()
{
    auto &here = hub();
    std::unique_lock lock(here.mutex);
    here.isOver = true;
    QThread *thread = std::exchange(here.thread, nullptr);
    QObject *there = std::exchange(here.there, nullptr);
    lock.unlock();
    end(thread, there);
}

} // namespace

void onTransportThread(std::function<void()> work)
{
    auto &here = hub();
    const std::lock_guard lock(here.mutex);
    if (here.isOver) {
        here.work.push_back(std::move(work));
        return;
    }
    if (!here.thread) {
        static const bool isToEnd = (qAddPostRoutine(&endForGood), true);
        Q_UNUSED(isToEnd)
        here.thread = new QThread;
        here.thread->setObjectName(QStringLiteral("lockscope-transport"));
        here.there = new QObject;
        here.there->moveToThread(here.thread);
        here.thread->start();
    }
    here.work.push_back(std::move(work));
    QMetaObject::invokeMethod(here.there, &runNext, Qt::QueuedConnection);
}

InUse::InUse(By by) : m_by(by)
{
    addClosing(&waitForTransports, ClosePhase::Ways);
    const std::lock_guard lock(hub().mutex);
    ++(m_by == By::Owner ? hub().owners : hub().carried);
}

InUse::~InUse()
{
    const std::lock_guard lock(hub().mutex);
    --(m_by == By::Owner ? hub().owners : hub().carried);
    hub().changed.notify_all();
}

void waitForTransports(std::chrono::milliseconds atMost)
{
    auto &here = hub();
    std::unique_lock lock(here.mutex);
    if (here.owners > 0 || here.isOver)
        return;
    // Another owner may come during the wait: its listeners live on this thread.
    here.changed.wait_for(lock, atMost, [&here] { return here.owners > 0 || here.isIdle(); });
    if (here.owners > 0 || !here.isIdle() || !here.thread)
        return;
    QThread *thread = std::exchange(here.thread, nullptr);
    QObject *there = std::exchange(here.there, nullptr);
    lock.unlock();
    end(thread, there);
}

} // namespace lockscope::transport
