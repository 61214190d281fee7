// SPDX-License-Identifier: Apache-2.0
// The observer of a real MariaDB: who holds, who waits, who is idle, what cannot be seen and why, and force-
// release of what was seen.
#include "core/async/scope.h"
#include "core/async/completion.h"
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/observer.h"
#include "core/operate/forcerelease.h"
#include "core/operate/sql.h"
#include "mariadbfixture.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>
#include <QTemporaryDir>

using namespace lockscope::inspect;

namespace {

Task<void> readAgainAndAgain(mariadb::Session *session, std::chrono::milliseconds every)
{
    for (;;) {
        auto asking = session->execute({"SELECT COUNT(*) FROM information_schema.INNODB_TRX", {}, {}, false},
                                       Deadline::never());
        (void)co_await asking;
        auto rest = sleepFor(session->loop(), every);
        co_await rest;
    }
}

} // namespace

class TestMariaDbObserver : public MariaDbFixture {
    Q_OBJECT

    const QByteArray row{"shop.stock#id=1"};

    QString sessionOf(const mariadb::Session &session) { return QString::number(session.connectionId()); }
    // Of whoever the connection is in this snapshot.
    QByteArray idOf(const LockSnapshot &snapshot, const mariadb::Session &session)
    {
        for (const auto &contender : snapshot.contenders) {
            if (contender.session == sessionOf(session))
                return contender.id;
        }
        return "is not there";
    }
    std::unique_ptr<mariadb::Session> holder()
    {
        auto session = openConnected();
        must(*session, "START TRANSACTION");
        must(*session, "SELECT id FROM shop.stock WHERE id = ? FOR UPDATE", {"1"});
        return session;
    }
    // One that waits for row 1; `reply` is its answer.
    std::unique_ptr<mariadb::Session> waiter(std::optional<Reply<mariadb::Rows>> &reply, int already = 0)
    {
        auto session = openConnected();
        must(*session, "START TRANSACTION");
        reply = session->execute({"SELECT id FROM shop.stock WHERE id = ? FOR UPDATE", {"1"}, {}, false},
                                 Deadline::never());
        if (!someWait(already + 1))
            qFatal("nobody waits");
        return session;
    }
    Result<LockSnapshot> readNow(Observer &observer, const QByteArray &name)
    {
        return testing::finish(m_loop, observer.readNow(name, soon()));
    }
    // To take the lock from that connection, as it is now.
    Result<operate::ForceReleasePlan> planFor(Observer &observer, const QByteArray &name,
                                              const mariadb::Session &session)
    {
        const auto snapshot = readNow(observer, name);
        if (!snapshot)
            return snapshot.error();
        return operate::planForceRelease(*snapshot, idOf(*snapshot, session));
    }
    Result<operate::ForceReleaseOutcome> forceRelease(const operate::ForceReleasePlan &plan, Observer &observer,
                                                      operate::AuditFile &audit, mariadb::Session *session = nullptr)
    {
        operate::ForceReleaseTools tools{
            .observer = &observer,
            .send =
                [used = session ? session : m_admin.get()](operate::ForceReleasePlan sent, Deadline by) {
                    return operate::sendRelease(std::move(sent), used, by);
                },
            .audit = &audit,
            .loop = &m_loop};
        return testing::finish(m_loop, operate::forceRelease(plan, tools, QStringLiteral("a test"), soon()));
    }

private slots:
    void initTestCase()
    {
        OK(startServer());
        QVERIFY(run(*m_admin, "CREATE USER reader@'127.0.0.1'"));
    }
    void cleanup() { QVERIFY(nothingIsHeld()); }
    void cleanupTestCase() { endServer(); }

    // "As of" is the age of what is shown: nothing changes, and it is heard again and again that nothing did.
    void aQuietServerIsHeardAllTheSame()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        sink.looks = 0;
        QTRY_VERIFY(sink.looks >= 2);
    }

    void aRowLockIsSeenWhileSomebodyWaits()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        auto one = holder();
        std::optional<Reply<mariadb::Rows>> second, third;
        QVERIFY(run(*m_admin, "SET GLOBAL innodb_lock_wait_timeout = 41"));
        auto two = waiter(second);
        auto three = waiter(third, 1);
        QTRY_VERIFY(sink.locks.contains(row) && sink.locks[row].contenders.size() == 3);
        const auto lock = sink.locks[row];
        QCOMPARE(lock.state, LockState::Contended);
        QCOMPARE(lock.recipe, QByteArray("sql-for-update"));
        QCOMPARE(*lock.contenders[0].session, sessionOf(*one));
        const QRegularExpression form(QStringLiteral("^%1@[0-9]{13}$").arg(sessionOf(*one)));
        QVERIFY2(form.match(QString::fromLatin1(lock.contenders[0].id)).hasMatch(), lock.contenders[0].id);
        QCOMPARE(lock.contenders[0].role, Role::Holder);
        QCOMPARE(*lock.contenders[1].session, sessionOf(*two));
        QCOMPARE(*lock.contenders[2].session, sessionOf(*three));
        QCOMPARE(lock.contenders[2].watches.front().target, idOf(lock, *two));
        QVERIFY(lock.contenders[0].endpoint->startsWith(QStringLiteral("127.0.0.1:")));
        QCOMPARE(*lock.contenders[0].identity, QByteArray("root"));
        QVERIFY(lock.contenders[0].runsNothing && !lock.find(FindingCode::IdleInTransaction)); // not for long
        QVERIFY(lock.contenders[0].limits.empty());
        QCOMPARE(lock.contenders[1].limits.size(), size_t(1));
        QCOMPARE(lock.contenders[1].limits[0].setting, QByteArray("innodb_lock_wait_timeout"));
        QCOMPARE(lock.contenders[1].limits[0].longest, std::chrono::milliseconds(41s));
        QVERIFY(run(*m_admin, "SET GLOBAL innodb_lock_wait_timeout = DEFAULT"));
        QVERIFY(std::ranges::any_of(sink.sessions, [&](const auto &s) {
            return s.session == sessionOf(*two) && s.waits == std::vector<QByteArray>{row};
        }));
        QVERIFY(run(*one, "COMMIT"));
        QTRY_COMPARE(sink.locks[row].contenders.size(), size_t(2));
        QCOMPARE(*sink.locks[row].contenders[0].session, sessionOf(*two));
        QVERIFY(run(*two, "COMMIT"));
        QTRY_VERIFY(!sink.locks.contains(row)); // nobody waits: a server does not show it any more
        QVERIFY(sink.count(ChangeKind::Removed, row) > 0);
        const auto gone = readNow(observer, row);
        QVERIFY(!gone);
        QCOMPARE(gone.error().code, ErrorCode::NoNode);
    }

    void aShortContentionIsNotMissedByReadingNow()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        observer.start(); // its own looks do not keep the server's snapshot from being made anew
        auto one = holder();
        std::optional<Reply<mariadb::Rows>> reply;
        auto two = waiter(reply);
        for (int i = 0; i < 3; ++i) {
            const auto read = readNow(observer, row);
            QVERIFY2(read, textOf(read));
            QCOMPARE(read->contenders.size(), size_t(2));
        }
    }

    // Somebody reads so often that the server never makes a new copy of what it says.
    void possiblyOldDataIsReported()
    {
        testing::KeepingSink sink;
        const auto session = openConnected(), reading = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        const auto saysOld = [&] {
            return std::ranges::any_of(observer.coverage(), [](const auto &part) {
                return !part.complete && part.message.contains(QStringLiteral("may be old"));
            });
        };
        std::optional<Reply<mariadb::Rows>> reply;
        auto one = holder();
        auto two = waiter(reply);
        QTRY_VERIFY(sink.locks.contains(row));
        QVERIFY(!sink.locks[row].mayBeOld);
        {
            Scope polling(m_loop);
            polling.launch(readAgainAndAgain(reading.get(), 60ms));
            QTRY_VERIFY(saysOld());
            // On a busy machine the reader may rest long enough for a fresh copy now and then.
            const auto mayBeOld = [&] {
                const auto read = readNow(observer, row);
                return read && read->mayBeOld;
            };
            QTRY_VERIFY(mayBeOld());
            // Nor does it say that there is none, where it cannot know.
            QVERIFY(run(*one, "COMMIT"));
            const auto isRefused = [&] {
                const auto unknown = readNow(observer, "shop.stock#id=4");
                return !unknown && unknown.error().code == ErrorCode::Refused
                       && unknown.error().message.contains(QStringLiteral("100 ms"));
            };
            QTRY_VERIFY(isRefused());
        }
        QTRY_VERIFY(!saysOld());
        QTRY_VERIFY(!sink.locks.contains(row));
    }

    // One slow look says nothing of how much work a look is: the rhythm is back with the server.
    void aStallIsSaidAndCostsOneLook()
    {
        testing::KeepingSink sink;
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        const auto isSilent = [&] {
            return std::ranges::any_of(sink.coverage, [](const auto &part) {
                return !part.complete && part.message.contains(QStringLiteral("has not answered"));
            });
        };
        m_server->pause();
        QTRY_VERIFY_WITH_TIMEOUT(isSilent(), patienceMs);
        m_server->resume();
        auto one = holder();
        std::optional<Reply<mariadb::Rows>> reply;
        auto two = waiter(reply);
        QTRY_VERIFY_WITH_TIMEOUT(sink.locks.contains(row), 10'000);
        QTRY_VERIFY(!isSilent());
    }

    // Under two names, or in two windows: they take turns, and none keeps the other's copy old.
    void twoObserversOfOneServerShareItsCopy()
    {
        testing::KeepingSink first, second;
        const auto session = openConnected(), other = openConnected();
        MariaDbObserver one(*session, ConnectionName("db"), {}, first),
            two(*other, ConnectionName("db2"), {}, second);
        one.start();
        two.start();
        QTRY_VERIFY(one.firstSnapshot().isComplete() && two.firstSnapshot().isComplete());
        // The statements of both, without those that ask for their number.
        int asked = 0;
        const auto statements = [&] {
            return ask("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
                       "'COM_SELECT'")
                       .toInt()
                   - ++asked;
        };
        const int before = statements();
        bool isWhole = true;
        const auto haveLookedOn = [&] {
            for (const auto *observer : {&one, &two})
                isWhole = isWhole && std::ranges::all_of(observer->coverage(), &Coverage::complete);
            return !isWhole || statements() >= before + 20;
        };
        QVERIFY(QTest::qWaitFor(haveLookedOn, patienceMs));
        QVERIFY(isWhole);
        // Looking on is nobody's work: neither shows the other as a client.
        QVERIFY(first.sessions.empty() && second.sessions.empty());
    }

    void namedLocksAreSeenWithAndWithoutInstruments_data()
    {
        addRows<bool>("instrument", {{"performance schema", true}, {"nothing", false}});
    }
    void namedLocksAreSeenWithAndWithoutInstruments()
    {
        QFETCH(bool, instrument);
        QVERIFY(run(*m_admin, QByteArray("UPDATE performance_schema.setup_instruments SET ENABLED = ")
                                  + (instrument ? "'YES'" : "'NO'") + " WHERE NAME = 'wait/lock/metadata/sql/mdl'"));
        testing::KeepingSink sink;
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, sink);
        observer.start();
        auto one = openConnected(), two = openConnected();
        QVERIFY(run(*one, "SELECT GET_LOCK(?, 1)", {"Nightly 'x'"}));
        const auto reply =
            two->execute({"SELECT GET_LOCK('Nightly \\'x\\'', 100)", {}, {}, false}, Deadline::never());
        // MySQL keeps such a name in lower case, and says it so.
        const bool isLowered = instrument
                               && ask("SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE OBJECT_TYPE = "
                                      "'USER LEVEL LOCK' AND BINARY OBJECT_NAME = 'nightly \\'x\\''")
                                          .toInt()
                                      > 0;
        const QByteArray name(isLowered ? "GET_LOCK#nightly 'x'" : "GET_LOCK#Nightly 'x'");
        QTRY_VERIFY(sink.locks.contains(name) && sink.locks[name].contenders.size() == 2);
        QCOMPARE(*sink.locks[name].contenders[0].session, sessionOf(*one));
        QCOMPARE(sink.locks[name].contenders[0].role, Role::Holder);
        QCOMPARE(*sink.locks[name].contenders[1].session, sessionOf(*two));
        QTRY_VERIFY(sink.locks[name].contenders.size() == 2 && sink.locks[name].contenders[1].waitingSince);
        const bool saysGap = std::ranges::any_of(observer.coverage(), [](const auto &part) {
            return !part.complete && part.message.contains(QStringLiteral("metadata_lock_info"));
        });
        QCOMPARE(saysGap, !instrument);
        // Whoever asks by name is told even of a lock nobody waits for.
        QVERIFY(run(*one, "SELECT GET_LOCK('Quiet', 1)"));
        const auto quiet = readNow(observer, "GET_LOCK#Quiet");
        QVERIFY2(quiet, textOf(quiet));
        QCOMPARE(*quiet->contenders.front().session, sessionOf(*one));
        QVERIFY(run(
            *m_admin,
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = 'wait/lock/metadata/sql/mdl'"));
    }

    void aMissingPrivilegeIsNamed()
    {
        auto options = sqlOptionsFor(m_server->address());
        options.user = QStringLiteral("reader");
        const auto session = mariadb::openSession(m_loop, options);
        QVERIFY(becomes(*session, mariadb::SessionState::Connected));
        testing::KeepingSink sink;
        MariaDbObserver observer(*session, ConnectionName("db"), {}, sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        QVERIFY(std::ranges::any_of(observer.coverage(), [](const auto &part) {
            return !part.complete && part.message.contains(QStringLiteral("PROCESS"));
        }));
    }

    // A server tells whoever lacks PROCESS that nobody else is connected: that is no reason to say that it let go.
    void userWithoutKillPrivilegeIsRefused()
    {
        QTemporaryDir folder;
        operate::AuditFile audit(folder.filePath(QStringLiteral("audit.jsonl")));
        auto options = sqlOptionsFor(m_server->address());
        options.user = QStringLiteral("reader");
        const auto session = mariadb::openSession(m_loop, options);
        QVERIFY(becomes(*session, mariadb::SessionState::Connected));
        testing::KeepingSink sink;
        MariaDbObserver observer(*session, ConnectionName("db"), {}, sink);
        auto one = openConnected();
        QVERIFY(run(*one, "SELECT GET_LOCK('not yours', 1)"));
        const auto snapshot = readNow(observer, "GET_LOCK#not yours");
        QVERIFY2(snapshot, textOf(snapshot));
        QVERIFY(!snapshot->waitersKnown);
        const auto plan = operate::planForceRelease(*snapshot, idOf(*snapshot, *one));
        QVERIFY2(plan, textOf(plan));
        const auto outcome = forceRelease(*plan, observer, audit, session.get());
        QVERIFY(!outcome);
        QVERIFY2(outcome.error().code == ErrorCode::NoPermission, textOf(outcome));
        QVERIFY(run(*one, "SELECT 1"));
    }

    void forceReleaseKillsTheHolderAndOnlyIt()
    {
        QTemporaryDir folder;
        operate::AuditFile audit(folder.filePath(QStringLiteral("audit.jsonl")));
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        auto one = holder();
        std::optional<Reply<mariadb::Rows>> reply;
        auto two = waiter(reply);
        const auto plan = planFor(observer, row, *one);
        QVERIFY2(plan, textOf(plan));
        const auto before = sessionOf(*one);
        const auto outcome = forceRelease(*plan, observer, audit);
        QVERIFY2(outcome, textOf(outcome));
        QVERIFY2(outcome->released, qPrintable(outcome->message));
        QVERIFY(answerOf(*reply)); // who waited has it
        QTRY_VERIFY(one->state() != mariadb::SessionState::Connected || sessionOf(*one) != before);
        // Once more with the same plan: it does not hold any more, and nobody else is hit.
        const auto again = forceRelease(*plan, observer, audit);
        QVERIFY(!again);
        QCOMPARE(again.error().code, ErrorCode::Refused);
        QVERIFY(run(*two, "SELECT 1"));
    }

    void aNewTransactionOfTheSameConnectionIsNotHit()
    {
        QTemporaryDir folder;
        operate::AuditFile audit(folder.filePath(QStringLiteral("audit.jsonl")));
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        auto one = holder();
        std::optional<Reply<mariadb::Rows>> reply;
        auto two = waiter(reply);
        const auto plan = planFor(observer, row, *one);
        QVERIFY2(plan, textOf(plan));
        QVERIFY(run(*one, "COMMIT"));
        QVERIFY(answerOf(*reply));
        QVERIFY(run(*two, "COMMIT"));
        // The same connection holds the same row again, and somebody waits: all as before, but another hold.
        QVERIFY(run(*one, "START TRANSACTION"));
        QVERIFY(run(*one, "SELECT id FROM shop.stock WHERE id = ? FOR UPDATE", {"1"}));
        std::optional<Reply<mariadb::Rows>> another;
        auto three = waiter(another);
        const auto outcome = forceRelease(*plan, observer, audit);
        QVERIFY(!outcome);
        QVERIFY2(outcome.error().code == ErrorCode::Refused, textOf(outcome));
        QVERIFY(run(*one, "SELECT 1"));
        QVERIFY(!another->isComplete());
    }

    void aNamedLockIsReleasedByForce()
    {
        QTemporaryDir folder;
        operate::AuditFile audit(folder.filePath(QStringLiteral("audit.jsonl")));
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        auto one = openConnected();
        QVERIFY(run(*one, "SELECT GET_LOCK(?, 1)", {"forced"}));
        const auto plan = planFor(observer, "GET_LOCK#forced", *one);
        QVERIFY2(plan, textOf(plan));
        const auto outcome = forceRelease(*plan, observer, audit);
        QVERIFY2(outcome, textOf(outcome));
        QVERIFY2(outcome->released, qPrintable(outcome->message));
        QTRY_COMPARE(ask("SELECT IS_FREE_LOCK('forced')"), QByteArray("1"));
    }
};

LOCKSCOPE_TEST(TestMariaDbObserver)
#include "tst_mariadb_observer.moc"
