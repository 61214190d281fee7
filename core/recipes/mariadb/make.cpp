// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: MariaDB and MySQL.
#include "core/recipes/make.h"
#include "core/recipes/mariadb/locks.h"

namespace lockscope::recipes {

namespace {

using MadeOnMariaDb = Result<std::unique_ptr<Lock>> (*)(mariadb::Session &, const QByteArray &,
                                                        const AcquireOptions &, Random);

template <class Recipe, auto readName>
Result<std::unique_ptr<Lock>> made(mariadb::Session &session, const QByteArray &lock, const AcquireOptions &, Random)
{
    TRY(auto &name, readName(lock));
    return std::unique_ptr<Lock>(std::make_unique<Recipe>(session, lock, name));
}

Result<std::unique_ptr<Lock>> madeOfLeasedRow(mariadb::Session &session, const QByteArray &lock,
                                              const AcquireOptions &options, Random random)
{
    TRY(auto &name, readLeasedRowName(lock));
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    return std::unique_ptr<Lock>(std::make_unique<LeasedRow>(session, lock, name, options.ttl, std::move(random)));
}

template <class Recipe, auto readName>
Result<std::unique_ptr<Lock>> madeOfMarkedRow(mariadb::Session &session, const QByteArray &lock,
                                              const AcquireOptions &, Random random)
{
    TRY(auto &name, readName(lock));
    return std::unique_ptr<Lock>(std::make_unique<Recipe>(session, lock, name, std::move(random)));
}

const std::map<QByteArray, MadeOnMariaDb> &mariaDbMakers()
{
    static const std::map<QByteArray, MadeOnMariaDb> all{
        {"sql-for-update", made<ForUpdateLock, readRowName>},
        {"sql-version", made<VersionLock, readRowName>},
        {"sql-get-lock", made<GetLockLock, readNamedLock>},
        {"sql-shedlock", madeOfLeasedRow},
        {"sql-insert-mark", madeOfMarkedRow<MarkLock, readMarkName>},
        {"sql-status-flag", madeOfMarkedRow<FlagLock, readFlagName>},
    };
    return all;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, mariadb::Session &session, const QByteArray &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, BackendKind::MariaDb, options))
        return *no;
    const auto maker = mariaDbMakers().find(id);
    if (maker == mariaDbMakers().end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(session, lock, options, std::move(random));
}

} // namespace lockscope::recipes
