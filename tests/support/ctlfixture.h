// SPDX-License-Identifier: Apache-2.0
// What the tests of lockscopectl as a process share: running it, talking to it while it runs, and a
// private server's raw truth beside it.
#pragma once

#include "tests/support/patience.h"
#include "tests/support/zookeeperfixture.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

#include <csignal>

namespace lockscope::testing {

// One run of the program from its start to its end.
struct Ran {
    int status = -1;
    QByteArray out;
    QByteArray err;

    [[nodiscard]] QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
    // For QVERIFY2: everything there is to know about a failure.
    [[nodiscard]] QByteArray what() const { return "status " + QByteArray::number(status) + "\n" + out + "\n" + err; }
};

// The program while it runs.
class Ctl {
public:
    explicit Ctl(const QStringList &arguments, const QMap<QString, QString> &environment = {})
    {
        auto variables = QProcessEnvironment::systemEnvironment();
        variables.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
        for (auto at = environment.begin(); at != environment.end(); ++at)
            variables.insert(at.key(), at.value());
        m_process.setProcessEnvironment(variables);
        m_process.setStandardInputFile(QProcess::nullDevice());
        m_process.start(QStringLiteral(LOCKSCOPECTL), arguments);
    }
    ~Ctl()
    {
        m_process.kill();
        m_process.waitForFinished();
    }

    // The next line on stdout; empty when none came.
    QByteArray line(int atMostMs = patienceMs)
    {
        const QDeadlineTimer limit(atMostMs);
        while (!m_process.canReadLine() && !limit.hasExpired() && m_process.state() != QProcess::NotRunning)
            m_process.waitForReadyRead(50);
        return m_process.readLine().trimmed();
    }
    QJsonObject jsonLine(int atMostMs = patienceMs) { return QJsonDocument::fromJson(line(atMostMs)).object(); }
    [[nodiscard]] qint64 pid() const { return m_process.processId(); }
    void signal(int number) const
    {
        // It may have ended already; 0 would mean everybody.
        if (m_process.processId() > 0)
            ::kill(static_cast<pid_t>(m_process.processId()), number);
    }
    void closeOutput() { m_process.closeReadChannel(QProcess::StandardOutput); }
    Ran finish()
    {
        // It may have ended while its last line was read.
        if (m_process.state() != QProcess::NotRunning && !m_process.waitForFinished(patienceMs))
            return {-1, m_process.readAllStandardOutput(), "did not end\n" + m_process.readAllStandardError()};
        return {m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : 1000 + m_process.exitCode(),
                m_process.readAllStandardOutput(), m_process.readAllStandardError()};
    }

private:
    QProcess m_process;
};

inline Ran run(const QStringList &arguments, const QMap<QString, QString> &environment = {})
{
    return Ctl(arguments, environment).finish();
}

// A private ZooKeeper with a session of our own to look at it, and a private Redis.
struct Servers {
    QtLoop loop;
    std::unique_ptr<sandbox::ZooKeeperServer> zooKeeper;
    std::unique_ptr<sandbox::Server> redis;
    std::unique_ptr<zk::Session> session;
    QTemporaryDir state;

    // Empty when both answer; else why not.
    QString start(const QByteArray &redisPassword = {})
    {
        qputenv("XDG_STATE_HOME", state.path().toUtf8());
        for (const auto &problem : {startInto(zooKeeper, sandbox::makeZooKeeper()),
                                    startInto(redis, sandbox::makeRedis({.password = redisPassword}))}) {
            if (!problem.isEmpty())
                return problem;
        }
        session = zk::openSession(loop, {.hosts = {zooKeeper->address()}});
        return waitForState(*session, zk::SessionState::Connected) ? QString() : QStringLiteral("no session");
    }
    void stop()
    {
        session.reset();
        zk::waitForClosingSessions(std::chrono::seconds(5));
        redis.reset();
        zooKeeper.reset();
    }

    [[nodiscard]] QString zk() const
    {
        return QStringLiteral("zk://127.0.0.1:%1?admin=%2")
            .arg(zooKeeper->address().port)
            .arg(zooKeeper->adminPort());
    }
    [[nodiscard]] QString redisUri(const QString &credentials = {}) const
    {
        return QStringLiteral("redis://") + credentials + QStringLiteral("127.0.0.1:%1").arg(redis->address().port);
    }
    [[nodiscard]] QStringList connect() const
    {
        return {QStringLiteral("--connect"), zk(), QStringLiteral("--connect"), redisUri()};
    }
    Ran run(const QStringList &arguments) const { return testing::run(connect() + arguments); }

    [[nodiscard]] Deadline soon() const { return Deadline::after(loop, patience); }
    bool put(const QByteArray &path, const QByteArray &data = {}, zk::CreateMode mode = zk::CreateMode::Persistent)
    {
        return bool(await(session->create(ZPath(path), data, mode, zk::openAcl(), soon())));
    }
    // Every child with the zxids that would give a change away.
    QStringList childrenWithZxids(const QByteArray &path)
    {
        QStringList facts;
        const auto listed = await(session->children(ZPath(path), std::nullopt, soon()));
        for (const auto &name : listed ? listed->names : std::vector<NodeName>()) {
            const auto stat = await(session->exists(ZPath(path).child(name), std::nullopt, soon()));
            facts << QString::fromUtf8(name.bytes())
                         + (stat ? QStringLiteral(" %1 %2 %3").arg(stat->czxid).arg(stat->mzxid).arg(stat->pzxid)
                                 : QString());
        }
        facts.sort();
        facts << (listed ? QStringLiteral("%1 %2").arg(listed->stat.pzxid).arg(listed->stat.cversion) : QString());
        return facts;
    }
};

// The fields a JSON object has, sorted, for comparing with the list in docs/json.md.
inline QStringList fields(const QJsonObject &object)
{
    auto keys = object.keys();
    keys.sort();
    return keys;
}
inline QStringList sorted(QStringList names)
{
    names.sort();
    return names;
}
inline QStringList words(const char *text)
{
    return QString::fromUtf8(text).split(QLatin1Char(' '));
}

} // namespace lockscope::testing
