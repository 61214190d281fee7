// SPDX-License-Identifier: Apache-2.0
// Numbers as Redis reads and writes them: stricter than the C library.
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::world {

// Decimal, without blanks, a plus or needless zeros; empty also when it does not fit.
[[nodiscard]] std::optional<qint64> redisInteger(const QByteArray &text);
// "inf" and "-inf" too; never not-a-number.
[[nodiscard]] std::optional<double> redisDouble(const QByteArray &text);
// The end of a range of scores: as redisDouble, but an empty text is zero and leading blanks are none of its
// business.
[[nodiscard]] std::optional<double> redisBound(const QByteArray &text);
[[nodiscard]] QByteArray redisText(double number);

} // namespace lockscope::world
