// SPDX-License-Identifier: Apache-2.0
#include "core/transport/tunnel.h"

#include "core/base/logging.h"

#include <QFile>
#include <QLocalSocket>
#include <QNetworkProxy>

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace lockscope::transport {

constexpr qint64 mostUnsent = 1024 * 1024; // one side is not read faster than the other takes
constexpr auto opensWithin = 15s;
constexpr auto farewellWithin = 5s;

void ForwardedConnection::begin(std::unique_ptr<QTcpSocket> client, Route route)
{
    auto *self = new ForwardedConnection(std::move(client), std::move(route));
    self->dial();
}

ForwardedConnection::ForwardedConnection(std::unique_ptr<QTcpSocket> client, Route route)
    : m_route(std::move(route)), m_client(std::move(client)),
      m_prelude(m_route.speech.prelude ? m_route.speech.prelude(m_route.server.host) : nullptr)
{
    m_client->setParent(nullptr); // it came from a door that may go
    m_client->setReadBufferSize(mostUnsent);
    m_client->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    connect(m_client.get(), &QTcpSocket::readyRead, this, [this] { readClient(); });
    connect(m_client.get(), &QTcpSocket::bytesWritten, this, [this] { readServer(); });
    connect(m_client.get(), &QTcpSocket::disconnected, this, [this] { clientEnded(); });
    QTimer::singleShot(opensWithin, this, [this] {
        if (!m_isOpen)
            farBroke(u"%1 did not answer in time"_s.arg(displayHost(m_route.server)));
    });
}

ForwardedConnection::~ForwardedConnection()
{
    for (QObject *side : {static_cast<QObject *>(m_client.get()), static_cast<QObject *>(m_far.get())}) {
        if (side)
            side->disconnect(this);
    }
}

void ForwardedConnection::dial()
{
    if (!m_route.tunnel)
        return dialHost(m_route.dialled);
    m_route.tunnel->whenUp(m_route.server, this, [this](const NearEnd &end) { dialThroughTunnel(end); });
}

void ForwardedConnection::dialThroughTunnel(const NearEnd &end)
{
    if (end.port != 0)
        return dialHost({u"127.0.0.1"_s, end.port});
    if (end.socket.isEmpty()) // the tunnel has said why
        return farBroke({});
    auto far = std::make_unique<QLocalSocket>();
    auto *local = far.get();
    m_far = std::move(far);
    local->setReadBufferSize(mostUnsent);
    connect(local, &QLocalSocket::connected, this, [this] { farIsOpen(); });
    connect(local, &QLocalSocket::readyRead, this, [this] { readServer(); });
    connect(local, &QLocalSocket::bytesWritten, this, [this] { readClient(); });
    connect(local, &QLocalSocket::disconnected, this, [this] { serverEnded(); });
    connect(local, &QLocalSocket::errorOccurred, this, [this, local] {
        if (!m_isOpen)
            farBroke(u"the tunnel of ssh: %1"_s.arg(local->errorString()));
    });
    local->connectToServer(end.socket);
}

void ForwardedConnection::dialHost(const HostPort &to)
{
    auto far = std::make_unique<QSslSocket>();
    m_socket = far.get();
    m_far = std::move(far);
    m_socket->setProxy(QNetworkProxy::NoProxy);
    if (m_route.speech.isTls) {
        if (const auto ready = prepareTls(*m_socket, m_route.tls, m_route.server.host); !ready)
            return farBroke(ready.error().message, true);
    }
    m_socket->setReadBufferSize(mostUnsent);
    connect(m_socket, &QSslSocket::readyRead, this, [this] { readServer(); });
    connect(m_socket, &QSslSocket::bytesWritten, this, [this] { readClient(); });
    connect(m_socket, &QSslSocket::encryptedBytesWritten, this, [this] { readClient(); });
    connect(m_socket, &QSslSocket::encrypted, this, [this] { tlsIsOn(); });
    connect(m_socket, &QSslSocket::disconnected, this, [this] { serverEnded(); });
    connect(m_socket, &QSslSocket::errorOccurred, this, [this](QAbstractSocket::SocketError error) {
        // A server that refuses our certificate says so after its own handshake is over.
        const auto alert = alertInWords(m_socket->errorString(), m_route.tls);
        if (m_route.speech.isTls && !alert.isEmpty()) {
            farBroke(alert, true);
        } else if (!m_isOpen || error != QAbstractSocket::RemoteHostClosedError) {
            const auto problem = m_route.speech.isTls ? tlsProblem(*m_socket, m_route.tls, m_route.server.host)
                                                      : TlsProblem{m_socket->errorString()};
            farBroke(problem.text, problem.isOfTls);
        }
    });
    if (m_route.speech.isTls && !m_prelude) {
        m_socket->connectToHostEncrypted(to.host, to.port, tlsNameOf(m_route.tls, m_route.server.host));
        return;
    }
    connect(m_socket, &QSslSocket::connected, this, [this] {
        const auto request = m_prelude ? m_prelude->request() : QByteArray();
        m_isAsking = !request.isEmpty();
        if (m_isAsking)
            m_socket->write(request);
        else
            farIsOpen();
    });
    m_socket->connectToHost(to.host, to.port);
}

void ForwardedConnection::farIsOpen()
{
    m_isOpen = true;
    if (m_socket)
        m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    readClient();
    readServer();
}

void ForwardedConnection::tlsIsOn()
{
    if (m_prelude)
        take(m_prelude->tlsStarted());
    farIsOpen();
}

// The client hears of it by the end of its connection, and of a protocol that has words for it, in those.
void ForwardedConnection::farBroke(const QString &why, bool isOfTls)
{
    if (m_isTold || m_isEnding)
        return;
    m_isTold = true;
    // What the inner door says is nearer to the truth than that it closed.
    const bool isInner = !(m_route.dialled == m_route.server) || m_route.tunnel;
    if (!why.isEmpty() && (isOfTls || !isInner || m_route.problem->text().isEmpty()))
        m_route.problem->set(isOfTls ? why : u"%1: %2"_s.arg(displayHost(m_route.server), why), isOfTls);
    if (isInPrelude())
        m_client->write(m_prelude->failure(m_route.problem->text(), isOfTls));
    serverEnded();
}

void ForwardedConnection::take(const Prelude::Step &step)
{
    if (!step.problem.isEmpty()) {
        const bool isSaid = step.isRefusal || !m_route.speech.isTls || step.problem.startsWith("TLS"_L1);
        return farBroke(isSaid ? step.problem : u"TLS: "_s + step.problem, true);
    }
    if (!step.toClient.isEmpty())
        m_client->write(step.toClient);
    if (!step.toServer.isEmpty())
        m_far->write(step.toServer);
    if (!step.startTls)
        return;
    m_isOpen = m_isAsking = false;
    m_socket->flush();
    m_socket->startClientEncryption();
}

qint64 ForwardedConnection::unsentToServer() const
{
    return m_far->bytesToWrite() + (m_socket ? m_socket->encryptedBytesToWrite() : 0);
}

void ForwardedConnection::readClient()
{
    if (!m_isOpen || m_isEnding || unsentToServer() > mostUnsent)
        return;
    const auto bytes = m_client->readAll();
    if (bytes.isEmpty())
        return;
    if (isInPrelude())
        take(m_prelude->fromClient(bytes));
    else
        m_far->write(bytes);
}

void ForwardedConnection::readServer()
{
    if (!(m_isOpen || m_isAsking) || !m_far || m_client->bytesToWrite() > mostUnsent)
        return;
    const auto bytes = m_far->readAll();
    if (bytes.isEmpty())
        return;
    if (isInPrelude()) {
        if (!m_route.speech.isTls || m_socket->isEncrypted())
            m_route.problem->set({}); // what was wrong with the way is wrong no more
        take(m_prelude->fromServer(bytes));
        return;
    }
    m_route.problem->set({}); // it says something: all is well
    m_client->write(bytes);
}

void ForwardedConnection::clientEnded()
{
    if (std::exchange(m_isEnding, true) || !m_isOpen)
        return deleteLater();
    if (!isInPrelude())
        m_far->write(m_client->readAll()); // the farewell
    // Each closes once all is written, and says so.
    if (m_socket)
        m_socket->disconnectFromHost();
    else
        static_cast<QLocalSocket *>(m_far.get())->disconnectFromServer();
    QTimer::singleShot(farewellWithin, this, &QObject::deleteLater);
}

void ForwardedConnection::serverEnded()
{
    if (std::exchange(m_isEnding, true) || m_client->state() != QAbstractSocket::ConnectedState)
        return deleteLater();
    if (m_isOpen && !m_isTold && m_far->isOpen())
        m_client->write(m_far->readAll());
    QTimer::singleShot(farewellWithin, this, &QObject::deleteLater);
    m_client->disconnectFromHost();
}

OpenPort openPort()
{
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    constexpr int mostWaiting = 128;
    if (fd >= 0 && ::bind(fd, generic, size) == 0 && ::listen(fd, mostWaiting) == 0
        && ::getsockname(fd, generic, &size) == 0)
        return {fd, ntohs(address.sin_port)};
    if (fd >= 0)
        ::close(fd);
    return {};
}

LoopbackListener::LoopbackListener(OpenPort open, Route route)
{
    if (!m_server.setSocketDescriptor(open.socket)) {
        ::close(open.socket);
        return;
    }
    connect(&m_server, &QTcpServer::newConnection, this, [this, port = open.port, route = std::move(route)] {
        while (auto *came = m_server.nextPendingConnection()) {
            std::unique_ptr<QTcpSocket> client(came);
            const auto isOwn = isOwnPeer(client->peerPort(), port);
            if (isOwn == true)
                ForwardedConnection::begin(std::move(client), route);
            else if (isOwn == false)
                qCWarning(logTransport, "another process came to a port of ours, and was not let in");
        }
    });
}

namespace {

QByteArray loopbackEntry(quint16 port)
{
    return "0100007F:" + QByteArray::number(port, 16).toUpper().rightJustified(4, '0');
}

bool isOpenHere(const QByteArray &inode)
{
    const QByteArray wanted = "socket:[" + inode + ']';
    DIR *folder = ::opendir("/proc/self/fd");
    if (!folder)
        return false;
    bool isFound = false;
    while (const dirent *entry = ::readdir(folder)) {
        std::array<char, 64> target;
        const auto size = ::readlinkat(::dirfd(folder), entry->d_name, target.data(), target.size());
        isFound = isFound || (size > 0 && QByteArrayView(target.data(), size) == wanted);
    }
    ::closedir(folder);
    return isFound;
}

} // namespace

std::optional<QByteArray> socketInode(const QByteArray &table, quint16 local, quint16 remote)
{
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    constexpr int localColumn = 1, remoteColumn = 2, inodeColumn = 9;
    for (const auto &line : table.split('\n')) {
        const auto columns = line.simplified().split(' ');
        if (columns.size() > inodeColumn && columns[localColumn] == loopbackEntry(local)
            && columns[remoteColumn] == loopbackEntry(remote) && columns[inodeColumn] != "0")
            return columns[inodeColumn];
    }
    return std::nullopt;
}

std::optional<bool> isOwnPeer(quint16 peer, quint16 door)
{
    // The table is read in pieces while others connect: one that is there may be missed once. And one of ours that is
    // just being closed is in the table for a moment, and open no more.
    constexpr int tries = 3;
    std::optional<bool> isOwn;
    for (int i = 0; i < tries; ++i) {
        QFile table(QStringLiteral("/proc/self/net/tcp"));
        if (!table.open(QIODevice::ReadOnly))
            return false;
        const auto inode = socketInode(table.readAll(), peer, door);
        if (inode && isOpenHere(*inode))
            return true;
        isOwn = inode ? std::optional(false) : std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(i));
    }
    return isOwn;
}

} // namespace lockscope::transport
