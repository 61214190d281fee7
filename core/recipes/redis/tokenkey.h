// SPDX-License-Identifier: Apache-2.0
// A key that holds a token of ours: asking, and taking away what is ours and nothing else. Loop thread
// only; the connection outlives it.
#pragma once

#include "core/async/task.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/lock.h"
#include "core/recipes/lockbase.h"
#include "core/redis/connection.h"

#include <QScopeGuard>

namespace lockscope::recipes {

struct TokenKey {
    RedisKey key;
    LockValue token;
};

// Whether the key holds our token now. Keeps asking over broken connections until the deadline.
[[nodiscard]] Task<Result<bool>> holdsToken(redis::Connection *connection, TokenKey ours, Deadline deadline);

// Gives the key back, if it holds our token, and wakes other people's clients that may wait for one of its name
// (keysignals.h): -1 there is no key, 0 it holds something else, 1 or more it is free.
[[nodiscard]] Reply<redis::Value> deleteToken(redis::Connection &connection, const TokenKey &ours, Deadline deadline);

// Takes the key away in the background, if it holds our token: for when a SET's reply is still out, or a release got
// none. A SET that is still under way on a broken connection may land later; its TTL ends it.
void removeToken(redis::Connection &connection, const WaitGroup &waitGroup, TokenKey ours);

// A SET is out: unless somebody says that the key is not ours, or keeps it, it is taken away when this
// goes out of scope.
struct TokenRemoval {
    redis::Connection *connection;
    WaitGroup waitGroup;
    TokenKey ours;
    void operator()() const { removeToken(*connection, waitGroup, ours); }
};
using TokenGuard = QScopeGuard<TokenRemoval>;

// A lease: a key with our token that dies by itself, kept alive while we hold it, by a script that compares our token
// first. Loop thread only; the connection outlives it. Destroying it ends the prolonging.
class Lease {
public:
    // As for a KeepAlive.
    Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
          std::function<void(Loss)> onEnd);

    [[nodiscard]] const TokenKey &key() const { return m_ours; }
    [[nodiscard]] bool isOver() const { return m_life.isOver(); }

private:
    TokenKey m_ours;
    KeepAlive m_life;
};

// The waits that Redis recipes are made of. Loop thread only; the connection outlives them.

// Returns at once when connected. AuthFailed or NotConnected when it never will be, TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(redis::Connection *connection, Deadline deadline);

// Until when one command may take: what is out when a lock's deadline passes is given half a second
// more, because knowing what it did is worth more than being punctual; and no more than five.
[[nodiscard]] Deadline answerBy(const redis::Connection &connection, Deadline deadline);

// The answer of a script that says 1 for yes. It has been sent already.
[[nodiscard]] Task<Result<bool>> whetherOne(Reply<redis::Value> reply);

// Whether a hold is under keys beside the lock's own name, so that no recipe of ours meets it there.
[[nodiscard]] bool standsUnderOtherKeys(const SeenHold &hold);

} // namespace lockscope::recipes
