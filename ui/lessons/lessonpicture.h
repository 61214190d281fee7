// SPDX-License-Identifier: Apache-2.0
// The runs of a lesson beside each other (below, where the window is narrow), with one cursor that runs on to where a
// step wants it.
#pragma once

#include <version>

#include "ui/lessons/lessonwords.h"
#include "ui/simulator/playback.h"
#include "ui/simulator/runexport.h"

#include <QWidget>

class QLabel;
class QBoxLayout;

namespace lockscope::ui {

class CounterTiles;
class LanesView;
class Legend;
class ServerStrip;

class LessonPicture : public QWidget {
    Q_OBJECT
public:
    explicit LessonPicture(QWidget *parent = nullptr);
    ~LessonPicture() override;

    // The cursor is before everything. Nothing is shown until there are runs.
    void setRuns(const lessons::Lesson &lesson, const std::vector<PlayedRunPtr> &runs, Language language);
    void setTitles(const lessons::Lesson &lesson, Language language);
    void clear();
    // Runs there in a moment if that is later, and is there at once if it is not.
    void runTo(Moment at);
    // How long that takes on the wall; 0: no time at all.
    void setPace(std::chrono::milliseconds pace) { m_pace = pace; }
    void arrive(); // at once
    [[nodiscard]] bool isRunning() const { return m_timer.isActive(); }

    [[nodiscard]] Moment at() const { return m_playback.at(); }
    [[nodiscard]] Moment end() const { return m_playback.end(); }
    [[nodiscard]] std::size_t happened(std::size_t run) const { return m_playback.happened(run); }
    [[nodiscard]] const std::vector<PlayedRunPtr> &runs() const { return m_playback.runs(); }
    [[nodiscard]] LanesView &lanes(std::size_t run) { return *m_panels[run].lanes; }
    [[nodiscard]] const CounterTiles &tiles(std::size_t run) const { return *m_panels[run].tiles; }
    [[nodiscard]] const ServerStrip &servers(std::size_t run) const { return *m_panels[run].servers; }

    // As it looks with the cursor there, for a file.
    [[nodiscard]] std::vector<RunPicture> picturesAt(Moment at) const;

signals:
    void arrived();
    // A click with the right button, which also moves the cursor there.
    void menuRequested(const lockscope::ui::LessonPlace &place, const QPoint &at);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    struct Panel {
        QWidget *card = nullptr;
        QBoxLayout *head = nullptr; // title and recipe
        QLabel *title = nullptr;
        QLabel *recipe = nullptr;
        LanesView *lanes = nullptr;
        ServerStrip *servers = nullptr;
        CounterTiles *tiles = nullptr;
        QLabel *counts = nullptr; // the same in a line, where there is no room for them
    };
    // How much there is room for.
    struct Parts {
        bool hasTiles, hasServers, hasLegend, hasMessages, hasCounts = true, isTight = false;
    };
    void fit();
    void fitTitles(int each);
    void show(const Parts &parts);
    void showCounts();
    [[nodiscard]] int cardWidth() const;
    void alignTiles();
    void showLegend();
    [[nodiscard]] Panel makePanel();
    void connectLanes(LanesView &lanes, std::size_t run);
    void showMoment();
    void lookUntil(Moment at);
    void advance();

    Playback m_playback;
    QBoxLayout *m_cards;
    Legend *m_legend;
    std::vector<Panel> m_panels;
    QTimer m_timer;
    QElapsedTimer m_since;
    std::chrono::milliseconds m_pace{1200};
    Moment m_from{}, m_target{};
    int m_fitting = 0; // how often fit() is running
};

} // namespace lockscope::ui
