// SPDX-License-Identifier: Apache-2.0
#include "core/operate/killconnection.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/mariadb/reader.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::operate {

using inspect::Role;
using inspect::SqlPoll;
using inspect::SqlTransaction;

namespace {

// Tables that the connection keeps others out of. What every statement holds of a table is no lock of anybody's.
// Empty: the server does not say.
Task<std::optional<QByteArrayList>> lockedTables(mariadb::Session *session, QByteArray connection, Deadline deadline)
{
    auto asking = session->execute({inspect::metadataInstrument, {}, {}, false}, deadline);
    const auto instrument = co_await asking;
    const bool isInstrumented = instrument && instrument->cell(0, "enabled") == QByteArray("1");
    const QByteArrayList parameters{connection};
    const auto text = mariadb::sqlText(isInstrumented ? "mariadb-kept-tables" : "mariadb-kept-tables-by-plugin");
    auto listing = session->execute({text, parameters, {}, false}, deadline);
    const auto rows = co_await listing;
    if (!rows)
        co_return std::nullopt;
    QByteArrayList names;
    for (std::size_t i = 0; i < rows->rows.size(); ++i)
        names << inspect::tableLockName(rows->cell(i, "table_schema").value_or(QByteArray()),
                                        rows->cell(i, "name").value_or(QByteArray()));
    co_return names;
}

QString transactionWords(const SqlTransaction &transaction, const SqlPoll &look)
{
    const auto age =
        transaction.started ? u", %1 old,"_s.arg(formatDuration(look.now - *transaction.started)) : QString();
    return u"its transaction%1 has locked %2 and changed %3; all of it is rolled back"_s.arg(
        age, amountOf(transaction.rowsLocked, "row"_L1, "rows"_L1), QString::number(transaction.rowsModified));
}

// What the look says it holds. False: it holds rows, too, that the server does not name.
bool addHeld(ForceReleasePlan &plan, const SqlPoll &look, const QString &connection)
{
    qint64 namedRows = 0;
    for (const auto &lock : inspect::snapshotsOf(look, plan.before.lock.connection)) {
        const bool isHeld = std::ranges::any_of(lock.contenders, [&](const inspect::Contender &one) {
            return one.role == Role::Holder && one.session == connection;
        });
        if (!isHeld)
            continue;
        namedRows += recipes::recipeOf(lock.recipe).shape == recipes::Shape::Row ? 1 : 0;
        if (lock.lock.name != plan.before.lock.name)
            plan.otherLocksLost.push_back(lock.lock.name);
    }
    const auto number = connection.toULongLong();
    const auto transaction = std::ranges::find(look.transactions, number, &SqlTransaction::connection);
    if (transaction == look.transactions.end())
        return true;
    plan.warnings << transactionWords(*transaction, look);
    return transaction->rowsLocked <= namedRows;
}

} // namespace

Task<ForceReleasePlan> withKillLosses(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    // Without blocks it cannot look and KILL QUERY in one statement: what would be refused is not offered.
    if (session && !session->features().blocks)
        std::erase_if(plan.ways, [](const OfferedAction &offer) {
            return offer.way == ReleaseAction::KillQuery || offer.way == ReleaseAction::KillWaiter;
        });
    const auto *holder = plan.before.find(plan.holder);
    const bool isKill = plan.way == ReleaseAction::Release
                        && recipes::recipeOf(plan.before.recipe).release == recipes::ReleaseMechanism::KillConnection;
    if (!isKill || !session || !holder || !holder->session)
        co_return plan;
    const auto connection = *holder->session;
    inspect::SqlReader reader(*session);
    const auto look = co_await reader.freshLook(deadline);
    const auto tables = co_await lockedTables(session, connection.toLatin1(), deadline);
    const bool namesAllRows = look && addHeld(plan, *look, connection);
    for (const auto &name : tables.value_or(QByteArrayList())) {
        if (name != plan.before.lock.name && std::ranges::count(plan.otherLocksLost, name) == 0)
            plan.otherLocksLost.push_back(name);
    }
    const bool isAllSeen = look && look->rowsAreFresh && reader.gaps().isEmpty();
    plan.otherLocksKnown = namesAllRows && isAllSeen && tables.has_value();
    co_return plan;
}

} // namespace lockscope::operate
