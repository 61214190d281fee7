// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QFrame>

#include <array>
#include <span>

class QGridLayout;
class QLabel;

namespace lockscope::ui {

class LanesView;
class ServerStrip;

// The four numbers under a run, at the cursor: requests, watch events, wasted wake-ups, how long one waits. Below
// them what is known of the whole run only.
class CounterTiles : public QWidget {
    Q_OBJECT
public:
    explicit CounterTiles(QWidget *parent = nullptr);

    // What is known of the whole run is said at its end only: it would answer what is to be guessed.
    void setHidesFuture(bool isHidden) { m_hidesFuture = isHidden; }
    // Beside two others there is room for what the tiles count, and no more: the rest is told by pointing at it.
    void setTerse(bool isTerse) { m_isTerse = isTerse; }
    void show(const PlayedRun &run, std::size_t happened, Moment at);
    // All as high as the highest, so that what stands beside each other above them does, too.
    static void align(std::span<CounterTiles *const> all);
    // As it stands there: "4,747"; "–" until somebody has released.
    [[nodiscard]] QString requests() const { return text(0); }
    [[nodiscard]] QString watchEvents() const { return text(1); }
    [[nodiscard]] QString wasted() const { return text(2); }
    [[nodiscard]] QString waitP99() const { return text(3); }
    [[nodiscard]] QString wholeRun() const;
    [[nodiscard]] QSize minimumSizeHint() const override; // in two columns

signals:
    void widthChanged(); // its words may take another number of lines: align() again

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void sayWords();
    void tell(const QString &all);
    [[nodiscard]] QString text(std::size_t tile) const;
    [[nodiscard]] int leastWidth(int columns) const;
    void place(int columns);

    QGridLayout *m_grid;
    std::array<QFrame *, 4> m_tiles{};
    std::array<QLabel *, 4> m_names{};
    std::array<QLabel *, 4> m_figures{};
    QLabel *m_whole = nullptr;
    int m_columns = 0;
    bool m_isTerse = false;
    bool m_hidesFuture = false;
};

// One run: which recipe, its lanes, its counters.
class RunPanel : public QFrame {
    Q_OBJECT
public:
    explicit RunPanel(QWidget *parent = nullptr);

    void setRun(const PlayedRunPtr &run, Moment end);
    void sayWords(); // of the run
    void setCursor_(Moment at, std::size_t happened);
    [[nodiscard]] LanesView &lanes() { return *m_lanes; }
    [[nodiscard]] const CounterTiles &tiles() const { return *m_tiles; }
    [[nodiscard]] CounterTiles &tiles() { return *m_tiles; }
    [[nodiscard]] const ServerStrip &servers() const { return *m_servers; }
    [[nodiscard]] QString badge() const;

    // What title and badge take beside each other; where there is less, the badge stands below.
    [[nodiscard]] int headWidth() const;
    void setBadgeBelow(bool isBelow);

private:
    QGridLayout *m_head = nullptr;
    QLabel *m_title;
    QLabel *m_recipe;
    QLabel *m_badge;
    QLabel *m_note;
    LanesView *m_lanes;
    ServerStrip *m_servers;
    CounterTiles *m_tiles;
    PlayedRunPtr m_run;
};

// How a release wakes: "one wake-up per release", "herd: 47.1 wake-ups per release", "nobody is told: it polls".
struct WakeUps {
    QString words;
    bool isHerd = false;
};
[[nodiscard]] WakeUps wakeUpsOf(const contention::Recording &recording);

} // namespace lockscope::ui
