// SPDX-License-Identifier: Apache-2.0
// Commands on texts and counters.
#include "core/simservers/redis/execution.h"

#include <cmath>

namespace lockscope::sim {

using redis::Command;
using redis::Value;

namespace {

Value textOrNil(const RedisText *text)
{
    return text ? replies::bulk(*text) : replies::nil();
}

Value get(Execution &run, const Command &command)
{
    return textOrNil(run.read<RedisText>(command[1]));
}

// With NX and PX: recipes and scripts use no other options.
Value set(Execution &run, const Command &command)
{
    bool onlyNew = false;
    std::optional<QByteArray> time;
    for (qsizetype i = 3; i < command.size() && !run.isRefused(); ++i) {
        const auto option = command[i].toUpper();
        if (option == "NX")
            onlyNew = true;
        else if (option == "PX" && i + 1 < command.size())
            time = command[++i];
        else
            run.refuseSyntax();
    }
    std::optional<Keyspace::Millis> when;
    if (time && !run.isRefused())
        when = expiryOf(run, *time, command[0]);
    if (run.isRefused())
        return {};
    if (onlyNew && run.keys.look(command[1]))
        return replies::nil();
    run.keys.put(command[1], command[2]);
    if (when)
        run.keys.expireAt(command[1], when);
    return replies::ok();
}

Value setNx(Execution &run, const Command &command)
{
    if (run.keys.look(command[1]))
        return replies::integer(0);
    run.keys.put(command[1], command[2]);
    return replies::integer(1);
}

Value getSet(Execution &run, const Command &command)
{
    const auto old = get(run, command);
    if (run.isRefused())
        return {};
    run.keys.put(command[1], command[2]);
    return old;
}

Value add(Execution &run, const QByteArray &key, qint64 by)
{
    const auto *text = run.read<RedisText>(key);
    const auto old = text ? run.integer(*text) : 0;
    if (run.isRefused())
        return {};
    qint64 sum = 0;
    if (__builtin_add_overflow(old, by, &sum))
        return run.refuse("ERR increment or decrement would overflow");
    // In place: it keeps its time to live.
    *run.open<RedisText>(key) = QByteArray::number(sum);
    return replies::integer(sum);
}

Value incr(Execution &run, const Command &command)
{
    return add(run, command[1], 1);
}

Value incrBy(Execution &run, const Command &command)
{
    const auto by = run.integer(command[2]);
    return run.isRefused() ? Value() : add(run, command[1], by);
}

Value decrBy(Execution &run, const Command &command)
{
    const auto by = run.integer(command[2]);
    if (by == std::numeric_limits<qint64>::min())
        return run.refuse("ERR decrement would overflow");
    return run.isRefused() ? Value() : add(run, command[1], -by);
}

} // namespace

RedisCommands textCommands()
{
    return {{"GET", {2, get}},   {"SET", {-3, set}},      {"SETNX", {3, setNx}},  {"GETSET", {3, getSet}},
            {"INCR", {2, incr}}, {"INCRBY", {3, incrBy}}, {"DECRBY", {3, decrBy}}};
}

// Commands on hashes.

namespace {

Value fieldOf(const RedisHash *hash, const QByteArray &field)
{
    if (!hash)
        return replies::nil();
    const auto at = hash->find(field);
    return at == hash->end() ? replies::nil() : replies::bulk(at->second);
}

Value hSet(Execution &run, const Command &command)
{
    if (command.size() % 2 != 0)
        return run.refuse(wrongCount(command[0]));
    auto *hash = run.open<RedisHash>(command[1]);
    if (!hash)
        return {};
    qint64 added = 0;
    for (qsizetype i = 2; i < command.size(); i += 2)
        added += hash->insert_or_assign(command[i], command[i + 1]).second ? 1 : 0;
    return replies::integer(added);
}

Value hGet(Execution &run, const Command &command)
{
    return fieldOf(run.read<RedisHash>(command[1]), command[2]);
}

Value hDel(Execution &run, const Command &command)
{
    auto *hash = run.write<RedisHash>(command[1]);
    if (!hash)
        return replies::integer(0);
    qint64 removed = 0;
    for (qsizetype i = 2; i < command.size(); ++i)
        removed += static_cast<qint64>(hash->erase(command[i]));
    run.dropIfEmpty(command[1]);
    return replies::integer(removed);
}

Value hExists(Execution &run, const Command &command)
{
    const auto *hash = run.read<RedisHash>(command[1]);
    return replies::integer(hash && hash->contains(command[2]) ? 1 : 0);
}

Value hIncrBy(Execution &run, const Command &command)
{
    const auto by = run.integer(command[3]);
    if (run.isRefused())
        return {};
    const auto *hash = run.read<RedisHash>(command[1]);
    const auto old = fieldOf(hash, command[2]);
    const auto number = old.isNil() ? 0 : run.integer(old.text, "ERR hash value is not an integer");
    if (run.isRefused())
        return {};
    qint64 sum = 0;
    if (__builtin_add_overflow(number, by, &sum))
        return run.refuse("ERR increment or decrement would overflow");
    run.open<RedisHash>(command[1])->insert_or_assign(command[2], QByteArray::number(sum));
    return replies::integer(sum);
}

Value hLen(Execution &run, const Command &command)
{
    const auto *hash = run.read<RedisHash>(command[1]);
    return replies::integer(hash ? static_cast<qint64>(hash->size()) : 0);
}

Value hGetAll(Execution &run, const Command &command)
{
    std::vector<Value> texts;
    const auto *hash = run.read<RedisHash>(command[1]);
    for (const auto &[field, value] : hash ? *hash : RedisHash()) {
        texts.push_back(replies::bulk(field));
        texts.push_back(replies::bulk(value));
    }
    return replies::array(std::move(texts));
}

} // namespace

RedisCommands hashCommands()
{
    return {{"HSET", {-4, hSet}},      {"HGET", {3, hGet}},       {"HDEL", {-3, hDel}}, {"HEXISTS", {3, hExists}},
            {"HINCRBY", {4, hIncrBy}}, {"HGETALL", {2, hGetAll}}, {"HLEN", {2, hLen}}};
}

// Commands on lists.

namespace {

qint64 sizeOf(const RedisList *list)
{
    return list ? static_cast<qint64>(list->size()) : 0;
}

Value rPush(Execution &run, const Command &command)
{
    auto *list = run.open<RedisList>(command[1]);
    if (!list)
        return {};
    for (qsizetype i = 2; i < command.size(); ++i)
        list->push_back(command[i]);
    return replies::integer(sizeOf(list));
}

Value lPop(Execution &run, const Command &command)
{
    if (command.size() > 3)
        return run.refuse(wrongCount(command[0]));
    const bool isMany = command.size() == 3;
    const auto count = isMany ? run.integer(command[2], "ERR value is out of range, must be positive") : 1;
    if (count < 0)
        run.refuse("ERR value is out of range, must be positive");
    if (run.isRefused())
        return {};
    auto *list = run.write<RedisList>(command[1]);
    if (!list)
        return replies::nil();
    std::vector<Value> taken;
    while (!list->empty() && static_cast<qint64>(taken.size()) < count) {
        taken.push_back(replies::bulk(list->front()));
        list->pop_front();
    }
    run.dropIfEmpty(command[1]);
    return isMany ? replies::array(std::move(taken)) : taken.front();
}

Value lIndex(Execution &run, const Command &command)
{
    const auto *list = run.read<RedisList>(command[1]);
    if (!list)
        return replies::nil();
    auto place = run.integer(command[2]);
    if (place < 0)
        place += sizeOf(list);
    if (place < 0 || place >= sizeOf(list))
        return replies::nil();
    return replies::bulk((*list)[static_cast<std::size_t>(place)]);
}

Value lRange(Execution &run, const Command &command)
{
    const auto first = run.integer(command[2]);
    const auto last = run.integer(command[3]);
    if (run.isRefused())
        return {};
    const auto *list = run.read<RedisList>(command[1]);
    std::vector<Value> found;
    const auto range = rangeOf(first, last, sizeOf(list));
    for (auto i = range.first; i < range.end; ++i)
        found.push_back(replies::bulk((*list)[static_cast<std::size_t>(i)]));
    return replies::array(std::move(found));
}

Value lRem(Execution &run, const Command &command)
{
    const auto count = run.integer(command[2]);
    if (run.isRefused())
        return {};
    auto *list = run.write<RedisList>(command[1]);
    if (!list)
        return replies::integer(0);
    const auto most = count == 0 ? sizeOf(list) : std::abs(count);
    qint64 removed = 0;
    if (count < 0)
        std::reverse(list->begin(), list->end());
    std::erase_if(*list, [&](const QByteArray &element) {
        const bool goes = removed < most && element == command[3];
        removed += goes ? 1 : 0;
        return goes;
    });
    if (count < 0)
        std::reverse(list->begin(), list->end());
    run.dropIfEmpty(command[1]);
    return replies::integer(removed);
}

} // namespace

RedisCommands listCommands()
{
    return {{"RPUSH", {-3, rPush}},
            {"LPOP", {-2, lPop}},
            {"LINDEX", {3, lIndex}},
            {"LRANGE", {4, lRange}},
            {"LREM", {4, lRem}}};
}

// Commands on sorted sets.

using Members = std::vector<std::pair<double, QByteArray>>;

namespace {

Value zAdd(Execution &run, const Command &command)
{
    if (command.size() % 2 != 0)
        run.refuseSyntax();
    std::vector<double> scores; // all of them are read before one is put
    for (qsizetype i = 2; i < command.size() && !run.isRefused(); i += 2)
        scores.push_back(run.real(command[i]));
    auto *set = run.isRefused() ? nullptr : run.open<RedisSortedSet>(command[1]);
    if (!set)
        return {};
    qint64 added = 0;
    qsizetype member = 3;
    for (const auto score : scores) {
        added += set->put(command[member], score) ? 1 : 0;
        member += 2;
    }
    return replies::integer(added);
}

Value zIncrBy(Execution &run, const Command &command)
{
    const auto by = run.real(command[2]);
    auto *set = run.isRefused() ? nullptr : run.open<RedisSortedSet>(command[1]);
    if (!set)
        return {};
    const auto at = set->scores.find(command[3]);
    const auto sum = at == set->scores.end() ? by : at->second + by;
    if (std::isnan(sum))
        return run.refuse("ERR resulting score is not a number (NaN)");
    set->put(command[3], sum);
    return replies::bulk(redisText(sum));
}

// --- Looking ---------------------------------------------------------------------------------------

Value zRem(Execution &run, const Command &command)
{
    auto *set = run.write<RedisSortedSet>(command[1]);
    qint64 removed = 0;
    for (qsizetype i = 2; set && i < command.size(); ++i)
        removed += set->take(command[i]) ? 1 : 0;
    run.dropIfEmpty(command[1]);
    return replies::integer(removed);
}

Value zScore(Execution &run, const Command &command)
{
    const auto *set = run.read<RedisSortedSet>(command[1]);
    if (!set)
        return replies::nil();
    const auto at = set->scores.find(command[2]);
    return at == set->scores.end() ? replies::nil() : replies::bulk(redisText(at->second));
}

Value zCard(Execution &run, const Command &command)
{
    const auto *set = run.read<RedisSortedSet>(command[1]);
    return replies::integer(set ? static_cast<qint64>(set->scores.size()) : 0);
}

struct ScoreRange {
    double least = 0, most = 0;
    bool leastIsOut = false, mostIsOut = false;

    [[nodiscard]] bool contains(double score) const
    {
        return (leastIsOut ? score > least : score >= least) && (mostIsOut ? score < most : score <= most);
    }
};

ScoreRange scoreRange(Execution &run, const QByteArray &least, const QByteArray &most)
{
    const auto number = [&run](const QByteArray &text) {
        const auto bound = redisBound(text.startsWith('(') ? text.mid(1) : text);
        if (!bound)
            run.refuse("ERR min or max is not a float");
        return bound.value_or(0);
    };
    return {number(least), number(most), least.startsWith('('), most.startsWith('(')};
}

Members within(const RedisSortedSet *set, const ScoreRange &range)
{
    Members found;
    if (!set)
        return found;
    for (auto at = set->order.lower_bound({range.least, QByteArray()}); at != set->order.end(); ++at) {
        if (at->first > range.most)
            break;
        if (range.contains(at->first))
            found.push_back(*at);
    }
    return found;
}

// --- ZRANGE and its kin ----------------------------------------------------------------------------

struct RangeOptions {
    bool byScore = false, withScores = false;
    qint64 offset = 0, limit = -1;
};

RangeOptions rangeOptions(Execution &run, const Command &command, bool byScore)
{
    RangeOptions options;
    options.byScore = byScore;
    for (qsizetype i = 4; i < command.size() && !run.isRefused(); ++i) {
        const auto option = command[i].toUpper();
        if (option == "WITHSCORES") {
            options.withScores = true;
        } else if (option == "LIMIT" && i + 2 < command.size()) {
            options.offset = run.integer(command[i + 1]);
            options.limit = run.integer(command[i + 2]);
            i += 2;
        } else {
            run.refuseSyntax();
        }
    }
    if (options.limit != -1 && !options.byScore)
        run.refuse("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
    return options;
}

Members cut(Members found, qint64 offset, qint64 limit)
{
    const auto size = static_cast<qint64>(found.size());
    if (offset < 0 || offset >= size)
        return {};
    const auto count = limit < 0 ? size - offset : std::min(limit, size - offset);
    return {found.begin() + offset, found.begin() + offset + count};
}

Value shown(const Members &members, bool withScores)
{
    std::vector<Value> texts;
    for (const auto &[score, member] : members) {
        texts.push_back(replies::bulk(member));
        if (withScores)
            texts.push_back(replies::bulk(redisText(score)));
    }
    return replies::array(std::move(texts));
}

Value rangeByScore(Execution &run, const Command &command, const RangeOptions &options)
{
    const auto range = scoreRange(run, command[2], command[3]);
    if (run.isRefused())
        return {};
    auto found = within(run.read<RedisSortedSet>(command[1]), range);
    return shown(cut(std::move(found), options.offset, options.limit), options.withScores);
}

Value rangeByIndex(Execution &run, const Command &command, const RangeOptions &options)
{
    const auto first = run.integer(command[2]);
    const auto last = run.integer(command[3]);
    if (run.isRefused())
        return {};
    const auto *set = run.read<RedisSortedSet>(command[1]);
    const auto size = set ? static_cast<qint64>(set->order.size()) : 0;
    const auto range = rangeOf(first, last, size);
    Members found;
    if (range.first < range.end) {
        const auto at = std::next(set->order.begin(), range.first);
        found.assign(at, std::next(at, range.end - range.first));
    }
    return shown(found, options.withScores);
}

template <bool byScore>
Value zRange(Execution &run, const Command &command)
{
    const auto options = rangeOptions(run, command, byScore);
    if (run.isRefused())
        return {};
    return byScore ? rangeByScore(run, command, options) : rangeByIndex(run, command, options);
}

} // namespace

RedisCommands sortedSetCommands()
{
    return {{"ZADD", {-4, zAdd}},
            {"ZINCRBY", {4, zIncrBy}},
            {"ZREM", {-3, zRem}},
            {"ZSCORE", {3, zScore}},
            {"ZCARD", {2, zCard}},
            {"ZRANGE", {-4, zRange<false>}},
            {"ZRANGEBYSCORE", {-4, zRange<true>}}};
}

} // namespace lockscope::sim
