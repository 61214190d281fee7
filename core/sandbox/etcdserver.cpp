// SPDX-License-Identifier: Apache-2.0
// A private etcd: one member, loopback only, for its peers, too (it has none).
#include "core/transport/transport.h"
#include "core/recipes/make.h"
#include "core/sandbox/demo.h"

#include <QDir>
#include <QFile>

namespace lockscope::sandbox {

// The etcd scene of the demo: clients that queue for a mutex.
class DemoEtcd {
public:
    DemoEtcd(DemoStage &stage, const ConnectionSpec &server)
        : m_stage(stage), m_transport(std::make_shared<transport::Transport>(server.transport, server.hosts)),
          m_scope(stage.loop())
    {
        for (const auto &host : server.hosts)
            m_hosts.push_back(m_transport->throughTls(host));
        m_scope.launch(queueUp(&m_stage, &m_scope, 3, [this](const Completion<bool> &joined) {
            return contend("billing/invoices", 9s, joined);
        }));
    }

private:
    Task<void> contend(QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined)
    {
        etcd::ClientOptions options;
        options.hosts = m_hosts;
        options.keep = m_transport;
        const auto client = etcd::openClient(m_stage.loop(), options);
        const Completion<bool> connected(m_stage.loop());
        const auto subscription = client->onState([connected](etcd::ClientState state) {
            if (state == etcd::ClientState::Connected)
                connected.complete(true);
        });
        co_await connected;
        joined.complete(true);
        recipes::AcquireOptions lease;
        lease.ttl = 15s;
        const auto made = recipes::makeLock("etcd-mutex", *client, lock, lease, m_stage.newRandom());
        if (!made)
            co_return;
        co_await takeTurns(&m_stage, made->get(), hold);
    }

    DemoStage &m_stage;
    std::shared_ptr<transport::Transport> m_transport;
    std::vector<HostPort> m_hosts; // or the doors to them
    Scope m_scope;
};

namespace {

class EtcdKind : public ServerKind {
public:
    EtcdKind(QByteArray program, EtcdOptions options) : m_program(std::move(program)), m_options(std::move(options))
    {
    }

    QString name() const override { return u"etcd"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        m_port = port;
        // What a first try that came too late for its port has written names its addresses.
        if (!QDir(folder.file(u"data"_s)).removeRecursively())
            return Error{ErrorCode::Server, u"could not clear %1"_s.arg(folder.path())};
        for (int i = 0; i < 10; ++i) {
            m_peerPort = freeLoopbackPort();
            if (m_peerPort != 0 && m_peerPort != port)
                return {};
        }
        return Error{ErrorCode::Server, u"no second free port was found on 127.0.0.1 for etcd's peers"_s};
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        const QByteArray clients =
            (m_options.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + QByteArray::number(m_port);
        const QByteArray peers = "http://127.0.0.1:" + QByteArray::number(m_peerPort);
        QByteArrayList all{m_program, "--name=sandbox", "--data-dir=" + QFile::encodeName(folder.file(u"data"_s)),
                           "--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
                           "--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers,
                           "--initial-cluster=sandbox=" + peers, "--log-level=warn", "--logger=zap",
                           // Alone it need not wait for others to stand for election.
                           "--heartbeat-interval=20", "--election-timeout=200"};
        if (const auto *tls = m_options.tls)
            all << "--cert-file=" + QFile::encodeName(tls->server())
                << "--key-file=" + QFile::encodeName(tls->serverKey())
                << "--trusted-ca-file=" + QFile::encodeName(tls->authority()) << "--client-cert-auth";
        return all + m_options.moreArguments;
    }

    // Of one with TLS only that it speaks it, which it does once it is part of a cluster.
    QByteArray question() const override
    {
        if (m_options.tls)
            return tlsQuestion();
        return "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    }
    bool isReadyAnswer(const QByteArray &answer) const override
    {
        if (m_options.tls)
            return isTlsAnswer(answer);
        return answer.startsWith("HTTP/1.1 200") && answer.contains("true");
    }

private:
    QByteArray m_program;
    EtcdOptions m_options;
    quint16 m_port = 0;
    quint16 m_peerPort = 0;
};

} // namespace

Result<std::unique_ptr<Server>> makeEtcd(EtcdOptions options)
{
    TRY(auto &program, findProgram(u"etcd"_s, u"etcd"_s, u"etcd-server"_s));
    return std::make_unique<Server>(std::make_unique<EtcdKind>(std::move(program), std::move(options)));
}

SandboxKit sandboxOfEtcd()
{
    return kitOfSingle<DemoEtcd, makeEtcd, EtcdOptions>(u"an etcd"_s);
}

} // namespace lockscope::sandbox
