// SPDX-License-Identifier: Apache-2.0
#include "core/rules/turn.h"

#include <algorithm>

namespace lockscope::recipes {

namespace {

// A number at the end of a name.
struct Number {
    qsizetype length = 0;
    qint64 value = 0;
};

// A sign or not, and then digits; empty if they are not.
std::optional<Number> numberAt(QByteArrayView bytes, qsizetype length)
{
    const auto *const end = bytes.data() + bytes.size();
    const auto *at = end - length;
    const bool isNegative = *at == '-';
    qint64 value = 0;
    for (at += isNegative ? 1 : 0; at != end; ++at) {
        const auto digit = static_cast<unsigned char>(*at - '0');
        if (digit > 9)
            return std::nullopt;
        value = 10 * value + digit;
    }
    return Number{length, isNegative ? -value : value};
}

// The server writes "%010d": ten digits, or a minus with nine or ten.
std::optional<Number> numberOf(QByteArrayView bytes, QByteArrayView base)
{
    const auto length = bytes.size();
    if (length < 10)
        return std::nullopt;
    const auto number = numberAt(bytes, 10);
    if (!number)
        return std::nullopt;
    // A dash before ten digits may be a sign or the end of the base name. Only a base that is known
    // (or a second dash) makes it a sign.
    const bool dashBefore = length >= 11 && bytes[length - 11] == '-' && bytes[length - 10] != '-';
    if (dashBefore) {
        const auto prefix = bytes.chopped(11);
        if (prefix.endsWith(base) && (!base.isEmpty() || prefix.endsWith('-')))
            return Number{11, -number->value};
    }
    if (!base.isEmpty() && !bytes.chopped(10).endsWith(base))
        return std::nullopt;
    return number;
}

// The server's counter is 32 bits wide: after 2147483647 comes -2147483648. As an unsigned number
// it goes on growing.
qint64 age(const SequencedName &node)
{
    return node.sequence < 0 ? node.sequence + (qint64(1) << 32) : node.sequence;
}

qsizetype placeOf(const std::vector<Queued> &queue, const NodeName &me)
{
    const auto at = std::find_if(queue.begin(), queue.end(), [&](const Queued &q) { return q.node.name == me; });
    return at == queue.end() ? -1 : at - queue.begin();
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
    if (!number)
        return std::nullopt;
    return SequencedName{name, name.bytes().size() - number->length, number->value};
}

std::optional<qint64> sequenceOf(const NodeName &name, const QByteArray &base)
{
    const auto number = numberOf(name.bytes(), base);
    return number ? std::optional(number->value) : std::nullopt;
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

} // namespace lockscope::recipes
