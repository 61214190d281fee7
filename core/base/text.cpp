// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <QDateTime>
#include <QHostAddress>
#include <QRegularExpression>
#include <QStringDecoder>
#include <QTimeZone>

#include <array>
#include <cmath>
#include <limits>

namespace lockscope {

namespace {

bool isControl(char32_t c)
{
    // C0, DEL, C1, and the marks that reorder or hide text in a terminal or a label, tags among them.
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x180e || (c >= 0x200b && c <= 0x200f)
           || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff
           || (c >= 0xe0000 && c <= 0xe007f);
}

void appendHex(QString &out, const char *from, qsizetype count)
{
    for (qsizetype i = 0; i < count; ++i)
        out += QStringLiteral("\\x%1")
                   .arg(static_cast<uchar>(from[i]), 2, 16, QLatin1Char('0'))
                   .toUpper()
                   .replace(QLatin1Char('X'), QLatin1Char('x'));
}

// The length of the valid UTF-8 sequence at `from`, 0 if there is none.
qsizetype sequenceLength(const char *from, qsizetype left, char32_t *code)
{
    const auto lead = static_cast<uchar>(from[0]);
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    const qsizetype length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < length)
        return 0;
    char32_t value = lead & (0xff >> (length + 1));
    for (qsizetype i = 1; i < length; ++i) {
        const auto next = static_cast<uchar>(from[i]);
        if ((next & 0xc0) != 0x80)
            return 0;
        value = (value << 6) | (next & 0x3f);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    if (overlong || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length;
}

} // namespace

QString escaped(const QByteArray &bytes)
{
    // Nearly every name is plain.
    const bool isPlain =
        std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; });
    if (isPlain)
        return QString::fromLatin1(bytes);
    QString out;
    out.reserve(bytes.size());
    for (qsizetype at = 0; at < bytes.size();) {
        char32_t code = 0;
        const auto length = sequenceLength(bytes.constData() + at, bytes.size() - at, &code);
        if (length == 0 || isControl(code))
            appendHex(out, bytes.constData() + at, std::max<qsizetype>(length, 1));
        else if (code == U'\\')
            out += QStringLiteral("\\\\");
        else
            out += QString::fromUcs4(&code, 1);
        at += std::max<qsizetype>(length, 1);
    }
    return out;
}

std::optional<QByteArray> unescaped(const QString &text)
{
    const QByteArray in = text.toUtf8();
    QByteArray out;
    out.reserve(in.size());
    for (qsizetype at = 0; at < in.size(); ++at) {
        if (in[at] != '\\') {
            out += in[at];
            continue;
        }
        if (in.mid(at, 2) == "\\\\") {
            out += '\\';
            ++at;
            continue;
        }
        bool isHex = false;
        const auto value = in.mid(at + 2, 2).toUInt(&isHex, 16);
        if (in.mid(at, 2) != "\\x" || in.size() < at + 4 || !isHex)
            return std::nullopt;
        out += static_cast<char>(value);
        at += 3;
    }
    return out;
}

QString label(const QByteArray &bytes, int most)
{
    // A label needs at most `most` characters; do not escape a megabyte for them.
    QString text = escaped(bytes.left(static_cast<qsizetype>(most) * 4));
    if (text.size() > most) {
        text.truncate(most - 1);
        if (!text.isEmpty() && text.back().isHighSurrogate()) // half a character
            text.chop(1);
        text += QChar(0x2026);
    }
    return text;
}

QString harmless(const QString &sentence, int most)
{
    auto text = label(sentence.toUtf8(), most);
    return text.replace(QStringLiteral("\\\\"), QStringLiteral("\\"));
}

QString harmlessLine(QString message)
{
    constexpr int longestMessage = 16'000;
    return harmless(message.replace(QLatin1Char('\n'), QLatin1Char(' ')), longestMessage);
}

QString harmlessLines(const QString &text)
{
    QStringList lines;
    for (const auto &line : text.split(QLatin1Char('\n')))
        lines << harmless(line, std::numeric_limits<int>::max());
    return lines.join(QLatin1Char('\n'));
}

std::chrono::milliseconds millisecondsOf(double milliseconds)
{
    constexpr double most = 10'000 * 365.25 * 86'400'000;
    if (std::isnan(milliseconds))
        return std::chrono::milliseconds(0);
    return std::chrono::milliseconds(std::llround(std::clamp(milliseconds, -most, most)));
}

Result<std::chrono::milliseconds> parseDuration(const QString &text)
{
    static const QRegularExpression form(u"^([0-9]{1,10})(ms|s|m|h|d)$"_s);
    const auto match = form.match(text);
    if (!match.hasMatch())
        return Error{ErrorCode::BadInput, u"\"%1\" is not a duration; write 500ms, 30s or 2m"_s.arg(text)};
    const auto number = match.captured(1).toLongLong();
    const auto unit = match.captured(2);
    const long long factor = unit == "ms"_L1  ? 1
                             : unit == "s"_L1 ? 1000
                             : unit == "m"_L1 ? 60'000
                             : unit == "h"_L1 ? 3'600'000
                                              : 86'400'000;
    return std::chrono::milliseconds(number * factor);
}

QString formatDuration(std::chrono::milliseconds span)
{
    const long long ms = std::max<long long>(0, span.count());
    const long long seconds = ms / 1000;
    const auto twoDigits = [](long long n) { return u"%1"_s.arg(n, 2, 10, QLatin1Char('0')); };
    if (ms < 1000)
        return u"%1 ms"_s.arg(ms);
    if (seconds < 10)
        return u"%1.%2 s"_s.arg(seconds).arg(ms % 1000 / 100);
    if (seconds < 60)
        return u"%1 s"_s.arg(seconds);
    if (seconds < 3600)
        return u"%1 m %2 s"_s.arg(seconds / 60).arg(twoDigits(seconds % 60));
    if (seconds < 86400)
        return u"%1 h %2 m"_s.arg(seconds / 3600).arg(twoDigits(seconds % 3600 / 60));
    if (seconds < 3 * 86400)
        return u"%1 d %2 h"_s.arg(seconds / 86400).arg(seconds % 86400 / 3600);
    return u"%1 d"_s.arg(seconds / 86400);
}

namespace {

// Before Qt 6.5 a time in the zone UTC is not yet one in UTC: it would be written with an offset. From 6.8 on a
// warning goes with the word for UTC that does without.
QDateTime inUtc(std::chrono::milliseconds sinceEpoch)
{
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count(), QTimeZone::utc()).toUTC();
}

} // namespace

QString isoTime(std::chrono::milliseconds sinceEpoch)
{
    return inUtc(sinceEpoch).toString(Qt::ISODateWithMs);
}

QString isoSeconds(std::chrono::seconds sinceEpoch)
{
    return inUtc(sinceEpoch).toString(Qt::ISODate);
}

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
