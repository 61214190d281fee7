// SPDX-License-Identifier: Apache-2.0
// The course's chapters, and what can stand in the tiles below a lesson's runs: names that a lesson's file may say.
#include "core/lessons/lessons.h"

#include <algorithm>
#include <iterator>

namespace lockscope::lessons {

namespace {

struct Chapter {
    const char *name;
    const char16_t *english, *chinese, *russian;
};
constexpr Chapter chapters[] = {
    {"why", u"Why locks", u"为什么需要锁", u"Зачем нужны блокировки"},
    {"zookeeper", u"ZooKeeper", u"ZooKeeper 上的锁", u"Блокировки в ZooKeeper"},
    {"redis", u"Redis", u"Redis 上的锁", u"Блокировки в Redis"},
    {"any-lock", u"Whatever the lock", u"无论哪种锁", u"Какой бы ни была блокировка"},
    {"sql", u"SQL databases", u"SQL 数据库里的锁", u"Базы данных SQL"},
    {"etcd-postgresql", u"etcd and PostgreSQL", u"etcd 与 PostgreSQL 上的锁", u"Ещё два сервиса: etcd и PostgreSQL"},
};

} // namespace

const QList<QByteArray> &chapterNames()
{
    static const auto names = [] {
        QList<QByteArray> all;
        std::ranges::transform(chapters, std::back_inserter(all), &Chapter::name);
        return all;
    }();
    return names;
}

Text chapterTitle(const QByteArray &name)
{
    const auto *at = std::ranges::find_if(chapters, [&](const Chapter &one) { return name == one.name; });
    if (at == std::end(chapters))
        return {u"More lessons"_s, u"更多课程"_s, u"Ещё уроки"_s};
    return {QString::fromUtf16(at->english), QString::fromUtf16(at->chinese), QString::fromUtf16(at->russian)};
}

const QList<QByteArray> &tileNames()
{
    static const QList<QByteArray> names{"requests",         "watchEvents",    "wastedWakeups", "waitP99Ms",
                                         "allRequests",      "allWatchEvents", "grants",        "gaveUp",
                                         "longestOverlapMs", "violations"};
    return names;
}

const QList<QByteArray> &standardTiles()
{
    static const QList<QByteArray> names{"requests", "watchEvents", "wastedWakeups", "waitP99Ms"};
    return names;
}

} // namespace lockscope::lessons
