// SPDX-License-Identifier: Apache-2.0
// The shapes that clients give to node names.
#pragma once

#include "core/base/identifiers.h"
#include "core/rules/turn.h"

#include <optional>

namespace lockscope::inspect {

// What a client puts before a name to know its own node again: Curator's "_c_<uuid36>-", go-zookeeper's
// "_c_<hex32>-", kazoo's "<hex32>".
enum class Protection { None, Dashed, Plain, Kazoo };
struct ProtectedName {
    Protection kind = Protection::None;
    qsizetype length = 0;
};
[[nodiscard]] ProtectedName readProtection(QByteArrayView name);
[[nodiscard]] qsizetype lengthOf(Protection protection);

// Without the random ids in it, by which clients know their own nodes.
[[nodiscard]] QByteArray withoutUuids(QByteArray text);

// The number behind `base` when `base` ends exactly `before` bytes into the name.
[[nodiscard]] std::optional<recipes::SequencedName> sequenceAt(const NodeName &name, qsizetype before,
                                                               const QByteArray &base);

} // namespace lockscope::inspect
