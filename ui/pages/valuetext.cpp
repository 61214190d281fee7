// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/valuetext.h"

#include "core/base/text.h"

#include <QJsonDocument>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// A list nested a thousand deep would become a gigabyte of indentation.
constexpr qsizetype mostGrowth = 8;
constexpr qsizetype smallJson = 64 * 1024;

bool isPlain(char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\t';
}

// Tabs and line ends are harmless; everything else that escaped() touches is not.
QString escapedLine(const QByteArray &line)
{
    QString text;
    const auto parts = line.split('\t');
    for (qsizetype i = 0; i < parts.size(); ++i)
        text += (i > 0 ? u"\t"_s : QString()) + escaped(parts[i]);
    return text;
}

bool needsEscapes(const QByteArray &bytes)
{
    if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return isPlain(c) || c == '\n'; }))
        return false;
    QByteArray rest = bytes;
    // A backslash alone is no reason to double it.
    for (const char harmless : {'\n', '\t', '\\'})
        rest.replace(harmless, ' ');
    return escaped(rest).contains(u'\\');
}

void appendBroken(QString &out, const QString &line, bool &isBroken)
{
    for (qsizetype at = 0; at == 0 || at < line.size();) {
        qsizetype count = std::min(longestLine, line.size() - at);
        if (at + count < line.size() && line[at + count].isLowSurrogate())
            --count;
        if (at > 0)
            out += u'\n';
        out += QStringView(line).mid(at, count);
        at += std::max<qsizetype>(count, 1);
    }
    isBroken |= line.size() > longestLine;
}

} // namespace

ReadableText readableText(const QByteArray &bytes)
{
    ReadableText result;
    QByteArray unixLines = bytes;
    unixLines.replace("\r\n", "\n");
    result.isEscaped = needsEscapes(unixLines);
    const auto lines = unixLines.split('\n');
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (i > 0)
            result.text += u'\n';
        const QString line = result.isEscaped ? escapedLine(lines[i]) : QString::fromUtf8(lines[i]);
        appendBroken(result.text, line, result.isBroken);
    }
    return result;
}

std::optional<QString> prettyJson(const QByteArray &bytes)
{
    if (QJsonDocument::fromJson(bytes).isNull())
        return std::nullopt;
    QByteArray out;
    out.reserve(bytes.size() * 2);
    int depth = 0;
    bool isInString = false;
    const auto newLine = [&] { out += '\n' + QByteArray(2 * depth, ' '); };
    const auto nextSolid = [&](qsizetype at) {
        while (at < bytes.size() && QByteArrayView(" \t\r\n").contains(bytes[at]))
            ++at;
        return at;
    };
    for (qsizetype at = 0; at < bytes.size(); ++at) {
        const char c = bytes[at];
        if (out.size() > mostGrowth * bytes.size() + smallJson)
            return std::nullopt;
        if (isInString) {
            out += c;
            if (c == '\\')
                out += bytes[++at];
            isInString = c != '"';
            continue;
        }
        switch (c) {
        case ' ':
        case '\t':
        case '\r':
        case '\n':
            break;
        case '{':
        case '[': {
            out += c;
            const auto next = nextSolid(at + 1);
            if (bytes[next] == '}' || bytes[next] == ']') {
                out += bytes[next];
                at = next;
                break;
            }
            ++depth;
            newLine();
            break;
        }
        case '}':
        case ']':
            --depth;
            newLine();
            out += c;
            break;
        case ',':
            out += c;
            newLine();
            break;
        case ':':
            out += ": ";
            break;
        default:
            out += c;
            isInString = c == '"';
        }
    }
    return readableText(out).text;
}

QString hexDump(const QByteArray &bytes)
{
    constexpr qsizetype perLine = 16;
    static constexpr char digits[] = "0123456789abcdef";
    QByteArray out;
    out.reserve(bytes.size() / perLine * 79 + 80);
    for (qsizetype at = 0; at < bytes.size(); at += perLine) {
        if (at > 0)
            out += '\n';
        out += QByteArray::number(at, 16).rightJustified(8, '0') + ' ';
        const auto count = std::min(perLine, bytes.size() - at);
        for (qsizetype i = 0; i < perLine; ++i) {
            if (i % 8 == 0)
                out += ' ';
            const auto byte = i < count ? static_cast<uchar>(bytes[at + i]) : uchar(0);
            out += i < count ? digits[byte >> 4] : ' ';
            out += i < count ? digits[byte & 15] : ' ';
            out += ' ';
        }
        out += " |";
        for (qsizetype i = 0; i < count; ++i)
            out += bytes[at + i] != '\t' && isPlain(bytes[at + i]) ? bytes[at + i] : '.';
        out += '|';
    }
    return QString::fromLatin1(out);
}

ValueForm bestForm(const QByteArray &bytes)
{
    const QByteArray start = bytes.trimmed().left(1);
    if ((start == "{" || start == "[") && prettyJson(bytes))
        return ValueForm::Json;
    const QByteArray sample = bytes.left(1024);
    const auto odd = std::count_if(sample.begin(), sample.end(), [](char c) {
        return static_cast<uchar>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
    });
    const bool isText = QString::fromUtf8(sample).count(QChar::ReplacementCharacter) <= 1;
    return isText && odd * 20 <= sample.size() ? ValueForm::Text : ValueForm::Hex;
}

} // namespace lockscope::ui
