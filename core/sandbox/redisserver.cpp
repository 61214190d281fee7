// SPDX-License-Identifier: Apache-2.0
// A private redis-server: nothing on disk, everything it must not tell the process list in a file.
#include "core/sandbox/certificates.h"
#include "core/sandbox/demoredis.h"
#include "core/sandbox/kit.h"
#include "core/sandbox/redisdeployments.h"
#include "core/sandbox/serverprocess.h"

#include <QFile>
#include <QStandardPaths>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

// Redis reads "\xHH" inside double quotes, so every byte can be said.
QByteArray quoted(const QByteArray &bytes)
{
    QByteArray out("\"");
    for (const char byte : bytes)
        out += "\\x" + QByteArray(1, byte).toHex();
    return out + '"';
}

class RedisKind : public ServerKind {
public:
    RedisKind(QByteArray program, RedisOptions options) : m_program(std::move(program)), m_options(std::move(options))
    {
    }

    QString name() const override { return u"Redis"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        QByteArray text = "bind 127.0.0.1\n" + redisPortLines(port, m_options.tls)
                          + "protected-mode yes\nsave \"\"\nappendonly no\ndaemonize no\n";
        text += "dir " + quoted(QFile::encodeName(folder.path())) + '\n';
        if (!m_options.notifyKeyspaceEvents.isEmpty())
            text += "notify-keyspace-events " + quoted(m_options.notifyKeyspaceEvents) + '\n';
        if (!m_options.password.isEmpty())
            text += "requirepass " + quoted(m_options.password) + '\n';
        return folder.write(u"redis.conf"_s, text);
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        QByteArrayList arguments{m_program, QFile::encodeName(folder.file(u"redis.conf"_s))};
        for (const auto &more : m_options.moreArguments)
            arguments << more;
        return arguments;
    }

    QByteArray question() const override { return m_options.tls ? tlsQuestion() : QByteArray("PING\r\n"); }
    // Refusing us for the missing password is an answer too; "-LOADING" is not yet.
    bool isReadyAnswer(const QByteArray &answer) const override
    {
        if (m_options.tls)
            return isTlsAnswer(answer);
        return answer.startsWith("+PONG") || answer.startsWith("-NOAUTH") || answer.startsWith("-NOPERM");
    }

private:
    QByteArray m_program;
    RedisOptions m_options;
};

} // namespace

QByteArray redisPortLines(quint16 port, const Certificates *tls)
{
    const auto number = QByteArray::number(port);
    if (!tls)
        return "port " + number + '\n';
    const auto file = [](const QString &name) { return quoted(QFile::encodeName(name)) + '\n'; };
    return "port 0\ntls-port " + number + "\ntls-auth-clients yes\ntls-ca-cert-file " + file(tls->authority())
           + "tls-cert-file " + file(tls->server()) + "tls-key-file " + file(tls->serverKey());
}

Result<std::unique_ptr<Server>> makeRedis(RedisOptions options)
{
    const QString program = QStandardPaths::findExecutable(u"redis-server"_s);
    if (program.isEmpty())
        return Error{ErrorCode::Unsupported,
                     u"no private Redis: redis-server is not installed; Debian's package is redis-server"_s, false};
    return ServerProcess::of(std::make_unique<RedisKind>(QFile::encodeName(program), std::move(options)));
}

SandboxKit sandboxOfRedis()
{
    const auto make = [](int) { return alone(makeRedis()); };
    return {.what = u"N Redis servers"_s,
            .most = 64,
            .apart = true,
            .usual = 1,
            .user = {},
            .make = make,
            .play =
                [](DemoStage &stage, const ConnectionSpec &server) {
                    return std::shared_ptr<void>(std::make_shared<DemoRedis>(stage, server));
                },
            .makeWithTls =
                [](int, const Certificates &certificates) {
                    RedisOptions options;
                    options.tls = &certificates;
                    return alone(makeRedis(std::move(options)));
                },
            .variants = redisVariants()};
}

} // namespace lockscope::sandbox
