// SPDX-License-Identifier: Apache-2.0
// lockscopectl on a private MariaDB: a row and a named lock acquired, seen and taken away by force; conflicts of
// a version column in the answer; passwords that stay secret.
#include "tests/support/testmain.h"
#include "tests/support/asked.h"
#include "tests/support/ctlfixture.h"

#include "core/mariadb/dialect.h"

#include <QRegularExpression>

class TestCtlMariaDb : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_server;
    QTemporaryDir m_state;

    [[nodiscard]] QStringList connect(const QString &credentials = u"root"_s) const
    {
        return {u"--connect"_s, u"mariadb://%1@127.0.0.1:%2/shop"_s.arg(credentials).arg(m_server->address().port)};
    }
    [[nodiscard]] QStringList acquiring(const QString &lock, const QString &recipe,
                                        const QStringList &more = {}) const
    {
        return connect() + QStringList{u"acquire"_s, lock, u"--recipe"_s, recipe, u"--json"_s} + more;
    }
    [[nodiscard]] QJsonObject shown(const QString &lock) const
    {
        return run(connect() + QStringList{u"show"_s, lock, u"--json"_s}).json().value("lock"_L1).toObject();
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        OK(startInto(m_server, sandbox::makeMariaDb()));
    }
    void cleanupTestCase() { m_server.reset(); }

    void contendersAreShownAndTheHolderIsReleased_data()
    {
        addColumns<QString, QString>("recipe", "lock");
        QTest::newRow("row") << u"sql-for-update"_s << u"mariadb:shop.stock#id=1"_s;
        QTest::newRow("named") << u"sql-get-lock"_s << u"mariadb:GET_LOCK#nightly report"_s;
    }
    void contendersAreShownAndTheHolderIsReleased()
    {
        QFETCH(QString, recipe);
        QFETCH(QString, lock);
        Ctl holder(acquiring(lock, recipe));
        const auto had = holder.jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool()); // no holder.line() for a message: it would wait for one
        const auto id = had.value("id"_L1).toString();
        Ctl waiter(acquiring(lock, recipe, {u"--hold"_s, u"100ms"_s}));
        QTRY_COMPARE_WITH_TIMEOUT(shown(lock).value("contenders"_L1).toArray().size(), 2, patienceMs);
        const auto snapshot = shown(lock);
        QCOMPARE(snapshot.value("recipe"_L1).toString(), recipe);
        QCOMPARE(snapshot.value("backend"_L1).toString(), u"mariadb"_s);
        QCOMPARE(snapshot.value("state"_L1).toString(), u"contended"_s);
        const auto first = snapshot.value("contenders"_L1).toArray().at(0).toObject();
        const auto second = snapshot.value("contenders"_L1).toArray().at(1).toObject();
        QCOMPARE(first.value("id"_L1).toString(), id);
        QCOMPARE(first.value("role"_L1).toString(), u"holder"_s);
        QCOMPARE(second.value("role"_L1).toString(), u"waiter"_s);
        QCOMPARE(second.value("watches"_L1).toArray().at(0).toObject().value("target"_L1).toString(), id);
        const auto connection = first.value("session"_L1).toString();
        const QRegularExpression form(u"^%1@[0-9]{13}$"_s.arg(connection)); // a number alone comes again
        QVERIFY2(form.match(id).hasMatch(), qPrintable(id));
        const auto sessions = run(connect() + QStringList{u"sessions"_s, u"--json"_s});
        QVERIFY2(sessions.out.contains("\"session\": \"" + connection.toUtf8() + '"'), sessions.what());

        const QStringList force{u"force-release"_s, lock, u"--holder"_s, id};
        const auto refused = run(connect() + force + QStringList{u"--yes"_s, u"--read-only"_s});
        QVERIFY2(refused.status == 4, refused.what());
        const auto planned = run(connect() + force + QStringList{u"--dry-run"_s, u"--json"_s});
        QVERIFY2(planned.status == 0, planned.what());
        QVERIFY2(planned.out.contains("KILL CONNECTION " + connection.toUtf8()), planned.what());
        const auto released = run(connect() + force + QStringList{u"--yes"_s, u"--json"_s});
        QVERIFY2(released.status == 0 && released.json().value("released"_L1).toBool(), released.what());
        const auto lost = holder.finish();
        QVERIFY2(lost.status == 1 && lost.out.contains("\"lost\""), lost.what());
        const auto entered = waiter.finish();
        QVERIFY2(entered.status == 0 && entered.out.contains("\"done\""), entered.what());
    }

    // A pool lent the connection to other work while somebody was asked: its number, and so its id, is the same.
    void aConnectionThatTookItAgainIsNotKilled()
    {
        QtLoop loop;
        const auto pooled = mariadb::openSession(loop, {.host = m_server->address(), .user = u"root"_s});
        QTRY_COMPARE_WITH_TIMEOUT(pooled->state(), mariadb::SessionState::Connected, patienceMs);
        const auto ask = [&](const QByteArray &text) {
            const auto rows =
                await(pooled->execute({text, {}, std::nullopt, false}, Deadline::after(loop, patience)));
            return rows && rows->cell(0, "done") == "1";
        };
        const auto lock = u"mariadb:GET_LOCK#nightly"_s;
        QVERIFY(ask("SELECT GET_LOCK('nightly', 0) AS done"));
        const auto id = shown(lock).value("contenders"_L1).toArray().at(0).toObject().value("id"_L1).toString();
        AskedCommand asks(connect() + QStringList{u"force-release"_s, lock, u"--holder"_s, id});
        QVERIFY2(asks.says("Type yes to "), asks.said());
        QVERIFY(ask("SELECT RELEASE_LOCK('nightly') AS done"));
        QVERIFY2(asks.says("no longer appears as the holder"), asks.said());
        QVERIFY(ask("SELECT GET_LOCK('nightly', 0) AS done"));
        QVERIFY2(asks.says("released the lock and acquired it again"), asks.said());
        const int status = asks.answer("yes");
        QVERIFY2(status == 4, asks.said());
        QVERIFY2(asks.said().contains("acquired it again. Nothing was changed"), asks.said());
        QVERIFY(ask("SELECT RELEASE_LOCK('nightly') AS done")); // it is still there, and has it
    }

    void conflictsOfAVersionAreInTheAnswer()
    {
        const auto lock = u"mariadb:shop.stock#id=2"_s;
        Ctl slow(acquiring(lock, u"sql-version"_s, {u"--hold"_s, u"1500ms"_s}));
        const auto had = slow.jsonLine();
        QCOMPARE(had.value("conflicts"_L1).toInt(), 0);
        const auto fast = run(acquiring(lock, u"sql-version"_s, {u"--hold"_s, u"1ms"_s}));
        QVERIFY2(fast.status == 0, fast.what());
        const auto again = slow.jsonLine();
        QCOMPARE(again.value("conflicts"_L1).toInt(), 1);
        QCOMPARE(again.value("fencingToken"_L1).toString().toLongLong(),
                 had.value("fencingToken"_L1).toString().toLongLong() + 1);
        const auto back = slow.jsonLine();
        QVERIFY(back.value("released"_L1).toBool());
        QCOMPARE(back.value("conflicts"_L1).toInt(), 1);
        const auto ended = slow.finish();
        QVERIFY2(ended.status == 0, ended.what());
    }

    void failedCommandGivesItsReason_data()
    {
        addColumns<QStringList, int, QByteArray>("arguments", "status", "says");
        const auto row = u"mariadb:shop.stock#id=3"_s;
        QTest::newRow("no row") << acquiring(u"mariadb:shop.stock#id=4711"_s, u"sql-for-update"_s) << 1
                                << QByteArray("the row does not exist");
        QTest::newRow("no row by that name")
            << acquiring(u"mariadb:stock"_s, u"sql-for-update"_s) << 2 << QByteArray("SCHEMA.TABLE#");
        QTest::newRow("no named lock") << acquiring(row, u"sql-get-lock"_s) << 2 << QByteArray("GET_LOCK#");
        QTest::newRow("another backend's recipe")
            << acquiring(row, u"zk-mutex"_s) << 2 << QByteArray("another kind of server");
        QTest::newRow("read-only") << acquiring(row, u"sql-for-update"_s, {u"--read-only"_s}) << 4
                                   << QByteArray("read-only");
        QTest::newRow("wrong password") << connect(u"root:hunter2"_s) + QStringList{u"locks"_s} << 3
                                        << QByteArray("refused the credentials");
    }
    void failedCommandGivesItsReason()
    {
        QFETCH(QStringList, arguments);
        QFETCH(int, status);
        QFETCH(QByteArray, says);
        const auto ran = run(arguments);
        QVERIFY2(ran.status == status, ran.what());
        QVERIFY2(ran.err.contains(says), ran.what());
        QVERIFY2(!ran.err.contains("hunter2"), ran.what());
    }

    void aHeldRowIsNotHadInTime()
    {
        const auto lock = u"mariadb:shop.stock#id=3"_s;
        Ctl holder(acquiring(lock, u"sql-for-update"_s));
        QVERIFY(holder.jsonLine().value("acquired"_L1).toBool());
        const auto late = run(acquiring(lock, u"sql-for-update"_s, {u"--wait"_s, u"200ms"_s}));
        QVERIFY2(late.status == 5, late.what());
        holder.signal(SIGINT);
        const auto ended = holder.finish();
        QVERIFY2(ended.out.contains("\"interrupted\""), ended.what());
        const auto free = run(acquiring(lock, u"sql-for-update"_s, {u"--wait"_s, u"0ms"_s, u"--hold"_s, u"1ms"_s}));
        QVERIFY2(free.status == 0, free.what());
    }
};

LOCKSCOPE_TEST(TestCtlMariaDb)
#include "tst_ctl_mariadb.moc"
