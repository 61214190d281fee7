// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/awaited.h"

#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::inspect {

std::optional<QByteArray> awaitedElsewhere(const LockSnapshot &lock, const Contender &waiter)
{
    // A server that answers when a turn has come names who is before it, also by what is another lock's.
    if (waiter.watches.isEmpty() || recipes::recipeOf(lock.recipe).wakeUp != recipes::WakeUp::Watch)
        return std::nullopt;
    for (const auto &edge : waiter.watches) {
        if (edge.children || edge.target.isEmpty() || lock.find(edge.target))
            return std::nullopt;
    }
    return waiter.watches.front().target;
}

std::optional<QByteArray> firstAwaitsElsewhere(const LockSnapshot &lock)
{
    const auto first = std::ranges::find(lock.contenders, Role::Waiter, &Contender::role);
    return first == lock.contenders.end() ? std::nullopt : awaitedElsewhere(lock, *first);
}

QStringList wakesBeside(const LockSnapshot &lock, const QByteArray &holder)
{
    QStringList messages;
    for (const auto &finding : lock.findings) {
        const bool isOfHolder =
            finding.code == FindingCode::ForeignNode && std::ranges::count(finding.contenders, holder) > 0;
        if (isOfHolder)
            messages << finding.message;
    }
    return messages;
}

} // namespace lockscope::inspect
