// SPDX-License-Identifier: Apache-2.0
// Servers behind kubectl port-forward, and passwords that a command prints.
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QFile>

namespace {

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestCtlReach : public QObject {
    Q_OBJECT

    Servers m_servers;
    QTemporaryDir m_files;
    std::unique_ptr<sandbox::Server> m_redis; // that asks for a password
    const QByteArray m_password = "s3cret";

    [[nodiscard]] QString log() const { return m_files.filePath(u"kubectl.log"_s); }
    [[nodiscard]] QMap<QString, QString> environment() const
    {
        return {{u"PATH"_s, QStringLiteral(REACH ":") + qEnvironmentVariable("PATH")}, {u"KUBECTL_LOG"_s, log()}};
    }
    [[nodiscard]] QString behind(const QString &kube) const
    {
        return u"redis://cart:%1?kube=%2"_s.arg(QString::number(m_servers.redis->address().port), kube);
    }
    static int redis(const sandbox::Server &server, const QStringList &command, const QByteArray &password = {})
    {
        auto arguments = QStringList{u"-p"_s, QString::number(server.address().port)};
        if (!password.isEmpty())
            arguments += {u"--no-auth-warning"_s, u"-a"_s, QString::fromUtf8(password)};
        return QProcess::execute(u"redis-cli"_s, arguments + command);
    }
    static bool sees(Ctl &watching, const QByteArray &lock)
    {
        QByteArray line;
        do
            line = watching.line();
        while (!line.isEmpty() && !line.contains(lock));
        return !line.isEmpty();
    }
    // A command that prints the password, and counts in a file how often it ran.
    [[nodiscard]] QString withCommand(const QString &command) const
    {
        return u"redis://127.0.0.1:%1?password-command=%2"_s.arg(
            QString::number(m_redis->address().port), QString::fromLatin1(QUrl::toPercentEncoding(command)));
    }

private slots:
    void initTestCase()
    {
        QCOMPARE(m_servers.start(), QString());
        QCOMPARE(startInto(m_redis, sandbox::makeRedis({.password = m_password})), QString());
        QCOMPARE(redis(*m_servers.redis, {u"SET"_s, u"lock:orders"_s, QString(32, u'a'), u"PX"_s, u"600000"_s}), 0);
        QCOMPARE(redis(*m_redis, {u"SET"_s, u"lock:orders"_s, QString(32, u'a'), u"PX"_s, u"600000"_s}, m_password),
                 0);
    }
    void cleanup() { QFile::remove(log()); }
    void cleanupTestCase()
    {
        m_redis.reset();
        m_servers.stop();
    }

    void kubectlIsToldWhatTheUriSays_data()
    {
        const Rows<QString, QByteArray> row("kube", "arguments");
        const QByteArray start("port-forward --namespace=shop --address=127.0.0.1 ");
        row("pod", u"shop/pod/cart-0"_s, start + "pod/cart-0 :PORT");
        row("service", u"shop/svc/cart"_s, start + "svc/cart :PORT");
        row("a name", u"shop/cart"_s, start + "svc/cart :PORT");
        row("a name that only a pod has", u"shop/only-a-pod"_s, start + "pod/only-a-pod :PORT");
        row("context", u"admin@prod/shop/cart"_s, start + "--context=admin@prod svc/cart :PORT");
        row("context with slashes", u"arn:aws:eks:eu-west-1:1:cluster/x/shop/pod/cart-0"_s,
            start + "--context=arn:aws:eks:eu-west-1:1:cluster/x pod/cart-0 :PORT");
    }
    void kubectlIsToldWhatTheUriSays()
    {
        QFETCH(QString, kube);
        QFETCH(QByteArray, arguments);
        const auto ran = run({u"--connect"_s, behind(kube), u"locks"_s, u"--json"_s}, environment());
        QCOMPARE(ran.status, 0);
        QVERIFY2(ran.out.contains("redis:lock:orders"), ran.what().constData());
        arguments.replace("PORT", QByteArray::number(m_servers.redis->address().port));
        QVERIFY2(contentOf(log()).contains(arguments + '\n'), contentOf(log()).constData());
    }

    void portOfThePodIsTakenFromKube()
    {
        const auto uri = u"redis://cart?kube=shop/cart:%1"_s.arg(m_servers.redis->address().port);
        const auto ran = run({u"--connect"_s, uri, u"locks"_s}, environment());
        QVERIFY2(ran.out.contains("redis:lock:orders"), ran.what().constData());
    }

    void messageOfKubectlIsReported()
    {
        const auto ran = run({u"--connect"_s, behind(u"shop/missing"_s), u"test"_s}, environment());
        QVERIFY(ran.status != 0);
        QVERIFY2((ran.out + ran.err).contains("kube shop/missing: Error from server (NotFound)"),
                 ran.what().constData());
    }

    void urisThatCannotBeMeantAreRefused_data()
    {
        const Rows<QString> row("query");
        row("no namespace", u"kube=cart"_s);
        row("an option", u"kube=shop/--all"_s);
        row("a port that is none", u"kube=shop/cart:0"_s);
        row("with ssh", u"kube=shop/cart&ssh=ops@bastion"_s);
        row("no command", u"password-command="_s);
    }
    void urisThatCannotBeMeantAreRefused()
    {
        QFETCH(QString, query);
        QCOMPARE(run({u"--connect"_s, u"redis://cart?"_s + query, u"locks"_s}, environment()).status, 2);
    }
    void zooKeeperIsReachedToo()
    {
        QVERIFY(m_servers.put("/locks") && m_servers.put("/locks/orders"));
        const auto uri = u"zk://zk-0:%1?kube=shop/pod/zk-0"_s.arg(m_servers.zooKeeper->address().port);
        const auto ran = run({u"--connect"_s, uri, u"tree"_s, u"/locks"_s}, environment());
        QVERIFY2(ran.out.contains("orders"), ran.what().constData());
    }
    void failedCommandIsReportedOnZooKeeper()
    {
        const auto uri = u"zk://ops@127.0.0.1:%1?password-command=false"_s.arg(m_servers.zooKeeper->address().port);
        const auto ran = run({u"--connect"_s, uri, u"test"_s});
        QVERIFY(ran.status != 0);
        QVERIFY2((ran.out + ran.err).contains("the password command ended with status 1"), ran.what().constData());
    }
    void oneHostIsBehindOnePod()
    {
        QCOMPARE(run({u"--connect"_s, u"zk://a,b?kube=shop/zk"_s, u"locks"_s}, environment()).status, 2);
    }

    void kubectlIsStartedAgain()
    {
        Ctl watching({u"--connect"_s, behind(u"shop/cart"_s), u"locks"_s, u"--watch"_s}, environment());
        QVERIFY(!watching.jsonLine().isEmpty());
        QCOMPARE(contentOf(log()).count('\n'), 1);
        const auto pid = contentOf(log() + u".pid"_s).toInt();
        QVERIFY(pid > 0);
        QCOMPARE(::kill(pid, SIGTERM), 0);
        QCOMPARE(redis(*m_servers.redis, {u"SET"_s, u"lock:later"_s, QString(32, u'b'), u"PX"_s, u"600000"_s}), 0);
        QVERIFY2(sees(watching, "redis:lock:later"), contentOf(log()).constData());
        QCOMPARE(contentOf(log()).count('\n'), 2);
    }

    void passwordCommandRunsAgainAfterTheServerClosed()
    {
        const auto count = m_files.filePath(u"count"_s);
        Ctl watching({u"--connect"_s,
                      withCommand(u"echo run >>%1; echo %2"_s.arg(count, QString::fromUtf8(m_password))), u"locks"_s,
                      u"--watch"_s});
        QVERIFY(!watching.jsonLine().isEmpty());
        const auto runs = contentOf(count).count('\n');
        QVERIFY(runs >= 1);
        // Connections that open together share one run.
        QTRY_VERIFY(redis(*m_redis, {u"CLIENT"_s, u"KILL"_s, u"TYPE"_s, u"normal"_s}, m_password) == 0
                    && contentOf(count).count('\n') > runs);
        QCOMPARE(redis(*m_redis, {u"SET"_s, u"lock:later"_s, QString(32, u'b'), u"PX"_s, u"600000"_s}, m_password),
                 0);
        QVERIFY(sees(watching, "redis:lock:later"));
    }

    // A token that was refused may be followed by one that is not.
    void passwordCommandRunsAgainAfterARefusal()
    {
        const auto token = m_files.filePath(u"token"_s);
        const auto write = [&token](const QByteArray &text) {
            QFile file(token);
            return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
        };
        QVERIFY(write(m_password));
        const auto count = m_files.filePath(u"refused"_s);
        Ctl watching(
            {u"--connect"_s, withCommand(u"cat %1; echo run >>%2"_s.arg(token, count)), u"locks"_s, u"--watch"_s});
        QVERIFY(!watching.jsonLine().isEmpty());
        QVERIFY(write("old"));
        const auto runs = contentOf(count).count('\n');
        QTRY_VERIFY(redis(*m_redis, {u"CLIENT"_s, u"KILL"_s, u"TYPE"_s, u"normal"_s}, m_password) == 0
                    && contentOf(count).count('\n') > runs);
        QVERIFY(write(m_password));
        QCOMPARE(redis(*m_redis, {u"SET"_s, u"lock:again"_s, QString(32, u'c'), u"PX"_s, u"600000"_s}, m_password),
                 0);
        QVERIFY(sees(watching, "redis:lock:again"));
    }
    void passwordCommandIsNotShown()
    {
        const auto ran = run({u"--connect"_s, withCommand(u"echo wrong-token-4711"_s), u"test"_s});
        QVERIFY(ran.status != 0);
        QVERIFY2(!(ran.out + ran.err).contains("4711"), ran.what().constData());
        QVERIFY2((ran.out + ran.err).contains("refused the user name or password"), ran.what().constData());
    }
    void failedPasswordCommandIsReported_data()
    {
        const Rows<QString, QByteArray> row("command", "problem");
        row("status", u"echo bm8gc2Vzc2lvbg== | base64 -d >&2; exit 3"_s,
            "the password command ended with status 3: no session");
        row("nothing", u"true"_s, "the password command printed nothing");
        row("without end", u"yes"_s, "the password command printed more than 64 KiB");
        // Shells repeat the command, which may hold a secret.
        row("a trace", u"set -x; false tok3n"_s, "the password command ended with status 1\n");
    }
    void failedPasswordCommandIsReported()
    {
        QFETCH(QString, command);
        QFETCH(QByteArray, problem);
        const auto ran = run({u"--connect"_s, withCommand(command), u"test"_s});
        QVERIFY(ran.status != 0);
        QVERIFY2((ran.out + ran.err).contains(problem), ran.what().constData());
        QVERIFY2(!(ran.out + ran.err).contains("tok3n"), ran.what().constData());
    }
};

LOCKSCOPE_TEST(TestCtlReach)
#include "tst_ctl_reach.moc"
