// SPDX-License-Identifier: Apache-2.0
// The line at the top: title, find, what may be written and how much was, pause, help.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"

#include <QFrame>

class QLabel;
class QLineEdit;
class QPushButton;

namespace lockscope::ui {

class TopBar : public QFrame {
    Q_OBJECT
public:
    explicit TopBar(const ConnectionBook &book, QWidget *parent = nullptr);

    // The connection that what is on screen belongs to; empty: all.
    void setContext(const ConnectionName &connection);
    void focusFind();
    [[nodiscard]] QString findText() const;
    void setFindText(const QString &text);
    void setPaused(bool paused);

signals:
    void findChanged(const QString &text); // after a pause in typing
    void findDone();                       // Enter or Down: into the results
    void pauseToggled();
    void helpRequested();
    void writesMenuRequested(const QPoint &at);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void refresh();

    const ConnectionBook &m_book;
    ConnectionName m_context;
    QLineEdit *m_find;
    QLabel *m_environment;
    QPushButton *m_writes;
    QPushButton *m_pause;
};

} // namespace lockscope::ui
