// SPDX-License-Identifier: Apache-2.0
// Who has the keyboard when the window opens, and when it comes to the front with nobody in it who could: the page,
// not the find field, first in the order of Tab though that is. Arrows walk through the rows at once.
#pragma once

#include <QObject>

namespace lockscope::ui {

class MainWindow;
class SideBar;
class TopBar;

class FirstFocus : public QObject {
    Q_OBJECT
public:
    FirstFocus(MainWindow &window, const TopBar &top, SideBar &side);
    void give();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    MainWindow &m_window;
    const TopBar &m_top;
    SideBar &m_side;
};

} // namespace lockscope::ui
