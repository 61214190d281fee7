// SPDX-License-Identifier: Apache-2.0
#include "core/rules/tomlfields.h"

#include <QJsonArray>

#include "core/base/tomllibrary.h"

namespace lockscope::recipes {

namespace {

using LinesOfFields = std::map<QString, int>;

QString textOfToml(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

int lineOfToml(const toml::source_region &where)
{
    return static_cast<int>(where.begin.line);
}

QJsonValue valueOf(const toml::node &node, const QString &path, LinesOfFields &lines);

QJsonObject objectOf(const toml::table &table, const QString &path, LinesOfFields &lines)
{
    QJsonObject object;
    for (const auto &[key, node] : table) {
        const auto name = textOfToml(key.str());
        const auto inner = path.isEmpty() ? name : path + u'.' + name;
        lines.try_emplace(inner, lineOfToml(key.source()));
        object.insert(name, valueOf(node, inner, lines));
    }
    return object;
}

QJsonValue valueOf(const toml::node &node, const QString &path, LinesOfFields &lines)
{
    if (const auto *table = node.as_table())
        return objectOf(*table, path, lines);
    if (const auto *array = node.as_array()) {
        QJsonArray all;
        for (const auto &one : *array) {
            const auto inner = path + u'[' + QString::number(all.size()) + u']';
            lines.try_emplace(inner, lineOfToml(one.source()));
            all.append(valueOf(one, inner, lines));
        }
        return all;
    }
    if (const auto *text = node.as_string())
        return textOfToml(text->get());
    if (const auto *number = node.as_integer())
        return static_cast<qint64>(number->get());
    if (const auto *number = node.as_floating_point())
        return number->get();
    if (const auto *flag = node.as_boolean())
        return flag->get();
    return QJsonValue::Null;
}

} // namespace

std::variant<TomlFields, TomlMistake> readToml(const QByteArray &text)
{
    const auto parsed = toml::parse(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    if (!parsed)
        return TomlMistake{lineOfToml(parsed.error().source()), textOfToml(parsed.error().description())};
    TomlFields read;
    read.lines.try_emplace(QString(), 1);
    read.fields = objectOf(parsed.table(), {}, read.lines);
    return read;
}

} // namespace lockscope::recipes
