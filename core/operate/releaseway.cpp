// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releaseway.h"

#include "core/base/text.h"

#include <QHash>

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

const QHash<QByteArray, ReleaseWay> &ways()
{
    using enum ReleaseWay;
    static const QHash<QByteArray, ReleaseWay> table{
        {"zk-ephemeral", DeleteNode},
        {"zk-herd-mutex", DeleteNode},
        {"zk-mutex", DeleteNode},
        {"zk-eager-mutex", DeleteNode},
        {"zk-flat-mutex", DeleteNode},
        {"zk-shared-herd", DeleteNode},
        {"zk-shared", DeleteNode},
        {"zk-election", DeleteNode},
        {"zookeeper-recipe-lock", DeleteNode},
        {"curator-mutex", DeleteNode},
        {"curator-semaphore-mutex", DeleteNode},
        {"curator-rwlock", DeleteNode},
        {"curator-semaphore", DeleteNode},
        {"curator-leader", DeleteNode},
        {"kazoo-lock", DeleteNode},
        {"kazoo-rwlock", DeleteNode},
        {"kazoo-semaphore", DeleteNode},
        {"redis-set-nx", CompareAndDelete},
        {"redis-setnx-expire", CompareAndDelete},
        {"redis-getset", CompareAndDelete},
        {"redlock", QuorumDelete},
        {"redisson-lock", Redisson},
        {"redisson-fair-lock", Redisson},
        {"redisson-rwlock", Redisson},
        {"redisson-fenced-lock", Redisson},
        {"sql-for-update", KillConnection},
        {"sql-get-lock", KillConnection},
    };
    return table;
}

// A semaphore with expiring permits knows each of them; a plain one only how many are left.
bool hasPermits(const inspect::LockPicture &picture)
{
    return std::ranges::any_of(picture.contenders, [](const auto &one) {
        return one.role == inspect::Role::Holder && !one.guard.value.isEmpty();
    });
}

QString whyNot(const QByteArray &recipe)
{
    if (recipe == "zk-lease")
        return u"the node holds a date, not an owner's presence; wait until it has passed"_s;
    if (recipe == "redlock")
        return u"the nodes it lives on are not known"_s;
    if (recipe == "redisson-semaphore")
        return u"nobody wrote down who holds its permits, so they cannot be told apart"_s;
    return u"this version knows no safe way for this recipe"_s;
}

} // namespace

Result<ReleaseWay> releaseWay(const inspect::LockPicture &picture)
{
    if (picture.recipe == "redisson-semaphore" && hasPermits(picture))
        return ReleaseWay::RedissonPermit;
    const auto way = ways().constFind(picture.recipe);
    const bool isOnSet = !picture.nodes.empty();
    if (way != ways().constEnd() && isOnSet == (*way == ReleaseWay::QuorumDelete))
        return *way;
    return Error{ErrorCode::Unsupported,
                 u"force-release of %1 (%2) is not possible: %3"_s.arg(
                     label(picture.lock.text()), label(picture.recipe),
                     isOnSet ? u"it is on one node of a set; connect that node by itself"_s : whyNot(picture.recipe))};
}

bool choosesLeader(const QByteArray &recipe)
{
    return recipe == "zk-election" || recipe == "curator-leader";
}

} // namespace lockscope::operate
