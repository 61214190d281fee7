// SPDX-License-Identifier: Apache-2.0
// "[CONNECTION:]WHAT": where tree and keys look.
#pragma once

#include "app/lockscopectl/command.h"

namespace lockscope::ctl {

struct Place {
    ConnectionName connection;
    QByteArray what; // unescaped
};
// Without CONNECTION the only one of that backend; `otherwise` when there is no word at all.
[[nodiscard]] Result<Place> readPlace(Run &run, BackendKind backend, const QString &otherwise);

} // namespace lockscope::ctl
