#include "core/recipes/turn.h"

#include <algorithm>

namespace lockscope::recipes {

namespace {

bool areDigits(const QByteArray &bytes)
{
    return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<SequencedName> cutAt(const NodeName &name, qsizetype numberLength, const QByteArray &base)
{
    SequencedName read;
    read.name = name;
    read.prefix = name.bytes().chopped(numberLength);
    read.sequence = name.bytes().last(numberLength).toLongLong();
    if (!read.prefix.endsWith(base))
        return std::nullopt;
    return read;
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
    // The server writes "%010d": ten digits, or a minus with nine or ten.
    const QByteArray &bytes = name.bytes();
    const auto length = bytes.size();
    const bool nineDigits = length >= 10 && bytes[length - 10] == '-' && areDigits(bytes.last(9));
    if (nineDigits)
        return cutAt(name, 10, base);
    if (length < 10 || !areDigits(bytes.last(10)))
        return std::nullopt;
    // A dash before ten digits may be a sign or the end of the base name. Only a base that is known
    // (or a second dash) makes it a sign.
    const bool dashBefore = length >= 11 && bytes[length - 11] == '-';
    if (dashBefore) {
        const auto negative = cutAt(name, 11, base);
        if (negative && (!base.isEmpty() || negative->prefix.endsWith('-')))
            return negative;
    }
    return cutAt(name, 10, base);
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
