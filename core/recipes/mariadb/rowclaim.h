// SPDX-License-Identifier: Apache-2.0
// What the locks share that are a row which says itself whose it is: the answer to a write may be lost, and is asked
// for; what may have become ours is given back. To the server such a row is no lock: the connection may end.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"
#include "core/recipes/lockbase.h"

#include <QScopeGuard>

namespace lockscope::recipes {

// Nobody knows whether the server has done it; or it can be asked again on the next connection.
[[nodiscard]] bool isUncertain(const Error &error);

// `asking` answers 1 in the column "mine" if the row is ours.
[[nodiscard]] Task<Result<bool>> isRowOurs(mariadb::Session *session, mariadb::Statement asking, Deadline deadline);
// Keeps asking over broken connections until the deadline.
[[nodiscard]] Task<Result<bool>> whoseAtLast(mariadb::Session *session, mariadb::Statement asking, Deadline deadline);

// Sends `freeing`, which compares whose row it is, until it was done. True when it is certainly not ours any more.
[[nodiscard]] Task<bool> giveBackRow(mariadb::Session *session, mariadb::Statement freeing);

// A write is out: unless somebody says that the row is not ours, or keeps it, it is given back when this goes.
struct RowReturn {
    mariadb::Session *session;
    WaitGroup waitGroup;
    mariadb::Statement freeing;
    void operator()() const { waitGroup.add(session->background(), giveBackRow(session, freeing)); }
};
using RowGuard = QScopeGuard<RowReturn>;

// What release() answers. `freeing` changes the row if it is ours; it goes on in the background if there is no
// answer, or nobody to hear it.
[[nodiscard]] Task<Result<void>> freeRow(mariadb::Session *session, WaitGroup waitGroup, mariadb::Statement freeing,
                                         QString what, Deadline deadline);

} // namespace lockscope::recipes
