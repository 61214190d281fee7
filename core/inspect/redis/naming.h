// SPDX-License-Identifier: Apache-2.0
// How names and values of Redis clients are read; how Redisson makes them: core/rules/redissonkeys.h.
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::inspect {

// "{orders}" → "orders"; whatever is not in one pair of braces as a whole stays as it is.
[[nodiscard]] QByteArray withoutBraces(const QByteArray &name);

// "<uuid36>:<thread id>", the field of a Redisson holder; a write lock's ends in ":write".
struct RedissonHolder {
    QByteArray client;
    QByteArray thread;
    bool writes = false;
};
[[nodiscard]] std::optional<RedissonHolder> readHolder(const QByteArray &field);

[[nodiscard]] std::optional<qint64> readInteger(const QByteArray &text);

} // namespace lockscope::inspect
