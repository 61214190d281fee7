// SPDX-License-Identifier: Apache-2.0
// Keeps what an observer tells.
#pragma once

#include "core/inspect/observer.h"

#include <algorithm>
#include <map>

namespace lockscope::testing {

struct KeepingSink : inspect::ObserverSink {
    std::map<QByteArray, inspect::LockSnapshot> locks; // as they were told last
    std::vector<inspect::SnapshotChange> changes;
    std::vector<inspect::SessionSnapshot> sessions;
    std::vector<inspect::Coverage> coverage;
    std::vector<inspect::Progress> steps;
    inspect::Cost cost;
    int looks = 0;            // after which nothing was different
    bool isConsistent = true; // only unknown locks are added, only known ones changed or removed

    void locksChanged(std::vector<inspect::SnapshotChange> news) override
    {
        for (auto &change : news) {
            const auto name = change.lock.lock.name;
            isConsistent &= (change.kind == inspect::ChangeKind::Added) != locks.contains(name);
            if (change.kind == inspect::ChangeKind::Removed)
                locks.erase(name);
            else
                locks.insert_or_assign(name, change.lock);
            changes.push_back(std::move(change));
        }
    }
    void sessionsChanged(const ConnectionName &, std::vector<inspect::SessionSnapshot> now) override
    {
        sessions = std::move(now);
    }
    void coverageChanged(const ConnectionName &, std::vector<inspect::Coverage> now) override
    {
        coverage = std::move(now);
    }
    void progressed(inspect::Progress step) override { steps.push_back(std::move(step)); }
    void costChanged(const ConnectionName &, inspect::Cost now) override { cost = std::move(now); }
    void looked(const ConnectionName &) override { ++looks; }

    [[nodiscard]] const inspect::LockSnapshot *find(const QByteArray &name) const
    {
        const auto at = locks.find(name);
        return at == locks.end() ? nullptr : &at->second;
    }
    [[nodiscard]] int count(inspect::ChangeKind kind, const QByteArray &name) const
    {
        return static_cast<int>(std::ranges::count_if(changes, [&](const inspect::SnapshotChange &change) {
            return change.kind == kind && change.lock.lock.name == name;
        }));
    }
    [[nodiscard]] QString how() const { return steps.empty() ? QString() : steps.back().how; }
    [[nodiscard]] bool says(const QString &words) const
    {
        return std::ranges::any_of(coverage,
                                   [&](const inspect::Coverage &one) { return one.message.contains(words); });
    }
};

} // namespace lockscope::testing
