// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <limits>

namespace lockscope::fuzz {

using namespace Qt::StringLiterals;

namespace {

template <class List>
auto &oneOf(Random &random, List &list)
{
    return list[static_cast<decltype(list.size())>(random.below(static_cast<quint64>(list.size())))];
}

qsizetype upTo(Random &random, qsizetype most)
{
    return static_cast<qsizetype>(random.below(static_cast<quint64>(most) + 1));
}

// What has broken programs before.
const QByteArrayList &hostile()
{
    static const QByteArrayList all{QByteArray(1, '\0'),
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    " ",
                                    "\xff",
                                    "\x80",
                                    "\xc3",
                                    "\xed\xa0\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xe2\x80\xae",
                                    "\x1b[2J",
                                    "\\",
                                    "\\x",
                                    "\"",
                                    "'",
                                    "`",
                                    "%s%n",
                                    "%1",
                                    "/",
                                    "//",
                                    "/..",
                                    ":",
                                    ",",
                                    "=",
                                    "@",
                                    "#",
                                    "{",
                                    "}",
                                    "{{",
                                    "[",
                                    "]",
                                    "(",
                                    ")",
                                    "-",
                                    "--",
                                    "0x",
                                    "<b>",
                                    "&amp;"};
    return all;
}

const QByteArrayList &numbers()
{
    static const QByteArrayList all{"0",
                                    "-0",
                                    "1",
                                    "-1",
                                    "9",
                                    "10",
                                    "255",
                                    "256",
                                    "32767",
                                    "65535",
                                    "65536",
                                    "1000000",
                                    "2147483647",
                                    "2147483648",
                                    "-2147483648",
                                    "-2147483649",
                                    "4294967295",
                                    "4294967296",
                                    "9007199254740993",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "9223372036854775808",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "99999999999999999999999999999999",
                                    "1e308",
                                    "1e999",
                                    "-1e999",
                                    "0.0000001",
                                    "nan",
                                    "inf",
                                    "0x10",
                                    "007",
                                    "+5",
                                    " 5",
                                    "1763805600000"};
    return all;
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

void otherNumber(Random &random, QByteArray &bytes)
{
    const auto from = upTo(random, bytes.size());
    auto begin = from;
    while (begin < bytes.size() && !isDigit(bytes[begin]))
        ++begin;
    auto end = begin;
    while (end < bytes.size() && isDigit(bytes[end]))
        ++end;
    bytes.replace(begin, end - begin, oneOf(random, numbers()));
}

void spoilLine(Random &random, QByteArray &bytes, const QByteArray &other)
{
    auto lines = bytes.split('\n');
    const auto theirs = other.split('\n');
    const auto at = static_cast<qsizetype>(random.below(static_cast<quint64>(lines.size())));
    switch (random.below(6)) {
    case 0: lines.removeAt(at); break;
    case 1: lines.insert(at, oneOf(random, theirs)); break;
    case 2: lines.swapItemsAt(at, static_cast<qsizetype>(random.below(static_cast<quint64>(lines.size())))); break;
    case 3: lines[at] = oneOf(random, theirs); break;
    case 4: lines.insert(at, lines[at]); break;
    default: {
        const auto line = lines[at]; // very often: what grows with the square of it shows
        for (auto more = upTo(random, 60); more > 0; --more)
            lines.insert(at, line);
    }
    }
    bytes = lines.join('\n');
}

void spoilBytes(Random &random, const Parser &parser, QByteArray &bytes, const QByteArray &other)
{
    const auto at = upTo(random, bytes.size());
    const auto some = upTo(random, std::min<qsizetype>(bytes.size() - at, 32));
    switch (random.below(12)) {
    case 0:
        if (at < bytes.size())
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
    case 1: bytes.insert(at, random.bytes(upTo(random, 8))); break;
    case 2: bytes.remove(at, some); break;
    case 3: bytes.insert(at, oneOf(random, hostile())); break;
    case 4: bytes.replace(at, some, oneOf(random, hostile())); break;
    case 5: otherNumber(random, bytes); break;
    case 6: bytes.insert(at, oneOf(random, numbers())); break;
    case 7: bytes.insert(at, bytes.mid(upTo(random, bytes.size()), upTo(random, 64))); break;
    case 8: bytes.insert(at, bytes.mid(at, some).repeated(upTo(random, 200))); break;
    case 9: bytes = bytes.left(at) + other.mid(upTo(random, other.size())); break;
    case 10: bytes.truncate(at); break;
    default:
        if (!parser.words.isEmpty())
            bytes.replace(at, random.below(2) ? some : 0, oneOf(random, parser.words));
    }
}

QJsonValue anotherValue(Random &random, const Parser &parser, const QJsonValue &now)
{
    switch (random.below(12)) {
    case 0: return {};
    case 1: return random.below(2) == 1;
    case 2: return QString();
    case 3: return QString(upTo(random, 300), u'a');
    case 4: return QString::fromUtf8(oneOf(random, numbers()));
    case 5: return oneOf(random, numbers()).toDouble();
    case 6: return oneOf(random, numbers()).toLongLong();
    case 7: return QJsonArray{now};
    case 8: return QJsonObject{{u"a"_s, now}};
    case 9: return QString::fromUtf8(oneOf(random, hostile()));
    case 10: return QJsonArray();
    default: return parser.words.isEmpty() ? QJsonValue() : QString::fromUtf8(oneOf(random, parser.words));
    }
}

QJsonValue spoiltJson(Random &random, const Parser &parser, const QJsonValue &value, int depth);

QJsonArray spoiltList(Random &random, const Parser &parser, QJsonArray list, int depth)
{
    const auto at = upTo(random, list.size() - 1);
    switch (random.below(6)) {
    case 0: list.removeAt(at); break;
    case 1:
        for (auto more = upTo(random, 40); more > 0; --more)
            list.insert(at, list.at(at));
        break;
    default: list.replace(at, spoiltJson(random, parser, list.at(at), depth + 1));
    }
    return list;
}

QJsonObject spoiltObject(Random &random, const Parser &parser, QJsonObject object, int depth)
{
    if (object.isEmpty()) {
        object[u"x"_s] = anotherValue(random, parser, {});
        return object;
    }
    const auto keys = object.keys();
    const auto &key = oneOf(random, keys);
    switch (random.below(8)) {
    case 0: object.remove(key); break;
    case 1: object[oneOf(random, keys)] = object[key]; break;
    case 2:
        object[parser.words.isEmpty() ? u"x"_s : QString::fromUtf8(oneOf(random, parser.words))] = object[key];
        break;
    default: object[key] = spoiltJson(random, parser, object[key], depth + 1);
    }
    return object;
}

QJsonValue spoiltJson(Random &random, const Parser &parser, const QJsonValue &value, int depth)
{
    if (value.isArray() && !value.toArray().isEmpty() && random.below(8) != 0)
        return spoiltList(random, parser, value.toArray(), depth);
    if (value.isObject() && !value.toObject().isEmpty() && (depth == 0 || random.below(8) != 0))
        return spoiltObject(random, parser, value.toObject(), depth);
    if (value.isString() && random.below(2)) {
        auto text = value.toString().toUtf8();
        spoilBytes(random, parser, text, text);
        return QString::fromUtf8(text);
    }
    return anotherValue(random, parser, value);
}

} // namespace

QByteArray spoilt(Random &random, const Parser &parser, QByteArray input, const QByteArray &other)
{
    for (auto times = quint64(1) << random.below(5); times > 0; --times) {
        const auto document =
            parser.form == Form::Json && random.below(8) != 0 ? QJsonDocument::fromJson(input) : QJsonDocument();
        if (document.isObject())
            input = QJsonDocument(spoiltObject(random, parser, document.object(), 0)).toJson(QJsonDocument::Compact);
        else if (parser.form == Form::Lines && random.below(3) == 0)
            spoilLine(random, input, other);
        else
            spoilBytes(random, parser, input, other);
        input.truncate(parser.longest);
    }
    return input;
}

} // namespace lockscope::fuzz
