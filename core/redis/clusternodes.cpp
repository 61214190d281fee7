// SPDX-License-Identifier: Apache-2.0
#include "core/redis/clusternodes.h"

#include "core/redis/resp.h"

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

constexpr auto layoutWithin = 2s;
// At rest; and while a node is missing, or nobody has told anything yet.
constexpr Duration lookEvery = 10s;
constexpr Duration lookEveryInTrouble = 250ms;
constexpr Duration atLeastBetweenLooks = 50ms;
// So long a replica is waited for that takes over.
constexpr Duration failoverTakes = 5s;

ClusterNodes::ClusterNodes(Loop &loop, std::vector<HostPort> seeds, OpenNode open, std::function<void(bool)> changed)
    : m_loop(loop), m_seeds(std::move(seeds)), m_open(std::move(open)), m_changed(std::move(changed)), m_wake(loop),
      m_work(loop)
{
    openSeeds();
    m_work.launch(keepLooking());
}

Error ClusterNodes::notConnected() const
{
    if (m_isPartial)
        return {ErrorCode::NotConnected, u"the Redis Cluster is not complete, %1"_s.arg(missing()), true};
    const auto why = m_lastError.isEmpty() ? u"it has not reported its layout yet"_s : m_lastError;
    if (m_state == ConnectionState::AuthFailed)
        return {ErrorCode::AuthFailed, why, false};
    return {ErrorCode::NotConnected, u"not connected to the Redis Cluster: %1"_s.arg(why), true, isExplained()};
}

QString ClusterNodes::missing() const
{
    return m_isPartial ? u"slots not served: %1"_s.arg(m_missing.join(u"; "_s)) : QString();
}

bool ClusterNodes::isServed(int slot) const
{
    if (!m_isPartial)
        return true;
    const auto *owner = ownerOf(slot);
    const auto node = owner ? m_nodes.find(displayHost(*owner)) : m_nodes.end();
    return node != m_nodes.end() && node->second.connection->state() == ConnectionState::Connected;
}

std::vector<HostPort> ClusterNodes::serving()
{
    auto hosts = m_layout.primaries();
    if (m_isPartial)
        std::erase_if(hosts, [this](const HostPort &host) { return !isConnected(host); });
    return hosts;
}

Connection &ClusterNodes::at(const HostPort &host)
{
    const auto name = displayHost(host);
    auto &node = m_nodes[name];
    if (!node.connection) {
        node.host = host;
        node.connection = m_open(host);
        node.state = node.connection->onState([this, name](ConnectionState) { nodeChanged(name); });
    }
    return *node.connection;
}

const HostPort *ClusterNodes::anyone()
{
    for (const auto &host : m_layout.primaries()) {
        if (isConnected(host))
            return &host;
    }
    return nullptr;
}

void ClusterNodes::openSeeds()
{
    for (const auto &seed : m_seeds)
        (void)at(seed);
}

void ClusterNodes::nodeChanged(const QString &name)
{
    const auto found = m_nodes.find(name);
    if (found == m_nodes.end())
        return;
    auto &node = found->second;
    const bool isConnected = node.connection->state() == ConnectionState::Connected;
    const bool onlySubscriber = isConnected && node.wasConnected;
    if (isConnected != node.wasConnected)
        askAgain();
    node.wasConnected = isConnected;
    judge(onlySubscriber);
}

void ClusterNodes::moved(const Redirect &redirect)
{
    m_layout.move(redirect.slot, redirect.to);
    m_hasMoved = true;
    (void)at(redirect.to);
    askAgain();
}

void ClusterNodes::askAgain()
{
    m_askAgain = true;
    m_wake.complete(true);
}

Completion<bool> ClusterNodes::nextChange(Deadline deadline)
{
    Completion<bool> change(m_loop);
    change.completeAt(deadline, false);
    m_waiting.push_back(change);
    return change;
}

Task<void> ClusterNodes::keepLooking()
{
    // Not before whoever made us is whole.
    co_await sleepFor(m_loop, Duration::zero());
    for (;;) {
        m_askAgain = false;
        const bool isTold = co_await look();
        co_await sleepFor(m_loop, atLeastBetweenLooks);
        if (m_askAgain && isTold)
            continue;
        m_wake = Completion<bool>(m_loop);
        const bool isCalm = m_state == ConnectionState::Connected && !m_isPartial;
        m_wake.completeAt(Deadline::at(m_loop.now() + (isCalm ? lookEvery : lookEveryInTrouble)), false);
        co_await m_wake;
    }
}

// True when somebody told the layout. Each time another one is asked first: a node that was cut off from the others
// tells what it knew then.
Task<bool> ClusterNodes::look()
{
    std::vector<HostPort> candidates;
    for (const auto &[name, node] : m_nodes) {
        if (node.connection->state() == ConnectionState::Connected)
            candidates.push_back(node.host);
    }
    if (candidates.empty()) {
        openSeeds();
        judge(false);
        co_return false;
    }
    std::ranges::rotate(candidates, candidates.begin() + std::ptrdiff_t(m_turn++ % candidates.size()));
    for (const auto &host : candidates) {
        const Command question{"CLUSTER", "SLOTS"};
        const auto answer = co_await at(host).command(question, Deadline::after(m_loop, layoutWithin));
        if (!answer) {
            m_refusal = answer.error().message;
            continue;
        }
        auto layout = ClusterLayout::read(*answer, host);
        if (layout && !layout->primaries().empty()) {
            m_refusal.clear();
            bool isDown = m_state != ConnectionState::Connected || m_isPartial;
            if (isDown) {
                const bool isSaid = co_await isClusterDown(host);
                isDown = isSaid;
            }
            m_isDown = isDown;
            adopt(std::move(*layout));
            co_return true;
        }
        m_refusal = layout ? u"%1 reports an unserved slot"_s.arg(displayHost(host)) : layout.error().message;
    }
    judge(false);
    co_return false;
}

Task<bool> ClusterNodes::isClusterDown(HostPort host)
{
    const Command question{"CLUSTER", "INFO"};
    const auto answer = co_await at(host).command(question, Deadline::after(m_loop, layoutWithin));
    co_return !answer || answer->text.contains("cluster_state:fail"); // who may not ask is told nothing
}

void ClusterNodes::adopt(ClusterLayout layout)
{
    const bool isOther = layout.primaries() != m_layout.primaries();
    const bool hasMoved = std::exchange(m_hasMoved, false) || layout != m_layout;
    m_layout = std::move(layout);
    for (const auto &host : m_layout.primaries())
        (void)at(host);
    if (isOther)
        m_generation = (m_generation + 1) % 256;
    judge(isOther);
    if (hasMoved && !isOther)
        m_changed(false);
    // What has no slots: seeds that are replicas, a primary that was replaced. While a primary is missing they stay,
    // for they may know more.
    if (m_state == ConnectionState::Connected && !m_isPartial)
        std::erase_if(m_nodes, [this](const auto &entry) { return !isPrimary(entry.second.host); });
}

bool ClusterNodes::isPrimary(const HostPort &host) const
{
    return std::ranges::find(m_layout.primaries(), host) != m_layout.primaries().end();
}

// Before the layout is told one seed of several is enough: what is the matter with the others is no news.
ClusterNodes::Finding ClusterNodes::finding() const
{
    Finding found;
    QStringList reasons;
    std::size_t missing = 0;
    for (const auto &[name, node] : m_nodes) {
        const bool isOther = isKnown() && !isPrimary(node.host);
        const bool isConnected = node.connection->state() == ConnectionState::Connected;
        found.isAnyConnected |= isConnected && !isOther;
        if (isConnected || isOther)
            continue;
        ++missing;
        found.isRefused |= node.connection->state() == ConnectionState::AuthFailed;
        const auto why = node.connection->lastError();
        if (!why.isEmpty())
            reasons << why;
        found.isSettled &= !why.isEmpty();
        if (isKnown())
            found.missing << u"%1 (%2)"_s.arg(m_layout.slotsOf(&node.host),
                                              why.isEmpty() ? u"%1: not connected"_s.arg(displayHost(node.host))
                                                            : why);
    }
    if (isKnown() && m_layout.unserved() > 0)
        found.missing << u"%1 (no node has them)"_s.arg(m_layout.slotsOf(nullptr));
    if (m_isDown && !found.missing.isEmpty())
        reasons << u"the others do not report cluster_state:ok (cluster-require-full-coverage)"_s;
    found.isWhole = isKnown() && missing == 0 && m_layout.unserved() == 0;
    if (isKnown() && m_layout.unserved() > 0)
        reasons << u"no node serves %1 of its 16384 slots"_s.arg(m_layout.unserved());
    const bool isBegun = m_wasConnected || !found.isAnyConnected;
    const bool isHopeful =
        isKnown() ? !isBegun && !found.isSettled : static_cast<std::size_t>(reasons.size()) < m_nodes.size();
    found.why = isHopeful ? m_refusal : reasons.join(u"; "_s);
    found.isRefused &= !isHopeful;
    return found;
}

bool ClusterNodes::isExplained() const
{
    return std::ranges::any_of(m_nodes, [](const auto &one) {
        const auto &connection = *one.second.connection;
        return connection.state() != ConnectionState::Connected && connection.isExplained();
    });
}

void ClusterNodes::judge(bool mayHaveMissed)
{
    const auto found = finding();
    const auto before = std::exchange(m_missing, found.missing).size();
    if (before < m_missing.size())
        m_missingSince = m_loop.now();
    // What it has to tell was missed.
    mayHaveMissed |= m_isPartial && m_missing.size() < before;
    // Who has just come is not kept waiting for a replica.
    const bool isWaitedFor = m_isPartial ? before < m_missing.size() : m_wasConnected || !found.isSettled;
    const auto patience = isWaitedFor ? failoverTakes : Duration::zero();
    const bool isOverdue = !m_missing.isEmpty() && m_loop.now() - m_missingSince >= patience;
    m_isPartial = isOverdue && found.isAnyConnected && !found.isRefused && !m_isDown;
    const auto state = found.isWhole || m_isPartial ? ConnectionState::Connected
                       : found.isRefused            ? ConnectionState::AuthFailed
                                                    : ConnectionState::Connecting;
    const auto why = m_isPartial ? QString() : found.why;
    const bool isNews = state != m_state || why != m_lastError;
    if (state != ConnectionState::Connected && m_state == ConnectionState::Connected)
        askAgain();
    m_state = state;
    m_wasConnected |= state == ConnectionState::Connected;
    m_lastError = why;
    if (isNews || mayHaveMissed)
        m_changed(mayHaveMissed);
    for (const auto &waiting : std::exchange(m_waiting, {}))
        waiting.complete(true);
}

} // namespace lockscope::redis
