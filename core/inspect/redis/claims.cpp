// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/recognise.h"

#include "core/base/text.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/naming.h"

namespace lockscope::inspect {

namespace {

constexpr std::size_t mostClaims = 20'000;
constexpr auto longestLeaseOfClaim = std::chrono::minutes(15);

// Of random letters and digits some are digits; of words, titles and names hardly ever.
bool isToken(const QByteArray &value, ServerTime now)
{
    return std::ranges::any_of(value, isDigit) && readToken({}, value, false, now).has_value();
}

// "web-7d9c|12", "web-7d9c:12", "12@web-7d9c" and Sidekiq's "web-7d9c:12:0123456789ab"; not "order:17",
// "10.0.0.7:6379" or an address of mail.
bool isProcess(const QByteArray &value)
{
    constexpr qsizetype longestHost = 64;
    const auto isHost = [](const QByteArray &text) {
        const auto isPart = [](char c) { return isAsciiLetter(c) || isDigit(c) || c == '-' || c == '.' || c == '_'; };
        const bool hasLetter = std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
        return hasLetter && text.size() <= longestHost && std::ranges::all_of(text, isPart)
               && (text.contains('-') || std::ranges::any_of(text, isDigit));
    };
    const auto at = value.indexOf('@');
    if (at > 0 && isDigits(value.left(at)))
        return !value.contains('.') && isHost(value.mid(at + 1));
    const auto end = std::max(value.lastIndexOf(':'), value.lastIndexOf('|'));
    constexpr qsizetype nonceOfSidekiq = 12;
    const auto last = value.mid(end + 1);
    if (end > 0 && last.size() == nonceOfSidekiq && isHex(last) && value.left(end).contains(':'))
        return isProcess(value.left(end));
    return end > 0 && isDigits(last) && isHost(value.left(end));
}

// "<host>:<process>:<uuid>", "<uuid>:<thread>"
bool holdsToken(const QByteArray &value)
{
    constexpr qsizetype longest = 128;
    const bool isPlain = std::ranges::all_of(
        value, [](char c) { return isAsciiLetter(c) || isDigit(c) || QByteArrayView("-_.:|@").contains(c); });
    const auto dot = value.lastIndexOf('.');
    const bool isFile = dot > 0 && value.size() - dot <= 5; // "<uuid>.webp"
    return value.size() <= longest && isPlain && !isFile && holdsUuid(value);
}

struct KnownKey {
    QByteArray part;              // of the name
    KeyType type = KeyType::None; // none: of any
    bool isNoLock = false;
};

const KnownKey *knownKeyOf(const KeyView &view)
{
    static const auto all = [] {
        std::vector<KnownKey> keys;
        readResourceList(u"rules/redis-known-keys.json"_s, "keys", [&keys](FieldReader &reader) {
            auto &key = keys.emplace_back(KnownKey{.part = reader.text("part").toUtf8()});
            if (reader.has("type"))
                reader.readWord("type", "none string hash list set sorted-set stream", key.type);
            reader.take("noLock", key.isNoLock);
        });
        return keys;
    }();
    // Behind a prefix that says lock it is what the lock is of: "lock:arq:job:42".
    const auto found = std::ranges::find_if(all, [&view](const KnownKey &known) {
        const auto at = view.key.bytes().indexOf(known.part);
        return (known.type == KeyType::None || known.type == view.type) && at >= 0
               && !callsItselfLock(view.key.bytes().left(at));
    });
    return found == all.end() ? nullptr : &*found;
}

bool isKnown(const KeyView &view)
{
    return isNoLockOfClient(view) || isSessionWithLock(view) || knownKeyOf(view);
}

bool areMembersClaims(const KeyView &view, ServerTime now)
{
    constexpr std::size_t mostFields = 8;
    const auto isClaim = [now](const QByteArray &text) { return looksLikeClaim(text, now); };
    const auto isMember = [&](const auto &member) { return isClaim(member.first); };
    const auto isValue = [&](const auto &field) { return isClaim(field.second); };
    if (!view.ttl || *view.ttl > longestLeaseOfClaim || !view.isWhole())
        return false;
    switch (view.type) {
    case KeyType::Hash:
        return !view.fields.empty() && view.fields.size() <= mostFields
               && (std::ranges::all_of(view.fields, isMember) || std::ranges::all_of(view.fields, isValue));
    case KeyType::Set: return !view.items.empty() && std::ranges::all_of(view.items, isClaim);
    case KeyType::SortedSet: return !view.scored.empty() && std::ranges::all_of(view.scored, isMember);
    default: return false;
    }
}

} // namespace

bool isObjectOfOwner(const QByteArray &value)
{
    constexpr qsizetype longest = 512;
    if (!value.startsWith('{') || value.size() > longest)
        return false;
    const auto says = [&value](const char *field) { return value.contains(QByteArray("\"") + field + '"'); };
    return says("lockedBy") || says("locked_by") || says("lockOwner") || says("lockId") || says("holder")
           || says("holderIdentity") || says("holderId") || says("leaderId")
           || (says("owner") && (says("token") || says("acquired_at") || says("acquiredAt") || says("expires_at")))
           || (says("pid") && (says("host") || says("hostname")));
}

bool isNoLockOfClient(const KeyView &view)
{
    const auto &name = view.key.bytes();
    const auto *known = knownKeyOf(view);
    return isMarkOfClient(name) || isNextcloudLock(name) || (known && known->isNoLock);
}

bool looksLikeClaim(const QByteArray &value, ServerTime now)
{
    if (value.isEmpty())
        return false;
    if (isToken(value, now) || isProcess(value) || holdsToken(value) || isObjectOfOwner(value))
        return true;
    const auto inner = unwrapped(value);
    return !inner.isEmpty() && (isToken(inner, now) || isProcess(inner) || holdsToken(inner));
}

bool looksLikeClaim(const KeyView &view, ServerTime now)
{
    const auto &name = view.key.bytes();
    if (view.type == KeyType::None || isKnown(view) || companionOf(view.key))
        return false;
    const bool isNamed = isCalledLock(view);
    const auto number = view.value ? readInteger(*view.value) : std::nullopt;
    if (isNamed && view.type == KeyType::String)
        return view.value && !(number && *number < 1); // a counter at rest
    if (view.type == KeyType::String) {
        const bool isLeader = saysElection(name) && view.ttl && *view.ttl <= longestLeaseOfClaim && !number;
        return view.value && !view.value->isEmpty() && !callsItselfSomethingElse(name)
               && (isLeader || looksLikeClaim(*view.value, now));
    }
    const bool hasLockField = // as huey's results have
        std::ranges::any_of(view.fields, [](const auto &field) { return callsItselfLock(field.first); });
    const bool isRead = !view.fields.empty() || view.membersRead() > 0;
    return hasLockField || (isNamed && isRead) || (!callsItselfSomethingElse(name) && areMembersClaims(view, now));
}

void Claims::note(const KeyView &view, bool isExplained, ServerTime now, int sweep)
{
    const auto &name = view.key.bytes();
    if (isExplained || !looksLikeClaim(view, now))
        m_sweeps.erase(name);
    else if (m_sweeps.size() < mostClaims || m_sweeps.contains(name))
        m_sweeps[name] = sweep;
}

void Claims::sweepEnds(int sweep)
{
    std::erase_if(m_sweeps, [sweep](const auto &one) { return one.second < sweep; });
    Ledger ledger;
    for (const auto &[name, met] : m_sweeps)
        ledger.add(name);
    const auto sample = u"of keys that neither say lock nor end soon, a sample of %1 was read"_s.arg(m_samples);
    const auto looked = m_samples == 0 ? QString() : clause(sample);
    m_groups = ledger.groups({u"1 key looks like a claim, and no rule says what it is"_s + looked,
                              u"%1 keys like %2 look like claims, and no rule says what they are"_s + looked});
}

} // namespace lockscope::inspect
