// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/redis/keyspace.h"

namespace lockscope::sim {

bool RedisSortedSet::put(const QByteArray &member, double score)
{
    if (const auto at = scores.find(member); at != scores.end() && at->second == score)
        return false; // 0 stays 0 when it becomes -0
    const bool isNew = !take(member);
    scores[member] = score;
    order.emplace(score, member);
    return isNew;
}

bool RedisSortedSet::take(const QByteArray &member)
{
    const auto at = scores.find(member);
    if (at == scores.end())
        return false;
    order.erase({at->second, at->first});
    scores.erase(at);
    return true;
}

const Keyspace::Entry *Keyspace::look(const QByteArray &key) const
{
    const auto at = m_entries.find(key);
    return at == m_entries.end() ? nullptr : &at->second;
}

RedisContent *Keyspace::change(const QByteArray &key)
{
    const auto at = m_entries.find(key);
    if (at == m_entries.end())
        return nullptr;
    remember(key);
    return &at->second.content;
}

RedisContent &Keyspace::put(const QByteArray &key, RedisContent content)
{
    remember(key);
    auto &entry = m_entries[key];
    forgetExpiry(key, entry);
    entry = {std::move(content), std::nullopt};
    return entry.content;
}

bool Keyspace::remove(const QByteArray &key)
{
    const auto at = m_entries.find(key);
    if (at == m_entries.end())
        return false;
    remember(key);
    forgetExpiry(key, at->second);
    m_entries.erase(at);
    return true;
}

void Keyspace::expireAt(const QByteArray &key, std::optional<Millis> when)
{
    remember(key);
    auto &entry = m_entries.at(key);
    forgetExpiry(key, entry);
    entry.expiresAt = when;
    if (when)
        m_expiring.emplace(*when, key);
}

void Keyspace::purge(Millis now)
{
    // A key lives through the whole millisecond at which it expires.
    while (!m_expiring.empty() && m_expiring.begin()->first < now) {
        const auto key = m_expiring.begin()->second; // a copy: the set's own goes away
        remove(key);
    }
}

void Keyspace::clear()
{
    for (const auto &key : keys())
        remove(key);
}

std::vector<QByteArray> Keyspace::keys() const
{
    std::vector<QByteArray> names;
    names.reserve(m_entries.size());
    for (const auto &[key, entry] : m_entries)
        names.push_back(key);
    return names;
}

void Keyspace::setMoment(Instant now)
{
    m_now = now;
    while (!m_changes.empty() && m_changes.front().at < now - m_memory)
        m_changes.pop_front();
}

void Keyspace::rewind(Instant moment)
{
    while (!m_changes.empty() && m_changes.back().at > moment) {
        const auto change = std::move(m_changes.back());
        m_changes.pop_back();
        if (const auto at = m_entries.find(change.key); at != m_entries.end()) {
            forgetExpiry(change.key, at->second);
            m_entries.erase(at);
        }
        if (!change.before)
            continue;
        m_entries[change.key] = *change.before;
        if (change.before->expiresAt)
            m_expiring.emplace(*change.before->expiresAt, change.key);
    }
}

void Keyspace::remember(const QByteArray &key)
{
    if (m_memory == Duration::zero())
        return;
    // Of one moment the first state is the one to come back to.
    if (!m_changes.empty() && m_changes.back().at == m_now && m_changes.back().key == key)
        return;
    const auto *entry = look(key);
    m_changes.push_back({m_now, key, entry ? std::optional(*entry) : std::nullopt});
}

void Keyspace::forgetExpiry(const QByteArray &key, const Entry &entry)
{
    if (entry.expiresAt)
        m_expiring.erase({*entry.expiresAt, key});
}

namespace {

bool isBetween(char least, char c, char most)
{
    // Values, not std::minmax's references to what is gone by the next line.
    const auto low = std::min(static_cast<uchar>(least), static_cast<uchar>(most));
    const auto high = std::max(static_cast<uchar>(least), static_cast<uchar>(most));
    return low <= static_cast<uchar>(c) && static_cast<uchar>(c) <= high;
}

// Whether `c` is in the class that begins after the bracket at `at`, which moves to the class's last character.
bool isInClass(QByteArrayView pattern, qsizetype &at, char c)
{
    ++at;
    const bool isNegated = at < pattern.size() && pattern[at] == '^';
    at += isNegated ? 1 : 0;
    bool found = false;
    for (; at < pattern.size() && pattern[at] != ']'; ++at) {
        if (pattern[at] == '\\' && at + 1 < pattern.size()) {
            found |= pattern[++at] == c;
        } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
            found |= isBetween(pattern[at], c, pattern[at + 2]);
            at += 2;
        } else {
            found |= pattern[at] == c;
        }
    }
    return found != isNegated;
}

} // namespace

bool matchesGlob(QByteArrayView pattern, QByteArrayView text)
{
    qsizetype at = 0, here = 0;
    for (; at < pattern.size(); ++at, ++here) {
        if (pattern[at] == '*') {
            const auto rest = pattern.sliced(at + 1);
            if (rest.isEmpty())
                return true;
            for (auto end = here; end <= text.size(); ++end) {
                if (matchesGlob(rest, text.sliced(end)))
                    return true;
            }
            return false;
        }
        if (here >= text.size())
            return false;
        bool matches = true;
        if (pattern[at] == '[') {
            matches = isInClass(pattern, at, text[here]);
        } else if (pattern[at] != '?') {
            if (pattern[at] == '\\' && at + 1 < pattern.size())
                ++at;
            matches = pattern[at] == text[here];
        }
        if (!matches)
            return false;
    }
    return here == text.size();
}

} // namespace lockscope::sim
