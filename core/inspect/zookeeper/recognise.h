// SPDX-License-Identifier: Apache-2.0
// From a directory of znodes to the locks in it. Pure: views in, snapshots out.
//
// The rules are those of docs/layouts.md, "Rules for ZooKeeper", in the order given there. Whose turn it is and who
// ought to watch whom comes from the recipes' own decision functions (core/recipes), never from a second copy here.
#pragma once

#include "core/inspect/snapshot.h"
#include "core/zookeeper/evidence.h"

namespace lockscope::inspect {

struct ZnodeView {
    NodeName name;
    zk::Stat stat;
    std::optional<QByteArray> data; // empty optional: not read (too large, no permission)
    std::optional<QString> error;   // why it could not be read
    // False: that it is there is all that may be known. ZooKeeper from 3.9.3 on tells the stat, too, only to whom may
    // read the node (ZOOKEEPER-2590).
    bool isStatKnown = true;

    // Where nobody may know, it is taken for a contender's: left out, whoever comes next would seem to be first.
    [[nodiscard]] bool mayBeEphemeral() const { return !stat.ephemeralOwner.isNone() || !isStatKnown; }
};

// A directory and what was read around it. Paths are below the connection's chroot.
struct DirectoryView {
    ZPath path;
    zk::Stat stat;
    QByteArray data;
    std::vector<ZnodeView> children;
    // Composite locks: the child directories "locks" and "leases", and the sibling "<name>-__lock__".
    std::map<QByteArray, std::vector<ZnodeView>> parts;
    Instant listedAt{}; // it was listed then, or later
    bool isCut = false; // children were left out because there are too many
};

[[nodiscard]] bool hasChild(const DirectoryView &directory, const QByteArray &name);
// How many children the folder has had, of which a server makes its counter of changes. 0: not known.
[[nodiscard]] inline qint64 createdIn(const zk::Stat &folder)
{
    return folder.cversion < folder.numChildren ? 0 : (qint64(folder.cversion) + folder.numChildren) / 2;
}
// Whether the folder's counter may have given that number; not the last ones, which are as good as over.
[[nodiscard]] bool mayHaveGiven(const zk::Stat &folder, qint64 number);

// Since when we have seen each contender's node at the head (own observation): by path and czxid, for a path
// can come again.
using HeadSince = std::map<std::pair<ZPath, qint64>, ServerTime>;

struct RecogniseContext {
    ConnectionName connection;
    QByteArray chroot;                      // evidence carries full paths
    const zk::Evidence *evidence = nullptr; // null: nothing a server said is known
    zk::SessionId ourselves;                // its watches are left out
    ServerTime observed{};
    std::chrono::milliseconds serverAhead{};
    const HeadSince *headSince = nullptr;
    Instant listedAt{}; // of the directory, set by recognise()
    // Set where a rule kept silent only because the list is older than the evidence.
    bool *wantsNewerList = nullptr;
};

// Those of the nodes of which that is true.
template <class Predicate>
[[nodiscard]] std::vector<const ZnodeView *> nodesWhere(const std::vector<ZnodeView> &nodes, Predicate is)
{
    std::vector<const ZnodeView *> found;
    for (const auto &node : nodes) {
        if (is(node))
            found.push_back(&node);
    }
    return found;
}

using NamesByParent = std::map<ZPath, std::vector<NodeName>>;

// "…/LOCK/<scope>", where Helix keeps its locks.
[[nodiscard]] bool isHelixScope(const ZPath &directory);
// By names alone: might `parent` with these ephemeral children be (part of) a lock? Saves reading
// what cannot be one. Returns the directory to look at as a whole (for `…/locks` beside `…/leases`
// the composite's path, for a lone ephemeral its own parent).
[[nodiscard]] std::optional<ZPath> candidateDirectory(const ZPath &parent, const std::vector<NodeName> &ephemerals);
// Where such a part is: inside the directory, or beside it.
[[nodiscard]] ZPath partPath(const ZPath &directory, const QByteArray &part);
// Every node of the directory and its parts, with the folder that it is in.
template <class Directory, class Call>
void eachNode(Directory &directory, Call call)
{
    for (auto &node : directory.children)
        call(directory.path, node);
    for (auto &[name, nodes] : directory.parts) {
        const auto folder = partPath(directory.path, name);
        for (auto &node : nodes)
            call(folder, node);
    }
}
// Every ephemeral of the directory and its parts.
[[nodiscard]] std::set<ZPath> pathsOfEphemerals(const DirectoryView &view);
// The parts that must be read besides the children, for DirectoryView::parts.
[[nodiscard]] std::vector<ZPath> partsToRead(const DirectoryView &directory);

// Every lock in the directory; empty if there is none.
[[nodiscard]] std::vector<LockSnapshot> recognise(const DirectoryView &directory, const RecogniseContext &context);

// The evidence of one connection, asked in the words of the recognisers: paths below the chroot go
// in, our own session is left out, and what the servers did not say stays unknown.

struct SessionHealth {
    bool connected = false;
    std::optional<std::chrono::milliseconds> silence; // only when longer than a living client keeps
    std::optional<std::chrono::milliseconds> expiresIn;
    [[nodiscard]] bool isAlive() const { return connected && !silence; }
};

// A view: lives no longer than the context it is made of.
class ServerView {
public:
    explicit ServerView(const RecogniseContext &context)
        : m_context(context), m_evidence(context.evidence ? *context.evidence : none())
    {
    }

    [[nodiscard]] bool isOurs(zk::SessionId session) const { return session == m_context.ourselves; }
    [[nodiscard]] std::optional<QString> endpoint(zk::SessionId session) const
    {
        const auto found = m_evidence.connections.find(session);
        return found == m_evidence.connections.end() ? std::nullopt : std::optional(found->second.endpoint);
    }
    // Each that the servers list, below the connection's chroot.
    void eachEphemeral(const std::function<void(zk::SessionId, const ZPath &)> &call) const;
    // Empty unless every member answered `cons`.
    [[nodiscard]] std::optional<SessionHealth> health(zk::SessionId session) const;

    // Every member answered `wchp`: a watch that is not listed does not exist.
    [[nodiscard]] bool knowsAllWatches() const { return m_evidence.isComplete("wchp"); }
    // Whether the list that is judged shows what the servers' lists of watches may tell of: who moved up since then
    // watches another node, or none any more. Asked last, where a rule would speak: it is noted that it could not.
    [[nodiscard]] bool isListAsNew() const
    {
        const bool isAsNew = m_context.evidence && m_context.listedAt >= m_context.evidence->answeredAt;
        if (!isAsNew && m_context.wantsNewerList)
            *m_context.wantsNewerList = true;
        return isAsNew;
    }
    // Whether the evidence is younger than that moment of the servers' clock.
    [[nodiscard]] bool wasAskedAfter(ServerTime moment) const;
    [[nodiscard]] bool watches(zk::SessionId session, const ZPath &path) const
    {
        if (session.isNone() || isOurs(session))
            return false;
        const auto found = m_evidence.dataWatches.find(fullPath(path.bytes()));
        return found != m_evidence.dataWatches.end() && found->second.contains(session);
    }
    [[nodiscard]] std::vector<zk::SessionId> watchers(const ZPath &path) const
    {
        const auto found = m_evidence.dataWatches.find(fullPath(path.bytes()));
        if (found == m_evidence.dataWatches.end())
            return {};
        std::vector<zk::SessionId> all(found->second.begin(), found->second.end());
        std::erase_if(all, [this](zk::SessionId session) { return isOurs(session); });
        return all;
    }
    // Whether it watches any path that begins so.
    [[nodiscard]] bool watchesBelow(zk::SessionId session, const QByteArray &prefix) const;

private:
    [[nodiscard]] ZPath fullPath(const QByteArray &path) const
    {
        const QByteArray &chroot = m_context.chroot;
        if (chroot.isEmpty() || chroot == "/")
            return ZPath(path);
        return ZPath(path == "/" ? chroot : chroot + path);
    }

    // Said by nobody.
    [[nodiscard]] static const zk::Evidence &none()
    {
        static const zk::Evidence nothing;
        return nothing;
    }

    const RecogniseContext &m_context;
    const zk::Evidence &m_evidence;
};

// What is wrong with the sessions of a lock's contenders, from what the servers answered about them. Pure functions
// on snapshots; the one thing that needs memory (a watch missing twice in a row) is a small class.

// holder-disconnected and stale-queue, from complete `cons` evidence only. A disconnected holder's
// expiresAt is filled in where the servers said when its session ends.
void addSessionFindings(LockSnapshot &lock, const RecogniseContext &context);

// Waiters that by complete `wchp` evidence watch nothing of their lock, in a recipe whose watches a server can show.
// Suspects only: the evidence may be older than the wait, or the waiter between two looks at its queue.
[[nodiscard]] std::vector<QByteArray> watchingNothing(const LockSnapshot &lock, const RecogniseContext &context);

// lost-wakeup: whoever was suspect in two different evidence answers in a row. Kept by the observer,
// asked once per snapshot. Not thread-safe.
class LostWakeupMemory {
public:
    // Adds the finding to the snapshot when it is due.
    void judge(LockSnapshot &lock, const RecogniseContext &context);
    void forget(const LockName &lock) { m_suspects.erase(lock); }

private:
    struct Suspicion {
        int times = 0;
        std::chrono::system_clock::time_point lastAsked;
    };
    std::map<LockName, std::map<QByteArray, Suspicion>> m_suspects;
};

} // namespace lockscope::inspect
