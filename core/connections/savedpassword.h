// SPDX-License-Identifier: Apache-2.0
// A connection given on a command line that the window has saved: its marks, and its password from the
// keychain.
#pragma once

#include "core/connections/connectionstore.h"

namespace lockscope {

// The saved connection this one is, by name and by address: a password is never sent to another server
// than it was saved for. Null if there is none.
[[nodiscard]] const SavedConnection *savedFor(const ConnectionStore &store, const ConnectionSpec &spec);

// Calls `ready` with the connection as it was saved: marked production or read-only if it is, and its user
// and password filled in if they were missing and are known (for that user). At once when there is nothing
// to look up, else when the keychain has answered or `atMost` is over. Not at all if `context` dies
// meanwhile.
void fillInPassword(ConnectionStore &store, ConnectionSpec spec, std::chrono::milliseconds atMost, QObject *context,
                    std::function<void(ConnectionSpec)> ready);

} // namespace lockscope
