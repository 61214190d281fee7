// SPDX-License-Identifier: Apache-2.0
// Boxes on a plane that scrolls and zooms: + and − or Ctrl and the wheel zoom, 0 goes back to 100 %, and a tool tip
// says what the pointer rests on.
#pragma once

#include <QAbstractScrollArea>

namespace lockscope::ui {

class BoxView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit BoxView(QWidget *parent);

    void zoomBy(int steps); // 0: to 100 %
    [[nodiscard]] qreal zoom() const { return m_zoom; }
    // In the view's own coordinates.
    [[nodiscard]] QRectF boxOnScreen(int box) const;

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    bool viewportEvent(QEvent *event) override;

    [[nodiscard]] virtual int boxCount() const = 0;
    // At 100 %.
    [[nodiscard]] virtual QRectF boxOf(int box) const = 0;
    [[nodiscard]] virtual QString tipOf(int box) const = 0;
    virtual void setZoom(qreal zoom) = 0;
    // Of the plane, in the viewport.
    [[nodiscard]] virtual QPointF origin() const;

    [[nodiscard]] int boxAt(QPoint position) const; // -1 for none
    void fitBars(QSizeF plane);
    void scrollBy(QPoint by);
    // No further than it takes, with so much around it.
    void reveal(int box, int margin);

    qreal m_zoom = 1;
};

} // namespace lockscope::ui
