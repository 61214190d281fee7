// SPDX-License-Identifier: Apache-2.0
// Locks that are one string set with NX: whose client it is shows in the form of the token.
#include "core/inspect/redis/userrulelocks.h"

#include "core/base/text.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/naming.h"

#include <QDateTime>

namespace lockscope::inspect {

using recipes::TokenForm;
using std::chrono::milliseconds;

namespace {

std::optional<LockSnapshot> setNx(const Case &about, const Token &token, Confidence confidence)
{
    LockSnapshot lock = snapshotOf(about, "redis-set-nx", nullptr, confidence, token.why);
    lock.byUserRule = !token.file.isEmpty();
    if (!token.client.isEmpty())
        lock.client = token.client;
    lock.clientTraits = token.traits;
    if (!token.isByUser() && isOfLaravelsScheduler(about.name()))
        attribute(lock, knownClient("laravel-scheduler"));
    lock.waitersKnown = false; // they poll
    Contender holder = holderOf(about, *about.main.value);
    holder.identity = token.identity;
    if (!holder.heldSince && token.madeAt) {
        holder.heldSince = token.madeAt; // made when it began to try
        holder.heldAtMost = true;
    }
    // "<uuid>:<moment in ms>" in a key that stays, as jedis-lock writes it: it says itself until when it is held.
    const auto colon = about.main.value->lastIndexOf(':');
    const auto said = colon < 0 ? std::nullopt : momentIn(about.main.value->mid(colon + 1), about.context.observed);
    const bool saysUntilWhen = !about.main.ttl && said && *said > about.context.observed;
    if (saysUntilWhen)
        holder.expiresAt = said;
    lock.contenders.push_back(std::move(holder));
    // The form of a value alone is too little for an alarm.
    if (!saysUntilWhen && (confidence != Confidence::Low || saysLock(about.name())))
        addNoTtl(lock, about);
    judgeState(lock);
    return lock;
}

// What a random token in a key that is not called a lock does as a lock does; empty if nothing.
QString evidenceOf(const Case &about)
{
    const auto seen = about.behaviour();
    if (callsItselfSomethingElse(about.name()) || isOfCache(about.name()))
        return {};
    if (seen.handedOver)
        return u"another token was there before"_s;
    if (seen.renewed)
        return u"it is kept alive while its token stays"_s;
    // A key that many compete for has a name that they know.
    constexpr auto leaseOfALock = std::chrono::seconds(60 + 2); // idle times are told in seconds
    const bool endsSoon = about.main.ttl && std::max(*about.main.ttl, seen.lifetime) <= leaseOfALock;
    return endsSoon && !isNamedAtRandom(about.name()) ? u"it ends within a minute"_s : QString();
}

// Its waiters in pub/sub mode listen on the registry's channel: then one key is enough.
std::optional<LockSnapshot> springLock(const Case &about)
{
    if (!isUuid36(*about.main.value))
        return std::nullopt;
    for (const auto &channel : recipes::signalsOf(about.name()).channels) {
        if (about.subscribers(channel).value_or(0) == 0)
            continue;
        Token token;
        token.client = knownClient("spring-integration").name;
        token.traits = knownClient("spring-integration").traits;
        token.why = u"a UUID, and %1 has subscribers, as Spring's lock registry leaves it"_s.arg(label(channel, 80));
        return setNx(about, token, Confidence::High);
    }
    return std::nullopt;
}

struct Found {
    std::optional<Token> token;
    bool isPacked = false;
};

Found tokenIn(const Case &about)
{
    if (!about.main.value)
        return {};
    const bool signal =
        about.companion(recipes::signalsOf(about.name()).list) != nullptr || about.behaviour().signalled;
    auto token = readToken(about.name(), *about.main.value, signal, about.context.observed);
    const auto inner = token ? QByteArray() : unwrapped(*about.main.value);
    if (inner.isEmpty())
        return {std::move(token), false};
    token = readToken(about.name(), inner, signal, about.context.observed);
    if (token) {
        token->why += clause(u"its client's serializer packed it"_s);
        token->identity = token->identity.value_or(inner);
    }
    return {std::move(token), true};
}

constexpr qsizetype longestTokenIdentity = 256;

// The client of that name that behaves in a way of its own, if it is one.
ClientTraits traitsOf(const QString &client)
{
    const auto writer = std::ranges::find_if(
        knownClients(), [&client](const KnownClient &one) { return one.writesTokens && one.name == client; });
    return writer == knownClients().end() ? ClientTraits() : writer->traits;
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

std::optional<LockSnapshot> shedLockKey(const Case &about)
{
    // job-lock:<environment>:<name>, "ADDED:<instant>@<host>", later with ":<uuid>" behind it.
    static const QByteArray added = "ADDED:";
    if (!about.main.value || !about.name().startsWith("job-lock:") || !about.main.value->startsWith(added))
        return std::nullopt;
    Token token;
    token.client = knownClient("shed-lock").name;
    token.traits = knownClient("shed-lock").traits;
    token.why = u"a key job-lock:… with a value ADDED:…"_s;
    const auto at = about.main.value->indexOf('@');
    if (at > 0)
        token.identity = about.main.value->mid(at + 1).left(256);
    auto lock = setNx(about, token, Confidence::High);
    const QString instant = QString::fromLatin1(about.main.value->mid(added.size(), at - added.size()));
    const auto since = QDateTime::fromString(instant.left(19) + u'Z', Qt::ISODate);
    if (at > 0 && since.isValid())
        lock->contenders[0].heldSince = ServerTime(std::chrono::milliseconds(since.toMSecsSinceEpoch()));
    return lock;
}

std::optional<LockSnapshot> tokenLock(const Case &about)
{
    const auto [token, isPacked] = tokenIn(about);
    // What a cache packs is as likely its content.
    if (!token || (isPacked && !isCalledLock(about.main)))
        return std::nullopt;
    if (auto spring = token->isByUser() ? std::nullopt : springLock(about))
        return spring;
    if (token->isProof || isCalledLock(about.main))
        return setNx(about, *token, token->confidence);
    if (const auto evidence = evidenceOf(about); !evidence.isEmpty()) {
        auto lock = setNx(about, *token, Confidence::Medium);
        lock->why += clause(evidence);
        return lock;
    }
    if (!about.context.includeLowConfidence)
        return std::nullopt;
    auto lock = setNx(about, *token, Confidence::Low);
    lock->why += clause(u"nothing else says that it is a lock"_s);
    return lock;
}

std::optional<RuleTrial> tryUserTokenForms(const KeyView &main, const std::vector<KeyView> &companions,
                                           const RedisContext &context)
{
    if (recipes::userRulesGeneration() == 0)
        return std::nullopt;
    const Case about{main, companions, context};
    const auto token = tokenIn(about).token;
    if (!token || !token->isByUser())
        return std::nullopt;
    return RuleTrial{token->form, token->file, main.key, setNx(about, *token, token->confidence), {}};
}

QByteArray unwrapped(const QByteArray &value)
{
    const auto quoted = value.indexOf('"');
    const auto length = QByteArray::number(value.size() - quoted - 3);
    if (value.endsWith("\";") && value.left(quoted) == "s:" + length + ':')
        return value.mid(quoted + 1).chopped(2);
    if (quoted == 0 && value.size() > 2 && value.endsWith('"'))
        return value.mid(1).chopped(1);
    constexpr qsizetype leastToken = 16;
    constexpr qsizetype mostWrapping = 40;
    const auto isPart = [](char c) { return isAsciiLetter(c) || isDigit(c) || QByteArrayView("+/=_-").contains(c); };
    const bool isText = std::ranges::all_of(value, [](char c) { return c >= ' ' && c < 0x7f; });
    if (isText || value.size() > 2 * mostWrapping)
        return {};
    qsizetype longest = 0;
    qsizetype at = 0;
    for (qsizetype from = 0; from < value.size(); ++from) {
        const auto end = std::find_if_not(value.begin() + from, value.end(), isPart) - value.begin();
        if (end - from > longest) {
            longest = end - from;
            at = from;
        }
        from = end;
    }
    return longest >= leastToken && value.size() - longest <= mostWrapping ? value.mid(at, longest) : QByteArray();
}

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
