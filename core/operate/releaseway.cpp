#include "core/operate/releaseway.h"

#include "core/base/text.h"

#include <QHash>

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
        {"redisson-lock", Redisson},
        {"redisson-fair-lock", Redisson},
        {"redisson-rwlock", Redisson},
        {"redisson-fenced-lock", Redisson},
        {"sql-for-update", KillConnection},
        {"sql-get-lock", KillConnection},
    };
    return table;
}

QString whyNot(const QByteArray &recipe)
{
    if (recipe == "zk-lease")
        return u"the node holds a date, not an owner's presence; wait until it has passed"_s;
    if (recipe == "redlock")
        return u"it lives on several nodes, and this version acts on one; release it on each of them by its key"_s;
    if (recipe == "redisson-semaphore")
        return u"its permits have no owners that could be told apart"_s;
    return u"this version knows no safe way for this recipe"_s;
}

} // namespace

Result<ReleaseWay> releaseWay(const inspect::LockPicture &picture)
{
    const auto way = ways().constFind(picture.recipe);
    if (way != ways().constEnd())
        return *way;
    return Error{ErrorCode::Unsupported,
                 u"force-release of %1 (%2) is not possible: %3"_s.arg(
                     label(picture.lock.text()), label(picture.recipe), whyNot(picture.recipe))};
}

bool choosesLeader(const QByteArray &recipe)
{
    return recipe == "zk-election" || recipe == "curator-leader";
}

} // namespace lockscope::operate
