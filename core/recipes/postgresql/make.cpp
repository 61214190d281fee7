// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/make.h"
#include "core/recipes/postgresql/locks.h"
#include "core/base/text.h"
#include "core/postgresql/dialect.h"

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

namespace {

const QByteArray advisoryPrefix("ADVISORY#");

} // namespace

Result<AdvisoryName> readAdvisoryName(const QByteArray &lock)
{
    AdvisoryName name;
    bool isNumber = lock.startsWith(advisoryPrefix);
    const auto parts = lock.mid(advisoryPrefix.size()).split(',');
    for (const auto &part : parts) {
        bool fits = false;
        // Written as the server shows it, so that one lock has one name.
        const qint64 whole = parts.size() == 1 ? part.toLongLong(&fits) : part.toInt(&fits);
        isNumber = isNumber && fits && part == QByteArray::number(whole);
        name.keys << part;
    }
    if (!isNumber || parts.size() > 2)
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" is not an advisory lock; write ADVISORY#KEY (a 64-bit integer) or ADVISORY#KEY,KEY (two 32-bit integers), for example ADVISORY#42"_s
                .arg(label(lock))};
    return name;
}

QByteArray pgTable(const RowName &row)
{
    return postgresql::quotedName(row.schema) + '.' + postgresql::quotedName(row.table);
}

QByteArray pgCondition(const RowName &row)
{
    QByteArrayList parts;
    for (const auto &column : row.columns)
        parts << postgresql::quotedName(column) + " = ?";
    return parts.join(" AND ");
}

} // namespace lockscope::recipes
