// SPDX-License-Identifier: Apache-2.0
// What the tests of the simulated ZooKeeper share: a world with an ensemble, clients with a process and a session
// each, and waiting in virtual time.
#pragma once

#include "core/simservers/zookeeper/ensemble.h"

#include <QTest>

namespace lockscope::testing {

using namespace sim;
using namespace std::chrono_literals;
namespace keeper = sim::zookeeper;

class ZooKeeperWorld {
public:
    explicit ZooKeeperWorld(quint64 seed = 1, keeper::EnsembleOptions options = {})
        : m_random(seed), network(loop, Random(m_random.next()), {}), ensemble(network, options)
    {
    }

    // A client with its session, which is connected when it is handed out.
    struct Client {
        std::unique_ptr<Process> process;
        std::unique_ptr<zk::Session> session;
        zk::Session *operator->() const { return session.get(); }
    };
    Client open(const keeper::SessionOptions &options = {})
    {
        auto client = begin(options);
        waitFor([&client] { return client.session->state() == zk::SessionState::Connected; });
        return client;
    }

    // One that is about to connect.
    Client begin(keeper::SessionOptions options = {})
    {
        Client client{.process = std::make_unique<Process>(loop, ++m_processes)};
        options.random = Random(m_random.next());
        client.session = keeper::openSession(*client.process, ensemble, options);
        return client;
    }

    // Lets time pass in small steps until it is so.
    bool waitFor(const std::function<bool()> &isSo, Duration atMost = 1min)
    {
        loop.runReady();
        for (const auto until = loop.now() + atMost; !isSo(); loop.advance(100us)) {
            if (loop.now() >= until)
                return false;
        }
        return true;
    }
    template <class T>
    Result<T> await(const Reply<T> &reply)
    {
        if (!waitFor([&reply] { return reply.isComplete(); }))
            return Error{ErrorCode::TimedOut, QStringLiteral("the test waited in vain"), false};
        return reply.value();
    }
    Result<zk::Created> make(const Client &client, const QByteArray &path,
                             zk::CreateMode mode = zk::CreateMode::Persistent)
    {
        return await(client->create(ZPath(path), {}, mode, zk::openAcl(), Deadline::never()));
    }

private:
    Random m_random;
    int m_processes = 0;

public:
    VirtualLoop loop;
    Network network;
    keeper::Ensemble ensemble;
};

} // namespace lockscope::testing
