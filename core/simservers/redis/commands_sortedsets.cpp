// SPDX-License-Identifier: Apache-2.0
// Commands on sorted sets.
#include "core/simservers/redis/execution.h"

#include <cmath>

namespace lockscope::sim {

using redis::Command;
using redis::Value;
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
