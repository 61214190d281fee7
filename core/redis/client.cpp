// SPDX-License-Identifier: Apache-2.0
#include "core/redis/client.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/transport/transport.h"
#include "core/redis/pubsub.h"

#include <QCryptographicHash>
#include <QHash>
#include <QMutex>
#include <QNetworkProxy>
#include <QSslSocket>
#include <QTimer>

namespace lockscope::redis {

namespace {

// The Transport of the programs: a TCP socket, plain or TLS.

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
        Q_DISABLE_COPY(Handling)
        State *operator->() const { return m_state.get(); }

    private:
        const std::shared_ptr<State> m_state;
    };

    void startTls(const ConnectionOptions &options, const HostPort &to)
    {
        auto *socket = static_cast<QSslSocket *>(m_socket.get());
        if (const auto ready = transport::prepareTls(*socket, options.tls, options.host.host); !ready) {
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
                    broken(transport::silentHandshake(), true);
            });
        });
        socket->connectToHostEncrypted(to.host, to.port, transport::tlsNameOf(options.tls, options.host.host));
    }
    [[nodiscard]] transport::TlsProblem whatBroke(const TlsOptions &tls, const QString &host) const
    {
        if (tls.isOn)
            return transport::tlsProblem(static_cast<const QSslSocket &>(*m_socket), tls, host);
        if (!m_hasHeard && m_socket->error() == QAbstractSocket::RemoteHostClosedError)
            return {transport::closedWithoutAWord(), true};
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

// Commands after which replies no longer follow requests one to one.
bool changesProtocol(const Command &command)
{
    static constexpr std::array<QByteArrayView, 12> names{"SUBSCRIBE",    "PSUBSCRIBE",   "SSUBSCRIBE", "UNSUBSCRIBE",
                                                          "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR",    "HELLO",
                                                          "RESET",        "QUIT",         "SYNC",       "PSYNC"};
    const auto name = command.first().toUpper();
    if (name == "CLIENT" && command.size() > 1)
        return command[1].toUpper() == "REPLY";
    return std::find(names.begin(), names.end(), QByteArrayView(name)) != names.end();
}

QString nameOf(const QByteArray &verb)
{
    return label(verb.toUpper(), 40);
}

Command scriptCall(const QByteArray &verb, const QByteArray &what, const QByteArrayList &keys,
                   const QByteArrayList &args)
{
    Command call;
    call.reserve(3 + keys.size() + args.size());
    call << verb << what << QByteArray::number(keys.size()) << keys << args;
    return call;
}

Error late(const QString &what)
{
    return {ErrorCode::UnknownOutcome, u"%1: no answer from Redis in time"_s.arg(what), true};
}

Result<Value> asResult(Result<std::vector<Value>> got)
{
    if (!got)
        return got.error();
    auto &value = got->front();
    if (value.isError())
        return errorFrom(value);
    return std::move(value);
}

class Client : public EndPort<Connection>, public ShardedSubscriber {
public:
    Client(Loop &loop, const ConnectionOptions &options, const MakeTransport &makeTransport)
        : EndPort(loop), m_pubSub(std::make_shared<PubSub>(loop, options, makeTransport, [this] { restored(); })),
          m_link(loop, options, makeTransport, {[this] { notifyState(m_link.state()); }, {}})
    {
    }

    ConnectionState state() const override { return m_link.state(); }
    QString lastError() const override { return m_link.lastError(); }
    bool isExplained() const override { return m_link.isExplained(); }

    void send(Request &&request) override
    {
        std::visit([this](const auto &asked) { submit(asked); }, request);
    }

    Subscription subscribe(QByteArray channel, std::function<void(const Message &)> listener) override
    {
        return m_pubSub->subscribe(PubSub::Kind::Channel, channel, std::move(listener));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return m_pubSub->subscribe(PubSub::Kind::Pattern, pattern, std::move(listener));
    }
    Subscription subscribeSharded(QByteArray channel, std::function<void(const Message &)> listener) override
    {
        return m_pubSub->subscribe(PubSub::Kind::Sharded, channel, std::move(listener));
    }

private:
    void submit(const Asked<CommandRequest> &asked)
    {
        const auto &command = asked.request.command;
        if (const auto problem = unfit(command, asked.deadline))
            return asked.reply.complete(*problem);
        m_link.send(encode(command), 1, [reply = asked.reply](Result<std::vector<Value>> got) {
            reply.complete(asResult(std::move(got)));
        });
        asked.reply.completeAtWith(asked.deadline, [verb = command.first()] { return late(nameOf(verb)); });
    }
    void submit(const Asked<PipelineRequest> &asked)
    {
        const auto &commands = asked.request.commands;
        QByteArray bytes;
        for (const auto &command : commands) {
            if (const auto problem = unfit(command, asked.deadline))
                return asked.reply.complete(*problem);
            bytes += encode(command);
        }
        if (commands.empty())
            return asked.reply.complete(std::vector<Value>());
        m_link.send(bytes, commands.size(),
                    [reply = asked.reply](Result<std::vector<Value>> got) { reply.complete(std::move(got)); });
        asked.reply.completeAt(asked.deadline, late(u"%1 commands"_s.arg(commands.size())));
    }
    void submit(const Asked<ScriptRequest> &asked)
    {
        const auto &[script, keys, args] = asked.request;
        const auto bySha = scriptCall(QByteArrayLiteral("EVALSHA"), script.sha, keys, args);
        if (const auto problem = unfit(bySha, asked.deadline))
            return asked.reply.complete(*problem);
        m_link.send(encode(bySha), 1,
                    [this, request = asked.request, reply = asked.reply](Result<std::vector<Value>> got) {
                        // Who was told "unknown outcome" already must not have it happen after all.
                        const bool again = got && got->front().isError() && got->front().text.startsWith("NOSCRIPT")
                                           && !reply.isComplete();
                        if (!again) {
                            reply.complete(asResult(std::move(got)));
                            return;
                        }
                        const auto withText =
                            scriptCall(QByteArrayLiteral("EVAL"), request.script.text, request.keys, request.args);
                        m_link.send(encode(withText), 1, [reply](Result<std::vector<Value>> second) {
                            reply.complete(asResult(std::move(second)));
                        });
                    });
        asked.reply.completeAtWith(asked.deadline,
                                   [name = script.name] { return late(u"script "_s + label(name, 40)); });
    }
    void submit(const Asked<SubscriberIdRequest> &asked) { m_pubSub->giveId(asked.reply, asked.deadline); }

    // Why this command must not be sent.
    [[nodiscard]] std::optional<Error> unfit(const Command &command, Deadline deadline) const
    {
        if (command.isEmpty() || changesProtocol(command))
            return Error{ErrorCode::BadInput, u"this command cannot be sent on a shared connection"_s, false};
        if (m_link.state() != ConnectionState::Connected)
            return m_link.notConnected();
        if (deadline.hasPassed(loop()))
            return Error{ErrorCode::TimedOut, u"%1: too late to send it"_s.arg(nameOf(command.first())), false};
        return std::nullopt;
    }

    void restored()
    {
        if (m_link.state() == ConnectionState::Connected)
            notifyState(m_link.state());
    }

    std::shared_ptr<PubSub> m_pubSub;
    RespConnection m_link;
};

QByteArray textOf(const QByteArray &name)
{
    return readResource(QStringLiteral("lua/%1.lua").arg(QString::fromLatin1(name)));
}

// A line "--@ NAME" stands for the script of that name, which several share as a part: Redis knows no modules.
Script readScript(const QByteArray &name)
{
    QByteArrayList lines;
    for (const auto &line : textOf(name).split('\n'))
        lines << (line.startsWith("--@ ") ? textOf(line.mid(4)) : line);
    const auto text = lines.join('\n');
    return {name, text, QCryptographicHash::hash(text, QCryptographicHash::Sha1).toHex()};
}

} // namespace

std::unique_ptr<Connection> openConnection(Loop &loop, ConnectionOptions options)
{
    return openConnection(loop, options, [options](Transport::Callbacks callbacks) {
        return std::make_unique<SocketTransport>(options, std::move(callbacks));
    });
}

std::unique_ptr<Connection> openConnection(Loop &loop, ConnectionOptions options, MakeTransport makeTransport)
{
    return std::make_unique<Client>(loop, options, makeTransport);
}

// Read and hashed once: a recipe asks for its script with every acquire.
Script loadScript(const QByteArray &name)
{
    static QMutex mutex;
    static QHash<QByteArray, Script> scripts;
    const QMutexLocker guard(&mutex);
    auto at = scripts.constFind(name);
    if (at == scripts.constEnd())
        at = scripts.insert(name, readScript(name));
    return *at;
}

} // namespace lockscope::redis
