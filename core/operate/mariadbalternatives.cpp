// SPDX-License-Identifier: Apache-2.0
// KILL QUERY: the holder's running statement, or the one by which somebody waits. killconnection.cpp sends it.
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/operate/alternatives.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::operate {

namespace {

bool canKillQuery(const inspect::LockSnapshot &snapshot, const inspect::Contender &one)
{
    return one.session && one.session->toULongLong() != 0 && !one.guard.sql().text.isEmpty() && !one.runsNothing
           && recipes::recipeOf(snapshot.recipe).release == recipes::ReleaseMechanism::KillConnection;
}

QString whatKillQuery(const inspect::LockSnapshot &, const inspect::Contender &one)
{
    const auto connection = label(one.session.value_or(QString()).toUtf8(), 40);
    return one.role == inspect::Role::Waiter
               ? u"end the waiting statement of connection %1 (KILL QUERY): the connection stays"_s.arg(connection)
               : u"end the running statement of connection %1 (KILL QUERY): the connection stays and keeps its "
                 u"locks unless its client rolls back"_s.arg(connection);
}

void planKillQuery(ForceReleasePlan &plan, const inspect::Contender &one)
{
    const bool isWaiter = one.role == inspect::Role::Waiter;
    const bool isNamed = !one.guard.sql().text.startsWith("trx ");
    const auto connection = label(one.session.value_or(QString()).toUtf8(), 40);
    plan.act = u"KILL QUERY %1"_s.arg(connection);
    plan.commands << u"BEGIN NOT ATOMIC IF it is still so THEN KILL QUERY %1 (one statement; MariaDB only)"_s.arg(
        connection);
    plan.guardText = u"%1, and it must %2; checked in the same statement"_s.arg(
        isNamed ? u"connection %1"_s.arg(connection) : label(one.guard.sql().text),
        isWaiter ? u"still wait"_s : u"still hold the lock and run a statement"_s);
    plan.exact = false;
    plan.warnings
        << u"KILL addresses the connection, not the statement. If it starts another statement between the last "
           u"check and the KILL, that statement is ended"_s;
    plan.wakes = isWaiter ? wokenWithout(plan.before, one) : u"its client, by the error 1317 of its statement"_s;
    plan.who = isWaiter ? grantedIfWaiterRemoved(plan.before, one)
                        : u"no client yet: the connection keeps the lock until its client ends the transaction or "
                          u"releases it"_s;
    plan.alsoLost =
        u"the changes of this statement (outside a transaction, with autocommit, all of them). The connection, "
        u"its transaction and its named locks stay"_s;
}

} // namespace

std::vector<AlternativeMethod> alternativeMethodsOfMariaDb()
{
    return {{ReleaseAction::KillWaiter, &canKillQuery, &whatKillQuery, &planKillQuery},
            {ReleaseAction::KillQuery, &canKillQuery, &whatKillQuery, &planKillQuery}};
}

} // namespace lockscope::operate
