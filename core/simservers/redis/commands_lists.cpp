// SPDX-License-Identifier: Apache-2.0
// Commands on lists.
#include "core/simservers/redis/execution.h"

namespace lockscope::sim {

using redis::Command;
using redis::Value;

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

} // namespace lockscope::sim
