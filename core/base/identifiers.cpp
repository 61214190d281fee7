// SPDX-License-Identifier: Apache-2.0
#include "core/base/identifiers.h"

#include <algorithm>

namespace lockscope {

namespace {
constexpr qsizetype hexLength = 32;
} // namespace

bool isHex(const QByteArray &text)
{
    return !text.isEmpty()
           && std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool isDigits(const QByteArray &text)
{
    return !text.isEmpty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool isSqlWord(const QByteArray &text)
{
    return !text.isEmpty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
    });
}

bool isUuid36(const QByteArray &text)
{
    if (text.size() != uuidLength || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
        return false;
    return isHex(QByteArray(text).remove(23, 1).remove(18, 1).remove(13, 1).remove(8, 1).toLower());
}

bool isHex32(const QByteArray &text)
{
    return text.size() == hexLength && isHex(text);
}

bool holdsUuid(const QByteArray &text)
{
    qsizetype hexRun = 0;
    for (qsizetype at = 0; at < text.size(); ++at) {
        const char c = text[at];
        hexRun = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ? hexRun + 1 : 0;
        if (hexRun == hexLength)
            return true;
        const bool endsGroup = c == '-' && at >= 8 && at + (uuidLength - 8) <= text.size() && text[at + 5] == '-';
        if (endsGroup && isUuid36(text.mid(at - 8, uuidLength)))
            return true;
    }
    return false;
}

} // namespace lockscope
