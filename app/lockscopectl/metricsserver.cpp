// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/metricsserver.h"

#include <QTimer>

namespace lockscope::ctl {

namespace {

constexpr int mostConnections = 16;
constexpr qint64 longestRequest = 8 * 1024;
constexpr std::chrono::seconds connectionWithin(10);

QByteArray httpAnswer(const QByteArray &status, const QByteArray &body,
                      const QByteArray &type = "text/plain; charset=utf-8", const QByteArray &more = {})
{
    return "HTTP/1.1 " + status + "\r\nContent-Type: " + type
           + "\r\nContent-Length: " + QByteArray::number(body.size())
           + "\r\nConnection: close\r\nCache-Control: no-store\r\n" + more + "\r\n" + body;
}

// Of a request's first line.
QByteArray answerTo(const QByteArray &line, const QByteArray &text)
{
    const auto words = line.split(' ');
    if (words.size() != 3 || !words[2].startsWith("HTTP/1."))
        return httpAnswer("400 Bad Request", "not an HTTP/1.1 request\n");
    if (words[1].split('?').front() != "/metrics")
        return httpAnswer("404 Not Found", "only /metrics exists\n");
    if (words[0] != "GET")
        return httpAnswer("405 Method Not Allowed", "only GET is allowed\n", "text/plain; charset=utf-8",
                          "Allow: GET\r\n");
    if (text.isEmpty())
        return httpAnswer("503 Service Unavailable", "the first scan is not complete\n");
    return httpAnswer("200 OK", text, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

} // namespace

Result<MetricsServer::Address> MetricsServer::parseAddress(const QString &text)
{
    const auto colon = text.lastIndexOf(u':');
    auto host = colon < 0 ? QString() : text.left(colon);
    if (host.startsWith(u'[') && host.endsWith(u']'))
        host = host.sliced(1).chopped(1);
    if (host.isEmpty() || host == "localhost"_L1)
        host = u"127.0.0.1"_s;
    bool isPort = false;
    const Address address{QHostAddress(host), text.mid(colon + 1).toUShort(&isPort)};
    if (!isPort || address.host.isNull())
        return Error{ErrorCode::BadInput,
                     u"metrics: --listen takes [ADDRESS:]PORT, such as 127.0.0.1:9877, not \"%1\""_s.arg(text)};
    return address;
}

MetricsServer::MetricsServer()
{
    QObject::connect(&m_server, &QTcpServer::newConnection, &m_server, [this] {
        while (auto *socket = m_server.nextPendingConnection())
            accept(socket);
    });
}

Result<HostPort> MetricsServer::listen(const Address &address)
{
    if (!m_server.listen(address.host, address.port))
        return Error{ErrorCode::Server,
                     u"metrics: could not listen on %1: %2"_s.arg(
                         displayHost({address.host.toString(), address.port}), m_server.errorString())};
    return HostPort{address.host.toString(), m_server.serverPort()};
}

void MetricsServer::accept(QTcpSocket *socket)
{
    QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
    QObject::connect(socket, &QObject::destroyed, &m_server, [this] { --m_open; });
    if (++m_open > mostConnections)
        return socket->abort();
    socket->setReadBufferSize(longestRequest);
    QObject::connect(socket, &QTcpSocket::readyRead, &m_server, [this, socket] { read(socket); });
    QTimer::singleShot(connectionWithin, socket, [socket] { socket->abort(); });
    read(socket);
}

void MetricsServer::read(QTcpSocket *socket)
{
    const auto head = socket->peek(longestRequest);
    const bool isTooLong = head.size() >= longestRequest;
    if (!isTooLong && !head.contains("\r\n\r\n"))
        return;
    QObject::disconnect(socket, &QTcpSocket::readyRead, &m_server, nullptr);
    socket->readAll(); // what is unread when a socket closes makes the other end drop the answer
    socket->write(isTooLong ? httpAnswer("431 Request Header Fields Too Large", "the request is too long\n")
                            : answerTo(head.left(head.indexOf("\r\n")), m_text));
    socket->disconnectFromHost();
}

} // namespace lockscope::ctl
