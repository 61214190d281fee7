// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/userrulelocks.h"

#include "core/base/text.h"

#include <cmath>
#include <set>

namespace lockscope::inspect {

using recipes::RuleFit;
using recipes::RuleGroups;
using recipes::RulePart;
using recipes::RuleScore;
using recipes::RuleType;
using recipes::UserRule;
using std::chrono::milliseconds;

namespace {

constexpr qsizetype longestIdentity = 256;

using RuleParts = std::map<RulePart, QByteArray>;

KeyType keyTypeOf(RuleType type)
{
    return type == RuleType::String ? KeyType::String : type == RuleType::Hash ? KeyType::Hash : KeyType::SortedSet;
}

QString typeWord(KeyType type)
{
    static const QString words[] = {u"missing"_s, u"a string"_s,     u"a hash"_s,   u"a list"_s,
                                    u"a set"_s,   u"a sorted set"_s, u"a stream"_s, u"of a type of its own"_s};
    return words[static_cast<int>(type)];
}

Mode modeOfRule(recipes::RuleMode mode)
{
    constexpr Mode modes[] = {Mode::Exclusive, Mode::Read, Mode::Write, Mode::Permit};
    return modes[static_cast<int>(mode)];
}

RuleParts partsOf(const RuleGroups &groups)
{
    RuleParts parts;
    for (const auto &[name, part] : recipes::ruleParts()) {
        if (const auto at = groups.find(name.toLatin1()); at != groups.end())
            parts[part] = *at;
    }
    return parts;
}

// 10 digits of seconds, perhaps with a fraction, or 13 of milliseconds.
std::optional<ServerTime> momentOfNumber(double number)
{
    constexpr double leastSeconds = 1e9;
    constexpr double leastMilliseconds = 1e12;
    constexpr double mostMilliseconds = 1e14;
    if (!(number >= leastSeconds && number < mostMilliseconds))
        return std::nullopt;
    const double ms = number < leastMilliseconds ? number * 1000 : number;
    return ServerTime(milliseconds(std::llround(ms)));
}

std::optional<ServerTime> momentOfPart(const RuleParts &parts, RulePart part)
{
    const auto at = parts.find(part);
    bool ok = false;
    const double number = at == parts.end() ? 0 : at->second.toDouble(&ok);
    return ok ? momentOfNumber(number) : std::nullopt;
}

// What every rule's lock has.
LockSnapshot lockOfRule(const Case &about, const UserRule &rule, const QByteArray &recipe)
{
    auto lock =
        snapshotOf(about, recipe, nullptr, Confidence::High, u"by your rule \"%1\" (%2)"_s.arg(rule.name, rule.file));
    lock.client = rule.name;
    lock.byUserRule = true;
    return lock;
}

void fillContender(Contender &holder, const UserRule &rule, const RuleParts &parts)
{
    holder.role = Role::Holder;
    holder.mode = modeOfRule(rule.mode);
    if (const auto said = parts.find(RulePart::Mode); said != parts.end()) {
        if (const auto mode = rule.modes.find(said->second); mode != rule.modes.end())
            holder.mode = modeOfRule(*mode);
    }
    if (const auto who = parts.find(RulePart::Holder); who != parts.end() && !who->second.isEmpty())
        holder.identity = who->second.left(longestIdentity);
    if (const auto count = parts.find(RulePart::Count); count != parts.end()) {
        constexpr int most = 1'000'000;
        const int times = count->second.toInt();
        if (times > 1 && times <= most)
            holder.reentry = times;
    }
    if (const auto since = momentOfPart(parts, RulePart::Since))
        holder.heldSince = since;
    if (const auto until = momentOfPart(parts, RulePart::Until))
        holder.expiresAt = until;
}

bool isOver(const Contender &holder, const Case &about)
{
    return holder.expiresAt && *holder.expiresAt <= about.context.observed;
}

using Read = std::variant<LockSnapshot, QString>; // or why not

Read stringLock(const Case &about, const RuleFit &fit)
{
    const auto &rule = *fit.rule;
    if (!about.main.value)
        return u"its value could not be read"_s;
    const auto groups = rule.value->match(*about.main.value);
    if (!groups)
        return u"its value \"%1\" does not fit %2"_s.arg(label(*about.main.value, 80), rule.value->text());
    const auto parts = partsOf(*groups);
    const auto token = parts.find(RulePart::Token);
    const bool hasToken = token != parts.end() && !token->second.isEmpty();
    auto lock = lockOfRule(about, rule,
                           !rule.releasable ? "redis-rule"
                           : hasToken       ? "redis-set-nx"
                                            : "redis-setnx-expire");
    Contender holder = holderOf(about, *about.main.value);
    fillContender(holder, rule, parts);
    if (!hasToken)
        distinguishByExpiry(holder, about.main);
    else
        holder.id = token->second;
    if (!rule.releasable)
        holder.guard = Identity();
    if (isOver(holder, about))
        lock.why += clause(u"the time in its value is over"_s);
    else
        lock.contenders.push_back(std::move(holder));
    return lock;
}

QByteArray fieldOf(const KeyView &hash, const QByteArray &name)
{
    const auto at = std::ranges::find(hash.fields, name, [](const auto &field) { return field.first; });
    return at == hash.fields.end() ? QByteArray() : at->second;
}

Read hashLock(const Case &about, const RuleFit &fit)
{
    const auto &rule = *fit.rule;
    RuleParts parts;
    QStringList missing;
    for (const auto &[part, name] : rule.fields) {
        parts[part] = fieldOf(about.main, name);
        const bool isNeeded = part == RulePart::Holder || part == RulePart::Token;
        if (isNeeded && parts[part].isEmpty())
            missing << label(name, 80);
    }
    if (!missing.isEmpty())
        return u"the hash has no field %1, or an empty one"_s.arg(missing.join(u", "_s));
    auto lock = lockOfRule(about, rule, "redis-rule");
    Contender holder = holderOf(about, {});
    fillContender(holder, rule, parts);
    const auto token = parts.find(RulePart::Token);
    holder.id = token != parts.end() ? token->second : parts[RulePart::Holder];
    if (rule.releasable && token != parts.end())
        holder.guard = RedisIdentity{.value = token->second, .counterpart = rule.fields.at(RulePart::Token)};
    if (isOver(holder, about))
        lock.why += clause(u"the time in its field is over"_s);
    else
        lock.contenders.push_back(std::move(holder));
    return lock;
}

// A holder for each field of a hash, or member of a sorted set, that fits.
Read sharedLock(const Case &about, const RuleFit &fit)
{
    const auto &rule = *fit.rule;
    auto members = about.main.scored;
    for (const auto &[name, value] : about.main.fields)
        members.emplace_back(name, 0);
    auto lock = lockOfRule(about, rule, "redis-rule");
    int over = 0;
    int others = 0;
    std::set<QByteArray> ids;
    for (const auto &[name, score] : members) {
        const auto groups = rule.members->match(name);
        if (!groups) {
            ++others;
            continue;
        }
        const auto parts = partsOf(*groups);
        Contender holder;
        fillContender(holder, rule, parts);
        const auto token = parts.find(RulePart::Token);
        const bool hasToken = token != parts.end() && !token->second.isEmpty();
        holder.id = hasToken ? token->second : name;
        if (rule.releasable && hasToken)
            holder.guard = RedisIdentity{.value = name};
        if (rule.score == RuleScore::Until)
            holder.expiresAt = momentOfNumber(score);
        else if (!holder.expiresAt)
            holder.expiresAt = about.expiry(about.main);
        if (rule.score == RuleScore::Since)
            holder.heldSince = momentOfNumber(score);
        if (isOver(holder, about))
            ++over;
        else if (ids.insert(holder.id).second)
            lock.contenders.push_back(std::move(holder));
    }
    if (others == static_cast<int>(members.size()))
        return (members.size() == 1
                    ? u"its one member does not fit %1"_s.arg(rule.members->text())
                    : u"none of its %1 members fits %2"_s.arg(members.size()).arg(rule.members->text()));
    if (others > 0)
        lock.why += clause(others == 1 ? u"1 member does not fit it"_s : u"%1 members do not fit it"_s.arg(others));
    if (over > 0)
        lock.why += clause(u"the time of %1 more is over"_s.arg(over));
    return lock;
}

void addWaiter(LockSnapshot &lock, std::set<QByteArray> &ids, const QByteArray &name, std::optional<int> position,
               const UserRule &rule)
{
    const auto id = name.left(longestIdentity);
    if (id.isEmpty() || !ids.insert(id).second)
        return;
    lock.contenders.push_back({.id = id, .mode = modeOfRule(rule.mode), .position = position, .identity = id});
}

// In the order in which the client's list or sorted set has them; a hash has none.
void addWaiters(LockSnapshot &lock, const Case &about, const RuleFit &fit)
{
    lock.waitersKnown = false;
    if (fit.rule->waiters.isEmpty())
        return;
    lock.waitersKnown = true;
    const auto *queue = about.companion(fit.name(fit.rule->waiters));
    if (!queue)
        return;
    auto ids = mapped<std::set<QByteArray>>(lock.contenders, &Contender::id);
    int next = lock.holderCount();
    for (const auto &item : queue->items)
        addWaiter(lock, ids, item, next++, *fit.rule);
    for (const auto &[item, score] : queue->scored)
        addWaiter(lock, ids, item, next++, *fit.rule);
    for (const auto &[item, value] : queue->fields)
        addWaiter(lock, ids, item, {}, *fit.rule);
    lock.waitersKnown = queue->isWhole();
    if (!queue->items.empty() || !queue->scored.empty()) {
        int position = 0;
        for (auto &one : lock.contenders)
            one.position = one.role == Role::Holder ? std::optional(position++) : one.position;
    }
}

Read readByRule(const Case &about, const RuleFit &fit)
{
    const auto &rule = *fit.rule;
    if (keyTypeOf(rule.type) != about.main.type)
        return u"the key is %1, the rule's is %2"_s.arg(typeWord(about.main.type), typeWord(keyTypeOf(rule.type)));
    auto read = rule.type == RuleType::String ? stringLock(about, fit)
                : rule.members                ? sharedLock(about, fit)
                                              : hashLock(about, fit);
    auto *lock = std::get_if<LockSnapshot>(&read);
    if (!lock)
        return read;
    addWaiters(*lock, about, fit);
    for (const auto &companion : fit.rule->companions)
        lock->companions.push_back(fit.name(companion));
    if (!rule.waiters.isEmpty())
        lock->companions.push_back(fit.name(rule.waiters));
    const bool saysWhen = std::ranges::all_of(
        lock->contenders, [](const auto &one) { return one.role != Role::Holder || one.expiresAt; });
    if (rule.expires && !saysWhen)
        addNoTtl(*lock, about, Severity::Warning);
    judgeState(*lock);
    return read;
}

} // namespace

bool isOfUserRule(const RedisKey &key, KeyType type)
{
    const auto fits = recipes::rulesFitting(key.bytes());
    return std::ranges::any_of(fits, [type](const auto &fit) { return keyTypeOf(fit.rule->type) == type; })
           || (type == KeyType::String && recipes::isKeyOfTokenForm(key.bytes()));
}

bool isOfUserRuleUnlessHash(const RedisKey &key)
{
    const auto fits = recipes::rulesFitting(key.bytes());
    return std::ranges::any_of(fits, [](const auto &fit) { return keyTypeOf(fit.rule->type) != KeyType::Hash; })
           || recipes::isKeyOfTokenForm(key.bytes());
}

std::vector<RedisKey> companionsByUserRules(const KeyView &main)
{
    std::vector<RedisKey> keys;
    for (const auto &fit : recipes::rulesFitting(main.key.bytes())) {
        for (const auto &companion : fit.rule->companions)
            keys.emplace_back(fit.name(companion));
        if (!fit.rule->waiters.isEmpty())
            keys.emplace_back(fit.name(fit.rule->waiters));
    }
    std::erase(keys, main.key);
    return keys;
}

std::vector<RuleTrial> tryUserRules(const KeyView &main, const std::vector<KeyView> &companions,
                                    const RedisContext &context)
{
    std::vector<RuleTrial> trials;
    const Case about{main, companions, context};
    for (const auto &fit : recipes::rulesFitting(main.key.bytes())) {
        auto read = readByRule(about, fit);
        RuleTrial trial{.rule = fit.rule->name, .file = fit.rule->file, .key = main.key, .lock = {}, .misfit = {}};
        if (auto *lock = std::get_if<LockSnapshot>(&read))
            trial.lock = std::move(*lock);
        else
            trial.misfit = std::get<QString>(read);
        trials.push_back(std::move(trial));
    }
    return trials;
}

} // namespace lockscope::inspect
