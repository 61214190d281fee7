// SPDX-License-Identifier: Apache-2.0
// The patterns of KEYS, SCAN and PSUBSCRIBE: *, ?, [a-z], [^a] and a backslash before what is meant as it is.
#pragma once

#include <QByteArray>

namespace lockscope::world {

[[nodiscard]] bool matchesGlob(QByteArrayView pattern, QByteArrayView text);

} // namespace lockscope::world
