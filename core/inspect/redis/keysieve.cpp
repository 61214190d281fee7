// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/keysweeper.h"

namespace lockscope::inspect {

namespace {

constexpr std::size_t kindsAtMost = 512;
constexpr std::size_t endingAtMost = 50'000;
constexpr qint64 firstOfKind = 32;
constexpr qint64 thenOneOf = 64;
constexpr int samplesOfKind = 4;
constexpr int samplesOfOthers = 64;
constexpr Duration filledEvery = 3ms; // a page's names and hashes take a server a third of that
constexpr Duration::rep mostAtOnce = 16;

// How a name begins and ends, as far as these are words: "user:17:profile" and "user:18:profile" are made alike. A
// collision makes one kind of two, which costs questions and loses nothing.
quint64 kindNumber(const QByteArray &name)
{
    qsizetype head = 0;
    while (head < name.size() && isAsciiLetter(name[head]))
        ++head;
    auto tail = name.size();
    while (tail > head && isAsciiLetter(name[tail - 1]))
        --tail;
    if (tail > head && isDigit(name[tail - 1])) // the end of a number in hexadecimal digits
        tail = name.size();
    const char *const bytes = name.constData();
    quint64 number = 0xcbf29ce484222325; // FNV-1a: they are short
    const auto add = [&number](char c) { number = (number ^ static_cast<uchar>(c)) * 0x100000001b3; };
    for (qsizetype at = 0; at < head; ++at)
        add(bytes[at]);
    add('\0');
    for (auto at = tail; at < name.size(); ++at)
        add(bytes[at]);
    return number;
}

} // namespace

void KeySieve::begin(qint64 keys, std::optional<qint64> counted)
{
    m_ending.clear();
    m_isOverfull = false;
    m_passedOver = 0;
    m_others.passedOver = 0;
    for (auto &[number, kind] : m_kinds)
        kind.passedOver = 0;
    // Where most of them end there is nothing to be saved.
    m_round = counted && *counted <= keys / 2 ? Round::Samples : Round::All;
    m_takesSamples = true;
}

KeySieve::Kind &KeySieve::kindOf(const QByteArray &name)
{
    const auto number = kindNumber(name);
    const auto at = m_kinds.find(number);
    if (at != m_kinds.end())
        return at->second;
    return m_kinds.size() < kindsAtMost ? m_kinds[number] : m_others;
}

bool KeySieve::isDue(const QByteArray &name)
{
    if (m_round == Round::All && !m_takesSamples)
        return true;
    auto &kind = kindOf(name);
    m_asked = m_takesSamples ? &kind : nullptr;
    if (m_round == Round::All || kind.ends)
        return true;
    ++kind.met;
    if (m_round == Round::Samples && (kind.answered < firstOfKind || kind.met % thenOneOf == 0))
        return true;
    ++kind.passedOver;
    ++m_passedOver;
    return false;
}

bool KeySieve::isSample()
{
    if (!m_asked || m_asked->samples >= (m_asked == &m_others ? samplesOfOthers : samplesOfKind))
        return false;
    ++m_asked->samples;
    return true;
}

void KeySieve::learn(const QByteArray &name, bool ends)
{
    if (m_round == Round::All)
        return;
    auto &kind = kindOf(name);
    ++kind.answered;
    if (!ends)
        return;
    kind.ends = true;
    if (m_ending.size() < endingAtMost)
        m_ending.insert(name);
    else
        m_isOverfull = m_isOverfull || !m_ending.contains(name);
}

bool KeySieve::goOn(std::optional<qint64> counted, qint64 stillThere)
{
    if (m_round == Round::All || m_passedOver == 0)
        return false;
    if (counted && !m_isOverfull && *counted <= stillThere)
        return false;
    const auto isHalfAsked = [](const Kind &kind) { return kind.ends && kind.passedOver > 0; };
    const bool helps = isHalfAsked(m_others)
                       || std::ranges::any_of(m_kinds, [&](const auto &one) { return isHalfAsked(one.second); });
    m_round = m_round == Round::Samples && counted && !m_isOverfull && helps ? Round::Ending : Round::All;
    m_passedOver = 0;
    m_takesSamples = false;
    m_asked = nullptr;
    return true;
}

std::optional<qint64> endingKeysIn(const QByteArray &info, qint64 keys)
{
    if (!info.contains("# Keyspace"))
        return std::nullopt;
    qint64 all = 0;
    std::vector<qint64> ofThatSize;
    for (const auto &line : info.split('\n')) {
        if (!line.startsWith("db"))
            continue;
        std::optional<qint64> size;
        std::optional<qint64> ending;
        for (const auto &field : line.trimmed().mid(line.indexOf(':') + 1).split(',')) {
            bool ok = false;
            const auto number = field.mid(field.indexOf('=') + 1).toLongLong(&ok);
            if (ok && field.startsWith("keys="))
                size = number;
            if (ok && field.startsWith("expires="))
                ending = number;
        }
        constexpr qint64 mostKeys = 1'000'000'000'000;
        if (!size || !ending || *ending < 0 || *ending > *size || *size > mostKeys)
            return std::nullopt;
        all += *ending;
        if (*size == keys)
            ofThatSize.push_back(*ending);
    }
    return ofThatSize.size() == 1 ? ofThatSize.front() : all;
}

bool saysThatNoHashIs(const QByteArray &info)
{
    const auto nodes = std::max<qsizetype>(1, info.count("# Node "));
    // What names strings as we know it would name hashes so, too.
    return info.count("# Keysizes") >= nodes && info.contains("_distrib_strings_sizes:")
           && !info.contains("_distrib_hashes");
}

std::size_t KeyReader::lineFactor() const
{
    return static_cast<std::size_t>(std::clamp<Duration::rep>(roundTrip() / filledEvery, 1, mostAtOnce));
}

Task<Result<KeyReader::Times>> KeyReader::timesToLive(std::vector<RedisKey> keys, Asking asking)
{
    Times times(keys.size());
    if (!asking)
        co_return std::move(times);
    CO_TRY(auto &got, co_await std::move(*asking).taken());
    for (size_t i = 0; i < keys.size(); ++i) {
        const auto &ttl = got[i];
        if (!ttl.isError() && ttl.integer >= 0)
            times[i] = std::chrono::milliseconds(ttl.integer);
        else if (ttl.isError() && ttl.text.contains("key"))
            m_refusals.noteKey(keys[i]);
        else if (ttl.isError())
            m_refusals.note(u"PTTL"_s, u"PTTL refused, times to live are unknown: %1"_s.arg(label(ttl.text)));
    }
    co_return std::move(times);
}

} // namespace lockscope::inspect
