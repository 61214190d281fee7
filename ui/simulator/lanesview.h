// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/lanepaint.h"

#include <QAbstractScrollArea>

namespace lockscope::ui {

constexpr int stageFontSize = 14; // the least on the stage of a lesson: 18 px on a projector

// The lanes of one run: a contender each, over time. Up and Down choose a lane, Enter or the menu key asks for its
// menu, Ctrl and the wheel zoom the time; a click sets the cursor.
class LanesView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit LanesView(QWidget *parent = nullptr);

    // `end`: of the longest of the runs beside each other, so that their times line up.
    void setRun(PlayedRunPtr run, Moment end);
    [[nodiscard]] const PlayedRunPtr &run() const { return m_run; }
    void setCursor_(Moment at, std::size_t happened);
    void setDense(bool isDense);
    // The messages between contenders and servers, where they were kept. On where there are few contenders.
    void setShowsMessages(bool isShown);
    [[nodiscard]] bool showsMessages() const { return m_showsMessages; }
    // What the cursor has not come to yet is not there to be seen: for who is to guess it first.
    void setHidesFuture(bool isHidden);
    void showUntil(Moment at);
    // Of a lesson, in the size of a lecture's text: all lanes at once, of many the first nine and a band of the
    // others, and the time that it is told to show. No row is lower than its name.
    void setStage();
    void setSight(Moment from, Moment to);
    [[nodiscard]] int stageRows() const;
    void setWakeUps(std::vector<WakeUp> wakeUps);
    void setFlight(double flight, double fall);
    void setWatches(std::vector<std::pair<int, int>> watches);
    [[nodiscard]] Moment span() const
    {
        return std::max(Moment(1), Moment(qRound64(double(m_end.count()) / m_zoom)));
    }
    // 1 shows the whole run.
    void setZoom(double zoom, Moment around);
    [[nodiscard]] double zoom() const { return m_zoom; }
    // In which the lanes at the top fill the picture.
    [[nodiscard]] double fittedZoom() const;
    void setChosenLane(int lane);
    [[nodiscard]] int chosenLane() const { return m_chosen; }
    void reveal(int lane);
    // What one beside it says by scrolledTo(), which may be of another height. It does not say so itself: it would
    // take the other one back.
    void scrollAlong(double lanes, int horizontal);

    [[nodiscard]] LaneFrame frame() const;
    // The frame of a picture of that size, of as many lanes as fit from the first in sight on.
    [[nodiscard]] LaneFrame frameFor(const QSizeF &size) const;
    // What the last frame took.
    [[nodiscard]] const PaintCost &cost() const { return m_cost; }

signals:
    void momentChosen(lockscope::contention::Moment at);
    void laneChosen(int lane);
    void menuRequested(int lane, const QPoint &at);
    void serverMenuRequested(int server, const QPoint &at);
    void zoomed(double zoom, lockscope::contention::Moment around);
    void scrolledTo(double lanes, int horizontal); // so many lanes are above the picture

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void measure();
    void askOfServer(const QContextMenuEvent &event);
    void updateBars();
    void follow(std::size_t happened);
    [[nodiscard]] QString tipAt(const QPoint &position) const;
    [[nodiscard]] int fontSize() const { return m_isStage ? stageFontSize : 12; }
    [[nodiscard]] int axisHeight() const { return std::max(22, QFontMetrics(textFont(fontSize())).height() + 6); }
    [[nodiscard]] double heightOfLane(double available) const;
    [[nodiscard]] double heightOfServers() const;
    [[nodiscard]] double heightForLanes(double height) const;
    [[nodiscard]] double lanesScrolled() const;

    PlayedRunPtr m_run;
    Moment m_end{};
    Moment m_cursor{};
    double m_zoom = 1;
    bool m_isDense = false;
    bool m_isStage = false;
    LaneFrame m_stage; // what it has to tell: the wake-ups, and who watches whom
    bool m_showsMessages = false;
    std::optional<Moment> m_seen; // the furthest that the cursor came; none: nothing is hidden
    int m_chosen = contention::nobody;
    int m_followed = contention::nobody; // the lane that was brought into sight for the cursor
    double m_gutter = 44;
    PaintCost m_cost;
};

// What the shapes of the lanes mean: all of them, in as many lines as that takes.
class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override { return {600, heightForWidth(std::max(width(), 300))}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {40, 18}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

    // Only the signs that are in the picture of these runs; `until`: of what has been seen by then; `without`: those
    // that are not drawn.
    void setRuns(const std::vector<PlayedRunPtr> &runs, std::optional<Moment> until = {},
                 const std::vector<LaneGlyph> &without = {});

    // As wide as that, from there on; how high it is. Without a painter only that.
    using Signs = std::vector<LaneGlyph>;
    static double paint(QPainter *painter, QPointF at, double width, const Tokens &tokens, const Signs &signs,
                        int fontSize = 12, bool isFolded = false);
    void setFontSize(int size) { m_fontSize = size; }
    // Into its first line; a click shows the rest.
    void setFolded(bool isFolded);
    [[nodiscard]] static Signs signsOf(const std::vector<PlayedRunPtr> &runs, std::optional<Moment> until);

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;

    Signs m_signs;
    int m_fontSize = 12;
    bool m_isFolded = false;
};

} // namespace lockscope::ui
