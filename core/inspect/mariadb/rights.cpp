// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/rights.h"

#include "core/base/text.h"

#include <set>

namespace lockscope::inspect {

namespace {

QString permissionText(bool is, const QString &what, const QString &without)
{
    return is ? u"may "_s + what : u"may not %1: %2"_s.arg(what, without);
}

} // namespace

Task<QStringList> mariaDbRights(mariadb::Session *session, Deadline deadline)
{
    auto asking = session->execute({mariadb::sqlText("mariadb-privileges"), {}, std::nullopt, false}, deadline);
    const auto rows = co_await asking;
    if (!rows)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(rows.error().message)};
    if (rows->rows.empty())
        co_return QStringList{u"the server lists no privileges for this user"_s};
    std::set<QByteArray> has;
    for (std::size_t i = 0; i < rows->rows.size(); ++i)
        has.insert(rows->cell(i, "privilege").value_or(QByteArray()));
    const bool mayKill =
        has.contains("SUPER") || has.contains("CONNECTION ADMIN") || has.contains("CONNECTION_ADMIN");
    QStringList said{u"user "_s + label(rows->cell(0, "who").value_or(QByteArray()), 120)};
    said << permissionText(has.contains("PROCESS"), u"see the locks and connections of others"_s,
                           u"it has no PROCESS privilege"_s)
         << permissionText(mayKill, u"end the connections of others"_s,
                           u"it has neither CONNECTION ADMIN nor SUPER; its own it may"_s);
    const auto role = rows->cell(0, "role").value_or(QByteArray());
    if (!role.isEmpty() && role != "NONE")
        said << u"what its role %1 adds is not counted"_s.arg(label(role, 120));
    co_return said;
}

} // namespace lockscope::inspect
