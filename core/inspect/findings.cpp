// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/findings.h"

#include "core/base/duration.h"

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
        } else if (one.role == Role::Waiter && one.waitingSince) {
            const auto age = lock.observed - *one.waitingSince;
            if (age > thresholds.longWait)
                addFinding(lock, FindingCode::LongWait, u"has waited for %1"_s.arg(spokenDuration(age)), {one.id});
        }
    }
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
