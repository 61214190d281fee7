// SPDX-License-Identifier: Apache-2.0
// The way to real servers: TLS with client certificates, and a real sshd. What is on the other side is seen,
// acquired and released as without; whom we do not know is refused, in words.
#include "core/passage/tls.h"
#include "core/sandbox/sandbox.h"
#include "core/workspace/livebackend.h"
#include "tests/live/sshdfixture.h"
#include "tests/support/testmain.h"

#include <QLibrary>
#include <QSslSocket>
#include <QTcpSocket>
#include <QTest>

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;

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

} // namespace

class TestTls : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Sandbox> m_sandbox;
    QTemporaryDir m_state;
    std::unique_ptr<LiveBackend> m_backend;
    std::map<inspect::LockName, inspect::LockSnapshot> m_locks;
    std::map<ConnectionName, ConnectionStatus> m_connections;
    std::map<quint64, Hold> m_holds;

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
    void take(const Batch &batch)
    {
        for (const auto &change : batch.locks) {
            if (change.kind == inspect::ChangeKind::Removed)
                m_locks.erase(change.lock.lock);
            else
                m_locks.insert_or_assign(change.lock.lock, change.lock);
        }
        for (const auto &status : batch.connections)
            m_connections.insert_or_assign(status.name, status);
    }
    void connectTo(const ConnectionSpec &spec)
    {
        WorkspaceOptions options;
        options.auditPath = m_state.filePath(u"audit.jsonl"_s);
        m_backend = std::make_unique<LiveBackend>(options);
        connect(m_backend.get(), &Backend::updated, this, &TestTls::take);
        connect(m_backend.get(), &Backend::holdChanged, this,
                [this](const Hold &hold) { m_holds.insert_or_assign(hold.id, hold); });
        m_backend->connectTo(spec);
    }
    bool becomes(const ConnectionSpec &spec, ConnectionStatus::State state)
    {
        return eventually([&] { return m_connections[spec.name].state == state; });
    }
    // Why it is not connected, once something is said that holds these words; else whatever is said then.
    QString refusal(const ConnectionSpec &spec, const QString &words)
    {
        const auto said = [&] { return m_connections[spec.name].message; };
        eventually([&] { return said().contains(words, Qt::CaseInsensitive); });
        return said();
    }
    void acquiresAndReleases(const ConnectionSpec &spec, const Place &place)
    {
        QVERIFY2(becomes(spec, ConnectionStatus::State::Connected), qPrintable(m_connections[spec.name].message));
        const inspect::LockName lock{spec.name, place.lock};
        AcquireRequest request;
        request.lock = lock;
        request.recipe = place.recipe;
        const auto id = m_backend->acquire(request);
        QVERIFY2(eventually([&] { return m_holds[id].state == Hold::State::Held; }), qPrintable(m_holds[id].message));
        QVERIFY(eventually([&] { return m_locks.contains(lock) && !m_locks.at(lock).contenders.empty(); }));
        m_backend->release(id);
        QVERIFY(eventually([&] { return m_holds[id].state == Hold::State::Released; }));
        QVERIFY(eventually([&] { return !m_locks.contains(lock) || m_locks.at(lock).contenders.empty(); }));
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
    void cleanup()
    {
        m_backend.reset();
        m_locks.clear();
        m_connections.clear();
        m_holds.clear();
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
        connectTo(*read);
        acquiresAndReleases(*read, places[number]);
    }

    void refusesAnUnknownAuthority_data() { addPlaces(); }
    void refusesAnUnknownAuthority()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.ca.replace(u"ca.pem"_s, u"stranger.pem"_s);
        connectTo(*spec);
        const auto why = refusal(*spec, u"not trusted"_s);
        QVERIFY2(why.contains(u"TLS: "_s) && why.contains(u"not trusted"_s), qPrintable(why));
        QVERIFY(m_connections[spec->name].state != ConnectionStatus::State::Connected);
    }

    void refusesAnotherName_data() { addPlaces(); }
    void refusesAnotherName()
    {
        QFETCH(int, number);
        auto spec = specOf(places[number].scheme);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.serverName = u"other.example"_s;
        connectTo(*spec);
        const auto words = u"not for the host name other.example"_s;
        const auto why = refusal(*spec, words);
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
        connectTo(*spec);
        // MariaDB asks for it of its users, not of connections.
        const auto words = spec->scheme == Scheme::MariaDb ? u"Access denied"_s : u"client certificate"_s;
        const auto why = refusal(*spec, words);
        QVERIFY2(why.contains(words), qPrintable(why));
    }

    // Said at once, not by attempts that fail.
    void saysWhichFileIsMissing()
    {
        auto spec = specOf(Scheme::RedisTls);
        if (!spec)
            QSKIP(qPrintable(missing()));
        spec->transport.tls.ca = u"/nowhere/ca.pem"_s;
        connectTo(*spec);
        const auto why = refusal(*spec, u"/nowhere/ca.pem"_s);
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
        QVERIFY(passage::prepareTls(socket, spec->transport.tls, spec->hosts.front().host));
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
        if (const auto why = sshd.start(); !why.isEmpty())
            QSKIP(qPrintable(why));
        spec->transport.ssh = sshd.options();
        connectTo(*spec);
        acquiresAndReleases(*spec, places[number]);
        if (QTest::currentTestFailed() || spec->scheme != Scheme::RedisTls)
            return;
        // Opened again by itself.
        const auto before = sshd.pid();
        sshd.killSsh();
        QVERIFY(eventually([&] { return sshd.pid() != 0 && sshd.pid() != before; }));
        acquiresAndReleases(*spec, places[number]);
        m_backend.reset();
        QVERIFY(eventually([&] { return ::kill(static_cast<pid_t>(sshd.pid()), 0) != 0; })); // ends with us
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
        connectTo(*spec);
        const auto why = refusal(*spec, u"host key is not known"_s);
        QVERIFY2(why.contains(u"host key is not known"_s), qPrintable(why));
    }
};

LOCKSCOPE_TEST(TestTls)
#include "tst_tls.moc"
