// SPDX-License-Identifier: Apache-2.0
// The patterns of rule files: regular expressions over bytes, that have to fit as a whole. What one may cost is
// bounded: texts from servers are hostile, and patterns that people write backtrack. Any thread.
#pragma once

#include <QByteArrayList>
#include <QMap>
#include <QRegularExpression>

#include <optional>
#include <variant>

namespace lockscope::recipes {

using RuleGroups = QMap<QByteArray, QByteArray>; // what the named groups of a pattern caught

class RulePattern {
public:
    // Why not, in words.
    [[nodiscard]] static std::variant<RulePattern, QString> read(const QString &text);
    [[nodiscard]] std::optional<RuleGroups> match(const QByteArray &text) const;
    // The same of bytes as characters, one each (QString::fromLatin1), for who holds them against several patterns.
    [[nodiscard]] std::optional<RuleGroups> matchCharacters(const QString &characters) const;
    [[nodiscard]] const QByteArrayList &groups() const { return m_groups; }
    [[nodiscard]] QString text() const { return m_text; }

private:
    QString m_text;
    QRegularExpression m_expression;
    QByteArray m_start; // whatever fits begins with it
    QByteArrayList m_groups;
};

} // namespace lockscope::recipes
