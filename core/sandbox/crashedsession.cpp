// SPDX-License-Identifier: Apache-2.0
// Spoken by hand, in ZooKeeper's own wire format: libzookeeper cannot go without saying goodbye.
#include "core/sandbox/crashedsession.h"

#include <QDataStream>
#include <QTcpSocket>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

constexpr qint32 createRequest = 1;
constexpr qint32 ephemeralSequential = 3;
constexpr qint32 xid = 1;

// Packets and buffers both begin with their length; QDataStream is big-endian, as ZooKeeper is.
QByteArray withLength(const QByteArray &bytes)
{
    QByteArray out;
    QDataStream(&out, QIODevice::WriteOnly) << static_cast<qint32>(bytes.size());
    return out + bytes;
}

QByteArray connectPacket(std::chrono::milliseconds sessionTimeout)
{
    QByteArray body;
    QDataStream stream(&body, QIODevice::WriteOnly);
    stream << qint32(0) << qint64(0) << static_cast<qint32>(sessionTimeout.count()) << qint64(0);
    return withLength(body + withLength(QByteArray(16, '\0')) + '\0');
}

QByteArray createPacket(const CrashedNode &node)
{
    QByteArray head;
    QDataStream(&head, QIODevice::WriteOnly) << xid << createRequest;
    QByteArray tail;
    QDataStream stream(&tail, QIODevice::WriteOnly);
    stream << qint32(1) << static_cast<qint32>(zk::perms::all);
    tail += withLength("world") + withLength("anyone");
    QByteArray flags;
    QDataStream(&flags, QIODevice::WriteOnly) << ephemeralSequential;
    return withLength(head + withLength(node.path.bytes()) + withLength(node.data) + tail + flags);
}

class DyingClient : public QObject {
public:
    DyingClient(Loop &loop, QObject *owner, const CrashedNode &node) : QObject(owner), m_reply(loop), m_node(node)
    {
        connect(&m_socket, &QTcpSocket::connected, this,
                [this] { m_socket.write(connectPacket(m_node.sessionTimeout)); });
        connect(&m_socket, &QTcpSocket::readyRead, this, &DyingClient::read);
        connect(&m_socket, &QTcpSocket::errorOccurred, this, [this] { finish(failure(m_socket.errorString())); });
    }

    [[nodiscard]] Reply<ZPath> start(const HostPort &server)
    {
        m_socket.connectToHost(server.host, server.port);
        return m_reply;
    }

private:
    void read()
    {
        m_received += m_socket.readAll();
        while (m_received.size() >= 4) {
            qint32 size = 0;
            QDataStream(m_received) >> size;
            if (size < 0 || size > 65'536)
                return finish(failure(u"an answer that is not ZooKeeper's"_s));
            if (m_received.size() < 4 + size)
                return;
            const QByteArray packet = m_received.mid(4, size);
            m_received.remove(0, 4 + size);
            answered(packet);
        }
    }

    void answered(const QByteArray &packet)
    {
        if (!m_isConnected) {
            m_isConnected = true;
            m_socket.write(createPacket(m_node));
            return;
        }
        QDataStream stream(packet);
        qint32 answeredXid = 0, error = 0, length = 0;
        qint64 zxid = 0;
        stream >> answeredXid >> zxid >> error >> length;
        if (error != 0)
            return finish(failure(u"error %1"_s.arg(error)));
        finish(ZPath(packet.mid(20, length)));
    }

    [[nodiscard]] Error failure(const QString &why) const
    {
        return {ErrorCode::Server, u"creating %1 failed: %2"_s.arg(QString::fromUtf8(m_node.path.bytes()), why),
                true};
    }

    void finish(Result<ZPath> result)
    {
        m_socket.disconnect(this);
        m_socket.abort();
        m_reply.complete(std::move(result));
        deleteLater();
    }

    Reply<ZPath> m_reply;
    CrashedNode m_node;
    QTcpSocket m_socket;
    QByteArray m_received;
    bool m_isConnected = false;
};

} // namespace

Reply<ZPath> leaveCrashedHolder(Loop &loop, QObject *owner, const HostPort &server, const CrashedNode &node)
{
    // Deletes itself when it has its answer or its socket fails.
    return (new DyingClient(loop, owner, node))->start(server);
}

} // namespace lockscope::sandbox
