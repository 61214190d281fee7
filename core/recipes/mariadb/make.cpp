// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: MariaDB and MySQL.
#include "core/recipes/make.h"
#include "core/recipes/mariadb/forupdate.h"
#include "core/recipes/mariadb/getlock.h"
#include "core/recipes/mariadb/version.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

using MadeOnMariaDb = Result<std::unique_ptr<Lock>> (*)(mariadb::Session &, const QByteArray &);

template <class Recipe, auto readName>
Result<std::unique_ptr<Lock>> made(mariadb::Session &session, const QByteArray &lock)
{
    auto name = readName(lock);
    if (!name)
        return name.error();
    return std::unique_ptr<Lock>(std::make_unique<Recipe>(session, lock, *name));
}

const std::map<QByteArray, MadeOnMariaDb> &mariaDbMakers()
{
    static const std::map<QByteArray, MadeOnMariaDb> all{
        {"sql-for-update", made<ForUpdateLock, readRowName>},
        {"sql-version", made<VersionLock, readRowName>},
        {"sql-get-lock", made<GetLockLock, readNamedLock>},
    };
    return all;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, mariadb::Session &session, const QByteArray &lock,
                                       const AcquireOptions &options)
{
    if (const auto no = objectionTo(id, BackendKind::MariaDb, options))
        return *no;
    const auto maker = mariaDbMakers().find(id);
    if (maker == mariaDbMakers().end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(session, lock);
}

} // namespace lockscope::recipes
