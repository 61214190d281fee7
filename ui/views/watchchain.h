// SPDX-License-Identifier: Apache-2.0
// Where the boxes and arrows of "who watches whom" stand: a pure function of the picture, so that
// it is tested without painting.
#pragma once

#include "ui/models/lockfacts.h"

#include <QPainterPath>
#include <QRectF>

namespace lockscope::ui {

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

} // namespace lockscope::ui
