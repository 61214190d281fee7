// SPDX-License-Identifier: Apache-2.0
// As much of HTTP/1.1 as the gateway speaks: one POST at a time on a connection that is used again, and answers that
// go on for as long as they are listened to. Not QNetworkAccessManager: that may send a request a second time by
// itself, has six connections per host, of which each watch would take one, and its own thread.
#pragma once

#include "core/etcd/client.h"

#include <QJsonObject>
#include <QTcpSocket>

namespace lockscope::etcd {

// Reads one answer. Pure.
class HttpReader {
public:
    // No answer may be longer; of a stream, no piece that is not taken.
    explicit HttpReader(qsizetype most) : m_most(most) {}

    // What of the body these bytes bring. Errors are final.
    [[nodiscard]] Result<QByteArray> take(QByteArrayView bytes);
    // The other end closed the connection: of an answer without a length that is its end.
    [[nodiscard]] bool endsByClosing() const { return m_part == Part::UntilClosed; }

    [[nodiscard]] bool hasHead() const { return m_status != 0; }
    [[nodiscard]] int status() const { return m_status; }
    [[nodiscard]] bool isWhole() const { return m_part == Part::Whole; }
    [[nodiscard]] bool keepsOpen() const { return m_keepsOpen; }

private:
    enum class Part { Head, Length, ChunkSize, Chunk, ChunkEnd, Trailer, UntilClosed, Whole };
    [[nodiscard]] Result<bool> step(QByteArray &body);
    [[nodiscard]] Result<void> readHead(const QByteArray &head);
    [[nodiscard]] std::optional<QByteArray> takeLine();
    [[nodiscard]] bool takeBody(QByteArray &body);

    qsizetype m_most;
    QByteArray m_buffer;
    Part m_part = Part::Head;
    int m_status = 0;
    qint64 m_left = 0; // of the body or of this chunk
    bool m_keepsOpen = true;
};

struct HttpAnswer {
    int status = 0;
    QByteArray body;
};

class HttpConnection {
public:
    using OnEnd = std::function<void(Result<HttpAnswer>)>;
    // Pieces of a stream's body as they come; the answer at the end has none.
    using OnPiece = std::function<void(int status, const QByteArray &piece)>;

    // `name`: what the server is called, where a way of ours leads to it.
    HttpConnection(HostPort host, HostPort name);
    ~HttpConnection();
    Q_DISABLE_COPY(HttpConnection)

    // On one that is idle. `onEnd` and `onPiece` must not destroy it.
    void post(const QByteArray &path, const QByteArray &token, const QByteArray &body, OnEnd onEnd,
              OnPiece onPiece = {});
    // Whoever waits is told that it took too long, and the connection is closed.
    void giveUp();
    [[nodiscard]] bool isIdle() const { return !m_onEnd; }
    [[nodiscard]] bool isBroken() const { return m_isBroken; }
    [[nodiscard]] const HostPort &host() const { return m_host; }

private:
    void send();
    void read();
    void broke(const QString &why, bool isExplained = false);
    void end(Result<HttpAnswer> answer);

    const HostPort m_host;
    const HostPort m_name;
    QTcpSocket *m_socket; // deleted by its loop: we may be in a signal of it
    QByteArray m_unsent;
    HttpReader m_reader;
    QByteArray m_body;
    OnEnd m_onEnd;
    OnPiece m_onPiece;
    bool m_wasSent = false;
    bool m_isBroken = false;
    bool m_hasHeard = false; // a byte, ever
};

// The messages of etcd's JSON gateway: bytes are Base64, 64-bit numbers are strings, what is zero is left out. Pure.
[[nodiscard]] QJsonObject toJson(const RangeRequest &request);
[[nodiscard]] QJsonObject toJson(const Transaction &transaction);
[[nodiscard]] QJsonObject toJson(const WatchRequest &request);

// Errors say what was not as it should be.
[[nodiscard]] Result<QJsonObject> readObject(const QByteArray &bytes);
[[nodiscard]] Result<RangeAnswer> readRange(const QJsonObject &answer);
[[nodiscard]] Result<TransactionAnswer> readTransaction(const QJsonObject &answer);
[[nodiscard]] Result<LeaseAnswer> readLease(const QJsonObject &answer);
// One of a stream's, of which the answer to a keep-alive has one.
[[nodiscard]] Result<QJsonObject> readStreamed(const QJsonObject &line);
[[nodiscard]] Result<std::vector<LeaseId>> readLeases(const QJsonObject &answer);
// Of a user, its roles' names.
[[nodiscard]] QStringList readRoles(const QJsonObject &answer);
// Of a role.
[[nodiscard]] std::vector<Permission> readPermissions(const QJsonObject &answer);
// A line of a watch's stream.
[[nodiscard]] WatchNews readNews(const QJsonObject &line);
// What the gateway says of a request that failed.
[[nodiscard]] Error errorOf(int status, const QJsonObject &answer);
// The same of an answer that is no JSON: `host` is what a person calls the one who sent it.
[[nodiscard]] Error errorOfText(const QString &host, int status, const QByteArray &text);

} // namespace lockscope::etcd
