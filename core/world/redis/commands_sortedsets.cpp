// SPDX-License-Identifier: Apache-2.0
// Commands on sorted sets.
#include "core/world/redis/execution.h"

#include <cmath>

namespace lockscope::world {

using redis::Command;
using redis::Value;
using Members = std::vector<std::pair<double, QByteArray>>;

namespace {

// --- ZADD ------------------------------------------------------------------------------------------

struct AddOptions {
    bool nx = false, xx = false, gt = false, lt = false, ch = false, incr = false;
    qsizetype first = 2; // where the scores begin
};

AddOptions addOptions(Execution &run, const Command &command)
{
    AddOptions options;
    const std::map<QByteArray, bool *> known{{"NX", &options.nx}, {"XX", &options.xx}, {"GT", &options.gt},
                                             {"LT", &options.lt}, {"CH", &options.ch}, {"INCR", &options.incr}};
    for (; options.first < command.size(); ++options.first) {
        const auto at = known.find(command[options.first].toUpper());
        if (at == known.end())
            break;
        *at->second = true;
    }
    const auto texts = command.size() - options.first;
    if (texts % 2 != 0 || texts == 0)
        run.refuseSyntax();
    if (options.nx && options.xx)
        run.refuse("ERR XX and NX options at the same time are not compatible");
    if ((options.gt && options.nx) || (options.lt && options.nx) || (options.gt && options.lt))
        run.refuse("ERR GT, LT, and/or NX options at the same time are not compatible");
    if (options.incr && texts > 2)
        run.refuse("ERR INCR option supports a single increment-element pair");
    return options;
}

struct Added {
    qint64 added = 0, updated = 0;
    std::optional<double> score; // of the last one; empty when the options kept it as it was
};

void addOne(Execution &run, RedisSortedSet &set, const AddOptions &options, double score, const QByteArray &member,
            Added &sum)
{
    sum.score.reset();
    const auto at = set.scores.find(member);
    if (at == set.scores.end()) {
        if (options.xx)
            return;
        set.put(member, score);
        ++sum.added;
        sum.score = score;
        return;
    }
    const double old = at->second;
    if (options.nx)
        return;
    if (options.incr)
        score += old;
    if (std::isnan(score)) {
        run.refuse("ERR resulting score is not a number (NaN)");
        return;
    }
    if ((options.lt && score >= old) || (options.gt && score <= old))
        return;
    sum.score = score;
    if (score == old)
        return;
    set.put(member, score);
    ++sum.updated;
}

Value addAll(Execution &run, const Command &command, const AddOptions &options)
{
    std::vector<double> scores;
    for (auto i = options.first; i < command.size() && !run.isRefused(); i += 2)
        scores.push_back(run.real(command[i]));
    if (run.isRefused())
        return {};
    Added sum;
    const auto *there = run.read<RedisSortedSet>(command[1]);
    auto *set = !there && options.xx ? nullptr : run.open<RedisSortedSet>(command[1]);
    auto place = options.first + 1;
    for (const auto score : set ? scores : std::vector<double>()) {
        addOne(run, *set, options, score, command[place], sum);
        place += 2;
    }
    if (options.incr)
        return sum.score ? replies::bulk(redisText(*sum.score)) : replies::nil();
    return replies::integer(sum.added + (options.ch ? sum.updated : 0));
}

Value zAdd(Execution &run, const Command &command)
{
    const auto options = addOptions(run, command);
    return run.isRefused() ? Value() : addAll(run, command, options);
}

Value zIncrBy(Execution &run, const Command &command)
{
    AddOptions options;
    options.incr = true;
    return addAll(run, command, options);
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

} // namespace lockscope::world
