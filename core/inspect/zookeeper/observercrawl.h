// SPDX-License-Identifier: Apache-2.0
// Walks the tree for what no server lists: where `dump` is refused every ephemeral, and anywhere the lock nodes that
// belong to no session. Bounded, and as gentle as told.
//
// What promises most comes first, breadth first among equals: names that say lock and what is below them, small
// folders and numbered children, some children of each large folder. The others of a large folder come last if those
// were leaves: a budget must not go on a hundred thousand of them while locks stand elsewhere. Where the children of
// those were leaves, so a thousand folders of a hundred leaves each, the children of the others are taken for leaves.
#pragma once

#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

// Reads a directory of locks in as few round trips and requests as its shape allows: lists it, then reads its
// children, pipelined, and its own data where it has any; nodes that cannot have changed are not read again.

// What was read, and what it took.
struct ReadAnswer {
    DirectoryView view;
    std::map<QByteArray, zk::Stat> partStats; // of the folders in `view.parts`
    bool overBudget = false;                  // some folder could not be watched
    qint64 unread = 0;                        // children left out because there are too many
    qint64 requests = 0;                      // what it cost
};

struct ReadRequest {
    ZPath path;
    // What was read before: nodes with a number are taken from it. Null: everything afresh.
    std::shared_ptr<const ReadAnswer> known;
    // Of a large folder so many of them are read again all the same: those at the head of the queue, and a part of
    // the others, from that one on in the order of their names. None: all are taken from it.
    std::size_t again = 0;
    std::size_t againFrom = 0;
    // So many children are read that nobody suspects.
    std::size_t most = 2000;
    std::size_t inFlight = 128; // requests out at a time
    // Read first where there are too many children to read them all.
    std::shared_ptr<const std::set<ZPath>> suspects;
    // Only children whose names begin so; empty: all.
    QByteArray only;
    // A watch for the children of that folder, or none. May be empty.
    std::function<std::optional<zk::Watch>(const ZPath &folder)> watchFor;
    // Called as soon as the watch is known to be set.
    std::function<void(const ZPath &folder)> armed;
    Deadline deadline = Deadline::never();
};

// The error of the listing if the directory itself cannot be read; nodes of it that cannot be read are in
// the view with their error. The session must outlive the task.
[[nodiscard]] Task<Result<ReadAnswer>> readDirectory(zk::Session &session, ReadRequest request);

// Where locks may be: from the ephemeral nodes that somebody listed (a server's dump, or a crawl) to
// the directories worth reading. Pure.

// A server's answer carries full paths; what lies outside the chroot is none of ours.
[[nodiscard]] NamesByParent ephemeralsBelow(const zk::Evidence &evidence, const QByteArray &chroot);

// Directories to read as a whole, each with the suspicious nodes that point to it, sorted (composite locks
// have them in more than one folder). A change in the nodes is a reason to read the directory again.
using Candidates = std::map<ZPath, std::vector<ZPath>>;
[[nodiscard]] Candidates candidates(const NamesByParent &names);

struct CrawlOptions {
    std::size_t inFlight = 16;
    qint64 most = 200'000;                 // znodes asked
    qint64 mostBytes = 64LL * 1024 * 1024; // of the names and paths that were listed
    int restTimes = 0;                     // after each stretch of work, rest that many times as long
    ZPath from{"/"};                       // only what is there and below
    // False: what looks like a leaf because its neighbours are leaves is judged by its name only.
    bool opensLeaves = true;
    // A folder that was read just now, or is being watched since: neither it nor its ephemerals are listed again.
    // Null: it has to be asked for. May be empty.
    std::function<std::shared_ptr<const ReadAnswer>(const ZPath &)> readAlready;
    // Of other folders the ephemerals that are known, sorted by name: they are suspects, and not asked either.
    std::shared_ptr<const NamesByParent> ephemerals;
    // How many znodes were looked at, are known of, and were asked for.
    std::function<void(qint64 seen, qint64 known, qint64 asked)> progressed;
};

struct CrawlReport {
    NamesByParent suspects; // ephemerals, and numbered or lock-named nodes without a session
    qint64 seen = 0;
    bool isCut = false;       // stopped at `most`, or at `mostBytes`
    qint64 failed = 0;        // directories that were not listed for another reason than permission
    QString failure;          // the first such reason
    Duration took{};          // with its rests, but without what was only waiting
    qint64 unopened = 0;      // of those that look like leaves
    bool sessionOver = false; // it ended before the crawl did
    std::set<ZPath> refused;  // directories we may not list
};

// `found` is called now and then with the suspects so far. The session must outlive the task.
[[nodiscard]] Task<CrawlReport> crawl(zk::Session &session, CrawlOptions options,
                                      std::function<void(const NamesByParent &)> found);

} // namespace lockscope::inspect
