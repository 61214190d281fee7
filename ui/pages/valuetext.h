// SPDX-License-Identifier: Apache-2.0
// A value from a server as text that a person can read: plain, as JSON, as a hex dump. Whatever the
// bytes are, the result holds no control characters but line ends and tabs. Pure functions.
#pragma once

#include <QByteArray>
#include <QString>

#include <optional>

namespace lockscope::ui {

enum class ValueForm { Text, Json, Hex };

// Longer lines are broken: editors lay a line out as a whole.
constexpr qsizetype longestLine = 2000;

struct ReadableText {
    QString text;
    bool isEscaped = false;   // some bytes stand as \xHH, and then every backslash is doubled
    bool isBroken = false;    // a line longer than longestLine was broken
};
[[nodiscard]] ReadableText readableText(const QByteArray &bytes);

// Indents without touching anything else: the order of keys, numbers of any length and doubled keys
// stay as they are. Empty if the bytes are no JSON object or array
// (or one nested so deep that indenting it would help nobody).
[[nodiscard]] std::optional<QString> prettyJson(const QByteArray &bytes);

// "00000000  7b 22 6f 77 6e 65 72 22  3a 20 …  |{"owner": |", sixteen bytes a line.
[[nodiscard]] QString hexDump(const QByteArray &bytes);

// The form that says most about it.
[[nodiscard]] ValueForm bestForm(const QByteArray &bytes);

} // namespace lockscope::ui
