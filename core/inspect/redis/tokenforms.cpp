// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/tokens.h"

#include "core/base/identifiers.h"
#include "core/rules/userrules.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::TokenForm;
using std::chrono::milliseconds;

namespace {

constexpr qsizetype longestTokenIdentity = 256;

// The client of that name that behaves in a way of its own, if it is one.
ClientTraits traitsOf(const QString &client)
{
    static constexpr const KnownClient *writers[] = {
        &clients::redisPy,      &clients::pythonRedisLock, &clients::nodeRedlock,
        &clients::redsync,      &clients::bullMq,          &clients::bull,
        &clients::pottery,      &clients::dotNet,          &clients::laravel,
        &clients::redlockCpp,   &clients::rslock,          &clients::redisPlusPlus,
        &clients::bsmRedislock, &clients::celerySingleton};
    for (const auto *writer : writers) {
        if (client == QStringView(writer->name))
            return writer->traits;
    }
    return {};
}

struct Written {
    const QByteArray &key;
    QString value; // a character for each byte
    bool hasSignal;
    ServerTime now;
};

std::optional<Token> tokenBy(const TokenForm &form, const Written &written)
{
    if (form.besideWakeUps && !written.hasSignal)
        return std::nullopt;
    const auto groups = form.value->matchCharacters(written.value);
    if (!groups || (form.key && !form.key->match(written.key)))
        return std::nullopt;
    Token token;
    if (const auto uuid = groups->find("uuid1"); uuid != groups->end()) {
        token.madeAt = momentInUuid(*uuid, written.now);
        if (!token.madeAt)
            return std::nullopt;
    }
    if (const auto holder = groups->find("holder"); holder != groups->end())
        token.identity = holder->left(longestTokenIdentity);
    token.client = form.client;
    token.traits = traitsOf(form.client);
    token.why = form.file.isEmpty() ? form.why : u"by your form of tokens (%1): %2"_s.arg(form.file, form.why);
    token.confidence = form.isSure ? Confidence::High : Confidence::Medium;
    token.isProof = form.isProof;
    if (!form.file.isEmpty()) {
        token.form = form.name();
        token.file = form.file;
    }
    return token;
}

std::optional<Token> tokenByAny(const std::vector<TokenForm> &forms, const Written &written)
{
    for (const auto &form : forms) {
        if (auto token = tokenBy(form, written))
            return token;
    }
    return std::nullopt;
}

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
    const Written written{key, QString::fromLatin1(value), hasSignal, now};
    if (recipes::userRulesGeneration() != 0) {
        const auto rules = recipes::userRules();
        if (auto token = tokenByAny(rules->tokens, written))
            return token;
    }
    return tokenByAny(recipes::builtInTokenForms(), written);
}

} // namespace lockscope::inspect
