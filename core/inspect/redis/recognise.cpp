// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/recognise.h"

#include "core/base/identifiers.h"
#include "core/inspect/redis/pieces.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

std::optional<LockPicture> recognise(const KeyView &main, const std::vector<KeyView> &companions,
                                     const RedisContext &context)
{
    if (companionOf(main.key))
        return std::nullopt;
    const Case about{main, companions, context};
    using Rule = std::optional<LockPicture> (*)(const Case &);
    static constexpr Rule hashes[] = {redissonReadWriteLock, redissonLock, redissonMultiLock};
    static constexpr Rule integers[] = {redissonPermitSemaphore, redissonSemaphore};
    static constexpr Rule strings[] = {shedLockKey, tokenLock, timestampLock, naiveLock};
    const auto first = [&about](const auto &rules) -> std::optional<LockPicture> {
        for (const Rule rule : rules) {
            if (auto lock = rule(about))
                return lock;
        }
        return std::nullopt;
    };
    if (main.type == KeyType::None)
        return redissonLeftOver(about);
    if (main.type == KeyType::Hash)
        return first(hashes);
    if (main.type != KeyType::String)
        return std::nullopt;
    if (auto semaphore = first(integers))
        return semaphore;
    if (isCountDownLatch(about))
        return std::nullopt;
    return first(strings);
}

void attributeToRegistries(std::vector<LockPicture> &locks)
{
    const auto registryOf = [](const LockPicture &lock) { return lock.lock.name.left(lock.lock.name.indexOf(':')); };
    const auto isCandidate = [](const LockPicture &lock) {
        return lock.recipe == "redis-set-nx" && !lock.client && lock.lock.name.indexOf(':') > 0
            && lock.contenders.size() == 1 && isUuid36(lock.contenders[0].id);
    };
    std::map<std::pair<QByteArray, QByteArray>, std::vector<LockPicture *>> groups;
    for (auto &lock : locks) {
        if (isCandidate(lock))
            groups[{registryOf(lock), lock.contenders[0].id}].push_back(&lock);
    }
    for (const auto &[group, members] : groups) {
        if (members.size() < 2)
            continue;
        for (auto *lock : members) {
            lock->client = u"Spring Integration"_s;
            lock->confidence = Confidence::High;
            lock->why = u"the same UUID under %1 keys of one prefix, as Spring's lock registry writes"_s
                            .arg(members.size());
        }
    }
}

} // namespace lockscope::inspect
