// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observerseen.h"

#include "core/base/duration.h"
#include "core/inspect/findings.h"
#include "core/inspect/redis/tokens.h"
#include "core/rules/contenderid.h"

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace lockscope::inspect {

namespace {

// PTTL and TIME are cut to milliseconds and lie a round trip apart.
constexpr auto sameMoment = 50ms;

// Who holds the key, as far as its value says; not how often or for how long. A value that is no token may be
// the next holder's as well: another expiry is taken for another hold.
QByteArray fingerprint(const KeyView &main, ServerTime now)
{
    if (main.type == KeyType::String) {
        const auto value = main.value.value_or(QByteArray());
        const bool isToken = readToken(main.key.bytes(), value, false, now).has_value();
        return isToken || !main.expiresAt
                   ? value
                   : recipes::constantContenderId(value, main.expiresAt->time_since_epoch().count());
    }
    QByteArray names;
    for (const auto &[name, value] : main.fields)
        names += QByteArray::number(name.size()) + ':' + name;
    return names;
}

void takeEarlier(std::optional<ServerTime> &newer, const std::optional<ServerTime> &older)
{
    if (older && (!newer || *older < *newer))
        newer = older;
}

} // namespace

void SeenSince::note(const KeyView &main, ServerTime now, bool complete)
{
    if (main.type == KeyType::None) {
        m_seen.erase(main.key);
        return;
    }
    auto what = fingerprint(main, now);
    const auto at = m_seen.find(main.key);
    if (at == m_seen.end())
        m_seen[main.key] = {std::move(what), now, complete};
    else if (at->second.what != what)
        at->second = {std::move(what), now, true};
}

std::optional<ServerTime> SeenSince::cameAt(const RedisKey &key) const
{
    const auto at = m_seen.find(key);
    return at == m_seen.end() || !at->second.witnessed ? std::nullopt : std::optional(at->second.since);
}

std::optional<ServerTime> SeenSince::heldAtLeastSince(const RedisKey &key) const
{
    const auto at = m_seen.find(key);
    return at == m_seen.end() ? std::nullopt : std::optional(at->second.since);
}

void steady(LockSnapshot &newer, const LockSnapshot &older)
{
    // Whose client it is may have followed from other locks beside it.
    const bool sameHolder = !newer.contenders.empty() && !older.contenders.empty()
                            && newer.contenders.front().id == older.contenders.front().id;
    if (!newer.client && older.client && sameHolder && newer.recipe == older.recipe) {
        newer.client = older.client;
        newer.confidence = older.confidence;
        newer.why = older.why;
    }
    for (auto &contender : newer.contenders) {
        const auto *before = older.find(contender.id);
        if (before == nullptr || before->role != contender.role)
            continue;
        if (contender.expiresAt && before->expiresAt
            && std::chrono::abs(*contender.expiresAt - *before->expiresAt) <= sameMoment)
            contender.expiresAt = before->expiresAt;
        takeEarlier(contender.heldSince, before->heldSince);
        takeEarlier(contender.waitingSince, before->waitingSince);
    }
}

std::optional<ServerTime> addLongHeld(LockSnapshot &lock, std::optional<ServerTime> seenSince, ServerTime now,
                                      std::chrono::milliseconds threshold)
{
    std::optional<ServerTime> next;
    std::vector<QByteArray> holders;
    for (const auto &contender : lock.contenders) {
        const auto since = contender.heldSince ? contender.heldSince : seenSince;
        if (contender.role != Role::Holder || !since)
            continue;
        const auto due = *since + threshold;
        if (due <= now)
            holders.push_back(contender.id);
        else if (!next || due < *next)
            next = due;
    }
    if (!holders.empty())
        addFinding(lock, FindingCode::LongHeld, Severity::Info,
                   u"held for longer than "_s + spokenDuration(threshold), std::move(holders));
    return next;
}

} // namespace lockscope::inspect
