// SPDX-License-Identifier: Apache-2.0
// Keeps what an observer tells.
#pragma once

#include "core/base/result.h"
#include "core/inspect/observer.h"

#include <algorithm>
#include <map>

namespace lockscope::testing {

struct NoSink : inspect::ObserverSink {
    void take(inspect::Change::What) override {}
};

struct KeepingSink : inspect::ObserverSink {
    std::map<QByteArray, inspect::LockSnapshot> locks; // as they were told last
    std::vector<inspect::SnapshotChange> changes;
    std::vector<inspect::SessionSnapshot> sessions;
    std::vector<inspect::Coverage> coverage;
    std::vector<inspect::Progress> steps;
    inspect::Cost cost;
    int looks = 0;            // after which nothing was different
    bool isConsistent = true; // only unknown locks are added, only known ones changed or removed

    void take(inspect::Change::What change) override
    {
        std::visit(Overloaded{[this](inspect::SnapshotChange &news) { note(std::move(news)); },
                              [this](inspect::SessionsSeen &seen) { sessions = std::move(seen.sessions); },
                              [this](inspect::CoverageSeen &seen) { coverage = std::move(seen.coverage); },
                              [this](inspect::Progress &step) { steps.push_back(std::move(step)); },
                              [this](inspect::Cost &now) { cost = now; },
                              [this](const inspect::Confirmation &) { ++looks; }, [](const auto &) {}},
                   change);
    }
    virtual void note(inspect::SnapshotChange change)
    {
        const auto name = change.lock.lock.name;
        isConsistent &= (change.kind == inspect::ChangeKind::Added) != locks.contains(name);
        if (change.kind == inspect::ChangeKind::Removed)
            locks.erase(name);
        else
            locks.insert_or_assign(name, change.lock);
        changes.push_back(std::move(change));
    }

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
