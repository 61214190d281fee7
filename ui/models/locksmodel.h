// SPDX-License-Identifier: Apache-2.0
// The table of all locks: sorted and filtered by an index of its own, changed in deltas only.
//
// Nothing is ever reset, so that selection, scroll position and the row under the mouse survive
// every update; a batch that scatters over hundreds of places becomes one insertion (or removal) at
// the end and one change of layout instead of hundreds of signals. GUI thread only.
#pragma once

#include <version>

#include "core/workspace/backend.h"
#include "ui/models/lockfacts.h"

#include <QAbstractTableModel>
#include <QSet>

#include <functional>
#include <memory>
#include <unordered_map>

namespace lockscope::ui {

class LocksModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { State, Lock, Recipe, Holder, Waiting, OldestWait, Held, FindingColumn, ColumnCount };
    enum class Chip { All, Contended, Critical, Warning, Mine };
    struct Counts {
        int all = 0;
        int contended = 0;
        int critical = 0;
        int warning = 0;
        int mine = 0;
        friend bool operator==(const Counts &, const Counts &) = default;
    };
    using Clock = std::function<SystemTime()>;

    explicit LocksModel(QObject *parent = nullptr);
    ~LocksModel() override;

    // Our clock; the system's unless a test (or a replay) says otherwise.
    void setClock(Clock clock) { m_clock = std::move(clock); }
    // The present of this connection's locks: our clock, or the moment it broke.
    [[nodiscard]] SystemTime nowOf(const ConnectionName &connection) const;

    void apply(const std::vector<inspect::PictureChange> &changes);
    // A broken connection's ages stand still at `asOf`; empty lets them run again.
    void setFrozen(const ConnectionName &connection, std::optional<SystemTime> asOf);
    [[nodiscard]] bool isFrozen(const ConnectionName &connection) const { return m_frozen.contains(connection); }
    // Drops every lock of a connection that was closed.
    void removeConnection(const ConnectionName &connection);
    // The locks the window itself holds or waits for.
    void setMine(QSet<inspect::LockName> mine);

    void setChip(Chip chip);
    [[nodiscard]] Chip chip() const { return m_chip; }
    void setText(const QString &text);
    // Empty: all.
    void setConnection(const ConnectionName &connection);
    [[nodiscard]] const Counts &counts() const { return m_counts; }

    // What is known of a lock, filtered out or not; null if there is no such lock (now).
    [[nodiscard]] const inspect::LockPicture *picture(const inspect::LockName &lock) const;
    [[nodiscard]] const inspect::LockPicture &pictureAt(int row) const;
    [[nodiscard]] const LockFacts &factsAt(int row) const;
    // -1 if it is not shown.
    [[nodiscard]] int rowOf(const inspect::LockName &lock) const;

    // Says that the ages of these rows changed: what a timer does once a second for the rows on screen.
    void tick(int firstRow, int lastRow);
    // Sums of waiting grow at different speeds: puts the rows in order by the present ones.
    void rank();

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    // Column -1 is the order of the house: severity, then the sum of waiting, then the name.
    void sort(int column, Qt::SortOrder order) override;

signals:
    void countsChanged();
    // Around everything apply() does, so that a view can keep its place.
    void aboutToApply();
    void applied();
    // A picture was added, changed or removed (shown or not).
    void pictureChanged(const lockscope::inspect::LockName &lock);

private:
    struct Entry;
    using Rows = std::vector<Entry *>;
    struct Move;
    struct NameHash {
        size_t operator()(const inspect::LockName &name) const { return qHash(name); }
    };

    [[nodiscard]] bool before(const Entry &a, const Entry &b) const;
    [[nodiscard]] int compare(const Entry &a, const Entry &b) const;
    [[nodiscard]] qint64 waitingSum(const Entry &entry) const;
    [[nodiscard]] bool isShown(const Entry &entry) const;
    [[nodiscard]] int position(const Rows &rows, const Entry &entry) const;
    [[nodiscard]] QString cell(const Entry &entry, int column) const;

    void count(const Entry &entry, int by);
    void remove(const Rows &doomed);
    void move(std::vector<Move> moves);
    void moveWithin(Move &move);
    void add(std::vector<std::unique_ptr<Entry>> fresh);
    void removeShown(const Rows &doomed);
    void insertShown(Rows fresh);
    void removeFromAll(const Rows &doomed);
    void insertIntoAll(const Rows &fresh);
    void rearrangeShown(const std::function<void()> &rearrange);
    void refilter();
    void emitRanges(std::vector<int> rows);

    Clock m_clock;
    SystemTime m_rankedAt;
    std::unordered_map<inspect::LockName, std::unique_ptr<Entry>, NameHash> m_entries;
    Rows m_all;   // every lock, in order
    Rows m_shown; // those that pass the filter, in the same order
    std::unordered_map<ConnectionName, SystemTime> m_frozen;
    QSet<inspect::LockName> m_mine;
    Chip m_chip = Chip::All;
    QString m_text;
    ConnectionName m_connection;
    int m_sortColumn = -1;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
    Counts m_counts;
};

} // namespace lockscope::ui
