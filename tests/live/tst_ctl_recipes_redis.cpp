// SPDX-License-Identifier: Apache-2.0
// Every Redis recipe through lockscopectl, as a user runs it: while one holds and another waits, show names
// the recipe and the holder; the waiter enters when the holder is done, or when it is taken away by force.
#include "tests/support/testmain.h"
#include "tst_ctl_fixture.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace Qt::StringLiterals;

class TestCtlRecipesRedis : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_redis;
    QTemporaryDir m_state;
    int m_count = 0;
    QString m_lock;

    static void recipesAsRows()
    {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QString>("mode");   // of the holder
        QTest::addColumn<QString>("waiter"); // how the waiter is seen; empty: it polls
        const QString subscriber = u"subscriber 1"_s;
        const QString alone = u"exclusive"_s;
        QTest::newRow("setnx") << u"redis-setnx-expire"_s << QStringList() << alone << QString();
        QTest::newRow("getset") << u"redis-getset"_s << QStringList() << alone << QString();
        QTest::newRow("set nx") << u"redis-set-nx"_s << QStringList() << alone << QString();
        QTest::newRow("lock") << u"redisson-lock"_s << QStringList() << alone << subscriber;
        QTest::newRow("fair") << u"redisson-fair-lock"_s << QStringList() << alone << u"by id"_s;
        QTest::newRow("fenced") << u"redisson-fenced-lock"_s << QStringList() << alone << subscriber;
        QTest::newRow("write") << u"redisson-rwlock"_s << QStringList() << u"write"_s << subscriber;
        QTest::newRow("read") << u"redisson-rwlock"_s << QStringList{u"--mode"_s, u"read"_s} << u"read"_s
                              << subscriber;
        QTest::newRow("semaphore") << u"redisson-semaphore"_s << QStringList{u"--limit"_s, u"1"_s} << u"permit"_s
                                   << subscriber;
    }
    QStringList connect() const { return {u"--connect"_s, u"redis://127.0.0.1:%1"_s.arg(m_redis->address().port)}; }
    QStringList acquire(const QString &recipe, const QStringList &more = {}) const
    {
        return connect() + QStringList{u"acquire"_s, m_lock, u"--recipe"_s, recipe, u"--json"_s} + more;
    }
    QJsonObject show() const
    {
        return run(connect() + QStringList{u"show"_s, m_lock, u"--json"_s}).json().value("lock"_L1).toObject();
    }
    static QJsonArray contendersOf(const QJsonObject &lock) { return lock.value("contenders"_L1).toArray(); }

private slots:
    void initTestCase()
    {
        auto made = sandbox::makeRedis();
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_redis = std::move(*made);
        const auto started = m_redis->start(std::chrono::seconds(20));
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
    }
    void init() { m_lock = u"redis:orders-lock-%1"_s.arg(++m_count); }

    void showNamesItWhileAnotherWaits_data() { recipesAsRows(); }
    void showNamesItWhileAnotherWaits()
    {
        QFETCH(QString, recipe);
        QFETCH(QStringList, options);
        QFETCH(QString, mode);
        QFETCH(QString, waiter);
        Ctl holder(acquire(recipe, options));
        const auto had = holder.jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool());
        QCOMPARE(had.value("fencingToken"_L1).isString(), recipe == u"redisson-fenced-lock");
        Ctl second(acquire(recipe, {u"--hold"_s, u"50ms"_s}));
        const int seen = waiter.isEmpty() ? 1 : 2;
        QTRY_COMPARE(contendersOf(show()).size(), seen);
        const auto lock = show();
        QCOMPARE(lock.value("recipe"_L1).toString(), recipe);
        QCOMPARE(lock.value("client"_L1).toString(), recipe.startsWith(u"redisson"_s) ? u"Redisson"_s : QString());
        const auto first = contendersOf(lock)[0].toObject();
        QCOMPARE(first.value("id"_L1), had.value("id"_L1));
        QCOMPARE(first.value("role"_L1).toString(), u"holder"_s);
        QCOMPARE(first.value("mode"_L1).toString(), mode);
        holder.signal(SIGTERM);
        QCOMPARE(holder.jsonLine().value("reason"_L1).toString(), u"interrupted"_s);
        const auto entered = second.jsonLine();
        QVERIFY(entered.value("acquired"_L1).toBool());
        if (!waiter.isEmpty()) {
            const auto last = contendersOf(lock)[1].toObject();
            QCOMPARE(last.value("role"_L1).toString(), u"waiter"_s);
            QCOMPARE(last.value("id"_L1).toString(), waiter == u"by id" ? entered.value("id"_L1).toString() : waiter);
        }
        QCOMPARE(second.finish().status, 0);
        QCOMPARE(holder.finish().status, 0);
    }

    void forceReleaseLetsTheNextOneIn_data() { recipesAsRows(); }
    void forceReleaseLetsTheNextOneIn()
    {
        QFETCH(QString, recipe);
        QFETCH(QStringList, options);
        QFETCH(QString, waiter);
        Ctl holder(acquire(recipe, options));
        const auto had = holder.jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool());
        Ctl second(acquire(recipe, {u"--hold"_s, u"50ms"_s}));
        const int seen = waiter.isEmpty() ? 1 : 2;
        QTRY_COMPARE(contendersOf(show()).size(), seen);
        const auto id = had.value("id"_L1).toString();
        QStringList force{u"force-release"_s, m_lock, u"--holder"_s, id, u"--json"_s};
        if (recipe == u"redis-getset"_s)
            force << u"--not-exact"_s; // a moment may be the next holder's as well
        const auto dry = run(connect() + force + QStringList{u"--dry-run"_s});
        QVERIFY2(dry.status == 0, dry.what());
        QVERIFY2(dry.json().value("commands"_L1).toArray().size() >= 2, dry.what());
        const auto forced = run(connect() + force + QStringList{u"--yes"_s});
        QVERIFY2(forced.status == 0 && forced.json().value("released"_L1).toBool(), forced.what());
        QVERIFY(second.jsonLine().value("acquired"_L1).toBool()); // long before any lease ends
        QCOMPARE(second.finish().status, 0);
        // Whose value says nothing about anybody cannot tell that the lock is another's now.
        if (recipe == u"redis-setnx-expire" || recipe == u"redis-getset")
            return;
        QCOMPARE(holder.jsonLine().value("reason"_L1).toString(), u"lost"_s);
        QCOMPARE(holder.finish().status, 1);
    }

    // It would stay with that number, and its application's own be refused.
    void aMissingSemaphoreIsMadeOnlyWithALimit()
    {
        const auto refused = run(acquire(u"redisson-semaphore"_s));
        QVERIFY2(refused.status == 2 && refused.err.contains("--limit"), refused.what());
        const auto keys = run(connect() + QStringList{u"keys"_s, m_lock, u"--json"_s});
        QVERIFY2(keys.json().value("keys"_L1).toArray().isEmpty(), keys.what());
    }

    void aSemaphoreLetsSoManyIn()
    {
        const QStringList two{u"--limit"_s, u"2"_s};
        Ctl first(acquire(u"redisson-semaphore"_s, two));
        Ctl second(acquire(u"redisson-semaphore"_s, two));
        QVERIFY(first.jsonLine().value("acquired"_L1).toBool());
        QVERIFY(second.jsonLine().value("acquired"_L1).toBool());
        const auto third = run(acquire(u"redisson-semaphore"_s, two + QStringList{u"--wait"_s, u"150ms"_s}));
        QVERIFY2(third.status == 5, third.what());
        const auto other = run(acquire(u"redisson-semaphore"_s, {u"--limit"_s, u"3"_s}));
        QVERIFY2(other.status != 0 && other.err.contains("2 permits"), other.what());
        QCOMPARE(contendersOf(show()).size(), 2);
    }
};

LOCKSCOPE_TEST(TestCtlRecipesRedis)
#include "tst_ctl_recipes_redis.moc"
