// SPDX-License-Identifier: Apache-2.0
// The shapes of the identifiers that clients write into names and values.
#pragma once

#include <QByteArray>

namespace lockscope {

// Of ASCII; the standard's ask the locale.
[[nodiscard]] constexpr bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool isAsciiLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

[[nodiscard]] bool isHex(QByteArrayView text);        // small letters, as UUIDs are written
[[nodiscard]] bool isDigits(const QByteArray &text);  // not empty
[[nodiscard]] bool isSqlWord(const QByteArray &text); // an identifier that needs no quotes, or a number
inline constexpr qsizetype uuidLength = 36;
[[nodiscard]] bool isUuid36(QByteArrayView text); // with its four dashes
[[nodiscard]] bool isHex32(QByteArrayView text);  // without
// Whether a UUID, in either form, stands anywhere in the text.
[[nodiscard]] bool holdsUuid(QByteArrayView text);

} // namespace lockscope
