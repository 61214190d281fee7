// SPDX-License-Identifier: Apache-2.0
// The counters' names, for those who read and do not write them: in English as a lesson's file has them.
#include "core/lessons/lessons.h"

#include <algorithm>
#include <iterator>

namespace lockscope::lessons {

namespace {

struct CounterWords {
    const char *name;
    const char16_t *chinese, *russian;
};
constexpr CounterWords counterWords[] = {
    {"grants", u"授予", u"выдачи"},
    {"requests", u"请求（自第一次释放起）", u"запросы, с первого освобождения"},
    {"watchEvents", u"唤醒（自第一次释放起）", u"пробуждения, с первого освобождения"},
    {"wastedWakeups", u"徒劳的唤醒", u"пробуждения впустую"},
    {"allRequests", u"全部请求", u"все запросы"},
    {"allWatchEvents", u"全部通知", u"все уведомления"},
    {"bytes", u"字节", u"байты"},
    {"requestsWaiting", u"等待期间的请求", u"запросы за время ожидания"},
    {"gaveUp", u"放弃的竞争者", u"сдались"},
    {"fairness", u"公平度", u"справедливость"},
    {"longestOverlapMs", u"两个同时持有，最长，毫秒", u"двое сразу, дольше всего, мс"},
    {"waitP50Ms", u"等待 p50，毫秒", u"ожидание p50, мс"},
    {"waitP99Ms", u"等待 p99，毫秒", u"ожидание p99, мс"},
    {"waitMaxMs", u"最长等待，毫秒", u"самое долгое ожидание, мс"},
    {"elapsedMs", u"总时间，毫秒", u"всего времени, мс"},
    {"leftBehind", u"遗留", u"осталось после всех"},
};

} // namespace

QString counterTitle(const QByteArray &name, Language language)
{
    const auto *at = std::ranges::find_if(counterWords, [&](const CounterWords &one) { return name == one.name; });
    if (language == Language::English || at == std::end(counterWords))
        return QString::fromLatin1(name);
    return QString::fromUtf16(language == Language::Chinese ? at->chinese : at->russian);
}

} // namespace lockscope::lessons
