// SPDX-License-Identifier: Apache-2.0
// A row that is a lock by what stands in it is cleared as its own client clears it, if it still is as it was seen.
#include "core/operate/rowrelease.h"

#include "core/base/text.h"
#include "core/inspect/mariadb/look.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

QByteArray inBackticks(QByteArray name)
{
    name.replace("`", "``");
    return '`' + name + '`';
}

std::optional<QByteArray> tableOf(const ForceReleasePlan &plan)
{
    const auto table = inspect::liquibaseTable(plan.before.lock.name);
    return table ? std::optional(inBackticks(table->first) + '.' + inBackticks(table->second)) : std::nullopt;
}

// Compared byte by byte: collations take A for a.
QByteArray clearing(const QByteArray &table)
{
    return "UPDATE " + table
           + " SET LOCKED = 0, LOCKGRANTED = NULL, LOCKEDBY = NULL WHERE ID = 1 AND LOCKED <> 0 AND "
             "LOCKEDBY = BINARY ? AND CAST(LOCKGRANTED AS CHAR) = ?";
}

} // namespace

bool hasRow(const inspect::Contender &one)
{
    return !one.guard.value.isEmpty() && !one.guard.group.isEmpty();
}

void planClearRow(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    const auto values = u" [%1, %2]"_s.arg(label(holder.guard.value, 120), label(holder.guard.group, 60));
    plan.act = u"Clear the row as Liquibase does (releaseLocks)"_s;
    plan.commands << label(clearing(tableOf(plan).value_or(QByteArray())), 400) + values;
    plan.guardText = u"LOCKEDBY and LOCKGRANTED as they were seen%1, compared in the same statement"_s.arg(values);
    plan.gentler
        << u"see whether Liquibase still runs on the host that LOCKEDBY names: one that was killed leaves the row "
           u"locked for good, and then this is what helps"_s;
    plan.risk =
        u"should Liquibase still run there, another may begin the same changes beside it; and when the old one "
        u"is done, it clears the row without comparing who has set it"_s;
    plan.exact = false;
    plan.warnings << plan.risk;
}

QString askedAgain(const inspect::LockSnapshot &, const inspect::Contender &)
{
    return u"nobody: Liquibase asks again every 10 s, and gives up after 5 min (unless set otherwise)"_s;
}

Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    const auto table = tableOf(plan);
    if (!table)
        co_return changedMeanwhile(plan, u"its table is not known"_s);
    const QByteArrayList parameters{plan.guard.value, plan.guard.group};
    const mariadb::Statement statement{clearing(*table), parameters, std::nullopt, true};
    auto acting = session->execute(statement, deadline);
    const auto done = co_await acting;
    if (!done)
        co_return done.error();
    if (done->affected == 0)
        co_return goneAlready(plan);
    co_return Sent();
}

} // namespace lockscope::operate
