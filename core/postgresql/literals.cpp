// SPDX-License-Identifier: Apache-2.0
#include "core/postgresql/literals.h"

#include <QStringDecoder>

namespace lockscope::postgresql {

using namespace Qt::StringLiterals;

namespace {

bool canBeTold(const QByteArray &text)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    [[maybe_unused]] const QString decoded = decoder(text);
    return !decoder.hasError() && !text.contains('\0');
}

} // namespace

QByteArray quotedName(const QByteArray &name)
{
    QByteArray quoted = name;
    quoted.replace("\"", "\"\"");
    return '"' + quoted + '"';
}

QByteArray quotedText(const QByteArray &text)
{
    QByteArray quoted = text;
    quoted.replace("'", "''");
    if (!quoted.contains('\\'))
        return '\'' + quoted + '\'';
    // Whatever standard_conforming_strings says.
    quoted.replace("\\", "\\\\");
    return " E'" + quoted + '\'';
}

Result<QByteArray> withParameters(const mariadb::Statement &statement)
{
    bool isTellable = canBeTold(statement.text);
    for (const auto &parameter : statement.parameters)
        isTellable = isTellable && canBeTold(parameter);
    if (!isTellable)
        return Error{ErrorCode::BadInput, u"a PostgreSQL cannot be told what is not UTF-8, or has a zero byte"_s};
    QByteArray text;
    qsizetype next = 0;
    char quote = 0;
    for (const char byte : statement.text) {
        if (quote != 0)
            quote = byte == quote ? 0 : quote; // a doubled one closes and opens
        else if (byte == '"' || byte == '\'')
            quote = byte;
        if (quote != 0 || byte != '?') {
            text += byte;
            continue;
        }
        if (next == statement.parameters.size())
            return Error{ErrorCode::BadInput, u"a statement wants more parameters than it has"_s};
        text += quotedText(statement.parameters[next++]);
    }
    if (next != statement.parameters.size())
        return Error{ErrorCode::BadInput, u"a statement has more parameters than it wants"_s};
    return text;
}

} // namespace lockscope::postgresql
