// SPDX-License-Identifier: Apache-2.0
// The keys, over the window, until any key or click; and the ways to the other help.
#pragma once

#include "ui/parts/parts.h"

#include <QPointer>

namespace lockscope::ui {

class HelpOverlay : public QWidget {
    Q_OBJECT
public:
    // Covers `window`; hidden at first. `pages`: the titles behind Ctrl+1, …; `keys`: what they say of theirs.
    HelpOverlay(QStringList pages, std::function<KeyHints()> keys, QWidget *window);

    void open();

signals:
    // What holds under which fault is to be shown.
    void guaranteesRequested();
    // What findings mean is to be shown.
    void findingsRequested();

private:
    void paintEvent(QPaintEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *) override { close(); }
    bool eventFilter(QObject *watched, QEvent *event) override;
    void fill();
    void close();
    void leaveFor(void (HelpOverlay::*request)());

    const QStringList m_pages;
    const std::function<KeyHints()> m_keysOfPages;
    QWidget *m_guarantees = nullptr;
    QScrollArea *m_scroll = nullptr;
    QPointer<QWidget> m_focusBefore;
};

} // namespace lockscope::ui
