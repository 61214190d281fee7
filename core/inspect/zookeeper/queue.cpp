#include "core/inspect/zookeeper/queue.h"

#include "core/inspect/findings.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;
using recipes::Turn;

namespace {

Turn turnOf(const Description &description, const std::vector<recipes::Queued> &queue, const NodeName &me, int permits)
{
    switch (description.discipline) {
    case Discipline::CuratorReadWrite:
        return recipes::turnInReadWriteQueue(queue, me, recipes::ReaderWatches::LowestWriter);
    case Discipline::ReadWrite:
        return recipes::turnInReadWriteQueue(queue, me, recipes::ReaderWatches::NearestWriter);
    case Discipline::Mutex:
    case Discipline::Herd:
        break;
    }
    return recipes::turnInQueue(queue, me, permits);
}

// A writer that also took the read lock makes a reader with its own number (Curator ≥ 5.5): it holds
// what the writer holds.
const Placed *downgradedFrom(const Placed &reader, const std::vector<Placed> &all)
{
    if (reader.member.claim.access != Access::Shared)
        return nullptr;
    const auto writer = std::ranges::find_if(all, [&reader](const Placed &one) {
        return one.member.claim.access == Access::Exclusive
            && one.member.claim.sequence.sequence == reader.member.claim.sequence.sequence
            && one.member.node->stat.ephemeralOwner == reader.member.node->stat.ephemeralOwner;
    });
    return writer == all.end() ? nullptr : &*writer;
}

// Who watches whom, as far as the servers' answers prove it.
class Watching {
public:
    Watching(const std::vector<Placed> &queue, const ZPath &directory, const RecogniseContext &context)
        : m_queue(queue)
        , m_directory(directory)
        , m_servers(context)
    {
        for (const auto &one : queue)
            ++m_nodesOf[one.member.node->stat.ephemeralOwner];
    }

    // A session that has several nodes in the lock may be waiting with any of them.
    bool isProvable(const ZnodeView &node) const
    {
        const auto owner = node.stat.ephemeralOwner;
        return !owner.isNone() && !m_servers.isOurs(owner) && m_nodesOf.at(owner) == 1;
    }
    // The other nodes of the queue that its session watches, in queue order.
    std::vector<size_t> watchedBy(const ZnodeView &node) const
    {
        std::vector<size_t> out;
        if (!isProvable(node))
            return out;
        for (size_t i = 0; i < m_queue.size(); ++i) {
            const auto &other = *m_queue[i].member.node;
            if (other.name != node.name && m_servers.watches(node.stat.ephemeralOwner, m_directory.child(other.name)))
                out.push_back(i);
        }
        return out;
    }
    const ServerView &servers() const { return m_servers; }

private:
    const std::vector<Placed> &m_queue;
    ZPath m_directory;
    ServerView m_servers;
    std::map<zk::SessionId, int> m_nodesOf;
};

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
    return distances.size() == 1 ? static_cast<int>(*distances.begin()) : 1;
}

bool isAcceptable(const Placed &waiter, const Placed &watched, const Description &description)
{
    if (waiter.turn.predecessor && watched.member.node->name == *waiter.turn.predecessor)
        return true;
    // Which writer a reader waits for differs from version to version.
    return description.discipline != Discipline::Mutex && waiter.member.claim.access == Access::Shared
        && watched.member.claim.access == Access::Exclusive;
}

void addEdges(Contender &contender, const Placed &waiter, const std::vector<Placed> &queue,
              const Description &description, const Watching &watching, LockPicture &lock)
{
    if (description.discipline == Discipline::Herd) {
        contender.watches.push_back({{}, true, Evidence::Inferred});
        return;
    }
    const auto watched = watching.watchedBy(*waiter.member.node);
    bool right = false;
    for (const size_t i : watched) {
        right |= isAcceptable(waiter, queue[i], description);
        const WatchEdge edge{queue[i].member.node->name.bytes(), false, Evidence::Server};
        // The one it waits for comes first; an eager waiter watches one more.
        const bool expected = waiter.turn.predecessor && edge.target == waiter.turn.predecessor->bytes();
        contender.watches.insert(expected ? contender.watches.begin() : contender.watches.end(), edge);
    }
    const bool timely = contender.waitingSince && watching.servers().wasAskedAfter(*contender.waitingSince);
    if (!watched.empty() && !right && timely && description.watchesAreCertain
        && watching.servers().knowsAllWatches()) {
        lock.findings.push_back({"wrong-watch", Severity::Warning,
                                 u"watches another node than the one it has to wait for"_s, {contender.id}});
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

// Equal numbers mean that the server's counter has run over (or a reader of a writer's own, or
// Solr's join at the head, which are meant).
void addOverflow(LockPicture &lock, const std::vector<Placed> &queue)
{
    std::map<qint64, std::vector<QByteArray>> byNumber;
    for (const auto &one : queue) {
        const bool meant = one.member.claim.layout == Layout::SolrElection || downgradedFrom(one, queue);
        if (!meant)
            byNumber[one.member.claim.sequence.sequence].push_back(one.member.node->name.bytes());
    }
    for (auto &[number, names] : byNumber) {
        if (names.size() < 2)
            continue;
        const QString message = u"%1 nodes carry the number %2: more than one of them may believe it holds"_s
                                    .arg(names.size())
                                    .arg(number);
        lock.findings.push_back({"sequence-overflow", Severity::Critical, message, std::move(names)});
    }
}

void addRevocation(LockPicture &lock, const Member &member)
{
    if (isRevocation(*member.node)) {
        lock.findings.push_back({"revocation-requested", Severity::Info,
                                 u"somebody asked this contender to let go"_s, {member.node->name.bytes()}});
    }
}

void addMixture(LockPicture &lock, const std::vector<Placed> &queue)
{
    std::vector<QByteArray> kazoos;
    for (const auto &one : queue) {
        if (one.member.claim.layout == Layout::KazooLock)
            kazoos.push_back(one.member.node->name.bytes());
    }
    if (kazoos.empty() || kazoos.size() == queue.size() || lock.recipe.startsWith("kazoo-"))
        return;
    lock.findings.push_back({"foreign-node", Severity::Warning,
                             u"kazoo's nodes beside another client's exclude each other only if kazoo was given "
                             "the pattern -lock-"_s,
                             std::move(kazoos)});
}

QString whyOf(const Description &description, const std::vector<Placed> &queue)
{
    const auto persistent = std::ranges::count_if(
        queue, [](const auto &one) { return one.member.node->stat.ephemeralOwner.isNone(); });
    const QString kind = persistent == 0 ? u"ephemeral "_s : QString();
    const QString children = queue.size() == 1 ? u"child"_s : u"children"_s;
    QString why = u"%1 %2%3 named %4"_s.arg(queue.size()).arg(kind, children, description.form);
    return description.note.isEmpty() ? why : why + u"; "_s + description.note;
}

} // namespace

std::vector<Placed> place(const Description &description, std::vector<Member> members, int permits)
{
    std::vector<recipes::Queued> queue;
    for (const auto &member : members)
        queue.push_back({member.claim.sequence, member.claim.access});
    recipes::sortQueue(queue);
    std::vector<Placed> out;
    for (const auto &queued : queue) {
        const auto member = std::ranges::find(members, queued.node.name, [](const auto &m) { return m.node->name; });
        out.push_back({*member, turnOf(description, queue, queued.node.name, permits)});
    }
    for (auto &one : out) {
        if (const Placed *writer = downgradedFrom(one, out))
            one.turn = writer->turn;
    }
    return out;
}

LockPicture queueLock(const QByteArray &name, const Description &description, std::vector<Member> members,
                      const ZPath &directory, const RecogniseContext &context)
{
    LockPicture lock = emptyPicture(name, context);
    lock.recipe = description.recipe;
    lock.client = description.client;
    lock.confidence = description.confidence;
    auto queue = place(description, std::move(members), 1);
    lock.why = whyOf(description, queue);
    Mode exclusive = description.mode;
    if (description.maybeSemaphore) {
        const int permits = permitsByWatches(queue, Watching(queue, directory, context));
        if (permits > 1) {
            std::vector<Member> again;
            for (const auto &one : queue)
                again.push_back(one.member);
            queue = place(description, std::move(again), permits);
            exclusive = Mode::Permit;
            lock.why += u"; each watches the one %1 places before it, so %1 may enter"_s.arg(permits);
            if (lock.client == u"Curator"_s)
                lock.recipe = "curator-semaphore";
        }
    }
    const Watching watching(queue, directory, context);
    for (const auto &one : queue) {
        Contender contender = contenderOf(*one.member.node, directory, watching.servers());
        contender.mode = one.member.claim.access == Access::Shared ? Mode::Read : exclusive;
        if (one.turn.isMine()) {
            markHolder(contender, *one.member.node, context);
        } else {
            markWaiter(contender, *one.member.node);
            addEdges(contender, one, queue, description, watching, lock);
        }
        if (one.member.node->stat.ephemeralOwner.isNone())
            addPersistentNode(lock, contender.id);
        addRevocation(lock, one.member);
        lock.contenders.push_back(std::move(contender));
    }
    numberAndJudge(lock);
    addOverflow(lock, queue);
    addMixture(lock, queue);
    addSessionFindings(lock, context);
    addHerdFinding(lock);
    return lock;
}

} // namespace lockscope::inspect
