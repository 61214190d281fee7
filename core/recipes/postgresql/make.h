// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to a lock of that recipe: PostgreSQL, whose sessions have MariaDB's port. As makeLock() of
// core/recipes/make.h otherwise.
#pragma once

#include "core/recipes/make.h"

namespace lockscope::recipes {

[[nodiscard]] Result<std::unique_ptr<Lock>> makePostgreSqlLock(const QByteArray &id, mariadb::Session &session,
                                                               const QByteArray &lock, const AcquireOptions &options);

} // namespace lockscope::recipes
