// SPDX-License-Identifier: Apache-2.0
// The table of all locks: sorted and filtered by an index of its own, changed in deltas only.
//
// Nothing is ever reset, so that selection, scroll position and the row under the mouse survive
// every update; a batch that scatters over hundreds of places becomes one insertion (or removal) at
// the end and one change of layout instead of hundreds of signals. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/lockrow.h"

#include <QSet>

#include <unordered_map>
#include <unordered_set>

namespace lockscope::ui {

class LocksModel : public OrderedRows<LockRow, LockOrder> {
    Q_OBJECT
public:
    using Chip = LockFilter::Chip;
    using Clock = std::function<SystemTime()>;
    enum LockRole { NameRole = OwnRole, BriefRole }; // QByteArray; LockRow::brief()

    explicit LocksModel(QObject *parent = nullptr);
    ~LocksModel() override;
    // Our clock; the system's unless a test (or a replay) says otherwise.
    void setClock(Clock clock) { m_clock = std::move(clock); }
    // The present of this connection's locks: our clock, or the moment it broke.
    [[nodiscard]] SystemTime nowOf(const ConnectionName &connection) const
    {
        return isFrozen(connection) ? m_frozen.at(connection) : m_clock();
    }

    void apply(const std::vector<inspect::SnapshotChange> &changes);
    // A broken connection's ages stand still at `asOf`; empty lets them run again.
    void setFrozen(const ConnectionName &connection, std::optional<SystemTime> asOf);
    [[nodiscard]] bool isFrozen(const ConnectionName &connection) const { return m_frozen.contains(connection); }
    // Drops every lock of a connection that was closed.
    void removeConnection(const ConnectionName &connection);
    // The locks the window itself holds or waits for.
    void setMine(QSet<inspect::LockName> mine);
    void setChip(Chip chip);
    [[nodiscard]] Chip chip() const { return m_filter.chip; }
    void setText(const QString &text);
    // Empty: all.
    void setConnection(const ConnectionName &connection);
    [[nodiscard]] const LockCounts &counts() const { return m_tally.found; }
    [[nodiscard]] int total() const { return m_tally.total; } // of the connection

    // What is known of a lock, filtered out or not; null if there is no such lock (now).
    [[nodiscard]] const inspect::LockSnapshot *snapshot(const inspect::LockName &lock) const;
    [[nodiscard]] const inspect::LockSnapshot &snapshotAt(int row) const { return at(row).snapshot; }
    [[nodiscard]] const LockRows &all() const { return m_all; } // filtered out or not, or gone
    [[nodiscard]] const LockFacts &factsAt(int row) const { return at(row).facts; }
    [[nodiscard]] bool isGoneAt(int row) const { return at(row).gone; }
    // Why the search finds it, where its cells do not say so.
    [[nodiscard]] QString matchAt(int row) const { return at(row).matchOf(m_filter.text); }
    // -1 if it is not shown.
    [[nodiscard]] int rowOf(const inspect::LockName &lock) const;

    // Says that the ages of these rows changed: what a timer does once a second for the rows on screen.
    void tick(int firstRow, int lastRow);
    // Sums of waiting grow at different speeds: puts the rows in order by the present ones.
    void rank();
    // While held no row moves, comes or goes: cells say what is the case now, all else waits. Somebody is about to
    // click, and must hit what was aimed at.
    // What becomes critical comes on top all the same, around the row that is aimed at.
    void setOrderHeld(bool held);
    // Which row that is; -1: none.
    void setAim(std::function<int()> row) { m_aim = std::move(row); }
    // How many rows wait to move, come or go, and how many of them are critical.
    struct Waiting {
        int rows = 0;
        int fresh = 0; // that are not shown yet
        int critical = 0;
        friend bool operator==(const Waiting &, const Waiting &) = default;
    };
    [[nodiscard]] const Waiting &waiting() const { return m_waitingSaid; }
    // Lets everything move that waits, held or not.
    void settle() { refilter(); }

    void sort(int column, Qt::SortOrder order) override;
    // The rows of a connection stand together.
    void setGrouped(bool isGrouped);
    // The first row of each connection, where they do, in their order.
    [[nodiscard]] std::vector<int> groupStarts() const;
    // The worst of all rows, wherever it stands; -1 without rows.
    [[nodiscard]] int worstRow() const;

signals:
    void countsChanged();
    void waitingChanged();
    // Around everything apply() does, so that a view can keep its place.
    void aboutToApply();
    void applied();
    // A snapshot was added, changed or removed (shown or not).
    void snapshotChanged(const lockscope::inspect::LockName &lock);

private:
    // A row whose new content stands elsewhere in the order, or passes the filter differently.
    struct Move {
        LockRow *entry = nullptr;
        LockRow next;
        bool showNow = false;
        void take();
    };
    struct Batch;

    void count(const LockRow &entry, int by) { m_tally.add(m_filter, entry, by); }
    void filterChanged();
    void reorder(const std::function<void()> &change);
    void take(const inspect::SnapshotChange &change, Batch &batch);
    void remove(const Rows &doomed);
    void move(std::vector<Move> moves);
    void moveWithin(Move &move);
    void add(std::vector<std::unique_ptr<LockRow>> fresh);
    void keepPlace(LockRow &entry, LockRow next);
    [[nodiscard]] bool comesAtOnce(const LockRow *entry, const LockRow &next) const;
    [[nodiscard]] LockRow *aimed() const;
    void keepAim(const LockRow &aim, int row);
    void leaveLater(LockRow &entry, std::vector<int> &changedRows);
    void showWaitingText();
    void refilter();
    [[nodiscard]] Rows unsettled(const Rows &changed) const;

    Clock m_clock;
    std::unordered_set<std::unique_ptr<LockRow>, ByLockName, ByLockName> m_entries;
    Rows m_all; // every lock, in the order of those that pass the filter
    std::unordered_map<ConnectionName, SystemTime> m_frozen;
    QSet<inspect::LockName> m_mine;
    LockFilter m_filter;
    bool m_isHeld = false;
    std::function<int()> m_aim;
    QSet<inspect::LockName> m_waiting; // whose place in the order, or in the filter, is perhaps another
    bool m_rankWaits = false;
    Waiting m_waitingSaid;
    LockTally m_tally;
};

} // namespace lockscope::ui
