// SPDX-License-Identifier: Apache-2.0
// Connections to ZooKeeper servers beside the session: one question (a four-letter word, or a request to the
// AdminServer), and whether a server can be reached.
#pragma once

#include "core/async/completion.h"
#include "core/base/connectionuri.h"

#include <QStringList>
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

// Why a ZooKeeper ensemble cannot be reached: the C client never says. Tries a plain TCP connection to
// each host and reports when all of them failed. Loop thread only; never blocks.
class Reachability {
public:
    Reachability(Loop &loop, std::vector<HostPort> hosts) : m_loop(loop), m_hosts(std::move(hosts)) {}

    // True as soon as one host accepted; NotConnected with every host's reason when all refused or the
    // deadline passed.
    [[nodiscard]] Reply<bool> check(Deadline deadline)
    {
        auto attempt = std::make_shared<Attempt>(m_loop);
        m_attempt = attempt; // an earlier check is dropped with its sockets
        for (const auto &host : m_hosts) {
            auto socket = std::make_unique<QTcpSocket>();
            auto *raw = socket.get();
            attempt->sockets.push_back(std::move(socket));
            // The attempt owns the socket, so the connections cannot outlive it.
            QObject::connect(raw, &QTcpSocket::connected, raw, [a = attempt.get()] { a->answer.complete(true); });
            QObject::connect(
                raw, &QTcpSocket::errorOccurred, raw, [a = attempt.get(), raw, host, all = m_hosts.size()] {
                    a->reasons << u"%1:%2: %3"_s.arg(host.host).arg(host.port).arg(raw->errorString());
                    if (static_cast<std::size_t>(a->reasons.size()) == all)
                        a->answer.complete(Error{ErrorCode::NotConnected, a->reasons.join(u"; "_s), true});
                });
            raw->connectToHost(host.host, host.port);
        }
        attempt->answer.completeAt(deadline, Error{ErrorCode::NotConnected, u"no host answered in time"_s, true});
        return attempt->answer;
    }

private:
    struct Attempt {
        explicit Attempt(Loop &loop) : answer(loop) {}
        Reply<bool> answer;
        std::vector<std::unique_ptr<QTcpSocket>> sockets;
        QStringList reasons;
    };
    Loop &m_loop;
    std::vector<HostPort> m_hosts;
    std::shared_ptr<Attempt> m_attempt;
};

} // namespace lockscope::zk
