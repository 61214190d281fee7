// SPDX-License-Identifier: Apache-2.0
#include "core/base/identifiers.h"

#include <QHostAddress>
#include <algorithm>
#include <array>

namespace lockscope {

namespace {
constexpr qsizetype hexLength = 32;

constexpr bool isHexDigit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Of a UUID's characters, large letters or small. Asked of each name of a folder, and more than once: one look each.
enum UuidPart : quint8 { NoPart, HexPart, DashPart };
constexpr auto uuidParts = [] {
    std::array<UuidPart, 256> all{};
    for (std::size_t c = 0; c < 128; ++c) {
        const bool isCapital = c >= 'A' && c <= 'F';
        all[c] = isCapital || isHexDigit(static_cast<char>(c)) ? HexPart : NoPart;
    }
    all['-'] = DashPart;
    return all;
}();
constexpr auto uuidShape = [] {
    std::array<UuidPart, uuidLength> all{};
    all.fill(HexPart);
    for (const auto dash : {8U, 13U, 18U, 23U})
        all[dash] = DashPart;
    return all;
}();
} // namespace

bool isHex(QByteArrayView text)
{
    return !text.isEmpty() && std::ranges::all_of(text, isHexDigit);
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

bool isUuid36(QByteArrayView text)
{
    if (text.size() != uuidLength)
        return false;
    const char *const bytes = text.data();
    for (std::size_t at = 0; at < uuidShape.size(); ++at) {
        if (uuidParts[static_cast<uchar>(bytes[at])] != uuidShape[at])
            return false;
    }
    return true;
}

bool isHex32(QByteArrayView text)
{
    return text.size() == hexLength && isHex(text);
}

bool holdsUuid(QByteArrayView text)
{
    qsizetype hexRun = 0;
    for (qsizetype at = 0; at < text.size(); ++at) {
        const char c = text[at];
        hexRun = isHexDigit(c) ? hexRun + 1 : 0;
        if (hexRun == hexLength)
            return true;
        const bool endsGroup = c == '-' && at >= 8 && at + (uuidLength - 8) <= text.size() && text[at + 5] == '-';
        if (endsGroup && isUuid36(text.sliced(at - 8, uuidLength)))
            return true;
    }
    return false;
}

using namespace Qt::StringLiterals;

QString plainHost(const QString &host)
{
    const bool isBracketed = host.startsWith(u'[') && host.endsWith(u']');
    auto plain = isBracketed ? host.mid(1, host.size() - 2) : host;
    if (!plain.contains(u':'))
        return plain;
    QHostAddress address(plain.section(u'%', 0, 0));
    if (address.isNull())
        return plain;
    bool isMapped = false;
    const QHostAddress inIpv4(address.toIPv4Address(&isMapped));
    return isMapped ? inIpv4.toString() : address.toString();
}

QString hostOfEndpoint(const QString &endpoint)
{
    const auto colon = endpoint.lastIndexOf(u':');
    const bool hasPort = colon >= 0 && colon > endpoint.lastIndexOf(u']');
    return plainHost(hasPort ? endpoint.left(colon) : endpoint);
}

bool isLoopbackHost(const QString &host)
{
    return host == "localhost"_L1 || QHostAddress(host).isLoopback();
}

} // namespace lockscope
