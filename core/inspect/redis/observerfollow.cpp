// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observer.h"

#include "core/rules/catalogue.h"

namespace lockscope::inspect {

namespace {

using redis::Command;

// The server walks all prefixes of all clients on every write.
constexpr size_t prefixesAtMost = 64;
// A family that changes more often is heard of lock by lock. All the prefixes together are then no more than we want
// to hear.
constexpr qint64 loudFamilyPerSecond = 45;
constexpr size_t familiesAtMost = 4096;
// What the names of locks begin with at clients that choose it (docs/layouts.md).
const QByteArrayList lockFamilies{
    "lock:", "locks:", "lock-signal:", "redisson_", "redlock:", "mutex:", "semaphore:", "job-lock:", "laravel_"};

const auto trackingTopic = u"tracking"_s;
const auto eventsTopic = u"keyspace events"_s;
// As patterns: PUBSUB NUMSUB, by which waiters are counted, does not count who listens so.
const QByteArrayList releaseChannels{"redisson_lock__channel:", "redisson_rwlock:"};

// Whether notify-keyspace-events says that we would hear of everything a lock can go through.
bool coversLocks(const QByteArray &flags, char channelKind)
{
    if (!flags.contains(channelKind))
        return false;
    if (flags.contains('A'))
        return true;
    // Generic (DEL, EXPIRE), strings, hashes, lists, sorted sets, expired, evicted.
    const QByteArrayView needed("g$hlzxe");
    return std::all_of(needed.begin(), needed.end(), [&](char flag) { return flags.contains(flag); });
}

} // namespace

std::vector<QByteArray> prefixesOf(std::vector<RedisKey> keys)
{
    std::sort(keys.begin(), keys.end());
    std::vector<QByteArray> prefixes;
    for (const auto &key : keys) {
        // Sorted, so a key that is covered comes right after what covers it.
        if (prefixes.empty() || !key.bytes().startsWith(prefixes.back()))
            prefixes.push_back(key.bytes());
    }
    return prefixes;
}

QByteArray familyOf(const QByteArray &key)
{
    static const QByteArrayView separators(":/-._");
    for (auto at = key.size() - 1; at > 0; --at) {
        if (separators.contains(key[at - 1]))
            return key.left(at);
    }
    return {};
}

bool Follower::isQuiet(const QByteArray &family)
{
    qint64 heard = 0;
    for (auto at = m_lastHeardOf.lower_bound(family); at != m_lastHeardOf.end() && at->first.startsWith(family); ++at)
        heard += at->second;
    if (heard > loudFamilyPerSecond)
        m_loudFamilies.insert(family);
    return !m_loudFamilies.contains(family);
}

std::vector<QByteArray> Follower::prefixesFor(const std::vector<RedisKey> &keys)
{
    std::vector<RedisKey> wanted;
    m_hearsFamilies = false;
    const auto add = [&](const QByteArray &family) {
        wanted.push_back(RedisKey(family));
        m_hearsFamilies = true;
    };
    for (const auto &key : keys) {
        const auto family = familyOf(key.bytes());
        if (!family.isEmpty() && isQuiet(family))
            add(family);
        else
            wanted.push_back(key);
    }
    for (const auto &family : lockFamilies) {
        if (isQuiet(family))
            add(family);
    }
    return prefixesOf(std::move(wanted));
}

Task<Result<Follower::Mode>> Follower::setUp()
{
    m_mode = Mode::NotYet;
    m_loudFamilies.clear();
    m_prefixes.clear();
    m_refusals.forget(trackingTopic);
    m_refusals.forget(eventsTopic);
    m_releases.clear();
    m_askedForReleases = false;
    CO_TRY(auto &tracking, co_await tryTracking());
    if (tracking) {
        m_mode = Mode::Tracking;
        co_return m_mode;
    }
    CO_TRY(auto &events, co_await tryKeyspaceEvents());
    m_mode = events ? Mode::KeyspaceEvents : Mode::Polling;
    co_return m_mode;
}

Task<Result<bool>> Follower::tryTracking()
{
    m_subscription = m_connection.subscribe(
        "__redis__:invalidate", [this](const redis::Message &message) { heard(message, RedisKey(message.payload)); });
    const auto deadline = Deadline::after(m_connection.loop(), redisAnswersWithin);
    auto id = co_await m_connection.subscriberId(deadline);
    if (!id) {
        // A broken connection is tried again by the observer; a refusal stays one.
        if (id.error().code != ErrorCode::NoPermission && id.error().code != ErrorCode::Unsupported)
            co_return id.error();
        m_refusals.note(trackingTopic, u"client tracking refused: %1"_s.arg(id.error().message));
        m_subscription = {};
        co_return false;
    }
    m_subscriberId = QByteArray::number(*id);
    // Off first: prefixes of a narrower tracking would be refused as overlapping.
    auto asking = m_reader.ask(Command{"CLIENT", "TRACKING", "OFF"},
                               Command{"CLIENT", "TRACKING", "ON", "REDIRECT", m_subscriberId, "BCAST"});
    CO_TRY(auto &got, co_await asking);
    const auto &answer = got.back();
    if (!answer.isError())
        co_return true;
    m_refusals.note(trackingTopic, u"client tracking refused: %1"_s.arg(label(answer.text)));
    m_subscription = {};
    co_return false;
}

Task<Result<bool>> Follower::tryKeyspaceEvents()
{
    auto asking = m_reader.ask(Command{"CONFIG", "GET", "notify-keyspace-events"});
    CO_TRY(auto &got, co_await asking);
    const auto &answer = got.front();
    if (answer.isError() || answer.items.size() != 2) {
        m_refusals.note(eventsTopic, u"keyspace events unknown, CONFIG refused: %1"_s.arg(label(answer.text)));
        co_return false;
    }
    const auto &flags = answer.items[1].text;
    if (coversLocks(flags, 'E')) {
        m_subscription = m_connection.subscribePattern(
            "__keyevent@*__:*", [this](const redis::Message &m) { heard(m, RedisKey(m.payload)); });
    } else if (coversLocks(flags, 'K')) {
        m_subscription = m_connection.subscribePattern("__keyspace@*__:*", [this](const redis::Message &m) {
            heard(m, RedisKey(m.channel.mid(m.channel.indexOf("__:") + 3)));
        });
    } else {
        m_refusals.note(eventsTopic, u"keyspace events are off"_s);
        co_return false;
    }
    const auto deadline = Deadline::after(m_connection.loop(), redisAnswersWithin);
    auto confirmed = co_await m_connection.subscriberId(deadline);
    // Withholding the id is no matter here: the subscription stands.
    if (confirmed || confirmed.error().code == ErrorCode::Unsupported)
        co_return true;
    if (confirmed.error().code != ErrorCode::NoPermission)
        co_return confirmed.error();
    m_refusals.note(eventsTopic, u"keyspace events refused: %1"_s.arg(confirmed.error().message));
    m_subscription = {};
    co_return false;
}

bool Follower::shouldHearReleases(const QByteArray &recipe) const
{
    return tellsOfNewKeys() && !m_askedForReleases
           && recipes::recipeOf(recipe).release == recipes::ReleaseMechanism::RedissonUnlock;
}

Task<void> Follower::hearReleases()
{
    m_askedForReleases = true;
    for (const auto &channels : releaseChannels) {
        auto listening = m_connection.subscribePattern(
            channels + '*', [this](const redis::Message &message) { heardRelease(message); });
        const auto deadline = Deadline::after(m_connection.loop(), redisAnswersWithin);
        const auto confirmed = co_await m_connection.subscriberId(deadline);
        // What is refused must not stand in the way of the next that is asked for.
        if (confirmed || confirmed.error().code != ErrorCode::NoPermission)
            m_releases.push_back(std::move(listening));
    }
}

Task<Result<Follower::Mode>> Follower::narrowTo(std::vector<RedisKey> keys)
{
    const auto prefixes = prefixesFor(keys);
    if (m_mode == Mode::NarrowTracking && prefixes == m_prefixes)
        co_return m_mode;
    Command on{"CLIENT", "TRACKING", "ON", "REDIRECT", m_subscriberId, "BCAST"};
    for (const auto &prefix : prefixes)
        on << "PREFIX" << prefix;
    std::vector<Command> commands;
    commands.push_back(Command{"CLIENT", "TRACKING", "OFF"});
    const bool tooMany = prefixes.empty() || prefixes.size() > prefixesAtMost;
    if (!tooMany)
        commands.push_back(on);
    CO_TRY(auto &got, co_await m_reader.send(std::move(commands)));
    m_prefixes = prefixes;
    m_releases.clear();
    m_mode = tooMany || got.back().isError() ? Mode::Polling : Mode::NarrowTracking;
    m_refusals.note(u"new locks"_s,
                    u"the server changes too much to follow every key: SCAN finds a new lock with an unusual name, "
                    u"and misses one that is deleted before"_s);
    co_return m_mode;
}

QString Follower::how(std::chrono::milliseconds pollEvery) const
{
    switch (m_mode) {
    case Mode::Tracking: return u"client tracking"_s;
    case Mode::NarrowTracking: return u"client tracking of known locks and names like theirs, others by SCAN"_s;
    case Mode::KeyspaceEvents: return u"keyspace events"_s;
    case Mode::NotYet:
    case Mode::Polling: break;
    }
    return u"polling every %1 ms"_s.arg(pollEvery.count());
}

void Follower::heard(const redis::Message &message, const RedisKey &key)
{
    ++m_heard;
    const auto family = familyOf(key.bytes());
    if (const auto known = m_heardOf.find(family); known != m_heardOf.end())
        ++known->second;
    else if (m_heardOf.size() < familiesAtMost)
        m_heardOf.emplace(family, 1);
    if (message.payload.isEmpty() && message.pattern.isEmpty())
        m_callbacks.everythingMayHaveChanged();
    else
        m_callbacks.changed(key);
}

void Follower::heardRelease(const redis::Message &message)
{
    ++m_heard;
    const auto slot = message.channel.mid(message.channel.indexOf(':') + 1);
    const bool isInBraces = slot.startsWith('{') && slot.endsWith('}');
    const auto inside = slot.mid(1, slot.size() - 2);
    // A fair lock tells the first of its waiters, on a channel of its own: it is never who had it that takes it then.
    for (const auto &lock : {isInBraces ? inside : QByteArray(), slot}) {
        const redis::RedissonKeys keys(lock);
        if (!lock.isEmpty() && (keys.channel() == message.channel || keys.readWriteChannel() == message.channel))
            m_callbacks.released(RedisKey(lock));
    }
}

} // namespace lockscope::inspect
