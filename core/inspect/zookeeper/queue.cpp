// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/queue.h"

#include "core/inspect/findings.h"

namespace lockscope::inspect {

using recipes::Access;
using recipes::Turn;

namespace {
// What a client writes about itself may be a megabyte; a person reads the beginning.
constexpr qsizetype identityBytes = 256;

Turn turnOf(const Description &description, const std::vector<recipes::Queued> &queue, const NodeName &me,
            int permits)
{
    switch (description.discipline) {
    case Discipline::CuratorReadWrite:
        return recipes::turnInReadWriteQueue(queue, me, recipes::ReaderWatches::LowestWriter);
    case Discipline::ReadWrite:
        return recipes::turnInReadWriteQueue(queue, me, recipes::ReaderWatches::NearestWriter);
    case Discipline::NoQueue: return turnWithoutQueue(queue, me);
    case Discipline::Mutex:
    case Discipline::Herd: break;
    }
    return recipes::turnInQueue(queue, me, permits);
}

// A writer that also took the read lock makes a reader with its own number (Curator ≥ 5.5): it holds
// what the writer holds. Writers by number and session.
using Writers = std::map<std::pair<qint64, zk::SessionId>, Turn>;

std::pair<qint64, zk::SessionId> stampOf(const Placed &one)
{
    return {one.member.match.sequence.sequence, one.member.node->stat.ephemeralOwner};
}

Writers writersOf(const std::vector<Placed> &queue)
{
    Writers writers;
    for (const auto &one : queue) {
        if (one.member.match.access == Access::Exclusive)
            writers.emplace(stampOf(one), one.turn);
    }
    return writers;
}

bool isDowngraded(const Placed &one, const Writers &writers)
{
    return one.member.match.access == Access::Shared && !one.member.node->stat.ephemeralOwner.isNone()
           && writers.contains(stampOf(one));
}

// Of the queue before and with the i-th, what its turn can depend on. The decision functions search
// their list, and a queue may have thousands of nodes.
class Shortened {
public:
    explicit Shortened(const std::vector<recipes::Queued> &queue, int permits) : m_queue(queue), m_permits(permits) {}

    // For i = 0, 1, 2 … in turn.
    std::vector<recipes::Queued> upTo(size_t i)
    {
        const size_t near = std::min(i, static_cast<size_t>(m_permits));
        std::vector<recipes::Queued> out;
        out.reserve(near + 3);
        for (const auto writer : {m_lowestWriter, m_nearestWriter}) {
            if (writer && *writer + near < i && (out.empty() || m_lowestWriter != m_nearestWriter))
                out.push_back(m_queue[*writer]);
        }
        for (size_t at = i - near; at <= i; ++at)
            out.push_back(m_queue[at]);
        if (m_queue[i].access == Access::Exclusive) {
            m_lowestWriter = m_lowestWriter.value_or(i);
            m_nearestWriter = i;
        }
        return out;
    }

private:
    const std::vector<recipes::Queued> &m_queue;
    int m_permits;
    std::optional<size_t> m_lowestWriter;
    std::optional<size_t> m_nearestWriter;
};

Mode modeOf(const Member &member, Mode exclusive)
{
    return member.match.access == Access::Shared ? Mode::Read : exclusive;
}

// Layouts that do not say how many may enter show it by whom they watch: the N-th before them.
int permitsByWatches(const std::vector<Placed> &queue, const Watching &watching)
{
    if (!watching.servers().knowsAllWatches())
        return 1;
    std::set<size_t> distances;
    for (size_t i = 0; i < queue.size(); ++i) {
        const auto watched = watching.watchedBy(*queue[i].member.node);
        if (watched.size() == 1 && watched.front() < i)
            distances.insert(i - watched.front());
        else if (!watched.empty())
            return 1;
    }
    const bool isSemaphore = distances.size() == 1 && *distances.begin() > 1;
    return isSemaphore && watching.servers().isListAsNew() ? static_cast<int>(*distances.begin()) : 1;
}

// A reader made by a writer for itself shares its number, so that a client may sort either first.
bool isTwin(const Placed &one, const NodeName &name, const std::vector<Placed> &queue)
{
    const auto other = std::ranges::find(queue, name, [](const Placed &placed) { return placed.member.node->name; });
    return other != queue.end() && stampOf(*other) == stampOf(one) && !stampOf(one).second.isNone();
}

bool isAcceptable(const Placed &waiter, const Placed &watched, const Description &description,
                  const std::vector<Placed> &queue)
{
    if (waiter.turn.predecessor
        && (watched.member.node->name == *waiter.turn.predecessor
            || (description.discipline == Discipline::CuratorReadWrite
                && isTwin(watched, *waiter.turn.predecessor, queue))))
        return true;
    // Which writer before it a reader waits for differs from version to version.
    return description.discipline != Discipline::Mutex && waiter.member.match.access == Access::Shared
           && watched.member.match.access == Access::Exclusive
           && recipes::comesBefore(watched.member.match.sequence, waiter.member.match.sequence);
}

void addEdges(Contender &contender, const Placed &waiter, const std::vector<Placed> &queue,
              const Description &description, const Watching &watching, LockSnapshot &lock)
{
    if (description.discipline == Discipline::Herd) {
        contender.watches.push_back({{}, true, Evidence::Inferred});
        return;
    }
    const auto watched = watching.watchedBy(*waiter.member.node);
    bool right = false;
    for (const size_t i : watched) {
        right |= isAcceptable(waiter, queue[i], description, queue);
        const WatchEdge edge{queue[i].member.node->name.bytes(), false, Evidence::Server};
        // The one it waits for comes first; an eager waiter watches one more.
        const bool expected = waiter.turn.predecessor && edge.target == waiter.turn.predecessor->bytes();
        contender.watches.insert(expected ? contender.watches.begin() : contender.watches.end(), edge);
    }
    const bool timely = contender.waitingSince && watching.servers().wasAskedAfter(*contender.waitingSince);
    if (!watched.empty() && !right && timely && description.watchesAreCertain && watching.servers().knowsAllWatches()
        && watching.servers().isListAsNew()) {
        addFinding(lock, FindingCode::WrongWatch, u"watches another node than the one it has to wait for"_s,
                   {contender.id});
    }
    if (!watched.empty())
        return;
    // Only child watches are never listed: whoever watches none of the nodes must watch those.
    const bool children = description.mayWatchChildren && timely && watching.servers().knowsAllWatches()
                          && watching.isProvable(*waiter.member.node);
    if (children)
        contender.watches.push_back({{}, true, Evidence::Inferred});
    else if (waiter.turn.predecessor)
        contender.watches.push_back({waiter.turn.predecessor->bytes(), false, Evidence::Inferred});
}

// Equal numbers mean that the server's counter has run over, unless they are meant: a reader's of its own writer.
void addOverflow(LockSnapshot &lock, const std::vector<Placed> &queue)
{
    const Writers writers = writersOf(queue);
    std::map<qint64, std::vector<QByteArray>> byNumber;
    for (const auto &one : queue) {
        const bool meant = one.member.match.layout->mayShareNumbers || isDowngraded(one, writers);
        if (!meant)
            byNumber[one.member.match.sequence.sequence].push_back(one.member.node->name.bytes());
    }
    for (auto &[number, names] : byNumber) {
        if (names.size() < 2)
            continue;
        const QString message =
            u"%1 nodes have the number %2: more than one client may act as the holder"_s.arg(names.size())
                .arg(number);
        addFinding(lock, FindingCode::SequenceOverflow, message, std::move(names));
    }
}

void addMixture(LockSnapshot &lock, const std::vector<Placed> &queue)
{
    const auto isKazoos = [](const Placed &one) {
        return (one.member.match.layout->queues & Layout::KazooQueue) != 0;
    };
    if (std::ranges::all_of(queue, isKazoos))
        return;
    std::vector<QByteArray> kazoos;
    for (const auto &one : queue) {
        if (one.member.match.layout->seesOnlyItsOwnNames)
            kazoos.push_back(one.member.node->name.bytes());
    }
    if (kazoos.empty())
        return;
    addFinding(lock, FindingCode::ForeignNode, Severity::Warning,
               u"kazoo's nodes beside another client's exclude each other only if kazoo was given the pattern "
               "-lock-"_s,
               std::move(kazoos));
}

// What is known of a queue besides its members.
struct QueueView {
    const ZPath &directory;
    const Watching &watching;
    const QueueFolder &folder;
    const RecogniseContext &context;
};

void addContenders(LockSnapshot &lock, const Description &description, const std::vector<Placed> &queue,
                   Mode exclusive, const QueueView &view)
{
    Obstacles obstacles;
    lock.contenders.reserve(queue.size());
    for (size_t i = 0; i < queue.size(); ++i) {
        const Placed &one = queue[i];
        Contender contender = contenderOf(*one.member.node, view.directory, view.watching.servers());
        contender.mode = modeOf(one.member, exclusive);
        // Of several permits nothing shows which of its places a client counts from.
        const bool mayWait = one.turn.isMine() && exclusive != Mode::Permit;
        auto obstacle = mayWait ? obstacleOf(queue, i, view.watching, view.folder) : std::nullopt;
        if (one.turn.isMine() && !obstacle) {
            markHolder(contender, *one.member.node, view.context);
            contender.heldAtMost &= description.discipline != Discipline::NoQueue;
        } else {
            markWaiter(contender, *one.member.node);
        }
        if (obstacle) {
            contender.watches.push_back({obstacle->node.bytes(), false, obstacle->evidence});
            obstacles.emplace(i, *std::move(obstacle));
        } else if (!one.turn.isMine() && description.discipline != Discipline::NoQueue) {
            addEdges(contender, one, queue, description, view.watching, lock);
        }
        if (!one.member.node->mayBeEphemeral())
            addPersistentNode(lock, contender.id);
        if (isRevocation(*one.member.node))
            addFinding(lock, FindingCode::RevocationRequested, u"a client asked this contender to release the lock"_s,
                       {one.member.node->name.bytes()});
        lock.contenders.push_back(std::move(contender));
    }
    std::ranges::stable_partition(lock.contenders, [](const auto &one) { return one.role == Role::Holder; });
    numberAndJudge(lock);
    if (obstacles.empty())
        return;
    if (lock.holderCount() == 0)
        lock.state = LockState::Contended; // whoever comes waits as well
    addObstacleFindings(lock, queue, obstacles);
}

QString whyOf(const Description &description, const std::vector<Placed> &queue)
{
    const bool areEphemeral =
        std::ranges::none_of(queue, [](const auto &one) { return one.member.node->stat.ephemeralOwner.isNone(); });
    const QString kind = areEphemeral ? u"ephemeral "_s : QString();
    const QString children = queue.size() == 1 ? u"child"_s : u"children"_s;
    QString why = u"%1 %2%3 named %4"_s.arg(queue.size()).arg(kind, children, description.form);
    return description.note.isEmpty() ? why : why + clause(description.note);
}

} // namespace

ServerTime momentOf(std::chrono::milliseconds sinceEpoch)
{
    return ServerTime(sinceEpoch);
}

std::optional<ServerTime> madeAt(const ZnodeView &node)
{
    return node.isStatKnown ? std::optional(momentOf(node.stat.ctime)) : std::nullopt;
}

Contender contenderOf(const ZnodeView &node, const ZPath &directory, const ServerView &servers)
{
    Contender out;
    out.id = node.name.bytes();
    const zk::SessionId owner = node.stat.ephemeralOwner;
    if (!owner.isNone()) {
        out.session = owner.text();
        out.endpoint = servers.endpoint(owner);
    }
    if (node.data && !node.data->isEmpty() && !isRevocation(node))
        out.identity = node.data->left(identityBytes);
    out.guard = ZnodeIdentity{.path = directory.child(node.name).bytes(),
                              .czxid = node.stat.czxid,
                              .owner = owner.value,
                              .version = node.stat.version};
    return out;
}

void markHolder(Contender &contender, const ZnodeView &node, const RecogniseContext &context)
{
    contender.role = Role::Holder;
    if (context.headSince) {
        const auto seen =
            context.headSince->find({ZPath(contender.guard.znode().path), contender.guard.znode().czxid});
        if (seen != context.headSince->end()) {
            contender.heldSince = seen->second;
            return;
        }
    }
    contender.heldSince = madeAt(node);
    const auto sequence = recipes::readSequence(node.name);
    contender.heldAtMost = contender.heldSince && sequence && sequence->sequence != 0;
}

void markWaiter(Contender &contender, const ZnodeView &node)
{
    contender.role = Role::Waiter;
    contender.waitingSince = madeAt(node);
}

void numberAndJudge(LockSnapshot &lock)
{
    for (size_t i = 0; i < lock.contenders.size(); ++i)
        lock.contenders[i].position = static_cast<int>(i);
    judgeState(lock);
}

LockSnapshot emptySnapshot(const QByteArray &name, const RecogniseContext &context)
{
    LockSnapshot out;
    out.lock = {context.connection, name};
    out.backend = BackendKind::ZooKeeper;
    out.observed = context.observed;
    out.serverAhead = context.serverAhead;
    return out;
}

void addForeignNodes(LockSnapshot &lock, const std::vector<const ZnodeView *> &nodes, bool breaksTheRecipe)
{
    if (nodes.empty())
        return;
    const QString first = label(nodes.front()->name.bytes(), 80);
    QString message = u"%1 in the lock's directory is not of its recipe"_s.arg(first);
    if (nodes.size() > 1)
        message += u" (and %1 more)"_s.arg(nodes.size() - 1);
    if (breaksTheRecipe)
        message += clause(u"this client cannot lock beside it"_s);
    addFinding(lock, FindingCode::ForeignNode, breaksTheRecipe ? Severity::Warning : Severity::Info, message);
}

void addPersistentNode(LockSnapshot &lock, const QByteArray &id)
{
    addFinding(lock, FindingCode::PersistentNode,
               u"%1 is not an ephemeral node: it stays when its client dies"_s.arg(label(id, 80)), {id});
}

std::vector<Placed> place(const Description &description, std::vector<Member> members, int permits)
{
    auto queue = mapped<std::vector<recipes::Queued>>(members, [](const Member &member) {
        return recipes::Queued{member.match.sequence, member.match.access};
    });
    recipes::sortQueue(queue);
    std::map<NodeName, const Member *> byName;
    for (const auto &member : members)
        byName.emplace(member.node->name, &member);
    std::vector<Placed> out;
    out.reserve(queue.size());
    Shortened relevant(queue, permits);
    for (size_t i = 0; i < queue.size(); ++i) {
        const NodeName &name = queue[i].node.name;
        out.push_back({*byName.at(name), turnOf(description, relevant.upTo(i), name, permits)});
    }
    const Writers writers = writersOf(out);
    for (auto &one : out) {
        if (isDowngraded(one, writers))
            one.turn = writers.at(stampOf(one));
    }
    return out;
}

LockSnapshot queueLock(const QByteArray &name, const Description &description, std::vector<Member> members,
                       const ZPath &directory, const RecogniseContext &context, const QueueFolder &folder)
{
    LockSnapshot lock = emptySnapshot(name, context);
    lock.recipe = description.recipe;
    lock.client = description.client;
    lock.confidence = description.confidence;
    auto queue = place(description, std::move(members), 1);
    lock.why = whyOf(description, queue);
    lock.waitersKnown = description.discipline != Discipline::NoQueue;
    Mode exclusive = description.mode;
    std::optional<Watching> watching(std::in_place, queue, directory, context);
    if (description.maybeSemaphore) {
        const int permits = permitsByWatches(queue, *watching);
        if (permits > 1) {
            auto again = mapped<std::vector<Member>>(queue, &Placed::member);
            queue = place(description, std::move(again), permits);
            watching.emplace(queue, directory, context);
            exclusive = Mode::Permit;
            lock.why += clause(u"each watches the one %1 places before it, so %1 may enter"_s.arg(permits));
            if (!description.recipeOfSemaphore.isEmpty())
                lock.recipe = description.recipeOfSemaphore;
        }
    }
    addContenders(lock, description, queue, exclusive, {directory, *watching, folder, context});
    addOverflow(lock, queue);
    addMixture(lock, queue);
    addSessionFindings(lock, context);
    addHerdFinding(lock);
    return lock;
}

} // namespace lockscope::inspect
