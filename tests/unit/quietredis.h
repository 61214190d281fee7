// SPDX-License-Identifier: Apache-2.0
// A Redis at rest, on virtual time: it answers at once, counts what it is asked, and can break in the ways that a
// test says.
#pragma once

#include "core/async/virtualloop.h"
#include "core/inspect/redis/observer.h"
#include "tests/support/keepingsink.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockscope::testing {

using namespace inspect;
using namespace std::chrono_literals;
using redis::Value;

inline Value integerOf(qint64 number)
{
    return Value{.kind = Value::Kind::Integer, .integer = number};
}

inline Value textOf(const QByteArray &text)
{
    return Value{.kind = Value::Kind::Bulk, .text = text};
}

inline Value listOf(std::vector<Value> items)
{
    return Value{.kind = Value::Kind::Array, .items = std::move(items)};
}

// Strings that never expire, if nothing else is said, and a server that tells of what changes; answers at once.
class QuietRedis : public redis::Connection {
public:
    explicit QuietRedis(Loop &onLoop) : m_loop(onLoop) {}

    std::vector<QByteArray> keys;      // in order
    std::map<QByteArray, qint64> ends; // in so many ms
    std::set<QByteArray> hashes;       // Redisson's locks
    bool countsEnding = true;          // INFO is allowed
    bool knowsTypesInScan = true;      // Redis 6
    bool countsTypes = false;          // Redis 8
    qint64 askedForHashes = 0;         // pages
    std::function<void()> beforeInfo;  // what happens just then
    // What stands in a hash.
    std::vector<QByteArray> fields{"0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11:1", "1"};
    qint64 commands = 0;
    std::map<QByteArray, qint64> counts; // by the first word
    QByteArray otherDatabases;           // lines of INFO keyspace
    std::optional<int> swaps;            // SWAPDB; it tells of them
    bool hasPlaces = false;              // its cursors are places in a table, as Redis' are; else they count keys
    std::size_t losesKeys = 0;           // behind a place that it did not give as a cursor
    qint64 expired = 0;                  // counted until SCAN ends
    // Runs before each answer.
    std::function<void(const redis::Command &)> beforeAnswer{};
    Duration answersIn{};       // later
    bool isScanEndless = false; // it names all keys again and again
    bool refusesTracking = false;
    QByteArray token{"0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11"};
    // From now on nothing is answered; the connection stands until it breaks.
    bool isMute = false;
    // What is out is lost.
    void breakConnection() { turn(redis::ConnectionState::Connecting); }
    void connectAgain()
    {
        isMute = false;
        turn(redis::ConnectionState::Connected);
    }
    // All that was asked is answered, late.
    void speakAgain()
    {
        isMute = false;
        for (const auto &[asked, reply] : std::exchange(m_unanswered, {}))
            reply.complete(answersTo(asked));
    }
    // The connection that changes are told on broke, and is back.
    void breakSubscriber() { m_listener(redis::ConnectionState::Connected); }
    void notifyOf(const QByteArray &key) { m_subscriber({"__redis__:invalidate", {}, key}); }

    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] redis::ConnectionState state() const override { return m_state; }
    [[nodiscard]] QString lastError() const override { return {}; }
    Subscription onState(std::function<void(redis::ConnectionState)> listener) override
    {
        m_listener = std::move(listener);
        return {};
    }
    // Single commands and scripts are never answered.
    void send(Request &&request) override
    {
        if (auto *const pipeline = std::get_if<Asked<redis::PipelineRequest>>(&request)) {
            if (!isMute && answersIn > Duration::zero()) {
                const auto later = [reply = pipeline->reply,
                                    answers = answersTo(pipeline->request.commands)]() mutable {
                    reply.complete(std::move(answers));
                };
                return void(m_late.push_back(m_loop.callAt(m_loop.now() + answersIn, later)));
            }
            if (!isMute && m_state == redis::ConnectionState::Connected)
                return pipeline->reply.complete(answersTo(pipeline->request.commands));
            pipeline->reply.completeAt(pipeline->deadline, lost());
            m_unanswered.emplace_back(std::move(pipeline->request.commands), pipeline->reply);
        } else if (const auto *const id = std::get_if<Asked<redis::SubscriberIdRequest>>(&request)) {
            id->reply.complete(qint64(8));
        }
    }
    Subscription subscribe(QByteArray, std::function<void(const redis::Message &)> heard) override
    {
        m_subscriber = std::move(heard);
        return {};
    }
    Subscription subscribePattern(QByteArray, std::function<void(const redis::Message &)>) override { return {}; }

private:
    static Error lost() { return {ErrorCode::UnknownOutcome, QStringLiteral("lost by the test"), true}; }
    void turn(redis::ConnectionState to)
    {
        m_state = to;
        for (const auto &[asked, reply] : std::exchange(m_unanswered, {}))
            reply.complete(lost());
        m_listener(to);
    }
    std::vector<Value> answersTo(const std::vector<redis::Command> &asked)
    {
        std::vector<Value> answers;
        for (const auto &one : asked)
            answers.push_back(answerTo(one));
        return answers;
    }
    Value answerTo(const redis::Command &command)
    {
        ++commands;
        if (beforeAnswer)
            beforeAnswer(command);
        const auto &word = command.front();
        ++counts[word];
        const auto sinceEpoch = std::chrono::duration_cast<std::chrono::seconds>(m_loop.wallNow().time_since_epoch());
        if (word == "TIME")
            return listOf({textOf(QByteArray::number(qint64(sinceEpoch.count()))), textOf("0")});
        if (word == "SCAN" && command.size() > 4 && !knowsTypesInScan)
            return refusalOf("ERR syntax error");
        askedForHashes += word == "SCAN" && command.size() > 4 ? 1 : 0;
        if (word == "SCAN")
            return page(indexOf(command[1]), command[3].toULongLong(), command.size() > 4);
        if (word == "INFO" && command.back() == "commandstats" && swaps)
            return textOf("# Commandstats\r\ncmdstat_ping:calls=1,usec=1\r\ncmdstat_swapdb:calls="
                          + QByteArray::number(*swaps) + ",usec=4\r\n");
        if (word == "INFO" && command.back() == "keysizes")
            return textOf(countsTypes ? sizes() : QByteArray());
        if (word == "INFO" && beforeInfo)
            beforeInfo();
        if (word == "INFO")
            return countsEnding
                       ? textOf("# Keyspace\r\ndb0:keys=" + QByteArray::number(qint64(keys.size())) + ",expires="
                                + QByteArray::number(qint64(ends.size())) + ",avg_ttl=0\r\n" + otherDatabases)
                       : refusalOf("NOPERM this user may not");
        if (word == "CLIENT" && command[1] == "TRACKING" && refusesTracking)
            return refusalOf("NOPERM this user may not");
        if (word == "TYPE")
            return textOf(!std::ranges::binary_search(keys, command[1]) ? "none"
                          : hashes.contains(command[1])                 ? "hash"
                                                                        : "string");
        if (word == "PTTL")
            return integerOf(ends.contains(command[1]) ? ends.at(command[1]) : -1);
        if (word == "PEXPIRETIME")
            return integerOf(ends.contains(command[1]) ? sinceEpoch.count() * 1000 + ends.at(command[1]) : -1);
        if (word == "MEMORY")
            return integerOf(command[2].size() + 100);
        if (word == "OBJECT") // written a moment ago
            return integerOf(0);
        if (word == "HLEN")
            return integerOf(1);
        if (word == "HGETALL") {
            std::vector<Value> items;
            std::ranges::transform(fields, std::back_inserter(items), textOf);
            return listOf(std::move(items));
        }
        if (word == "GETRANGE")
            return textOf(token);
        if (word == "PUBSUB")
            return listOf({});
        return word == "PING" ? textOf("PONG") : integerOf(qint64(keys.size()) + expired);
    }
    [[nodiscard]] QByteArray sizes() const
    {
        const QByteArray text = "# Keysizes\r\ndb0_distrib_strings_sizes:8=5\r\n";
        return hashes.empty() ? text : text + "db0_distrib_hashes_items:1=1\r\n";
    }
    [[nodiscard]] quint64 step() const { return ~quint64(0) / keys.size() + 1; }
    [[nodiscard]] std::size_t indexOf(const QByteArray &cursor)
    {
        if (!hasPlaces)
            return cursor.toULongLong();
        const auto index = placeOf(cursor).value_or(0) / step() + (placeOf(cursor).value_or(0) % step() > 0 ? 1 : 0);
        return cursor != "0" && !m_given.contains(cursor) ? std::min<std::size_t>(index + losesKeys, keys.size())
                                                          : index;
    }
    static Value refusalOf(const QByteArray &text)
    {
        auto value = textOf(text);
        value.kind = Value::Kind::Error;
        return value;
    }
    [[nodiscard]] Value page(std::size_t from, std::size_t count, bool onlyHashes)
    {
        const auto end = std::min(from + count, keys.size());
        if (end == keys.size())
            expired = 0;
        if (hasPlaces)
            m_given.insert(cursorAt(end * step()));
        std::vector<Value> names;
        for (auto at = from; at < end; ++at)
            if (!onlyHashes || hashes.contains(keys[at]))
                names.push_back(textOf(keys[at]));
        if (isScanEndless)
            return listOf({textOf("0" + QByteArray::number(1)), listOf(std::move(names))});
        return listOf({textOf(end == keys.size() ? "0"
                              : hasPlaces        ? cursorAt(end * step())
                                                 : QByteArray::number(qulonglong(end))),
                       listOf(std::move(names))});
    }

    Loop &m_loop;
    std::vector<Timer> m_late;
    std::set<QByteArray> m_given; // cursors
    redis::ConnectionState m_state = redis::ConnectionState::Connected;
    std::vector<std::pair<std::vector<redis::Command>, Reply<std::vector<Value>>>> m_unanswered;
    std::function<void(redis::ConnectionState)> m_listener;
    std::function<void(const redis::Message &)> m_subscriber;
};

} // namespace lockscope::testing
