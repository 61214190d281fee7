// SPDX-License-Identifier: Apache-2.0
// What the readers of a rule file's objects share. Any thread.
#pragma once

#include "core/rules/userrules.h"

#include <QByteArray>
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

// Rules of tables in a rule file (docs/rules.md): rows that are locks by their columns. Any thread.
class TableReader : public ObjectReader {
public:
    using ObjectReader::ObjectReader;
    TableRule read();

private:
    QByteArray column(const QString &field, const QJsonValue &value);
    RowTime time(const QString &field, const QString &of);
    void readLock();
    QByteArrayList values(const QString &field);
    void readFlag();
    void readTimes();
    void readWhy();

    TableRule m_rule;
};

// On which line each field of a rule file stands, which Qt's JSON and a TOML reader do not keep.

// A text as JSON would have it, and on which line each field stands.
struct FileFields {
    QJsonObject fields;           // of TOML, what JSON has no word for, as a date, is null
    std::map<QString, int> lines; // by "rules[0].key", for lineOf()
};
struct TomlMistake {
    int line = 0;
    QString why;
};

[[nodiscard]] std::variant<FileFields, TomlMistake> readToml(const QByteArray &text);

// "rules[0].key"; of a field that is missing the line of what it is missing in; 0 if that is not known.
[[nodiscard]] int lineOf(const std::map<QString, int> &lines, QString field);

// On which line each field of a JSON text stands, which QJsonDocument does not keep.
class JsonLines {
public:
    // A text that was read without an error.
    explicit JsonLines(const QByteArray &text);
    [[nodiscard]] const std::map<QString, int> &all() const { return m_lines; }

private:
    [[nodiscard]] char here() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    void step();
    void skipSpace();
    QString string();
    void value(const QString &path);
    void several(const QString &path, bool isObject);

    QByteArray m_text;
    qsizetype m_at = 0;
    int m_line = 1;
    std::map<QString, int> m_lines;
};

} // namespace lockscope::recipes
