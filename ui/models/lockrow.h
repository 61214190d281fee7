// SPDX-License-Identifier: Apache-2.0
// A row of the table of locks: what its cells say, how rows are ordered, and which of them show.
#pragma once

#include "ui/models/lockfacts.h"
#include "ui/models/rowsmodel.h"

class QSettings;

namespace lockscope::ui {

struct LockRow {
    enum Column { State, Lock, Recipe, Holder, Waiting, OldestWait, Held, FindingColumn, Connection, ColumnCount };

    explicit LockRow(const inspect::LockSnapshot &lock) : snapshot(lock), facts(factsOf(lock)) {}

    // The same in fewer words, for where it has no room; empty where there are none.
    [[nodiscard]] QString brief(int column) const;
    [[nodiscard]] const LockFacts &orderedBy() const { return held ? held->facts : facts; }
    [[nodiscard]] const inspect::LockName &orderedAs() const { return held ? held->name : snapshot.lock; }
    [[nodiscard]] int behind() const { return held ? held->behind : 0; }
    // Whether it stands below that row for no reason of its own.
    [[nodiscard]] bool standsBehind(const LockRow &other) const
    {
        return orderedAs() == other.orderedAs() && behind() > other.behind();
    }
    // Everything the filter looks into, in one lower-case string, made when first searched.
    [[nodiscard]] const QString &haystack() const;
    // What of it has this text, where the row's own cells do not show it: "waiter cart-2@app-7".
    [[nodiscard]] QString matchOf(const QString &text) const;

    inspect::LockSnapshot snapshot;
    LockFacts facts;
    // While the order is held: what the row stands where it stands for, whatever its facts are by now.
    struct HeldPlace {
        LockFacts facts;
        inspect::LockName name; // its own, or that of the row it stands behind
        int behind = 0;         // the how-manieth behind that row
    };
    std::unique_ptr<HeldPlace> held; // of few
    SystemTime goneAt;               // its ages count no further
    bool gone = false;               // removed while the order is held: the row is still there, and says so
    bool mine = false;
    bool shown = false;
    bool leaving = false; // while rows are removed
    int row = 0;          // while the layout changes

private:
    mutable std::unique_ptr<const QString> m_haystack; // of few, until one searches
};

using LockRows = std::vector<LockRow *>;

// The columns of the table; `nowOf` is the present of a row's connection.
[[nodiscard]] RowsModel<LockRow *>::Columns lockColumns(const std::function<SystemTime(const LockRow &)> &nowOf);

// The names of its connection's other locks that a thread holds which holds this one, in their order.
[[nodiscard]] std::vector<QByteArray> heldWith(const inspect::LockSnapshot &lock, const LockRows &rows);

// Rows are found by the name in them: a key beside each would be a second one for every lock.
struct ByLockName {
    using is_transparent = void;
    static const inspect::LockName &nameOf(const inspect::LockName &name) { return name; }
    static const inspect::LockName &nameOf(const std::unique_ptr<LockRow> &row) { return row->snapshot.lock; }
    size_t operator()(const auto &of) const { return qHash(nameOf(of)); }
    bool operator()(const auto &a, const auto &b) const { return nameOf(a) == nameOf(b); }
};

struct LockOrder {
    int column = -1; // -1 is the order of the house: severity, then the sum of waiting, then the name
    Qt::SortOrder direction = Qt::AscendingOrder;
    bool isGrouped = false; // the rows of a connection stand together, whatever the order within it
    SystemTime rankedAt;    // the sums of waiting are those of this moment

    [[nodiscard]] int compare(const LockRow &a, const LockRow &b) const
    {
        const int order = compare({a.orderedBy(), a.orderedAs()}, {b.orderedBy(), b.orderedAs()});
        return order != 0 ? order : a.behind() - b.behind();
    }
    // By what is the case now, wherever they stand.
    [[nodiscard]] int compareNow(const LockRow &a, const LockRow &b) const
    {
        return compare({a.facts, a.snapshot.lock}, {b.facts, b.snapshot.lock});
    }
    [[nodiscard]] bool operator()(const LockRow *a, const LockRow *b) const { return compare(*a, *b) < 0; }

private:
    struct Place {
        const LockFacts &facts;
        const inspect::LockName &name;
    };
    [[nodiscard]] int compare(const Place &placeA, const Place &placeB) const;
    [[nodiscard]] qint64 waitingSum(const LockFacts &facts) const;
};

struct LockFilter {
    enum class Chip { All, Contended, Critical, Warning, Mine };
    Chip chip = Chip::All;
    QString text;
    ConnectionName connection; // empty: all

    [[nodiscard]] bool isOfConnection(const LockRow &row) const;
    [[nodiscard]] bool matchesText(const LockRow &row) const;
    [[nodiscard]] bool shows(const LockRow &row) const;
};

struct LockCounts {
    int all = 0;
    int contended = 0;
    int critical = 0;
    int warning = 0;
    int mine = 0;
    void add(const LockRow &row, int by);
    friend bool operator==(const LockCounts &, const LockCounts &) = default;
};

// What the filter's connection has, and what of that its text finds: a click on a chip shows so many.
struct LockTally {
    LockCounts found;
    int total = 0;
    void add(const LockFilter &filter, const LockRow &row, int by);
    friend bool operator==(const LockTally &, const LockTally &) = default;
};

// What somebody searched for and wants to find again: the text and the chip, under a name. GUI thread only.
struct SavedFilter {
    QString name;
    QString text;
    int chip = 0; // LockFilter::Chip
    friend bool operator==(const SavedFilter &, const SavedFilter &) = default;
};

class SavedFilters : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    static constexpr std::size_t most = 50;

    // By name.
    [[nodiscard]] const std::vector<SavedFilter> &all() const { return m_all; }
    // Replaces the one of that name. False where there is no room, or no name.
    bool keep(SavedFilter filter);
    void forget(const QString &name);

    void save(QSettings &settings) const;
    void restore(QSettings &settings);

private:
    std::vector<SavedFilter> m_all;
};

} // namespace lockscope::ui
