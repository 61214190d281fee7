// SPDX-License-Identifier: Apache-2.0
// Stands between a client and its server: can be cut, fall silent, and lead elsewhere.
#pragma once

#include "core/base/connectionuri.h"

#include <QHash>
#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>

#include <optional>

namespace lockscope::testing {

class Cable : public QObject {
public:
    explicit Cable(HostPort server) : m_servers{std::move(server)}
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
    // Nothing gets through any more, and nobody is told.
    void fallSilent()
    {
        m_isSilent = true;
        m_hasSwallowed = false;
    }
    // Whether an end has said something in vain since then.
    [[nodiscard]] bool hasSwallowed() const { return m_hasSwallowed; }
    // The same once the servers have said so many bytes.
    void fallSilentAfter(qint64 bytes)
    {
        m_saysAtMost = bytes;
        m_isSilent = bytes == 0;
    }
    // For new connections; what fell silent stays so.
    void mend()
    {
        m_isCut = false;
        if (!std::exchange(m_isSilent, false))
            return;
        for (auto *end : std::as_const(m_ends))
            end->setProperty("isSilent", true);
    }
    // What those say who are connected now waits until it is let go; who comes later is carried as ever.
    void holdBack()
    {
        for (auto *end : std::as_const(m_ends)) {
            if (!end->property("isServer").toBool())
                m_held[end] = {};
        }
    }
    void letGo()
    {
        const auto all = std::exchange(m_held, {});
        for (auto held = all.begin(); held != all.end(); ++held) {
            if (const auto &to = m_others[held.key()]; to && m_ends.contains(held.key()))
                to->write(held.value());
        }
    }
    // New connections lead there, to one after the other.
    void leadTo(QList<HostPort> servers) { m_servers = std::move(servers); }

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
            far->connectToHost(m_servers.first().host, m_servers.first().port);
            m_servers.append(m_servers.takeFirst());
            m_ends.append(near);
            m_ends.append(far);
            far->setProperty("isServer", true);
            carry(near, far);
            carry(far, near);
        }
    }
    void carry(QTcpSocket *from, QTcpSocket *to)
    {
        // One end may be gone before the other has said all it had to say.
        const QPointer<QTcpSocket> other(to);
        m_others[from] = other;
        connect(from, &QTcpSocket::readyRead, this, [this, from, other] {
            const auto bytes = from->readAll();
            if (m_saysAtMost && from->property("isServer").toBool())
                count(bytes.size());
            if (const auto held = m_held.find(from); held != m_held.end())
                *held += bytes;
            else if (m_isSilent || from->property("isSilent").toBool())
                m_hasSwallowed = true;
            else if (other)
                other->write(bytes);
        });
        connect(from, &QTcpSocket::disconnected, this, [this, from, other] {
            m_ends.removeAll(from);
            m_others.remove(from);
            if (other)
                other->disconnectFromHost();
            from->deleteLater();
        });
    }

    void count(qint64 said)
    {
        *m_saysAtMost -= said;
        m_isSilent = m_isSilent || *m_saysAtMost < 0;
    }

    QTcpServer m_listener;
    std::optional<qint64> m_saysAtMost;
    QList<HostPort> m_servers;
    QList<QTcpSocket *> m_ends;
    QHash<QTcpSocket *, QPointer<QTcpSocket>> m_others; // by whom they hear
    QHash<QTcpSocket *, QByteArray> m_held;             // by who said it
    bool m_isCut = false;
    bool m_isSilent = false;
    bool m_hasSwallowed = false;
};

} // namespace lockscope::testing
