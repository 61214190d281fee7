// SPDX-License-Identifier: Apache-2.0
// The buttons under the runs: to the start, step back, play, step, speed, a slider over the whole time, and where it
// stands.
#pragma once

#include <version>

#include "ui/simulator/playback.h"

#include <QFrame>
#include <QLabel>

class QBoxLayout;
class QComboBox;
class QPushButton;
class QSlider;

namespace lockscope::ui {

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
    void showPlaying(bool isPlaying);

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

} // namespace lockscope::ui
