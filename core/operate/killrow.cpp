// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/reader.h"
#include "core/operate/sql.h"
#include "core/postgresql/dialect.h"

#include <QStringDecoder>

namespace lockscope::operate {

using mariadb::InStatus;

namespace {

// In a transaction of our own, which ends whatever became of the question.
Task<Result<mariadb::Rows>> askInLook(KillTarget target, QByteArray question, Deadline deadline)
{
    auto settingUp = target.ask(mariadb::withoutReadView, deadline);
    auto beginning = target.ask(mariadb::beginLook, deadline);
    auto asking = target.ask(question, deadline);
    auto ending = target.ask(mariadb::endLook, Deadline::after(target.session->loop(), 10s));
    const auto setUp = co_await settingUp;
    const auto begun = co_await beginning;
    auto answer = co_await asking;
    (void)co_await ending; // it ends with the connection otherwise
    for (const auto *step : {&setUp, &begun}) {
        if (!*step)
            co_return step->error();
    }
    co_return answer;
}

// A holder has one at least, that on the table. Asked on our connection, or it is another server's answer.
Task<Result<InStatus>> lookInDataLocks(KillTarget target, Deadline deadline)
{
    const auto question = mariadb::sqlText("mysql-transaction-locks",
                                           {QByteArray::number(target.ours), target.number(), target.transaction});
    CO_TRY(const auto &answer, co_await target.ask(question, deadline));
    if (answer.cell(0, "is_ours") != QByteArray("1"))
        co_return InStatus::NotKnown;
    co_return answer.cell(0, "locks").value_or("0").toLongLong() > 0 ? InStatus::Active : InStatus::NotThere;
}

} // namespace

QByteArray rowFacts(const KillTarget &target)
{
    return mariadb::sqlText("mariadb-row-facts",
                            {mariadb::isMarked(mariadb::freshMark()), target.number(), sqlLiteral(target.guard)});
}

Task<Result<KillVerdict>> lookAfresh(KillTarget target, Deadline deadline)
{
    const auto question = "SELECT " + rowFacts(target) + " FROM information_schema.INNODB_TRX t";
    CO_TRY(const auto &answer, co_await askInLook(target, question, deadline));
    if (answer.cell(0, "fresh") != QByteArray("1"))
        co_return KillVerdict::Old;
    if (answer.cell(0, "same") == QByteArray("1"))
        co_return KillVerdict::Killed;
    co_return answer.cell(0, "present") == QByteArray("0") ? KillVerdict::Gone : KillVerdict::Another;
}

Task<Result<InStatus>> lookAtWhatIs(KillTarget target, Deadline deadline)
{
    if (!target.session->features().innoDbLocks && !target.transaction.isEmpty()) {
        const auto locks = co_await lookInDataLocks(target, deadline);
        co_return locks;
    }
    const QByteArray status = "SHOW ENGINE INNODB STATUS";
    CO_TRY(const auto &answer, co_await askInLook(target, status, deadline));
    co_return mariadb::findInStatus(answer.cell(0, "status").value_or(QByteArray()), target.transaction,
                                    target.connection, target.ours);
}

bool isNumbered(const QByteArray &transaction)
{
    constexpr quint64 firstOfMemory = 1ULL << 48;
    const auto number = transaction.toULongLong();
    return number != 0 && number < firstOfMemory;
}

QByteArray sqlLiteral(const QByteArray &text)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString decoded = decoder(text);
    const auto bytes = "X'" + text.toHex() + '\'';
    return decoder.hasError() ? bytes : "CONVERT(" + bytes + " USING utf8mb4)";
}

Task<bool> saysTablesByPlugin(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    if (recipes::recipeOf(plan.before.recipe).shape != recipes::Shape::Table)
        co_return false;
    auto asking = session->execute({inspect::metadataInstrument, {}, {}, false}, deadline);
    const auto instrument = co_await asking;
    co_return !instrument || instrument->cell(0, "enabled") != QByteArray("1");
}

QByteArray hasTable(const QByteArray &lock, const QByteArray &guard, mariadb::ConnectionId connection,
                    bool isByPlugin)
{
    const auto object = inspect::objectOfLock(lock).value_or(inspect::SqlObject());
    QByteArrayList modes;
    const auto at = guard.lastIndexOf(inspect::tableModesPrefix);
    const auto said = at < 0 ? QByteArray() : guard.mid(at + inspect::tableModesPrefix.size());
    for (const auto &mode : said.split(','))
        modes << sqlLiteral(isByPlugin ? "MDL_" + mode : mode);
    const auto byMode = at < 0 ? QByteArray() : " IN (" + modes.join(", ") + ')';
    if (isByPlugin) {
        // "Table metadata lock", "Backup lock", "Global read lock": in any case of letters.
        const auto named = object.schema.isEmpty() ? QByteArray()
                                                   : " AND m.TABLE_SCHEMA = " + sqlLiteral(object.schema)
                                                         + " AND m.TABLE_NAME = " + sqlLiteral(object.name);
        return mariadb::sqlText("mariadb-holds-table-by-plugin",
                                {QByteArray::number(connection), sqlLiteral(object.type), named,
                                 byMode.isEmpty() ? byMode : " AND m.LOCK_MODE" + byMode});
    }
    return mariadb::sqlText("mariadb-holds-table",
                            {QByteArray::number(connection), sqlLiteral(object.type), sqlLiteral(object.schema),
                             sqlLiteral(object.name), byMode.isEmpty() ? byMode : " AND m.LOCK_TYPE" + byMode});
}

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
    return sentence("rolled-back", {age, amountOf(transaction.rowsLocked, "row"_L1, "rows"_L1),
                                    QString::number(transaction.rowsModified)});
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

// KILL QUERY: the holder's running statement, or the one by which somebody waits. killconnection.cpp sends it.
namespace {

bool canKillQuery(const inspect::LockSnapshot &snapshot, const inspect::Contender &one)
{
    return one.session && one.session->toULongLong() != 0 && !one.guard.sql().text.isEmpty() && !one.runsNothing
           && recipes::recipeOf(snapshot.recipe).release == recipes::ReleaseMechanism::KillConnection;
}

QString whatKillQuery(const inspect::LockSnapshot &, const inspect::Contender &one)
{
    return sentence(one.role == Role::Waiter ? "kill-query-of-waiter" : "kill-query-of-holder",
                    {label(one.session.value_or(QString()).toUtf8(), 40)});
}

void planKillQuery(ForceReleasePlan &plan, const inspect::Contender &one)
{
    const bool isWaiter = one.role == Role::Waiter;
    const bool isNamed = !one.guard.sql().text.startsWith("trx ");
    const auto connection = label(one.session.value_or(QString()).toUtf8(), 40);
    addTexts(plan, "kill-query", {connection});
    addTexts(plan, isWaiter ? "kill-query-of-waiter" : "kill-query-of-holder",
             {connection, isNamed ? u"connection %1"_s.arg(connection) : label(one.guard.sql().text)});
    if (isWaiter) {
        plan.wakes = wokenWithout(plan.before, one);
        plan.who = grantedIfWaiterRemoved(plan.before, one);
    }
}

} // namespace

std::vector<AlternativeMethod> alternativeMethodsOfMariaDb()
{
    return {{ReleaseAction::KillWaiter, &canKillQuery, &whatKillQuery, &planKillQuery},
            {ReleaseAction::KillQuery, &canKillQuery, &whatKillQuery, &planKillQuery}};
}

using inspect::SqlLockRow;

namespace {

bool isLiquibase(const SqlLockRow &row)
{
    return row.layout && row.layout->release == recipes::RowRelease::Clear;
}

mariadb::Statement freeing(const SqlLockRow &row, const ForceReleasePlan &plan, FreeingText text)
{
    const QByteArrayList values = row.names + QByteArrayList{plan.guard.row().lockedBy, plan.guard.row().stamp};
    return {.text = text(row), .parameters = values, .connection = {}, .isLasting = true};
}

} // namespace

QByteArray freeingText(const SqlLockRow &row)
{
    const auto table = mariadb::quotedName(row.schema) + '.' + mariadb::quotedName(row.table);
    return mariadb::sqlText(isLiquibase(row) ? "mariadb-clear-liquibase" : "mariadb-clear-shedlock", {table});
}

QByteArray freeingPgText(const SqlLockRow &row)
{
    const auto table = postgresql::quotedName(row.schema) + '.' + postgresql::quotedName(row.table);
    return mariadb::sqlText(isLiquibase(row) ? "postgresql-clear-liquibase" : "postgresql-clear-shedlock", {table});
}

bool hasRow(const inspect::Contender &one)
{
    return !one.guard.row().lockedBy.isEmpty() && !one.guard.row().stamp.isEmpty();
}

void planClearRow(ForceReleasePlan &plan, const inspect::Contender &holder, FreeingText text)
{
    const auto row = inspect::lockRowNamed(plan.before.lock.name).value_or(SqlLockRow());
    const bool isOfLiquibase = isLiquibase(row);
    const auto values =
        u" [%1, %2]"_s.arg(label(holder.guard.row().lockedBy, 120), label(holder.guard.row().stamp, 60));
    plan.commands << label(text(row), 400) + values;
    addTexts(plan, isOfLiquibase ? "clear-liquibase" : "clear-shedlock", {values});
    // Who writes a token compares it.
    if (!isOfLiquibase && !isUuid36(holder.guard.row().lockedBy))
        addTexts(plan, "clear-shedlock-by-host");
    plan.exact = plan.risk.isEmpty();
    if (!plan.exact)
        plan.warnings << plan.risk;
}

QString askedAgain(const inspect::LockSnapshot &snapshot, const inspect::Contender &)
{
    const auto row = inspect::lockRowNamed(snapshot.lock.name);
    return sentence(row && isLiquibase(*row) ? "liquibase-retries" : "shedlock-retries");
}

QString ownFreeing(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder)
{
    const auto row = inspect::lockRowNamed(snapshot.lock.name);
    if (!row)
        return {};
    const auto &layout = *row->layout;
    const bool isPostgreSql = snapshot.backend == BackendKind::PostgreSql;
    const auto quoted = [isPostgreSql](const QByteArray &name) {
        return isPostgreSql ? postgresql::quotedName(name) : mariadb::quotedName(name);
    };
    // Numbers and flags, too: a server reads them as what they are compared with.
    const auto literal = [isPostgreSql](QByteArray value) {
        if (!isPostgreSql)
            value.replace("\\", "\\\\");
        return '\'' + value.replace("'", "''") + '\'';
    };
    const auto is = [&](const QByteArray &column, const QByteArray &value) {
        return quoted(column) + " = " + literal(value);
    };
    QByteArrayList conditions;
    for (qsizetype i = 0; i < layout.name.size(); ++i)
        conditions << is(layout.name[i], row->names.value(i));
    if (!layout.held.isEmpty())
        conditions << quoted(layout.flag) + " IN (" + mapped<QByteArrayList>(layout.held, literal).join(", ") + ')';
    else if (!layout.flag.isEmpty())
        conditions << is(layout.flag, "1");
    if (!layout.owner.isEmpty() && !holder.guard.row().lockedBy.isEmpty())
        conditions << is(layout.owner, holder.guard.row().lockedBy);
    if (!layout.isSinceRenewed && !holder.guard.row().stamp.isEmpty())
        conditions << is(layout.since, holder.guard.row().stamp);
    const auto table = quoted(row->schema) + '.' + quoted(row->table);
    const auto verb = layout.flag.isEmpty()
                          ? "DELETE FROM " + table
                          : "UPDATE " + table + " SET " + is(layout.flag, layout.free.value(0, "0"));
    const auto whose = layout.client.isEmpty() ? u"its holder no longer works"_s
                                               : u"no client of %1 works on it"_s.arg(layout.client);
    return u"make sure that %1, then run: %2"_s.arg(whose, label(verb + " WHERE " + conditions.join(" AND "), 600));
}

Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, FreeingText text, Deadline deadline)
{
    const auto row = inspect::lockRowNamed(plan.before.lock.name);
    if (!row)
        co_return changedMeanwhile(plan, u"its table is not known"_s);
    CO_TRY(const auto &done, co_await session->execute(freeing(*row, plan, text), deadline));
    if (done.affected == 0)
        co_return goneAlready(plan);
    co_return Sent();
}

} // namespace lockscope::operate
