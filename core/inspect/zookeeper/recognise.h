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
// The parts that must be read besides the children, for DirectoryView::parts.
[[nodiscard]] std::vector<ZPath> partsToRead(const DirectoryView &directory);

// Every lock in the directory; empty if there is none.
[[nodiscard]] std::vector<LockSnapshot> recognise(const DirectoryView &directory, const RecogniseContext &context);

} // namespace lockscope::inspect
