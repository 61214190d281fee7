// SPDX-License-Identifier: Apache-2.0
// The forms of the tokens that Redis lock clients write: what is built in (resources/rules/token-forms.json) and what
// a person adds (docs/rules.md). Any thread.
#pragma once

#include <QByteArrayList>
#include <QMap>
#include <QRegularExpression>
#include <QString>

#include <optional>
#include <variant>
#include <vector>

namespace lockscope::recipes {

using RuleGroups = QMap<QByteArray, QByteArray>; // what the named groups of a pattern caught

// The patterns of rule files: regular expressions over bytes, that have to fit as a whole. What one may cost is
// bounded: texts from servers are hostile, and patterns that people write backtrack. Any thread.
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

struct TokenForm {
    QString client;                 // who writes it; empty: several do
    QString file;                   // empty: it is built in
    std::optional<RulePattern> key; // empty: of any key
    // Its groups: `holder`, what it says of its owner; `uuid1`, the hex digits of a UUID made from the time, which
    // has to be one of the last year.
    std::optional<RulePattern> value;
    QString why;
    bool isProof = false;       // key and value are of a form that only one client writes
    bool isSure = false;        // confidence high, not medium
    bool besideWakeUps = false; // only where python-redis-lock's list of wake-ups stands beside the key

    // What tells it from the others of its file.
    [[nodiscard]] QString name() const { return client.isEmpty() ? why : client + QStringLiteral(": ") + why; }
};

// In the order in which they are asked.
[[nodiscard]] const std::vector<TokenForm> &builtInTokenForms();

} // namespace lockscope::recipes
