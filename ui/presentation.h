// SPDX-License-Identifier: Apache-2.0
// The window on a projector: the page alone on the whole screen, with large text where there is room
// for it. F11 begins and ends it.
#pragma once

#include <version>

#include <QMainWindow>
#include <QPointer>

namespace lockscope::ui {

class Actions;

class Presentation : public QObject {
    Q_OBJECT
public:
    // `bars`: what makes room. All outlive it.
    Presentation(QMainWindow &window, std::vector<QWidget *> bars);

    // To begin and to end it: in the palette, in the menu, by F11.
    void addAction(Actions &actions);
    void toggle() { set(!m_isOn); }
    void set(bool isOn);
    [[nodiscard]] bool isOn() const { return m_isOn; }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void chooseTextSize();

    QMainWindow &m_window;
    const std::vector<QWidget *> m_bars;
    std::vector<QPointer<QWidget>> m_hidden; // those that were there
    Qt::WindowStates m_before;
    bool m_isOn = false;
};

} // namespace lockscope::ui
