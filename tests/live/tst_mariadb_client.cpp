// SPDX-License-Identifier: Apache-2.0
// The SQL session on a real MariaDB: values, deadlines, kinds of failure, and what becomes of what it held.
#include "mariadbfixture.h"
#include "tests/support/cable.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

using mariadb::SessionState;
using mariadb::Statement;

class TestMariaDbClient : public MariaDbFixture {
    Q_OBJECT

    Reply<mariadb::Rows> lockRow(mariadb::Session &session, const QByteArray &id, Deadline deadline)
    {
        return session.execute({"SELECT id FROM shop.stock WHERE id = ? FOR UPDATE", {id}, std::nullopt, false},
                               deadline);
    }
    std::unique_ptr<mariadb::Session> openThrough(const testing::Cable &cable)
    {
        auto session = mariadb::openSession(m_loop, sqlOptionsFor(cable.address()));
        if (!becomes(*session, SessionState::Connected))
            qFatal("%s", qPrintable(session->lastError()));
        return session;
    }
    // A session that has this number on its server: new ones count up.
    std::unique_ptr<mariadb::Session> openNumbered(mariadb::ConnectionId number, const HostPort &server)
    {
        for (;;) {
            auto session = mariadb::openSession(m_loop, sqlOptionsFor(server));
            if (!becomes(*session, SessionState::Connected) || session->connectionId() > number)
                return nullptr;
            if (session->connectionId() == number)
                return session;
        }
    }
    static Statement sleeping(int seconds)
    {
        return {"SELECT SLEEP(" + QByteArray::number(seconds) + ")", {}, std::nullopt, false};
    }
    bool someSleep(int count)
    {
        return QTest::qWaitFor(
            [&] {
                return ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'").toInt()
                       == count;
            },
            patienceMs);
    }
    int begin(mariadb::Session &session) { return codeOf(answerOf(session.begin(session.connectionId(), soon()))); }

private slots:
    void initTestCase() { OK(startServer()); }
    void cleanupTestCase() { endServer(); }

    // What it was said to have on connecting is there when it is used, and what not is not: here, and on whatever
    // other server these tests are run against.
    void itHasWhatItSaidOnConnecting()
    {
        const auto features = m_admin->features();
        QCOMPARE(features.blocks, bool(run(*m_admin, "BEGIN NOT ATOMIC SELECT 1 AS one; END")));
        QCOMPARE(features.inTransaction, bool(run(*m_admin, "SELECT @@in_transaction AS mine")));
        QVERIFY(features.inTransaction || features.transactionEvents); // root may ask all there is
        QCOMPARE(features.innoDbLocks, bool(run(*m_admin, "SELECT 1 FROM information_schema.INNODB_LOCK_WAITS w "
                                                          "JOIN information_schema.INNODB_LOCKS l")));
        QVERIFY(features.innoDbLocks || run(*m_admin, "SELECT 1 FROM performance_schema.data_lock_waits"));
        QCOMPARE(features.statementNumbers,
                 bool(run(*m_admin, "SELECT QUERY_ID FROM information_schema.PROCESSLIST")));
        QCOMPARE(features.milliseconds, bool(run(*m_admin, "SELECT TIME_MS FROM information_schema.PROCESSLIST")));
        bool isNumber = false;
        const auto uptime = ask("SELECT VARIABLE_VALUE FROM " + features.statusSchema
                                + ".global_status WHERE VARIABLE_NAME = 'Uptime'");
        uptime.toInt(&isNumber);
        QVERIFY2(isNumber, uptime.constData());
    }

    void parametersAreBoundAndValuesComeAsText()
    {
        const QByteArray hostile("'; DROP TABLE stock; -- \xe2\x82\xac \\ \"");
        const auto rows = run(
            *m_admin,
            "SELECT CAST(? AS CHAR(80)) AS Text, 42 AS n, NULLIF(1, 1) AS nothing, CAST(1.50 AS DECIMAL(5,2)) AS d, "
            "x'00ff' AS raw",
            {hostile});
        QVERIFY2(rows, textOf(rows));
        QCOMPARE(rows->columns, (QByteArrayList{"text", "n", "nothing", "d", "raw"}));
        QCOMPARE(*rows->cell(0, "text"), hostile);
        QCOMPARE(*rows->cell(0, "n"), QByteArray("42"));
        QVERIFY(!rows->cell(0, "nothing"));
        QCOMPARE(*rows->cell(0, "d"), QByteArray("1.50"));
        QCOMPARE(*rows->cell(0, "raw"), QByteArray("\x00\xff", 2));
        QVERIFY(!rows->cell(1, "n"));
        const auto updated = run(*m_admin, "UPDATE shop.stock SET quantity = quantity + 1 WHERE id > ?", {"2"});
        QVERIFY2(updated, textOf(updated));
        QCOMPARE(updated->affected, 2);
    }

    // Whoever connects to the sandbox's server is root there, and the server is whoever started it.
    void theSandboxReadsAndWritesNoFilesOfItsUser()
    {
        QTemporaryDir folder;
        const auto file = folder.filePath(QStringLiteral("mine")).toUtf8();
        QFile mine(QString::fromUtf8(file));
        QVERIFY(mine.open(QIODevice::WriteOnly) && mine.write("secret") == 6);
        mine.close();
        QCOMPARE(ask("SELECT LOAD_FILE(?)", {file}), QByteArray("NULL"));
        const auto written = run(*m_admin, "SELECT 1 INTO OUTFILE '" + file + "2'");
        QVERIFY(!written && written.error().message.contains(QStringLiteral("secure-file-priv")));
        QVERIFY(!QFile::exists(QString::fromUtf8(file) + QStringLiteral("2")));
    }

    void aRowIsLockedAndItsNeighbourIsNot()
    {
        auto one = openConnected(), other = openConnected();
        QCOMPARE(begin(*one), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*one, "1", soon()))), -1);
        QCOMPARE(begin(*other), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*other, "2", soon()))), -1);
        const auto waiting = lockRow(*other, "1", soon());
        QVERIFY(someWait(1));
        QVERIFY(!waiting.isComplete());
        QCOMPARE(codeOf(answerOf(one->commit(one->connectionId(), soon()))), -1);
        QCOMPARE(codeOf(answerOf(waiting)), -1);
    }

    void aDeadlineEndsTheWaitAndNotWhatComesNext()
    {
        auto one = openConnected(), other = openConnected();
        QCOMPARE(begin(*one), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*one, "1", soon()))), -1);
        QCOMPARE(begin(*other), -1);
        const auto connection = other->connectionId();
        const auto waiting = lockRow(*other, "1", Deadline::after(m_loop, 200ms));
        QCOMPARE(codeOf(answerOf(waiting)), code(ErrorCode::TimedOut));
        for (int i = 0; i < 5; ++i)
            QCOMPARE(codeOf(run(*other, "SELECT 1")), -1);
        QCOMPARE(other->connectionId(), connection);
        QCOMPARE(codeOf(answerOf(lockRow(*other, "2", Deadline::at(m_loop.now())))), code(ErrorCode::TimedOut));
        // Behind one that waits: not sent, and gone at its deadline.
        const auto first = lockRow(*other, "1", Deadline::after(m_loop, 800ms));
        const auto second = lockRow(*other, "2", Deadline::after(m_loop, 100ms));
        QCOMPARE(codeOf(answerOf(second)), code(ErrorCode::TimedOut));
        QVERIFY(!first.isComplete());
        QCOMPARE(codeOf(answerOf(first)), code(ErrorCode::TimedOut));
    }

    // Several that were sent together end together, by one KILL and with their connection; another's deadline is
    // none of theirs.
    void statementsOfOneDeadlineEndTogether()
    {
        const auto session = openConnected();
        const auto unbound = [](const QByteArray &text) { return Statement{text, {}, std::nullopt, false}; };
        const auto sameTime = Deadline::after(m_loop, 500ms);
        const auto kills = [&] {
            return ask("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'COM_KILL'")
                .toInt();
        };
        const auto before = kills();
        const auto first = session->execute(unbound("SELECT 1"), sameTime);
        const auto long1 = session->execute(sleeping(30), sameTime);
        const auto behind = session->execute(unbound("SELECT 2"), sameTime);
        const auto patient = session->execute(unbound("SELECT 3"), soon());
        QCOMPARE(codeOf(answerOf(first)), -1);
        QCOMPARE(codeOf(answerOf(long1)), code(ErrorCode::TimedOut));
        QCOMPARE(codeOf(answerOf(behind)), code(ErrorCode::TimedOut));
        QCOMPARE(codeOf(answerOf(patient)), code(ErrorCode::NotConnected)); // was not sent
        QVERIFY(becomes(*session, SessionState::Connected));
        QCOMPARE(codeOf(run(*session, "SELECT 1")), -1);
        QCOMPARE(kills(), before + 1);

        const auto connection = session->connectionId();
        const auto long2 = session->execute(sleeping(30), Deadline::after(m_loop, 200ms));
        const auto other = session->execute(unbound("SELECT 2"), soon());
        QCOMPARE(codeOf(answerOf(long2)), code(ErrorCode::TimedOut));
        QCOMPARE(codeOf(answerOf(other)), -1);
        QCOMPARE(session->connectionId(), connection);
    }

    // What is queued on the next connection while a KILL for the last one is still under way may be taken back.
    void aQueueEmptiedBehindALateKillIsWaitedForAgain()
    {
        QTcpServer silent; // whoever connects there waits for a greeting
        QVERIFY(silent.listen(QHostAddress::LocalHost));
        testing::Cable cable(m_server->address());
        const auto session = openThrough(cable);
        const auto before = session->connectionId();
        const auto waiting = session->execute(sleeping(30), Deadline::after(m_loop, 300ms));
        QVERIFY(someSleep(1));
        cable.leadTo({{QStringLiteral("127.0.0.1"), silent.serverPort()}, m_server->address()});
        QVERIFY(eventually([&] { return silent.hasPendingConnections(); })); // the KILL
        must(*m_admin, "KILL " + QByteArray::number(before));
        QVERIFY(!answerOf(waiting));
        QVERIFY(becomes(*session, SessionState::Connected));
        QVERIFY(session->connectionId() != before);
        const auto late = session->execute({"SELECT 1", {}, std::nullopt, false}, Deadline::after(m_loop, 300ms));
        QCOMPARE(codeOf(answerOf(late)), code(ErrorCode::TimedOut));
        QCOMPARE(codeOf(run(*session, "SELECT 2")), -1);
    }

    void interruptEndsTheWait()
    {
        auto one = openConnected(), other = openConnected();
        QCOMPARE(begin(*one), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*one, "1", soon()))), -1);
        const auto waiting = lockRow(*other, "1", Deadline::never());
        QVERIFY(someWait(1));
        other->interrupt(other->connectionId() + 1'000'000); // another's
        other->interrupt(other->connectionId());
        QCOMPARE(codeOf(answerOf(waiting)), code(ErrorCode::Cancelled));
        QCOMPARE(codeOf(run(*other, "SELECT 1")), -1);
        QVERIFY(someWait(0));
    }

    void lockWaitTimeoutAndDeadlockAreDifferent()
    {
        auto one = openConnected(), other = openConnected();
        QCOMPARE(begin(*one), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*one, "1", soon()))), -1);
        QCOMPARE(codeOf(run(*other, "SET SESSION innodb_lock_wait_timeout = 1")), -1);
        QCOMPARE(begin(*other), -1);
        const auto late = answerOf(lockRow(*other, "1", soon()));
        QCOMPARE(codeOf(late), code(ErrorCode::TimedOut));
        QVERIFY2(textOf(late).contains("1205"), textOf(late));
        QCOMPARE(codeOf(run(*other, "SET SESSION innodb_lock_wait_timeout = 50")), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*other, "2", soon()))), -1);
        const auto first = lockRow(*one, "2", soon());
        QVERIFY(someWait(1));
        const auto second = answerOf(lockRow(*other, "1", soon()));
        const auto firstEnded = answerOf(first);
        const bool oneIsVictim = bool(firstEnded) != bool(second);
        QVERIFY(oneIsVictim);
        const auto &victim = firstEnded ? second : firstEnded;
        QCOMPARE(codeOf(victim), code(ErrorCode::DeadlockVictim));
        QVERIFY2(textOf(victim).contains("1213"), textOf(victim));
    }

    void aKilledConnectionIsNoticedAndReplaced()
    {
        auto session = openConnected();
        QList<SessionState> states;
        const auto subscription = session->onState([&](SessionState state) { states << state; });
        const auto before = session->connectionId();
        QVERIFY(kill(*session)); // idle: only the question once a second finds out
        QTRY_VERIFY(states.contains(SessionState::Connecting));
        QVERIFY(becomes(*session, SessionState::Connected));
        QVERIFY(session->connectionId() != before);
        const auto bound = answerOf(session->execute({"SELECT 1", {}, before, false}, soon()));
        QCOMPARE(codeOf(bound), code(ErrorCode::SessionExpired));
    }

    void lostWhileOut_data()
    {
        const Rows<bool, int> row("lasting", "wanted");
        row("a read", false, code(ErrorCode::SessionExpired));
        row("a write that lasts", true, code(ErrorCode::UnknownOutcome));
    }
    void lostWhileOut()
    {
        QFETCH(bool, lasting);
        QFETCH(int, wanted);
        auto session = openConnected();
        const auto sameTime = soon();
        const auto slow = session->execute({"SELECT SLEEP(30)", {}, std::nullopt, lasting}, sameTime);
        const auto together = session->execute({"SELECT 1", {}, std::nullopt, false}, sameTime); // a read with a read
        const auto queued = session->execute({"SELECT ?", {"1"}, std::nullopt, false}, soon());
        QVERIFY(someSleep(1));
        QVERIFY(kill(*session));
        const auto answer = answerOf(slow);
        QVERIFY2(codeOf(answer) == wanted, textOf(answer));
        QCOMPARE(codeOf(answerOf(together)), lasting ? code(ErrorCode::NotConnected) : wanted);
        QCOMPARE(codeOf(answerOf(queued)), code(ErrorCode::NotConnected));
    }

    void destroyedSessionReleasesItsLocksAndWaits()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("unable to free"))); // at each Ctrl-C
        auto one = openConnected(), other = openConnected(), third = openConnected();
        QCOMPARE(begin(*one), -1);
        QCOMPARE(codeOf(answerOf(lockRow(*one, "1", soon()))), -1);
        QCOMPARE(begin(*other), -1);
        const auto waiting = lockRow(*other, "1", Deadline::never());
        QVERIFY(someWait(1));
        other.reset();
        QVERIFY(waiting.isComplete());
        QVERIFY(someWait(0));
        one.reset();
        QCOMPARE(codeOf(answerOf(lockRow(*third, "1", soon()))), -1);
    }

    // Each has a thread, and another for its KILL: all of them at Qt's list of connections at once.
    void manySessionsEndAtOnce()
    {
        for (int round = 0; round < 3; ++round) {
            std::vector<std::unique_ptr<mariadb::Session>> sessions;
            for (int i = 0; i < 16; ++i)
                sessions.push_back(open());
            for (const auto &session : sessions) {
                QVERIFY(becomes(*session, SessionState::Connected));
                static_cast<void>(session->execute(sleeping(30), Deadline::never()));
            }
            QVERIFY(someSleep(16));
            sessions.clear();
            QVERIFY(someSleep(0));
        }
    }

    void wrongPasswordAndUnknownDatabaseAreNotRetried()
    {
        auto options = sqlOptionsFor(m_server->address());
        options.user = QStringLiteral("nobody");
        options.password = QStringLiteral("s3cret-s3cret");
        const auto refused = mariadb::openSession(m_loop, options);
        QVERIFY(becomes(*refused, SessionState::AuthFailed));
        QVERIFY(!refused->lastError().contains(options.password));
        QCOMPARE(codeOf(run(*refused, "SELECT 1")), code(ErrorCode::AuthFailed));
        options = sqlOptionsFor(m_server->address());
        options.database = QStringLiteral("no_such_database");
        const auto closed = mariadb::openSession(m_loop, options);
        QVERIFY(becomes(*closed, SessionState::Closed));
        QVERIFY(closed->lastError().contains(options.database));
        QCOMPARE(codeOf(run(*closed, "SELECT 1")), code(ErrorCode::NotConnected));
    }

    void serverTextIsEscaped()
    {
        const auto answer = run(*m_admin, "SELECT * FROM shop.`stock\x1b[31m`");
        QCOMPARE(codeOf(answer), code(ErrorCode::Unsupported));
        QVERIFY(!textOf(answer).contains('\x1b'));
    }

    // Behind a proxy or a name that stands for several servers: the number means another's connection there.
    void nobodyElseIsKilledOnAnotherServer()
    {
        std::unique_ptr<sandbox::Server> elsewhere;
        OK(startInto(elsewhere, sandbox::makeMariaDb()));
        testing::Cable cable(m_server->address());
        auto session = openThrough(cable);
        auto bystander = openNumbered(session->connectionId(), elsewhere->address());
        QVERIFY(bystander);
        const auto theirs = bystander->execute(sleeping(10), soon());
        cable.leadTo({elsewhere->address()});
        QTest::ignoreMessage(
            QtWarningMsg,
            QRegularExpression(
                QStringLiteral("^KILL QUERY %1 was not sent: .* another server$").arg(session->connectionId())));
        const auto ours = answerOf(session->execute(sleeping(10), Deadline::after(m_loop, 300ms)));
        QCOMPARE(codeOf(ours), code(ErrorCode::UnknownOutcome)); // nobody could end it
        const auto slept = answerOf(theirs);
        QVERIFY2(slept, textOf(slept));
        QCOMPARE(slept->rows.front().front(), mariadb::Rows::Cell("0")); // 1 when it is ended early
        session.reset();
        bystander.reset();
        cable.cut();                          // it does not carry while we wait
        mariadb::waitForClosingSessions(10s); // before their servers
    }

    void balancedServer_killReachesTheSameServer()
    {
        std::unique_ptr<sandbox::Server> elsewhere;
        OK(startInto(elsewhere, sandbox::makeMariaDb()));
        testing::Cable cable(m_server->address());
        auto session = openThrough(cable);
        const auto connection = session->connectionId();
        cable.leadTo({elsewhere->address(), m_server->address()});
        // It waits for a row: of a SLEEP that was killed MySQL says that it went well.
        auto holder = openConnected();
        QCOMPARE(begin(*holder), -1);
        QVERIFY(answerOf(lockRow(*holder, "4", soon())));
        const auto ended = answerOf(lockRow(*session, "4", Deadline::after(m_loop, 300ms)));
        QCOMPARE(codeOf(ended), code(ErrorCode::TimedOut));
        QCOMPARE(codeOf(run(*session, "SELECT 1")), -1);
        QCOMPARE(session->connectionId(), connection);
    }

    void anIdleSessionNoticesASilentNetwork()
    {
        testing::Cable cable(m_server->address());
        auto options = sqlOptionsFor(cable.address());
        options.askIdleEvery = 200ms;
        options.idleAnswersWithin = 2s;
        auto session = mariadb::openSession(m_loop, options);
        QVERIFY(becomes(*session, SessionState::Connected));
        const auto before = session->connectionId();
        cable.fallSilent();
        QTRY_VERIFY(cable.hasSwallowed()); // the question is out; what is asked now queues behind it
        const auto queued = session->execute({"SELECT 1", {}, std::nullopt, false}, Deadline::never());
        const auto bound = session->execute({"SELECT 1", {}, before, false}, Deadline::never());
        QTRY_COMPARE_WITH_TIMEOUT(session->state(), SessionState::Connecting, patienceMs);
        QVERIFY2(session->lastError().contains(QStringLiteral("has not replied")), qPrintable(session->lastError()));
        QCOMPARE(codeOf(answerOf(queued)), code(ErrorCode::NotConnected));
        QCOMPARE(codeOf(answerOf(bound)), code(ErrorCode::SessionExpired));
        cable.mend();
        QVERIFY(becomes(*session, SessionState::Connected));
        QVERIFY(session->connectionId() != before);
        QCOMPARE(codeOf(run(*session, "SELECT 1")), -1);
    }

    void aServerThatHangsIsLeftAndFoundAgain()
    {
        auto session = openConnected();
        m_server->pause();
        const auto answer =
            answerOf(session->execute({"SELECT 1", {}, std::nullopt, false}, Deadline::after(m_loop, 300ms)));
        QCOMPARE(codeOf(answer), code(ErrorCode::UnknownOutcome));
        QCOMPARE(session->state(), SessionState::Connecting);
        m_server->resume();
        QVERIFY(becomes(*session, SessionState::Connected));
        QCOMPARE(codeOf(run(*session, "SELECT 1")), -1);
    }

    // A server that was started anew gives the same numbers to others: a session never takes one a second time.
    void aNumberOfAnEarlierConnectionIsNotUsedAgain()
    {
        for (int i = 0; i < 40; ++i)
            openConnected();
        testing::Cable cable(m_server->address());
        auto session = mariadb::openSession(m_loop, sqlOptionsFor(cable.address()));
        QVERIFY(becomes(*session, SessionState::Connected));
        const auto before = session->connectionId();
        cable.cut();
        QTRY_COMPARE_WITH_TIMEOUT(session->state(), SessionState::Connecting, patienceMs);
        m_server->stop();
        const auto started = m_server->start(60s);
        QVERIFY2(started, textOf(started));
        QVERIFY(becomes(*m_admin, SessionState::Connected));
        while (openConnected()->connectionId() + 1 < before) {
        }
        cable.mend(); // the next number is that of before
        QVERIFY(becomes(*session, SessionState::Connected));
        QVERIFY(session->connectionId() != before);
        QCOMPARE(codeOf(run(*session, "SELECT 1")), -1);
    }

    void aServerThatStartsAgainIsFoundAgain()
    {
        auto session = openConnected();
        m_server->stop();
        QTRY_COMPARE_WITH_TIMEOUT(session->state(), SessionState::Connecting, patienceMs);
        QCOMPARE(codeOf(run(*session, "SELECT 1")), code(ErrorCode::NotConnected));
        const auto started = m_server->start(60s);
        QVERIFY2(started, textOf(started));
        QVERIFY(becomes(*session, SessionState::Connected));
        QVERIFY(becomes(*m_admin, SessionState::Connected));
    }
};

LOCKSCOPE_TEST(TestMariaDbClient)
#include "tst_mariadb_client.moc"
