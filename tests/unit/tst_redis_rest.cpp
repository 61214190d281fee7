// SPDX-License-Identifier: Apache-2.0
// What an observer costs a Redis where nothing happens, counted on virtual time; and that it looks again, and
// quickly, where something may have been missed.
#include "core/async/virtualloop.h"
#include "core/inspect/redis/observer.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::inspect;
using namespace std::chrono_literals;
using redis::Value;

namespace {

Value integerOf(qint64 number)
{
    Value value;
    value.kind = Value::Kind::Integer;
    value.integer = number;
    return value;
}

Value textOf(const QByteArray &text)
{
    Value value;
    value.kind = Value::Kind::Bulk;
    value.text = text;
    return value;
}

Value listOf(std::vector<Value> items)
{
    Value value;
    value.kind = Value::Kind::Array;
    value.items = std::move(items);
    return value;
}

// Strings that never expire, and a server that tells of what changes; answers at once.
class QuietRedis : public redis::Connection {
public:
    explicit QuietRedis(Loop &onLoop) : m_loop(onLoop) {}

    std::vector<QByteArray> keys; // in order
    qint64 commands = 0;
    // The connection that changes are told on broke, and is back.
    void breakSubscriber() { m_listener(redis::ConnectionState::Connected); }

    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] redis::ConnectionState state() const override { return redis::ConnectionState::Connected; }
    [[nodiscard]] QString lastError() const override { return {}; }
    Subscription onState(std::function<void(redis::ConnectionState)> listener) override
    {
        m_listener = std::move(listener);
        return {};
    }
    Reply<Value> command(redis::Command, Deadline) override { return Reply<Value>(m_loop); }
    Reply<std::vector<Value>> pipeline(std::vector<redis::Command> asked, Deadline) override
    {
        std::vector<Value> answers;
        for (const auto &one : asked)
            answers.push_back(answerTo(one));
        Reply<std::vector<Value>> reply(m_loop);
        reply.complete(std::move(answers));
        return reply;
    }
    Reply<Value> script(redis::Script, QByteArrayList, QByteArrayList, Deadline) override
    {
        return Reply<Value>(m_loop);
    }
    Subscription subscribe(QByteArray, std::function<void(const redis::Message &)>) override { return {}; }
    Subscription subscribePattern(QByteArray, std::function<void(const redis::Message &)>) override { return {}; }
    Reply<qint64> subscriberId(Deadline) override
    {
        Reply<qint64> reply(m_loop);
        reply.complete(qint64(8));
        return reply;
    }

private:
    Value answerTo(const redis::Command &command)
    {
        ++commands;
        const auto &word = command.front();
        const auto sinceEpoch = std::chrono::duration_cast<std::chrono::seconds>(m_loop.wallNow().time_since_epoch());
        if (word == "TIME")
            return listOf({textOf(QByteArray::number(qint64(sinceEpoch.count()))), textOf("0")});
        if (word == "SCAN")
            return page(command[1].toULongLong(), command[3].toULongLong());
        if (word == "TYPE")
            return textOf(std::ranges::binary_search(keys, command[1]) ? "string" : "none");
        if (word == "PTTL" || word == "PEXPIRETIME")
            return integerOf(-1);
        if (word == "GETRANGE")
            return textOf("0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11");
        if (word == "PUBSUB")
            return listOf({});
        return word == "PING" ? textOf("PONG") : integerOf(qint64(keys.size()));
    }
    [[nodiscard]] Value page(std::size_t from, std::size_t count) const
    {
        const auto end = std::min(from + count, keys.size());
        std::vector<Value> names;
        for (auto at = from; at < end; ++at)
            names.push_back(textOf(keys[at]));
        return listOf(
            {textOf(end == keys.size() ? "0" : QByteArray::number(qulonglong(end))), listOf(std::move(names))});
    }

    Loop &m_loop;
    std::function<void(redis::ConnectionState)> m_listener;
};

struct Unheard : ObserverSink {
    void locksChanged(std::vector<SnapshotChange>) override {}
    void sessionsChanged(const ConnectionName &, std::vector<SessionSnapshot>) override {}
    void coverageChanged(const ConnectionName &, std::vector<Coverage>) override {}
    void progressed(Progress) override {}
    void costChanged(const ConnectionName &, Cost) override {}
};

// A sanitizer takes twenty times as long for each of a million answers.
constexpr int share = testing::sanitizerShare == 1 ? 1 : 10;

} // namespace

class TestRedisRest : public QObject {
    Q_OBJECT

    struct Watched {
        VirtualLoop loop;
        QuietRedis server{loop};
        Unheard sink;
        RedisObserver observer{server, ConnectionName("redis"), ObserverOptions{}, sink};
        explicit Watched(int locks)
        {
            for (int i = 0; i < locks; ++i)
                server.keys.push_back("lock:" + QByteArray::number(i));
            std::ranges::sort(server.keys);
            observer.start();
            loop.advance(1s);
        }
    };

private slots:
    void atRestItSendsFewCommands_data()
    {
        QTest::addColumn<int>("locks");
        QTest::newRow("few locks") << 10;
        QTest::newRow("as many as one page") << 1000 / share;
        QTest::newRow("many locks") << 3000 / share;
    }
    void atRestItSendsFewCommands()
    {
        QFETCH(int, locks);
        Watched watched(locks);
        QCOMPARE(int(watched.observer.snapshots().size()), locks);
        // After ten minutes each is looked at once more, for it has been held for long then.
        watched.loop.advance(11min);
        constexpr qint64 mostPerMinute = 60 * 200;
        for (int minute = 0; minute < 10; ++minute) {
            const auto before = watched.server.commands;
            watched.loop.advance(60s);
            QVERIFY2(watched.server.commands - before <= mostPerMinute,
                     qPrintable(QString::number(watched.server.commands - before)));
        }
        QCOMPARE(int(watched.observer.snapshots().size()), locks);
    }

    // A key of which nothing was told is seen in the end, however slowly it is made sure.
    void whatNobodyToldOfIsSeenInTheEnd()
    {
        Watched watched(2000 / share);
        watched.server.keys.push_back("lock:silent"); // the last in order
        watched.loop.advance(15min);
        QCOMPARE(watched.observer.snapshots().size(), 2000u / share + 1);
    }

    void whatMayHaveBeenMissedIsLookedForAtOnce()
    {
        Watched watched(2000 / share);
        watched.loop.advance(5min);                   // a sweep that only makes sure is under way
        watched.server.keys.push_back("lock:missed"); // the last in order
        watched.server.breakSubscriber();
        watched.loop.advance(45s);
        QCOMPARE(watched.observer.snapshots().size(), 2000u / share + 1);
    }
};

LOCKSCOPE_TEST(TestRedisRest)
#include "tst_redis_rest.moc"
