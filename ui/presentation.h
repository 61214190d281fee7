// SPDX-License-Identifier: Apache-2.0
// The window on a projector: the page alone on the whole screen, with large text where there is room for it, and a
// line of its keys when asked for. F11 begins and ends it.
#pragma once

#include <version>

#include "ui/parts/parts.h"

#include <QMainWindow>
#include <QPointer>

#include <functional>

namespace lockscope::ui {

class Actions;
class KeyBar;

class Presentation : public QObject {
    Q_OBJECT
public:
    // `bars`: what makes room; they outlive it. `keys`: of the page that is shown.
    Presentation(QMainWindow &window, std::vector<QWidget *> bars, std::function<KeyHints()> keys);

    // The line of keys, to be put below the page.
    [[nodiscard]] QWidget *keyBar() const;

    // To begin and to end it: in the palette, in the menu, by F11.
    void addAction(Actions &actions);
    void toggle() { set(!m_isOn); }
    void set(bool isOn);
    [[nodiscard]] bool isOn() const { return m_isOn; }
    // Shows the line of the page's keys, or hides it again; false: nothing is presented, or the page has none.
    bool toggleKeys();
    // Another page is shown.
    void followPage();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void chooseTextSize();

    QMainWindow &m_window;
    const std::vector<QWidget *> m_bars;
    std::vector<QPointer<QWidget>> m_hidden; // those that were there
    KeyBar *m_keys;
    bool m_showsKeys = false;
    Qt::WindowStates m_before;
    bool m_isOn = false;
};

} // namespace lockscope::ui
