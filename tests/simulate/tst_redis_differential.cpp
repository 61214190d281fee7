// SPDX-License-Identifier: Apache-2.0
// The simulated Redis against a real one: the same random commands, the same answers.
//
// Moments and spans of time may differ by what the two were apart; the fields of a hash, and the names
// of keys, come in any order.
#include "rediscommands.h"
#include "redisworld.h"

#include "tests/support/redisfixture.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <algorithm>
#include <map>

using redis::Value;

namespace {

constexpr int sequences = 600 / testing::sanitizerShare;
constexpr int commandsEach = 50;
constexpr double apartMs = 20'000; // a machine may be busy
constexpr double momentsFrom = 900'000;

bool isUnordered(const QByteArray &name)
{
    static const QByteArrayList names{"KEYS", "HGETALL"};
    return names.contains(name);
}

bool tellsOfTime(const QByteArray &name)
{
    return name == "TIME" || name.contains("TTL") || name.contains("TIME") || name.startsWith("EVAL")
           || name.startsWith('Z');
}

Value sorted(Value value)
{
    for (auto &item : value.items)
        item = sorted(item);
    std::sort(value.items.begin(), value.items.end(),
              [](const Value &a, const Value &b) { return RedisWorld::textOf(a) < RedisWorld::textOf(b); });
    return value;
}

// A hash's fields with their values.
Value inPairs(const Value &value)
{
    Value pairs{.kind = Value::Kind::Array};
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        auto &pair = pairs.items.emplace_back();
        pair.kind = Value::Kind::Bulk;
        pair.text = value.items[i].text + '\0' + value.items[i + 1].text;
    }
    return pairs;
}

bool areNear(const Value &one, const Value &other)
{
    const auto number = [](const Value &value) {
        return value.kind == Value::Kind::Integer ? static_cast<double>(value.integer) : value.text.toDouble();
    };
    return std::abs(number(one)) >= momentsFrom && std::abs(number(one) - number(other)) <= apartMs;
}

// Redis 8 writes a number in as few digits as tell it, those before and the simulated one in 17.
bool writesShortNumbers = false;

bool areOneNumber(const QByteArray &real, const QByteArray &simulated)
{
    bool isNumber = false, isSimulatedNumber = false;
    return writesShortNumbers && real.toDouble(&isNumber) == simulated.toDouble(&isSimulatedNumber) && isNumber
           && isSimulatedNumber && simulated.contains('.');
}

bool areEqual(const Value &one, const Value &other, bool withTime)
{
    if (one.kind != other.kind || one.items.size() != other.items.size())
        return false;
    for (std::size_t i = 0; i < one.items.size(); ++i) {
        if (!areEqual(one.items[i], other.items[i], withTime))
            return false;
    }
    return (one.text == other.text && one.integer == other.integer) || (withTime && areNear(one, other))
           || areOneNumber(one.text, other.text);
}

// Members by their scores, two of which may be the same moment on one side and a millisecond apart on the other:
// their order is chance then.
bool areNearlyRanked(const Value &real, const Value &simulated)
{
    for (std::size_t i = 3; i < simulated.items.size(); i += 2) {
        if (simulated.items[i].text.toDouble() < simulated.items[i - 2].text.toDouble())
            return false;
    }
    const auto byMember = [](const Value &ranked) {
        std::map<QByteArray, Value> scores;
        for (std::size_t i = 0; i + 1 < ranked.items.size(); i += 2)
            scores.emplace(ranked.items[i].text, ranked.items[i + 1]);
        return scores;
    };
    return std::ranges::equal(byMember(real), byMember(simulated), [](const auto &one, const auto &other) {
        return one.first == other.first && areEqual(one.second, other.second, true);
    });
}

bool isSameAnswer(const redis::Command &command, const Value &real, const Value &simulated)
{
    const auto name = command.first().toUpper();
    if (name == "TIME" && real.items.size() == 2)
        return simulated.items.size() == 2; // aTimeThatPasses() looks closer
    if (name == "HGETALL" && real.kind == Value::Kind::Array)
        return areEqual(sorted(inPairs(real)), sorted(inPairs(simulated)), false);
    if (name.startsWith("ZRANGE") && command.last().toUpper() == "WITHSCORES" && real.kind == Value::Kind::Array)
        return areEqual(real, simulated, true) || areNearlyRanked(real, simulated);
    if (isUnordered(name))
        return areEqual(sorted(real), sorted(simulated), false);
    return areEqual(real, simulated, tellsOfTime(name));
}

QByteArray shown(const redis::Command &command)
{
    QByteArrayList words;
    for (const auto &word : command)
        words << (word.size() > 60 ? "<" + word.left(40).simplified() + " …>" : word.toPercentEncoding(" :{}()"));
    return words.join(' ');
}

} // namespace

class TestRedisDifferential : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_real;
    std::unique_ptr<RedisWorld> m_world;
    redis::Connection *m_simulated = nullptr;
    QByteArray m_story; // the last commands and their answers
    QByteArrayList m_heardReally, m_heardSimulated;
    std::vector<Subscription> m_subscriptions;

    // The same time on both.
    void setClock()
    {
        const auto real = std::chrono::system_clock::now().time_since_epoch();
        const Value time = m_world->server().execute({"TIME"});
        const auto simulated = std::chrono::seconds(time.items[0].text.toLongLong())
                               + std::chrono::microseconds(time.items[1].text.toLongLong());
        m_world->server().jumpClock(std::chrono::duration_cast<std::chrono::milliseconds>(real - simulated));
    }
    std::vector<Value> reallyDo(const std::vector<redis::Command> &commands)
    {
        const auto got = answerOf(m_real->pipeline(commands, Deadline::after(m_loop, 20s)));
        return got ? *got : std::vector<Value>();
    }
    std::vector<Value> simulate(const std::vector<redis::Command> &commands)
    {
        const auto reply = m_simulated->pipeline(commands, m_world->soon());
        m_world->world.advance(100ms);
        return reply.isComplete() && reply.value() ? *reply.value() : std::vector<Value>();
    }
    // What is different; empty when nothing is.
    QByteArray difference(const std::vector<redis::Command> &commands)
    {
        const auto before = std::exchange(m_story, {});
        setClock();
        const auto real = reallyDo(commands);
        const auto simulated = simulate(commands);
        if (real.size() != commands.size() || simulated.size() != commands.size())
            return "no answers: really " + QByteArray::number(qint64(real.size())) + ", simulated "
                   + QByteArray::number(qint64(simulated.size()));
        for (std::size_t i = 0; i < commands.size(); ++i) {
            m_story += shown(commands[i]) + " -> " + RedisWorld::textOf(simulated[i]) + '\n';
            if (isSameAnswer(commands[i], real[i], simulated[i]))
                continue;
            // Not in the test's message, which would be cut.
            fputs((before + m_story).constData(), stderr);
            return shown(commands[i]) + "\nreally: " + RedisWorld::textOf(real[i])
                   + "\nsimulated: " + RedisWorld::textOf(simulated[i]);
        }
        return {};
    }
    void listen(redis::Connection &connection, QByteArrayList &heard)
    {
        const auto note = [&heard](const redis::Message &message) {
            heard << message.pattern + '|' + message.channel + '|' + message.payload;
        };
        m_subscriptions.push_back(connection.subscribe("news", note));
        m_subscriptions.push_back(connection.subscribe("fence", note));
        m_subscriptions.push_back(connection.subscribePattern("news:*", note));
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_server, sandbox::makeRedis());
        m_real = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QVERIFY(becomes(*m_real, redis::ConnectionState::Connected));
        const redis::Command tenth{"EVAL", "redis.call('SET', KEYS[1], 0.1)\nreturn redis.call('GET', KEYS[1])", "1",
                                   "k"};
        writesShortNumbers = reallyDo({tenth}).at(0).text == "0.1";
        m_world = std::make_unique<RedisWorld>();
        m_simulated = &m_world->connect(m_world->addProcess());
        listen(*m_real, m_heardReally);
        listen(*m_simulated, m_heardSimulated);
        QVERIFY(answerOf(m_real->subscriberId(Deadline::after(m_loop, 10s))));
        const auto id = m_simulated->subscriberId(Deadline::after(m_world->world, 10s));
        m_world->world.advance(1s);
        QVERIFY(id.isComplete() && id.value());
    }
    void init()
    {
        if (!m_real)
            QSKIP("redis-server is not installed");
        QCOMPARE(difference({{"FLUSHALL"}, {"SCRIPT", "FLUSH"}}), QByteArray());
        m_heardReally.clear();
        m_heardSimulated.clear();
    }

    // The comparison's own: two moments that the real server had in the other order are alike, other members are not.
    void ranksAMillisecondApartAreAlike()
    {
        const auto ranked = [](const QByteArrayList &words) {
            Value value{.kind = Value::Kind::Array};
            for (const auto &word : words) {
                auto &item = value.items.emplace_back();
                item.kind = Value::Kind::Bulk;
                item.text = word;
            }
            return value;
        };
        const auto really = ranked({"a", "1000", "you:2", "1795698282936", "me:1", "1795698282937"});
        QVERIFY(areNearlyRanked(really, ranked({"a", "1000", "me:1", "1795698282937", "you:2", "1795698282937"})));
        QVERIFY(!areNearlyRanked(really, ranked({"a", "1001", "me:1", "1795698282937", "you:2", "1795698282937"})));
        QVERIFY(!areNearlyRanked(really, ranked({"a", "1000", "me:1", "1795698282937", "me:2", "1795698282937"})));
        QVERIFY(!areNearlyRanked(really, ranked({"a", "1000", "me:1", "1795698282937", "you:2", "1795698000000"})));
    }

    void randomCommands()
    {
        // Others than usual: LOCKSCOPE_FIRST_SEED=1001
        const auto first = qMax(1, qEnvironmentVariableIntValue("LOCKSCOPE_FIRST_SEED"));
        for (auto seed = static_cast<quint64>(first); seed < static_cast<quint64>(first) + sequences; ++seed) {
            RandomCommands random(seed);
            std::vector<redis::Command> commands;
            for (int i = 0; i < commandsEach; ++i)
                commands.push_back(random.next());
            const auto what = difference(commands);
            QVERIFY2(what.isEmpty(), "seed " + QByteArray::number(seed) + ", " + what);
            // Everything that is there, whole.
            std::vector<redis::Command> all{{"KEYS", "*"}, {"GET", "latch"}, {"HGETALL", "hash"}};
            all.push_back({"LRANGE", "list", "0", "-1"});
            all.push_back({"ZRANGE", "scores", "0", "-1", "WITHSCORES"});
            all.push_back({"PUBLISH", "fence", QByteArray::number(seed)});
            const auto rest = difference(all);
            QVERIFY2(rest.isEmpty(), "seed " + QByteArray::number(seed) + ", afterwards " + rest);
            const auto fence = "|fence|" + QByteArray::number(seed);
            QVERIFY(eventually([&] { return m_heardReally.contains(fence); }));
            for (qsizetype i = 0; i < qMin(m_heardReally.size(), m_heardSimulated.size()); ++i) {
                if (areOneNumber(m_heardReally[i].split('|').last(), m_heardSimulated[i].split('|').last()))
                    m_heardSimulated[i] = m_heardReally[i];
            }
            QCOMPARE(m_heardSimulated, m_heardReally);
            m_heardReally.clear();
            m_heardSimulated.clear();
            if (seed % 7 == 0)
                QCOMPARE(difference({{"FLUSHALL"}, {"SCRIPT", "FLUSH"}}), QByteArray());
        }
    }

    void scripts_data()
    {
        const Rows<QByteArray> row("script");
        for (
            const QByteArray script :
            {"return 1.9",
             "return -1.9",
             "return {1, 2.7, 'x', {3, true, false}, nil, 5}",
             "return nil",
             "return true",
             "return false",
             "return {}",
             "return function() end",
             "return {ok = 'FINE'}",
             "return {err = 'MINE it is'}",
             "return {err = 'one'}",
             "return redis.status_reply('GOOD')",
             "return redis.error_reply('BAD thing')",
             "return redis.error_reply('bad')",
             "return redis.error_reply('-BAD thing')",
             "return redis.error_reply(1, 2)",
             "return redis.sha1hex('')",
             "return redis.sha1hex('abc')",
             "return redis.replicate_commands()",
             "return #KEYS .. ':' .. #ARGV .. ':' .. KEYS[1] .. ARGV[1]",
             "return KEYS[7]",
             "return nosuch",
             "made = 1",
             "local x = nil; return x.y",
             "error('boom')",
             "error({err = 'MY boom'})",
             "return (",
             "return redis.call('NOSUCH')",
             "return redis.call('GET')",
             "return redis.call()",
             "return redis.pcall()",
             "return redis.call('GET', {})",
             "return redis.call('SUBSCRIBE', 'x')",
             "return redis.call('EVAL', '1', 0)",
             "return redis.call('INCR', KEYS[1])",
             "return redis.pcall('INCR', KEYS[1])",
             "local r = redis.pcall('INCR', KEYS[1])\nreturn {r.err, type(r)}",
             "return redis.call('SET', KEYS[1], 'v')",
             "local r = redis.call('SET', KEYS[1], 'v') return r.ok",
             "return redis.call('GET', 'nothing') == false",
             "return redis.call('SET', KEYS[1], 12345678901234)\n",
             "redis.call('SET', KEYS[1], 1.5)\nreturn redis.call('GET', KEYS[1])",
             "redis.call('SET', KEYS[1], 0.1)\nreturn redis.call('GET', KEYS[1])",
             "redis.call('DEL', KEYS[1]) redis.call('INCRBY', KEYS[1], 10) return redis.call('GET', KEYS[1])",
             "return redis.call('HGETALL', 'nothing')",
             "return tonumber('12') + 1",
             "return tostring(1700000000000)",
             "return math.floor(7.9)",
             "return string.sub('abcdef', -3)",
             "return table.concat({'a', 'b'}, '-')",
             "local t = {} for i, v in ipairs({5, 6}) do t[#t + 1] = v * 2 end return t",
             "local ok, e = pcall(function() return redis.call('INCR', KEYS[1]) end)\nreturn {tostring(ok), type(e)}",
             "\n\nreturn redis.call('HGET', KEYS[1], 'f')",
             "local function f() return redis.call('LPOP', KEYS[1]) end\nreturn f()",
             "return math.huge",
             "return redis.call('PUBSUB', 'NUMSUB', 'news', 'news:me', 'fence', 'news')",
             "return redis.call('pubsub', 'numsub')",
             "return redis.call('PUBSUB', 'NOPE', 'news')",
             "return redis.call('PUBSUB')",
             "return redis.call('PING')"})
            row(script.left(60).simplified().constData(), script);
    }
    void scripts()
    {
        QFETCH(QByteArray, script);
        QCOMPARE(
            difference({{"SET", "key", "no number"},
                        {"EVAL", script, "1", "key", "arg"},
                        {"GET", "key"},
                        {"EVALSHA", QCryptographicHash::hash(script, QCryptographicHash::Sha1).toHex(), "1", "key"},
                        {"SET", "key", "again"}}),
            QByteArray());
    }

    void evalArgumentsAreCheckedAsByRedis()
    {
        QCOMPARE(difference({{"EVAL", "return 1"},
                             {"EVAL", "return 1", "x"},
                             {"EVAL", "return 1", "-1"},
                             {"EVAL", "return 1", "2", "a"},
                             {"EVALSHA", "nothing", "0"},
                             {"SCRIPT", "LOAD", "return 5"},
                             {"EVALSHA", "4CA238F611C9D0AE4E9A75A5DBAC22AEDC1E44C7", "0"},
                             {"SCRIPT", "EXISTS", "4ca238f611c9d0ae4e9a75a5dbac22aedc1e44c7", "x"},
                             {"SCRIPT", "FLUSH", "NOW"},
                             {"SCRIPT", "FLUSH", "SYNC"},
                             {"SCRIPT", "EXISTS", "4ca238f611c9d0ae4e9a75a5dbac22aedc1e44c7"}}),
                 QByteArray());
    }

    void largeNumbersInAHash()
    {
        QCOMPARE(difference({{"HSET", "h", "f", "9223372036854775807"},
                             {"HINCRBY", "h", "f", "1"},
                             {"HINCRBY", "h", "f", "-1"},
                             {"HINCRBY", "h", "f", "9223372036854775808"},
                             {"HINCRBY", "h", "f", "x"},
                             {"HGET", "h", "f"}}),
                 QByteArray());
    }

    void aTimeThatPasses()
    {
        const std::vector<redis::Command> before{{"SET", "short", "1", "PX", "30"},
                                                 {"HSET", "hash", "f", "1"},
                                                 {"PEXPIRE", "hash", "30"},
                                                 {"SET", "long", "1", "PX", "1000000"}};
        const std::vector<redis::Command> after{{"GET", "short"},  {"EXISTS", "short", "hash", "long"},
                                                {"DBSIZE"},        {"PTTL", "short"},
                                                {"TTL", "long"},   {"KEYS", "*"},
                                                {"INCR", "short"}, {"HINCRBY", "hash", "f", "1"},
                                                {"PTTL", "hash"}};
        QCOMPARE(difference(before), QByteArray());
        QTRY_COMPARE(reallyDo({{"EXISTS", "short", "hash"}}).front().integer, 0);
        QCOMPARE(difference(after), QByteArray()); // its clock is set to the present one
        const auto now = reallyDo({{"TIME"}});
        setClock();
        const auto simulated = simulate({{"TIME"}});
        QVERIFY(std::abs(now[0].items[0].text.toLongLong() - simulated[0].items[0].text.toLongLong()) <= 20);
        QVERIFY(simulated[0].items[1].text.toLongLong() < 1'000'000);
    }
};

LOCKSCOPE_TEST(TestRedisDifferential)
#include "tst_redis_differential.moc"
