// SPDX-License-Identifier: Apache-2.0
// Who watches whom, as boxes and arrows: solid where a server said so, dashed where inferred.
// Arrow keys walk along the queue, Enter chooses, + and - zoom, 0 goes back to 100 %.
#pragma once

#include <version>

#include "core/base/clock.h"
#include "ui/views/watchchain.h"

#include <QAbstractScrollArea>

#include <functional>
#include <memory>

namespace lockscope::ui {

class WatchChainView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit WatchChainView(QWidget *parent = nullptr);

    void setClock(std::function<SystemTime()> clock) { m_clock = std::move(clock); }
    // A change of lock goes back to the folded view.
    void setSnapshot(std::shared_ptr<const inspect::LockSnapshot> lock);
    void tick();
    void setCurrentContender(const QByteArray &id);
    void setWhole(bool whole);
    [[nodiscard]] bool isWhole() const { return m_whole; }
    void zoom(int steps); // 0: back to 100 %
    [[nodiscard]] const ChainPicture &chain() const { return m_chain; }

signals:
    void chosen(const QByteArray &contender);
    // By the mouse, the Menu key or Shift+F10.
    void menuRequested(const QByteArray &contender, const QPoint &at);
    void captionChanged(const QString &caption);
    // The number of contenders folded away, or that fold would be possible.
    void foldChanged();

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    void layOut();
    void select(int box, bool tell);
    [[nodiscard]] int boxAt(const QPoint &position) const; // -1 for none
    [[nodiscard]] int currentBox() const;
    void reveal(const QRectF &box);

    std::shared_ptr<const inspect::LockSnapshot> m_lock = std::make_shared<inspect::LockSnapshot>();
    ChainFacts m_facts = chainFactsOf(*m_lock);
    ChainPicture m_chain;
    QByteArray m_current;
    bool m_whole = false;
    qreal m_zoom = 1;
    std::function<SystemTime()> m_clock = [] { return programClock().now(); };
};

} // namespace lockscope::ui
