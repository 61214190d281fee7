// SPDX-License-Identifier: Apache-2.0
// The line at the top: find, the connection of what the page shows, history, pause, help, the menu. A striped line
// runs below it while something of production may be on screen.
#pragma once

#include "ui/models/connectionbook.h"

#include <QLineEdit>

class QLabel;
class QPushButton;

namespace lockscope::ui {

class ConnectionChooser;

class TopBar : public QFrame {
    Q_OBJECT
public:
    explicit TopBar(const ConnectionBook &book, QWidget *parent = nullptr);

    // The connection that what is on screen belongs to; empty: all. `showsServers`: the page shows any at all.
    void setContext(const ConnectionName &connection, bool showsServers = true);
    void focusFind();
    [[nodiscard]] QString findText() const { return m_find->text(); }
    void setFindText(const QString &text) { m_find->setText(text); }
    void setPaused(bool paused);
    [[nodiscard]] ConnectionChooser &chooser() const { return *m_chooser; }
    // Those that fill their menus: of all actions, and of the filters that are kept.
    [[nodiscard]] QPushButton &menuButton() const { return *m_menu; }
    [[nodiscard]] QPushButton &filtersButton() const { return *m_filters; }

signals:
    void findChanged(const QString &text); // after a pause in typing
    void findDone();                       // Enter or Down: into the results
    void pauseToggled();
    void timeRequested();
    void helpRequested();

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void makeFind();
    void showIcons();
    void fit();

    QWidget *m_title;
    QLineEdit *m_find;
    QLabel *m_findKey;
    QPushButton *m_filters;
    ConnectionChooser *m_chooser;
    QPushButton *m_history;
    QPushButton *m_pause;
    QPushButton *m_help;
    QPushButton *m_menu;
    QAction *m_findIcon;
    bool m_isPaused = false;
};

} // namespace lockscope::ui
