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

bool hasDigit(const QByteArray &text)
{
    return std::ranges::any_of(text, isDigit);
}

bool isCountedUuid(const QByteArray &value)
{
    return value.size() > uuidLength + 1 && value[uuidLength] == ':' && isUuid36(value.left(uuidLength))
           && isDigits(value.mid(uuidLength + 1));
}

// 20 bytes that are no text: of so many random ones some are beyond ASCII, and not in the order UTF-8 has them.
bool isBinaryToken(const QByteArray &value)
{
    constexpr qsizetype rslockBytes = 20;
    return value.size() == rslockBytes && !value.isValidUtf8();
}

// 22 characters of URL-safe base64, then what is none: bsm/redislock puts its metadata right behind its token.
bool hasTokenBeforeMetadata(const QByteArray &value)
{
    constexpr qsizetype tokenLength = 22;
    constexpr qsizetype longest = 512;
    const auto token = value.left(tokenLength);
    return value.size() > tokenLength && value.size() <= longest && isUrlSafe(token) && looksRandom(token)
           && hasDigit(token) && !isUrlSafe(value.mid(tokenLength, 1)) && value[tokenLength] != '.'
           && value[tokenLength] != '=' && value[tokenLength] != '+' && value[tokenLength] != '/';
}

bool isUpperHex(const QByteArray &text)
{
    return consistsOf(text, [](char c) { return isDigit(c) || (c >= 'A' && c <= 'F'); });
}

Token tokenOf(const KnownClient &client, const QString &why, Confidence confidence = Confidence::Medium)
{
    Token token;
    token.client = &client;
    token.why = why;
    token.confidence = confidence;
    return token;
}

// "<uuid>" or "<uuid>:<number>" in "<prefix>:<queue>:<job>:lock".
std::optional<Token> ofBull(const QByteArray &key, const QByteArray &value)
{
    constexpr qsizetype leastColons = 3;
    if (!key.endsWith(":lock") || key.count(':') < leastColons || !isUuid36(value.left(uuidLength)))
        return std::nullopt;
    const bool counts = isCountedUuid(value);
    if (!counts && (value.size() != uuidLength || !key.startsWith("bull:")))
        return std::nullopt;
    Token token =
        counts ? tokenOf(clients::bullMq, u"a key <queue>:<job>:lock with <uuid>:<number> in it"_s, Confidence::High)
               : tokenOf(clients::bull, u"a key bull:<queue>:<job>:lock with a UUID in it"_s);
    token.isProof = true;
    return token;
}

std::optional<Token> ofKnownKey(const QByteArray &key, const QByteArray &value)
{
    if (key.startsWith("redlock:") && isUuid36(value)) {
        Token token = tokenOf(clients::pottery, u"a key redlock:… with a UUID in it"_s);
        token.isProof = true;
        return token;
    }
    if (!key.startsWith("lock:") || value.size() != 24 || !isBase64(value))
        return ofBull(key, value);
    Token token = tokenOf(clients::pythonRedisLock, u"a key lock:… with 24 characters of base64"_s, Confidence::High);
    token.isProof = true;
    return token;
}

// With a name of its user's choice python-redis-lock's value may be anything; a UUID is as likely another's, beside
// a wake-up that we left.
std::optional<Token> ofSignal(const QByteArray &key, const QByteArray &value)
{
    if (!key.startsWith("lock:") || isUuid36(value))
        return std::nullopt;
    Token token = tokenOf(clients::pythonRedisLock, u"a key lock:… beside its lock-signal list"_s, Confidence::High);
    token.isProof = true;
    return token;
}

std::optional<Token> ofHex(const QByteArray &value, ServerTime now)
{
    if (!isHex32(value))
        return std::nullopt;
    if (const auto moment = momentInUuid(value, now)) {
        Token token = tokenOf(clients::redisPy, u"32 hex digits that are a time-based UUID"_s, Confidence::High);
        token.madeAt = moment;
        token.isProof = true;
        return token;
    }
    return tokenOf(clients::nodeRedlock, u"32 random hex digits, as node-redlock writes"_s);
}

// "<machine>_<process>_<hex32>"
std::optional<Token> ofDotNet(const QByteArray &value)
{
    const auto last = value.lastIndexOf('_');
    const auto before = last <= 0 ? -1 : value.lastIndexOf('_', last - 1);
    if (before <= 0 || !isHex32(value.mid(last + 1).toLower()) || !isDigits(value.mid(before + 1, last - before - 1)))
        return std::nullopt;
    Token token = tokenOf(clients::dotNet, u"a value <machine>_<process>_<32 hex digits>"_s);
    token.identity = value.left(last).left(256);
    token.isProof = true;
    return token;
}

// Forms that need no more than a look at the value. None of them is another's.
struct TokenForm {
    const KnownClient *client; // null: several write it
    const char16_t *why;
    bool (*fits)(const QByteArray &value);
};
constexpr TokenForm tokenForms[] = {
    {&clients::redsync, u"16 bytes in base64",
     [](const QByteArray &one) { return one.size() == 24 && one.endsWith("==") && isBase64(one.chopped(2)); }},
    {&clients::redlockCpp, u"40 capital hex digits",
     [](const QByteArray &value) { return value.size() == 40 && isUpperHex(value); }},
    {nullptr, u"a UUID, as redlock-rb, Spring's lock registry and others write",
     [](const QByteArray &value) { return isUuid36(value); }},
    {nullptr, u"a UUID and a number", isCountedUuid},
    {&clients::redisPlusPlus, u"20 random letters and digits",
     [](const QByteArray &value) { return value.size() == 20 && isRandom(value); }},
    {nullptr, u"16 random letters and digits, as Laravel, go-zero and others write",
     [](const QByteArray &value) { return value.size() == 16 && isRandom(value); }},
    {nullptr, u"32 random letters and digits",
     [](const QByteArray &value) { return value.size() == 32 && isRandom(value) && hasDigit(value); }},
    {&clients::rslock, u"20 random bytes", isBinaryToken},
    {&clients::bsmRedislock, u"16 bytes in URL-safe base64",
     [](const QByteArray &value) { return value.size() == 22 && isUrlSafe(value) && looksRandom(value); }},
    {&clients::bsmRedislock, u"16 bytes in URL-safe base64, and its metadata", hasTokenBeforeMetadata},
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
    if (auto known = ofKnownKey(key, value))
        return known;
    auto hex = ofHex(value, now);
    if (hex && hex->isProof)
        return hex;
    if (auto dotNet = ofDotNet(value))
        return dotNet;
    if (auto signal = hasSignal ? ofSignal(key, value) : std::nullopt)
        return signal;
    if (hex)
        return hex;
    const auto form = std::ranges::find_if(tokenForms, [&value](const auto &one) { return one.fits(value); });
    if (form == std::end(tokenForms))
        return std::nullopt;
    Token token;
    token.client = form->client;
    if (!form->client && key.startsWith("laravel"))
        token.client = &clients::laravel;
    token.why = QString::fromUtf16(form->why);
    return token;
}

} // namespace lockscope::inspect
