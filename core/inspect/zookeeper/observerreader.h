// SPDX-License-Identifier: Apache-2.0
// Reads a directory of locks in as few round trips and requests as its shape allows: lists it, then reads its
// children, pipelined, and its own data where it has any; nodes that cannot have changed are not read again.
#pragma once

#include "core/async/task.h"
#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

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

} // namespace lockscope::inspect
