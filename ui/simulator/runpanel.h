// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QFrame>

class QGridLayout;
class QLabel;

namespace lockscope::ui {

class CounterTiles;
class LanesView;
class ServerStrip;

// One run: which recipe, its lanes, its counters.
class RunPanel : public QFrame {
    Q_OBJECT
public:
    explicit RunPanel(QWidget *parent = nullptr);

    void setRun(const PlayedRunPtr &run, Moment end);
    void retranslate(); // of the run
    void setCursor_(Moment at, std::size_t happened);
    // What the cursor has not come to yet, from where it is now.
    void setHidesFuture(bool isHidden);
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
    bool m_hidesFuture = false;
};

// How a release wakes: "one wake-up per release", "herd: 47.1 wake-ups per release", "nobody is told: it polls".
struct WakeUps {
    QString words;
    bool isHerd = false;
};
[[nodiscard]] WakeUps wakeUpsOf(const contention::Recording &recording);

} // namespace lockscope::ui
