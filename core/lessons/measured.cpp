// SPDX-License-Identifier: Apache-2.0
// What a proof measured, as a person says it: with its unit, and a violation by what it is and how often. "Absent",
// or "never", beside "one at a time" would say the opposite.
#include "core/lessons/lessons.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lockscope::lessons {

namespace {

// Russian names the unit before the number, and so needs no case for each.
struct Unit {
    const char *counter;
    const char16_t *english, *one; // of 1
    const char16_t *chinese, *russian;
};
constexpr Unit units[] = {
    {"grants", u"%1 grants", u"%1 grant", u"%1 次授予", u"выдач: %1"},
    {"requests", u"%1 requests", u"%1 request", u"%1 个请求", u"запросов: %1"},
    {"allRequests", u"%1 requests", u"%1 request", u"%1 个请求", u"запросов: %1"},
    {"requestsWaiting", u"%1 requests", u"%1 request", u"%1 个请求", u"запросов: %1"},
    {"watchEvents", u"%1 wake-ups", u"%1 wake-up", u"%1 次唤醒", u"пробуждений: %1"},
    {"allWatchEvents", u"%1 events", u"%1 event", u"%1 个事件", u"событий: %1"},
    {"wastedWakeups", u"%1 wasted wake-ups", u"%1 wasted wake-up", u"%1 次徒劳的唤醒", u"пробуждений впустую: %1"},
    {"gaveUp", u"%1 gave up", u"%1 gave up", u"%1 个放弃", u"сдались: %1"},
    {"bytes", u"%1 bytes", u"%1 byte", u"%1 字节", u"байт: %1"},
    {"leftBehind", u"%1 left", u"%1 left", u"遗留 %1 个", u"осталось: %1"},
};

struct Broken {
    const char *invariant;
    const char16_t *english, *chinese, *russian; // %1: how often
};
constexpr Broken brokens[] = {
    {"exclusion", u"two at once: %1", u"两个同时持有：%1", u"двое сразу: %1"},
    {"effect", u"late writes: %1", u"迟到的写入：%1", u"запоздалые записи: %1"},
    {"order", u"out of order: %1", u"次序颠倒：%1", u"не по порядку: %1"},
    {"progress", u"stuck: %1", u"停滞：%1", u"застряли: %1"},
    {"cleanliness", u"left behind: %1", u"遗留：%1", u"осталось: %1"},
    {"tokens", u"a lower token: %1", u"令牌变小：%1", u"меньший токен: %1"},
};

QString formatNumber(double number, Language language)
{
    return number == std::floor(number) ? formatCount(qint64(number), language)
                                        : localeOf(language).toString(number, 'f', 2);
}

const char16_t *inOne(Language language, const char16_t *english, const char16_t *chinese, const char16_t *russian)
{
    return language == Language::Chinese ? chinese : language == Language::Russian ? russian : english;
}

// 2, 3, 4 раза, and so 22, but not 12; else раз.
QString russianTimes(qint64 count)
{
    const auto last = count % 10, tens = count / 10 % 10;
    return last >= 2 && last <= 4 && tens != 1 ? u"%1 раза"_s : u"%1 раз"_s;
}

QString formatTimes(qint64 count, Language language)
{
    const auto digits = formatCount(count, language);
    switch (language) {
    case Language::Chinese: return count == 0 ? u"从未"_s : u"%1 次"_s.arg(digits);
    case Language::Russian: return count == 0 ? u"ни разу"_s : russianTimes(count).arg(digits);
    case Language::English: break;
    }
    return count == 0 ? u"never"_s : count == 1 ? u"once"_s : u"%1 times"_s.arg(digits);
}

} // namespace

QString formatMeasure(const Proof &proof, double measured, std::optional<double> other, Language language)
{
    if (proof.of != Proof::Of::Counter) {
        auto said = formatTimes(qint64(measured), language);
        if (other)
            said += u" / "_s + formatTimes(qint64(*other), language);
        const auto *broken =
            std::ranges::find_if(brokens, [&](const Broken &one) { return proof.name == one.invariant; });
        if (broken == std::end(brokens))
            return said;
        if (said == u"once"_s)
            said = u"1 time"_s; // "two at once: once"
        return QString::fromUtf16(inOne(language, broken->english, broken->chinese, broken->russian)).arg(said);
    }
    const bool isTime = proof.name.endsWith("Ms");
    const auto said = [&](double number) {
        return isTime ? formatMeasuredMs(number, language) : formatNumber(number, language);
    };
    const QString digits = said(measured) + (other ? u" / "_s + said(*other) : QString());
    const auto *unit = std::ranges::find_if(units, [&](const Unit &one) { return proof.name == one.counter; });
    if (unit == std::end(units))
        return digits;
    const auto *english = !other && measured == 1 ? unit->one : unit->english;
    return QString::fromUtf16(inOne(language, english, unit->chinese, unit->russian)).arg(digits);
}

} // namespace lockscope::lessons
