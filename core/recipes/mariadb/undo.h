// SPDX-License-Identifier: Apache-2.0
// Giving back what a connection may hold for us, when nobody waits for it any more. Loop thread only; the
// session outlives it.
#pragma once

#include "core/mariadb/session.h"
#include "core/recipes/waitgroup.h"

namespace lockscope::recipes {

struct Undo {
    mariadb::Session *session = nullptr;
    mariadb::ConnectionId connection = 0;
    // "ROLLBACK"; or one that is sent again for as long as it answers 1 in the column "again".
    QByteArray text;
    QByteArrayList parameters;
};

// Ends what the connection waits for and undoes it, in the background.
void undoInBackground(const WaitGroup &waitGroup, Undo undo);

// Something may be held: undone when this goes out of scope, unless it is kept.
class UndoGuard {
public:
    UndoGuard(WaitGroup waitGroup, Undo undo) : m_waitGroup(std::move(waitGroup)), m_undo(std::move(undo)) {}
    UndoGuard(const UndoGuard &) = delete;
    UndoGuard &operator=(const UndoGuard &) = delete;
    ~UndoGuard()
    {
        if (!m_isKept)
            undoInBackground(m_waitGroup, m_undo);
    }
    void keep() { m_isKept = true; }

private:
    WaitGroup m_waitGroup;
    Undo m_undo;
    bool m_isKept = false;
};

} // namespace lockscope::recipes
