// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/playedrun.h"

#include <QElapsedTimer>
#include <QTimer>

namespace lockscope::ui {

// One time cursor over several runs: plays, steps event by event through all of them in the order of time, seeks.
class Playback : public QObject {
    Q_OBJECT
public:
    explicit Playback(QObject *parent = nullptr);

    // The cursor goes to the end: the whole picture, and its totals.
    void setRuns(std::vector<PlayedRunPtr> runs);
    [[nodiscard]] const std::vector<PlayedRunPtr> &runs() const { return m_runs; }

    [[nodiscard]] Moment at() const { return m_at; }
    [[nodiscard]] Moment end() const { return m_end; }
    [[nodiscard]] bool isAtEnd() const { return happenedInAll() == eventsInAll(); }
    // How many events of this run have happened, and of all.
    [[nodiscard]] std::size_t happened(std::size_t run) const { return m_happened[run]; }
    [[nodiscard]] std::size_t happenedInAll() const;
    [[nodiscard]] std::size_t eventsInAll() const;
    // Whose event was the last to happen; none at the start.
    [[nodiscard]] std::optional<std::size_t> lastRun() const;

    void seek(Moment at); // what happens at this very moment has happened
    void stepForward();
    void stepBack();
    void toStart(); // before everything
    void toEnd() { seek(m_end); }

    [[nodiscard]] bool isPlaying() const { return m_timer.isActive(); }
    void play(); // from the start again if it stands at the end
    void pause();
    void toggle() { isPlaying() ? pause() : play(); }

    // Simulated time by a clock on the wall: 1/64 … 64, and 0 for as fast as it can be shown.
    [[nodiscard]] static const std::vector<double> &speeds();
    [[nodiscard]] static QString speedText(double speed); // "1/16 ×", "unlimited"
    [[nodiscard]] int speed() const { return m_speed; }   // an index of speeds()
    void setSpeed(int speed);
    // What a timer does while it plays.
    void advance(Moment byTheWall);

signals:
    void moved();
    void playingChanged(bool isPlaying);
    void speedChanged(int speed);

private:
    std::vector<PlayedRunPtr> m_runs;
    std::vector<std::size_t> m_happened;
    Moment m_at{};
    Moment m_end{};
    int m_speed = 0;
    QTimer m_timer;
    QElapsedTimer m_sinceFrame;
};

// What happened, in words that a person would say. One event: "c06 is told by a watch in vain: it is not its turn."
[[nodiscard]] QString eventSentence(const PlayedRun &run, std::size_t index);
// What the last hand-over led to so far: "c05 released; 94 were told, 93 of them in vain". Empty before the first.
[[nodiscard]] QString handOverSentence(const PlayedRun &run, std::size_t happened);
// What a run is called where there are several, however they are arranged; empty for a single one.
[[nodiscard]] QString nameAmong(const std::vector<PlayedRunPtr> &runs, std::size_t run);
// At the cursor, over all runs.
[[nodiscard]] QString sentenceAt(const Playback &playback);

} // namespace lockscope::ui
