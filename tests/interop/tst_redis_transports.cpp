// SPDX-License-Identifier: Apache-2.0
// A real Redis Cluster and a real Redis behind sentinels that speak TLS only, and both through a real sshd: reached
// by the URI that the sandbox prints, and by one of their servers alone, which names the others.
#include "core/redis/clusternodes.h"
#include "core/sandbox/server.h"
#include "core/sandbox/sandbox.h"
#include "tests/live/onebackend.h"
#include "tests/interop/pythonholder.h"
#include "tests/live/sshdfixture.h"
#include "tests/support/redisfixture.h"
#include "tests/support/testmain.h"

#include <dirent.h>

namespace {

// The sockets that this process has open, by their inodes.
QSet<QByteArray> ownSockets()
{
    QSet<QByteArray> inodes;
    DIR *folder = ::opendir("/proc/self/fd");
    while (const dirent *entry = folder ? ::readdir(folder) : nullptr) {
        std::array<char, 64> target;
        const auto size = ::readlinkat(::dirfd(folder), entry->d_name, target.data(), target.size());
        const QByteArray name(target.data(), std::max<qsizetype>(size, 0));
        if (name.startsWith("socket:["))
            inodes << name.mid(8).chopped(1);
    }
    if (folder)
        ::closedir(folder);
    return inodes;
}

// Where this process is connected to and does not listen itself: what goes by no door of ours.
QByteArrayList connectedElsewhere()
{
    QFile table(u"/proc/self/net/tcp"_s);
    if (!table.open(QIODevice::ReadOnly))
        return {"/proc/self/net/tcp cannot be read"};
    const auto own = ownSockets();
    QSet<QByteArray> doors;
    QByteArrayList to;
    for (const auto &line : table.readAll().split('\n')) {
        const auto columns = line.simplified().split(' ');
        if (columns.size() < 10 || !own.contains(columns[9]))
            continue;
        constexpr auto established = "01", listens = "0A";
        if (columns[3] == listens)
            doors << columns[1];
        else if (columns[3] == established)
            to << columns[1] + ' ' + columns[2];
    }
    to.removeIf([&doors](const QByteArray &ends) {
        const auto both = ends.split(' ');
        return doors.contains(both.front()) || doors.contains(both.back());
    });
    return to;
}

} // namespace

class TestRedisTransports : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Sandbox> m_sandbox;

    // As it is printed, so that the printed URI is enough.
    [[nodiscard]] ConnectionSpec specOf(Scheme scheme)
    {
        for (const auto &spec : m_sandbox->connections()) {
            if (spec.scheme == scheme)
                return *parseConnection(sandbox::connectArgument(spec));
        }
        qFatal("no such server: %s", qPrintable(m_sandbox->problems().join(u"; "_s)));
    }
    static void addDeployments()
    {
        addColumns<Scheme, QString>("scheme", "kind");
        QTest::newRow("a cluster") << Scheme::RedisCluster << u"cluster"_s;
        QTest::newRow("sentinels") << Scheme::RedisSentinel << u"sentinel"_s;
    }
    // Seen, waited for, had, given back.
    static void goesAfter(PythonHolder &python, OneBackend &backend, const QByteArray &lock)
    {
        const auto held = python.line();
        QVERIFY2(held.startsWith("held "), held + python.complaints());
        const auto token = held.mid(5);
        QVERIFY2(backend.becomesConnected(), qPrintable(backend.status().message));
        QVERIFY(
            eventually([&] { return backend.taken(lock) && backend.taken(lock)->contenders.front().id == token; }));
        QCOMPARE(backend.taken(lock)->client, u"redis-py"_s);
        const auto id = backend.acquire(lock, "redis-set-nx");
        QVERIFY(eventually([&] { return backend.hold(id).id == id; }));
        QCOMPARE(backend.hold(id).state, Hold::State::Waiting);
        QCOMPARE(python.letGo(), "released");
        QVERIFY2(backend.becomes(id, Hold::State::Held), qPrintable(backend.hold(id).message));
        const auto ours = backend.hold(id).contender;
        QVERIFY(
            eventually([&] { return backend.taken(lock) && backend.taken(lock)->contenders.front().id == ours; }));
        backend.release(id);
        QVERIFY(backend.becomes(id, Hold::State::Released));
        QVERIFY(eventually([&] { return !backend.taken(lock); }));
    }

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, std::chrono::milliseconds(patienceMs)); }
    [[nodiscard]] std::unique_ptr<redis::Connection> openOverTls(const ConnectionSpec &spec, const HostPort &host)
    {
        auto options = optionsFor(host);
        options.tls = spec.transport.tls;
        return redis::openConnection(m_loop, options);
    }
    // Where the key is written, as any of the servers says but that one.
    std::optional<HostPort> primaryOf(const ConnectionSpec &spec, const QByteArray &key, const HostPort &but = {})
    {
        for (const auto &host : spec.hosts) {
            const auto server = host == but ? nullptr : openOverTls(spec, host);
            if (!server || !becomes(*server, redis::ConnectionState::Connected))
                continue;
            if (spec.scheme == Scheme::RedisCluster) {
                const auto layout =
                    redis::ClusterLayout::read(valueOf(server->command({"CLUSTER", "SLOTS"}, soon())), host);
                const auto *owner = layout ? layout->ownerOf(redis::hashSlot(key)) : nullptr;
                return owner ? std::optional(*owner) : std::nullopt;
            }
            const redis::Command question{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", sandbox::sandboxService};
            const auto said = valueOf(server->command(question, soon()));
            return said.items.size() == 2
                       ? std::optional(HostPort{QString::fromUtf8(said.items[0].text), said.items[1].text.toUShort()})
                       : std::nullopt;
        }
        return std::nullopt;
    }

private slots:
    void initTestCase()
    {
        if (!PythonHolder::isInstalled())
            QSKIP("redis-py is not installed; Debian's package is python3-redis");
        sandbox::SandboxOptions options{
            .servers = {{BackendKind::Redis, 0}}, .variants = {u"redis-cluster"_s, u"sentinel"_s}, .tls = true};
        m_sandbox = std::make_unique<sandbox::Sandbox>(options);
        if (!m_sandbox->start() || m_sandbox->connections().size() != 2)
            QSKIP(qPrintable(m_sandbox->problems().join(u"; "_s)));
    }

    void aLockOfRedisPyIsTakenAfterOverTls_data() { addDeployments(); }
    void aLockOfRedisPyIsTakenAfterOverTls()
    {
        QFETCH(Scheme, scheme);
        QFETCH(QString, kind);
        const auto spec = specOf(scheme);
        OneBackend backend(spec);
        PythonHolder python(kind, u"lock:tls"_s, spec.hosts, spec.transport.tls);
        goesAfter(python, backend, "lock:tls");
    }

    void bothIdentitiesAreChecked_data() { addDeployments(); }
    void bothIdentitiesAreChecked()
    {
        QFETCH(Scheme, scheme);
        auto spec = specOf(scheme);
        spec.transport.tls.ca.replace(u"ca.pem"_s, u"stranger.pem"_s);
        OneBackend stranger(spec);
        const auto why = stranger.refusal(u"not trusted"_s);
        QVERIFY2(why.contains(u"not trusted"_s), qPrintable(why));
        spec = specOf(scheme);
        spec.transport.tls.cert.clear();
        spec.transport.tls.key.clear();
        OneBackend nameless(spec);
        const auto demanded = nameless.refusal(u"client certificate"_s);
        QVERIFY2(demanded.contains(u"client certificate"_s), qPrintable(demanded));
    }

    // A plain address of it, as it would be of a Redis by itself.
    void aNodeByItselfLeadsToTheCluster()
    {
        auto spec = specOf(Scheme::RedisCluster);
        spec.scheme = Scheme::RedisTls;
        spec.hosts.resize(1);
        OneBackend backend(spec);
        for (const QByteArray lock : {"lock:{bar}", "lock:{foo}"}) // on two nodes
            backend.acquiresAndReleases(lock, "redis-set-nx");
    }

    void throughSshGoesAlsoWhatTheServersName_data() { addDeployments(); }
    void throughSshGoesAlsoWhatTheServersName()
    {
        QFETCH(Scheme, scheme);
        QFETCH(QString, kind);
        PrivateSshd sshd;
        SKIP_FOR(sshd.start());
        auto spec = specOf(scheme);
        PythonHolder python(kind, u"lock:ssh"_s, spec.hosts, spec.transport.tls);
        spec.hosts.resize(1);
        spec.transport.ssh = sshd.options();
        OneBackend backend(spec);
        goesAfter(python, backend, "lock:ssh");
        if (QTest::currentTestFailed())
            return;
        for (const QByteArray lock : {"lock:{bar}", "lock:{foo}"}) // on two nodes
            backend.acquiresAndReleases(lock, "redis-set-nx");
        QCOMPARE(connectedElsewhere(), QByteArrayList());
        QCOMPARE(sshd.started(), 1); // one login for all of them

        // Started again by itself it leads to all of them at once.
        const auto before = sshd.pid();
        const auto losses = backend.losses();
        sshd.killSsh();
        QVERIFY(eventually([&] { return backend.losses() > losses; }));
        QVERIFY(eventually([&] { return sshd.pid() != 0 && sshd.pid() != before; }));
        QVERIFY2(backend.becomesConnected(), qPrintable(backend.status().message));
        backend.acquiresAndReleases("lock:{bar}", "redis-set-nx");
        QCOMPARE(sshd.started(), 2);
    }

    // Last: a server of each deployment is gone then.
    void aFailoverIsFollowedOverTls_data() { addDeployments(); }
    void aFailoverIsFollowedOverTls()
    {
        QFETCH(Scheme, scheme);
        QFETCH(QString, kind);
        const auto spec = specOf(scheme);
        const QByteArray lock = "lock:{failover}";
        OneBackend backend(spec);
        PythonHolder python(kind, QString::fromLatin1(lock), spec.hosts, spec.transport.tls);
        const auto held = python.line();
        QVERIFY2(held.startsWith("held "), held + python.complaints());
        const auto seen = [&] {
            const auto *taken = backend.taken(lock);
            return backend.isConnected() && taken && taken->contenders.front().id == held.mid(5);
        };
        QVERIFY(eventually(seen));
        const auto before = primaryOf(spec, lock);
        QVERIFY(before);
        const auto primary = openOverTls(spec, *before);
        QVERIFY(becomes(*primary, redis::ConnectionState::Connected));
        // Its replica has all that came before this.
        const auto copied = answerOf(primary->pipeline({{"SET", "{failover}", "1"}, {"WAIT", "1", "30000"}}, soon()));
        QVERIFY(copied && copied->back().integer >= 1);
        (void)answerOf(primary->command({"SHUTDOWN", "NOSAVE"}, soon()));
        QVERIFY(eventually([&] { return !backend.isConnected(); }));
        QVERIFY(eventually([&] {
            const auto after = primaryOf(spec, lock, *before);
            return after && *after != *before;
        }));
        QVERIFY2(backend.becomesConnected(), qPrintable(backend.status().message));
        QVERIFY(eventually(seen));
        backend.acquiresAndReleases("lock:{failover}:another", "redis-set-nx");
    }
};

LOCKSCOPE_TEST(TestRedisTransports)
#include "tst_redis_transports.moc"
