// SPDX-License-Identifier: Apache-2.0
// The shapes of the identifiers that clients write into names and values.
#pragma once

#include <QByteArray>
#include <QString>

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

// Hosts of clients in one form, so that what several servers and clients write can be compared.

// An IPv6 address in its short form, without a zone; the IPv4 address in it where it is a mapped one. Anything else
// as it is. "0:0:0:0:0:0:0:1" → "::1", "fe80::1%eth0" → "fe80::1", "::ffff:10.0.3.7" → "10.0.3.7".
[[nodiscard]] QString plainHost(const QString &host);
// Of a client as a server lists it: "10.0.3.7:56332", "[::1]:5432", MariaDB's "::1:5432"; plainHost() of what is
// before the port.
[[nodiscard]] QString hostOfEndpoint(const QString &endpoint);
// Whether it is a machine's name for itself: such an address is of every machine.
[[nodiscard]] bool isLoopbackHost(const QString &host);

} // namespace lockscope
