// SPDX-License-Identifier: Apache-2.0
// When something shall expire, as the commands' options say it.
#pragma once

#include "core/world/redis/execution.h"

namespace lockscope::world {

struct ExpiryUnit {
    qint64 millis = 1000;  // what one of it is
    bool isMoment = false; // since 1970, not from now on
};
// "EX", "PX", "EXAT", "PXAT"; empty for anything else.
[[nodiscard]] std::optional<ExpiryUnit> expiryUnit(const QByteArray &option);
// A time to live that a text or its key may be given at once: above zero. `command` is for the refusal.
[[nodiscard]] Keyspace::Millis expiryOf(Execution &run, const QByteArray &text, ExpiryUnit unit,
                                        const QByteArray &command);
// Any number; refused only when it does not fit.
[[nodiscard]] Keyspace::Millis momentOf(Execution &run, qint64 number, ExpiryUnit unit, const QByteArray &command);
// A moment that is past already removes the key.
void expireAt(Execution &run, const QByteArray &key, Keyspace::Millis when);

} // namespace lockscope::world
