// SPDX-License-Identifier: Apache-2.0
// The simulated PostgreSQL against a real one: the same statements of three sessions, drawn by a seed, must have the
// same answers - who waits, who is granted, whose wait ends how, what a failure leaves of a transaction.
//
// One statement is sent at a time, and the next when both servers have come to rest: the real one also has looked for
// circles on behalf of everybody who waits (deadlock_timeout, which is short here), or it would be chance who of a
// circle finds it.
#include "core/async/qtloop.h"
#include "core/base/random.h"
#include "core/postgresql/dialect.h"
#include "core/sandbox/server.h"
#include "core/simservers/postgresql/session.h"
#include "tests/support/patience.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"

#include <QProcess>
#include <QStandardPaths>

using mariadb::SessionState;

namespace {

const QByteArray pgSessionNames("abc");
constexpr int pgStepsPerSeed = 50;
const QByteArray pgRow("SELECT \"id\" FROM \"public\".\"twin\" WHERE \"id\" = ?");

struct PgStep {
    QByteArray text;
    QByteArrayList parameters;
};

// "row 1", "no row", "done", "error 3".
QByteArray pgWords(const Result<mariadb::Rows> &answer)
{
    if (!answer)
        return "error " + QByteArray::number(int(answer.error().code));
    if (answer->columns.isEmpty())
        return "done";
    return answer->rows.empty() ? QByteArray("no row") : "row " + answer->rows[0][0].value_or("NULL");
}

QByteArray pgError(ErrorCode code)
{
    return "error " + QByteArray::number(int(code));
}

// What a session of the recipes may say next.
class PgScript {
public:
    explicit PgScript(quint64 seed) : m_random(seed) {}

    Random &random() { return m_random; }
    PgStep next(bool isInTransaction)
    {
        const auto what = m_random.below(20);
        if (!isInTransaction && what < 12)
            return {"START TRANSACTION", {}};
        if (isInTransaction && what < 2)
            return {what == 0 ? "ROLLBACK" : "COMMIT", {}};
        const auto id = QByteArray(m_random.below(8) == 0 ? "9" : m_random.below(2) == 0 ? "1" : "2");
        if (what < 12)
            return {pgRow + " FOR UPDATE", {id}};
        switch (what) {
        case 12: return {pgRow + " FOR UPDATE NOWAIT", {id}};
        case 13: return {pgRow + " LIMIT 1 FOR UPDATE SKIP LOCKED", {id}};
        case 14: return {"SELECT 1 AS mine", {}};
        default: return advisory(what);
        }
    }

private:
    PgStep advisory(quint64 what)
    {
        const bool isOfTwo = m_random.below(6) == 0;
        const auto key = QByteArray(m_random.below(2) == 0 ? "1" : "2");
        const QByteArrayList keys = isOfTwo ? QByteArrayList{"7", key} : QByteArrayList{key};
        const QByteArray places = isOfTwo ? "?, ?" : "?";
        switch (what) {
        case 15:
            if (isOfTwo)
                return {
                    "SELECT count(*) AS mine FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND pid "
                    "= pg_backend_pid() AND classid = ?::bigint AND objid = ?::bigint AND objsubid = 2",
                    keys};
            return {
                "SELECT count(*) AS mine FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND pid "
                "= pg_backend_pid() AND objid = ?::bigint AND objsubid = 1",
                keys};
        case 16: return {"SELECT pg_try_advisory_lock(" + places + ")::int AS mine", keys};
        case 17: return {"SELECT pg_advisory_unlock(" + places + ")::int AS again", keys};
        default: return {"SELECT pg_advisory_lock(" + places + ")::text AS mine", keys};
        }
    }

    Random m_random;
};

} // namespace

class TestSimulatedPostgreSql : public QObject {
    Q_OBJECT

    struct Pair {
        std::unique_ptr<mariadb::Session> real, simulated;
        std::optional<Reply<mariadb::Rows>> out, simulatedOut;
        std::unique_ptr<sim::Process> process; // of the simulated one
        bool isInTransaction = false;
    };
    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<mariadb::Session> m_admin;
    std::unique_ptr<VirtualLoop> m_world;
    std::unique_ptr<sim::Network> m_network;
    std::unique_ptr<sim::SqlServer> m_simulated;
    std::map<char, Pair> m_pairs;
    std::map<QByteArray, qsizetype> m_looksBefore; // of a process, before its last statement
    QByteArrayList m_log;
    std::map<QByteArray, int> m_seen; // answers of all seeds
    int m_waited = 0;

    std::unique_ptr<mariadb::Session> openReal()
    {
        mariadb::SessionOptions options{.host = m_server->address(), .user = u"shop"_s, .database = u"shop"_s};
        return postgresql::openSession(m_loop, options);
    }
    QByteArray ask(const QByteArray &text, const QByteArrayList &parameters = {})
    {
        const auto rows = answerOf(m_admin->execute({text, parameters, {}, false}, Deadline::after(m_loop, 15s)));
        if (!rows)
            return rows.error().message.toUtf8();
        return rows->rows.empty() ? QByteArray() : rows->rows.front().front().value_or("NULL");
    }

    void openAll()
    {
        m_world = std::make_unique<VirtualLoop>();
        m_network = std::make_unique<sim::Network>(*m_world, Random(1), sim::Latency{});
        m_simulated = std::make_unique<sim::SqlServer>(*m_world, sim::postgreSqlRules);
        for (const auto *id : {"1", "2"})
            m_simulated->addRow("public.twin", "id", id, 1);
        for (const auto name : pgSessionNames) {
            auto &pair = m_pairs[name];
            pair.real = openReal();
            pair.process = std::make_unique<sim::Process>(*m_world, name);
            pair.simulated = sim::openPostgreSqlSession(*pair.process, *m_simulated, *m_network);
        }
        m_world->advance(100ms);
        QVERIFY(eventually([this] {
            return std::ranges::all_of(
                m_pairs, [](const auto &pair) { return pair.second.real->state() == SessionState::Connected; });
        }));
    }
    void closeAll()
    {
        for (auto &[name, pair] : m_pairs)
            pair.simulated.reset();
        m_pairs.clear();
        mariadb::waitForClosingSessions(20s);
        // Gone here, a session may hold what it held there a little longer.
        if (m_admin)
            QVERIFY(eventually([this] {
                return ask("SELECT count(*)::text FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' "
                           "AND pid <> pg_backend_pid()")
                       == "0";
            }));
        m_simulated.reset();
        m_network.reset();
        m_world.reset();
        m_log.clear();
    }

    void send(char name, const PgStep &step)
    {
        m_log << QByteArray(1, name) + ": " + step.text
                     + (step.parameters.isEmpty() ? "" : " <- " + step.parameters.join(", "));
        auto &pair = m_pairs[name];
        const auto sent = [&step](mariadb::Session &session) {
            return session.execute({step.text, step.parameters, session.connectionId(), false}, Deadline::never());
        };
        m_looksBefore[QByteArray::number(pair.real->connectionId())] =
            looksOf(QByteArray::number(pair.real->connectionId()));
        pair.out = sent(*pair.real);
        pair.simulatedOut = sent(*pair.simulated);
        m_world->advance(1500ms); // longer than its deadlock_timeout
    }

    QByteArrayList heardInSimulation()
    {
        QByteArrayList heard;
        for (auto &[name, pair] : m_pairs) {
            if (pair.simulatedOut && pair.simulatedOut->isComplete())
                heard << QByteArray(1, name) + ' ' + pgWords(std::exchange(pair.simulatedOut, {})->value());
        }
        return heard;
    }
    QByteArrayList heardFromReal()
    {
        QByteArrayList heard;
        for (auto &[name, pair] : m_pairs) {
            if (pair.out && pair.out->isComplete())
                heard << QByteArray(1, name) + ' ' + pgWords(std::exchange(pair.out, {})->value());
        }
        return heard;
    }
    // How often a process has looked for a circle: once in each wait, after deadlock_timeout, when it gets to it.
    [[nodiscard]] qsizetype looksOf(const QByteArray &process) const
    {
        return m_server->log().count(u"process %1 still waiting for "_s.arg(QString::fromLatin1(process)));
    }
    // So many have been answered, and so many wait for a lock, each of which has looked for a circle.
    bool settle(qsizetype answers, int waits)
    {
        return eventually([&] {
            const auto answered = std::ranges::count_if(
                m_pairs, [](const auto &pair) { return pair.second.out && pair.second.out->isComplete(); });
            if (answered < answers || waits == 0)
                return answered >= answers;
            const auto waiting = ask("SELECT string_agg(pid::text, ' ') FROM pg_catalog.pg_locks WHERE NOT granted");
            const auto all = waiting.split(' ');
            return all.size() == waits && std::ranges::all_of(all, [this](const QByteArray &process) {
                       return looksOf(process) > m_looksBefore[process];
                   });
        });
    }
    // Empty: they agree.
    QByteArray difference()
    {
        const auto expected = heardInSimulation();
        const auto waits = int(
            std::ranges::count_if(m_pairs, [](const auto &pair) { return pair.second.simulatedOut.has_value(); }));
        const bool isAtRest = settle(expected.size(), waits);
        const auto heard = heardFromReal();
        m_waited += waits;
        for (const auto &answer : expected)
            ++m_seen[answer.mid(2)];
        m_log << "    " + (expected.isEmpty() ? QByteArray("(waits)") : expected.join("; "));
        if (heard == expected && isAtRest)
            return {};
        return "\n" + m_log.join('\n') + "\n    but the real server: " + heard.join("; ")
               + (isAtRest ? "" : "; it did not come to rest");
    }

    QByteArray playEnd(char name, bool isCancel)
    {
        auto &pair = m_pairs[name];
        const auto before = pair.real->connectionId();
        m_log << QByteArray(isCancel ? "pg_cancel_backend " : "pg_terminate_backend ") + name;
        ask(isCancel ? "SELECT pg_cancel_backend(?::int)::text" : "SELECT pg_terminate_backend(?::int)::text",
            {QByteArray::number(before)});
        const auto simulated = pair.simulated->connectionId();
        if (isCancel) {
            m_simulated->killQuery(simulated);
            m_world->advance(1500ms);
            return difference();
        }
        m_simulated->kill(simulated);
        pair.isInTransaction = false;
        m_world->advance(1500ms);
        auto different = difference();
        if (pair.simulated->state() != SessionState::Connected || pair.simulated->connectionId() == simulated)
            different += "; the simulated one did not connect again";
        if (!eventually(
                [&] { return pair.real->state() == SessionState::Connected && pair.real->connectionId() != before; }))
            different += "; the real one did not connect again";
        return different;
    }

    // Two or three have something each, and want the next one's: rows and advisory locks as they come.
    QByteArray playCircle(Random &random)
    {
        std::vector<PgStep> all{{pgRow + " FOR UPDATE", {"1"}},
                                {pgRow + " FOR UPDATE", {"2"}},
                                {"SELECT pg_advisory_lock(?)::text AS mine", {"1"}},
                                {"SELECT pg_advisory_lock(?)::text AS mine", {"2"}},
                                {"SELECT pg_advisory_lock(?, ?)::text AS mine", {"7", "1"}}};
        const auto count = 2 + random.below(2);
        std::vector<PgStep> own;
        for (quint64 i = 0; i < count; ++i) {
            const auto which = std::ptrdiff_t(random.below(all.size()));
            own.push_back(all[size_t(which)]);
            all.erase(all.begin() + which);
        }
        QByteArray different;
        const auto say = [&](quint64 who, const PgStep &step) {
            send(pgSessionNames[qsizetype(who)], step);
            different += difference();
        };
        for (quint64 i = 0; i < count; ++i) {
            if (own[i].text.startsWith(pgRow) || random.below(2) == 0) {
                m_pairs[pgSessionNames[qsizetype(i)]].isInTransaction = true;
                say(i, {"START TRANSACTION", {}});
            }
            say(i, own[i]);
        }
        const auto first = random.below(count);
        for (quint64 i = first; i < first + count; ++i)
            say(i % count, own[(i + 1) % count]);
        return different;
    }

    QByteArray play(PgScript &script, int steps)
    {
        auto &random = script.random();
        for (int step = 0; step < steps; ++step) {
            const auto name = pgSessionNames[qsizetype(random.below(3))];
            auto &pair = m_pairs[name];
            QByteArray different;
            if (pair.simulatedOut) { // it waits; mostly let it
                const auto what = random.below(8);
                if (what < 2)
                    different = playEnd(name, what == 0);
            } else if (random.below(40) == 0) {
                different = playEnd(name, false);
            } else {
                const auto next = script.next(pair.isInTransaction);
                if (next.text == "START TRANSACTION")
                    pair.isInTransaction = true;
                if (next.text == "COMMIT" || next.text == "ROLLBACK")
                    pair.isInTransaction = false;
                send(name, next);
                different = difference();
            }
            if (!different.isEmpty())
                return different;
        }
        return {};
    }

private slots:
    void initTestCase()
    {
        const QByteArrayList looked{"deadlock_timeout=10ms", "log_lock_waits=on",
                                    "log_min_messages=log"}; // of looksOf()
        START_OR_SKIP(m_server, sandbox::makePostgreSql(nullptr, looked));
        m_admin = openReal();
        QVERIFY2(eventually([this] { return m_admin->state() == SessionState::Connected; }),
                 qPrintable(m_admin->lastError()));
        ask("CREATE TABLE public.twin (id text PRIMARY KEY)");
        ask("INSERT INTO public.twin VALUES ('1'), ('2')");
        QCOMPARE(ask("SELECT count(*)::text FROM public.twin"), QByteArray("2"));
    }
    void cleanupTestCase()
    {
        m_admin.reset();
        mariadb::waitForClosingSessions(20s);
        m_server.reset();
    }
    void cleanup() { closeAll(); }

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
        PgScript script(seed);
        const auto different = play(script, pgStepsPerSeed);
        QVERIFY2(different.isEmpty(), "seed " + QByteArray::number(seed) + ':' + different);
    }

    // Whoever closes it hears of it, and what that gives back goes on.
    void circles_data()
    {
        QTest::addColumn<quint64>("seed");
        for (int seed = 1; seed <= 20; ++seed)
            QTest::addRow("seed %d", seed) << quint64(seed);
    }
    void circles()
    {
        QFETCH(quint64, seed);
        openAll();
        PgScript script(seed);
        auto different = playCircle(script.random());
        QVERIFY2(m_log.last().contains(pgError(ErrorCode::DeadlockVictim)), m_log.join('\n'));
        different += play(script, 8);
        QVERIFY2(different.isEmpty(), "seed " + QByteArray::number(seed) + ':' + different);
    }

    // Or the seeds above say little.
    void everyKindOfAnswerWasSeen()
    {
        if (m_seen.empty())
            QSKIP("only asked for this one: the answers are those of the seeds before");
        const QByteArray answers[] = {"done",
                                      "no row",
                                      "row ",
                                      "row 0",
                                      "row 1",
                                      "row 2",
                                      pgError(ErrorCode::DeadlockVictim),
                                      pgError(ErrorCode::Cancelled),
                                      pgError(ErrorCode::TimedOut),
                                      pgError(ErrorCode::Server),
                                      pgError(ErrorCode::SessionExpired)};
        for (const auto &answer : answers)
            QVERIFY2(m_seen[answer] >= 3, answer);
        QVERIFY(m_waited > 100);
    }

    // Nobody looks whether who waits is still there: it gets the lock in its turn, and gives it up then.
    void deadWaiterHasItsTurn()
    {
        const auto psql = QStandardPaths::findExecutable(u"psql"_s);
        if (psql.isEmpty())
            QSKIP("psql is not installed");
        openAll();
        const PgStep lock{"SELECT pg_advisory_lock(?)::text AS mine", {"77"}};
        send('a', lock);
        QCOMPARE(difference(), QByteArray());
        QProcess dying;
        dying.start(psql, {u"-X"_s, u"postgresql://shop@127.0.0.1:%1/shop"_s.arg(m_server->address().port), u"-c"_s,
                           u"SELECT pg_advisory_lock(77)"_s});
        static_cast<void>(
            m_pairs['b'].simulated->execute({lock.text, lock.parameters, {}, false}, Deadline::never()));
        m_world->advance(1s);
        QVERIFY(settle(0, 1));
        dying.kill();
        QVERIFY(dying.waitForFinished());
        m_pairs['b'].process->kill();
        m_world->advance(10s);
        QVERIFY(settle(0, 1));
        QCOMPARE(m_simulated->namedLocks().queueOf("77").size(), size_t(2));
        send('a', {"SELECT pg_advisory_unlock(?)::int AS again", {"77"}});
        QCOMPARE(difference(), QByteArray());
        QVERIFY(eventually([this] {
            return ask("SELECT count(*)::text FROM pg_catalog.pg_locks WHERE locktype = 'advisory'") == "0";
        }));
        QVERIFY(m_simulated->namedLocks().names().empty());
    }
};

LOCKSCOPE_TEST(TestSimulatedPostgreSql)
#include "tst_simulated_postgresql.moc"
