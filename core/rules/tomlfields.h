// SPDX-License-Identifier: Apache-2.0
// A TOML text as JSON would have it, and on which line each field stands.
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QString>

#include <map>
#include <variant>

namespace lockscope::recipes {

struct TomlFields {
    QJsonObject fields;           // what JSON has no word for, as a date, is null
    std::map<QString, int> lines; // by "rules[0].key", for lineOf()
};
struct TomlMistake {
    int line = 0;
    QString why;
};

[[nodiscard]] std::variant<TomlFields, TomlMistake> readToml(const QByteArray &text);

} // namespace lockscope::recipes
