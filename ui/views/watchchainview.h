// SPDX-License-Identifier: Apache-2.0
// Who watches whom, as boxes and arrows: solid where a server said so, dashed where inferred.
// Arrow keys walk along the queue, Enter chooses, + and - zoom, 0 goes back to 100 %.
#pragma once

#include <version>

#include "core/base/clock.h"
#include "ui/models/lockfacts.h"
#include "ui/parts/boxview.h"

#include <QPainterPath>
#include <QRectF>

#include <functional>
#include <memory>

namespace lockscope::ui {

// Where the boxes and arrows of "who watches whom" stand: a pure function of the picture, so that
// it is tested without painting.
struct ChainBox {
    enum class Kind { Contender, Children, More };
    Kind kind = Kind::Contender;
    QByteArray contender; // its id; empty for the others
    QRectF box;
    bool compact = false; // one line instead of three
    Pill pill;            // shape and colours; the word is not drawn
    QString title, who, age;
    QString name{}; // what it is called, on a line of its own; in a compact one it stands in `who`
};

struct ChainArrow {
    QPainterPath path; // from the waiter to what it watches
    QPointF tip;
    qreal tipAngle = 0; // degrees, the way the arrow flies in
    bool seen = false;  // a server said so; else inferred
    QPointF wordAt;     // centre of "seen" or "inferred"
    bool showWord = true;
};

struct ChainPicture {
    std::vector<ChainBox> boxes;
    std::vector<ChainArrow> arrows;
    QSizeF size;
    QString caption;
    int hidden = 0; // contenders behind the box "… n more"
};

// The one thing that (nearly) everybody watches, if it is a herd.
struct Herd {
    bool is = false;
    bool children = false;
    QByteArray target;
};

// What stays the same while a snapshot is shown. Its ages are laid out anew each second: of a queue of 10,000 nobody
// looks for a herd that often.
struct ChainFacts {
    Herd herd;
    QString caption;
};
[[nodiscard]] ChainFacts chainFactsOf(const inspect::LockSnapshot &lock);

// Queues of more than this are drawn with their middle folded, unless asked for whole; a herd folds to
// what the view can show, and so does a queue where it shows one line.
constexpr int chainFoldAbove = 20;

[[nodiscard]] ChainPicture layOutChain(const inspect::LockSnapshot &lock, const ChainFacts &facts, SystemTime now,
                                       QSizeF view, bool whole);

class WatchChainView : public BoxView {
    Q_OBJECT
public:
    explicit WatchChainView(QWidget *parent = nullptr);

    void setClock(std::function<SystemTime()> clock) { m_clock = std::move(clock); }
    // A change of lock goes back to the folded view.
    void setSnapshot(std::shared_ptr<const inspect::LockSnapshot> lock);
    void tick() { layOut(); }
    void setCurrentContender(const QByteArray &id);
    void setWhole(bool whole);
    [[nodiscard]] bool isWhole() const { return m_whole; }
    [[nodiscard]] const ChainPicture &chain() const { return m_chain; }

signals:
    void chosen(const QByteArray &contender);
    // By the mouse, the Menu key or Shift+F10.
    void menuRequested(const QByteArray &contender, const QPoint &at);
    void captionChanged(const QString &caption);
    // The number of contenders folded away, or that fold would be possible.
    void foldChanged();

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    [[nodiscard]] int boxCount() const override { return static_cast<int>(m_chain.boxes.size()); }
    [[nodiscard]] QRectF boxOf(int box) const override { return at(box).box; }
    [[nodiscard]] QString tipOf(int box) const override;
    void setZoom(qreal zoom) override;
    void layOut();
    void select(int box, bool tell);
    [[nodiscard]] int currentBox() const; // -1 for none
    [[nodiscard]] const ChainBox &at(int box) const { return m_chain.boxes[static_cast<std::size_t>(box)]; }

    std::shared_ptr<const inspect::LockSnapshot> m_lock = std::make_shared<inspect::LockSnapshot>();
    ChainFacts m_facts = chainFactsOf(*m_lock);
    ChainPicture m_chain;
    QByteArray m_current;
    bool m_whole = false;
    std::function<SystemTime()> m_clock = [] { return programClock().now(); };
};

} // namespace lockscope::ui
