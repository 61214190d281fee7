// SPDX-License-Identifier: Apache-2.0
// The way to real servers: TLS with client certificates, and a real sshd. What is on the other side is seen,
// acquired and released as without; whom we do not know is refused, in words.
#include <version>

#include "core/async/scope.h"
#include "core/transport/transport.h"
#include "core/sandbox/sandbox.h"
#include "tests/live/onebackend.h"
#include "tests/live/sshdfixture.h"
#include "tests/support/patience.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"

#include <QDir>
#include <QFile>
#include <QLibrary>
#include <QProcess>
#include <QSslSocket>
#include <QStandardPaths>
#include <QTcpSocket>

#include <algorithm>

namespace {

struct Place {
    Scheme scheme;
    QByteArray lock, recipe;
};
const Place places[] = {{Scheme::ZooKeeper, "/locks/tls", "zk-mutex"},
                        {Scheme::RedisTls, "tls-lock", "redis-set-nx"},
                        {Scheme::MariaDb, "GET_LOCK#tls", "sql-get-lock"},
                        {Scheme::PostgreSql, "ADVISORY#42", "pg-advisory"},
                        {Scheme::Etcd, "locks/tls", "etcd-mutex"}};

// By its name, of which the system keeps 15 characters.
bool hasTransportThread()
{
    const auto threads = QDir(u"/proc/self/task"_s).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    return std::ranges::any_of(threads, [](const QString &number) {
        QFile name(u"/proc/self/task/%1/comm"_s.arg(number));
        return name.open(QIODevice::ReadOnly) && name.readAll().startsWith("lockscope-pass");
    });
}

} // namespace

class TestTls : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Sandbox> m_sandbox;
    std::unique_ptr<sandbox::Sandbox> m_plain; // the same servers without TLS

    // Nothing where that server is not installed.
    std::optional<ConnectionSpec> specOf(Scheme scheme)
    {
        for (const auto &spec : m_sandbox->connections()) {
            if (spec.scheme == scheme)
                return spec;
        }
        return std::nullopt;
    }
    QString missing() { return u"not here: "_s + m_sandbox->problems().join(u"; "_s); }
    static void addPlaces()
    {
        QTest::addColumn<int>("number");
        QTest::newRow("ZooKeeper") << 0;
        QTest::newRow("Redis") << 1;
        QTest::newRow("MariaDB") << 2;
        QTest::newRow("PostgreSQL") << 3;
        QTest::newRow("etcd") << 4;
    }

private slots:
    void initTestCase()
    {
        sandbox::SandboxOptions options = sandbox::SandboxOptions::everything();
        options.servers[BackendKind::PostgreSql] = 1;
        options.tls = true;
        m_sandbox = std::make_unique<sandbox::Sandbox>(options);
        if (!m_sandbox->start())
            QSKIP(qPrintable(missing()));
    }

    void isSeenAcquiredAndReleased_data() { addPlaces(); }
    void isSeenAcquiredAndReleased()
    {
        QFETCH(int, number);
        const auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        // As it is printed, so that the printed URI is enough.
        const auto read = parseConnection(sandbox::connectArgument(*spec));
        QVERIFY(read);
        {
            OneBackend backend(*read);
            backend.acquiresAndReleases(places[number].lock, places[number].recipe);
        }
        // What was carried has ended with whom it was for: once whoever says farewell through it has, for which a
        // backend does not wait without end.
        const auto hasEnded = [] {
            waitForClosing(std::chrono::seconds(1));
            return !hasTransportThread();
        };
        QVERIFY(QTest::qWaitFor(hasEnded, testing::patienceMs));
    }

    void refusesAnUnknownAuthority_data() { addPlaces(); }
    void refusesAnUnknownAuthority()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.ca.replace(u"ca.pem"_s, u"stranger.pem"_s);
        OneBackend backend(*spec);
        const auto why = backend.refusal(u"not trusted"_s);
        QVERIFY2(why.contains(u"TLS: "_s) && why.contains(u"not trusted"_s), qPrintable(why));
        QVERIFY(!backend.isConnected());
    }

    void refusesAnotherName_data() { addPlaces(); }
    void refusesAnotherName()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.serverName = u"other.example"_s;
        OneBackend backend(*spec);
        const auto words = u"not for the host name other.example"_s;
        const auto why = backend.refusal(words);
        QVERIFY2(why.contains(words), qPrintable(why));
    }

    void saysThatACertificateIsDemanded_data() { addPlaces(); }
    void saysThatACertificateIsDemanded()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.cert.clear();
        spec->transport.tls.key.clear();
        OneBackend backend(*spec);
        // MariaDB asks for it of its users, not of connections.
        const auto words = spec->scheme == Scheme::MariaDb ? u"Access denied"_s : u"client certificate"_s;
        const auto why = backend.refusal(words);
        QVERIFY2(why.contains(words) && why.contains(u"cert= and key="_s), qPrintable(why));
        // By the name that the server has, and not by that of our way to it.
        QVERIFY2(!why.contains(u"port "_s), qPrintable(why));
    }

    void saysThatTlsIsDemanded_data() { addRows<int>("number", {{"MariaDB", 2}, {"PostgreSQL", 3}}); }
    void saysThatTlsIsDemanded()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls = {};
        OneBackend backend(*spec);
        const auto why = backend.refusal(u"tls=on"_s);
        QVERIFY2(why.contains(u"tls=on"_s), qPrintable(why));
    }

    // And the reverse of it: who wants TLS does not close without a word, and is not said to be down.
    void saysThatAPortMayTakeTlsOnly_data() { addRows<int>("number", {{"ZooKeeper", 0}, {"Redis", 1}, {"etcd", 4}}); }
    void saysThatAPortMayTakeTlsOnly()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls = {};
        if (spec->scheme == Scheme::RedisTls)
            spec->scheme = Scheme::Redis;
        OneBackend backend(*spec);
        const auto why = backend.refusal(u"tls=on"_s);
        QVERIFY2(why.contains(u"TLS only (tls=on"_s) || why.contains(u"may require TLS (tls=on"_s), qPrintable(why));
    }

    void saysThatAServerSpeaksNoTls_data() { addPlaces(); }
    void saysThatAServerSpeaksNoTls()
    {
        QFETCH(int, number);
        if (!m_plain) {
            auto options = sandbox::SandboxOptions::everything();
            options.servers[BackendKind::PostgreSql] = 1;
            m_plain = std::make_unique<sandbox::Sandbox>(options);
            if (!m_plain->start())
                QSKIP("no server is installed");
        }
        const bool isRedis = places[number].scheme == Scheme::RedisTls;
        for (auto spec : m_plain->connections()) {
            if (spec.scheme != (isRedis ? Scheme::Redis : places[number].scheme))
                continue;
            spec.transport.tls.isOn = true;
            if (isRedis)
                spec.scheme = Scheme::RedisTls;
            OneBackend backend(spec);
            const auto why = backend.refusal(u"TLS: "_s);
            QVERIFY2(why.contains(u"if that port does not use TLS, omit tls="_s)
                         || why.contains(u"does not offer it"_s),
                     qPrintable(why));
            return;
        }
        QSKIP("that server is not installed");
    }

    // Said at once, not by attempts that fail.
    void saysWhichFileIsMissing()
    {
        auto spec = specOf(Scheme::RedisTls);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.ca = u"/nowhere/ca.pem"_s;
        OneBackend backend(*spec);
        const auto why = backend.refusal(u"/nowhere/ca.pem"_s);
        QVERIFY2(why.contains(u"the authorities /nowhere/ca.pem"_s), qPrintable(why));
    }

    // OpenSSL keeps a list of errors per thread: what one connection's key was tried as would be taken for an error
    // of another's that reads next, and end it.
    void aKeyThatIsReadLeavesNoErrorBehind()
    {
        const auto spec = specOf(Scheme::RedisTls);
        if (!spec)
            QSKIP(qPrintable(missing()));
        QLibrary library(u"crypto"_s, 3); // as Qt has loaded it
        const auto peek = reinterpret_cast<unsigned long (*)()>(library.resolve("ERR_peek_error"));
        if (!peek)
            QSKIP("there is no libcrypto.so.3");
        QSslSocket socket;
        QVERIFY(transport::prepareTls(socket, spec->transport.tls, spec->hosts.front().host));
        QCOMPARE(peek(), 0ul);
    }

    // Through a real sshd, and in TLS behind it: the certificate is still the server's own.
    void goesThroughSsh_data() { addPlaces(); }
    void goesThroughSsh()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        PrivateSshd sshd;
        SKIP_FOR(sshd.start());
        spec->transport.ssh = sshd.options();
        auto backend = std::make_unique<OneBackend>(*spec);
        backend->acquiresAndReleases(places[number].lock, places[number].recipe);
        if (QTest::currentTestFailed() || spec->scheme != Scheme::RedisTls)
            return;
        // Opened again by itself.
        const auto before = sshd.pid();
        const auto losses = backend->losses();
        sshd.killSsh();
        QVERIFY(eventually([&] { return backend->losses() > losses; }));
        QVERIFY(eventually([&] { return sshd.pid() != 0 && sshd.pid() != before; }));
        backend->acquiresAndReleases(places[number].lock, places[number].recipe);
        backend.reset();
        QVERIFY(eventually([&] { return ::kill(static_cast<pid_t>(sshd.pid()), 0) != 0; })); // ends with us
    }

    // Last of etcd's: from here on it wants passwords. The server's certificate has a CommonName, ours has none.
    void etcdWithUsersTakesNoCommonName()
    {
        const auto spec = specOf(Scheme::Etcd);
        if (!spec || QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
            QSKIP(qPrintable(missing()));
        const auto &tls = spec->transport.tls;
        const auto server = displayHost(spec->hosts.front());
        const QStringList given{u"--endpoints=https://"_s + server, u"--cacert="_s + tls.ca, u"--cert="_s + tls.cert,
                                u"--key="_s + tls.key};
        qputenv("ETCDCTL_API", "3");
        const std::vector<QStringList> steps{{u"user"_s, u"add"_s, u"root:secret"_s},
                                             {u"user"_s, u"grant-role"_s, u"root"_s, u"root"_s},
                                             {u"auth"_s, u"enable"_s}};
        for (const auto &step : steps)
            QCOMPARE(QProcess::execute(u"etcdctl"_s, given + step), 0);
        auto known = *spec;
        known.user = u"root"_s;
        known.password = u"secret"_s;
        OneBackend(known).acquiresAndReleases("locks/users", "etcd-mutex");
        auto named = known;
        named.transport.tls.cert.replace(u"client.pem"_s, u"server.pem"_s);
        named.transport.tls.key.replace(u"client.key"_s, u"server.key"_s);
        OneBackend backend(named);
        const auto words = u"TLS: %1 reports \"CommonName of client"_s.arg(server);
        const auto why = backend.refusal(words);
        QVERIFY2(why.contains(words) && why.contains(u"without it with cert= and key="_s), qPrintable(why));
    }

    void asksNobodyAboutAHostKey()
    {
        auto spec = specOf(Scheme::RedisTls);
        if (!spec)
            QSKIP(qPrintable(missing()));
        PrivateSshd sshd;
        if (const auto why = sshd.start(); !why.isEmpty())
            QSKIP(qPrintable(why));
        sshd.forgetHostKey();
        spec->transport.ssh = sshd.options();
        OneBackend backend(*spec);
        const auto why = backend.refusal(u"host key is unknown"_s);
        QVERIFY2(why.contains(u"host key is unknown"_s), qPrintable(why));
    }
};

LOCKSCOPE_TEST(TestTls)
#include "tst_tls.moc"
