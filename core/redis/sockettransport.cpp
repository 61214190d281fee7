// SPDX-License-Identifier: Apache-2.0
#include "core/redis/sockettransport.h"

#include <QNetworkProxy>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslSocket>

#include <array>

using namespace Qt::StringLiterals;

namespace lockscope::redis {

namespace {

class SocketTransport final : public Transport {
public:
    SocketTransport(const ConnectionOptions &options, Callbacks callbacks)
        : m_socket(options.tls ? std::unique_ptr<QTcpSocket>(std::make_unique<QSslSocket>())
                               : std::make_unique<QTcpSocket>()),
          m_state(std::make_shared<State>(State{std::move(callbacks)}))
    {
        // The system's proxy settings are for the web; looking them up may block.
        m_socket->setProxy(QNetworkProxy::NoProxy);
        auto *socket = m_socket.get();
        QObject::connect(socket, &QAbstractSocket::readyRead, socket, [this] { readAll(); });
        QObject::connect(socket, &QAbstractSocket::errorOccurred, socket,
                         [this](QAbstractSocket::SocketError) { broken(m_socket->errorString()); });
        QObject::connect(socket, &QAbstractSocket::disconnected, socket,
                         [this] { broken(u"the server closed the connection"_s); });
        if (options.tls) {
            startTls(options);
            return;
        }
        QObject::connect(socket, &QAbstractSocket::connected, socket, [this] { opened(); });
        socket->connectToHost(options.host.host, options.host.port);
    }
    ~SocketTransport() override
    {
        m_state->isGone = true;
        m_socket->disconnect();
        if (m_state->signalsBeingHandled == 0)
            return;
        m_socket->abort();
        m_socket.release()->deleteLater();
    }

    void write(const QByteArray &bytes) override
    {
        m_socket->write(bytes);
        m_socket->flush(); // now, not after the event loop has been told that the socket is writable
    }

private:
    // Outlives the transport in whoever handles a signal of its socket, and may destroy it by that.
    struct State {
        const Callbacks callbacks;
        bool isGone = false;
        int signalsBeingHandled = 0;
    };
    class Handling {
    public:
        explicit Handling(std::shared_ptr<State> state) : m_state(std::move(state))
        {
            ++m_state->signalsBeingHandled;
        }
        ~Handling() { --m_state->signalsBeingHandled; }
        Handling(const Handling &) = delete;
        Handling &operator=(const Handling &) = delete;
        State *operator->() const { return m_state.get(); }

    private:
        const std::shared_ptr<State> m_state;
    };

    void startTls(const ConnectionOptions &options)
    {
        auto *socket = static_cast<QSslSocket *>(m_socket.get());
        if (!options.caCertificateFile.isEmpty()) {
            auto configuration = socket->sslConfiguration();
            configuration.addCaCertificates(options.caCertificateFile);
            socket->setSslConfiguration(configuration);
        }
        QObject::connect(socket, &QSslSocket::encrypted, socket, [this] { opened(); });
        socket->connectToHostEncrypted(options.host.host, options.host.port);
    }
    void opened()
    {
        const Handling state(m_state);
        m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
        m_socket->setSocketOption(QAbstractSocket::KeepAliveOption, 1);
        state->callbacks.opened();
    }
    void broken(const QString &why)
    {
        const Handling state(m_state);
        state->callbacks.broken(why);
    }
    void readAll()
    {
        // In pieces: the parser moves what is left of its buffer for every kilobyte it has consumed.
        std::array<char, 16 * 1024> piece;
        const Handling state(m_state);
        while (!state->isGone) {
            const auto size = m_socket->read(piece.data(), piece.size());
            if (size <= 0)
                return;
            state->callbacks.received(QByteArrayView(piece.data(), size));
        }
    }

    std::unique_ptr<QTcpSocket> m_socket; // a QSslSocket with TLS
    const std::shared_ptr<State> m_state;
};

} // namespace

MakeTransport overSockets(const ConnectionOptions &options)
{
    return [options](Transport::Callbacks callbacks) {
        return std::make_unique<SocketTransport>(options, std::move(callbacks));
    };
}

} // namespace lockscope::redis
