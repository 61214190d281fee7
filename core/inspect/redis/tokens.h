// SPDX-License-Identifier: Apache-2.0
// Tokens that Redis lock clients write, read by their forms (core/rules/userrules.h).
#pragma once

#include "core/inspect/knownclients.h"

namespace lockscope::inspect {

struct Token {
    QString client; // empty: several write it
    ClientTraits traits;
    QString why;
    Confidence confidence = Confidence::Medium;
    bool isProof = false;               // key and value are of a form that only one client writes
    std::optional<QByteArray> identity; // what it says about its owner
    std::optional<ServerTime> madeAt;   // the moment written into the token
    QString form, file;                 // whose it is, where it is not built in
    [[nodiscard]] bool isByUser() const { return !file.isEmpty(); }
};

// By the user's forms, then by those that are built in. Empty if the value has none of them. `hasSignal`:
// python-redis-lock's list of wake-ups stands beside the key.
[[nodiscard]] std::optional<Token> readToken(const QByteArray &key, const QByteArray &value, bool hasSignal,
                                             ServerTime now);

// What a client's serializer or compressor wrapped: "…" (JSON), s:16:"…"; (PHP), or the one long run of letters and
// digits among few other bytes (igbinary, pickle, Java's, LZ4 of what is too short for it). Empty if it did not.
[[nodiscard]] QByteArray unwrapped(const QByteArray &value);

// The moment in a version 1 UUID written as 32 hex digits, if it is a plausible one.
[[nodiscard]] std::optional<ServerTime> momentInUuid(const QByteArray &hex32, ServerTime now);

} // namespace lockscope::inspect
