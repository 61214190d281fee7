// SPDX-License-Identifier: Apache-2.0
// Force-release on a real MariaDB against a holder that lets go by itself at an unfortunate moment: whoever does
// not hold any more is never killed, whoever reads what the server says besides us.
//
// LOCKSCOPE_RACES=300 runs each race that often, instead of 8 times; the counts are printed.
#include "core/async/scope.h"
#include "core/async/completion.h"
#include "core/base/random.h"
#include "core/inspect/mariadb/observer.h"
#include "core/operate/forcerelease.h"
#include "core/operate/sql.h"
#include "mariadbfixture.h"
#include "tests/support/countingsql.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QDeadlineTimer>
#include <QProcess>
#include <QTemporaryDir>

using namespace lockscope;
using namespace lockscope::testing;
using namespace lockscope::inspect;

namespace {

using Outcome = Result<operate::ForceReleaseOutcome>;

// Somebody who reads what InnoDB says of its transactions, and so keeps it from being renewed.
Task<void> pollTransactions(mariadb::Session *session, std::chrono::milliseconds every)
{
    for (;;) {
        auto asking = session->execute({"SELECT COUNT(*) FROM information_schema.INNODB_TRX", {}, {}, false},
                                       Deadline::never());
        (void)co_await asking;
        auto rest = sleepFor(session->loop(), every);
        co_await rest;
    }
}

// Notes, whenever something is sent that kills, whether the holder was known to have let go by then.
class KillWatch final : public CountingSql {
public:
    using CountingSql::CountingSql;

    std::function<bool()> hasLetGo;
    bool hadLetGoAtKill = false; // the last one

    void send(Request &&request) override
    {
        if (std::get<Asked<mariadb::Statement>>(request).request.text.contains("KILL CONNECTION"))
            hadLetGoAtKill = hasLetGo && hasLetGo();
        CountingSql::send(std::move(request));
    }
};

struct Counts {
    int killedRightly = 0;
    int refused = 0;
    int wrong = 0; // killed in what it did after it had let go, and that was known when the KILL was sent
    // It let go after the block that looks and kills was sent, and was quicker than the server between the two:
    // killed in what it did next. KILL takes no condition, so this remains; microseconds, or a time slice on a busy
    // machine.
    int inTheGap = 0;
    int crossed = 0;    // it was letting go when the KILL came: that was done, and nothing after it
    int stillHolds = 0; // killed, and said to hold still
    int tooCareful = 0; // of those refused: it still held
    int other = 0;      // any other error
};

} // namespace

class TestForceReleaseRacesSql : public MariaDbFixture {
    Q_OBJECT

    enum class Poller { None, Every60ms, ThreeWatch };
    const QByteArray row{"shop.stock#id=1"};
    const QByteArray name{"GET_LOCK#race"};
    QTemporaryDir m_folder;
    testing::KeepingSink m_sink;
    Random m_random = Random::fromSystem();

    static int rounds()
    {
        const int wanted = qEnvironmentVariableIntValue("LOCKSCOPE_RACES");
        return wanted > 0 ? wanted : 8;
    }
    void must(mariadb::Session &session, const QByteArray &text)
    {
        const auto done = run(session, text);
        if (!done)
            qFatal("%s: %s", text.constData(), textOf(done).constData());
    }
    Reply<mariadb::Rows> send(mariadb::Session &session, const QByteArray &text)
    {
        return session.execute({text, {}, session.connectionId(), true}, Deadline::never());
    }
    int quantity() { return ask("SELECT quantity FROM shop.stock WHERE id = 1").toInt(); }
    // Holds and has written something that only a COMMIT makes last.
    void hold(mariadb::Session &session, bool isNamed)
    {
        if (isNamed) {
            must(session, "SELECT GET_LOCK('race', 5)");
            return;
        }
        must(session, "START TRANSACTION");
        must(session, "SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE");
        must(session, "UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 1");
    }
    Reply<mariadb::Rows> wait(mariadb::Session &session, bool isNamed)
    {
        if (!isNamed)
            must(session, "START TRANSACTION");
        auto waiting = send(session, isNamed ? "SELECT GET_LOCK('race', 100)"
                                             : "SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE");
        if (!someWait(1))
            qFatal("nobody waits");
        return waiting;
    }
    // Lets go, so that it shows in the quantity, and goes on with other work on the same connection. What it is told.
    // Nothing, if it was killed by then.
    std::vector<Reply<mariadb::Rows>> letGo(mariadb::Session &session, mariadb::ConnectionId connection, bool isNamed)
    {
        if (session.connectionId() != connection)
            return {};
        return {
            send(session, isNamed ? "UPDATE shop.stock SET quantity = quantity + RELEASE_LOCK('race') WHERE id = 1"
                                  : "COMMIT"),
            send(session, "START TRANSACTION"), send(session, "SELECT id FROM shop.stock WHERE id = 2 FOR UPDATE")};
    }
    Result<LockSnapshot> readNow(Observer &observer, const QByteArray &lock)
    {
        return testing::finish(m_loop, observer.readNow(lock, soon()));
    }
    // What may be old shows no lock, or the one before: then one looks again.
    Result<LockSnapshot> readUntil(Observer &observer, const std::function<bool(const LockSnapshot &)> &isWanted)
    {
        // Whoever waits has sent its request; a busy server comes to it in its own time.
        const QDeadlineTimer impatience(patienceMs);
        auto read = readNow(observer, row);
        while (!(read && isWanted(*read)) && !impatience.hasExpired())
            read = readNow(observer, row);
        if (read && !isWanted(*read))
            return Error{ErrorCode::TimedOut, QStringLiteral("what is looked for is not shown"), false};
        return read;
    }
    // `meanwhile` happens after that time, if at all.
    Outcome release(const operate::ForceReleasePlan &plan, Observer &observer, mariadb::Session &session,
                    std::optional<std::chrono::milliseconds> after = {}, std::function<void()> meanwhile = {})
    {
        operate::AuditFile audit(m_folder.filePath(QStringLiteral("audit.jsonl")));
        operate::ForceReleaseTools tools;
        tools.observer = &observer;
        tools.send = [&session](operate::ForceReleasePlan sent, Deadline by) {
            return operate::sendRelease(std::move(sent), &session, by);
        };
        tools.audit = &audit;
        tools.loop = &m_loop;
        Timer timer;
        if (after)
            timer = m_loop.callAt(m_loop.now() + *after, std::move(meanwhile));
        return testing::finish(m_loop, operate::forceRelease(plan, tools, QStringLiteral("a race"), soon()));
    }
    // Three programs that watch the locks, as three operators do.
    std::vector<std::unique_ptr<QProcess>> watchers(Poller poller)
    {
        std::vector<std::unique_ptr<QProcess>> all;
        const auto uri = QStringLiteral("mariadb://root@127.0.0.1:%1/shop").arg(m_server->address().port);
        for (int i = 0; poller == Poller::ThreeWatch && i < 3; ++i) {
            auto &process = all.emplace_back(std::make_unique<QProcess>());
            process->setStandardOutputFile(QProcess::nullDevice());
            process->setStandardErrorFile(QProcess::nullDevice());
            process->start(QStringLiteral(LOCKSCOPECTL),
                           {QStringLiteral("--connect"), uri, QStringLiteral("locks"), QStringLiteral("--watch")});
            process->waitForStarted();
        }
        return all;
    }
    void stop(std::vector<std::unique_ptr<QProcess>> &processes)
    {
        for (auto &process : processes) {
            process->kill();
            process->waitForFinished();
        }
    }
    // What came of it, by the server's own word: did it let go before it died?
    void judge(const Outcome &outcome, bool hadLetGoAtKill, mariadb::Session &old, mariadb::ConnectionId connection,
               int before, const std::vector<Reply<mariadb::Rows>> &told, Counts &counts)
    {
        const bool hadLetGo = quantity() != before;
        // A KILL that came while it was letting go lets that be done, and even answered, but no more.
        const bool wentOn = told.size() > 1 && bool(answerOf(told[1]));
        const bool lives = old.state() == mariadb::SessionState::Connected && old.connectionId() == connection
                           && bool(answerOf(send(old, "SELECT 1")));
        counts.wrong += !lives && hadLetGo && wentOn && hadLetGoAtKill ? 1 : 0;
        counts.inTheGap += !lives && hadLetGo && wentOn && !hadLetGoAtKill ? 1 : 0;
        counts.crossed += !lives && hadLetGo && !wentOn ? 1 : 0;
        if (lives && outcome)
            ++counts.other; // said to be killed, and is not
        if (!outcome)
            ++(outcome.error().code == ErrorCode::Refused ? counts.refused : counts.other);
        else if (!outcome->released)
            ++counts.stillHolds;
        else if (!hadLetGo)
            ++counts.killedRightly;
        if (!outcome && outcome.error().code != ErrorCode::Refused)
            qInfo("%s", textOf(outcome).constData());
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_folder.path().toUtf8());
        const auto problem = startServer();
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
    }
    void cleanupTestCase() { endServer(); }

    // Between the look and the act, at a random moment.
    void clientReleasingMeanwhileIsNotKilled_data()
    {
        QTest::addColumn<bool>("named");
        QTest::addColumn<int>("poller");
        QTest::newRow("row") << false << int(Poller::None);
        QTest::newRow("row, read every 60 ms") << false << int(Poller::Every60ms);
        QTest::newRow("row, watched three times") << false << int(Poller::ThreeWatch);
        QTest::newRow("named lock") << true << int(Poller::None);
    }
    void clientReleasingMeanwhileIsNotKilled()
    {
        QFETCH(bool, named);
        QFETCH(int, poller);
        auto processes = watchers(Poller(poller));
        const auto session = openConnected(), reading = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        // Until the act there is a fresh look and a rest; where others read, some more: about half of that time.
        const quint64 longest = named                               ? 400
                                : poller == int(Poller::None)       ? 800
                                : poller == int(Poller::ThreeWatch) ? 1500
                                                                    : 3500;
        Counts counts;
        int unseen = 0;
        // Where chance was against all of them, some who do not let go: they are killed, or all this shows nothing.
        for (int i = 0; i < rounds() || (counts.killedRightly == 0 && i < 3 * rounds()); ++i) {
            auto old = openConnected(), next = openConnected();
            const auto connection = old->connectionId();
            const int before = quantity();
            hold(*old, named);
            const auto waiting = wait(*next, named);
            const auto snapshot = readNow(observer, named ? name : row);
            const auto plan = snapshot ? operate::planForceRelease(*snapshot, snapshot->contenders[0].id)
                                       : Result<operate::ForceReleasePlan>(snapshot.error());
            if (!plan || plan->before.contenders[0].session != QString::number(connection)) {
                ++unseen; // what may be old shows no lock, or the one before
                continue;
            }
            Scope polling(m_loop);
            if (poller == int(Poller::Every60ms))
                polling.launch(pollTransactions(reading.get(), 60ms));
            std::optional<std::chrono::milliseconds> moment;
            if (i < rounds())
                moment.emplace(m_random.below(longest));
            std::vector<Reply<mariadb::Rows>> gone;
            KillWatch killing(*session);
            killing.hasLetGo = [&] { return !gone.empty() && gone[0].isComplete(); };
            const auto outcome =
                release(*plan, observer, killing, moment, [&] { gone = letGo(*old, connection, named); });
            judge(outcome, killing.hadLetGoAtKill, *old, connection, before, gone, counts);
            if (!outcome && gone.empty()) {
                ++counts.tooCareful;
                std::ignore = letGo(*old, connection, named);
            }
            QTRY_VERIFY_WITH_TIMEOUT(waiting.isComplete(), patienceMs); // who waited has it, and was not hit
            QVERIFY2(waiting.value(), textOf(waiting.value()));
        }
        stop(processes);
        qInfo("%d killed rightly, %d refused (%d while it held), %d wrong, %d between the server's look and "
              "its KILL, %d crossed, %d said to hold still, %d other, %d unseen",
              counts.killedRightly, counts.refused, counts.tooCareful, counts.wrong, counts.inTheGap, counts.crossed,
              counts.stillHolds, counts.other, unseen);
        QCOMPARE(counts.wrong, 0);
        QCOMPARE(counts.stillHolds, 0);
        QCOMPARE(counts.other, 0);
        QVERIFY(counts.killedRightly > 0);
    }

    // Before the act, long enough for an old copy to be what it is judged by.
    void formerHolderIsNotKilled_data()
    {
        QTest::addColumn<int>("poller");
        QTest::newRow("alone") << int(Poller::None);
        QTest::newRow("read every 60 ms") << int(Poller::Every60ms);
        QTest::newRow("watched three times") << int(Poller::ThreeWatch);
    }
    void formerHolderIsNotKilled()
    {
        QFETCH(int, poller);
        auto processes = watchers(Poller(poller));
        const auto session = openConnected(), reading = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        Counts counts;
        for (int i = 0; i < rounds(); ++i) {
            auto old = openConnected(), next = openConnected();
            const auto connection = old->connectionId();
            const int before = quantity();
            hold(*old, false);
            const auto waiting = wait(*next, false);
            const auto snapshot = readUntil(observer, [&](const auto &lock) {
                return lock.contenders[0].session == QString::number(connection);
            });
            QVERIFY2(snapshot, textOf(snapshot));
            const auto plan = operate::planForceRelease(*snapshot, snapshot->contenders[0].id);
            QVERIFY2(plan, textOf(plan));
            Scope polling(m_loop);
            if (poller == int(Poller::Every60ms))
                polling.launch(pollTransactions(reading.get(), 60ms));
            const auto gone = letGo(*old, connection, false);
            QTRY_VERIFY_WITH_TIMEOUT(waiting.isComplete(), patienceMs);
            judge(release(*plan, observer, *session), true, *old, connection, before, gone, counts);
        }
        stop(processes);
        qInfo("%d refused, %d wrong", counts.refused, counts.wrong);
        QCOMPARE(counts.wrong, 0);
        QCOMPARE(counts.refused, rounds());
    }

    // The same connection holds the same row in its next transaction, begun in the same second: another hold.
    void anOldIdIsNotTheNextHold()
    {
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        int sameSecond = 0;
        for (int i = 0; i < rounds(); ++i) {
            auto old = openConnected(), next = openConnected(), third = openConnected();
            hold(*old, false);
            auto waiting = wait(*next, false);
            const auto connection = QString::number(old->connectionId());
            const auto isOld = [&](const auto &lock) { return lock.contenders[0].session == connection; };
            const auto snapshot = readUntil(observer, isOld);
            QVERIFY2(snapshot, textOf(snapshot));
            const auto id = snapshot->contenders[0].id;
            const auto plan = operate::planForceRelease(*snapshot, id);
            QVERIFY2(plan, textOf(plan));
            must(*old, "COMMIT");
            QVERIFY(answerOf(waiting));
            must(*next, "COMMIT");
            hold(*old, false);
            std::ignore = wait(*third, false);
            const auto now =
                readUntil(observer, [&](const auto &lock) { return isOld(lock) && lock.contenders[0].id != id; });
            QVERIFY2(now, textOf(now));
            QCOMPARE(now->contenders[0].session, snapshot->contenders[0].session);
            sameSecond += now->contenders[0].heldSince == snapshot->contenders[0].heldSince ? 1 : 0;
            const auto again = operate::planForceRelease(*now, id);
            QVERIFY(!again);
            QCOMPARE(again.error().code, ErrorCode::Refused);
            const auto outcome = release(*plan, observer, *session);
            QVERIFY(!outcome);
            QCOMPARE(outcome.error().code, ErrorCode::Refused);
            must(*old, "ROLLBACK");
        }
        qInfo("%d of %d in the same second", sameSecond, rounds());
    }
};

LOCKSCOPE_TEST(TestForceReleaseRacesSql)
#include "tst_forcerelease_races_sql.moc"
