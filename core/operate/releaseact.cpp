// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releaseact.h"

#include "core/base/text.h"
#include "core/operate/killconnection.h"
#include "core/rules/redissonkeys.h"
#include "core/rules/turn.h"
#include "core/operate/releaseway.h"
#include "core/redis/client.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

QString holdText(const ForceReleasePlan &plan)
{
    return u"\"%1\" in %2"_s.arg(label(plan.holder, 80), label(plan.before.lock.text()));
}

// A read that failed has taken nothing away, whatever became of the read.
Error nothingDeleted(const ForceReleasePlan &plan, const Error &why)
{
    const bool isLost = why.code == ErrorCode::UnknownOutcome;
    return Error{isLost ? ErrorCode::NotConnected : why.code,
                 u"nothing was deleted: the last look at %1 failed: %2"_s.arg(holdText(plan), why.message),
                 why.retryable};
}

Task<Result<Sent>> deleteNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
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
        co_return Sent();
    if (removed.error().code == ErrorCode::NoNode)
        co_return goneAlready(plan);
    if (removed.error().code == ErrorCode::BadVersion)
        co_return changedMeanwhile(plan, u"its data was changed"_s);
    co_return removed.error();
}

Task<Result<Sent>> compareAndDelete(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto &until = plan.guard.expiryMs;
    const auto expiry = until ? QByteArray::number(*until) : QByteArray();
    const bool wakes = !plan.wakeUps.isEmpty();
    const auto script = redis::loadScript(wakes   ? "compare-and-delete-and-wake"
                                          : until ? "compare-and-delete-until"
                                                  : "compare-and-delete");
    QByteArrayList arguments{plan.guard.value};
    if (wakes)
        arguments << recipes::signalArguments(plan.wakeUps, expiry);
    else if (until)
        arguments << expiry;
    auto reply = connection->script(script, {plan.before.lock.name}, arguments, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    if (answer->integer >= 1)
        co_return Sent{answer->integer - 1, {}};
    if (answer->integer < 0)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, u"the key holds another value, or ends at another moment"_s);
}

// What came of it on the nodes of a set.
struct Tally {
    int nodes = 0;
    int deleted = 0;
    int gone = 0;       // no key there
    int others = 0;     // another value there
    int unknown = 0;    // sent, and no answer
    QStringList failed; // "10.0.3.7:6379: not connected"
};

void count(Tally &tally, const QString &node, const Result<redis::Value> &answer)
{
    if (answer) {
        ++(answer->integer == 1 ? tally.deleted : answer->integer < 0 ? tally.gone : tally.others);
        return;
    }
    tally.unknown += answer.error().code == ErrorCode::UnknownOutcome ? 1 : 0;
    tally.failed << u"%1: %2"_s.arg(node, answer.error().message);
}

Result<Sent> outcomeOfTally(const ForceReleasePlan &plan, const Tally &tally, const std::optional<Error> &failure)
{
    const auto failures = tally.failed.isEmpty() ? QString() : u" (%1)"_s.arg(tally.failed.join(u"; "_s));
    // A majority that did not answer may still hold it, whatever the others say when they are read again.
    const int silent = tally.nodes - tally.deleted - tally.gone - tally.others;
    if (silent >= recipes::quorumOf(tally.nodes) && tally.deleted > 0)
        return Error{
            ErrorCode::Server,
            u"deleted on %1 of %2 nodes, but %3 did not answer%4: a majority may still hold it; try again when "
            u"they do"_s.arg(tally.deleted)
                .arg(tally.nodes)
                .arg(silent)
                .arg(failures)};
    const auto own = tally.gone > 0 ? u", gone from %1 already"_s.arg(tally.gone) : QString();
    if (tally.deleted > 0)
        return Sent{0, u"on %1 of %2 nodes"_s.arg(tally.deleted).arg(tally.nodes) + own + failures};
    if (tally.unknown > 0)
        return Error{ErrorCode::UnknownOutcome, tally.failed.join(u"; "_s)};
    if (failure)
        return *failure;
    return tally.others > 0 ? changedMeanwhile(plan, u"the nodes hold other values"_s) : goneAlready(plan);
}

// A node that does not answer must not keep the operator waiting: the others count.
constexpr std::chrono::seconds nodeWithin(3);

Task<Result<Sent>> deleteOnAll(ForceReleasePlan plan, std::vector<redis::Connection *> nodes, Loop *loop,
                               Deadline deadline)
{
    if (nodes.empty() || nodes.size() != plan.before.nodes.size())
        co_return changedMeanwhile(plan, u"the connection is not the set of nodes it was"_s);
    const auto script = redis::loadScript("compare-and-delete");
    const auto limit = Deadline::at(std::min<Instant>(deadline.when(), loop->now() + nodeWithin));
    std::vector<Reply<redis::Value>> replies;
    for (auto *node : nodes)
        replies.push_back(node->script(script, {plan.before.lock.name}, {plan.guard.value}, limit));
    Tally tally;
    tally.nodes = static_cast<int>(nodes.size());
    std::optional<Error> failure;
    for (std::size_t i = 0; i < replies.size(); ++i) {
        const auto answer = co_await replies[i];
        count(tally, plan.before.nodes[i].node, answer);
        if (!answer)
            failure = answer.error();
    }
    co_return outcomeOfTally(plan, tally, failure);
}

Task<Result<Sent>> releaseRedisson(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const redis::RedissonKeys names(plan.before.lock.name);
    const bool isOfGroup = !plan.guard.group.isEmpty();
    const auto script = redis::loadScript(isOfGroup ? "redisson-group-release" : "redisson-force-release");
    const QByteArrayList groupKeys{plan.before.lock.name, names.channel()};
    const QByteArrayList lockKeys{plan.before.lock.name, names.channel(), names.readWriteChannel(), names.fairQueue(),
                                  names.fairDeadlines()};
    const QByteArrayList groupArgs{plan.guard.group, plan.guard.value};
    const QByteArrayList lockArgs{plan.guard.value, names.readerTimeoutPrefix()};
    auto reply =
        connection->script(script, isOfGroup ? groupKeys : lockKeys, isOfGroup ? groupArgs : lockArgs, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    const qint64 outcome = answer->items.size() == 2 ? answer->items[0].integer : -2;
    if (outcome > 0)
        co_return Sent{answer->items[1].integer, {}};
    if (outcome == -1)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, outcome == 0 ? u"another holds it now"_s
                                                  : u"it has fields that Redisson's lock does not have"_s);
}

Task<Result<Sent>> releasePermit(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("redisson-permit-release");
    const redis::RedissonKeys names(plan.before.lock.name);
    const QByteArrayList keys{plan.before.lock.name, names.permitDeadlines()};
    const QByteArrayList args{plan.guard.value, names.semaphoreChannel()};
    auto reply = connection->script(script, keys, args, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    // One that ran out a moment ago comes back to the others all the same.
    if (answer->items.size() == 2 && answer->items[0].integer >= 0)
        co_return Sent{answer->items[1].integer, {}};
    co_return goneAlready(plan);
}

Task<Result<Sent>> nothingSent(Error why)
{
    co_return why;
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

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, ForceReleaseTools tools, Deadline deadline)
{
    const auto way = releaseWay(plan.before);
    switch (way ? *way : ReleaseWay::None) {
    case ReleaseWay::DeleteNode: return deleteNode(plan, tools.session, deadline);
    case ReleaseWay::CompareAndDelete: return compareAndDelete(plan, tools.connection, deadline);
    case ReleaseWay::QuorumDelete: return deleteOnAll(plan, tools.nodes, tools.loop, deadline);
    case ReleaseWay::RedissonUnlock: return releaseRedisson(plan, tools.connection, deadline);
    case ReleaseWay::RedissonPermit: return releasePermit(plan, tools.connection, deadline);
    case ReleaseWay::KillConnection: return killConnection(plan, tools.sql, deadline);
    case ReleaseWay::None: break;
    }
    return nothingSent(way.error());
}

} // namespace lockscope::operate
