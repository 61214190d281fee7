// SPDX-License-Identifier: Apache-2.0
// The contenders of one lock in queue order, holders first. Changed in deltas, so that a selected
// contender stays selected while the queue moves up. GUI thread only.
#pragma once

#include "core/base/clock.h"
#include "ui/models/lockfacts.h"
#include "ui/models/rowsmodel.h"

#include <QSet>

namespace lockscope::ui {

// Who watches whom in a queue, as lines beside its rows: straight from row to row, and in lanes at the left where a
// watch skips rows. Pure: a snapshot in, a value for each row out, so that it is tested without painting.

// The part of a line that runs through half a row.
enum class RailPart : quint8 { None, Inferred, Seen };

struct RailRow {
    static constexpr std::size_t laneCount = 3;
    struct Lane {
        RailPart above = RailPart::None; // from the upper edge to the middle
        RailPart below = RailPart::None; // from the middle to the lower edge
        RailPart tick = RailPart::None;  // from the lane to the row's sign
        bool isTarget = false;           // the tick ends in an arrow: what is watched
        friend bool operator==(const Lane &, const Lane &) = default;
    };
    RailPart up = RailPart::None;   // the row watches the one above it
    RailPart down = RailPart::None; // the one below watches this row
    std::array<Lane, laneCount> lanes{};
    friend bool operator==(const RailRow &, const RailRow &) = default;
};

// A row for each contender, in their order. More lines at one place than there are lanes share the last of them.
[[nodiscard]] std::vector<RailRow> railsOf(const inspect::LockSnapshot &lock);

// What the lines mean, and how many waiters a release wakes; or why there are none.
[[nodiscard]] QString wakeUpText(const inspect::LockSnapshot &lock);

class QueueModel : public RowsModel<const inspect::Contender *> {
    Q_OBJECT
public:
    // The ladder, then the raw side of the same contenders.
    enum Column { Place, Who, Watched, Age, Ttl, Node, Czxid, Owner, Version, Data, ColumnCount };

    explicit QueueModel(QObject *parent = nullptr);

    // Its rows are the snapshot's contenders themselves: of 10,000 a copy takes a tenth of a frame.
    void setSnapshot(std::shared_ptr<const inspect::LockSnapshot> lock);
    // The present, by our clock, for the ages.
    void setClock(std::function<SystemTime()> clock) { m_clock = std::move(clock); }
    void tick() { reportColumns(Age, Ttl, {Qt::DisplayRole}); }
    // It is told of a time that is past.
    void setPast(bool isPast);
    // Which of them are this window's own: they say so.
    void setOwn(QSet<QByteArray> own);

    [[nodiscard]] const inspect::Contender &contenderAt(int row) const { return at(row); }
    [[nodiscard]] Pill pillAt(int row) const { return pillOf(at(row)); }
    // Its lines, as of the snapshot.
    [[nodiscard]] RailRow railAt(int row) const;
    // What a row of two lines says: one name, then where it comes from, then what it watches or waits for.
    // And whether it holds or waits, as a reader or a writer, and how often.
    [[nodiscard]] QString nameAt(int row) const { return nameText(at(row)); }
    [[nodiscard]] QString originAt(int row) const { return originText(at(row)); }
    [[nodiscard]] QString watchedAt(int row) const { return watchedText(at(row)); }
    [[nodiscard]] QString evidenceAt(int row) const;
    [[nodiscard]] QString stateAt(int row) const { return stateText(at(row)); }
    [[nodiscard]] int rowOf(const QByteArray &id) const; // -1 if there is no such contender
    [[nodiscard]] bool hasTtl() const;
    [[nodiscard]] bool hasNodes() const; // with what only nodes have: czxid, owner, version

signals:
    void snapshotSet();

private:
    using Rows = std::vector<const inspect::Contender *>;

    void removeGone(const Rows &next);
    void placeInOrder(const Rows &next);
    void dropOlder(const Rows &next);
    void nameColumns();
    [[nodiscard]] Pill pillOf(const inspect::Contender &contender) const;
    [[nodiscard]] QString nameText(const inspect::Contender &contender) const;
    [[nodiscard]] QString originText(const inspect::Contender &contender) const;
    [[nodiscard]] QString targetText(const inspect::WatchEdge &watch) const;
    [[nodiscard]] QString watchedText(const inspect::Contender &contender) const;
    [[nodiscard]] QString tipText(const inspect::Contender &contender) const;
    [[nodiscard]] QString whoText(const inspect::Contender &contender) const;
    [[nodiscard]] QString ageText(const inspect::Contender &contender) const;
    [[nodiscard]] QString stateText(const inspect::Contender &contender) const;
    [[nodiscard]] QString leftText(const inspect::Contender &contender) const;

    std::shared_ptr<const inspect::LockSnapshot> m_lock = std::make_shared<inspect::LockSnapshot>();
    bool m_isPast = false;
    mutable std::vector<RailRow> m_rails; // made when first asked for
    QSet<QByteArray> m_own;
    std::function<SystemTime()> m_clock = [] { return programClock().now(); };
};

} // namespace lockscope::ui
