// SPDX-License-Identifier: Apache-2.0
// One question to one server on a connection of its own: a four-letter word, or a request to the AdminServer.
#pragma once

#include "core/async/loop.h"
#include "core/base/connectionuri.h"

#include <QTcpSocket>

namespace lockscope::zk {

// One connection: sends, reads until the other side closes. Tells once, through `done`, never from
// inside the constructor. Destroying it gives up silently.
class Exchange : public QObject {
public:
    static constexpr qint64 limitBytes = 64LL * 1024 * 1024;
    using Done = std::function<void(QByteArray answer, QString failure)>;

    // `to`: nothing where it must not be asked.
    Exchange(Loop &loop, const std::optional<HostPort> &to, QByteArray question, Instant until, Done done)
        : m_done(std::move(done)),
          m_timer(loop.callAt(until, [this] { finish(QStringLiteral("no answer in time")); }))
    {
        connect(&m_socket, &QTcpSocket::connected, this, [this, question] { m_socket.write(question); });
        connect(&m_socket, &QTcpSocket::readyRead, this, [this] { read(); });
        connect(&m_socket, &QTcpSocket::disconnected, this, [this] { finish({}); });
        connect(&m_socket, &QTcpSocket::errorOccurred, this, [this](QAbstractSocket::SocketError error) {
            if (error == QAbstractSocket::ConnectionRefusedError)
                finish(QStringLiteral("connection refused"));
            else if (error == QAbstractSocket::RemoteHostClosedError)
                finish({});
            else
                finish(m_socket.errorString());
        });
        // Queued: a refusal on loopback may be known before this returns.
        QMetaObject::invokeMethod(
            this,
            [this, to] {
                if (to)
                    m_socket.connectToHost(to->host, to->port);
                else
                    finish(QStringLiteral("not asked: the way of this connection leads to the hosts it names only"));
            },
            Qt::QueuedConnection);
    }
    ~Exchange() override { m_socket.disconnect(this); }

private:
    void read()
    {
        m_answer += m_socket.readAll();
        if (m_answer.size() > limitBytes)
            finish(QStringLiteral("its answer is too large"));
    }
    void finish(const QString &failure)
    {
        if (!m_done)
            return;
        if (m_socket.isOpen()) // the time may have been over before it was opened
            m_answer += m_socket.readAll();
        m_timer.cancel();
        m_socket.disconnect(this);
        const auto done = std::exchange(m_done, {});
        done(std::move(m_answer), failure); // may destroy this
    }

    Done m_done;
    QTcpSocket m_socket;
    QByteArray m_answer;
    Timer m_timer;
};

} // namespace lockscope::zk
