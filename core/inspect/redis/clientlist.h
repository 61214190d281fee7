// SPDX-License-Identifier: Apache-2.0
// CLIENT LIST, read. Pure.
#pragma once

#include "core/inspect/snapshot.h"

#include <QByteArrayList>

namespace lockscope::inspect {

// "id=7 addr=10.0.3.7:56332 name=worker …", one line per client. Those whose ids are `ours` are left out: nobody
// looks for a lock in its inspector.
[[nodiscard]] std::vector<SessionSnapshot> readClientList(const QByteArray &list, const QByteArrayList &ours,
                                                          const ConnectionName &name);

} // namespace lockscope::inspect
