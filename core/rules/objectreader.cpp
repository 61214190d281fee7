// SPDX-License-Identifier: Apache-2.0
#include "core/rules/objectreader.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

void ObjectReader::checkFields(const QStringList &known)
{
    for (const auto &field : m_json.keys()) {
        if (!known.contains(field))
            object(field, u"is not known here; what is: %1"_s.arg(known.join(u", "_s)));
    }
}

QString ObjectReader::text(const QString &field)
{
    const auto value = m_json[field];
    if (has(field) && !value.isString())
        object(field, u"must be a text"_s);
    return value.toString();
}

void ObjectReader::flag(const QString &field, bool &into)
{
    into = m_json[field].toBool();
    if (has(field) && !m_json[field].isBool())
        object(field, u"must be true or false"_s);
}

std::optional<RulePattern> ObjectReader::pattern(const QString &field, const QStringList &says)
{
    auto read = RulePattern::read(text(field));
    if (const auto *why = std::get_if<QString>(&read)) {
        if (!has(field) || m_json[field].isString())
            object(field, has(field) ? *why : u"is missing: "_s + *why);
        return std::nullopt;
    }
    auto found = std::get<RulePattern>(std::move(read));
    for (const auto &group : says.isEmpty() ? QByteArrayList() : found.groups()) {
        if (const auto named = QString::fromLatin1(group); !says.contains(named))
            object(field, u"the group \"%1\" says nothing; what does: %2"_s.arg(named, says.join(u", "_s)));
    }
    return found;
}

} // namespace lockscope::recipes
