// SPDX-License-Identifier: Apache-2.0
// Text from servers is hostile: it may hold control characters, terminal escapes, bytes that are
// not UTF-8, megabytes. These are the only ways it becomes text that a person or a terminal sees.
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QStringList>

#include <algorithm>
#include <functional>

namespace lockscope {

// The form of docs/names-and-ids.md, "Text and durations": UTF-8, with control characters and bytes that are not
// UTF-8 as \xHH and a backslash as \\. Reversible.
[[nodiscard]] QString escaped(const QByteArray &bytes);
// Reads that form back; empty if the text holds a broken escape.
[[nodiscard]] std::optional<QByteArray> unescaped(const QString &text);
// For labels: escaped, and cut at `most` characters with an ellipsis.
[[nodiscard]] QString label(const QByteArray &bytes, int most = 200);
// A sentence of ours, with labels in it: what is escaped already stays as it is, and nothing raw is left.
[[nodiscard]] QString harmless(const QString &sentence, int most = 1000);
// The same for a message, in one line.
[[nodiscard]] QString harmlessLine(QString message);
// The same for text of many lines, uncut.
[[nodiscard]] QString harmlessLines(const QString &text);

// Appended to a sentence: a semicolon and one more clause, if there is one.
[[nodiscard]] inline QString clause(const QString &text)
{
    return text.isEmpty() ? QString() : QStringLiteral("; ") + text;
}

// "1 row", "0 rows", "7 rows".
[[nodiscard]] inline QString amountOf(qint64 count, QLatin1StringView one, QLatin1StringView many)
{
    return QString::number(count) + QLatin1Char(' ') + (count == 1 ? one : many);
}

// "a, b and 3 more": at most so many by name.
[[nodiscard]] inline QString firstNamed(const QStringList &names, qsizetype most)
{
    const auto more = names.size() - most;
    return names.first(std::min(most, names.size())).join(QStringLiteral(", "))
           + (more > 0 ? QStringLiteral(" and %1 more").arg(more) : QString());
}

// A list, or set, made of another one: mapped<QStringList>(locks, [](const auto &lock) { return label(lock.name); }).
template <class List, class Range, class Make>
[[nodiscard]] List mapped(const Range &range, Make make)
{
    List list;
    for (const auto &element : range)
        list.insert(list.end(), std::invoke(make, element));
    return list;
}

// Durations as people write and read them.

// "500ms", "30s", "2m" (also "h" and "d"); not negative.
[[nodiscard]] Result<std::chrono::milliseconds> parseDuration(const QString &text);
// "640 ms", "1.8 s", "4 m 12 s", "9 h 02 m", "3 d".
[[nodiscard]] QString formatDuration(std::chrono::milliseconds span);
// The nearest of what somebody else wrote, who may have written anything: at most 10,000 years either way, so that
// two of them can be subtracted; zero of what is no number.
[[nodiscard]] std::chrono::milliseconds millisecondsOf(double milliseconds);

// Moments as JSON and logs write them.

// "2026-03-01T10:00:00.123Z"
[[nodiscard]] QString isoTime(std::chrono::milliseconds sinceEpoch);
// "2026-03-01T10:00:00Z"
[[nodiscard]] QString isoSeconds(std::chrono::seconds sinceEpoch);

// The shapes of the identifiers that clients write into names and values.

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
