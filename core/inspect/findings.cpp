// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/findings.h"

#include "core/base/duration.h"
#include "core/base/text.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

// Whether its release would wake this waiter without letting it in for certain.
bool isWokenBy(const Contender &waiter, const Contender &holder)
{
    return std::ranges::any_of(waiter.watches,
                               [&holder](const auto &edge) { return edge.children || edge.target == holder.id; });
}

// One finding, however many wait: they are one queue.
void addLongWait(LockSnapshot &lock, std::chrono::milliseconds threshold)
{
    std::vector<QByteArray> waiting;
    std::chrono::milliseconds longest{0};
    QByteArray first;
    for (const auto &one : lock.contenders) {
        if (one.role != Role::Waiter || !one.waitingSince || lock.observed - *one.waitingSince <= threshold)
            continue;
        waiting.push_back(one.id);
        const auto age = lock.observed - *one.waitingSince;
        if (age > longest) {
            longest = age;
            first = one.id;
        }
    }
    if (waiting.empty())
        return;
    const auto message = waiting.size() == 1 ? u"has waited for %1"_s.arg(spokenDuration(longest))
                                             : u"%1 have waited for more than %2; the longest, %3, for %4"_s.arg(
                                                 QString::number(waiting.size()), spokenDuration(threshold),
                                                 label(first, 80), spokenDuration(longest));
    addFinding(lock, FindingCode::LongWait, message, std::move(waiting));
}

} // namespace

void addAgeFindings(LockSnapshot &lock, const Thresholds &thresholds)
{
    for (const auto &one : lock.contenders) {
        if (one.role == Role::Holder && one.heldSince) {
            const auto age = lock.observed - *one.heldSince;
            if (age <= thresholds.longHeld)
                continue;
            const QString bound = one.heldAtMost ? u"at most "_s : QString();
            addFinding(lock, FindingCode::LongHeld, one.heldAtMost ? Severity::Info : Severity::Warning,
                       u"held for %1%2"_s.arg(bound, spokenDuration(age)), {one.id});
        }
    }
    addLongWait(lock, thresholds.longWait);
}

void addHerdFinding(LockSnapshot &lock)
{
    const auto holder = std::ranges::find(lock.contenders, Role::Holder, &Contender::role);
    if (holder == lock.contenders.end())
        return;
    std::vector<QByteArray> woken;
    for (const auto &one : lock.contenders) {
        // Readers that wake together go on together.
        if (one.role == Role::Waiter && one.mode != Mode::Read && isWokenBy(one, *holder))
            woken.push_back(one.id);
    }
    if (woken.size() < 2)
        return;
    const QString message = u"1 release wakes %1"_s.arg(woken.size());
    addFinding(lock, FindingCode::Herd, message, std::move(woken));
}

} // namespace lockscope::inspect
