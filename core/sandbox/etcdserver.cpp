// SPDX-License-Identifier: Apache-2.0
// A private etcd: one member, loopback only, for its peers, too (it has none).
#include "core/sandbox/etcdserver.h"

#include "core/sandbox/etcddemo.h"
#include "core/sandbox/kit.h"
#include "core/sandbox/serverprocess.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

class EtcdKind : public ServerKind {
public:
    EtcdKind(QByteArray program, QByteArrayList moreArguments)
        : m_program(std::move(program)), m_moreArguments(std::move(moreArguments))
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
        return Error{ErrorCode::Server, u"there is no second free port on 127.0.0.1 for etcd's peers"_s};
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        const QByteArray clients = "http://127.0.0.1:" + QByteArray::number(m_port);
        const QByteArray peers = "http://127.0.0.1:" + QByteArray::number(m_peerPort);
        return QByteArrayList{m_program, "--name=sandbox", "--data-dir=" + QFile::encodeName(folder.file(u"data"_s)),
                              "--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
                              "--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers,
                              "--initial-cluster=sandbox=" + peers, "--log-level=warn", "--logger=zap",
                              // Alone it need not wait for others to stand for election.
                              "--heartbeat-interval=20", "--election-timeout=200"}
               + m_moreArguments;
    }

    QByteArray question() const override
    {
        return "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    }
    bool isReadyAnswer(const QByteArray &answer) const override
    {
        return answer.startsWith("HTTP/1.1 200") && answer.contains("true");
    }

private:
    QByteArray m_program;
    QByteArrayList m_moreArguments;
    quint16 m_port = 0;
    quint16 m_peerPort = 0;
};

} // namespace

Result<std::unique_ptr<Server>> makeEtcd(QByteArrayList moreArguments)
{
    const QString program = QStandardPaths::findExecutable(u"etcd"_s);
    if (program.isEmpty())
        return Error{ErrorCode::Unsupported,
                     u"no private etcd: etcd is not installed; Debian's package is etcd-server"_s, false};
    return ServerProcess::of(std::make_unique<EtcdKind>(QFile::encodeName(program), std::move(moreArguments)));
}

SandboxKit sandboxOfEtcd()
{
    const auto make = [](int) { return alone(makeEtcd()); };
    return {.what = u"an etcd"_s,
            .most = 1,
            .apart = true,
            .usual = 0,
            .user = {},
            .make = make,
            .play = [](DemoStage &stage, const ConnectionSpec &server) {
                return std::shared_ptr<void>(std::make_shared<DemoEtcd>(stage, server));
            }};
}

} // namespace lockscope::sandbox
