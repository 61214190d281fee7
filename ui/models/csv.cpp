// SPDX-License-Identifier: Apache-2.0
#include "ui/models/csv.h"

#include <QRegularExpression>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// Also the wide forms, which some spreadsheets take for the narrow ones; and what a cell may be trimmed of.
bool beginsLikeFormula(const QString &field)
{
    static const QRegularExpression formula(u"^\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20|%]|^[\\t\\r\\n]"_s);
    static const QRegularExpression number(u"^[+-]?[0-9]+([.][0-9]+)?$"_s);
    return formula.match(field).hasMatch() && !number.match(field).hasMatch();
}

QString fieldOf(QString field)
{
    if (beginsLikeFormula(field))
        field.prepend(u'\'');
    static const QRegularExpression special(u"[\",;\\t\\r\\n]|^\\s|\\s$"_s);
    if (!special.match(field).hasMatch())
        return field;
    return u'"' + field.replace(u'"', u"\"\""_s) + u'"';
}

} // namespace

QByteArray csvRow(const QStringList &fields)
{
    QStringList safe;
    for (const auto &field : fields)
        safe << fieldOf(field);
    return safe.join(u',').toUtf8() + "\r\n";
}

} // namespace lockscope::ui
