// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/waiting.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

Task<Result<void>> untilConnected(mariadb::Session *session, Deadline deadline)
{
    for (;;) {
        const auto state = session->state();
        if (state == mariadb::SessionState::Connected)
            co_return Result<void>();
        if (state == mariadb::SessionState::AuthFailed)
            co_return Error{ErrorCode::AuthFailed, session->lastError(), false, session->isExplained()};
        if (state == mariadb::SessionState::Closed)
            co_return Error{ErrorCode::NotConnected, session->lastError(), false, session->isExplained()};
        const Completion<bool> changed(session->loop());
        const auto subscription = session->onState([changed](mariadb::SessionState) { changed.complete(true); });
        changed.completeAt(deadline, false);
        const bool inTime = co_await changed;
        if (!inTime)
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for a connection to the database"_s, true};
    }
}

Deadline answerBy(const mariadb::Session &session, Deadline deadline)
{
    const auto now = session.loop().now();
    return Deadline::at(std::clamp<Instant>(deadline.when(), now + 1s, now + 5s));
}

} // namespace lockscope::recipes
