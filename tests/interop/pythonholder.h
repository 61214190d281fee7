// SPDX-License-Identifier: Apache-2.0
// redis-py, which takes a lock of a Redis Cluster or of what sentinels name, and holds it until it is told.
#pragma once

#include "core/base/connectionuri.h"
#include "tests/support/patience.h"

#include <QDeadlineTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

namespace lockscope::testing {

using namespace Qt::StringLiterals;

class PythonHolder {
public:
    // `kind`: "cluster", "sentinel".
    PythonHolder(const QString &kind, const QString &lock, const std::vector<HostPort> &hosts, const TlsOptions &tls)
    {
        const QJsonObject secured{{u"ssl"_s, true},
                                  {u"ssl_ca_certs"_s, tls.ca},
                                  {u"ssl_certfile"_s, tls.cert},
                                  {u"ssl_keyfile"_s, tls.key}};
        const auto options = QJsonDocument(tls.isOn ? secured : QJsonObject()).toJson(QJsonDocument::Compact);
        QStringList arguments{u"-c"_s, QString::fromLatin1(program), kind, lock, QString::fromUtf8(options)};
        for (const auto &host : hosts)
            arguments << QString::number(host.port);
        m_process.start(u"/usr/bin/python3"_s, arguments);
    }
    ~PythonHolder()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    PythonHolder(const PythonHolder &) = delete;
    PythonHolder &operator=(const PythonHolder &) = delete;
    [[nodiscard]] static bool isInstalled()
    {
        return QProcess::execute(u"/usr/bin/python3"_s, {u"-c"_s, u"import redis.cluster"_s}) == 0;
    }

    QByteArray line()
    {
        const QDeadlineTimer limit(patienceMs);
        while (!m_process.canReadLine() && !limit.hasExpired() && m_process.state() != QProcess::NotRunning)
            m_process.waitForReadyRead(50);
        return m_process.readLine().trimmed();
    }
    QByteArray letGo()
    {
        m_process.write("\n");
        return line();
    }
    QByteArray complaints() { return m_process.readAllStandardError(); }

private:
    static constexpr char program[] =
        "import json, sys, redis\n"
        "from redis.cluster import RedisCluster, ClusterNode\n"
        "from redis.sentinel import Sentinel\n"
        "kind, name, tls = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])\n"
        "hosts = [(\"127.0.0.1\", int(port)) for port in sys.argv[4:]]\n"
        "if kind == \"cluster\":\n"
        "    client = RedisCluster(startup_nodes=[ClusterNode(*host) for host in hosts], **tls)\n"
        "else:\n"
        "    client = Sentinel(hosts, sentinel_kwargs=tls, **tls).master_for(\"mymaster\")\n"
        "lock = client.lock(name, timeout=600)\n"
        "print(\"held\" if lock.acquire(blocking=False) else \"busy\", lock.local.token.decode(), flush=True)\n"
        "sys.stdin.readline()\n"
        "try:\n"
        "    lock.release()\n"
        "    print(\"released\", flush=True)\n"
        "except redis.exceptions.LockError:\n"
        "    print(\"lost\", flush=True)\n"
        "except redis.exceptions.RedisError:\n"
        "    print(\"failed\", flush=True)\n";

    QProcess m_process;
};

} // namespace lockscope::testing
