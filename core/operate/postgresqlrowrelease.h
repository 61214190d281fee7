// SPDX-License-Identifier: Apache-2.0
// How a PostgreSQL's rows that are locks are freed (rowrelease.h).
#pragma once

#include "core/operate/rowrelease.h"

namespace lockscope::operate {

[[nodiscard]] QByteArray freeingPgText(const inspect::SqlLockRow &row);

} // namespace lockscope::operate
