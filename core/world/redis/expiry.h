// SPDX-License-Identifier: Apache-2.0
// When something shall expire, as the commands' options say it.
#pragma once

#include "core/world/redis/execution.h"

namespace lockscope::world {

// A time to live in milliseconds that a text may be given at once: above zero. `command` is for the refusal.
[[nodiscard]] Keyspace::Millis expiryOf(Execution &run, const QByteArray &text, const QByteArray &command);
// So many times `each` milliseconds from now; refused only when it does not fit.
[[nodiscard]] Keyspace::Millis momentOf(Execution &run, qint64 number, qint64 each, const QByteArray &command);
// A moment that is past already removes the key.
void expireAt(Execution &run, const QByteArray &key, Keyspace::Millis when);

} // namespace lockscope::world
