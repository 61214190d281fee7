// SPDX-License-Identifier: Apache-2.0
// Clients whose locks behave in a way of their own: what they are called, and all that other code asks about them.
// Recognisers name a row; whoever acts reads the traits in the snapshot. From the sources of each, as of autumn 2026.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

struct KnownClient {
    const char16_t *name;
    ClientTraits traits = {};
};

inline void attribute(LockSnapshot &lock, const KnownClient &client)
{
    lock.client = QString::fromUtf16(client.name);
    lock.clientTraits = client.traits;
}

namespace clients {

inline constexpr KnownClient redisPy{
    u"redis-py",
    {.notices = u"by an exception, when it releases or extends the lock; not before", .isOfOneNode = true}};
inline constexpr KnownClient pythonRedisLock{
    u"python-redis-lock",
    {.notices = u"by an exception when it releases it; with auto_renewal its renewal ends before that, and only its "
                u"log says so",
     .isOfOneNode = true,
     .waitsOnList = true}};
inline constexpr KnownClient springIntegration{
    u"Spring Integration",
    {.notices = u"by an exception when it unlocks; a renewal that fails before is only logged",
     .isOfOneNode = true,
     .waitsOnChannel = true}};
// Its safe-update option leaves no trace on the server.
inline constexpr KnownClient shedLock{u"ShedLock",
                                      {.notices = u"not at all: the job goes on to its end",
                                       .deletesBlindly = u"ShedLock (unless its safe-update option is on)",
                                       .isOfOneNode = true}};
inline constexpr KnownClient flyway{u"Flyway"};
inline constexpr KnownClient railsMigrations{u"Rails migrations"};
inline constexpr KnownClient quartz{u"Quartz"};
inline constexpr KnownClient redisson{
    u"Redisson", {.notices = u"by an exception when it unlocks; its watchdog stops without a word"}};
inline constexpr KnownClient nodeRedlock{
    u"node-redlock", {.notices = u"when it extends or releases: using() aborts its signal, release() rejects"}};
inline constexpr KnownClient redsync{u"redsync", {.notices = u"when it unlocks or extends: both return an error"}};
inline constexpr KnownClient bsmRedislock{
    u"bsm/redislock", {.notices = u"when it releases or refreshes: both return ErrLockNotHeld", .isOfOneNode = true}};
inline constexpr KnownClient laravel{u"Laravel",
                                     {.notices = u"not by an error: release() returns false", .isOfOneNode = true}};
inline constexpr KnownClient bullMq{
    u"BullMQ",
    {.notices = u"at its next renewal, by an error event; the job is found stalled and given to another worker, so "
                u"it may run twice",
     .isOfOneNode = true}};
inline constexpr KnownClient bull{
    u"Bull",
    {.notices = u"at its next renewal; the job is found stalled and given to another worker, so it may run twice",
     .isOfOneNode = true}};
inline constexpr KnownClient pottery{
    u"pottery or RedLock.net",
    {.notices = u"by an exception (pottery) or not at all (RedLock.net, whose next renewal sets the key again)",
     .putsKeyBack = true}};
inline constexpr KnownClient dotNet{u"DistributedLock (.NET)"};
inline constexpr KnownClient redlockCpp{u"redlock-cpp"};
inline constexpr KnownClient redisPlusPlus{u"redis-plus-plus"};
inline constexpr KnownClient rslock{u"rslock"};
inline constexpr KnownClient nodeSemaphore{u"redis-semaphore (npm)",
                                           {.notices = u"at its next refresh: LostLockError", .isOfOneNode = true}};
inline constexpr KnownClient symfony{
    u"Symfony Lock",
    {.notices = u"at its next refresh, by an exception", .isOfOneNode = true, .exclusiveMark = "__write__"}};
inline constexpr KnownClient grabbedSemaphore{
    u"redis-semaphore (PyPI, Ruby)",
    {.notices = u"not by an error: its release reports that there was nothing to release, or releases a permit "
                u"that another client has by then",
     .isOfOneNode = true}};
inline constexpr KnownClient uniqueJobs{u"sidekiq-unique-jobs", {.isOfOneNode = true}};
inline constexpr KnownClient nextcloud{u"Nextcloud", {.isOfOneNode = true}};
inline constexpr KnownClient springCache{
    u"Spring Data Redis cache",
    {.notices = u"not at all", .deletesBlindly = u"Spring's cache writer", .isOfOneNode = true}};
inline constexpr KnownClient resqueScheduler{u"resque-scheduler", {.isOfOneNode = true}};
inline constexpr KnownClient laravelScheduler{u"Laravel",
                                              {.notices = u"not at all: the task runs on to its end",
                                               .deletesBlindly = u"Laravel's scheduler",
                                               .isOfOneNode = true}};
inline constexpr KnownClient celeryOnce{
    u"celery-once",
    {.notices = u"not at all: the task runs on to its end", .deletesBlindly = u"celery-once", .isOfOneNode = true}};
inline constexpr KnownClient arq{
    u"arq", {.notices = u"not at all: the job runs on to its end", .deletesBlindly = u"arq", .isOfOneNode = true}};
inline constexpr KnownClient huey{
    u"huey", {.notices = u"not at all: the task runs on to its end", .deletesBlindly = u"huey", .isOfOneNode = true}};
inline constexpr KnownClient cmRedisSession{
    u"Cm_RedisSession (Magento)",
    {.notices = u"when it writes the session: it does not, if another's pid stands there, and only its log says so",
     .isOfOneNode = true}};
inline constexpr KnownClient phpRedisSession{u"phpredis session", {.isOfOneNode = true}};
inline constexpr KnownClient celerySingleton{u"celery-singleton",
                                             {.notices = u"not at all: the task runs on to its end",
                                              .deletesBlindly = u"celery-singleton",
                                              .isOfOneNode = true}};

} // namespace clients

} // namespace lockscope::inspect
