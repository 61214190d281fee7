// SPDX-License-Identifier: Apache-2.0
#include "core/rules/turn.h"

#include "core/base/text.h"
#include "core/rules/userrules.h"

#include <QtEndian>

namespace lockscope::recipes {

namespace {

// A number at the end of a name. In two words, which a processor hands on in registers: a herd reads millions of
// them.
struct Number {
    qsizetype length = 0; // 0: there is none
    qint64 value = 0;
};

constexpr auto ones = ~quint64(0) / 255; // a one in each of eight bytes

// Eight digits as they stand in memory, all at once, the first one in the lowest byte; -1 when they are none. After
// D. Lemire, "Quickly parsing eight digits", 2018.
qint64 eightDigits(const char *at)
{
    const auto bytes = qFromLittleEndian<quint64>(at);
    const auto digits = bytes - '0' * ones;
    // A byte of more than 9 has, or gets by adding 0x76, its highest bit; so has one that borrowed.
    if (((digits | (digits + 0x76 * ones)) & 0x80 * ones) != 0)
        return -1;
    const auto pairs = digits * 10 + (digits >> 8);
    const auto mask = quint64(0xff) | quint64(0xff) << 32;
    return qint64(
        ((pairs & mask) * (100 + (quint64(1'000'000) << 32)) + (pairs >> 16 & mask) * (1 + (quint64(10'000) << 32)))
        >> 32);
}

// The last ten characters: digits, or a minus and nine.
Number numberAt(const char *at)
{
    const bool isNegative = *at == '-';
    const auto first = static_cast<unsigned char>(isNegative ? 0 : *at - '0');
    const auto second = static_cast<unsigned char>(at[1] - '0');
    const auto rest = eightDigits(at + 2);
    if (first > 9 || second > 9 || rest < 0)
        return {};
    const auto value = (10 * first + second) * qint64(100'000'000) + rest;
    return {10, isNegative ? -value : value};
}

bool isBefore(QByteArrayView base, QByteArrayView bytes, qsizetype end)
{
    return end >= base.size() && std::equal(base.begin(), base.end(), bytes.begin() + end - base.size());
}

// The server writes "%010d": ten digits, or a minus with nine or ten.
Number numberOf(QByteArrayView bytes, QByteArrayView base)
{
    const auto length = bytes.size();
    if (length < 10)
        return {};
    const auto number = numberAt(bytes.data() + length - 10);
    if (number.length == 0)
        return {};
    // A dash before ten digits may be a sign or the end of the base name. Only a base that is known
    // (or a second dash) makes it a sign.
    const bool dashBefore = length >= 11 && bytes[length - 11] == '-' && bytes[length - 10] != '-';
    if (dashBefore && isBefore(base, bytes, length - 11)
        && (!base.isEmpty() || (length >= 12 && bytes[length - 12] == '-')))
        return {11, -number.value};
    if (!isBefore(base, bytes, length - 10))
        return {};
    return number;
}

// The server's counter is 32 bits wide: after 2147483647 comes -2147483648. As an unsigned number it goes on growing.
qint64 age(const SequencedName &node)
{
    return node.sequence < 0 ? node.sequence + (qint64(1) << 32) : node.sequence;
}

qsizetype placeOf(const std::vector<Queued> &queue, const NodeName &me)
{
    // Mostly the last one: those behind are seldom asked for.
    const auto at = std::find_if(queue.rbegin(), queue.rend(), [&](const Queued &q) { return q.node.name == me; });
    return queue.rend() - at - 1;
}

Turn mine()
{
    return {Turn::Kind::Mine, std::nullopt};
}

Turn waitFor(const Queued &predecessor)
{
    return {Turn::Kind::WaitFor, predecessor.node.name};
}

} // namespace

std::optional<SequencedName> readSequence(const NodeName &name, const QByteArray &base)
{
    const auto number = numberOf(name.bytes(), base);
    if (number.length == 0)
        return std::nullopt;
    return SequencedName{name, name.bytes().size() - number.length, number.value};
}

std::optional<qint64> sequenceOf(const NodeName &name, const QByteArray &base)
{
    const auto number = numberOf(name.bytes(), base);
    return number.length > 0 ? std::optional(number.value) : std::nullopt;
}

bool comesBefore(const SequencedName &a, const SequencedName &b)
{
    if (age(a) != age(b))
        return age(a) < age(b);
    return a.name < b.name;
}

void sortQueue(std::vector<Queued> &queue)
{
    std::sort(queue.begin(), queue.end(), [](const Queued &a, const Queued &b) {
        // A reader with a writer's number is that writer's own, made while it holds (downgrade).
        if (age(a.node) == age(b.node) && a.access != b.access)
            return a.access == Access::Exclusive;
        return comesBefore(a.node, b.node);
    });
}

Turn turnInQueue(const std::vector<Queued> &queue, const NodeName &me, int permits)
{
    const auto place = placeOf(queue, me);
    if (place < 0)
        return {};
    const qsizetype ahead = std::max(permits, 1);
    if (place < ahead)
        return mine();
    return waitFor(queue[static_cast<size_t>(place - ahead)]);
}

Turn turnInReadWriteQueue(const std::vector<Queued> &queue, const NodeName &me, ReaderWatches readerWatches)
{
    const auto place = placeOf(queue, me);
    if (place < 0)
        return {};
    const auto end = queue.begin() + place;
    if (end->access == Access::Exclusive)
        return place == 0 ? mine() : waitFor(*(end - 1));
    const auto isWriter = [](const Queued &q) { return q.access == Access::Exclusive; };
    const auto lowest = std::find_if(queue.begin(), end, isWriter);
    if (lowest == end)
        return mine();
    if (readerWatches == ReaderWatches::LowestWriter)
        return waitFor(*lowest);
    return waitFor(*std::find_if(std::make_reverse_iterator(end), queue.rend(), isWriter));
}

bool isGivenOnce(const NodeName &name)
{
    const auto read = readSequence(name);
    // Without the number: 32 hex digits alone may end in ten of the other kind.
    return read && holdsUuid(QByteArrayView(name.bytes()).first(read->prefixLength));
}

QByteArray nodeContenderId(const NodeName &name, qint64 czxid)
{
    return isGivenOnce(name) ? name.bytes() : name.bytes() + '@' + QByteArray::number(czxid);
}

QByteArray constantContenderId(const QByteArray &value, qint64 expiryMs)
{
    return value + '@' + QByteArray::number(expiryMs);
}

bool isFullFormOf(const QByteArray &id, const QByteArray &bare)
{
    return id.size() > bare.size() + 1 && id.startsWith(bare) && id[bare.size()] == '@'
           && isDigits(id.mid(bare.size() + 1));
}

namespace {
// Registries are named "app", "app:locks"; what has more colons has them in the path.
constexpr qsizetype channelsAtMost = 4;

// Names that clients without channels give.
bool isNamedByPoller(const QByteArray &key)
{
    return key.startsWith("redlock:") || key.contains("laravel") || key.startsWith("PHPREDIS_SESSION:")
           || key.startsWith("SINGLETONLOCK_");
}

using Milliseconds = std::chrono::milliseconds;
using Moment = std::chrono::sys_time<Milliseconds>;

// A lock that ended earlier than that may as well be one that says since when it is held.
constexpr auto longestGoneBy = std::chrono::days(1);
constexpr auto longestAhead = std::chrono::days(366);
constexpr qsizetype mostDigitsOfMoment = 15; // a thousand times as much still fits

bool isNear(Moment at, Moment now)
{
    return at > now - longestGoneBy && at < now + longestAhead;
}

} // namespace

KeySignals signalsOf(const QByteArray &key)
{
    static const QByteArray python = "lock:";
    KeySignals wakes;
    if (key.startsWith(python) && key.size() > python.size())
        wakes.list = "lock-signal:" + key.mid(python.size());
    const bool isSprings = !isNamedByPoller(key);
    for (auto at = key.indexOf(':'); isSprings && at > 0 && wakes.channels.size() < channelsAtMost;
         at = key.indexOf(':', at + 1)) {
        wakes.channels << key.left(at) + "-channel";
        wakes.topics << wakes.channels.last() + ':' + key;
    }
    return wakes;
}

QByteArrayList signalArguments(const KeySignals &wakes, const QByteArray &expiry)
{
    return QByteArrayList{expiry, wakes.list} + wakes.published();
}

KeySignals wakeSignalsOf(const QByteArray &key)
{
    const auto fit = wakingRule(key);
    if (!fit) // by a rule that says of no wake-up its clients poll
        return rulesFitting(key).empty() ? signalsOf(key) : KeySignals();
    KeySignals wakes;
    wakes.list = fit->name(fit->rule->wakeList);
    if (const auto channel = fit->name(fit->rule->wakeChannel); !channel.isEmpty())
        wakes.channels << channel;
    return wakes;
}

std::optional<WrittenMoment> readMoment(const QByteArray &value, Moment now)
{
    using Form = WrittenMoment::Form;
    const auto dot = value.indexOf('.');
    const QByteArray whole = dot < 0 ? value : value.left(dot);
    const QByteArray fraction = dot < 0 ? QByteArray() : value.mid(dot + 1);
    const QByteArray digits = whole.startsWith('-') ? whole.mid(1) : whole;
    if (!isDigits(digits) || digits.size() > mostDigitsOfMoment || (dot >= 0 && !isDigits(fraction)))
        return std::nullopt;
    const qint64 number = whole.toLongLong();
    const Moment inMilliseconds{Milliseconds(number)};
    if (isNear(inMilliseconds, now))
        return WrittenMoment{inMilliseconds, dot < 0 ? Form::Milliseconds : Form::Fraction};
    const Moment inSeconds{Milliseconds(number * 1000 + fraction.leftJustified(3, '0').left(3).toLongLong())};
    if (isNear(inSeconds, now))
        return WrittenMoment{inSeconds, dot < 0 ? Form::Seconds : Form::Fraction};
    return std::nullopt;
}

} // namespace lockscope::recipes
