// SPDX-License-Identifier: Apache-2.0
// What it takes to find 10,000 locks among 1,000,000 keys of a Redis: half of the locks say in their names that they
// are, the others only end soon. Measured against a plain client that goes through all keys by SCAN with COUNT 1000
// and looks at none of them. Prints the ratio of times, by the clock and of the processor, and how many commands the
// server counted for each key; asserts only what was found. Size by LOCKSCOPE_BENCH_KEYS (1000000); a hundredth of
// them are locks.
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/inspect/redis/observer.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "tests/bench/blocking.h"
#include "tests/bench/report.h"

#include <QElapsedTimer>
#include <QTest>

#include <sys/resource.h>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

struct SilentSink : inspect::ObserverSink {
    void locksChanged(std::vector<inspect::SnapshotChange>) override {}
    void sessionsChanged(const ConnectionName &, std::vector<inspect::SessionSnapshot>) override {}
    void coverageChanged(const ConnectionName &, std::vector<inspect::Coverage>) override {}
    void progressed(inspect::Progress) override {}
    void costChanged(const ConnectionName &, inspect::Cost) override {}
};

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

} // namespace

class BenchRedisSweep : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_connection;
    qint64 m_keys = qEnvironmentVariableIntValue("LOCKSCOPE_BENCH_KEYS");
    qint64 m_locks = 0;

    // So far: commands, and milliseconds of the processor that both took.
    struct Spent {
        double commands = 0;
        double processor = 0;
    };
    Spent spent(Scope &scope)
    {
        QByteArray info;
        scope.launch(readInfo(*m_connection, info));
        bench::waitUntil([&] { return !info.isEmpty(); });
        rusage own{};
        getrusage(RUSAGE_SELF, &own);
        const auto milliseconds = [](const timeval &time) {
            return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
        };
        return {numberIn(info, "total_commands_processed"),
                milliseconds(own.ru_utime) + milliseconds(own.ru_stime)
                    + 1e3 * (numberIn(info, "used_cpu_user") + numberIn(info, "used_cpu_sys"))};
    }

private slots:
    void initTestCase()
    {
        m_keys = m_keys > 0 ? m_keys : 1'000'000;
        m_locks = m_keys / 100;
        auto made = sandbox::makeRedis({});
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_server = std::move(*made);
        QVERIFY(m_server->start(10s));
        redis::ConnectionOptions options;
        options.host = m_server->address();
        m_connection = redis::openConnection(m_loop, options);
        QVERIFY(bench::waitUntil([&] { return m_connection->state() == redis::ConnectionState::Connected; }));
        Scope scope(m_loop);
        bool isFilled = false;
        scope.launch(fill(*m_connection, m_keys - m_locks, m_locks, isFilled));
        QVERIFY(bench::waitUntil([&] { return isFilled; }, 120s));
    }

    void sweep()
    {
        bench::Medians plain, observed, plainProcessor, observedProcessor, commandsOfKey, one;
        one.addValue(1);
        Scope scope(m_loop);
        for (int round = 0; round < 3; ++round) {
            const auto atFirst = spent(scope);
            QElapsedTimer timer;
            timer.start();
            qint64 keys = 0;
            bool isOver = false;
            scope.launch(plainScan(*m_connection, keys, isOver));
            QVERIFY(bench::waitUntil([&] { return isOver; }, 120s));
            plain.add(timer.nsecsElapsed());
            QVERIFY(keys >= m_keys);

            const auto before = spent(scope);
            plainProcessor.addValue(before.processor - atFirst.processor);
            SilentSink sink;
            inspect::ObserverOptions options;
            options.follow = false;
            timer.restart();
            inspect::RedisObserver observer(*m_connection, ConnectionName("redis"), options, sink);
            observer.start();
            QVERIFY(bench::waitUntil([&] { return observer.firstSnapshot().isComplete(); }, 120s));
            observed.add(timer.nsecsElapsed());
            QCOMPARE(qint64(observer.snapshots().size()), m_locks);
            const auto after = spent(scope);
            observedProcessor.addValue(after.processor - before.processor);
            commandsOfKey.addValue((after.commands - before.commands) / static_cast<double>(m_keys));
        }
        bench::report(
            u"sweep of %1 keys, %2 of them locks: observer ÷ plain SCAN (limit 1.5)"_s.arg(m_keys).arg(m_locks),
            observed, plain);
        bench::report(u"the same, time of the processor, ours and the server's"_s, observedProcessor, plainProcessor);
        bench::reportRatio(u"commands of that sweep for each key (limit 0.2)"_s, commandsOfKey, one, u"commands"_s);
    }
};

QTEST_GUILESS_MAIN(BenchRedisSweep)
#include "bench_redis_sweep.moc"
