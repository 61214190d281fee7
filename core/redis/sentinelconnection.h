// SPDX-License-Identifier: Apache-2.0
// The primary that Redis' sentinels name, as one connection that stays when another server becomes it.
//
// Any sentinel that answers is asked for the address (SENTINEL GET-MASTER-ADDR-BY-NAME); the server there has to
// say itself that it is a primary (ROLE), for sentinels may be late. Asked again when a sentinel tells of a
// switch, when the primary is gone, when it refuses a write as a replica does, and every ten seconds. Between two
// primaries the state is Connecting, and what was out has an unknown outcome; subscriptions move. Sentinels get
// the password when they ask for one. Loop thread only.
#pragma once

#include "core/redis/client.h"

namespace lockscope::redis {

// Opens the connection to a server, or to a sentinel: with or without what one logs in with.
struct SentinelOpeners {
    std::function<std::unique_ptr<Connection>(const HostPort &)> server;
    std::function<std::unique_ptr<Connection>(const HostPort &, bool withPassword)> sentinel;
    bool hasPassword = false;
};

// Returns at once, in state Connecting.
[[nodiscard]] std::unique_ptr<Connection> openBySentinels(Loop &loop, std::vector<HostPort> sentinels,
                                                          QByteArray service, SentinelOpeners openers);
// The same with what each connection has but the host; sentinels have one database.
[[nodiscard]] std::unique_ptr<Connection> openBySentinels(Loop &loop, std::vector<HostPort> sentinels,
                                                          QByteArray service, const ConnectionOptions &options);

} // namespace lockscope::redis
