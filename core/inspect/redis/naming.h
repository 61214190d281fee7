// SPDX-License-Identifier: Apache-2.0
// How clients name the keys beside their lock.
//
// Redisson puts a name into braces so that all keys of one object share a cluster slot, unless the
// name has braces of its own: "redisson_lock_queue:{orders}", but "redisson_lock_queue:{a}:b".
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::inspect {

[[nodiscard]] QByteArray prefixed(const QByteArray &prefix, const QByteArray &name); // prefix:{name}
[[nodiscard]] QByteArray suffixed(const QByteArray &name, const QByteArray &suffix); // {name}:suffix
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

namespace redisson {
inline constexpr auto queue = "redisson_lock_queue";
inline constexpr auto timeouts = "redisson_lock_timeout";
inline constexpr auto token = "redisson_lock_token";
inline constexpr auto latch = "redisson_unlock_latch";
inline constexpr auto lockChannel = "redisson_lock__channel";
inline constexpr auto readWriteChannel = "redisson_rwlock";
inline constexpr auto semaphoreChannel = "redisson_sc";
inline constexpr auto permitTimeouts = "timeout";
[[nodiscard]] QByteArray countDownChannel(const QByteArray &name); // its braces are unconditional
// The key that keeps the n-th hold of a reader alive.
[[nodiscard]] QByteArray readHold(const QByteArray &name, const QByteArray &holder, qint64 n);
} // namespace redisson

} // namespace lockscope::inspect
