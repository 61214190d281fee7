#include "core/recipes/mariadb/undo.h"

#include "core/base/logging.h"
#include "core/recipes/mariadb/waiting.h"

namespace lockscope::recipes {

namespace {

// True when certainly nothing is held any more: what a connection held is gone with it.
Task<bool> undoAll(Undo undo)
{
    undo.session->interrupt(undo.connection);
    for (;;) {
        const mariadb::Statement statement{undo.text, undo.parameters, undo.connection, false};
        auto undoing = undo.session->execute(statement, answerBy(*undo.session, Deadline::never()));
        const auto undone = co_await undoing;
        if (!undone) {
            const auto code = undone.error().code;
            // BadInput: a name the server does not take was never locked.
            const bool isGone = code == ErrorCode::SessionExpired || code == ErrorCode::NotConnected
                || code == ErrorCode::BadInput;
            if (!isGone)
                qCWarning(logMariaDb).noquote() << "connection" << undo.connection << "may hold a lock still -"
                                                << undone.error().message;
            co_return isGone;
        }
        if (undone->cell(0, "again") != QByteArray("1"))
            co_return true;
    }
}

} // namespace

void undoInBackground(const Chores &chores, Undo undo)
{
    chores.add(undo.session->background(), undoAll(undo));
}

} // namespace lockscope::recipes
