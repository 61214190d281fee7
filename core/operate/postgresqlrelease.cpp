// SPDX-License-Identifier: Apache-2.0
#include "core/operate/sql.h"

#include "core/inspect/postgresql/observer.h"
#include "core/postgresql/dialect.h"

namespace lockscope::operate {

namespace {

// The guard of a contender of core/inspect/postgresql: "pid=7 backend_start=… xact_start=… lock=advisory:5:0:42:1".
using GuardWords = std::map<QByteArray, QByteArray>;

GuardWords wordsOf(const QByteArray &guard)
{
    GuardWords words;
    for (const auto &word : guard.split(' '))
        words[word.left(word.indexOf('='))] = word.mid(word.indexOf('=') + 1);
    return words;
}

bool isOfPrepared(const QByteArray &guard)
{
    return guard.startsWith("prepared=");
}

// That backend and no later one of its number, in that transaction; empty where the guard is not whole.
QByteArray sameBackend(const GuardWords &words)
{
    QByteArrayList parts;
    for (const auto &[word, column] : {std::pair<const char *, QByteArray>("pid", "a.pid"),
                                       {"backend_start", postgresql::microseconds("a.backend_start")},
                                       {"xact_start", postgresql::microseconds("a.xact_start")}}) {
        const auto at = words.find(word);
        if (at != words.end() && isDigits(at->second))
            parts << column + " = " + at->second;
    }
    const bool isWhole = words.contains("pid") && words.contains("backend_start")
                         && parts.size() == (words.contains("xact_start") ? 3 : 2);
    return isWhole ? parts.join(" AND ") : QByteArray();
}

// In pg_locks l: the lock that the guard names; true where it names none.
QByteArray sameLock(const QByteArray &lock)
{
    const auto parts = lock.split(':');
    const auto isNumbered = [&parts](qsizetype count) {
        return parts.size() == count && std::all_of(parts.begin() + 1, parts.end(), isDigits);
    };
    if (parts.front() == "advisory" && isNumbered(5))
        return "l.locktype = 'advisory' AND l.database = " + parts[1] + " AND l.classid = " + parts[2]
               + " AND l.objid = " + parts[3] + " AND l.objsubid = " + parts[4];
    if (parts.front() == "transactionid" && isNumbered(2))
        return "l.locktype = 'transactionid' AND l.transactionid::text = '" + parts[1] + '\'';
    if (parts.front() == "relation" && isNumbered(3))
        return "l.locktype = 'relation' AND l.database = " + parts[1] + " AND l.relation = " + parts[2];
    return "true";
}

// "same": the backend is there; "meant": it holds, or waits, as it was planned; "done": the signal was sent.
QByteArray actIfStill(const GuardWords &words, const QByteArray &lock, const QByteArray &also, const char *function)
{
    return mariadb::sqlText("postgresql-signal", {sameBackend(words), also, lock, function});
}

QString backendOf(const inspect::Contender &one)
{
    return label(one.session.value_or(QString()).toUtf8(), 40);
}

QString identityText(const inspect::Contender &one)
{
    return label(one.guard.sql().text, 200);
}

void planTerminate(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    if (isOfPrepared(holder.guard.sql().text)) {
        const auto name = label(holder.guard.sql().text.mid(9), 80);
        auto quoted = name;
        quoted.replace(u'\'', u"''"_s);
        return addTexts(plan, "terminate-prepared",
                        {name, label(holder.identity.value_or(QByteArray()), 300), quoted});
    }
    const bool isInTransaction = holder.guard.sql().text.contains("xact_start");
    addTexts(plan, "terminate",
             {backendOf(holder), identityText(holder), isInTransaction ? u", xact_start"_s : QString()});
}

QString nextAtPostgreSql(const inspect::LockSnapshot &snapshot, const inspect::Contender &)
{
    return snapshot.waiterCount() > 0 ? u"the first in line (the server wakes it)"_s : u"no client waits"_s;
}

bool canCancel(const inspect::LockSnapshot &snapshot, const inspect::Contender &one)
{
    return one.session && !one.guard.sql().text.isEmpty() && !one.runsNothing
           && recipes::recipeOf(snapshot.recipe).release == recipes::ReleaseMechanism::TerminateBackend;
}

QString whatCancel(const inspect::LockSnapshot &, const inspect::Contender &one)
{
    return sentence(one.role == inspect::Role::Waiter ? "cancel-waiter" : "cancel-holder", {backendOf(one)});
}

void planCancel(ForceReleasePlan &plan, const inspect::Contender &one)
{
    const bool isWaiter = one.role == inspect::Role::Waiter;
    addTexts(plan, "cancel", {backendOf(one)});
    addTexts(plan, isWaiter ? "cancel-waiter" : "cancel-holder", {backendOf(one), identityText(one)});
    if (!isWaiter)
        return;
    if (plan.before.lock.name.startsWith("VIRTUALXID#"))
        addTexts(plan, "cancel-index");
    plan.wakes = wokenWithout(plan.before, one);
    plan.who = grantedIfWaiterRemoved(plan.before, one);
}

// The server ends the backend in its own time. What is not known in ours the next look says.
Task<void> untilBackendIsGone(mariadb::Session *session, QByteArray same)
{
    auto &loop = session->loop();
    const auto limit = Deadline::after(loop, 2s);
    for (auto pause = 2ms; !limit.hasPassed(loop); pause *= 2) {
        auto asking = session->execute(
            {"SELECT count(*)::text AS there FROM pg_catalog.pg_stat_activity a WHERE " + same, {}, {}, false},
            limit);
        const auto answer = co_await asking;
        if (!answer || answer->cell(0, "there") != QByteArray("1"))
            co_return;
        co_await sleepFor(loop, pause);
    }
}

// A CREATE INDEX CONCURRENTLY (also REINDEX and DROP INDEX) that is ended leaves its index as INVALID. Its backend
// has ShareUpdateExclusiveLock on the table, over all of its transactions.

// Numbers of the INVALID indexes on tables that the backend has so, with commas; empty: none, or not readable.
Task<QByteArray> invalidIndexesOf(mariadb::Session *session, QByteArray backend, Deadline deadline)
{
    auto asking =
        session->execute({mariadb::sqlText("postgresql-invalid-indexes", {backend}), {}, {}, false}, deadline);
    const auto answer = co_await asking;
    const auto numbers = answer ? answer->cell(0, "invalid").value_or(QByteArray()) : QByteArray();
    const auto all = numbers.split(',');
    co_return std::ranges::all_of(all, isDigits) ? numbers : QByteArray();
}

// Those of them that are still INVALID once the backend no longer has their tables, as a sentence; empty: none.
Task<QString> leftInvalid(mariadb::Session *session, QByteArray backend, QByteArray invalid)
{
    auto &loop = session->loop();
    const auto limit = Deadline::after(loop, 2s);
    const auto question = mariadb::sqlText("postgresql-left-invalid", {invalid, backend});
    for (auto pause = 2ms; !limit.hasPassed(loop); pause *= 2) {
        auto asking = session->execute({question, {}, {}, false}, limit);
        const auto answer = co_await asking;
        if (!answer)
            break;
        const auto names = answer->cell(0, "invalid").value_or(QByteArray());
        if (names.isEmpty())
            co_return QString();
        if (answer->cell(0, "busy") == QByteArray("0"))
            co_return sentence("index-left", {label(names, 200)});
        co_await sleepFor(loop, pause);
    }
    co_return sentence("index-unchecked");
}

struct PgAct {
    QByteArray same, text;
    QByteArray backend; // as `same`, in whichever transaction
    bool isTerminate = false;
};

Result<PgAct> actOf(const ForceReleasePlan &plan)
{
    const auto *one = plan.before.find(plan.holder);
    const auto guard = plan.guard.sql().text.isEmpty() && one ? one->guard.sql().text : plan.guard.sql().text;
    if (isOfPrepared(guard))
        return Error{ErrorCode::Unsupported, sentence("prepared-not-sent", {label(guard.mid(9), 80)})};
    const auto words = wordsOf(guard);
    auto inAnyTransaction = words;
    inAnyTransaction.erase("xact_start");
    PgAct act;
    act.same = sameBackend(words);
    act.backend = sameBackend(inAnyTransaction);
    if (act.same.isEmpty())
        return changedMeanwhile(plan, u"its backend cannot be identified reliably"_s);
    act.isTerminate = plan.way == ReleaseAction::Release;
    const auto at = words.find("lock");
    const auto lock = sameLock(at == words.end() ? QByteArray("any") : at->second);
    // Who waits for a row waits for its holder's transaction, or for the row's place: either is not this lock's own.
    const bool isNamed = lock.contains("'advisory'") || lock.contains("'relation'");
    if (plan.way == ReleaseAction::KillWaiter)
        act.text = actIfStill(words, isNamed ? "NOT l.granted AND " + lock : QByteArray("NOT l.granted"), {},
                              "pg_cancel_backend");
    else if (plan.way == ReleaseAction::KillQuery)
        act.text = actIfStill(words, "l.granted AND " + lock, " AND a.state = 'active'", "pg_cancel_backend");
    else
        act.text = actIfStill(words, "l.granted AND " + lock, {}, "pg_terminate_backend");
    return act;
}

Task<Result<Sent>> signalBackend(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    CO_TRY(const auto &act, actOf(plan));
    const auto ours = session->connectionId();
    const auto invalid = co_await invalidIndexesOf(session, act.backend, deadline);
    const mariadb::Statement statement{act.text, {}, ours, true};
    const auto answer = co_await session->execute(statement, deadline);
    const auto code = answer ? ErrorCode::Server : answer.error().code;
    if (code == ErrorCode::TimedOut || code == ErrorCode::Cancelled) // ended before or after the signal in it
        co_return Error{ErrorCode::UnknownOutcome, answer.error().message, true};
    if (code == ErrorCode::UnknownOutcome)
        co_return answer.error();
    if (!answer)
        co_return Error{answer.error().code,
                        sentence("terminate-failed", {label(plan.before.lock.text()), answer.error().message}),
                        answer.error().retryable};
    const auto is = [&answer](const char *column) { return answer->cell(0, column) == QByteArray("1"); };
    if (!is("meant") && act.isTerminate)
        co_return goneAlready(plan);
    if (!is("meant"))
        co_return changedMeanwhile(plan, plan.way == ReleaseAction::KillWaiter ? u"it no longer waits"_s
                                                                               : sentence("no-statement"));
    if (!is("done"))
        co_return goneAlready(plan); // the process ended between the two
    if (act.isTerminate)
        co_await untilBackendIsGone(session, act.same);
    Sent sent;
    if (!invalid.isEmpty())
        sent.left = co_await leftInvalid(session, act.backend, invalid);
    co_return sent;
}

} // namespace

SqlWriteWords postgreSqlWriteWords()
{
    return {"FOR NO KEY", "FOR KEY", "PG_ADVISORY", "PG_TRY_ADV", "PG_CANCEL", "PG_TERMINATE"};
}

std::vector<ReleaseMethod> releaseMethodsOfPostgreSql()
{
    const auto planRow = [](ForceReleasePlan &plan, const inspect::Contender &holder) {
        planClearRow(plan, holder, freeingPgText);
    };
    return {{ReleaseMechanism::TerminateBackend, &planTerminate, &nextAtPostgreSql, {}, true},
            {ReleaseMechanism::ClearPgRow, planRow, &askedAgain, &hasRow}};
}

std::vector<AlternativeMethod> alternativeMethodsOfPostgreSql()
{
    return {{ReleaseAction::KillWaiter, &canCancel, &whatCancel, &planCancel},
            {ReleaseAction::KillQuery, &canCancel, &whatCancel, &planCancel}};
}

Task<Result<Sent>> sendPostgreSqlRelease(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    const auto way = releaseWay(plan.before);
    if (way && *way == ReleaseMechanism::ClearPgRow && plan.way == ReleaseAction::Release)
        return clearRow(std::move(plan), session, freeingPgText, deadline);
    const bool isOurs = way && *way == ReleaseMechanism::TerminateBackend
                        && (plan.way == ReleaseAction::Release || plan.way == ReleaseAction::KillQuery
                            || plan.way == ReleaseAction::KillWaiter);
    return isOurs ? signalBackend(std::move(plan), session, deadline) : nothingSent(std::move(plan));
}

Task<ForceReleasePlan> withBackendLosses(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    const auto *holder = plan.before.find(plan.holder);
    const bool isTerminate = plan.way == ReleaseAction::Release
                             && recipes::recipeOf(plan.before.recipe).release == ReleaseMechanism::TerminateBackend;
    const bool isPrepared = holder && isOfPrepared(holder->guard.sql().text);
    if (!isTerminate || !session || !holder || (!holder->session && !isPrepared))
        co_return plan;
    const auto pid = holder->session.value_or(QString());
    inspect::PgReader reader(*session);
    const auto look = co_await reader.look(deadline);
    if (!look)
        co_return plan;
    for (const auto &lock : inspect::snapshotsOf(*look, plan.before.lock.connection)) {
        const bool isHeld = std::ranges::any_of(lock.contenders, [&](const inspect::Contender &one) {
            return one.role == inspect::Role::Holder && (isPrepared ? one.id == plan.holder : one.session == pid);
        });
        if (isHeld && lock.lock.name != plan.before.lock.name)
            plan.otherLocksLost.push_back(lock.lock.name);
    }
    if (isPrepared)
        co_return plan;
    const auto who = std::ranges::find(look->sessions, pid.toULongLong(), &inspect::PgSession::pid);
    const bool isInTransaction = who != look->sessions.end() && who->transactionStart;
    if (isInTransaction)
        addTexts(plan, "backend-rolled-back", {formatDuration(look->now - inspect::timeOf(*who->transactionStart))});
    // Outside of a transaction a session holds advisory locks only, and those are all seen.
    plan.otherLocksKnown = !isInTransaction && look->seesOthers;
    co_return plan;
}

} // namespace lockscope::operate
