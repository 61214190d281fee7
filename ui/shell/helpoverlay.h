// The keys, over the window, until any key or click.
#pragma once

#include <QPointer>
#include <QWidget>

namespace lockscope::ui {

class HelpOverlay : public QWidget {
    Q_OBJECT
public:
    // Covers `window`; hidden at first. `pages`: the titles behind Ctrl+1, Ctrl+2 …
    HelpOverlay(const QStringList &pages, QWidget *window);

    void open();

protected:
    void paintEvent(QPaintEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void close();

    QPointer<QWidget> m_focusBefore;
};

} // namespace lockscope::ui
