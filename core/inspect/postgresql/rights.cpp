// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/rights.h"

#include "core/base/text.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

// A superuser is a member of every role.
const QByteArray postgreSqlMemberships = "SELECT current_user AS who, "
                                         "pg_has_role('pg_read_all_stats', 'USAGE')::text AS sees, "
                                         "pg_has_role('pg_signal_backend', 'USAGE')::text AS ends";

} // namespace

Task<QStringList> postgreSqlRights(mariadb::Session *session, Deadline deadline)
{
    auto asking = session->execute({postgreSqlMemberships, {}, std::nullopt, false}, deadline);
    const auto rows = co_await asking;
    if (!rows)
        co_return QStringList{u"what the user may do cannot be asked: "_s + rows.error().message};
    QStringList said{u"user "_s + label(rows->cell(0, "who").value_or(QByteArray()), 120)};
    said << (rows->cell(0, "sees") == "true"
                 ? u"may see since when the sessions of others are there"_s
                 : u"may not see since when the sessions of others are there: it is no member of pg_read_all_stats, "
                   "which pg_monitor is"_s)
         << (rows->cell(0, "ends") == "true"
                 ? u"may end the sessions of others, but for superusers'"_s
                 : u"may not end the sessions of other users: it is no member of pg_signal_backend"_s);
    co_return said;
}

} // namespace lockscope::inspect
