// SPDX-License-Identifier: Apache-2.0

#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/queue.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

using recipes::Access;
using std::chrono::milliseconds;

namespace {
// Servers check sessions once per tick; a ping may be that much late without anything being wrong.
constexpr milliseconds tick{2000};

QString named(const Contender &contender)
{
    const QString who = contender.session.value_or(escaped(contender.id));
    return contender.endpoint ? u"%1 (%2)"_s.arg(who, *contender.endpoint) : who;
}

bool hasListedWatches(const LockSnapshot &lock)
{
    using recipes::ListedWatch;
    const auto listed = recipes::recipeOf(lock.recipe).listedWatch;
    return listed == ListedWatch::Always || (listed == ListedWatch::OfKnownClients && lock.client);
}

void addDisconnected(LockSnapshot &lock, Contender &contender, const SessionHealth &health)
{
    Wording message =
        (health.connected ? u"session %1 has been silent for "_s : u"session %1 has no live connection"_s)
            .arg(named(contender));
    if (health.connected)
        message.since(lock.observed - *health.silence);
    if (health.expiresIn) {
        contender.expiresAt = lock.observed + *health.expiresIn;
        message << u"; it expires "_s;
        message.until(*contender.expiresAt); // the moment that the row counts down to
    } else {
        message << clause(u"when it expires is not known"_s);
    }
    addFinding(lock, FindingCode::HolderDisconnected, message, {contender.id});
}

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
    const bool isKazooReader = match.layout == &layoutNamed("kazoo-read") && last.match.access == Access::Exclusive;
    if (!isKazooReader && (all > 1 || !isCertain))
        return std::nullopt;
    return Obstacle{last.node->name, Evidence::Server, true, isCertain};
}

} // namespace

void ServerView::eachEphemeral(const std::function<void(zk::SessionId, const ZPath &)> &call) const
{
    const auto chroot = m_context.chroot == "/" ? QByteArray() : m_context.chroot;
    for (const auto &[session, paths] : m_evidence.ephemerals) {
        for (const auto &path : paths) {
            if (path.bytes().startsWith(chroot + '/'))
                call(session, ZPath(path.bytes().mid(chroot.size())));
        }
    }
}

std::optional<SessionHealth> ServerView::health(zk::SessionId session) const
{
    if (!m_evidence.isComplete("cons"))
        return std::nullopt;
    SessionHealth health;
    if (const auto expiry = m_evidence.expiresIn.find(session); expiry != m_evidence.expiresIn.end())
        health.expiresIn = expiry->second;
    const auto connection = m_evidence.connections.find(session);
    if (connection == m_evidence.connections.end())
        return health;
    health.connected = true;
    const auto &facts = connection->second;
    // An idle client pings after a third of its timeout, Java's and C's; Rust's crate zookeeper after two.
    if (facts.silence && facts.timeout.count() > 0 && *facts.silence > facts.timeout * 2 / 3 + tick)
        health.silence = facts.silence;
    return health;
}

bool ServerView::wasAskedAfter(ServerTime moment) const
{
    if (!m_context.evidence)
        return false;
    const auto asked = std::chrono::time_point_cast<milliseconds>(m_context.evidence->askedAt);
    return asked + m_context.serverAhead >= moment;
}

bool ServerView::watchesBelow(zk::SessionId session, const QByteArray &prefix) const
{
    const ZPath from = fullPath(prefix);
    const auto &watches = m_evidence.dataWatches;
    for (auto at = watches.lower_bound(from); at != watches.end(); ++at) {
        if (!at->first.bytes().startsWith(from.bytes()))
            return false;
        if (at->second.contains(session))
            return true;
    }
    return false;
}

void addSessionFindings(LockSnapshot &lock, const RecogniseContext &context)
{
    const ServerView servers(context);
    for (auto &contender : lock.contenders) {
        if (contender.guard.znode().owner == 0)
            continue;
        // Who came after the question was asked is in no answer to it.
        const auto since = contender.role == Role::Holder ? contender.heldSince : contender.waitingSince;
        if (since && !servers.wasAskedAfter(*since))
            continue;
        const auto health = servers.health(zk::SessionId{contender.guard.znode().owner});
        if (!health || health->isAlive())
            continue;
        if (contender.role == Role::Holder) {
            addDisconnected(lock, contender, *health);
        } else {
            Wording message = u"waiter %1 has no live connection"_s.arg(named(contender));
            if (health->connected)
                message = u"waiter %1 has been silent for "_s.arg(named(contender));
            if (health->connected)
                message.since(lock.observed - *health->silence);
            addFinding(lock, FindingCode::StaleQueue, Severity::Info, message, {contender.id});
        }
    }
}

std::vector<QByteArray> watchingNothing(const LockSnapshot &lock, const RecogniseContext &context)
{
    const ServerView servers(context);
    if (!servers.knowsAllWatches() || !hasListedWatches(lock))
        return {};
    std::map<quint64, int> nodesOf;
    for (const auto &contender : lock.contenders)
        ++nodesOf[contender.guard.znode().owner];
    std::vector<QByteArray> suspects;
    for (const auto &one : lock.contenders) {
        const zk::SessionId session{one.guard.znode().owner};
        const bool watchesChildren = std::ranges::any_of(one.watches, &WatchEdge::children);
        if (one.role != Role::Waiter || session.isNone() || watchesChildren || servers.isOurs(session))
            continue;
        // Someone whose session has two nodes here may wait with the other one.
        const auto health = servers.health(session);
        const bool gone = health && !health->connected; // its watches went with its connection
        if (nodesOf[one.guard.znode().owner] != 1 || gone || !one.waitingSince
            || !servers.wasAskedAfter(*one.waitingSince))
            continue;
        if (!servers.watchesBelow(session, lock.lock.name))
            suspects.push_back(one.id);
    }
    if (!suspects.empty() && !servers.isListAsNew())
        return {};
    return suspects;
}

void LostWakeupMemory::judge(LockSnapshot &lock, const RecogniseContext &context)
{
    const auto suspects = watchingNothing(lock, context);
    if (suspects.empty() && context.wantsNewerList && *context.wantsNewerList)
        return; // nothing new is known
    if (suspects.empty()) {
        m_suspects.erase(lock.lock);
        return;
    }
    auto &remembered = m_suspects[lock.lock];
    std::erase_if(remembered, [&suspects](const auto &entry) {
        return std::ranges::find(suspects, entry.first) == suspects.end();
    });
    for (const auto &id : suspects) {
        auto &suspicion = remembered[id];
        if (suspicion.times == 0 || suspicion.lastAsked != context.evidence->askedAt)
            ++suspicion.times;
        suspicion.lastAsked = context.evidence->askedAt;
        if (suspicion.times >= 2)
            addFinding(lock, FindingCode::LostWakeup, u"waits but watches nothing: no release will wake it"_s, {id});
    }
}

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
