#include "core/operate/releaseact.h"

#include "core/base/text.h"
#include "core/operate/redissonkeys.h"
#include "core/operate/releaseway.h"
#include "core/redis/client.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

QString holdText(const ForceReleasePlan &plan)
{
    return u"\"%1\" in %2"_s.arg(label(plan.holder, 80), label(plan.before.lock.text()));
}

// What answers with the guard of the hold, as the inspector made it, while it lasts.
mariadb::Statement stillHoldingQuestion(const ForceReleasePlan &plan)
{
    if (plan.before.recipe == "sql-get-lock")
        return {"SELECT CONCAT('connection ', ID, ' of ', USER, ' from ', HOST) AS guard "
                "FROM information_schema.PROCESSLIST WHERE ID = ? AND IS_USED_LOCK(?) = ID",
                {plan.holder, plan.before.lock.name.mid(qstrlen("GET_LOCK#"))}, std::nullopt, false};
    return {"SELECT CONCAT('trx ', trx_id, ' started ', CAST(UNIX_TIMESTAMP(trx_started) * 1000 AS SIGNED)) AS guard "
            "FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = ?",
            {plan.holder}, std::nullopt, false};
}

// A read that failed has taken nothing away, whatever became of the read.
Error nothingDeleted(const ForceReleasePlan &plan, const Error &why)
{
    const bool isLost = why.code == ErrorCode::UnknownOutcome;
    return Error{isLost ? ErrorCode::NotConnected : why.code,
                 u"nothing was deleted: the last look at %1 failed: %2"_s.arg(holdText(plan), why.message),
                 why.retryable};
}

Task<Result<qint64>> deleteNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    const ZPath path(plan.guard.path);
    auto syncReply = session->sync(path, deadline);
    auto getReply = session->get(path, std::nullopt, deadline);
    const auto synced = co_await syncReply;
    const auto got = co_await getReply;
    if (!synced)
        co_return nothingDeleted(plan, synced.error());
    if (!got && got.error().code == ErrorCode::NoNode)
        co_return goneAlready(plan);
    if (!got)
        co_return nothingDeleted(plan, got.error());
    const auto &stat = got->stat;
    if (stat.czxid != plan.guard.czxid || stat.ephemeralOwner.value != plan.guard.owner)
        co_return changedMeanwhile(plan, u"the node was made anew by session "_s + stat.ephemeralOwner.text());
    auto removeReply = session->remove(path, plan.guard.version, deadline);
    const auto removed = co_await removeReply;
    if (removed)
        co_return qint64(0);
    if (removed.error().code == ErrorCode::NoNode)
        co_return goneAlready(plan);
    if (removed.error().code == ErrorCode::BadVersion)
        co_return changedMeanwhile(plan, u"its data was changed"_s);
    co_return removed.error();
}

Task<Result<qint64>> compareAndDelete(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("compare-and-delete");
    auto reply = connection->script(script, {plan.before.lock.name}, {plan.guard.value}, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    if (answer->integer == 1)
        co_return qint64(0);
    if (answer->integer < 0)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, u"the key holds another value"_s);
}

Task<Result<qint64>> releaseRedisson(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("redisson-force-release");
    const RedissonKeys names(plan.before.lock.name);
    const QByteArrayList keys{plan.before.lock.name, names.channel(), names.readWriteChannel(), names.fairQueue(),
                              names.fairDeadlines()};
    const QByteArrayList args{plan.guard.value, names.readerTimeoutPrefix()};
    auto reply = connection->script(script, keys, args, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    const qint64 outcome = answer->items.size() == 2 ? answer->items[0].integer : -2;
    if (outcome > 0)
        co_return answer->items[1].integer;
    if (outcome == -1)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, outcome == 0 ? u"another holds it now"_s
                                                  : u"it has fields that Redisson's lock does not have"_s);
}

// KILL takes a number and nothing else: whether it still belongs to the same hold is asked right before.
Task<Result<qint64>> killConnection(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    const auto question = stillHoldingQuestion(plan);
    auto asking = session->execute(question, deadline);
    const auto answer = co_await asking;
    if (!answer)
        co_return nothingDeleted(plan, answer.error());
    if (answer->rows.empty())
        co_return goneAlready(plan);
    if (answer->cell(0, "guard") != plan.guard.value)
        co_return changedMeanwhile(plan, u"it is another transaction or another connection by now"_s);
    const mariadb::Statement kill{"KILL CONNECTION " + QByteArray::number(plan.holder.toULongLong()), {}, {}, true};
    auto killing = session->execute(kill, deadline);
    const auto killed = co_await killing;
    if (!killed && killed.error().code == ErrorCode::NoRow)
        co_return goneAlready(plan);
    if (!killed)
        co_return killed.error();
    co_return qint64(0);
}

} // namespace

Error goneAlready(const ForceReleasePlan &plan)
{
    return Error{ErrorCode::Refused,
                 u"%1 is gone already: it let go by itself, and nothing was taken away"_s.arg(holdText(plan))};
}

Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what)
{
    return Error{ErrorCode::Refused,
                 u"%1 is not what it was in the preview (%2), and nothing was taken away; look again"_s.arg(
                     holdText(plan), what)};
}

Task<Result<qint64>> sendRelease(ForceReleasePlan plan, ForceReleaseTools tools, Deadline deadline)
{
    const auto way = releaseWay(plan.before);
    if (!way)
        co_return way.error();
    if (*way == ReleaseWay::DeleteNode) {
        auto deleted = co_await deleteNode(plan, tools.session, deadline);
        co_return deleted;
    }
    if (*way == ReleaseWay::CompareAndDelete) {
        auto deleted = co_await compareAndDelete(plan, tools.connection, deadline);
        co_return deleted;
    }
    if (*way == ReleaseWay::KillConnection) {
        auto killed = co_await killConnection(plan, tools.sql, deadline);
        co_return killed;
    }
    auto released = co_await releaseRedisson(plan, tools.connection, deadline);
    co_return released;
}

} // namespace lockscope::operate
