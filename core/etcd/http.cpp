// SPDX-License-Identifier: Apache-2.0
#include "core/etcd/http.h"

#include "core/base/text.h"
#include "core/transport/transport.h"

#include <QNetworkProxy>

namespace lockscope::etcd {

namespace {

constexpr qsizetype longestHead = 64 * 1024;
// Above a full page of values, and what a watch brings at once: etcd's own limit for a request is 1.5 MiB.
constexpr qsizetype longestAnswer = 64 * 1024 * 1024;

Error notHttp(const QString &what)
{
    return Error{ErrorCode::Server, u"the server is not an etcd, or does not use HTTP: %1"_s.arg(what)};
}

} // namespace

Result<QByteArray> HttpReader::take(QByteArrayView bytes)
{
    m_buffer.append(bytes);
    QByteArray body;
    for (;;) {
        TRY(const auto &again, step(body));
        if (!again)
            break;
    }
    if (m_buffer.size() > std::max(m_most, longestHead) || body.size() > m_most)
        return Error{ErrorCode::TooLarge, u"the answer is longer than %1 MiB"_s.arg(m_most / 1024 / 1024)};
    return body;
}

// False: more bytes are needed, or it is whole.
Result<bool> HttpReader::step(QByteArray &body)
{
    switch (m_part) {
    case Part::Head: {
        const auto end = m_buffer.indexOf("\r\n\r\n");
        if (end < 0)
            return m_buffer.size() > longestHead ? Result<bool>(notHttp(u"the header does not end"_s)) : false;
        const auto head = m_buffer.left(end);
        m_buffer.remove(0, end + 4);
        TRY_VOID(readHead(head));
        return true;
    }
    case Part::Length: return takeBody(body);
    case Part::ChunkSize: {
        const auto line = takeLine();
        if (!line)
            return false;
        bool isNumber = false;
        m_left = line->left(std::min(line->size(), line->indexOf(';') < 0 ? line->size() : line->indexOf(';')))
                     .trimmed()
                     .toLongLong(&isNumber, 16);
        if (!isNumber || m_left < 0 || m_left > m_most)
            return notHttp(u"a chunk without a length"_s);
        m_part = m_left == 0 ? Part::Trailer : Part::Chunk;
        return true;
    }
    case Part::Chunk: return takeBody(body);
    case Part::ChunkEnd: {
        const auto line = takeLine();
        if (line && !line->isEmpty())
            return notHttp(u"a chunk that does not end"_s);
        m_part = line ? Part::ChunkSize : m_part;
        return line.has_value();
    }
    case Part::Trailer: {
        const auto line = takeLine();
        if (line && line->isEmpty())
            m_part = Part::Whole;
        return line && !line->isEmpty();
    }
    case Part::UntilClosed: body += std::exchange(m_buffer, {}); return false;
    case Part::Whole: return false;
    }
    return false;
}

Result<void> HttpReader::readHead(const QByteArray &head)
{
    const auto lines = head.split('\n');
    const auto words = lines.front().trimmed().split(' ');
    const int status = words.value(1).toInt();
    if (!words.front().startsWith("HTTP/1.") || status < 200 || status > 599)
        return notHttp(label(lines.front().trimmed(), 60));
    m_status = status;
    m_keepsOpen = words.front() == "HTTP/1.1";
    m_part = Part::UntilClosed;
    for (const auto &line : lines) {
        const auto colon = line.indexOf(':');
        const auto name = line.left(std::max<qsizetype>(0, colon)).trimmed().toLower();
        const auto value = line.mid(colon + 1).trimmed().toLower();
        if (name == "connection" && value == "close")
            m_keepsOpen = false;
        if (name == "transfer-encoding" && value == "chunked")
            m_part = Part::ChunkSize;
        if (name != "content-length" || m_part == Part::ChunkSize)
            continue;
        bool isNumber = false;
        m_left = value.toLongLong(&isNumber);
        if (!isNumber || m_left < 0 || m_left > m_most)
            return Error{ErrorCode::TooLarge, u"the answer has a length of \"%1\""_s.arg(label(value, 40))};
        m_part = m_left == 0 ? Part::Whole : Part::Length;
    }
    return {};
}

std::optional<QByteArray> HttpReader::takeLine()
{
    const auto end = m_buffer.indexOf('\n');
    if (end < 0)
        return std::nullopt;
    auto line = m_buffer.left(end).trimmed();
    m_buffer.remove(0, end + 1);
    return line;
}

bool HttpReader::takeBody(QByteArray &body)
{
    const auto size = std::min<qint64>(m_left, m_buffer.size());
    body += m_buffer.left(size);
    m_buffer.remove(0, size);
    m_left -= size;
    if (m_left > 0)
        return false;
    m_part = m_part == Part::Chunk ? Part::ChunkEnd : Part::Whole;
    return m_part != Part::Whole;
}

HttpConnection::HttpConnection(HostPort host, HostPort name)
    : m_host(std::move(host)), m_name(std::move(name)), m_socket(new QTcpSocket), m_reader(longestAnswer)
{
    // The system's proxy settings are for the web; looking them up may block.
    m_socket->setProxy(QNetworkProxy::NoProxy);
    QObject::connect(m_socket, &QAbstractSocket::connected, m_socket, [this] { send(); });
    QObject::connect(m_socket, &QAbstractSocket::readyRead, m_socket, [this] { read(); });
    QObject::connect(m_socket, &QAbstractSocket::errorOccurred, m_socket, [this](QAbstractSocket::SocketError error) {
        if (error == QAbstractSocket::RemoteHostClosedError && !m_hasHeard)
            broke(transport::closedWithoutAWord(), true);
        else
            broke(m_socket->errorString());
    });
    QObject::connect(m_socket, &QAbstractSocket::disconnected, m_socket,
                     [this] { broke(u"the server closed the connection"_s); });
    m_socket->connectToHost(m_host.host, m_host.port);
}

HttpConnection::~HttpConnection()
{
    m_socket->disconnect();
    m_socket->abort();
    m_socket->deleteLater();
}

void HttpConnection::post(const QByteArray &path, const QByteArray &token, const QByteArray &body, OnEnd onEnd,
                          OnPiece onPiece)
{
    m_onEnd = std::move(onEnd);
    m_onPiece = std::move(onPiece);
    m_reader = HttpReader(longestAnswer);
    m_body.clear();
    m_wasSent = false;
    m_unsent = "POST " + path + " HTTP/1.1\r\nHost: " + displayHost(m_name).toLatin1()
               + "\r\nContent-Type: application/json\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n";
    if (!token.isEmpty())
        m_unsent += "Authorization: " + token + "\r\n";
    m_unsent += "\r\n" + body;
    if (m_isBroken)
        broke(u"no connection"_s); // it could not even begin
    else if (m_socket->state() == QAbstractSocket::ConnectedState)
        send();
}

void HttpConnection::send()
{
    m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    m_socket->setSocketOption(QAbstractSocket::KeepAliveOption, 1);
    if (m_unsent.isEmpty())
        return;
    m_wasSent = true;
    m_socket->write(std::exchange(m_unsent, {}));
    m_socket->flush();
}

void HttpConnection::read()
{
    const auto bytes = m_socket->readAll();
    m_hasHeard = true;
    if (isIdle()) {
        m_isBroken = true; // nobody asked
        return;
    }
    const auto piece = m_reader.take(bytes);
    if (!piece) {
        m_isBroken = true;
        end(piece.error());
        return;
    }
    if (m_onPiece && m_reader.hasHead() && !piece->isEmpty())
        m_onPiece(m_reader.status(), *piece);
    else
        m_body += *piece;
    if (m_body.size() > longestAnswer) {
        m_isBroken = true;
        end(Error{ErrorCode::TooLarge, u"the answer is longer than %1 MiB"_s.arg(longestAnswer / 1024 / 1024)});
        return;
    }
    if (!m_reader.isWhole())
        return;
    m_isBroken = m_isBroken || !m_reader.keepsOpen();
    end(HttpAnswer{m_reader.status(), std::exchange(m_body, {})});
}

void HttpConnection::broke(const QString &why, bool isExplained)
{
    m_isBroken = true;
    if (isIdle())
        return;
    if (m_reader.endsByClosing())
        end(HttpAnswer{m_reader.status(), std::exchange(m_body, {})});
    else
        end(Error{m_wasSent ? ErrorCode::UnknownOutcome : ErrorCode::NotConnected,
                  u"%1: %2"_s.arg(displayHost(m_name), why), true, isExplained});
}

void HttpConnection::giveUp()
{
    m_isBroken = true;
    m_socket->disconnect();
    m_socket->abort();
    const auto why = m_wasSent ? u"no answer in time"_s : u"no connection in time"_s;
    end(Error{m_wasSent ? ErrorCode::UnknownOutcome : ErrorCode::NotConnected,
              u"%1: %2"_s.arg(displayHost(m_name), why), true});
}

void HttpConnection::end(Result<HttpAnswer> answer)
{
    m_onPiece = {};
    if (const auto told = std::exchange(m_onEnd, {}))
        told(std::move(answer));
}

} // namespace lockscope::etcd
