// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/undo.h"

#include "core/async/sleep.h"
#include "core/base/logging.h"
#include "core/recipes/mariadb/waiting.h"

namespace lockscope::recipes {

using namespace std::chrono_literals;

namespace {

// After an answer that did not come in time: longer than the session lets a connection be idle before it asks
// whether that still stands (1 s), so that it can find out.
constexpr auto pauseAfterSilence = 2s;

// True when certainly nothing is held any more: what a connection held is gone with it.
Task<bool> undoAll(Undo undo)
{
    undo.session->interrupt(undo.connection);
    for (;;) {
        const mariadb::Statement statement{undo.text, undo.parameters, undo.connection, false};
        auto undoing = undo.session->execute(statement, answerBy(*undo.session, Deadline::never()));
        const auto undone = co_await undoing;
        if (!undone && undone.error().code == ErrorCode::TimedOut) {
            const auto pause = sleepFor(undo.session->loop(), pauseAfterSilence);
            co_await pause;
            continue; // until it has answered, or is gone with everything it held
        }
        if (!undone) {
            const auto code = undone.error().code;
            // BadInput: a name the server does not take was never locked.
            const bool isGone =
                code == ErrorCode::SessionExpired || code == ErrorCode::NotConnected || code == ErrorCode::BadInput;
            if (!isGone)
                qCWarning(logMariaDb).noquote()
                    << "connection" << undo.connection << "may hold a lock still -" << undone.error().message;
            co_return isGone;
        }
        if (undone->cell(0, "again") != QByteArray("1"))
            co_return true;
    }
}

} // namespace

void undoInBackground(const WaitGroup &waitGroup, Undo undo)
{
    waitGroup.add(undo.session->background(), undoAll(undo));
}

} // namespace lockscope::recipes
