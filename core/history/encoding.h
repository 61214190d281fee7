// SPDX-License-Identifier: Apache-2.0
// Values as bytes, and back. What is read may have been written by anybody: nothing in it is believed. A length that
// what is left cannot hold, a word or a moment that cannot be, is an error that says where.
//
// Which fields a value has, and in which order, is said once for both ways (encoding.cpp).
#pragma once

#include "core/base/result.h"
#include "core/history/chunk.h"
#include "core/inspect/state/statesnapshot.h"

namespace lockscope::history {

// Appends it.
void encode(const Change &change, QByteArray &to);

// Reads the changes that stand one after the other in `bytes`.
class ChangeReader {
public:
    explicit ChangeReader(const QByteArray &bytes, int version = formatVersion);
    ~ChangeReader();
    [[nodiscard]] bool atEnd() const;
    [[nodiscard]] qint64 position() const;
    // Findings whose code this version does not know are left out; the change says which.
    [[nodiscard]] Result<Change> next();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lockscope::history
