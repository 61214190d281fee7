// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/make.h"

#include "core/recipes/postgresql/locks.h"

#include <map>

namespace lockscope::recipes {

namespace {

using MadeOnPostgreSql = Result<std::unique_ptr<Lock>> (*)(mariadb::Session &, const QByteArray &);

template <class Recipe, auto readName>
Result<std::unique_ptr<Lock>> madeOnPostgreSql(mariadb::Session &session, const QByteArray &lock)
{
    TRY(auto &name, readName(lock));
    return std::unique_ptr<Lock>(std::make_unique<Recipe>(session, lock, name));
}

const std::map<QByteArray, MadeOnPostgreSql> &postgreSqlMakers()
{
    static const std::map<QByteArray, MadeOnPostgreSql> all{
        {"pg-advisory", madeOnPostgreSql<AdvisoryLock, readAdvisoryName>},
        {"pg-for-update", madeOnPostgreSql<PgRowLock, readRowName>},
        {"pg-skip-locked", madeOnPostgreSql<SkipLockedLock, readRowName>},
    };
    return all;
}

} // namespace

Result<std::unique_ptr<Lock>> makePostgreSqlLock(const QByteArray &id, mariadb::Session &session,
                                                 const QByteArray &lock, const AcquireOptions &options)
{
    if (const auto no = objectionTo(id, BackendKind::PostgreSql, options))
        return *no;
    const auto maker = postgreSqlMakers().find(id);
    if (maker == postgreSqlMakers().end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(session, lock);
}

} // namespace lockscope::recipes
