// SPDX-License-Identifier: Apache-2.0
// On which line each field of a rule file stands, which Qt's JSON and a TOML reader do not keep.
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QString>

#include <map>
#include <variant>

namespace lockscope::recipes {

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
