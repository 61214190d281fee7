// SPDX-License-Identifier: Apache-2.0
// Locks that are a name and nothing else: those of Flyway's and Rails' migrations, and those that Django's users take
// (its own migrations take none), on MariaDB (GET_LOCK) and on PostgreSQL (advisory locks). Each is seen with who
// holds it, keeps ours out and is kept out by ours, and a force-release of it lets the next one in.
#include "core/sandbox/server.h"
#include "tests/interop/fetched.h"
#include "tests/live/mariadbfixture.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QStandardPaths>

using namespace lockscope::interop;

namespace {

// How somebody who comes while it is held goes about it.
enum class Latecomer { IsInTheQueue, AsksAgain, IsRefused };

struct ServerOfNames {
    QString name, address, uri, recipe, wayOfRelease;

    [[nodiscard]] QStringList with(const QStringList &words) const
    {
        return QStringList{u"--connect"_s, name + u'=' + uri} + words;
    }
};

QJsonObject contenderAt(const QJsonObject &lock, int place)
{
    return lock["contenders"_L1].toArray().at(place).toObject();
}

} // namespace

class TestInteropNamedLocks : public MariaDbFixture {
    Q_OBJECT

    ServerOfNames m_mariaDb, m_postgreSql;
    std::unique_ptr<sandbox::Server> m_postgres;
    QTemporaryDir m_state;
    std::unique_ptr<ForeignClient> m_program;

    const ServerOfNames &at(const QString &name) { return name == m_mariaDb.name ? m_mariaDb : m_postgreSql; }

    static QString addressOf(const sandbox::Server &server) { return u"127.0.0.1:%1"_s.arg(server.address().port); }
    // What went wrong; empty when both are there, each with a database "shop".
    QString startBoth()
    {
        if (const auto problem = startServer(); !problem.isEmpty())
            return problem;
        if (!run(*m_admin, "CREATE DATABASE IF NOT EXISTS shop"))
            return u"no database"_s;
        if (const auto problem = startInto(m_postgres, sandbox::makePostgreSql()); !problem.isEmpty())
            return problem;
        const auto mariaDb = addressOf(*m_server);
        const auto postgres = addressOf(*m_postgres);
        m_mariaDb = {u"mariadb"_s, mariaDb, u"mariadb://root@"_s + mariaDb, u"sql-get-lock"_s, u"KILL"_s};
        m_postgreSql = {u"postgresql"_s, postgres, u"postgresql://shop@%1/shop"_s.arg(postgres), u"pg-advisory"_s,
                        u"pg_terminate_backend"_s};
        return {};
    }
    std::unique_ptr<ForeignClient> program(const QString &client, const ServerOfNames &server)
    {
        const bool isMariaDb = &server == &m_mariaDb;
        const auto user = isMariaDb ? u"root"_s : u"shop"_s;
        const QStringList where{server.address, u"shop"_s, user};
        if (client == "Django"_L1)
            return std::make_unique<ForeignClient>(fetched("DJANGO"),
                                                   QStringList{clientFile(u"django_client.py"_s)} + where
                                                       + QStringList{isMariaDb ? u"mysql"_s : u"postgresql"_s});
        if (client == "Rails"_L1)
            return std::make_unique<ForeignClient>(fetched("RAILS"),
                                                   QStringList{clientFile(u"rails_client.rb"_s)} + where
                                                       + QStringList{isMariaDb ? u"mysql2"_s : u"postgresql"_s});
        const auto url = u"jdbc:%1://%2/shop"_s.arg(server.name, server.address);
        return std::make_unique<ForeignClient>(
            u"java"_s, QStringList{u"-XX:TieredStopAtLevel=1"_s, u"-cp"_s, fetched("FLYWAY") + u"/*"_s,
                                   clientFile(u"FlywayContenders.java"_s), url, user});
    }

    bool theyTake(const QByteArray &name)
    {
        m_program->tell("acquire " + name + " report");
        return m_program->says("held " + name);
    }
    bool theyGiveBack(const QByteArray &name)
    {
        m_program->tell("release " + name);
        return m_program->says("released " + name);
    }
    // Somebody comes while it is held. Who does not wait is told so and comes again later (see theyAreIn).
    bool theyComeLate(const QByteArray &name, Latecomer way)
    {
        m_program->tell("acquire " + name + " report");
        return way != Latecomer::IsRefused || m_program->says("refused " + name);
    }
    bool theyAreIn(const QByteArray &name, Latecomer way)
    {
        return way == Latecomer::IsRefused ? theyTake(name + "-again") : m_program->says("held " + name);
    }
    bool theyLeave(const QByteArray &name, Latecomer way)
    {
        return theyGiveBack(way == Latecomer::IsRefused ? name + "-again" : name);
    }
    static QJsonObject seen(const ServerOfNames &server, const QString &lock)
    {
        return testing::run(server.with({u"show"_s, server.name + u':' + lock, u"--json"_s}))
            .json()["lock"_L1]
            .toObject();
    }
    // The next change of this kind; what it shows besides may change before.
    static QJsonObject next(Ctl &watch, const QString &kind)
    {
        for (auto line = watch.jsonLine(); !line.isEmpty(); line = watch.jsonLine()) {
            if (line["change"_L1] == kind)
                return line["lock"_L1].toObject();
        }
        return {};
    }
    static bool becomes(const ServerOfNames &server, const QString &lock, const QString &state)
    {
        return QTest::qWaitFor([&] { return seen(server, lock)["state"_L1] == state; }, patienceMs);
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        if (fetched("DJANGO").isEmpty() && fetched("FLYWAY").isEmpty() && fetched("RAILS").isEmpty())
            QSKIP(whyNotFetched("DJANGO").constData());
        OK(startBoth());
    }
    void cleanup()
    {
        if (QTest::currentTestFailed() && m_program)
            qInfo("%s", m_program->everythingSaid().constData());
        m_program.reset();
    }
    void cleanupTestCase()
    {
        m_postgres.reset();
        if (m_server)
            endServer();
    }

    void isSeenAndTheNextOneGetsIn_data()
    {
        addColumns<QString, QByteArray, QString, QString, QString, int>("client", "what", "on", "lock", "called",
                                                                        "latecomer");
        const auto row = [](const char *name, const char *client, const char *what, const char *on, const char *lock,
                            const char *called, Latecomer way) {
            QTest::newRow(name) << QString::fromLatin1(client) << QByteArray(what) << QString::fromLatin1(on)
                                << QString::fromLatin1(lock) << QString::fromLatin1(called) << static_cast<int>(way);
        };
        // Of the names that Django's users choose django-mysql makes the database's, and django-pglock a hash.
        row("Django on MariaDB", "Django", "DJANGO", "mariadb", "GET_LOCK#shop.report", "", Latecomer::IsInTheQueue);
        row("Django on PostgreSQL", "Django", "DJANGO", "postgresql", "ADVISORY#-7140429637593506172", "",
            Latecomer::IsInTheQueue);
        row("Flyway on MariaDB", "Flyway", "FLYWAY", "mariadb", "GET_LOCK#Flyway--1695041341", "Flyway",
            Latecomer::IsInTheQueue);
        row("Flyway on PostgreSQL", "Flyway", "FLYWAY", "postgresql", "ADVISORY#77433833903597", "Flyway",
            Latecomer::AsksAgain);
        row("Rails on MariaDB", "Rails", "RAILS", "mariadb", "GET_LOCK#5939944341529942170", "Rails migrations",
            Latecomer::IsRefused);
        row("Rails on PostgreSQL", "Rails", "RAILS", "postgresql", "ADVISORY#5939944341529942170", "Rails migrations",
            Latecomer::IsRefused);
    }
    void isSeenAndTheNextOneGetsIn()
    {
        QFETCH(const QString, client);
        QFETCH(const QByteArray, what);
        QFETCH(const QString, on);
        QFETCH(const QString, lock);
        QFETCH(const QString, called);
        QFETCH(const int, latecomer);
        if (fetched(what.constData()).isEmpty())
            QSKIP(whyNotFetched(what.constData()).constData());
        const auto &server = at(on);
        const auto way = static_cast<Latecomer>(latecomer);
        const auto full = on + u':' + lock;
        m_program = program(client, server);
        QVERIFY(m_program->says("ready"));

        // Seen as theirs; since when is known of what was seen to begin.
        QVERIFY(theyTake("a"));
        Ctl watch(server.with({u"locks"_s, u"--watch"_s, u"--match"_s, full}));
        const auto found = next(watch, u"added"_s);
        QCOMPARE(found["lock"_L1].toString(), full);
        QCOMPARE(found["state"_L1].toString(), u"held"_s);
        QCOMPARE(found["recipe"_L1].toString(), server.recipe);
        QCOMPARE(found["client"_L1].toString(), called);
        QCOMPARE(found["confidence"_L1].toString(), u"high"_s);
        QCOMPARE(found["contenders"_L1].toArray().size(), 1);
        QVERIFY(contenderAt(found, 0)["heldMs"_L1].isNull());
        QVERIFY(theyGiveBack("a"));
        QVERIFY(!next(watch, u"removed"_s).isEmpty());
        QVERIFY(theyTake("b"));
        const auto holding = contenderAt(next(watch, u"added"_s), 0);
        QCOMPARE(holding["role"_L1].toString(), u"holder"_s);
        QVERIFY(holding["heldMs"_L1].isDouble() && holding["heldAtMost"_L1].toBool());

        // It keeps ours out, and ours keeps theirs out.
        Ctl ours(server.with({u"acquire"_s, full, u"--recipe"_s, server.recipe, u"--json"_s}));
        QVERIFY(becomes(server, lock, u"contended"_s));
        m_program->tell("release b");
        QVERIFY(ours.jsonLine()["acquired"_L1].toBool());
        QVERIFY(theyComeLate("c", way));
        if (way == Latecomer::IsInTheQueue)
            QVERIFY(becomes(server, lock, u"contended"_s));
        QVERIFY(!m_program->hasSaid("held c"));
        ours.signal(SIGTERM);
        QVERIFY(ours.finish().out.contains("released"));
        QVERIFY(theyAreIn("c", way));
        QVERIFY(theyLeave("c", way));
        // Flyway takes it once more, to look whether there is more to do: before "c" or after it.
        QVERIFY(m_program->says("released b"));

        // What frees it is said, and frees it.
        QVERIFY(theyTake("stuck"));
        QVERIFY(theyComeLate("next", way));
        const auto holder = contenderAt(seen(server, lock), 0)["id"_L1].toString();
        const QStringList force{u"force-release"_s, full, u"--holder"_s, holder};
        const auto plan = testing::run(server.with(force + QStringList{u"--dry-run"_s}));
        QVERIFY2(plan.out.contains(server.wayOfRelease.toLatin1()), plan.what());
        QVERIFY(!m_program->hasSaid("held next"));
        const auto forced = testing::run(server.with(force + QStringList{u"--yes"_s, u"--json"_s}));
        QVERIFY2(forced.json()["released"_L1].toBool(), forced.what());
        QVERIFY(theyAreIn("next", way));
        m_program->tell("release stuck");
        QVERIFY(m_program->says("failed stuck"));
        QVERIFY(theyLeave("next", way));
    }
};

LOCKSCOPE_TEST(TestInteropNamedLocks)
#include "tst_interop_named_locks.moc"
