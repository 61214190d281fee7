// SPDX-License-Identifier: Apache-2.0
#include "core/redis/sockettransport.h"

#include "core/passage/tls.h"

#include <QNetworkProxy>
#include <QSslSocket>
#include <QTimer>

#include <array>
#include <chrono>

using namespace Qt::StringLiterals;

namespace lockscope::redis {

namespace {

constexpr std::chrono::seconds shakesHandsWithin{4};

class SocketTransport final : public Transport {
public:
    SocketTransport(const ConnectionOptions &options, Callbacks callbacks)
        : m_socket(options.tls.isOn ? std::unique_ptr<QTcpSocket>(std::make_unique<QSslSocket>())
                                    : std::make_unique<QTcpSocket>()),
          m_state(std::make_shared<State>(State{std::move(callbacks)}))
    {
        // The system's proxy settings are for the web; looking them up may block.
        m_socket->setProxy(QNetworkProxy::NoProxy);
        auto *socket = m_socket.get();
        QObject::connect(socket, &QAbstractSocket::readyRead, socket, [this] { readAll(); });
        QObject::connect(socket, &QAbstractSocket::errorOccurred, socket,
                         [this, tls = options.tls, host = options.host.host] {
                             const auto problem = whatBroke(tls, host);
                             broken(problem.text, problem.isOfTls);
                         });
        QObject::connect(socket, &QAbstractSocket::disconnected, socket,
                         [this] { broken(u"the server closed the connection"_s); });
        const auto to = options.door ? options.door(options.host) : options.host;
        if (options.tls.isOn) {
            startTls(options, to);
            return;
        }
        QObject::connect(socket, &QAbstractSocket::connected, socket, [this] { opened(); });
        socket->connectToHost(to.host, to.port);
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

    void startTls(const ConnectionOptions &options, const HostPort &to)
    {
        auto *socket = static_cast<QSslSocket *>(m_socket.get());
        if (const auto ready = passage::prepareTls(*socket, options.tls, options.host.host); !ready) {
            // Said from the loop, as all that goes wrong.
            QMetaObject::invokeMethod(
                socket, [this, why = ready.error().message] { broken(why, true); }, Qt::QueuedConnection);
            return;
        }
        QObject::connect(socket, &QSslSocket::encrypted, socket, [this] { opened(); });
        // A Redis without TLS waits for the end of a line. Before its client gives up, which knows less.
        QObject::connect(socket, &QAbstractSocket::connected, socket, [this, socket] {
            QTimer::singleShot(shakesHandsWithin, socket, [this, socket] {
                if (!socket->isEncrypted())
                    broken(passage::silentHandshake(), true);
            });
        });
        socket->connectToHostEncrypted(to.host, to.port, passage::tlsNameOf(options.tls, options.host.host));
    }
    [[nodiscard]] passage::TlsProblem whatBroke(const TlsOptions &tls, const QString &host) const
    {
        if (tls.isOn)
            return passage::tlsProblem(static_cast<const QSslSocket &>(*m_socket), tls, host);
        if (!m_hasHeard && m_socket->error() == QAbstractSocket::RemoteHostClosedError)
            return {passage::closedWithoutAWord(), true};
        return {m_socket->errorString()};
    }
    void opened()
    {
        const Handling state(m_state);
        m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
        m_socket->setSocketOption(QAbstractSocket::KeepAliveOption, 1);
        state->callbacks.opened();
    }
    void broken(const QString &why, bool isOfTls = false)
    {
        const Handling state(m_state);
        state->callbacks.broken(why, isOfTls);
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
            m_hasHeard = true;
            state->callbacks.received(QByteArrayView(piece.data(), size));
        }
    }

    std::unique_ptr<QTcpSocket> m_socket; // a QSslSocket with TLS
    bool m_hasHeard = false;
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
