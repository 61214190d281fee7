// SPDX-License-Identifier: Apache-2.0
#include "core/rules/jsonlines.h"

#include <algorithm>

namespace lockscope::recipes {

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
