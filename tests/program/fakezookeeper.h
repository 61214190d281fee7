// SPDX-License-Identifier: Apache-2.0
// A server that speaks ZooKeeper's protocol as far as a reader of locks asks, and answers one kind of request wrong.
#pragma once

#include <QTcpServer>
#include <QTcpSocket>
#include <QtEndian>

#include <functional>

namespace lockscope::testing {

namespace wire {
inline QByteArray number(qint32 value)
{
    const auto big = qToBigEndian(value);
    return {reinterpret_cast<const char *>(&big), sizeof big};
}
inline QByteArray text(const QByteArray &bytes)
{
    return number(static_cast<qint32>(bytes.size())) + bytes;
}
inline QByteArray stat(qint32 children)
{
    return QByteArray(60, '\1').replace(44, 8, QByteArray(8, '\0')).replace(56, 4, number(children))
           + QByteArray(8, '\1');
}
inline QByteArray list(const QByteArrayList &names)
{
    QByteArray all = number(static_cast<qint32>(names.size()));
    for (const auto &name : names)
        all += text(name);
    return all + stat(static_cast<qint32>(names.size()));
}
} // namespace wire

class FakeZooKeeper : public QTcpServer {
public:
    enum Operation : qint32 { Exists = 3, Get = 4, Sync = 9, List = 12 };
    // What comes back instead of a whole answer's body.
    std::function<QByteArray(qint32 operation, const QByteArray &path, const QByteArray &body)> spoil;
    // The same of whole messages, with their length.
    std::function<QByteArray(qint32 operation, const QByteArray &message)> spoilMessage;
    QByteArray greeting = wire::number(0) + wire::number(10'000) + QByteArray(8, '\1')
                          + wire::text(QByteArray(16, '\2')) + QByteArray(1, '\0');

    FakeZooKeeper()
    {
        listen(QHostAddress::LocalHost);
        connect(this, &QTcpServer::newConnection, this, [this] {
            while (auto *client = nextPendingConnection()) {
                connect(client, &QTcpSocket::readyRead, this, [this, client] { read(client); });
                connect(client, &QTcpSocket::disconnected, client, &QObject::deleteLater);
            }
        });
    }
    [[nodiscard]] QString uri() const { return QStringLiteral("zk://127.0.0.1:%1?admin=1").arg(serverPort()); }

private:
    static qint32 at(const QByteArray &bytes, qsizetype offset)
    {
        return bytes.size() < offset + 4 ? 0 : qFromBigEndian<qint32>(bytes.constData() + offset);
    }
    void read(QTcpSocket *client)
    {
        while (client->bytesAvailable() >= 4) {
            const auto length = at(client->peek(4), 0);
            if (length > 0x10000) { // a four-letter word
                client->disconnectFromHost();
                return;
            }
            if (client->bytesAvailable() < 4 + length)
                return;
            const auto request = client->read(4 + length).mid(4);
            if (!client->property("isGreeted").toBool()) {
                client->setProperty("isGreeted", true);
                client->write(wire::text(greeting));
                continue;
            }
            answer(client, request);
        }
    }
    void answer(QTcpSocket *client, const QByteArray &request)
    {
        const auto xid = at(request, 0);
        const auto operation = at(request, 4);
        const auto path = request.mid(12, at(request, 8));
        const QByteArrayList names = path == "/"        ? QByteArrayList{"locks"}
                                     : path == "/locks" ? QByteArrayList{"lock-0000000001", "lock-0000000002"}
                                                        : QByteArrayList();
        const bool isKnown = operation == Exists || operation == Get || operation == Sync || operation == List;
        const bool isThere = isKnown && !path.startsWith("/zookeeper");
        QByteArray body;
        if (isThere && operation == List)
            body = wire::list(names);
        else if (isThere && operation == Get)
            body = wire::text("host") + wire::stat(0);
        else if (isThere)
            body = operation == Sync ? wire::text(path) : wire::stat(static_cast<qint32>(names.size()));
        if (isThere && spoil)
            body = spoil(operation, path, body);
        const auto error = isKnown && !isThere ? -101 : 0;
        auto message = wire::text(wire::number(xid) + QByteArray(8, '\0') + wire::number(error) + body);
        if (xid > 0 && spoilMessage)
            message = spoilMessage(operation, message);
        client->write(message);
    }
};

} // namespace lockscope::testing
