// SPDX-License-Identifier: Apache-2.0
// The bars of the simulator's page: what is played, above the runs, and the buttons under them.
#pragma once

#include "ui/simulator/comparison.h"
#include "ui/simulator/playback.h"

#include <QLabel>
#include <QLayout>
#include <QPushButton>

class QBoxLayout;
class QComboBox;
class QMenu;
class QSlider;

namespace lockscope::ui {

class Legend;
class RunGrid;

// The buttons under the runs: to the start, step back, play, step, speed, a slider over the whole time, and where it
// stands.
class TransportBar : public QFrame {
    Q_OBJECT
public:
    explicit TransportBar(Playback &playback, QWidget *parent = nullptr);

    void refresh(); // after the playback moved, or got other runs
    // How many events there are in all is not said.
    void setHidesFuture(bool isHidden);
    // "t = 300.0 ms · event 1,204 of 9,405".
    [[nodiscard]] QString place() const { return m_place->text(); }
    [[nodiscard]] QSlider *slider() const { return m_slider; }

private:
    void resizeEvent(QResizeEvent *event) override;
    [[nodiscard]] QString widestPlace() const;
    QPushButton *addButton(void (Playback::*slot)());
    void retranslate();
    void showPlaying(bool isPlaying) { m_play->setText(isPlaying ? tr("‖ pause") : tr("▶ play")); }

    Playback &m_playback;
    bool m_hidesFuture = false;
    QBoxLayout *m_outer = nullptr;
    QBoxLayout *m_row = nullptr;
    QPushButton *m_first = nullptr;
    QPushButton *m_back = nullptr;
    QPushButton *m_play = nullptr;
    QPushButton *m_on = nullptr;
    QComboBox *m_speed;
    QSlider *m_slider;
    QLabel *m_place;
};

// What stands below the runs: the legend, and how they are looked at: all of them at once in thin lanes, and with or
// without what the cursor has not come to yet.
class SightBar : public QWidget {
    Q_OBJECT
public:
    SightBar(Playback &playback, RunGrid &grid, QWidget *parent);

    // The playback has other runs now. Where what comes is hidden they begin at their start, or at the cursor.
    void begin(bool isCursorKept);
    // The whole time; in thin lanes where there are more than fit.
    void fitCrowd();
    // Chosen by whoever looks on, and for every run until it is chosen otherwise.
    void setHidesFuture(bool isHidden) { m_hide->setChecked(isHidden); }
    [[nodiscard]] bool hidesFuture() const { return m_hide->isChecked(); }
    // Something is hidden still: the cursor has not been at the end.
    [[nodiscard]] bool isHiding() const { return m_isHiding; }

signals:
    void hidingChanged(bool isHiding);

private:
    void retranslate();
    void hide(bool isHidden);
    void look();
    void showLegend();

    Playback &m_playback;
    RunGrid &m_grid;
    Legend *m_legend;
    QPushButton *m_overview;
    QPushButton *m_hide;
    Moment m_seen{};
    bool m_isHiding = false;
};

struct HeadingChip {
    QString text;
    bool isWarning = false;
    QString copies;       // what a click puts on the clipboard; empty: no button
    bool isPlace = false; // where it ran; a click offers other places
    bool isReal = false;  // on real servers
    QString tip{};        // more of it, for who points at it
};

// What is played, in one line: "100 contenders, one lock", the chips beside it, and the buttons that play something
// else.
class SimulatorHeading : public QWidget {
    Q_OBJECT
public:
    // `places`: the menu of the chip that says where it ran.
    SimulatorHeading(QMenu *places, QMenu *exports, QWidget *parent);

    void setRuns(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs);
    void setNarrow(bool isNarrow); // the buttons below
    [[nodiscard]] QString text() const { return m_heading->text(); }
    [[nodiscard]] QStringList chips() const
    {
        return mapped<QStringList>(m_chips, [&](const auto &chip) { return chip.text; });
    }
    [[nodiscard]] QPushButton &forkButton() { return *m_fork; }

signals:
    void comparisonChosen(const lockscope::ui::Comparison &comparison);
    void scenarioRequested();

private:
    void retranslate(); // on the buttons; setRuns says the rest
    [[nodiscard]] QLayout *makeButtons(QMenu *exports);
    [[nodiscard]] QWidget *makeChip(const HeadingChip &chip);

    QMenu *m_places;
    QBoxLayout *m_layout;
    QWidget *m_chipRow;
    QLabel *m_heading;
    QPushButton *m_compare = nullptr;
    QPushButton *m_scenario = nullptr;
    QPushButton *m_fork = nullptr;
    QPushButton *m_export = nullptr;
    std::vector<HeadingChip> m_chips;
};

} // namespace lockscope::ui
