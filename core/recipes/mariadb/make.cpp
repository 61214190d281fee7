// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: MariaDB and MySQL.
#include "core/recipes/make.h"
#include "core/recipes/mariadb/forupdate.h"
#include "core/recipes/mariadb/getlock.h"
#include "core/recipes/mariadb/version.h"

namespace lockscope::recipes {

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, mariadb::Session &session, const QByteArray &lock,
                                       const AcquireOptions &options)
{
    if (const auto no = objectionTo(id, RecipeBackend::MariaDb, options))
        return *no;
    std::unique_ptr<Lock> made;
    if (id == "sql-get-lock") {
        auto name = readNamedLock(lock);
        if (!name)
            return name.error();
        made = std::make_unique<GetLockLock>(session, lock, *name);
        return made;
    }
    auto row = readRowName(lock);
    if (!row)
        return row.error();
    if (id == "sql-version")
        made = std::make_unique<VersionLock>(session, lock, *row);
    else
        made = std::make_unique<ForUpdateLock>(session, lock, *row);
    return made;
}

} // namespace lockscope::recipes
