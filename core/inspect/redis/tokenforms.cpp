// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/tokens.h"

#include "core/base/identifiers.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using std::chrono::milliseconds;

namespace {

bool isUpper(char c)
{
    return c >= 'A' && c <= 'Z';
}
bool isLower(char c)
{
    return c >= 'a' && c <= 'z';
}
bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}
bool isAlphanumeric(char c)
{
    return isUpper(c) || isLower(c) || isDigit(c);
}

// Random letters have both cases; words and host names hardly ever.
bool looksRandom(const QByteArray &text)
{
    return std::ranges::any_of(text, isUpper) && std::ranges::any_of(text, isLower);
}

bool consistsOf(const QByteArray &text, bool (*accepts)(char))
{
    return !text.isEmpty() && std::ranges::all_of(text, accepts);
}

bool isRandom(const QByteArray &text)
{
    return consistsOf(text, isAlphanumeric) && looksRandom(text);
}

bool isBase64(const QByteArray &text)
{
    return consistsOf(text, [](char c) { return isAlphanumeric(c) || c == '+' || c == '/'; });
}

bool isUrlSafe(const QByteArray &text)
{
    return consistsOf(text, [](char c) { return isAlphanumeric(c) || c == '-' || c == '_'; });
}

bool isUpperHex(const QByteArray &text)
{
    return consistsOf(text, [](char c) { return isDigit(c) || (c >= 'A' && c <= 'F'); });
}

Token tokenOf(const QString &client, const QString &why, Confidence confidence = Confidence::Medium)
{
    Token token;
    token.client = client;
    token.why = why;
    token.confidence = confidence;
    return token;
}

std::optional<Token> ofKnownKey(const QByteArray &key, const QByteArray &value, bool hasSignal)
{
    if (key.startsWith("redlock:") && isUuid36(value)) {
        Token token = tokenOf(u"pottery or RedLock.net"_s, u"a key redlock:… with a UUID in it"_s);
        token.keyProvesIt = true;
        return token;
    }
    const bool python = key.startsWith("lock:") && (hasSignal || (value.size() == 24 && isBase64(value)));
    if (!python)
        return std::nullopt;
    return tokenOf(u"python-redis-lock"_s,
                   hasSignal ? u"a key lock:… beside its lock-signal list"_s
                             : u"a key lock:… with 24 characters of base64"_s,
                   Confidence::High);
}

std::optional<Token> ofHex(const QByteArray &value, ServerTime now)
{
    if (!isHex32(value))
        return std::nullopt;
    if (const auto moment = momentInUuid(value, now)) {
        Token token = tokenOf(u"redis-py"_s, u"32 hex digits that are a time-based UUID"_s, Confidence::High);
        token.madeAt = moment;
        return token;
    }
    return tokenOf(u"node-redlock"_s, u"32 random hex digits, as node-redlock writes"_s);
}

// "<machine>_<process>_<hex32>"
std::optional<Token> ofDotNet(const QByteArray &value)
{
    const auto last = value.lastIndexOf('_');
    const auto before = last <= 0 ? -1 : value.lastIndexOf('_', last - 1);
    if (before <= 0 || !isHex32(value.mid(last + 1).toLower()) || !isDigits(value.mid(before + 1, last - before - 1)))
        return std::nullopt;
    Token token = tokenOf(u"DistributedLock (.NET)"_s, u"a value <machine>_<process>_<32 hex digits>"_s);
    token.identity = value.left(last).left(256);
    return token;
}

// Forms that need no more than a look at the value. None of them is another's.
struct TokenForm {
    const char16_t *client; // null: several write it
    const char16_t *why;
    bool (*fits)(const QByteArray &value);
};
constexpr TokenForm tokenForms[] = {
    {u"redsync", u"16 bytes in base64",
     [](const QByteArray &one) { return one.size() == 24 && one.endsWith("==") && isBase64(one.chopped(2)); }},
    {u"redlock-cpp", u"40 capital hex digits",
     [](const QByteArray &value) { return value.size() == 40 && isUpperHex(value); }},
    {nullptr, u"a UUID, as redlock-rb, Spring's lock registry and others write",
     [](const QByteArray &value) { return isUuid36(value); }},
    {u"redis-plus-plus", u"20 random letters and digits",
     [](const QByteArray &value) { return value.size() == 20 && isRandom(value); }},
    {u"Laravel", u"16 random letters and digits",
     [](const QByteArray &value) { return value.size() == 16 && isRandom(value); }},
    {u"bsm/redislock", u"16 bytes in URL-safe base64",
     [](const QByteArray &value) { return value.size() == 22 && isUrlSafe(value) && looksRandom(value); }},
};

} // namespace

std::optional<ServerTime> momentInUuid(const QByteArray &hex32, ServerTime now)
{
    if (!isHex32(hex32) || hex32[12] != '1')
        return std::nullopt;
    // time_low, time_mid, time_hi: 100 ns since 15 October 1582.
    const quint64 ticks = ((hex32.mid(12, 4).toULongLong(nullptr, 16) & 0x0fff) << 48)
                          | (hex32.mid(8, 4).toULongLong(nullptr, 16) << 32) | hex32.left(8).toULongLong(nullptr, 16);
    constexpr qint64 epochOffsetMs = 12219292800000;
    const ServerTime moment{milliseconds(static_cast<qint64>(ticks / 10000) - epochOffsetMs)};
    constexpr auto day = std::chrono::hours(24);
    if (moment > now + day || moment < now - 366 * day)
        return std::nullopt;
    return moment;
}

std::optional<Token> readToken(const QByteArray &key, const QByteArray &value, bool hasSignal, ServerTime now)
{
    if (auto known = ofKnownKey(key, value, hasSignal))
        return known;
    if (auto hex = ofHex(value, now))
        return hex;
    if (auto dotNet = ofDotNet(value))
        return dotNet;
    const auto form = std::ranges::find_if(tokenForms, [&value](const auto &one) { return one.fits(value); });
    if (form == std::end(tokenForms))
        return std::nullopt;
    Token token;
    if (form->client)
        token.client = QString::fromUtf16(form->client);
    token.why = QString::fromUtf16(form->why);
    return token;
}

} // namespace lockscope::inspect
