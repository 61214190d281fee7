// SPDX-License-Identifier: Apache-2.0
// The shapes of the identifiers that clients write into names and values.
#pragma once

#include <QByteArray>

namespace lockscope {

[[nodiscard]] bool isHex(const QByteArray &text);     // small letters, as UUIDs are written
[[nodiscard]] bool isDigits(const QByteArray &text);  // not empty
[[nodiscard]] bool isSqlWord(const QByteArray &text); // an identifier that needs no quotes, or a number
inline constexpr qsizetype uuidLength = 36;
[[nodiscard]] bool isUuid36(const QByteArray &text); // with its four dashes
[[nodiscard]] bool isHex32(const QByteArray &text);  // without
// Whether a UUID, in either form, stands anywhere in the text.
[[nodiscard]] bool holdsUuid(const QByteArray &text);

} // namespace lockscope
