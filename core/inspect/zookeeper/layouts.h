// SPDX-License-Identifier: Apache-2.0
// The layouts of queue locks, one row each: how a child's name looks, and what a directory of such children is (the
// rules of docs/layouts.md, "Rules for ZooKeeper"). The rows are in resources/rules/zookeeper-layouts.json.
#pragma once

#include "core/base/text.h"
#include "core/inspect/zookeeper/recognise.h"
#include "core/rules/turn.h"

namespace lockscope::inspect {

// The shapes that clients give to node names.

// What a client puts before a name to know its own node again: Curator's "_c_<uuid36>-", go-zookeeper's
// "_c_<hex32>-", kazoo's "<hex32>".
enum class Protection { None, Dashed, Plain, Kazoo };
struct ProtectedName {
    Protection kind = Protection::None;
    qsizetype length = 0;
};
[[nodiscard]] ProtectedName readProtection(QByteArrayView name);
[[nodiscard]] qsizetype lengthOf(Protection protection);

// Without the random ids in it, by which clients know their own nodes.
[[nodiscard]] QByteArray withoutUuids(QByteArray text);

// The number behind `base` when `base` ends exactly `before` bytes into the name.
[[nodiscard]] std::optional<recipes::SequencedName> sequenceAt(const NodeName &name, qsizetype before,
                                                               const QByteArray &base);

struct Layout;

struct LayoutMatch {
    const Layout *layout = nullptr;
    recipes::SequencedName sequence;
    recipes::Access access = recipes::Access::Exclusive;
    QByteArray group = {}; // what in the name tells one lock of the directory from another: see Layout::Extent
};

struct Member {
    const ZnodeView *node = nullptr;
    LayoutMatch match;
};

// How a queue decides who holds it; the decisions themselves are in core/rules/turn.h.
enum class Discipline {
    Mutex,            // the lowest; each waits for the one before
    CuratorReadWrite, // a reader watches the lowest writer
    ReadWrite,        // a reader watches the nearest writer before it
    Herd,             // the lowest; all watch the children
    NoQueue,          // whoever meets a conflict deletes its own node and tries again later
};

struct Description {
    QByteArray recipe;
    std::optional<QString> client = {};
    QString form = {}; // how the names look: "_c_<uuid>-lock-<seq>"
    QString note = {}; // more to say in `why`, or empty
    Confidence confidence = Confidence::Low;
    Discipline discipline = Discipline::Mutex;
    Mode mode = Mode::Exclusive; // of those that do not share
    // Whether the watches expected are sure enough to call another one wrong.
    bool watchesAreCertain = false;
    // Whether somebody may watch the children instead of its predecessor.
    bool mayWatchChildren = false;
    // Semaphores of this layout do not say how many may enter.
    bool maybeSemaphore = false;
    QByteArray recipeOfSemaphore = {}; // where the watches show that it is one; empty: the same
};

// A name that is `base` and a number, behind what its client puts before.
struct NameForm {
    QByteArray base;
    Protection protection = Protection::None;
    recipes::Access access = recipes::Access::Exclusive;
};

struct Layout {
    // What is one lock: the directory, or the children of one group (Flat: always under the group's name; Siblings:
    // under the directory's where there is one group only).
    enum class Extent { Directory, Flat, Siblings };
    // Layouts that have a queue in common wait behind each other in one directory.
    enum Queue : unsigned { OwnQueue = 0, CuratorLikeQueue = 1, KazooQueue = 2, RecipeQueue = 4 };

    QByteArray id = {};
    std::vector<NameForm> names = {};
    bool isEphemeralOnly = false;
    QByteArray below = {}; // the name that the directory's parent must have; empty: any
    // In place of `names`, where they cannot say it.
    std::optional<LayoutMatch> (*matches)(const Layout &layout, const ZnodeView &node) = nullptr;

    Description description;
    // What the members, or the place, say beyond that.
    void (*refine)(Description &description, const std::vector<Member> &members, const ZPath &directory) = nullptr;

    Extent extent = Extent::Directory;
    unsigned queues = OwnQueue;
    // Persistent children are contenders that outlive their session, not messages: the names are the client's own.
    bool isUnmistakable = false;
    bool breaksBesideForeignNodes = false;
    bool seesOnlyItsOwnNames = false; // other clients' only if it was told their pattern
    bool mayShareNumbers = false;     // equal numbers do not mean that the counter has run over
    bool liesAmongFolders = false;    // other children are no strangers
    // Its clients wait for any child whose text behind their base name sorts before their own number.
    bool countsEveryChild = false;

    [[nodiscard]] std::optional<LayoutMatch> matchLayout(const ZnodeView &node, const ZPath &directory) const;
    // By `names` alone.
    [[nodiscard]] std::optional<LayoutMatch> matchName(const NodeName &name) const;
    [[nodiscard]] Description describe(const std::vector<Member> &members, const ZPath &directory) const;
    [[nodiscard]] bool queuesWith(const Layout &other) const { return this == &other || (queues & other.queues); }
};

// All of them, in the order in which they are asked.
[[nodiscard]] const std::vector<Layout> &layouts();
// One of them, by a name that is there.
[[nodiscard]] const Layout &layoutNamed(QByteArrayView name);
// What the first layout that fits says.
[[nodiscard]] std::optional<LayoutMatch> matchLayout(const ZnodeView &node, const ZPath &directory);

// Nodes of well-known systems that look like locks and are none (rule 24 of docs/layouts.md).
[[nodiscard]] bool isNoLockDirectory(const ZPath &directory);
[[nodiscard]] bool isNoLock(const ZPath &directory, const NodeName &name);
// What that node is, is known: it needs no explanation.
[[nodiscard]] bool isKnownEntry(const ZPath &directory, const NodeName &name);

// Whose turn it is where nobody queues (Discipline::NoQueue).
[[nodiscard]] recipes::Turn turnWithoutQueue(const std::vector<recipes::Queued> &queue, const NodeName &me);

// Curator's request to the holder to let go.
[[nodiscard]] bool isRevocation(const ZnodeView &node);

} // namespace lockscope::inspect
