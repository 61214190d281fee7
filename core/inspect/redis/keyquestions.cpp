// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/keyquestions.h"

#include "core/base/duration.h"

#include <algorithm>

namespace lockscope::inspect {

using redis::Command;
using redis::Value;

// A lock's value is a token, a lock's hash has a field per holder. What is larger is no lock, and
// reading it would cost the server and us.
constexpr QByteArrayView lastByteOfValue = "4095";
constexpr QByteArrayView lastAtFirst = "999"; // of a list or a sorted set: most have fewer
constexpr qint64 membersAtFirst = 1000;
constexpr qint64 membersAtMost = 20'000;
constexpr qint64 fieldsAtMost = 512;
constexpr qint64 hashBytesAtMost = 256 * 1024;

bool asksIdle(const KeyView &view)
{
    constexpr auto soon = std::chrono::minutes(1);
    return view.type == KeyType::String && (!view.ttl || *view.ttl <= soon);
}

std::vector<Command> firstQuestions(const KeyView &view, bool withExpiry)
{
    const auto &key = view.key.bytes();
    switch (view.type) {
    case KeyType::String: {
        std::vector<Command> asked{{"GETRANGE", key, "0", lastByteOfValue.toByteArray()}};
        if (withExpiry)
            asked.push_back({"PEXPIRETIME", key});
        // Before it is read, which counts as use.
        if (asksIdle(view))
            asked.insert(asked.begin(), {"OBJECT", "IDLETIME", key});
        return asked;
    }
    case KeyType::Hash: return {{"HLEN", key}, {"MEMORY", "USAGE", key}};
    case KeyType::List: return {{"LRANGE", key, "0", lastAtFirst.toByteArray()}, {"LLEN", key}};
    case KeyType::Set: return {{"SCARD", key}};
    case KeyType::SortedSet: return {{"ZRANGE", key, "0", lastAtFirst.toByteArray(), "WITHSCORES"}, {"ZCARD", key}};
    default: return {};
    }
}

std::vector<Command> secondQuestions(const KeyView &view, const Value &first, const Value &size, bool withExpiry)
{
    const auto &key = view.key.bytes();
    const auto last = QByteArray::number(membersAtMost - 1);
    // An error (not allowed) says nothing about the size.
    const bool isLong = size.integer > membersAtFirst && size.integer <= membersAtMost;
    const bool isSmall = first.integer > 0 && first.integer <= fieldsAtMost && size.integer <= hashBytesAtMost;
    if (view.type == KeyType::Hash && isSmall && withExpiry)
        return {{"PEXPIRETIME", key}, {"HGETALL", key}}; // not later than its fields
    if (view.type == KeyType::Hash && isSmall)
        return {{"HGETALL", key}};
    if (view.type == KeyType::Set && size.integer > 0 && size.integer <= membersAtFirst)
        return {{"SMEMBERS", key}};
    if (view.type == KeyType::List && isLong)
        return {{"LRANGE", key, "0", last}};
    if (view.type == KeyType::SortedSet && isLong)
        return {{"ZRANGE", key, "0", last, "WITHSCORES"}};
    return {};
}

void fillValue(KeyView &view, const Value &answer)
{
    if (answer.isError())
        return;
    if (view.type == KeyType::String)
        view.value = answer.text;
    const bool isOfItems = view.type == KeyType::List || view.type == KeyType::Set;
    for (size_t i = 0; isOfItems && i < answer.items.size(); ++i)
        view.items.push_back(answer.items[i].text);
    for (size_t i = 0; view.type == KeyType::SortedSet && i + 1 < answer.items.size(); i += 2)
        view.scored.emplace_back(answer.items[i].text, answer.items[i + 1].text.toDouble());
    for (size_t i = 0; view.type == KeyType::Hash && i + 1 < answer.items.size(); i += 2)
        view.fields.emplace_back(answer.items[i].text, answer.items[i + 1].text);
}

void fillSize(KeyView &view, const Value &size)
{
    const bool isCounted = view.type == KeyType::List || view.type == KeyType::Set || view.type == KeyType::SortedSet;
    if (!isCounted || size.isError())
        return;
    view.size = size.integer;
    if (view.size > membersAtMost)
        view.scored.clear();
}

void fillWhole(KeyView &view, const Value &answer)
{
    fillValue(view, answer);
    if (!answer.isError() && view.membersRead() < membersAtMost)
        view.size = view.membersRead();
}

void fillExpiry(KeyView &view, const Value &answer, ServerTime now)
{
    if (answer.isError())
        return;
    view.expiresAt.reset();
    if (answer.integer == -1)
        view.ttl.reset();
    if (answer.integer < 0)
        return;
    view.expiresAt = ServerTime(millisecondsOf(double(answer.integer)));
    if (!view.ttl)
        view.ttl = std::max(0ms, *view.expiresAt - now);
}

} // namespace lockscope::inspect
