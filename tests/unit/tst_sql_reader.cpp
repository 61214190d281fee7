// SPDX-License-Identifier: Apache-2.0
// What is asked of servers that have this and not that, and what is said of the rest: answers by script, for
// MariaDB's plugin and MySQL are not on every machine.
#include "core/async/virtualloop.h"
#include "core/inspect/mariadb/reader.h"
#include "core/inspect/postgresql/observer.h"
#include "core/mariadb/dialect.h"
#include "core/simservers/mariadb/server.h"
#include "tests/support/testmain.h"

#include <QSqlError>

#include <algorithm>

using namespace lockscope::inspect;

namespace {

// Answers by what stands in the question; what it has not heard of, with nothing.
class AnsweringSql final : public mariadb::Session {
public:
    AnsweringSql(Loop &loop, mariadb::Features features) : m_loop(loop), m_features(std::move(features)) {}
    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] mariadb::SessionState state() const override { return mariadb::SessionState::Connected; }
    [[nodiscard]] QString lastError() const override { return {}; }
    [[nodiscard]] mariadb::ConnectionId connectionId() const override { return 7; }
    [[nodiscard]] QByteArray serverVersion() const override { return {}; }
    [[nodiscard]] mariadb::Features features() const override { return m_features; }
    Subscription onState(std::function<void(mariadb::SessionState)>) override { return {}; }
    void send(Request &&request) override
    {
        const auto &[statement, deadline, reply] = std::get<Asked<mariadb::Statement>>(request);
        asked << statement.text;
        for (const auto &[part, answer] : answers) {
            if (statement.text.contains(part) && part == heldBack)
                return held.push_back([reply, answer] { reply.complete(answer); });
            if (statement.text.contains(part))
                return reply.complete(answer);
        }
        reply.complete(mariadb::Rows());
    }
    void interrupt(mariadb::ConnectionId) override {}

    // "a b|1 2|3 4": columns, and rows of them.
    void say(const QByteArray &part, const QByteArray &table)
    {
        mariadb::Rows rows;
        const auto lines = table.split('|');
        rows.columns = lines.first().split(' ');
        for (const auto &line : lines.mid(1)) {
            auto &row = rows.rows.emplace_back();
            for (const auto &cell : line.split(' '))
                row.push_back(cell == "-" ? mariadb::Rows::Cell() : mariadb::Rows::Cell(cell));
        }
        answers.emplace_back(part, rows);
    }
    void refuse(const QByteArray &part, ErrorCode code)
    {
        answers.emplace_back(part, Error{code, u"refused"_s, false});
    }

    [[nodiscard]] bool hasAsked(const QByteArray &part) const
    {
        return std::ranges::any_of(asked, [&part](const QByteArray &one) { return one.contains(part); });
    }

    std::vector<std::pair<QByteArray, Result<mariadb::Rows>>> answers;
    QByteArrayList asked;
    QByteArray heldBack; // what is not answered before that is called
    std::vector<std::function<void()>> held;

private:
    Loop &m_loop;
    const mariadb::Features m_features;
};

template <class Reader, class Poll>
Task<void> lookOnce(Reader *reader, Result<Poll> *result, Deadline deadline)
{
    auto looking = reader->look(deadline);
    auto looked = co_await looking;
    *result = std::move(looked);
}

} // namespace

class TestSqlReader : public QObject {
    Q_OBJECT

    VirtualLoop m_loop;

    SqlPoll look(AnsweringSql &session, QString *gaps = nullptr)
    {
        Scope scope(m_loop);
        SqlReader reader(session);
        Result<SqlPoll> result = Error{};
        scope.launch(lookOnce(&reader, &result, Deadline::after(m_loop, 5s)));
        m_loop.advance(6s);
        if (!result)
            qFatal("%s", qPrintable(result.error().message));
        if (gaps)
            *gaps = reader.gaps().join(u'\n');
        return *result;
    }
    // Connection 3 has shop.stock, and 4 waits with an ALTER; 5 with what names more than one table.
    static void notifyProcesses(AnsweringSql &session)
    {
        mariadb::Rows rows{.columns = {"id", "user", "host", "db", "command", "state", "info", "in_state", "now"}};
        const auto add = [&rows](const char *id, const char *command, const char *state, const char *info) {
            rows.rows.push_back({QByteArray(id), QByteArray("app"), QByteArray("h:1"), QByteArray("shop"),
                                 QByteArray(command), QByteArray(state), QByteArray(info), QByteArray("2000"),
                                 QByteArray("1763800000")});
        };
        add("3", "Sleep", "", "");
        add("4", "Query", "Waiting for table metadata lock", "ALTER TABLE stock ADD x INT");
        add("5", "Query", "Waiting for table metadata lock", "SELECT * FROM stock, cups");
        session.answers.emplace_back("information_schema.PROCESSLIST", rows);
    }

private slots:
    // One that reads the rows of locks anew has cleared them while it waits: no other look tells that they are gone.
    void looksAtOnePostgreSqlTakeTurns()
    {
        AnsweringSql session(m_loop, {});
        session.say("relkind IN", "table_schema name columns zoned is_readable|"
                                  "public shedlock name,lock_until,locked_at,locked_by - 1");
        session.say("shedlock", "name0 locked_by|nightly app-1");
        Scope scope(m_loop);
        PgReader reader(session);
        Result<PgPoll> first = Error{}, anew = Error{}, polled = Error{}, last = Error{};
        scope.launch(lookOnce(&reader, &first, Deadline::after(m_loop, 5s)));
        m_loop.advance(1ms);
        QVERIFY2(first, first ? "" : qPrintable(first.error().message));
        QCOMPARE(first->lockRows.size(), std::size_t(1));
        reader.readLockRowsAnew();
        session.heldBack = "shedlock";
        scope.launch(lookOnce(&reader, &anew, Deadline::after(m_loop, 5s)));
        m_loop.advance(1ms);
        QCOMPARE(session.held.size(), std::size_t(1));
        scope.launch(lookOnce(&reader, &polled, Deadline::after(m_loop, 5s)));
        {
            Scope givenUp(m_loop); // its turn is not waited for
            Result<PgPoll> never = Error{};
            givenUp.launch(lookOnce(&reader, &never, Deadline::after(m_loop, 5s)));
            scope.launch(lookOnce(&reader, &last, Deadline::after(m_loop, 5s)));
            m_loop.advance(1ms);
        }
        QVERIFY(!polled && !last);
        session.held.front()();
        m_loop.advance(1ms);
        for (const auto *look : {&anew, &polled, &last}) {
            QVERIFY(*look);
            QCOMPARE((*look)->lockRows.size(), std::size_t(1));
        }
    }

    // PostgreSQL undoes the limit with the question for locks that was sent with it.
    void limitOfARefusedLookIsSetAgain()
    {
        AnsweringSql session(m_loop, {});
        session.refuse("own_database", ErrorCode::Server);
        Scope scope(m_loop);
        PgReader reader(session);
        const auto timesSet = [&] {
            Result<PgPoll> seen = Error{};
            scope.launch(lookOnce(&reader, &seen, Deadline::after(m_loop, 5s)));
            m_loop.advance(1ms);
            return session.asked.count("SELECT set_config('lock_timeout', '100', false)");
        };
        QCOMPARE(timesSet(), 1);
        session.answers.clear();
        QCOMPARE(timesSet(), 2);
        QCOMPARE(timesSet(), 2);
    }

    // What a look read that was given up is not all: the next one reads it itself.
    void halfALookIsNoneOfThem()
    {
        AnsweringSql session(m_loop, {});
        session.say("relkind IN", "table_schema name columns zoned is_readable|"
                                  "public shedlock name,lock_until,locked_at,locked_by - 1");
        session.say("shedlock", "name0 locked_by|nightly app-1");
        PgReader reader(session);
        session.heldBack = "shedlock";
        {
            Scope givenUp(m_loop);
            Result<PgPoll> never = Error{};
            givenUp.launch(lookOnce(&reader, &never, Deadline::after(m_loop, 5s)));
            m_loop.advance(1ms);
            QCOMPARE(session.held.size(), std::size_t(1));
        }
        session.heldBack.clear();
        Scope scope(m_loop);
        Result<PgPoll> next = Error{};
        scope.launch(lookOnce(&reader, &next, Deadline::after(m_loop, 5s)));
        m_loop.advance(1ms);
        QVERIFY(next);
        QCOMPARE(next->lockRows.size(), std::size_t(1));
    }

    void columnsOfAPartitionsIndexAreAskedForOnce()
    {
        AnsweringSql session(m_loop, sim::SqlServer::features());
        session.say("INNODB_TRX", "is_fresh trx_id connection started rows_locked is_read_only blocking lock_table "
                                  "lock_index lock_data requested_mode blocking_mode lock_id state|"
                                  "1 24 9 1763800000 1 0 23 partition PRIMARY 1 X X 24:1:3:2 LOCK|"
                                  "1 23 5 1763800000 1 0 - - - - - - - RUNNING");
        session.answers.back().second->rows[0][7] = QByteArray("`s`.`t` /* Partition `p0` */");
        session.say("SEQ_IN_INDEX", "name|id");
        const auto seen = look(session);
        QCOMPARE(seen.waits.size(), std::size_t(1));
        QCOMPARE(seen.columns.begin()->second, QByteArrayList{"id"});
        const auto questions =
            std::ranges::count_if(session.asked, [](const QByteArray &one) { return one.contains("SEQ_IN_INDEX"); });
        QCOMPARE(questions, 1);
    }

    // The plugin tells who has it, PROCESSLIST that somebody waits, and only the statement for what.
    void thePluginTellsHoldersOnly()
    {
        AnsweringSql session(m_loop, sim::SqlServer::features());
        notifyProcesses(session);
        session.refuse("setup_instruments", ErrorCode::Unsupported);
        session.say("METADATA_LOCK_INFO",
                    "kind table_schema name connection status mode|"
                    "TABLE shop stock 3 GRANTED SHARED_READ|TABLE shop cups 3 GRANTED SHARED_READ");
        QString gaps;
        const auto seen = look(session, &gaps);
        QCOMPARE(seen.tableLocks.size(), std::size_t(2)); // of cups nobody waits: what any statement has
        QVERIFY(!seen.tellsTableWaiters);
        const auto locks = snapshotsOf(seen, ConnectionName("db"));
        QCOMPARE(locks.size(), std::size_t(1));
        QCOMPARE(locks[0].lock.name, QByteArray("TABLE#shop.stock"));
        QCOMPARE(*locks[0].contenders[0].session, u"3"_s);
        QCOMPARE(locks[0].contenders[0].role, Role::Holder);
        QCOMPARE(*locks[0].contenders[1].session, u"4"_s);
        QVERIFY(!locks[0].waitersKnown);
        QVERIFY2(gaps.contains(u"known only from its statement"_s), qPrintable(gaps));
        const auto unexplained = unexplainedWaits(seen, locks);
        QCOMPARE(unexplained.size(), std::size_t(1));
        QVERIFY2(
            unexplained[0].text.startsWith(u"1 connection waits in the state \"Waiting for table metadata lock\""_s),
            qPrintable(unexplained[0].text));
        QVERIFY(session.hasAsked("information_schema.INNODB_LOCK_WAITS") && session.hasAsked("TIME_MS AS in_state"));
        QVERIFY(session.hasAsked("information_schema.global_status"));
    }

    void withNeitherNobodyIsSaidToHoldIt()
    {
        AnsweringSql session(m_loop, sim::SqlServer::features());
        notifyProcesses(session);
        session.refuse("setup_instruments", ErrorCode::NoPermission);
        session.refuse("METADATA_LOCK_INFO", ErrorCode::Unsupported);
        QString gaps;
        const auto locks = snapshotsOf(look(session, &gaps), ConnectionName("db"));
        QCOMPARE(locks.size(), std::size_t(1));
        QCOMPARE(locks[0].holderCount(), 0);
        QCOMPARE(locks[0].waiterCount(), 1);
        QVERIFY2(gaps.contains(u"who has a table"_s), qPrintable(gaps));
    }

    // A backup stops every writer: by the plugin its holder is known, and by nothing else that it is there.
    void aStoppedServerIsALock()
    {
        for (const bool hasPlugin : {true, false}) {
            AnsweringSql session(m_loop, sim::SqlServer::features());
            session.say("information_schema.PROCESSLIST", "id user host db command state info in_state now|"
                                                          "3 app h:1 shop Sleep - - 9000 1763800000|"
                                                          "4 app h:1 shop Query waits - 2000 1763800000");
            session.answers.back().second->rows[1][5] = QByteArray("Waiting for backup lock");
            session.refuse("setup_instruments", ErrorCode::Unsupported);
            if (hasPlugin)
                session.say("METADATA_LOCK_INFO",
                            "kind table_schema name connection status mode|BACKUP - - 3 GRANTED BACKUP_FTWRL2");
            else
                session.refuse("METADATA_LOCK_INFO", ErrorCode::Unsupported);
            const auto seen = look(session);
            const auto locks = snapshotsOf(seen, ConnectionName("db"));
            QCOMPARE(locks.size(), std::size_t(1));
            QCOMPARE(locks[0].lock.name, QByteArray("SERVER#BACKUP"));
            QCOMPARE(locks[0].waiterCount(), 1);
            QCOMPARE(locks[0].holderCount(), hasPlugin ? 1 : 0);
            QCOMPARE(unexplainedWaits(seen, locks).empty(), hasPlugin);
        }
    }

    // Names of XA transactions are asked for only where one without a session is in the way.
    void preparedXaIsAskedForWhereItIsInTheWay()
    {
        for (const char *connection : {"0", "5"}) {
            AnsweringSql session(m_loop, sim::SqlServer::features());
            session.say("INNODB_TRX",
                        "is_fresh trx_id connection started rows_locked is_read_only blocking lock_table "
                        "lock_index lock_data requested_mode blocking_mode lock_id state|"
                        "1 24 9 1763800000 1 0 23 `s`.`t` PRIMARY 1 X X 24:1:3:2 LOCK|"
                        "1 23 "
                            + QByteArray(connection) + " 1763800000 1 0 - - - - - - - RUNNING");
            session.say("XA RECOVER", "formatid gtrid_length bqual_length data|1 7 0 order-7");
            const auto seen = look(session);
            QCOMPARE(session.hasAsked("XA RECOVER"), QByteArray(connection) == "0");
            QCOMPARE(seen.preparedXa.has_value(), QByteArray(connection) == "0");
        }
    }

    // Where row locks are told by performance_schema, PROCESS alone is not enough; and it is not said to be missing.
    void missingPrivilegeIsNamed()
    {
        const auto gapsOf = [this](bool isOfInnoDb, const QByteArray &refused) {
            auto features = mariadb::Features();
            features.innoDbLocks = isOfInnoDb;
            AnsweringSql session(m_loop, features);
            session.refuse(refused, ErrorCode::NoPermission);
            QString gaps;
            (void)look(session, &gaps);
            return gaps;
        };
        const auto process = u"PROCESS privilege is missing"_s, schema = u"SELECT on performance_schema is missing"_s;
        for (const bool isOfInnoDb : {true, false}) {
            const auto gaps = gapsOf(isOfInnoDb, "INNODB_TRX");
            QVERIFY2(gaps.contains(process) && !gaps.contains(schema), qPrintable(gaps));
        }
        const auto gaps = gapsOf(false, "data_lock_waits");
        QVERIFY2(gaps.contains(schema) && !gaps.contains(process), qPrintable(gaps));
    }

    // It is asked for what it has, whatever it calls itself: a fork, or what a proxy says.
    void eachFeatureCountsByItself()
    {
        auto features = mariadb::Features();
        features.innoDbLocks = true;
        AnsweringSql session(m_loop, features);
        notifyProcesses(session);
        (void)look(session);
        QVERIFY(session.hasAsked("information_schema.INNODB_LOCK_WAITS"));
        QVERIFY(!session.hasAsked("data_lock_waits") && session.hasAsked("TIME * 1000 AS in_state"));
    }

    // At rest one question for all that has a name; who has the table is asked once somebody waits.
    void mySqlTellsBoth()
    {
        AnsweringSql session(m_loop, mariadb::Features());
        notifyProcesses(session);
        session.say("setup_instruments", "enabled|1");
        session.say("m.LOCK_STATUS IN",
                    "kind table_schema name connection status mode|TABLE shop stock 3 GRANTED SHARED_READ|"
                    "TABLE shop stock 4 PENDING EXCLUSIVE");
        session.say("USER LEVEL LOCK",
                    "kind table_schema name connection status mode|TABLE shop stock 4 PENDING EXCLUSIVE|"
                    "TABLE shop cups 3 GRANTED EXCLUSIVE");
        session.answers.back().second->rows.push_back(
            {QByteArray("USER LEVEL LOCK"), {}, QByteArray("nightly"), QByteArray("3"), QByteArray("GRANTED"), {}});
        QString gaps;
        const auto seen = look(session, &gaps);
        const auto locks = snapshotsOf(seen, ConnectionName("db"));
        QCOMPARE(locks.size(), std::size_t(3));
        QCOMPARE(locks[0].lock.name, QByteArray("GET_LOCK#nightly"));
        QCOMPARE(locks[1].lock.name, QByteArray("TABLE#shop.cups"));
        QCOMPARE(locks[2].lock.name, QByteArray("TABLE#shop.stock"));
        QCOMPARE(locks[2].contenders.size(), std::size_t(2));
        QVERIFY2(!gaps.contains(u"table"_s), qPrintable(gaps));
        QVERIFY(session.hasAsked("performance_schema.data_lock_waits")
                && session.hasAsked("TIME * 1000 AS in_state"));
        QVERIFY(session.hasAsked("performance_schema.global_status"));
        QCOMPARE(std::ranges::count_if(session.asked,
                                       [](const QByteArray &one) { return one.contains("IN ((_utf8mb4 X'"); }),
                 1);
    }

    // The counter is read with the rows; only where it rises is the log asked for, twice where it has nothing new.
    void deadlockLogIsReadOnARise()
    {
        AnsweringSql session(m_loop, sim::SqlServer::features());
        notifyProcesses(session);
        const auto row = [](const char *deadlocks) {
            return QByteArray("is_fresh is_ours trx_id connection deadlocks|1 1 0 7 ") + deadlocks;
        };
        session.say("information_schema.INNODB_TRX t", row("0"));
        const auto counter = session.answers.size() - 1;
        session.say("SHOW ENGINE INNODB STATUS", "type name status|InnoDB - nothing");
        Scope scope(m_loop);
        SqlReader reader(session);
        const auto looks = [&](const char *deadlocks) {
            session.say("information_schema.INNODB_TRX t", row(deadlocks));
            std::swap(session.answers[counter], session.answers.back());
            session.answers.pop_back();
            session.asked.clear();
            Result<SqlPoll> result = Error{};
            scope.launch(lookOnce(&reader, &result, Deadline::after(m_loop, 5s)));
            m_loop.advance(6s);
            return result && session.hasAsked("SHOW ENGINE INNODB STATUS");
        };
        QVERIFY(!looks("0"));
        QVERIFY(!looks("0"));
        QVERIFY(looks("2"));
        QVERIFY(reader.endedDeadlocks().empty());
        QVERIFY(looks("2"));
        QCOMPARE(reader.endedDeadlocks().size(), std::size_t(1));
        const auto ended = reader.endedDeadlocks().front();
        QCOMPARE(ended.count, 2);
        QVERIFY(ended.isAtLatest && ended.parties.empty());
        QVERIFY(ended.unknown.contains(u"LATEST DETECTED DEADLOCK"_s));
        QVERIFY(!looks("2"));
        QVERIFY(looks("1")); // another start of the server
        QCOMPARE(reader.endedDeadlocks().size(), std::size_t(1));
    }

    // A server without Galera has the size 0, or no such variable.
    void otherNodesOfGaleraAreAGap_data()
    {
        QTest::addColumn<QByteArray>("nodes");
        QTest::addColumn<bool>("isGap");
        QTest::newRow("no such variable") << QByteArray("-") << false;
        QTest::newRow("no cluster") << QByteArray("0") << false;
        QTest::newRow("alone in it") << QByteArray("1") << false;
        QTest::newRow("two nodes") << QByteArray("2") << true;
    }
    void otherNodesOfGaleraAreAGap()
    {
        QFETCH(QByteArray, nodes);
        QFETCH(bool, isGap);
        AnsweringSql session(m_loop, sim::SqlServer::features());
        notifyProcesses(session);
        session.say("wsrep_cluster_size", "galera_nodes|" + nodes);
        session.refuse("information_schema.INNODB_TRX t", ErrorCode::NoPermission); // which it does not need
        QString gaps;
        (void)look(session, &gaps);
        QVERIFY(gaps.contains(u"row locks cannot be seen"_s));
        QCOMPARE(gaps.contains(u"the Galera cluster are not visible here: it has 2 nodes"_s), isGap);
    }

    void missingPrivilegeForDeadlocksIsAGap()
    {
        AnsweringSql session(m_loop, sim::SqlServer::features());
        notifyProcesses(session);
        session.refuse("information_schema.INNODB_TRX t", ErrorCode::NoPermission);
        QString gaps;
        (void)look(session, &gaps);
        QCOMPARE(gaps.count(u"deadlocks that the server ended cannot be seen: the PROCESS privilege"_s), 1);
        QVERIFY(!session.hasAsked("SHOW ENGINE INNODB STATUS"));
    }

    // By the server's number; 1698 says "Access denied", too, and is of a user without a password.
    void accessDenied_otherCausesAreNamed()
    {
        const auto said = [](const char *number, mariadb::Secured secured) {
            const QSqlError error(u"driver"_s, u"Access denied for user 'a'@'h'"_s, QSqlError::ConnectionError,
                                  QString::fromLatin1(number));
            const auto why = mariadb::connectError(error, secured);
            return why.code == ErrorCode::AuthFailed ? why.message : u"not AuthFailed: "_s + why.message;
        };
        const auto words = u"Access denied for user 'a'@'h' (1045)"_s;
        QCOMPARE(said("1045", mariadb::Secured::No),
                 words + u"; the server reports the same to a user who must use TLS (tls=on)"_s);
        QVERIFY(said("1045", mariadb::Secured::ByTls).endsWith(u"needs a client certificate (cert= and key=)"_s));
        QCOMPARE(said("1045", mariadb::Secured::ByCertificate), words);
        QCOMPARE(said("1698", mariadb::Secured::No), u"Access denied for user 'a'@'h' (1698)"_s);
    }

    // Or the client library had to say it, which heard nobody.
    void knowsWhatAServerSaidItself()
    {
        const auto isExplained = [](const char *number) {
            const QSqlError error(u"driver"_s, u"why"_s, QSqlError::ConnectionError, QString::fromLatin1(number));
            return mariadb::connectError(error, mariadb::Secured::No).isExplained;
        };
        QVERIFY(isExplained("1040"));  // too many connections
        QVERIFY(isExplained("3159"));  // not without TLS
        QVERIFY(!isExplained("2002")); // nobody is there
        QVERIFY(!isExplained("2013"));
        QVERIFY(!isExplained("1045")); // what is wrong with the password is not said
    }
};

LOCKSCOPE_TEST(TestSqlReader)
#include "tst_sql_reader.moc"
