// SPDX-License-Identifier: Apache-2.0
// The layouts of queue locks: what a child's name says, and what a directory of such children is.
//
// Each family of clients has a file of its own with two functions: one claims a child (the rules of
// docs/layouts.md, "Rules for ZooKeeper"), one describes the lock that the claimed children make.
#pragma once

#include "core/inspect/zookeeper/recognise.h"
#include "core/rules/turn.h"

namespace lockscope::inspect {

// In the order of the rules: in a mixed directory the first one present names the lock.
enum class Layout {
    CuratorReadWrite,
    CuratorLease,
    CuratorLatch,
    CuratorLock,
    GoLock,
    KazooRead,
    KazooLock,
    JavaRecipe,
    CRecipe,
    SolrElection,
    ElectionSupport,
    ClickHouseElection,
    HBaseTable,
    DotNetReadWrite,
    DotNetSemaphore,
    RubyLock,
    RubySemaphore,
    RubyElection,
    TextbookShared,
    Herd,
    Flat,
    PlainLock,
    Generic,
};

struct Claim {
    Layout layout = Layout::Generic;
    recipes::SequencedName sequence;
    recipes::Access access = recipes::Access::Exclusive;
    QByteArray group; // Flat, Generic: the part of the name that tells one lock of the directory from another
};

struct Member {
    const ZnodeView *node = nullptr;
    Claim claim;
};

// How a queue decides who holds it; the decisions themselves are in core/rules/turn.h.
enum class Discipline {
    Mutex,              // the lowest; each waits for the one before
    CuratorReadWrite,   // a reader watches the lowest writer
    ReadWrite,          // a reader watches the nearest writer before it
    Herd,               // the lowest; all watch the children
};

struct Description {
    QByteArray recipe;
    std::optional<QString> client;
    QString form;                 // how the names look: "_c_<uuid>-lock-<seq>"
    QString note;                 // more to say in `why`, or empty
    Confidence confidence = Confidence::Low;
    Discipline discipline = Discipline::Mutex;
    Mode mode = Mode::Exclusive;  // of those that do not share
    // Whether the watches expected are sure enough to call another one wrong.
    bool watchesAreCertain = false;
    // Whether somebody may watch the children instead of its predecessor.
    bool mayWatchChildren = false;
    // Semaphores of this layout do not say how many may enter.
    bool maybeSemaphore = false;
};

// Whether persistent children of this layout are contenders that outlive their session (a client's
// own unmistakable names) or just a queue of messages.
[[nodiscard]] bool isUnmistakable(Layout layout);
// Whether these layouts queue behind each other in one directory.
[[nodiscard]] bool queueTogether(Layout first, Layout other);

[[nodiscard]] std::optional<Claim> claimCurator(const ZnodeView &node, const ZPath &directory);
[[nodiscard]] std::optional<Claim> claimKazoo(const ZnodeView &node, const ZPath &directory);
[[nodiscard]] std::optional<Claim> claimZooKeeperRecipe(const ZnodeView &node, const ZPath &directory);
[[nodiscard]] std::optional<Claim> claimElection(const ZnodeView &node, const ZPath &directory);
[[nodiscard]] std::optional<Claim> claimOtherClients(const ZnodeView &node, const ZPath &directory);
[[nodiscard]] std::optional<Claim> claimConvention(const ZnodeView &node, const ZPath &directory);
// The first of the above that fits.
[[nodiscard]] std::optional<Claim> claim(const ZnodeView &node, const ZPath &directory);

[[nodiscard]] Description describeCurator(Layout layout, const std::vector<Member> &members, const ZPath &directory);
[[nodiscard]] Description describeKazoo(const std::vector<Member> &members);
[[nodiscard]] Description describeZooKeeperRecipe(Layout layout);
[[nodiscard]] Description describeElection(Layout layout);
[[nodiscard]] Description describeOtherClients(Layout layout, const std::vector<Member> &members);
[[nodiscard]] Description describeConvention(Layout layout, const std::vector<Member> &members);
[[nodiscard]] Description describe(Layout layout, const std::vector<Member> &members, const ZPath &directory);

// Nodes of well-known systems that look like locks and are none (rule 24 of docs/layouts.md).
[[nodiscard]] bool isNoLockDirectory(const ZPath &directory);
[[nodiscard]] bool isNoLock(const ZPath &directory, const NodeName &name);

// Curator's request to the holder to let go.
[[nodiscard]] bool isRevocation(const ZnodeView &node);

} // namespace lockscope::inspect
