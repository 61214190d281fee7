// SPDX-License-Identifier: Apache-2.0
#include "core/redis/clusterlayout.h"

#include "core/redis/resp.h"

#include <algorithm>

namespace lockscope::redis {

namespace {

// What a server says is taken up to this: clusters are recommended to have at most a thousand nodes.
constexpr std::size_t primariesAtMost = 2000;
constexpr std::size_t rangesAtMost = slotCount;

Error noLayout()
{
    return {ErrorCode::Server, u"the answer to CLUSTER SLOTS names no nodes"_s, true};
}

std::optional<quint16> portOf(qint64 number)
{
    return number > 0 && number <= 65535 ? std::optional(static_cast<quint16>(number)) : std::nullopt;
}

QString hostOf(const QByteArray &said, const HostPort &asked)
{
    // "?": the node was told not to say.
    return said.isEmpty() || said == "?" ? asked.host : QString::fromUtf8(said);
}

} // namespace

Result<ClusterLayout> ClusterLayout::read(const Value &answer, const HostPort &asked)
{
    if (answer.isError())
        return errorFrom(answer);
    if (answer.kind != Value::Kind::Array || answer.items.size() > rangesAtMost)
        return noLayout();
    struct Range {
        qint64 from, to;
        HostPort owner;
    };
    std::vector<Range> ranges;
    for (const auto &item : answer.items) {
        if (item.items.size() < 3 || item.items[2].items.size() < 2)
            return noLayout();
        const auto from = item.items[0].integer, to = item.items[1].integer;
        const auto &node = item.items[2].items;
        const auto port = portOf(node[1].integer);
        if (!port || from < 0 || to < from || to >= slotCount)
            return noLayout();
        ranges.push_back({from, to, {hostOf(node[0].text, asked), *port}});
    }
    std::ranges::sort(ranges, {}, &Range::from);
    ClusterLayout layout;
    layout.m_owners.assign(slotCount, nobody);
    for (const auto &range : ranges) {
        const auto owner = layout.indexOf(range.owner);
        std::fill(layout.m_owners.begin() + range.from, layout.m_owners.begin() + range.to + 1, owner);
    }
    return layout;
}

qint16 ClusterLayout::indexOf(const HostPort &host)
{
    const auto at = std::ranges::find(m_primaries, host);
    const auto index = at - m_primaries.begin();
    if (at == m_primaries.end()) {
        if (m_primaries.size() >= primariesAtMost)
            return nobody;
        m_primaries.push_back(host);
    }
    return static_cast<qint16>(index);
}

const HostPort *ClusterLayout::ownerOf(int slot) const
{
    if (m_owners.empty() || slot < 0 || slot >= slotCount)
        return nullptr;
    const auto index = m_owners[static_cast<std::size_t>(slot)];
    return index == nobody ? nullptr : &m_primaries[static_cast<std::size_t>(index)];
}

int ClusterLayout::unserved() const
{
    return m_owners.empty() ? slotCount : static_cast<int>(std::ranges::count(m_owners, nobody));
}

QString ClusterLayout::slotsOf(const HostPort *host) const
{
    constexpr qsizetype namedAtMost = 8;
    const auto isTheirs = [&](int slot) {
        const auto *owner = ownerOf(slot);
        return host ? owner && *owner == *host : !owner;
    };
    QStringList ranges;
    for (int slot = 0; slot < slotCount; ++slot) {
        if (!isTheirs(slot))
            continue;
        const int from = slot;
        while (slot + 1 < slotCount && isTheirs(slot + 1))
            ++slot;
        if (ranges.size() == namedAtMost)
            return ranges.join(u", "_s) + u", …"_s;
        ranges << (slot == from ? QString::number(from) : u"%1-%2"_s.arg(from).arg(slot));
    }
    return ranges.join(u", "_s);
}

void ClusterLayout::move(int slot, const HostPort &to)
{
    if (m_owners.empty())
        m_owners.assign(slotCount, nobody);
    if (slot >= 0 && slot < slotCount)
        m_owners[static_cast<std::size_t>(slot)] = indexOf(to);
}

std::optional<Redirect> redirectOf(const Value &reply, const HostPort &answered)
{
    if (!reply.isError())
        return std::nullopt;
    const auto words = reply.text.split(' ');
    const bool isAsk = words.first() == "ASK";
    if (words.size() < 3 || (!isAsk && words.first() != "MOVED"))
        return std::nullopt;
    bool isSlot = false, isPort = false;
    const int slot = words[1].toInt(&isSlot);
    const auto colon = words[2].lastIndexOf(':');
    const auto port = portOf(colon < 0 ? 0 : words[2].mid(colon + 1).toInt(&isPort));
    if (!isSlot || slot < 0 || slot >= slotCount || !isPort || !port)
        return std::nullopt;
    return Redirect{
        isAsk ? Redirect::Kind::Ask : Redirect::Kind::Moved, slot, {hostOf(words[2].left(colon), answered), *port}};
}

bool isWorthRepeating(const Value &reply)
{
    return reply.isError() && errorFrom(reply).retryable && !reply.text.startsWith("BUSY");
}

QByteArrayView hashTag(QByteArrayView key)
{
    const auto open = key.indexOf('{');
    if (open < 0)
        return key;
    const auto close = key.indexOf('}', open + 1);
    return close <= open + 1 ? key : key.sliced(open + 1, close - open - 1);
}

int hashSlot(QByteArrayView key)
{
    constexpr quint32 polynomial = 0x1021;
    quint32 crc = 0;
    for (const char byte : hashTag(key)) {
        crc ^= static_cast<quint32>(static_cast<unsigned char>(byte)) << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = ((crc & 0x8000) != 0 ? (crc << 1) ^ polynomial : crc << 1) & 0xffff;
    }
    return static_cast<int>(crc % slotCount);
}

} // namespace lockscope::redis
