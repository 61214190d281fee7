// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper scenes of the demo. Every contender has a session of its own, as a process would.
#pragma once

#include "core/base/connectionuri.h"
#include "core/transport/transport.h"
#include "core/rules/turn.h"
#include "core/sandbox/demostage.h"
#include "core/zookeeper/client.h"

#include <QObject>

namespace lockscope::sandbox {

class DemoZooKeeper {
public:
    DemoZooKeeper(DemoStage &stage, const ConnectionSpec &server);

private:
    struct Part {
        ZPath lock;
        QByteArray recipe;
        std::chrono::milliseconds hold;
    };
    using Turn = std::function<Task<bool>(zk::Session *session)>;
    [[nodiscard]] std::unique_ptr<zk::Session> openSession();
    [[nodiscard]] Deadline soon() { return Deadline::after(m_stage.loop(), 10s); }
    // A client: again and again, in a new session when the last one is over.
    Task<void> repeat(Turn once, std::chrono::milliseconds rest);

    // One after the other, so that the first snapshot has a full queue.
    Task<void> playQueue(Part part, int contenders);
    Task<bool> holdOnce(zk::Session *session, Part part);

    Task<void> playReadersAndWriters(ZPath lock);
    Task<bool> readOrWriteOnce(zk::Session *session, ZPath lock, recipes::Access access);
    Task<bool> waitForTurn(zk::Session *session, ZPath lock, NodeName me);

    Task<void> playCrashes(ZPath lock);
    // Two clients, each of which holds one lock and waits for that of the other.
    Task<void> playDeadlock(ZPath accounts);
    Task<bool> transfer(zk::Session *session, QByteArray client, ZPath from, ZPath to);
    // The client's node once it is the first of its queue, as kazoo's Lock makes it; empty: it was removed.
    Task<std::optional<ZPath>> enterQueue(zk::Session *session, ZPath lock, QByteArray client);
    Task<bool> untilFirst(zk::Session *session, ZPath node);
    Task<void> notifyWhenUp(ZPath lock, size_t contenders);

    // Ephemeral and sequential.
    Task<std::optional<ZPath>> createNode(zk::Session *session, ZPath path, QByteArray data);
    Task<bool> removeNode(zk::Session *session, ZPath node);
    Task<Result<zk::Children>> listNodes(zk::Session *session, ZPath path);
    Task<bool> makeParents(zk::Session *session, ZPath path);
    Task<bool> untilChildren(zk::Session *session, ZPath path, size_t count);

    DemoStage &m_stage;
    transport::Transport m_transport;
    HostPort m_server;                        // or the door to it
    std::unique_ptr<zk::Session> m_stagehand; // makes parents and looks whether a scene is up
    QObject m_crashes;
    Scope m_scope;
};

} // namespace lockscope::sandbox
