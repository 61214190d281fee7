// SPDX-License-Identifier: Apache-2.0
// Text from servers is hostile: it may hold control characters, terminal escapes, bytes that are
// not UTF-8, megabytes. These are the only ways it becomes text that a person or a terminal sees.
#pragma once

#include <QByteArray>
#include <QStringList>

#include <algorithm>
#include <functional>
#include <optional>

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

} // namespace lockscope
