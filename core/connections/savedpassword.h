// The password of a connection given on a command line: what the window saved for it in the keychain.
#pragma once

#include "core/connections/connectionstore.h"

namespace lockscope {

// The saved connection this one is, by name and by address: a password is never sent to another server
// than it was saved for. Null if there is none, or none with a password, or another user is asked for.
[[nodiscard]] const SavedConnection *savedFor(const ConnectionStore &store, const ConnectionSpec &spec);

// Calls `ready` with the connection, its user and password filled in if they were missing and are known:
// at once when there is nothing to look up, else when the keychain has answered or `atMost` is over. Not
// at all if `context` dies meanwhile.
void fillInPassword(ConnectionStore &store, ConnectionSpec spec, std::chrono::milliseconds atMost, QObject *context,
                    std::function<void(ConnectionSpec)> ready);

} // namespace lockscope
