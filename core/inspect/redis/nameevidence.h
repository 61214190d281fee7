// SPDX-License-Identifier: Apache-2.0
// What a Redis key's name is worth as evidence of a lock. A name alone proves nothing: it supports what the
// value, its time to live or the keys beside it say.
#pragma once

#include <QByteArray>

namespace lockscope::inspect {

// The key is called a lock: "orders-lock", "lock:orders", "app:lock_17"; not "lock:settings", "user:5:lock_count",
// "dhcp:lease:…", which are about a lock, or another thing of that name.
[[nodiscard]] bool callsItselfLock(const QByteArray &key);
// A lock by a name that only one client gives, without a word that says so: "…framework/schedule-<sha1>".
[[nodiscard]] bool isNamedByClient(const QByteArray &key);
// "…framework/schedule-<sha1><hhmm>": Laravel's mark that a task ran at that time, which stays on purpose.
[[nodiscard]] bool isMarkOfClient(const QByteArray &key);
// The name says what its value is, and that is no lock: "csrf:…", "user:5:session", "page:etag".
[[nodiscard]] bool callsItselfSomethingElse(const QByteArray &key);
// A part of the name is random itself: what has such a name is made anew each time, nothing that many compete for.
[[nodiscard]] bool isNamedAtRandom(const QByteArray &key);

} // namespace lockscope::inspect
