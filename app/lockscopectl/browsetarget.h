// SPDX-License-Identifier: Apache-2.0
// "[CONNECTION:]WHAT": where tree and keys look.
#pragma once

#include "app/lockscopectl/command.h"

namespace lockscope::ctl {

struct BrowseTarget {
    ConnectionName connection;
    QByteArray what; // unescaped
};
// Without CONNECTION the only one of that backend; `otherwise` when there is no word at all.
[[nodiscard]] Result<BrowseTarget> readTarget(CommandContext &context, BackendKind backend, const QString &otherwise);

} // namespace lockscope::ctl
