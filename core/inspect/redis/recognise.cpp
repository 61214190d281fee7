// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/recognise.h"

#include "core/base/identifiers.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/pieces.h"
#include "core/inspect/redis/userrulelocks.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::inspect {

using Rule = std::optional<LockSnapshot>(const Case &about);
Rule redissonLeftOver, redissonReadWriteLock, redissonLock, redissonMultiLock, redissonPermitSemaphore,
    redissonSemaphore, shedLockKey, tokenLock, timestampLock, naiveLock, nodeSemaphore, symfonyLock, grabbedSemaphore,
    uniqueJobsLock, grabbedSemaphoreAtRest, dotNetSortedSetSemaphore, dotNetReadWriteLock, nextcloudLock, sessionLock;
bool isCountDownLatch(const Case &about);
bool isSemaphoreAtRest(const Case &about);

namespace {

// What such keys hold beyond what their clients' rules read is no lock of another client.
bool isOfClient(const Case &about)
{
    return isNextcloudLock(about.name()) || isMarkOfClient(about.name());
}

struct Recogniser {
    KeyType type; // of the main key; None: only its companions are left
    Rule *lockOf = nullptr;
    bool (*isNoLock)(const Case &about) = nullptr; // and no rule after it is asked
};

// In the order of docs/layouts.md, "Rules for Redis": what a client's own companions or fields prove comes before
// what a value looks like, and a value that anybody may have written comes last.
constexpr Recogniser recognisers[] = {
    {KeyType::None, redissonLeftOver},
    {KeyType::None, grabbedSemaphoreAtRest},
    {KeyType::None, dotNetReadWriteLock},
    {KeyType::Hash, redissonReadWriteLock},
    {KeyType::Hash, redissonLock},
    {KeyType::Hash, redissonMultiLock},
    {KeyType::Hash, grabbedSemaphore},
    {KeyType::Hash, uniqueJobsLock},
    {KeyType::Hash, sessionLock},
    {KeyType::SortedSet, nodeSemaphore},
    {KeyType::SortedSet, symfonyLock},
    {KeyType::SortedSet, dotNetSortedSetSemaphore},
    {KeyType::String, redissonPermitSemaphore},
    {KeyType::String, redissonSemaphore},
    {KeyType::String, nullptr, isCountDownLatch},
    {KeyType::String, nextcloudLock},
    {KeyType::String, nullptr, isOfClient},
    {KeyType::String, shedLockKey},
    {KeyType::String, tokenLock},
    {KeyType::String, nullptr, isSemaphoreAtRest},
    {KeyType::String, timestampLock},
    {KeyType::String, naiveLock},
};

} // namespace

std::optional<LockSnapshot> recognise(const KeyView &main, const std::vector<KeyView> &companions,
                                      const RedisContext &context)
{
    if (companionOf(main.key))
        return std::nullopt;
    // Who wrote a rule knows better.
    for (auto &trial : tryUserRules(main, companions, context)) {
        if (trial.lock)
            return std::move(trial.lock);
    }
    const Case about{main, companions, context};
    for (const auto &recogniser : recognisers) {
        if (recogniser.type != main.type)
            continue;
        if (recogniser.isNoLock && recogniser.isNoLock(about))
            return std::nullopt;
        if (auto lock = recogniser.lockOf ? recogniser.lockOf(about) : std::nullopt)
            return lock;
    }
    return std::nullopt;
}

void attributeToRegistries(std::vector<LockSnapshot> &locks)
{
    const auto registryOf = [](const LockSnapshot &lock) { return lock.lock.name.left(lock.lock.name.indexOf(':')); };
    const auto isCandidate = [](const LockSnapshot &lock) {
        const auto &recipe = recipes::recipeOf(lock.recipe);
        return recipe.release == recipes::ReleaseMechanism::CompareAndDelete && recipe.namesHolder && !lock.client
               && lock.lock.name.indexOf(':') > 0 && lock.contenders.size() == 1 && isUuid36(lock.contenders[0].id);
    };
    std::map<std::pair<QByteArray, QByteArray>, std::vector<LockSnapshot *>> groups;
    for (auto &lock : locks) {
        if (isCandidate(lock))
            groups[{registryOf(lock), lock.contenders[0].id}].push_back(&lock);
    }
    for (const auto &[group, members] : groups) {
        if (members.size() < 2)
            continue;
        for (auto *lock : members) {
            attribute(*lock, clients::springIntegration);
            lock->confidence = Confidence::High;
            lock->why =
                u"the same UUID under %1 keys of one prefix, as Spring's lock registry writes"_s.arg(members.size());
        }
    }
}

} // namespace lockscope::inspect
