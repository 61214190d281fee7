// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper scenes of the demo. Every contender has a session of its own, as a process would.
#include "core/recipes/make.h"
#include "core/rules/turn.h"
#include "core/sandbox/demo.h"
#include "core/transport/transport.h"
#include "core/zookeeper/client.h"

#include <QDataStream>
#include <QTcpSocket>

namespace lockscope::sandbox {

namespace {

// A ZooKeeper client that dies: it opens a session, creates one ephemeral sequential node and drops
// the connection without a farewell. The server keeps node and session until the session's time is up.
struct CrashedNode {
    ZPath path; // sequential; the parent must exist
    QByteArray data;
    std::chrono::milliseconds sessionTimeout{};
};

// Spoken by hand, in ZooKeeper's own wire format: libzookeeper cannot go without saying goodbye.

constexpr qint32 createRequest = 1;
constexpr qint32 ephemeralSequential = 3;
constexpr qint32 xid = 1;

// Packets and buffers both begin with their length; QDataStream is big-endian, as ZooKeeper is.
QByteArray withLength(const QByteArray &bytes)
{
    QByteArray out;
    QDataStream(&out, QIODevice::WriteOnly) << static_cast<qint32>(bytes.size());
    return out + bytes;
}

QByteArray connectPacket(std::chrono::milliseconds sessionTimeout)
{
    QByteArray body;
    QDataStream stream(&body, QIODevice::WriteOnly);
    stream << qint32(0) << qint64(0) << static_cast<qint32>(sessionTimeout.count()) << qint64(0);
    return withLength(body + withLength(QByteArray(16, '\0')) + '\0');
}

QByteArray createPacket(const CrashedNode &node)
{
    QByteArray head;
    QDataStream(&head, QIODevice::WriteOnly) << xid << createRequest;
    QByteArray tail;
    QDataStream stream(&tail, QIODevice::WriteOnly);
    stream << qint32(1) << static_cast<qint32>(zk::perms::all);
    tail += withLength("world") + withLength("anyone");
    QByteArray flags;
    QDataStream(&flags, QIODevice::WriteOnly) << ephemeralSequential;
    return withLength(head + withLength(node.path.bytes()) + withLength(node.data) + tail + flags);
}

class DyingClient : public QObject {
public:
    DyingClient(Loop &loop, QObject *owner, const CrashedNode &node) : QObject(owner), m_reply(loop), m_node(node)
    {
        connect(&m_socket, &QTcpSocket::connected, this,
                [this] { m_socket.write(connectPacket(m_node.sessionTimeout)); });
        connect(&m_socket, &QTcpSocket::readyRead, this, &DyingClient::read);
        connect(&m_socket, &QTcpSocket::errorOccurred, this, [this] { finish(failure(m_socket.errorString())); });
    }

    [[nodiscard]] Reply<ZPath> start(const HostPort &server)
    {
        m_socket.connectToHost(server.host, server.port);
        return m_reply;
    }

private:
    void read()
    {
        m_received += m_socket.readAll();
        while (m_received.size() >= 4) {
            qint32 size = 0;
            QDataStream(m_received) >> size;
            if (size < 0 || size > 65'536)
                return finish(failure(u"an answer that is not ZooKeeper's"_s));
            if (m_received.size() < 4 + size)
                return;
            const QByteArray packet = m_received.mid(4, size);
            m_received.remove(0, 4 + size);
            answered(packet);
        }
    }

    void answered(const QByteArray &packet)
    {
        if (!m_isConnected) {
            m_isConnected = true;
            m_socket.write(createPacket(m_node));
            return;
        }
        QDataStream stream(packet);
        qint32 answeredXid = 0, error = 0, length = 0;
        qint64 zxid = 0;
        stream >> answeredXid >> zxid >> error >> length;
        if (error != 0)
            return finish(failure(u"error %1"_s.arg(error)));
        finish(ZPath(packet.mid(20, length)));
    }

    [[nodiscard]] Error failure(const QString &why) const
    {
        return {ErrorCode::Server, u"creating %1 failed: %2"_s.arg(QString::fromUtf8(m_node.path.bytes()), why),
                true};
    }

    void finish(Result<ZPath> result)
    {
        m_socket.disconnect(this);
        m_socket.abort();
        m_reply.complete(std::move(result));
        deleteLater();
    }

    Reply<ZPath> m_reply;
    CrashedNode m_node;
    QTcpSocket m_socket;
    QByteArray m_received;
    bool m_isConnected = false;
};

// The node's name as created, once the connection is gone. Dies with `owner`, and then never answers.
// Loop thread only, and the loop must be a thread's Qt event loop.
Reply<ZPath> leaveCrashedHolder(Loop &loop, QObject *owner, const HostPort &server, const CrashedNode &node)
{
    // Deletes itself when it has its answer or its socket fails.
    return (new DyingClient(loop, owner, node))->start(server);
}

const QByteArray kazooBase = "__lock__";
// The holder that crashed: its lock stays taken until the server gives its session up.
constexpr auto crashedSessionTimeout = 45s;

bool isOver(const zk::Session &session)
{
    return session.state() != zk::SessionState::Connecting && session.state() != zk::SessionState::Connected;
}

class DemoZooKeeper {
public:
    DemoZooKeeper(DemoStage &stage, const ConnectionSpec &server)
        : m_stage(stage), m_transport(server.transport, server.hosts),
          m_server(m_transport.throughTls(server.hosts.front())), m_stagehand(openSession()), m_scope(stage.loop())
    {
        m_scope.launch(playQueue({ZPath("/locks/orders"), "zk-mutex", 8s}, 4));
        m_scope.launch(playQueue({ZPath("/locks/reindex"), "zk-herd-mutex", 10s}, 5));
        m_scope.launch(playReadersAndWriters(ZPath("/locks/catalog")));
        m_scope.launch(playCrashes(ZPath("/locks/nightly-report")));
        m_scope.launch(notifyWhenUp(ZPath("/locks/nightly-report"), 2));
        m_scope.launch(playDeadlock(ZPath("/locks/accounts")));
    }

private:
    struct Part {
        ZPath lock;
        QByteArray recipe;
        std::chrono::milliseconds hold;
        bool isReader = false;
    };
    using Turn = std::function<Task<bool>(zk::Session *session)>;
    [[nodiscard]] std::unique_ptr<zk::Session> openSession()
    {
        zk::SessionOptions options;
        options.hosts = {m_server};
        return zk::openSession(m_stage.loop(), options);
    }
    [[nodiscard]] Deadline soon() { return Deadline::after(m_stage.loop(), 10s); }
    // A client: again and again, in a new session when the last one is over.
    Task<void> repeat(Turn once, std::chrono::milliseconds rest)
    {
        for (;;) {
            auto session = openSession();
            co_await untilConnected(&m_stage, session.get());
            while (!isOver(*session)) {
                co_await once(session.get());
                co_await m_stage.rest(rest);
            }
        }
    }

    // One after the other, so that the first snapshot has a full queue.
    Task<void> playQueue(Part part, int contenders)
    {
        m_stage.sceneBegins();
        for (int i = 1; i <= contenders; ++i) {
            m_scope.launch(repeat([this, part](zk::Session *session) { return holdOnce(session, part); }, 1500ms));
            co_await untilChildren(m_stagehand.get(), part.lock, static_cast<size_t>(i));
        }
        m_stage.sceneIsUp();
    }
    Task<bool> holdOnce(zk::Session *session, Part part)
    {
        const recipes::AcquireOptions options{.readMode = part.isReader};
        auto made = recipes::makeLock(part.recipe, *session, part.lock, options, m_stage.newRandom());
        if (!made)
            co_return false;
        auto &lock = **made;
        auto granted = co_await lock.acquire(Deadline::never());
        if (!granted)
            co_return false;
        co_await m_stage.rest(part.hold);
        const auto deadline = soon();
        auto released = co_await lock.release(deadline);
        co_return static_cast<bool>(released);
    }

    Task<void> playReadersAndWriters(ZPath lock)
    {
        m_stage.sceneBegins();
        co_await makeParents(m_stagehand.get(), lock);
        size_t joined = 0;
        for (const bool isReader : {true, true, false, true, false}) {
            const Part part{lock, "curator-rwlock", isReader ? 9s : 6s, isReader};
            m_scope.launch(repeat([this, part](zk::Session *session) { return holdOnce(session, part); }, 2s));
            ++joined;
            co_await untilChildren(m_stagehand.get(), lock, joined);
        }
        m_stage.sceneIsUp();
    }
    Task<void> playCrashes(ZPath lock)
    {
        co_await makeParents(m_stagehand.get(), lock);
        const Part waiter{lock, "zk-mutex", 6s};
        for (;;) {
            // Curator's names, so that the one who waits (zk-mutex) queues behind it.
            const auto path = lock.child(NodeName("_c_" + randomUuid(m_stage.random()) + "-lock-"));
            const CrashedNode node{path, "127.0.0.1", crashedSessionTimeout};
            (void)co_await leaveCrashedHolder(m_stage.loop(), &m_crashes, m_server, node);
            auto session = openSession();
            co_await untilConnected(&m_stage, session.get());
            co_await holdOnce(session.get(), waiter);
            co_await m_stage.rest(1s);
        }
    }
    // Two clients, each of which holds one lock and waits for that of the other.
    Task<void> playDeadlock(ZPath accounts)
    {
        m_stage.sceneBegins();
        const auto alice = accounts.child(NodeName("alice")), bob = accounts.child(NodeName("bob"));
        co_await makeParents(m_stagehand.get(), alice);
        co_await makeParents(m_stagehand.get(), bob);
        // Their rest is shorter than the pause between two locks, so that a deadlock that was ended comes about
        // again.
        m_scope.launch(repeat(
            [this, alice, bob](zk::Session *session) { return transfer(session, "transfer-a", alice, bob); }, 500ms));
        m_scope.launch(repeat(
            [this, alice, bob](zk::Session *session) { return transfer(session, "transfer-b", bob, alice); }, 500ms));
        co_await untilChildren(m_stagehand.get(), alice, 2);
        co_await untilChildren(m_stagehand.get(), bob, 2);
        m_stage.sceneIsUp();
    }
    Task<bool> transfer(zk::Session *session, QByteArray client, ZPath from, ZPath to)
    {
        auto first = co_await enterQueue(session, from, client);
        if (!first)
            co_return false;
        co_await m_stage.rest(2s);
        auto second = co_await enterQueue(session, to, client);
        if (second) {
            co_await m_stage.rest(3s);
            co_await removeNode(session, *second);
        }
        const bool isRemoved = co_await removeNode(session, *first);
        co_return isRemoved;
    }
    // The client's node once it is the first of its queue, as kazoo's Lock makes it; empty: it was removed.
    Task<std::optional<ZPath>> enterQueue(zk::Session *session, ZPath lock, QByteArray client)
    {
        const auto path = lock.child(NodeName(randomUuid(m_stage.random()).replace("-", "") + kazooBase));
        auto node = co_await createNode(session, path, client);
        if (!node)
            co_return std::nullopt;
        const bool isFirst = co_await untilFirst(session, *node);
        if (isFirst)
            co_return node;
        co_await removeNode(session, *node);
        co_return std::nullopt;
    }
    Task<bool> untilFirst(zk::Session *session, ZPath node)
    {
        for (;;) {
            auto listed = co_await listNodes(session, node.parent());
            if (!listed)
                co_return false;
            std::vector<recipes::Queued> queue;
            for (const auto &name : listed->names) {
                if (auto read = recipes::readSequence(name, kazooBase))
                    queue.push_back({*read, recipes::Access::Exclusive});
            }
            recipes::sortQueue(queue);
            const auto turn = recipes::turnInQueue(queue, node.name());
            if (turn.kind != recipes::Turn::Kind::WaitFor)
                co_return turn.isMine();
            const zk::Watch watch(m_stage.loop());
            auto seen = co_await session->get(node.parent().child(*turn.predecessor), watch, soon());
            // Its own node may be removed while it waits: a watch on it would look like a wrong one.
            while (seen && !watch.event().isComplete()) {
                co_await m_stage.sleep(1s);
                auto own = co_await session->get(node, std::nullopt, soon());
                if (!own)
                    co_return false;
            }
        }
    }
    Task<void> notifyWhenUp(ZPath lock, size_t contenders)
    {
        m_stage.sceneBegins();
        co_await untilChildren(m_stagehand.get(), lock, contenders);
        m_stage.sceneIsUp();
    }

    // Ephemeral and sequential.
    Task<std::optional<ZPath>> createNode(zk::Session *session, ZPath path, QByteArray data)
    {
        const auto mode = zk::CreateMode::EphemeralSequential;
        auto created = co_await session->create(path, data, mode, zk::openAcl(), Deadline::never());
        co_return created ? std::optional(created->path) : std::nullopt;
    }
    Task<bool> removeNode(zk::Session *session, ZPath node)
    {
        auto removed = co_await session->remove(node, zk::anyVersion, soon());
        co_return static_cast<bool>(removed);
    }
    Task<Result<zk::Children>> listNodes(zk::Session *session, ZPath path)
    {
        auto listed = co_await session->children(path, std::nullopt, soon());
        co_return listed;
    }
    Task<bool> makeParents(zk::Session *session, ZPath path)
    {
        co_await untilConnected(&m_stage, session);
        for (auto slash = path.bytes().indexOf('/', 1);; slash = path.bytes().indexOf('/', slash + 1)) {
            const ZPath part(slash < 0 ? path.bytes() : path.bytes().left(slash));
            const auto mode = zk::CreateMode::Persistent;
            auto creating = session->create(part, {}, mode, zk::openAcl(), Deadline::never());
            auto created = co_await creating;
            if (!created && created.error().code != ErrorCode::NodeExists)
                co_return false;
            if (slash < 0)
                co_return true;
        }
    }
    Task<bool> untilChildren(zk::Session *session, ZPath path, size_t count)
    {
        for (;;) {
            auto listed = co_await listNodes(session, path);
            if (listed && listed->names.size() >= count)
                co_return true;
            if (isOver(*session))
                co_return false;
            co_await m_stage.sleep(20ms);
        }
    }

    DemoStage &m_stage;
    transport::Transport m_transport;
    HostPort m_server;                        // or the door to it
    std::unique_ptr<zk::Session> m_stagehand; // makes parents and looks whether a scene is up
    QObject m_crashes;
    Scope m_scope;
};

} // namespace

std::shared_ptr<void> playOnZooKeeper(DemoStage &stage, const ConnectionSpec &server)
{
    return std::make_shared<DemoZooKeeper>(stage, server);
}

} // namespace lockscope::sandbox
