// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/queue.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"

#include <algorithm>

namespace lockscope::inspect {

using recipes::Access;

Watching::Watching(const std::vector<Placed> &queue, ZPath directory, const RecogniseContext &context)
    : m_queue(queue), m_directory(std::move(directory)), m_servers(context)
{
    for (const auto &one : queue)
        ++m_nodesOf[one.member.node->stat.ephemeralOwner];
    for (size_t i = 0; i < queue.size(); ++i) {
        for (const auto session : m_servers.watchers(m_directory.child(queue[i].member.node->name)))
            m_watchedBy[session].push_back(i);
    }
}

bool Watching::isProvable(const ZnodeView &node) const
{
    const auto owner = node.stat.ephemeralOwner;
    return !owner.isNone() && !m_servers.isOurs(owner) && m_nodesOf.at(owner) == 1;
}

bool Watching::isProvableSince(const ZnodeView &node, std::chrono::milliseconds settled) const
{
    const auto made = madeAt(node);
    return isProvable(node) && made && m_servers.wasAskedAfter(*made + settled);
}

std::vector<size_t> Watching::watchedBy(const ZnodeView &node) const
{
    const auto found = m_watchedBy.find(node.stat.ephemeralOwner);
    if (!isProvable(node) || found == m_watchedBy.end())
        return {};
    std::vector<size_t> others = found->second;
    std::erase_if(others, [&](size_t i) { return m_queue[i].member.node->name == node.name; });
    return others;
}

bool Watching::watches(const ZnodeView &node, const NodeName &child) const
{
    return m_servers.watches(node.stat.ephemeralOwner, m_directory.child(child));
}

namespace {

// A client lists the queue first and sets its watch after that.
constexpr auto untilWatchIsSet = 1s;

// A watch stays when its client has given up, with the node that it waited behind. That node came after the watched
// one and is gone. So the watch is sure where every child made after the watched one still exists.
bool mayBeLeftOver(const recipes::SequencedName &watched, const std::vector<Placed> &queue, const QueueFolder &folder)
{
    if (folder.created <= 0 || watched.sequence < 0)
        return true;
    const auto isLater = [&watched](const std::optional<recipes::SequencedName> &one) {
        return one && one->sequence > watched.sequence;
    };
    const auto inQueue =
        std::ranges::count_if(queue, [&](const Placed &one) { return isLater(one.member.match.sequence); });
    const auto beside = std::ranges::count_if(
        folder.others, [&](const ZnodeView *one) { return isLater(recipes::readSequence(one->name)); });
    return folder.created - 1 - watched.sequence > inQueue + beside;
}

// What its client sorts a child by: the text behind its own base name, else the whole name.
QByteArray sortKey(const NodeName &name, const Layout &layout)
{
    for (const auto &form : layout.names) {
        const auto at = name.bytes().lastIndexOf(form.base);
        if (at >= 0)
            return name.bytes().mid(at + form.base.size());
    }
    return name.bytes();
}

// The nearest child before it, by the order of a client that counts them all.
const ZnodeView *countedBefore(const Member &member, const QueueFolder &folder)
{
    const auto &layout = *member.match.layout;
    if (!layout.countsEveryChild || member.match.access == Access::Shared || member.match.sequence.sequence < 0)
        return nullptr;
    const auto own = sortKey(member.node->name, layout);
    const ZnodeView *nearest = nullptr;
    QByteArray nearestKey;
    for (const auto *other : folder.others) {
        const auto key = sortKey(other->name, layout);
        if (key < own && (!nearest || nearestKey < key)) {
            nearest = other;
            nearestKey = key;
        }
    }
    return nearest;
}

// A numbered child that came before it and its session watches.
const ZnodeView *watchedBefore(const Member &member, const Watching &watching, const QueueFolder &folder)
{
    for (const auto *other : folder.others) {
        const auto sequence = recipes::readSequence(other->name);
        if (sequence && recipes::comesBefore(*sequence, member.match.sequence)
            && watching.watches(*member.node, other->name))
            return other;
    }
    return nullptr;
}

// A contender behind it that its session watches. kazoo's readers, before 2.9, wait for the last writer of the queue,
// wherever it stands. Of any other client it is believed only if no earlier wait can have left the watch.
std::optional<Obstacle> watchedBehind(const std::vector<Placed> &queue, size_t i, const Watching &watching,
                                      const QueueFolder &folder)
{
    const auto &match = queue[i].member.match;
    auto watched = watching.watchedBy(*queue[i].member.node);
    const auto all = watched.size();
    std::erase_if(watched, [i](size_t other) { return other < i; });
    if (watched.empty())
        return std::nullopt;
    const auto &last = queue[watched.back()].member;
    const bool isCertain = !mayBeLeftOver(last.match.sequence, queue, folder);
    const bool isKazooReader = match.layout == &kazooRead && last.match.access == Access::Exclusive;
    if (!isKazooReader && (all > 1 || !isCertain))
        return std::nullopt;
    return Obstacle{last.node->name, Evidence::Server, true, isCertain};
}

} // namespace

std::optional<Obstacle> obstacleOf(const std::vector<Placed> &queue, size_t i, const Watching &watching,
                                   const QueueFolder &folder)
{
    const auto &member = queue[i].member;
    const auto &node = *member.node;
    const auto *counted = countedBefore(member, folder);
    // Who watches its own node, too, watches all that happens there.
    if (watching.isProvableSince(node, 0s) && !watching.watches(node, node.name)) {
        if (counted && watching.watches(node, counted->name))
            return Obstacle{counted->name, Evidence::Server};
        if (const auto *watched = watchedBefore(member, watching, folder))
            return Obstacle{watched->name, Evidence::Server};
        if (auto behind = watchedBehind(queue, i, watching, folder))
            return behind;
    }
    // That it does not watch it shows that it does not wait for it.
    if (!counted || (watching.servers().knowsAllWatches() && watching.isProvableSince(node, untilWatchIsSet)))
        return std::nullopt;
    return Obstacle{counted->name};
}

void addObstacleFindings(LockSnapshot &lock, const std::vector<Placed> &queue, const Obstacles &obstacles)
{
    const bool isHeld = lock.holderCount() > 0;
    const auto within = isHeld ? u"%1"_s : u"no client holds the lock: %1"_s;
    std::vector<QByteArray> waiting;
    bool isCertain = true;
    for (const auto &[i, obstacle] : obstacles) {
        const auto &name = queue[i].member.node->name.bytes();
        const auto target = label(obstacle.node.bytes(), 80);
        if (obstacle.isContender) {
            waiting.push_back(name);
            isCertain &= obstacle.isCertain;
            continue;
        }
        const auto how = obstacle.evidence == Evidence::Server
                             ? u"%1 watches %2, which is not of its recipe, and waits for it"_s
                             : u"%1 waits for %2, which is not of its recipe: its client counts every child"_s;
        addFinding(lock, FindingCode::ForeignNode, Severity::Warning, within.arg(how.arg(label(name, 80), target)),
                   {name});
    }
    if (waiting.empty())
        return;
    const auto &first = obstacles.begin()->second;
    auto message = within.arg(
        u"%1 watches %2, which waits behind it"_s.arg(label(waiting.front(), 80), label(first.node.bytes(), 80)));
    if (waiting.size() > 1)
        message += clause(u"%1 more do so, too"_s.arg(waiting.size() - 1));
    if (!isCertain)
        message += clause(u"an earlier wait of its session may have left that watch"_s);
    addFinding(lock, FindingCode::WrongWatch, isCertain && !isHeld ? Severity::Critical : Severity::Warning, message,
               std::move(waiting));
}

} // namespace lockscope::inspect
