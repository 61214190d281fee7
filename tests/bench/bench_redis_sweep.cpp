// SPDX-License-Identifier: Apache-2.0
// What it takes to find 10,000 locks among 1,000,000 keys of a Redis: half of the locks say in their names that they
// are, the others only end soon. Measured against plain clients that go through all keys and look at none of them:
// our own connection and hiredis by SCAN with COUNT 1000, and redis-cli --scan. Prints the ratios of times, by the
// clock and of the processor, ours and the server's apart, and how many commands the server counted for each key;
// asserts only what was found. So that the server's share is seen by itself, it is asked for the pages of a sweep
// alone, too (Redis 8 counts hashes, and is asked once where there are none). Size by LOCKSCOPE_BENCH_KEYS (1000000);
// a hundredth of them are locks.
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/inspect/redis/observer.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "tests/bench/blocking.h"
#include "tests/bench/report.h"
#include "tests/support/keepingsink.h"
#include "tests/support/startedserver.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <hiredis/hiredis.h>

#include <sys/resource.h>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

Task<void> fill(redis::Connection &server, qint64 plain, qint64 locks, bool &done)
{
    constexpr qint64 together = 1000;
    for (qint64 from = 0; from < plain; from += together) {
        redis::Command all{"MSET"};
        for (auto i = from; i < std::min(from + together, plain); ++i)
            all << "user:" + QByteArray::number(i) + ":profile"
                << "0123456789";
        auto reply = server.command(std::move(all), Deadline::never());
        const auto set = co_await reply;
        if (!set)
            qFatal("fill: %s", qPrintable(set.error().message));
    }
    std::vector<redis::Command> commands;
    for (qint64 i = 0; i < locks; ++i) {
        const auto number = QByteArray::number(i);
        const auto uuid = number.rightJustified(8, '0') + "-97a1-4d7e-8c55-2f8f2a0d9b11";
        // None may end while it is looked for.
        if (i % 2 == 0)
            commands.push_back({"SET", "lock:order-" + number, uuid, "PX", "36000000"});
        else
            commands.push_back(
                {"SET", "dispatch:" + number,
                 "HOST_77_" + uuid.left(8) + uuid.mid(9, 4) + uuid.mid(14, 4) + uuid.mid(19, 4) + uuid.mid(24), "PX",
                 "850000"});
    }
    auto reply = server.pipeline(std::move(commands), Deadline::never());
    const auto set = co_await reply;
    if (!set)
        qFatal("fill: %s", qPrintable(set.error().message));
    done = true;
}

Task<void> plainScan(redis::Connection &server, qint64 &keys, bool &done)
{
    QByteArray cursor = "0";
    do {
        redis::Command scan{"SCAN", cursor, "COUNT", "1000"};
        auto reply = server.command(std::move(scan), Deadline::never());
        const auto page = co_await reply;
        if (!page)
            qFatal("scan: %s", qPrintable(page.error().message));
        cursor = page->items[0].text;
        keys += static_cast<qint64>(page->items[1].items.size());
    } while (cursor != "0");
    done = true;
}

// What the server says of itself.
Task<void> readInfo(redis::Connection &server, QByteArray &text)
{
    redis::Command info{"INFO", "all"};
    auto reply = server.command(std::move(info), Deadline::never());
    const auto said = co_await reply;
    text = said ? said->text : QByteArray("refused");
}

double numberIn(const QByteArray &info, const QByteArray &field)
{
    const auto at = info.indexOf(field + ':');
    return at < 0 ? 0 : info.mid(at + field.size() + 1).split('\r').front().toDouble();
}

// Milliseconds of our processor, and of programs that ran for us.
double ownProcessor()
{
    const auto milliseconds = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    double sum = 0;
    for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage own{};
        getrusage(whose, &own);
        sum += milliseconds(own.ru_utime) + milliseconds(own.ru_stime);
    }
    return sum;
}

// A plain client that waits for each answer and does nothing else: of each page these questions are sent together.
class BlockingClient {
public:
    explicit BlockingClient(const HostPort &server)
        : m_context(redisConnect(server.host.toUtf8().constData(), server.port), redisFree)
    {
        if (!m_context || m_context->err != 0)
            qFatal("hiredis: no connection");
    }
    // The names that it was told.
    qint64 goThrough(const std::vector<QByteArray> &questions)
    {
        qint64 names = 0;
        QByteArray cursor = "0";
        do {
            for (const auto &question : questions)
                redisAppendCommand(m_context.get(), question.constData(), cursor.constData());
            for (size_t i = 0; i < questions.size(); ++i) {
                const auto page = answer();
                names += static_cast<qint64>(page->element[1]->elements);
                cursor = page->element[0]->str;
            }
        } while (cursor != "0");
        return names;
    }

private:
    using Reply = std::unique_ptr<redisReply, void (*)(void *)>;
    Reply answer()
    {
        void *reply = nullptr;
        redisGetReply(m_context.get(), &reply);
        Reply got(static_cast<redisReply *>(reply), freeReplyObject);
        if (!got || got->type != REDIS_REPLY_ARRAY)
            qFatal("hiredis: %s", got ? got->str : m_context->errstr);
        return got;
    }
    std::unique_ptr<redisContext, void (*)(redisContext *)> m_context;
};

// By the clock (milliseconds) and of the processor.
struct Times {
    bench::Medians clock, own, server, both;
};

} // namespace

class BenchRedisSweep : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_connection;
    qint64 m_keys = qEnvironmentVariableIntValue("LOCKSCOPE_BENCH_KEYS");
    qint64 m_locks = 0;

    struct Spent {
        double commands = 0;
        double own = 0; // milliseconds of the processor
        double server = 0;
    };
    // So far.
    Spent spent(Scope &scope)
    {
        QByteArray info;
        scope.launch(readInfo(*m_connection, info));
        bench::waitUntil([&] { return !info.isEmpty(); });
        return {numberIn(info, "total_commands_processed"), ownProcessor(),
                1e3 * (numberIn(info, "used_cpu_user") + numberIn(info, "used_cpu_sys"))};
    }
    // How many commands it took.
    template <class Work>
    double measure(Scope &scope, Times &times, Work work)
    {
        const auto before = spent(scope);
        QElapsedTimer timer;
        timer.start();
        work();
        times.clock.add(timer.nsecsElapsed());
        const auto after = spent(scope);
        times.own.addValue(after.own - before.own);
        times.server.addValue(after.server - before.server);
        times.both.addValue(after.own - before.own + after.server - before.server);
        return after.commands - before.commands;
    }

    void scanPlainly(Scope &scope)
    {
        qint64 keys = 0;
        bool isOver = false;
        scope.launch(plainScan(*m_connection, keys, isOver));
        QVERIFY(bench::waitUntil([&] { return isOver; }, 120s));
        QVERIFY(keys >= m_keys);
    }
    void observe()
    {
        testing::NoSink sink;
        inspect::ObserverOptions options;
        options.follow = false;
        inspect::RedisObserver observer(*m_connection, ConnectionName("redis"), options, sink);
        observer.start();
        QVERIFY(bench::waitUntil([&] { return observer.firstSnapshot().isComplete(); }, 120s));
        QCOMPARE(qint64(observer.snapshots().size()), m_locks);
    }
    // As it comes: in pages of ten, each name written on a line.
    void runRedisCli()
    {
        const auto &server = m_server->address();
        QProcess process;
        process.setStandardOutputFile(QProcess::nullDevice());
        process.start(u"redis-cli"_s, {u"-h"_s, server.host, u"-p"_s, QString::number(server.port), u"--scan"_s});
        QVERIFY(bench::waitUntil([&] { return process.state() == QProcess::NotRunning; }, 120s));
        QCOMPARE(process.exitCode(), 0);
    }

private slots:
    void initTestCase()
    {
        m_keys = m_keys > 0 ? m_keys : 1'000'000;
        m_locks = m_keys / 100;
        START_OR_SKIP(m_server, sandbox::makeRedis({}));
        m_connection = redis::openConnection(m_loop, {.host = m_server->address()});
        QVERIFY(bench::waitUntil([&] { return m_connection->state() == redis::ConnectionState::Connected; }));
        Scope scope(m_loop);
        bool isFilled = false;
        scope.launch(fill(*m_connection, m_keys - m_locks, m_locks, isFilled));
        QVERIFY(bench::waitUntil([&] { return isFilled; }, 120s));
    }

    void sweep()
    {
        Times observed, plain, hiredis, passes, cli;
        bench::Medians commandsOfKey, one;
        one.addValue(1);
        Scope scope(m_loop);
        BlockingClient blocking(m_server->address());
        const bool hasRedisCli = !QStandardPaths::findExecutable(u"redis-cli"_s).isEmpty();
        for (int round = 0; round < 3; ++round) {
            measure(scope, plain, [&] { scanPlainly(scope); });
            measure(scope, hiredis, [&] { QVERIFY(blocking.goThrough({"SCAN %s COUNT 1000"}) >= m_keys); });
            measure(scope, passes, [&] {
                QVERIFY(blocking.goThrough({"SCAN %s COUNT 400", "SCAN %s COUNT 400 TYPE hash"}) >= m_keys);
            });
            const auto commands = measure(scope, observed, [&] { observe(); });
            commandsOfKey.addValue(commands / static_cast<double>(m_keys));
            if (hasRedisCli)
                measure(scope, cli, [&] { runRedisCli(); });
        }
        bench::report(
            u"sweep of %1 keys, %2 of them locks: observer ÷ plain SCAN (limit 1.5)"_s.arg(m_keys).arg(m_locks),
            observed.clock, plain.clock);
        bench::report(u"the same, time of the processor, ours and the server's"_s, observed.both, plain.both);
        bench::report(u"of it ours"_s, observed.own, plain.own);
        bench::report(u"of it the server's"_s, observed.server, plain.server);
        bench::report(u"the server's alone, pages of 400 asked twice, once for hashes ÷ of a plain SCAN"_s,
                      passes.server, plain.server);
        bench::report(u"a plain SCAN, ours ÷ hiredis'"_s, plain.own, hiredis.own);
        bench::report(u"observer ÷ hiredis, ours and the server's"_s, observed.both, hiredis.both);
        if (hasRedisCli) {
            bench::report(u"observer ÷ redis-cli --scan, by the clock (limit 1.1)"_s, observed.clock, cli.clock);
            bench::report(u"observer ÷ redis-cli --scan, its processor and the server's"_s, observed.both, cli.both);
        }
        bench::reportRatio(u"commands of that sweep for each key (limit 0.2)"_s, commandsOfKey, one, u"commands"_s);
    }
};

QTEST_GUILESS_MAIN(BenchRedisSweep)
#include "bench_redis_sweep.moc"
