// SPDX-License-Identifier: Apache-2.0
// Servers whose keys never end: a Redis whose SCAN never comes back to its beginning, an etcd that says of each page
// that more follows.
#pragma once

#include "core/base/connectionuri.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTcpServer>
#include <QTcpSocket>

#include <functional>

namespace lockscope::testing {

// Answers each whole request on each connection. `take` removes a request from the front of what was received and
// gives its answer; empty: more bytes are needed.
class LineServer : public QObject {
public:
    explicit LineServer(std::function<QByteArray(QByteArray &)> take) : m_take(std::move(take))
    {
        m_listener.listen(QHostAddress::LocalHost);
        connect(&m_listener, &QTcpServer::newConnection, this, [this] {
            while (auto *client = m_listener.nextPendingConnection())
                connect(client, &QTcpSocket::readyRead, this, [this, client] { serve(client); });
        });
    }
    [[nodiscard]] QString address() const
    {
        return displayHost({QStringLiteral("127.0.0.1"), m_listener.serverPort()});
    }

private:
    void serve(QTcpSocket *client)
    {
        auto received = client->property("received").toByteArray() + client->readAll();
        for (auto answer = m_take(received); !answer.isEmpty(); answer = m_take(received))
            client->write(answer);
        client->setProperty("received", received);
    }

    QTcpServer m_listener;
    std::function<QByteArray(QByteArray &)> m_take;
};

inline QByteArray bulkOf(const QByteArray &text)
{
    return '$' + QByteArray::number(text.size()) + "\r\n" + text + "\r\n";
}

// The words of the first command in `received`, which are removed from it; none if it is not complete yet.
inline QByteArrayList takeCommand(QByteArray &received)
{
    QByteArrayList lines;
    qsizetype from = 0;
    for (qsizetype wanted = 1; lines.size() < wanted;) {
        const auto end = received.indexOf('\n', from);
        if (end < 0)
            return {};
        lines << received.mid(from, end - from).trimmed();
        from = end + 1;
        if (lines.size() == 1)
            wanted = 1 + 2 * lines.front().mid(1).toInt();
    }
    received.remove(0, from);
    QByteArrayList words;
    for (qsizetype i = 2; i < lines.size(); i += 2)
        words << lines[i];
    return words;
}

// `names`: on each page, as RESP; `{}` in a name is the number of the page, so that each page has new keys. Takes
// commands in the form in which clients send them.
inline std::function<QByteArray(QByteArray &)> endlessRedis(const QByteArrayList &names)
{
    return [names, cursor = 0](QByteArray &received) mutable -> QByteArray {
        const auto words = takeCommand(received);
        if (words.isEmpty())
            return {};
        const auto word = words.front().toUpper();
        const auto section = words.value(1);
        if (word == "SCAN") {
            QByteArray page = "*2\r\n" + bulkOf(QByteArray::number(++cursor)) + '*';
            page += QByteArray::number(names.size()) + "\r\n";
            for (auto name : names)
                page += bulkOf(name.replace("{}", QByteArray::number(cursor)));
            return page;
        }
        if (word == "INFO")
            return bulkOf(section == "keyspace" ? "# Keyspace\r\ndb0:keys=3,expires=0,avg_ttl=0\r\n" : "");
        if (word == "ROLE")
            return "*3\r\n" + bulkOf("master") + ":0\r\n*0\r\n";
        if (word == "TIME")
            return "*2\r\n" + bulkOf("1790000000") + bulkOf("0");
        if (word == "TYPE")
            return "+string\r\n";
        if (word == "PTTL" || word == "PEXPIRETIME")
            return ":-1\r\n";
        if (word == "GETRANGE")
            return bulkOf("0123456789abcdef0123456789abcdef");
        if (word == "PUBSUB" || word == "CLIENT")
            return section == "LIST" ? bulkOf("") : section == "ID" ? QByteArray(":5\r\n") : QByteArray("+OK\r\n");
        return word == "DBSIZE" ? ":3\r\n" : word == "STRLEN" ? ":32\r\n" : word == "PING" ? "+PONG\r\n" : "+OK\r\n";
    };
}

// `page`: the answer to each request for several keys.
inline std::function<QByteArray(QByteArray &)> endlessEtcd(const QJsonObject &page)
{
    return [page](QByteArray &received) -> QByteArray {
        const auto end = received.indexOf("\r\n\r\n");
        const auto head = received.left(end).toLower();
        const auto at = head.indexOf("content-length:");
        const auto length = at < 0 ? 0 : head.mid(at + 15).split('\r').front().trimmed().toInt();
        if (end < 0 || received.size() < end + 4 + length)
            return {};
        const auto asked = QJsonDocument::fromJson(received.mid(end + 4, length)).object();
        received = received.mid(end + 4 + length);
        auto answer = asked.contains(QStringLiteral("limit")) ? page : QJsonObject();
        answer[QStringLiteral("header")] = QJsonObject{{QStringLiteral("revision"), QStringLiteral("77")}};
        answer[QStringLiteral("etcdserver")] = QStringLiteral("3.4.23");
        const auto body = QJsonDocument(answer).toJson(QJsonDocument::Compact);
        return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
               + QByteArray::number(body.size()) + "\r\n\r\n" + body;
    };
}

} // namespace lockscope::testing
