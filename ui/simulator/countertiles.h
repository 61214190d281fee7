// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/playedrun.h"

#include <QWidget>

#include <array>

class QFrame;
class QGridLayout;
class QLabel;

namespace lockscope::ui {

struct TileKind;

// The numbers under a run, at the cursor: requests, watch events, wasted wake-ups, how long one waits, or what a
// lesson chose instead. Below them what is known of the whole run only.
class CounterTiles : public QWidget {
    Q_OBJECT
public:
    // In a line, for a lesson: figure and name without frames; the rest is shown by pointing at it.
    explicit CounterTiles(QWidget *parent = nullptr, bool isLine = false);

    // Two to four of lessons::tileNames().
    void choose(const QList<QByteArray> &names);
    // What is known of the whole run is said at its end only: it would answer what is to be guessed.
    void setHidesFuture(bool isHidden) { m_hidesFuture = isHidden; }
    void show(const PlayedRun &run, std::size_t happened, Moment at);
    // For place(): as many as leave each name its room there. Those of a line may be elided, to be fewer lines.
    [[nodiscard]] int columnsFor(int width, bool isElided = false) const;
    void place(int columns);
    // All as high as the highest, so that what stands beside each other above them does, too.
    static void align(std::span<CounterTiles *const> all);
    // As it stands there: "4,747"; "–" until somebody has released; empty where there is no such tile.
    [[nodiscard]] QString figure(const QByteArray &name) const;
    [[nodiscard]] QString requests() const { return figure("requests"); }
    [[nodiscard]] QString watchEvents() const { return figure("watchEvents"); }
    [[nodiscard]] QString wasted() const { return figure("wastedWakeups"); }
    [[nodiscard]] QString waitP99() const { return figure("waitP99Ms"); }
    [[nodiscard]] QString wholeRun() const { return m_all; }
    [[nodiscard]] QSize minimumSizeHint() const override; // in two columns, or elided

signals:
    void widthChanged(); // its words may take another number of lines: align() again

private:
    void resizeEvent(QResizeEvent *event) override;
    void retranslate();
    void tell(const PlayedRun &run, std::size_t happened);
    [[nodiscard]] QString scope(const PlayedRun &run, std::size_t happened) const;
    [[nodiscard]] QString ofWholeRun(const contention::Recording &recording) const;
    [[nodiscard]] int leastWidth(int columns, bool isElided = false) const;

    const bool m_isLine;
    QGridLayout *m_grid;
    std::vector<const TileKind *> m_kinds; // as many as there are tiles to be seen
    std::array<QFrame *, 4> m_tiles{};
    std::array<QLabel *, 4> m_names{};
    std::array<QLabel *, 4> m_figures{};
    QLabel *m_whole = nullptr;
    int m_columns = 0;
    QString m_all; // what is known beside the tiles
    bool m_hidesFuture = false;
};

// What the tiles below a run can show: its name, and its figure when the cursor has come so far. At the end of a run
// it is the recording's own counter.
struct TileFigure {
    QString text;
    // 1: as it should not be, -1: as it should, 0: neither
    int isBad = 0;
};

struct TileKind {
    const char *name;
    QString (*title)();
    QString (*tip)();
    TileFigure (*figure)(const PlayedRun &run, std::size_t happened, Moment at);
    bool isOfDrain = false; // counted from the first release on
};
// Null: there is none of that name.
[[nodiscard]] const TileKind *tileKind(const QByteArray &name);

} // namespace lockscope::ui
