// SPDX-License-Identifier: Apache-2.0
// Where the boxes of a graph stand: each connected part laid out by Graphviz, one below or beside the other. What
// was there before keeps its order, above and below, and its place from left to right, so that somebody else's
// coming moves nothing past anything else. Any thread but the window's, one at a time.
#pragma once

#include "core/base/result.h"
#include "ui/graph/dotgraph.h"
#include "ui/graph/graphpicture.h"

#include <QPainterPath>

#include <limits>
#include <map>
#include <stop_token>

namespace lockscope::ui {

// Smaller than that, its smallest letters, of 11 pixels, would have less than 9.
constexpr qreal leastReadableZoom = 9.0 / 11;

struct GraphLine {
    QPainterPath path;  // of the holds: from the lock; of the waits: from the client
    QPointF tip;        // where it ends
    qreal tipAngle = 0; // degrees, the way it comes in
};

struct GraphLayout {
    std::vector<QRectF> boxes;    // by node of the picture
    std::vector<GraphLine> lines; // by arc
    QSizeF size;
};

class GraphLayouter {
public:
    // No wider than that, where a part of it is not; or as much wider as it takes to stay in that shape, up to what
    // can still be read when it is made smaller. What is too high even so is that wide: it scrolls up and down.
    // `stop` ends it, with ErrorCode::Cancelled.
    [[nodiscard]] Result<GraphLayout> layOut(const GraphPicture &picture, qreal width,
                                             qreal height = std::numeric_limits<qreal>::max(),
                                             const std::stop_token &stop = {});

private:
    // Of one part: by the places in `nodes` and `arcs`.
    struct Part {
        std::vector<int> nodes, arcs;
        QByteArray content; // the same content has the same layout
    };
    struct PlaceBefore {
        int place = 0; // of its part, among the others
        qreal left = 0;
    };
    enum class Places { Kept, Anew };
    [[nodiscard]] std::vector<Part> partsOf(const GraphPicture &picture) const;
    // The places of those parts, in order of each part's nodes and arcs.
    [[nodiscard]] Result<QList<DotPlaces>> placesOf(const GraphPicture &picture, const std::vector<Part> &parts,
                                                    const std::stop_token &stop) const;
    // The top left of each part, all of them in that width, or as they fit into the view; they are in m_placed.
    [[nodiscard]] std::vector<QPointF> packed(const GraphPicture &picture, const std::vector<Part> &parts,
                                              qreal width, Places places) const;
    [[nodiscard]] std::vector<QPointF> fitted(const GraphPicture &picture, const std::vector<Part> &parts,
                                              QSizeF view) const;
    [[nodiscard]] GraphLayout drawn(const GraphPicture &picture, const std::vector<Part> &parts,
                                    const std::vector<QPointF> &corners) const;

    std::map<QByteArray, DotPlaces> m_placed;       // of the last layout, by content
    std::map<QByteArray, QPointF> m_before;         // centres, by the key of the node
    std::map<QByteArray, PlaceBefore> m_partBefore; // by the key of the node
};

// Beside others, what is connected has shorter boxes: two of them then stand side by side at a size that can be read.
[[nodiscard]] QSizeF boxSizeOf(const GraphNode &node, bool isAlone);

} // namespace lockscope::ui
