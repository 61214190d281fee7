// SPDX-License-Identifier: Apache-2.0
// What is asked about one key beside its type and its time to live, in two rounds, and what the answers say of it.
// What is larger than a lock is not read, of a queue that is long not at once.
#pragma once

#include "core/inspect/redis/recognise.h"
#include "core/redis/connection.h"

#include <vector>

namespace lockscope::inspect {

// Of a value that is a moment it tells whether it was written at that moment; of what ends soon, whether it was given
// more time than that.
[[nodiscard]] bool asksIdle(const KeyView &view);

// Nothing for types that no lock has. `withExpiry`: the server knows PEXPIRETIME. Where asksIdle(), the first answer
// is that; then comes the value, or its size; the last is the size, or of a string when it ends.
[[nodiscard]] std::vector<redis::Command> firstQuestions(const KeyView &view, bool withExpiry);
// After those answers: the fields of a hash of a lock's size, before them when it ends (`withExpiry`); the whole of a
// queue that is long.
[[nodiscard]] std::vector<redis::Command> secondQuestions(const KeyView &view, const redis::Value &first,
                                                          const redis::Value &size, bool withExpiry);

// Error replies (the key changed its type meanwhile, or may not be read) leave the view without values.
void fillValue(KeyView &view, const redis::Value &answer);
// Of a sorted set that is too large no part is kept: which one came first says nothing about the others.
void fillSize(KeyView &view, const redis::Value &size);
// The answer to the second question. What came or went since the first is in it.
void fillWhole(KeyView &view, const redis::Value &answer);
// The moment a key ends, read beside its value: newer than the time to live that was read before. `now` is the
// server's.
void fillExpiry(KeyView &view, const redis::Value &answer, ServerTime now);

} // namespace lockscope::inspect
