// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <QStringDecoder>
#include <QStringList>

#include <algorithm>
#include <limits>

namespace lockscope {

namespace {

bool isControl(char32_t c)
{
    // C0, DEL, C1, and the marks that reorder or hide text in a terminal or a label.
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e)
           || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xfeff;
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

} // namespace lockscope
