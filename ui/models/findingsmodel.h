// SPDX-License-Identifier: Apache-2.0
// All findings of all locks, a row each, in deltas only: nothing is ever reset, and a batch costs what it changes.
// The order does not depend on the time, so rows move only when what they say changes. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/findingrow.h"
#include "ui/models/rowsmodel.h"

#include <unordered_map>

namespace lockscope::ui {

class FindingsModel : public OrderedRows<FindingRow, FindingOrder> {
    Q_OBJECT
public:
    using Clock = std::function<SystemTime()>;
    explicit FindingsModel(Clock clock, QObject *parent = nullptr);
    ~FindingsModel() override;

    // A jump is to another moment: what is found there may have been found for long.
    void apply(const std::vector<inspect::SnapshotChange> &changes, bool isJump = false);
    void removeConnection(const ConnectionName &connection);
    // A broken connection's ages stand still at `asOf`; empty lets them run again.
    void setFrozen(const ConnectionName &connection, std::optional<SystemTime> asOf);
    [[nodiscard]] bool isFrozen(const ConnectionName &connection) const { return m_frozen.contains(connection); }
    [[nodiscard]] SystemTime nowOf(const ConnectionName &connection) const;

    // Which findings are muted; those that are over end by themselves.
    void setMutes(std::vector<Mute> mutes);
    void setFilter(FindingFilter filter);
    [[nodiscard]] const FindingFilter &filter() const { return m_filter; }
    // Of those that the filter finds, whatever their severity; of all there are.
    [[nodiscard]] const FindingCounts &found() const { return m_found; }
    [[nodiscard]] const FindingCounts &all() const { return m_all; }

    // The clock went on: these rows are worded anew, and mutes end.
    void tick(int firstRow, int lastRow);

    void sort(int column, Qt::SortOrder order) override;

signals:
    void countsChanged();

private:
    using Own = std::vector<std::unique_ptr<FindingRow>>; // of one lock
    struct NameHash {
        size_t operator()(const inspect::LockName &name) const { return qHash(name); }
    };
    // What a batch does to the rows.
    struct Delta {
        Own gone; // kept until the views know
        Rows fresh;
        Rows changed;
    };

    void replace(const inspect::LockSnapshot &lock, bool isGone, bool isFirstLook, Delta &delta);
    [[nodiscard]] bool isOlder(const FindingRow &row, const inspect::LockSnapshot &lock, bool isFirstLook) const;
    void continueRow(FindingRow &row, FindingRow next, Delta &delta);
    void noteDeadlock(const inspect::LockSnapshot &lock, bool isGone);
    void joinDeadlocks();
    void commit(Delta delta);
    [[nodiscard]] std::optional<Mute> muteFor(const FindingRow &row) const;
    void judgeMutes();
    void refilter();
    void count(const FindingRow &row, int by);
    void say(const FindingCounts &found, const FindingCounts &all);

    Clock m_clock;
    std::unordered_map<inspect::LockName, Own, NameHash> m_byLock; // those that pass the filter, and the others
    FindingFilter m_filter;
    FindingCounts m_found;
    FindingCounts m_all;
    std::vector<Mute> m_mutes;
    std::optional<MuteTime> m_nextEnd;                                    // of a mute
    std::map<inspect::LockName, std::vector<FindingParty>> m_inDeadlocks; // who is, of each of the locks
    std::unordered_map<ConnectionName, SystemTime> m_frozen;
    std::unordered_map<ConnectionName, SystemTime> m_lookedSince; // its first lock was told then
    quint64 m_nextNumber = 1;
};

} // namespace lockscope::ui
