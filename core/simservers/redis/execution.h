// SPDX-License-Identifier: Apache-2.0
// One command being executed by a simulated Redis, and the table of all of them.
#pragma once

#include "core/simservers/redis/server.h"

namespace lockscope::sim {

// What a simulated Redis answers, made and put into the bytes of the protocol (RESP2); and numbers as Redis reads and
// writes them: stricter than the C library.

// Decimal, without blanks, a plus or needless zeros; empty also when it does not fit.
[[nodiscard]] std::optional<qint64> redisInteger(const QByteArray &text);
// "inf" and "-inf" too; never not-a-number.
[[nodiscard]] std::optional<double> redisDouble(const QByteArray &text);
// The end of a range of scores: as redisDouble, but an empty text is zero and leading blanks are none of its
// business.
[[nodiscard]] std::optional<double> redisBound(const QByteArray &text);
[[nodiscard]] QByteArray redisText(double number);

namespace replies {

[[nodiscard]] redis::Value ok();
[[nodiscard]] redis::Value status(const QByteArray &text);
[[nodiscard]] redis::Value error(const QByteArray &text); // with its code: "ERR no such key"
[[nodiscard]] redis::Value integer(qint64 number);
[[nodiscard]] redis::Value bulk(const QByteArray &bytes);
[[nodiscard]] redis::Value nil();
[[nodiscard]] redis::Value array(std::vector<redis::Value> items);

void appendTo(QByteArray &bytes, const redis::Value &reply);

} // namespace replies

class RedisServer;
struct RedisSession;

// Who finds something wrong refuses it and returns anything: the refusal is the answer then.
class Execution {
public:
    Execution(RedisServer &itsServer, Keyspace &itsKeys, std::chrono::microseconds moment, RedisSession *itsSession)
        : server(itsServer), keys(itsKeys), now(moment), session(itsSession)
    {
    }

    RedisServer &server;
    Keyspace &keys;
    const std::chrono::microseconds now; // since 1970, by the server's clock
    RedisSession *const session;         // null in a script
    std::vector<redis::Value> before;    // replies that go out before the one returned

    [[nodiscard]] Keyspace::Millis nowMillis() const { return std::chrono::duration_cast<Keyspace::Millis>(now); }

    redis::Value refuse(const QByteArray &text)
    {
        if (!m_refusal)
            m_refusal = replies::error(text);
        return *m_refusal;
    }
    redis::Value refuseSyntax() { return refuse("ERR syntax error"); }
    [[nodiscard]] bool isRefused() const { return m_refusal.has_value(); }
    [[nodiscard]] const redis::Value &refusal() const { return *m_refusal; }

    // Zero when it is refused.
    qint64 integer(const QByteArray &text, const QByteArray &problem = "ERR value is not an integer or out of range")
    {
        const auto number = redisInteger(text);
        if (!number)
            refuse(problem);
        return number.value_or(0);
    }
    double real(const QByteArray &text, const QByteArray &problem = "ERR value is not a valid float")
    {
        const auto number = redisDouble(text);
        if (!number)
            refuse(problem);
        return number.value_or(0);
    }

    // What a key holds; null when there is none, or when it is of another type (refused then).
    template <class T>
    const T *read(const QByteArray &key)
    {
        const auto *entry = keys.look(key);
        return entry ? typed<const T>(&entry->content) : nullptr;
    }
    template <class T>
    T *write(const QByteArray &key)
    {
        // Looked at first, so that nothing is noted of a key that is not changed.
        return read<T>(key) ? std::get_if<T>(keys.change(key)) : nullptr;
    }
    // As write(), but makes it when there is none.
    template <class T>
    T *open(const QByteArray &key)
    {
        if (keys.look(key))
            return write<T>(key);
        return std::get_if<T>(&keys.put(key, T()));
    }
    // A collection that has lost its last element is no key any more.
    void dropIfEmpty(const QByteArray &key)
    {
        const auto *entry = keys.look(key);
        if (entry && std::visit([](const auto &content) { return sizeOf(content) == 0; }, entry->content))
            keys.remove(key);
    }

private:
    template <class T, class Content>
    T *typed(Content *content)
    {
        auto *found = std::get_if<std::remove_const_t<T>>(content);
        if (!found)
            refuse("WRONGTYPE Operation against a key holding the wrong kind of value");
        return found;
    }
    template <class T>
    static std::size_t sizeOf(const T &collection)
    {
        return collection.size();
    }
    static std::size_t sizeOf(const RedisText &) { return 1; } // an empty text is one, too
    static std::size_t sizeOf(const RedisSortedSet &members) { return members.scores.size(); }

    std::optional<redis::Value> m_refusal;
};

struct RedisCommand {
    int arity = 0; // with the name; negative: at least so many
    redis::Value (*run)(Execution &, const redis::Command &) = nullptr;
    enum class Where { Anywhere, NotInScripts } where = Where::Anywhere;
};
using RedisCommands = std::map<QByteArray, RedisCommand>;

// Each group in a file of its own; names in capitals.
[[nodiscard]] RedisCommands keyCommands();
[[nodiscard]] RedisCommands expiryCommands();
[[nodiscard]] RedisCommands textCommands();
[[nodiscard]] RedisCommands hashCommands();
[[nodiscard]] RedisCommands listCommands();
[[nodiscard]] RedisCommands sortedSetCommands();
[[nodiscard]] RedisCommands serverCommands();
[[nodiscard]] RedisCommands scriptCommands();

// Null when it is unknown here.
[[nodiscard]] const RedisCommand *findCommand(const QByteArray &name);
// "ERR wrong number of arguments for 'get' command"
[[nodiscard]] QByteArray wrongCount(const QByteArray &name);
[[nodiscard]] QByteArray unknownSubcommand(const redis::Command &command);
[[nodiscard]] QByteArray unknownInScript(); // a command, or a subcommand
// As much of a text as an error shows: so many bytes, and nothing behind a zero.
[[nodiscard]] QByteArray beginning(const QByteArray &text, qsizetype most = 128);

// When something shall expire, as the commands' options say it.
// A time to live in milliseconds that a text may be given at once: above zero. `command` is for the refusal.
[[nodiscard]] Keyspace::Millis expiryOf(Execution &run, const QByteArray &text, const QByteArray &command);
// So many times `each` milliseconds from now; refused only when it does not fit.
[[nodiscard]] Keyspace::Millis momentOf(Execution &run, qint64 number, qint64 each, const QByteArray &command);
// A moment that is past already removes the key.
void expireAt(Execution &run, const QByteArray &key, Keyspace::Millis when);

// From the indexes of a command, which may count from the end, to places in a collection.
struct IndexRange {
    qint64 first = 0;
    qint64 end = 0; // past the last
};
[[nodiscard]] inline IndexRange rangeOf(qint64 first, qint64 last, qint64 size)
{
    first = std::max<qint64>(first < 0 ? first + size : first, 0);
    last = std::min(last < 0 ? last + size : last, size - 1);
    return first > last ? IndexRange{} : IndexRange{first, last + 1};
}

} // namespace lockscope::sim
