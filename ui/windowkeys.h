// SPDX-License-Identifier: Apache-2.0
// Single letters on the list of locks, and the foot that shows which keys act on what has the keyboard. A letter
// opens a form, goes somewhere or copies; none changes anything by itself.
#pragma once

#include <QObject>
#include <QTimer>

namespace lockscope::ui {

class Actions;
class FootBar;
class MainWindow;
struct FootKey;

class WindowKeys : public QObject {
    Q_OBJECT
public:
    // All of them outlive it. The window has its pages.
    WindowKeys(MainWindow &window, Actions &actions, FootBar &foot);

    // What acts may be another: the foot follows in a turn of its own.
    void update() { m_update.start(); }

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    struct Letter {
        Qt::Key key;
        QString action;
        QString text;
    };
    [[nodiscard]] static const std::vector<Letter> &letters();
    void addLetters();
    void show();
    void press(const Letter &letter);
    [[nodiscard]] bool isOnLocks() const;
    [[nodiscard]] std::vector<FootKey> keys();
    [[nodiscard]] QString textOf(const Letter &letter) const;
    void addLockKeys(std::vector<FootKey> &keys);
    void addPageKeys(std::vector<FootKey> &keys) const;
    [[nodiscard]] FootKey keyOf(const QString &key, const QString &text, const QString &action);

    MainWindow &m_window;
    Actions &m_actions;
    FootBar &m_foot;
    QTimer m_update;
};

} // namespace lockscope::ui
