// What the tests against a real ZooKeeper share: waiting for a reply, a connection that can be cut.
#pragma once

#include "core/async/qtloop.h"
#include "core/sandbox/server.h"
#include "core/zookeeper/client.h"

#include <QEventLoop>
#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>
#include <QTimer>

namespace lockscope::test {

inline constexpr std::chrono::milliseconds patience{20'000};

// Runs the thread's events until the reply is there; what it says if it never comes.
template <class T>
T await(const OneShot<T> &reply, T never, std::chrono::milliseconds atMost = patience)
{
    if (!reply.isComplete()) {
        QEventLoop events;
        QTimer enough; // QTimer::singleShot() would stay behind until it is due, after every single look
        QObject::connect(&enough, &QTimer::timeout, &events, &QEventLoop::quit);
        enough.start(atMost);
        reply.then([&events](const T &) { events.quit(); });
        events.exec();
        reply.then({});
    }
    return reply.isComplete() ? reply.value() : never;
}

template <class T>
Result<T> await(const Reply<T> &reply, std::chrono::milliseconds atMost = patience)
{
    return await<Result<T>>(reply, Error{ErrorCode::TimedOut, QStringLiteral("the test waited in vain"), false}, atMost);
}

inline bool waitForState(const zk::Session &session, zk::SessionState state)
{
    return QTest::qWaitFor([&] { return session.state() == state; }, static_cast<int>(patience.count()));
}

// Stands between a client and its server, and can be cut.
class Cable : public QObject {
public:
    explicit Cable(HostPort server) : m_server(std::move(server))
    {
        m_listener.listen(QHostAddress::LocalHost);
        connect(&m_listener, &QTcpServer::newConnection, this, [this] { accept(); });
    }
    ~Cable() override { cut(); }
    [[nodiscard]] HostPort address() const { return {QStringLiteral("127.0.0.1"), m_listener.serverPort()}; }
    void cut()
    {
        m_isCut = true;
        const auto ends = std::exchange(m_ends, {});
        for (auto *end : ends) {
            end->disconnect(this);
            end->abort();
            end->deleteLater();
        }
    }
    void mend() { m_isCut = false; }

private:
    void accept()
    {
        while (auto *near = m_listener.nextPendingConnection()) {
            if (m_isCut) {
                near->abort();
                near->deleteLater();
                continue;
            }
            auto *far = new QTcpSocket(this);
            far->connectToHost(m_server.host, m_server.port);
            m_ends.append(near);
            m_ends.append(far);
            carry(near, far);
            carry(far, near);
        }
    }
    void carry(QTcpSocket *from, QTcpSocket *to)
    {
        // Either end may be gone before the other has said all it had to say.
        const QPointer<QTcpSocket> far(to);
        connect(from, &QTcpSocket::readyRead, this, [from, far] {
            const auto bytes = from->readAll();
            if (far)
                far->write(bytes);
        });
        connect(from, &QTcpSocket::disconnected, this, [this, from, far] {
            m_ends.removeAll(from);
            if (far)
                far->disconnectFromHost();
            from->deleteLater();
        });
    }

    HostPort m_server;
    QTcpServer m_listener;
    QList<QTcpSocket *> m_ends;
    bool m_isCut = false;
};

} // namespace lockscope::test
