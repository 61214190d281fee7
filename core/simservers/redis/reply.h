// SPDX-License-Identifier: Apache-2.0
// What a simulated Redis answers, made and put into the bytes of the protocol (RESP2); and numbers as Redis reads and
// writes them: stricter than the C library.
#pragma once

#include "core/redis/connection.h"

#include <optional>

namespace lockscope::sim {

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

} // namespace lockscope::sim
