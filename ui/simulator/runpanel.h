// SPDX-License-Identifier: Apache-2.0
// A run on the page: as a picture with its lanes and counters, and what must hold in it.
#pragma once

#include "ui/simulator/lanepaint.h"
#include "ui/simulator/playback.h"
#include "ui/theme/pill.h"

#include <QGridLayout>
#include <QImage>
#include <QLabel>
#include <QMenu>

class QBoxLayout;
class QPushButton;

namespace lockscope::ui {

class CounterTiles;
class LanesView;
class ServerStrip;

// Runs as pictures: all lanes, where the screen has room for a few (of more than a thousand those from the first in
// sight on, and it says which), beside each other with their titles, counters and legend.
struct RunPicture {
    PlayedRunPtr run;
    LaneFrame frame; // as on the screen; its place is chosen by the picture
    std::size_t happened = 0;
    QString title{}; // empty: the recipe's
};

// The same at another moment, as if nobody had been later.
[[nodiscard]] std::vector<RunPicture> picturesAt(std::vector<RunPicture> runs, Moment at);
// Any thread. The legend has the signs of `legendOf`, so that pictures of one run are of one size. Null: no memory.
[[nodiscard]] QImage imageOf(const std::vector<RunPicture> &shown, const Tokens &tokens,
                             const std::vector<RunPicture> &legendOf, double scale);

// Empty, or what went wrong.
[[nodiscard]] QString savePng(const std::vector<RunPicture> &runs, const QString &file);
[[nodiscard]] QString saveSvg(const std::vector<RunPicture> &shown, const QString &file);

class Runner;

// {"schema", "scenario", "runs"}, as the terminal prints it.
[[nodiscard]] QByteArray resultsJson(const std::vector<PlayedRunPtr> &runs);
// All of it or nothing.
[[nodiscard]] QString saveBytes(const QByteArray &bytes, const QString &file);

// In the order of their files' endings.
enum class ExportKind { Png, Svg, Animation, Csv, Json, Recording };

// The menu of what goes to files, and comes from them: pictures, events, results, recordings.
class ExportMenu : public QMenu {
    Q_OBJECT
public:
    // `pictures`: the runs that are shown, as they are shown; `runner` writes what is long. Both outlive the menu.
    ExportMenu(std::function<std::vector<RunPicture>()> pictures, Runner &runner, QWidget *parent);

    // `run`: which, for what is of one run. told() follows.
    void save(ExportKind kind, std::size_t run, const QString &file);

signals:
    void told(bool isGood, const QString &text);
    void recordingsChosen(const QStringList &files);

private:
    void fill();
    void askSave(ExportKind kind, std::size_t run);
    void askOpen();

    std::function<std::vector<RunPicture>()> m_pictures;
    Runner &m_runner;
};

// One run: which recipe, its lanes, its counters. On the stage of a lesson its title is that of the lesson, and the
// parts are as large as a lecture's text.
class RunPanel : public QFrame {
    Q_OBJECT
public:
    explicit RunPanel(QWidget *parent = nullptr, bool isOnStage = false);

    void setRun(const PlayedRunPtr &run, Moment end);
    void retranslate(); // of the run
    void setCursor_(Moment at, std::size_t happened);
    // What the cursor has not come to yet, from where it is now.
    void setHidesFuture(bool isHidden);
    [[nodiscard]] LanesView &lanes() const { return *m_lanes; }
    [[nodiscard]] CounterTiles &tiles() const { return *m_tiles; }
    [[nodiscard]] ServerStrip &servers() const { return *m_servers; }
    [[nodiscard]] QLabel &title() const { return *m_title; }
    [[nodiscard]] QLabel &recipe() const { return *m_recipe; }
    // Of title and recipe, on a stage.
    [[nodiscard]] QBoxLayout &stageHead() const { return *m_stageHead; }
    [[nodiscard]] QString badge() const { return m_badge->text(); }

    // What title and badge take beside each other; where there is less, the badge stands below.
    [[nodiscard]] int headWidth() const;
    void setBadgeBelow(bool isBelow);

private:
    void setOnStage();

    QBoxLayout *m_stageHead = nullptr; // else null
    QGridLayout *m_head = nullptr;
    QLabel *m_title;
    QLabel *m_recipe;
    QLabel *m_badge;
    QLabel *m_note;
    LanesView *m_lanes;
    ServerStrip *m_servers;
    CounterTiles *m_tiles;
    PlayedRunPtr m_run;
    bool m_hidesFuture = false;
};

// How a release wakes: "one wake-up per release", "herd: 47.1 wake-ups per release", "nobody is told: it polls".
struct WakeUps {
    QString words;
    bool isHerd = false;
};
[[nodiscard]] WakeUps wakeUpsOf(const contention::Recording &recording);

// The panels of the runs beside each other, or below: the same contenders, time and cursor in all of them, in the
// simulator and on the stage of a lesson.
class RunGrid : public QGridLayout {
    Q_OBJECT
public:
    // `playback` outlives the grid.
    explicit RunGrid(Playback &playback, bool isOnStage = false);

    void setRuns(const std::vector<PlayedRunPtr> &runs);
    void retranslate();
    void setHidesFuture(bool isHidden); // again, in another language
    [[nodiscard]] const std::vector<RunPanel *> &panels() const { return m_panels; }
    // Beside each other in `width`, or below when it is narrow.
    void place(int width, bool isNarrow);
    void fitTime();
    void setOverview(bool isOn); // thin lanes
    void chooseLane(int lane);
    [[nodiscard]] int chosenLane() const { return m_lane; }
    void zoom(double zoom, Moment around);
    void showMoment();
    void alignTiles();
    [[nodiscard]] std::vector<RunPicture> pictures() const;

signals:
    void menuRequested(std::size_t run, int lane, const QPoint &at);
    void serverMenuRequested(std::size_t run, int server, const QPoint &at);
    void momentChosen(); // by a click: the cursor is there
    void tilesChanged(); // their words may take another number of lines

private:
    RunPanel *makePanel();

    Playback &m_playback;
    const bool m_isOnStage;
    std::vector<RunPanel *> m_panels;
    int m_lane = contention::nobody;
    bool m_isDense = false;
};

class PillLabel;

// What must hold in every run, and whether it did until the cursor: a check, or the moment at which it broke, to be
// clicked.
class MustHoldPanel : public QFrame {
    Q_OBJECT
public:
    explicit MustHoldPanel(QWidget *parent = nullptr);
    void setRuns(const std::vector<PlayedRunPtr> &runs);
    // What breaks after it has not broken yet; at the end everything that did not hold has.
    void setMoment(Moment at, bool isAtEnd);
    // Neither what broke nor what held is said before the cursor has been there, from where it is now.
    void setHidesFuture(bool isHidden);

signals:
    // What should hold, and under which faults it cannot, is to be shown.
    void guaranteesRequested();
    void violationChosen(std::size_t run, const lockscope::contention::Violation &violation);

private:
    void retranslate();
    void addCell(const PlayedRunPtr &run, std::size_t number, const QByteArray &invariant, int row, int column);

    // Where a run's invariant is said: that it held, or a button for when it broke; of one that broke both, for until
    // it is known.
    struct Cell {
        PillLabel *pill = nullptr;
        Pill held, soFar;
        QPushButton *button = nullptr; // none: it held
        Moment at{};                   // when it broke
    };
    void light(const Cell &cell) const;
    void lightAll() const;
    [[nodiscard]] Cell brokenCell(std::size_t run, const contention::Violation &violation);

    std::vector<Cell> m_cells;
    Moment m_seen{}; // how far the cursor came
    bool m_hidesFuture = false;
    Moment m_moment{};
    bool m_isAtEnd = true;
    QLabel *m_title = nullptr;
    QPushButton *m_guarantees = nullptr;
    QGridLayout *m_grid;
    QWidget *m_rows = nullptr;
};

} // namespace lockscope::ui
