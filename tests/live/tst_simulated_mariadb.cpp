// SPDX-License-Identifier: Apache-2.0
// The simulated MariaDB against a real one: the same statements of three sessions, drawn by a seed, must have
// the same answers - who waits, who is granted, whose wait ends how, what was changed.
//
// One statement is sent at a time, and the next when both servers have come to rest: what is answered in
// between counts as answered together, since a real server's threads tell it in any order.
#include "mariadbfixture.h"
#include "core/base/random.h"
#include "tests/simulate/sqlworld.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

using mariadb::SessionState;

namespace {

const QByteArray sessionNames("abc");
const QByteArray withoutLimit("SET SESSION autocommit=1, innodb_lock_wait_timeout=100000000");
constexpr int stepsPerSeed = 60;

struct Step {
    QByteArray text;
    QByteArrayList parameters;
    std::chrono::milliseconds mayTake{0}; // how long to wait for a time limit of the server's
    [[nodiscard]] bool isForName() const { return text.contains("GET_LOCK"); }
};

// The server's number, or what it answered; as testing::SqlWorld::words.
QByteArray words(const Result<mariadb::Rows> &answer)
{
    if (answer) {
        sim::SqlAnswer same{.rows = *answer};
        return testing::SqlWorld::words(same);
    }
    static const QRegularExpression number(QStringLiteral("\\((\\d+)\\)$"));
    const auto said = number.match(answer.error().message);
    return answer.error().code == ErrorCode::SessionExpired ? QByteArray("closed")
           : said.hasMatch()                                ? said.captured(1).toLatin1()
                                                            : answer.error().message.toUtf8();
}

} // namespace

class TestSimulatedAgainstReal : public MariaDbFixture {
    Q_OBJECT

    struct Real {
        std::unique_ptr<mariadb::Session> session;
        std::optional<Reply<mariadb::Rows>> out;
    };
    std::unique_ptr<testing::SqlWorld> m_sim;
    std::map<char, Real> m_real;
    std::map<char, bool> m_waits;           // in the simulation: for a named lock?
    std::map<char, bool> m_isInTransaction; // as far as the drawing has to know
    QByteArrayList m_log;
    std::map<QByteArray, int> m_seen; // answers of all seeds
    qint64 m_waited = 0;
    int m_closersSpared = 0; // the other was the victim

    void openAll()
    {
        m_sim = std::make_unique<testing::SqlWorld>();
        for (const auto name : sessionNames) {
            m_real[name].session = openConnected();
            m_sim->open(QByteArray(1, name));
            m_sim->run(name, withoutLimit); // as the session does by itself
        }
        m_sim->heard();
    }
    void closeAll()
    {
        m_real.clear();
        mariadb::waitForClosingSessions(20s);
        m_waits.clear();
        m_isInTransaction.clear();
        m_log.clear();
    }

    void send(char name, const Step &step)
    {
        m_log << QByteArray(1, name) + ": " + step.text
                     + (step.parameters.isEmpty() ? "" : " <- " + step.parameters.join(", "));
        auto &real = m_real[name];
        real.out = real.session->execute({step.text, step.parameters, real.session->connectionId(), false},
                                         Deadline::never());
        m_waits[name] = step.isForName();
        m_sim->run(name, step.text, step.parameters);
        if (step.mayTake > 0ms)
            m_sim->world.advance(step.mayTake);
    }

    // Both are at rest: the real one has answered as many, and as many wait for a row and for a name.
    bool settle(const QByteArrayList &expected)
    {
        for (const auto &answer : expected)
            m_waits.erase(answer[0]);
        const auto named =
            std::count_if(m_waits.begin(), m_waits.end(), [](const auto &wait) { return wait.second; });
        const auto waits = QByteArray::number(std::ssize(m_waits) - named) + '/' + QByteArray::number(named);
        return QTest::qWaitFor(
            [&] {
                const auto answered = std::count_if(m_real.begin(), m_real.end(), [](const auto &real) {
                    return real.second.out && real.second.out->isComplete();
                });
                return answered >= expected.size() && (m_waits.empty() || waitsOfReal() == waits);
            },
            patienceMs);
    }
    QByteArray waitsOfReal()
    {
        return ask(
            "SELECT CONCAT((SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
            "'INNODB_ROW_LOCK_CURRENT_WAITS'), '/', (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE "
            "STATE = 'User lock'))");
    }
    bool isListed(quint64 connection)
    {
        return ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " + QByteArray::number(connection))
               != "0";
    }
    QByteArrayList heardFromReal()
    {
        QByteArrayList heard;
        for (auto &[name, real] : m_real) {
            if (real.out && real.out->isComplete())
                heard << QByteArray(1, name) + ' ' + words(std::exchange(real.out, std::nullopt)->value());
        }
        return heard;
    }

    // Empty: they agree.
    QByteArray difference()
    {
        auto expected = m_sim->heard();
        const bool isAtRest = settle(expected);
        auto heard = heardFromReal();
        std::sort(expected.begin(), expected.end());
        std::sort(heard.begin(), heard.end());
        for (const auto &answer : expected)
            ++m_seen[answer.mid(2)];
        for (const auto &answer : expected) {
            if (answer.endsWith(" 1213") || answer.endsWith(" closed"))
                m_isInTransaction[answer[0]] = false;
        }
        m_waited += qint64(m_waits.size());
        m_log << "    " + (expected.isEmpty() ? QByteArray("(waits)") : expected.join("; "));
        if (heard == expected && isAtRest)
            return {};
        return "\n" + m_log.join('\n') + "\n    but the real server: " + heard.join("; ")
               + (isAtRest ? "" : "; waits: " + waitsOfReal());
    }

    // Much of what closes circles: seeds of rows, seeds of names, and seeds of both.
    [[nodiscard]] Step drawStep(char by, quint64 seed, Random &random)
    {
        const bool isOfNames = seed % 3 == 1 || (seed % 3 == 2 && random.below(2) == 0);
        if (random.below(5) == 0)
            return drawQuestion(random);
        if (isOfNames) {
            const auto name = QByteArray(random.below(2) == 0 ? "x" : "y");
            return random.below(4) == 0 ? Step{"SELECT RELEASE_LOCK(?) AS again", {name}}
                                        : Step{"SELECT GET_LOCK(?, ?) AS mine", {name, "100000"}};
        }
        if (!m_isInTransaction[by] && random.below(4) != 0) {
            m_isInTransaction[by] = true;
            return {"START TRANSACTION", {}};
        }
        const auto id = QByteArray(random.below(2) == 0 ? "1" : "2");
        const auto version =
            m_sim->server.committedVersion({"shop.stock", id}).value_or(0) + qint64(random.below(3) == 0);
        const auto what = random.below(10);
        if (what == 0) {
            m_isInTransaction[by] = false;
            return {random.below(3) == 0 ? "ROLLBACK" : "COMMIT", {}};
        }
        if (what <= 3)
            return {"UPDATE `shop`.`stock` SET `version` = `version` + 1 WHERE `id` = ? AND `version` = ?",
                    {id, QByteArray::number(version)}};
        return {"SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE", {id}};
    }
    // What waits for nobody.
    [[nodiscard]] static Step drawQuestion(Random &random)
    {
        const auto id = QByteArray(random.below(2) == 0 ? "1" : "2");
        const auto name = QByteArray(random.below(2) == 0 ? "x" : "y");
        const QByteArray where(" FROM `shop`.`stock` WHERE `id` = ?");
        switch (random.below(7)) {
        case 0: return {"SELECT `id`" + where + " FOR UPDATE NOWAIT", {id}};
        case 1: return {"SELECT `id`" + where + " FOR UPDATE", {"9"}}; // no such row
        case 2: return {"SELECT `version` AS version" + where, {id}};
        case 3: return {"SELECT @@in_transaction AS mine", {}};
        case 4: return {"SELECT GET_LOCK(?, ?) AS mine", {name, "0"}};
        case 5: return {"SELECT RELEASE_LOCK(?) AS again", {name}};
        default: return {"SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {name}};
        }
    }

    // Only this one is sent until its own time limit, if it waits at all, has ended it.
    QByteArray playShortWait(char name, Random &random)
    {
        const bool isForName = random.below(2) == 0;
        const auto which = random.below(2);
        if (isForName) {
            send(name, {"SELECT GET_LOCK(?, ?) AS mine", {which == 0 ? "x" : "y", "0.2"}, 250ms});
            return difference();
        }
        send(name, {"SET SESSION innodb_lock_wait_timeout = 1", {}});
        auto different = difference();
        send(name, {"SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE", {which == 0 ? "1" : "2"}, 1050ms});
        different += difference();
        send(name, {"SET SESSION innodb_lock_wait_timeout = 100000000", {}});
        return different + difference();
    }

    QByteArray playKill(char name, bool isQuery)
    {
        const auto before = m_real[name].session->connectionId();
        m_log << QByteArray(isQuery ? "KILL QUERY " : "KILL ") + name;
        if (!run(*m_admin, (isQuery ? "KILL QUERY " : "KILL ") + QByteArray::number(before)))
            return "KILL failed";
        const auto connection = m_sim->connections.at(name);
        if (isQuery) {
            m_sim->server.killQuery(connection);
            return difference();
        }
        const bool wasOut = m_real[name].out.has_value();
        m_sim->server.kill(connection);
        m_sim->open(QByteArray(1, name));
        m_sim->run(name, withoutLimit);
        m_sim->answers.removeLast();
        if (!wasOut) // nobody hears of it
            m_sim->answers.removeAll(QByteArray(1, name) + " closed");
        const auto different = difference();
        const auto &session = *m_real[name].session;
        const bool isBack = QTest::qWaitFor(
            [&] { return session.state() == SessionState::Connected && session.connectionId() != before; },
            patienceMs);
        if (!isBack)
            return different + "; it did not connect again";
        // The client hears that its connection is closed before the server has given back what it held.
        const bool isGone = QTest::qWaitFor([&] { return !isListed(before); }, patienceMs);
        return isGone ? different : different + "; the server keeps the killed connection";
    }

    QByteArray play(quint64 seed)
    {
        Random random(seed);
        int shortWaits = 0;
        for (int step = 0; step < stepsPerSeed; ++step) {
            const auto name = sessionNames[qsizetype(random.below(3))];
            const bool isOut = m_real[name].out.has_value();
            QByteArray different;
            if (isOut) {
                // It waits. Mostly let it; with everybody waiting something has to happen.
                const auto what = random.below(m_waits.size() == 3 ? 4 : 20);
                if (what < 2)
                    different = playKill(name, what == 0);
            } else if (const auto what = random.below(60); what == 0) {
                different = playKill(name, false);
            } else if (what <= 2 && shortWaits < 2) {
                ++shortWaits;
                different = playShortWait(name, random);
            } else {
                send(name, drawStep(name, seed, random));
                different = difference();
            }
            if (!different.isEmpty())
                return different;
        }
        return {};
    }

    // What makes a transaction heavier or not, before it asks for the other's row.
    QByteArray playPrelude(char name, const QByteArray &id, Random &random)
    {
        const QByteArray lock("SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE");
        const QByteArray write(
            "UPDATE `shop`.`stock` SET `version` = `version` + 1 WHERE `id` = ? AND `version` = ?");
        send(name, {"START TRANSACTION", {}});
        auto different = difference();
        int writes = 0;
        if (random.below(3) == 0) { // it waited for it
            send('c', {"START TRANSACTION", {}});
            different += difference();
            send('c', {lock, {id}});
            different += difference();
            send(name, {lock, {id}});
            different += difference();
            send('c', {"COMMIT", {}});
            different += difference();
        }
        for (auto more = random.below(4); more > 0; --more) {
            const auto what = random.below(4);
            if (what == 0)
                send(name, {lock, {"9"}});
            else if (what == 1)
                send(name, {write, {id, "77"}}); // changes nothing
            else
                send(name, {write, {id, QByteArray::number(1 + writes++)}});
            different += difference();
        }
        send(name, {lock, {id}});
        return different + difference();
    }

    // Rows that say until when they are locked: each statement changes them to something else than before.
    [[nodiscard]] static Step drawOfLeasedRow(int number, Random &random)
    {
        const auto name = QByteArray(random.below(2) == 0 ? "x" : "y");
        const auto owner = QByteArray::number(qint64(random.below(3)));
        // Ahead by another span each time, or over already.
        const auto lease = QByteArray::number((random.below(3) == 0 ? -1 : 1) * qint64(100 + number) * 1'000'000);
        const QByteArray set("UPDATE `shop`.`shedlock` SET lock_until = "),
            ahead("TIMESTAMPADD(MICROSECOND, ?, UTC_TIMESTAMP(3))"),
            mine(" WHERE name = ? AND locked_by = ? AND lock_until > UTC_TIMESTAMP(3)");
        switch (random.below(6)) {
        case 0:
            return {"INSERT INTO `shop`.`shedlock` (name, lock_until, locked_at, locked_by) VALUES (?, "
                    "UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), '') ON DUPLICATE KEY UPDATE name = name",
                    {name}};
        case 1: return {set + ahead + mine, {lease, name, owner}};
        case 2: return {set + "UTC_TIMESTAMP(3)" + mine, {name, owner}};
        case 3: return {"SELECT COUNT(*) AS mine FROM `shop`.`shedlock`" + mine, {name, owner}};
        default:
            return {set + ahead
                        + ", locked_at = UTC_TIMESTAMP(3), locked_by = ? WHERE name = ? AND lock_until <= "
                          "UTC_TIMESTAMP(3)",
                    {lease, owner, name}};
        }
    }

    // Marks and flags, which nothing ends.
    [[nodiscard]] static Step drawOfMarkedRow(Random &random)
    {
        const auto name = QByteArray(random.below(2) == 0 ? "x" : "y");
        const auto owner = QByteArray::number(qint64(random.below(3)));
        const auto version = QByteArray::number(qint64(random.below(4)));
        const QByteArray marks("`shop`.`lock_marks`"), flags("`shop`.`lock_flags`"),
            mine(" WHERE name = ? AND owner = ?");
        switch (random.below(7)) {
        case 6: return {"DELETE FROM " + marks + " WHERE created_at < UTC_TIMESTAMP(3) - INTERVAL 600 SECOND", {}};
        case 0: return {"DELETE FROM " + marks + mine, {name, owner}};
        case 1: return {"SELECT COUNT(*) AS mine FROM " + marks + mine, {name, owner}};
        case 2: return {"SELECT status, version FROM " + flags + " WHERE id = ?", {random.below(4) == 0 ? "2" : "1"}};
        case 3:
            return {"UPDATE " + flags
                        + " SET status = 1, version = version + 1 WHERE version = ? AND id = ? AND status = 0",
                    {version, "1"}};
        case 4:
            return {"UPDATE " + flags + " SET status = 0 WHERE id = ? AND version = ? AND status = 1",
                    {"1", version}};
        default:
            return {"INSERT INTO " + marks + " (name, owner, created_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
                    {name, owner}};
        }
    }

private slots:
    void initTestCase()
    {
        OK(startServer());
        if (!m_admin->features().inTransaction)
            QSKIP("the simulated server is modelled on MariaDB, not on what runs here");
        QVERIFY(run(*m_admin, "CREATE TABLE shop.heap (id INT NOT NULL, version BIGINT NOT NULL) ENGINE=InnoDB"));
        QVERIFY(run(*m_admin, "INSERT INTO shop.heap VALUES (1, 1), (2, 1), (3, 1)"));
    }
    void cleanupTestCase() { endServer(); }
    void cleanup()
    {
        closeAll();
        QVERIFY(run(*m_admin, "UPDATE shop.stock SET version = 1")); // waits until nobody has them
    }

    // Two of them want each other's row, after all sorts of things before: whom does it hit?
    void circles_data()
    {
        QTest::addColumn<quint64>("seed");
        for (int seed = 1; seed <= 40; ++seed)
            QTest::addRow("seed %d", seed) << quint64(seed);
    }
    void circles()
    {
        QFETCH(quint64, seed);
        Random random(seed);
        openAll();
        auto different = playPrelude('a', "1", random);
        different += playPrelude('b', "2", random);
        const bool isFirst = random.below(2) == 0;
        const QByteArray lock("SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE");
        send(isFirst ? 'a' : 'b', {lock, {isFirst ? "2" : "1"}});
        different += difference();
        send(isFirst ? 'b' : 'a', {lock, {isFirst ? "1" : "2"}});
        different += difference();
        QVERIFY2(different.isEmpty(), "seed " + QByteArray::number(seed) + ':' + different);
        QVERIFY(m_log.last().contains("1213"));
        m_closersSpared += !m_log.last().contains(isFirst ? "b 1213" : "a 1213");
    }
    void bothWereHitInTurn()
    {
        if (m_seen.empty())
            QSKIP("only asked for this one: the circles are those of the seeds before");
        QVERIFY2(m_closersSpared >= 5 && m_closersSpared <= 35, QByteArray::number(m_closersSpared));
    }

    void interleavings_data()
    {
        QTest::addColumn<quint64>("seed");
        const int seeds = std::max(20, qEnvironmentVariableIntValue("LOCKSCOPE_DIFFERENTIAL_SEEDS"));
        for (int seed = 1; seed <= seeds; ++seed)
            QTest::addRow("seed %d", seed) << quint64(seed);
    }
    void interleavings()
    {
        QFETCH(quint64, seed);
        openAll();
        const auto different = play(seed);
        QVERIFY2(different.isEmpty(), "seed " + QByteArray::number(seed) + ':' + different);
    }

    void rowsWithATime_data()
    {
        QTest::addColumn<quint64>("seed");
        for (int seed = 1; seed <= 10; ++seed)
            QTest::addRow("seed %d", seed) << quint64(seed);
    }
    void rowsWithATime()
    {
        QFETCH(quint64, seed);
        QVERIFY(run(*m_admin, "DELETE FROM shop.shedlock"));
        Random random(seed);
        openAll();
        QByteArray different;
        for (int number = 0; number < stepsPerSeed && different.isEmpty(); ++number) {
            send(sessionNames[qsizetype(random.below(3))], drawOfLeasedRow(number, random));
            different = difference();
        }
        QVERIFY2(different.isEmpty(), "seed " + QByteArray::number(seed) + ':' + different);
    }

    void rowsThatNothingEnds_data() { rowsWithATime_data(); }
    void rowsThatNothingEnds()
    {
        QFETCH(quint64, seed);
        QVERIFY(run(*m_admin, "DELETE FROM shop.lock_marks"));
        QVERIFY(run(*m_admin, "UPDATE shop.lock_flags SET version = 0, status = 0"));
        Random random(seed);
        openAll();
        QByteArray different;
        for (int number = 0; number < stepsPerSeed && different.isEmpty(); ++number) {
            send(sessionNames[qsizetype(random.below(3))], drawOfMarkedRow(random));
            different = difference();
        }
        QVERIFY2(different.isEmpty(), "seed " + QByteArray::number(seed) + ':' + different);
    }

    // Without an index each row that is looked at is locked, be it the one or not.
    void readWithoutAnIndexLocksAllRows()
    {
        const QByteArray lock("SELECT `id` FROM `shop`.`heap` WHERE `id` = ? FOR UPDATE");
        openAll();
        QByteArray different;
        const auto plays = [&](char name, const QByteArray &text, const QByteArrayList &parameters) {
            send(name, {text, parameters});
            different += difference();
        };
        plays('a', "START TRANSACTION", {});
        plays('b', "START TRANSACTION", {});
        plays('a', lock, {"2"});
        plays('b', lock, {"3"});
        QVERIFY2(m_log.last().contains("(waits)"), m_log.join('\n'));
        plays('c', lock + " NOWAIT", {"1"});
        QVERIFY2(m_log.last().contains("1205"), m_log.join('\n'));
        plays('a', "COMMIT", {});
        QVERIFY2(m_log.last().contains("b row 3"), m_log.join('\n'));
        plays('b', "COMMIT", {});
        QVERIFY2(different.isEmpty(), different);
    }

    // Or the seeds above say little.
    void everyKindOfAnswerWasSeen()
    {
        if (m_seen.empty())
            QSKIP("only asked for this one: the answers are those of the seeds before");
        for (const auto *answer : {"1205", "1213", "1317", "closed", "no row", "row NULL", "row 0", "row 1", "row 2",
                                   "0 changed", "1 changed"})
            QVERIFY2(m_seen[answer] >= 3, answer);
        QVERIFY(m_waited > 100);
    }
};

LOCKSCOPE_TEST(TestSimulatedAgainstReal)
#include "tst_simulated_mariadb.moc"
