// SPDX-License-Identifier: Apache-2.0
// What the link of a MariaDB or MySQL has beside what every link has.
#pragma once

#include "core/mariadb/session.h"
#include "core/workspace/workspace.h"

namespace lockscope {

// Null unless of that backend. Gated.
[[nodiscard]] mariadb::Session *mariaDbOf(Link *link);

} // namespace lockscope
