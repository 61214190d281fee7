// SPDX-License-Identifier: Apache-2.0
// What the readers of a rule file's objects share. Any thread.
#pragma once

#include "core/rules/userrules.h"

#include <QJsonObject>
#include <QStringList>

namespace lockscope::recipes {

inline constexpr qsizetype longestRuleName = 80;

// One object of the file and what is wrong with it.
class ObjectReader {
public:
    ObjectReader(const QJsonObject &json, QString at, std::vector<RuleProblem> &problems)
        : m_json(json), m_at(std::move(at)), m_problems(problems)
    {
    }

protected:
    void object(const QString &field, const QString &why) { m_problems.push_back({{}, 0, m_at + field, why}); }
    [[nodiscard]] bool has(const QString &field) const { return m_json.contains(field); }
    void checkFields(const QStringList &known);
    QString text(const QString &field);
    // The value that a word of the file stands for.
    template <typename T>
    [[nodiscard]] static std::optional<T> oneOf(const std::map<QString, T> &words, const QJsonValue &value)
    {
        const auto at = words.find(value.toString());
        return at == words.end() ? std::nullopt : std::optional(at->second);
    }
    // "must be "…" or "…"".
    template <typename T>
    [[nodiscard]] static QString choices(const std::map<QString, T> &words)
    {
        QStringList all;
        for (const auto &[word, value] : words)
            all << QChar(u'"') + word + u'"';
        return QStringLiteral("must be ") + all.join(QStringLiteral(" or "));
    }
    // What a word of the file stands for; one that is missing changes nothing.
    template <typename T>
    void choose(const QString &field, const std::map<QString, T> &words, T &into)
    {
        if (const auto known = oneOf(words, m_json[field]))
            into = *known;
        else if (has(field))
            object(field, choices(words));
    }
    void flag(const QString &field, bool &into);
    // `says`: what its groups may be called; empty: anything.
    std::optional<RulePattern> pattern(const QString &field, const QStringList &says = {});

    const QJsonObject &m_json;
    QString m_at;
    std::vector<RuleProblem> &m_problems;
};

} // namespace lockscope::recipes
