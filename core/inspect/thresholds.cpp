// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/thresholds.h"

#include "core/base/text.h"

#include <fnmatch.h>

namespace lockscope::inspect {

Thresholds ThresholdRules::of(const LockName &lock) const
{
    Thresholds found = usual;
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
        if (!matchesGlob(lock, rule->pattern))
            continue;
        found.longHeld = rule->longHeld.value_or(found.longHeld);
        found.longWait = rule->longWait.value_or(found.longWait);
        found.unusual = rule->unusual.value_or(found.unusual);
    }
    return found;
}

bool matchesGlob(const LockName &lock, const QString &glob)
{
    const auto pattern = glob.toUtf8();
    return ::fnmatch(pattern.constData(), escaped(lock.text()).toUtf8().constData(), 0) == 0
           || ::fnmatch(pattern.constData(), escaped(lock.name).toUtf8().constData(), 0) == 0;
}

namespace {
constexpr std::size_t holdsKept = 16;
constexpr std::size_t holdsToTell = 8;
constexpr std::size_t locksKept = 20'000;
} // namespace

UsualHolds::Kept *UsualHolds::find(const QByteArray &name)
{
    const auto young = m_young.find(name);
    if (young != m_young.end())
        return &young->second;
    const auto old = m_old.find(name);
    if (old == m_old.end())
        return nullptr;
    auto node = m_old.extract(old);
    return &m_young.insert(std::move(node)).position->second;
}

void UsualHolds::end(Kept &kept, const Holding &holding, ServerTime now)
{
    if (kept.holds.size() == holdsKept)
        kept.holds.erase(kept.holds.begin());
    kept.holds.push_back(std::max<qint64>(0, (now - holding.since).count()));
}

void UsualHolds::note(const LockSnapshot &lock)
{
    auto *kept = find(lock.lock.name);
    const bool isHeld = lock.holderCount() > 0;
    if (!kept && !isHeld)
        return;
    if (!kept) {
        if (m_young.size() >= locksKept)
            m_old = std::exchange(m_young, {});
        kept = &m_young[lock.lock.name];
    }
    std::erase_if(kept->holding, [&](const Holding &holding) {
        const auto *one = lock.find(holding.id);
        if (one && one->role == Role::Holder)
            return false;
        end(*kept, holding, lock.observed);
        return true;
    });
    for (const auto &contender : lock.contenders) {
        if (contender.role != Role::Holder || !contender.heldSince || contender.heldAtMost)
            continue;
        if (std::ranges::find(kept->holding, contender.id, &Holding::id) == kept->holding.end())
            kept->holding.push_back({contender.id, *contender.heldSince});
    }
}

void UsualHolds::noteGone(const QByteArray &name, ServerTime now)
{
    auto *kept = find(name);
    if (!kept)
        return;
    for (const auto &holding : std::exchange(kept->holding, {}))
        end(*kept, holding, now);
}

std::optional<Usual> UsualHolds::of(const QByteArray &name) const
{
    auto at = m_young.find(name);
    if (at == m_young.end() && (at = m_old.find(name)) == m_old.end())
        return {};
    auto holds = at->second.holds;
    if (holds.size() < holdsToTell)
        return {};
    std::ranges::sort(holds);
    return Usual{static_cast<int>(holds.size()), std::chrono::milliseconds(holds[holds.size() / 2]),
                 std::chrono::milliseconds(holds.back())};
}

} // namespace lockscope::inspect
