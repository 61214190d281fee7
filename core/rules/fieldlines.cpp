// SPDX-License-Identifier: Apache-2.0
#include "core/rules/fieldlines.h"

#include <QJsonArray>

#include "core/base/tomllibrary.h"

#include <algorithm>

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

std::variant<FileFields, TomlMistake> readToml(const QByteArray &text)
{
    const auto parsed = toml::parse(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    if (!parsed)
        return TomlMistake{lineOfToml(parsed.error().source()), textOfToml(parsed.error().description())};
    FileFields read;
    read.lines.try_emplace(QString(), 1);
    read.fields = objectOf(parsed.table(), {}, read.lines);
    return read;
}

JsonLines::JsonLines(const QByteArray &text) : m_text(text)
{
    value({});
}

int lineOf(const std::map<QString, int> &lines, QString field)
{
    for (;;) {
        if (const auto at = lines.find(field); at != lines.end())
            return at->second;
        const auto dot = std::max(field.lastIndexOf(u'.'), field.lastIndexOf(u'['));
        if (dot <= 0)
            return 0;
        field.truncate(dot);
    }
}

void JsonLines::step()
{
    m_line += here() == '\n' ? 1 : 0;
    ++m_at;
}

void JsonLines::skipSpace()
{
    while (m_at < m_text.size() && QByteArrayView(" \t\r\n").contains(here()))
        step();
}

QString JsonLines::string()
{
    const auto begin = m_at + 1;
    for (step(); m_at < m_text.size() && here() != '"'; step()) {
        if (here() == '\\')
            step();
    }
    step();
    return QString::fromUtf8(m_text.mid(begin, m_at - begin - 1));
}

// Any depth is one that the parser took.
void JsonLines::value(const QString &path)
{
    skipSpace();
    m_lines.try_emplace(path, m_line);
    if (here() == '{' || here() == '[')
        several(path, here() == '{');
    else if (here() == '"')
        string();
    else
        while (m_at < m_text.size() && !QByteArrayView(",]} \t\r\n").contains(here()))
            step();
}

void JsonLines::several(const QString &path, bool isObject)
{
    int index = 0;
    step();
    for (;;) {
        skipSpace();
        if (m_at >= m_text.size() || here() == '}' || here() == ']') {
            step();
            return;
        }
        if (here() == ',') {
            step();
            continue;
        }
        QString inner = path + u'[' + QString::number(index++) + u']';
        if (isObject) {
            const int line = m_line;
            const auto key = string();
            inner = path.isEmpty() ? key : path + u'.' + key;
            m_lines.try_emplace(inner, line);
            skipSpace();
            step(); // the colon
        }
        value(inner);
    }
}

} // namespace lockscope::recipes
