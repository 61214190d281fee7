// SPDX-License-Identifier: Apache-2.0
// The forms of the random tokens that Redis lock clients write.
#pragma once

#include "core/inspect/knownclients.h"

namespace lockscope::inspect {

struct Token {
    const KnownClient *client = nullptr; // null: several write it
    QString why;
    Confidence confidence = Confidence::Medium;
    bool isProof = false;               // key and value are of a form that only one client writes
    std::optional<QByteArray> identity; // what it says about its owner
    std::optional<ServerTime> madeAt;   // the moment written into the token
};

// Empty if the value has the form of no known token. `hasSignal`: python-redis-lock's list of wake-ups
// stands beside the key.
[[nodiscard]] std::optional<Token> readToken(const QByteArray &key, const QByteArray &value, bool hasSignal,
                                             ServerTime now);

// The moment in a version 1 UUID written as 32 hex digits, if it is a plausible one.
[[nodiscard]] std::optional<ServerTime> momentInUuid(const QByteArray &hex32, ServerTime now);

} // namespace lockscope::inspect
