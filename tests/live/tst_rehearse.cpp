// SPDX-License-Identifier: Apache-2.0
// A rehearsal against real servers: random scenes of every recipe whose waiters are woken. What is seen there is
// rehearsed, then the same release is really done. How many scenes: LOCKSCOPE_REHEARSALS (2 unless said).
#include "mariadbfixture.h"
#include "tests/support/ctlfixture.h"

#include "core/async/scope.h"
#include "core/base/random.h"
#include "core/rehearse/rehearsal.h"
#include "core/rules/catalogue.h"
#include "core/sandbox/server.h"
#include "core/workspace/hold.h"
#include "tests/support/testmain.h"

using rehearse::Next;

namespace {

template <class T>
Task<void> intoReply(Task<Result<T>> task, Completion<Result<T>> done)
{
    auto result = co_await task;
    done.complete(std::move(result));
}

constexpr int processes = 7; // on Redis, whose waiters of one process look like one

// One contender of a scene.
struct Rehearsed {
    explicit Rehearsed(Loop &loop) : taking(loop) {}

    std::unique_ptr<HeldLock> lock;
    std::optional<recipes::Grant> grant;
    std::optional<QString> failure;
    Scope taking; // goes before the lock that it waits for
};

Task<void> takeIt(Rehearsed *one, std::vector<Rehearsed *> *order)
{
    auto granted = co_await one->lock->acquire(std::nullopt);
    if (granted) {
        one->grant = *granted;
        order->push_back(one);
    } else {
        one->failure = granted.error().message;
    }
}

} // namespace

class TestRehearseLive : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<sandbox::Server> m_mariaDb;
    std::unique_ptr<sandbox::Server> m_etcd;
    QTemporaryDir m_folder;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<Scope> m_scope;
    Random m_random = Random(20261122);
    int m_locks = 0;

    static int scenes()
    {
        const int asked = qEnvironmentVariableIntValue("LOCKSCOPE_REHEARSALS");
        return asked > 0 ? asked : 2;
    }
    Loop &loop() { return m_servers.loop; }
    Deadline soon() { return Deadline::after(loop(), 20s); }

    template <class T>
    Result<T> perform(Task<Result<T>> task)
    {
        Completion<Result<T>> done(loop());
        m_scope->launch(intoReply(std::move(task), done));
        return testing::await<Result<T>>(done, Error{ErrorCode::TimedOut, u"the test waited in vain"_s, false});
    }
    void connectTo(const QByteArray &name, const QString &uri)
    {
        const auto spec = parseConnection(QString::fromLatin1(name) + u'=' + uri);
        QVERIFY2(spec, spec ? "" : qPrintable(spec.error().message));
        QVERIFY(m_workspace->add(*spec));
        const auto connected = perform(m_workspace->whenConnected(ConnectionName(name), soon()));
        QVERIFY2(connected, connected ? "" : qPrintable(connected.error().message));
    }
    QString startMariaDb()
    {
        if (const auto problem = startInto(m_mariaDb, sandbox::makeMariaDb({})); !problem.isEmpty())
            return problem;
        auto session = mariadb::openSession(loop(), testing::mariadbfixture::sqlOptionsFor(m_mariaDb->address()));
        if (!testing::mariadbfixture::becomes(*session, mariadb::SessionState::Connected))
            return session->lastError();
        for (const QByteArray text : {"CREATE DATABASE rehearsed",
                                      "CREATE TABLE rehearsed.stock (id INT PRIMARY KEY, version INT) ENGINE=InnoDB",
                                      "INSERT INTO rehearsed.stock VALUES (1, 1)"}) {
            const auto done = testing::answerOf(session->execute({text, {}, {}, false}, soon()));
            if (!done)
                return done.error().message;
        }
        return {};
    }

    static int waitersOf(const Result<inspect::LockSnapshot> &lock) { return lock ? lock->waiterCount() : 0; }
    // Reads until it is as the scene left it: contenders that came or went need a moment.
    Result<inspect::LockSnapshot> readUntil(const inspect::LockName &lock, const std::vector<Rehearsed *> &order,
                                            int all)
    {
        Result<inspect::LockSnapshot> seen(Error{});
        const auto isSo = [&] {
            seen = perform(m_workspace->read(lock, soon()));
            const int holders = int(order.size());
            return seen && seen->holderCount() == holders && seen->waiterCount() == all - holders;
        };
        (void)testing::eventuallyAsking(150ms, isSo, 6s); // waiters that poll are not seen
        return seen;
    }

    // What went otherwise than foretold; empty when nothing did.
    QString playScene(const recipes::RecipeInfo &recipe, std::map<Next, int> &said)
    {
        std::vector<Rehearsed *> order; // of those who got it
        std::vector<std::unique_ptr<Rehearsed>> cast;
        HoldRequest request{.recipe = recipe.id};
        const bool isRow = recipe.shape == recipes::Shape::Row;
        const auto number = QByteArray::number(++m_locks);
        const bool isRedis = recipe.backend == BackendKind::Redis;
        request.lock = recipe.backend == BackendKind::ZooKeeper
                           ? inspect::LockName{ConnectionName("zk"), "/rehearsed/lock-" + number}
                       : recipe.backend == BackendKind::Etcd
                           ? inspect::LockName{ConnectionName("etcd"), "rehearsed/lock-" + number}
                       : isRedis ? inspect::LockName{ConnectionName("redis0"), "rehearsed-lock-" + number}
                                 : inspect::LockName{ConnectionName("db"), isRow ? QByteArray("rehearsed.stock#id=1")
                                                                                 : "GET_LOCK#rehearsed-" + number};
        const auto readFrom = request.lock;
        request.limit = recipe.counted && recipe.id != "curator-semaphore-mutex" ? 1 + int(m_random.below(2)) : 1;
        const int count = request.limit + 1 + int(m_random.below(4));
        for (int i = 0; i < count; ++i) {
            request.readMode = recipe.readWrite && m_random.below(2) == 0;
            if (isRedis)
                request.lock.connection = ConnectionName("redis" + QByteArray::number(i % processes));
            cast.push_back(std::make_unique<Rehearsed>(loop()));
            cast.back()->lock = std::make_unique<HeldLock>(*m_workspace, request);
            cast.back()->taking.launch(takeIt(cast.back().get(), &order));
            if (i == 0 && !QTest::qWaitFor([&] { return !order.empty(); }, 60'000))
                return u"the first one did not get it"_s;
            // They ask in this order; and later the wrong ones would be counted, where one who has not come yet makes
            // up in number for one who has not gone yet.
            if (recipe.fair)
                (void)readUntil(readFrom, order, i + 1);
        }
        if (const auto why = dismiss(cast, order); !why.isEmpty())
            return why;
        const int alive = int(std::ranges::count_if(cast, [](const auto &one) { return one->lock != nullptr; }));
        const auto seen = readUntil(readFrom, order, alive);
        if (!seen)
            return isRow && alive == 1 ? QString() : seen.error().message;
        QByteArrayList holders;
        for (const auto &contender : seen->contenders) {
            if (contender.role == inspect::Role::Holder)
                holders << contender.id;
        }
        if (holders.isEmpty())
            return u"nobody holds it"_s;
        const auto plan = perform(m_workspace->planForceRelease(
            readFrom, holders[qsizetype(m_random.below(quint64(holders.size())))], soon()));
        if (!plan)
            return plan.error().message;
        const auto foretold = rehearse::rehearse(*plan);
        if (!foretold)
            return foretold.error().message;
        ++said[foretold->next];
        order.clear();
        const auto done = perform(m_workspace->forceRelease(*plan, {}, soon()));
        if (!done)
            return done.error().message;
        const auto wrong = compare(*foretold, plan->before, readFrom, order);
        return wrong;
    }
    // Some of those who wait give up.
    QString dismiss(std::vector<std::unique_ptr<Rehearsed>> &cast, const std::vector<Rehearsed *> &order)
    {
        for (auto &one : cast) {
            if (one->failure)
                return *one->failure;
            const bool waits = std::ranges::find(order, one.get()) == order.end();
            if (waits && m_random.below(4) == 0) {
                one->taking.cancelAll();
                one->lock.reset();
            }
        }
        return {};
    }
    QString compare(const rehearse::Rehearsal &foretold, const inspect::LockSnapshot &before,
                    const inspect::LockName &lock, std::vector<Rehearsed *> &order)
    {
        if (foretold.next == Next::NotKnown)
            return u"not known: "_s + foretold.assumed.join(u'|');
        if (foretold.next == Next::NoOne) {
            const bool isTaken = QTest::qWaitFor([&] { return !order.empty(); }, 300);
            return isTaken ? u"foretold: nobody; somebody got it"_s : QString();
        }
        if (before.waiterCount() == 0)
            return {};
        if (!QTest::qWaitFor([&] { return !order.empty(); }, 15'000))
            return u"nobody got it"_s;
        if (foretold.next == Next::Chance || foretold.nextHolder->startsWith("subscriber "))
            return {};
        // Readers get in together: the first in the queue is among them.
        const auto *next = before.find(*foretold.nextHolder);
        const bool isThere = QTest::qWaitFor(
            [&] {
                return std::ranges::any_of(order, [&](const Rehearsed *one) {
                    return inspect::nameInId(one->grant->id) == inspect::nameInId(next->id);
                });
            },
            foretold.granted.size() > 1 ? 5000 : 0);
        if (isThere)
            return {};
        const auto &came = order.front()->grant->id;
        // A semaphore's lease is not the node that waited for it: the session is the same.
        const auto after = perform(m_workspace->read(lock, soon()));
        const auto *now = after ? after->find(came) : nullptr;
        if (now && now->session && now->session == next->session)
            return {};
        return u"foretold %1, came %2"_s.arg(QString::fromUtf8(next->id), QString::fromUtf8(came));
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        if (!m_servers.zooKeeper || !m_servers.redis)
            QSKIP(qPrintable(why));
        QVERIFY2(why.isEmpty(), qPrintable(why));
        WorkspaceOptions options{.observe = false, .auditPath = m_folder.filePath(u"audit.jsonl"_s)};
        m_workspace = std::make_unique<Workspace>(loop(), options, nullptr);
        m_scope = std::make_unique<Scope>(loop());
        connectTo("zk", m_servers.zk());
        for (int i = 0; i < processes; ++i)
            connectTo("redis" + QByteArray::number(i), m_servers.redisUri());
        if (auto made = sandbox::makeEtcd()) {
            m_etcd = std::move(*made);
            QVERIFY(m_etcd->start(60s));
            connectTo("etcd", u"etcd://127.0.0.1:%1"_s.arg(m_etcd->address().port));
        }
        const auto noMariaDb = startMariaDb();
        if (m_mariaDb) {
            QVERIFY2(noMariaDb.isEmpty(), qPrintable(noMariaDb));
            connectTo("db", u"mariadb://root@127.0.0.1:%1/rehearsed"_s.arg(m_mariaDb->address().port));
        }
    }
    void cleanupTestCase()
    {
        m_scope.reset();
        m_workspace.reset();
        mariadb::waitForClosingSessions(10s);
        m_mariaDb.reset();
        m_etcd.reset();
        m_servers.stop();
    }

    void nextHolderIsTheOneThatGetsIt_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto &recipe : recipes::catalogue()) {
            // A PostgreSQL is looked at and signalled by other code: tst_postgresql.
            const bool isHere = recipe.simulated && recipe.backend != BackendKind::PostgreSql;
            if (recipe.acquirable && isHere && recipe.wakeUp != recipes::WakeUp::Polling)
                row(recipe.id, recipe.id);
        }
    }
    void nextHolderIsTheOneThatGetsIt()
    {
        QFETCH(const QByteArray, recipe);
        const auto &info = recipes::recipeOf(recipe);
        if (info.backend == BackendKind::MariaDb && !m_mariaDb)
            QSKIP("no MariaDB is installed");
        if (info.backend == BackendKind::Etcd && !m_etcd)
            QSKIP("no etcd is installed; Debian's package is etcd-server");
        std::map<Next, int> said;
        for (int i = 0; i < scenes(); ++i) {
            const auto wrong = playScene(info, said);
            QVERIFY2(wrong.isEmpty(), qPrintable(u"scene %1: %2"_s.arg(i).arg(wrong)));
        }
        qInfo("%-24s %d scenes: certain %d, chance %d, nobody %d", recipe.constData(), scenes(), said[Next::Certain],
              said[Next::Chance], said[Next::NoOne]);
        if (info.fair)
            QCOMPARE(said[Next::Chance], 0);
    }
};

LOCKSCOPE_TEST(TestRehearseLive)
#include "tst_rehearse.moc"
