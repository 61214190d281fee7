// SPDX-License-Identifier: Apache-2.0
// Keys of Redis as values, for tests of what is recognised in them.
//
// What lies beside a key is text, a line each: "list KEY item…", "set KEY member…", "zset KEY member=score…",
// "string KEY value", "channel NAME subscribers".
#pragma once

#include "znodetable.h"

#include "core/inspect/redis/recognise.h"

namespace lockscope::inspect::table {

using std::chrono::milliseconds;

inline const ServerTime now{milliseconds(1700000000000)};
// A version 1 UUID made at that moment.
inline const QByteArray uuid1 = "04afc000833b11ee8000001122334455";

inline KeyView keyOf(const QByteArray &key, KeyType type, qint64 ttlMs, const QByteArray &content)
{
    KeyView view{.key = RedisKey(key), .type = type};
    if (ttlMs >= 0)
        view.ttl = milliseconds(ttlMs);
    if (type == KeyType::String)
        view.value = content;
    for (const auto &line : content.split('\n')) {
        const auto words = line.trimmed().split(' ');
        if (type == KeyType::Hash && words.size() == 2)
            view.fields.emplace_back(words[0], words[1]);
    }
    return view;
}

struct Beside {
    std::vector<KeyView> companions;
    RedisContext context;

    explicit Beside(const QByteArray &text)
    {
        context.connection = ConnectionName("redis");
        context.observed = now;
        for (const auto &line : text.split('\n')) {
            auto words = line.trimmed().split(' ');
            if (words.size() < 2)
                continue;
            const QByteArray kind = words.takeFirst();
            const QByteArray key = words.takeFirst();
            if (kind == "channel")
                context.subscribers[key] = words[0].toLongLong();
            else
                companions.push_back(read(kind, key, words));
        }
    }

private:
    static KeyView read(const QByteArray &kind, const QByteArray &key, const QByteArrayList &words)
    {
        if (kind == "string")
            return keyOf(key, KeyType::String, words.value(1, "-1").toLongLong(), words[0]);
        const auto type = kind == "list" ? KeyType::List : kind == "set" ? KeyType::Set : KeyType::SortedSet;
        KeyView view = keyOf(key, type, -1, {});
        for (const auto &word : words) {
            if (type != KeyType::SortedSet)
                view.items.push_back(word);
            else
                view.scored.emplace_back(word.left(word.lastIndexOf('=')),
                                         word.mid(word.lastIndexOf('=') + 1).toDouble());
        }
        return view;
    }
};

inline KeyView hash(const char *key, const char *fields, qint64 ttlMs = 30000)
{
    return keyOf(key, KeyType::Hash, ttlMs, expand(fields));
}
inline KeyView string(const char *key, const QByteArray &value, qint64 ttlMs = 30000)
{
    return keyOf(key, KeyType::String, ttlMs, expand(value));
}
inline KeyView missing(const char *key)
{
    return keyOf(key, KeyType::None, -1, {});
}

} // namespace lockscope::inspect::table
