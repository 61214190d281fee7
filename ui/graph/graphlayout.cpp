// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphlayout.h"

#include "ui/graph/dotlayout.h"

#include <QLineF>

#include <algorithm>
#include <cmath>

namespace lockscope::ui {

namespace {

constexpr qreal margin = 20;
constexpr qreal partGap = 34;
constexpr qreal factorOfWhatScrolls = 1.2;
constexpr qreal boxHeight = 46;
constexpr qreal leastWidth = 130;
constexpr qreal mostWidth = 330;

int rankOf(const GraphPicture &picture, const std::vector<int> &nodes)
{
    int rank = 3;
    for (const int one : nodes) {
        const auto &node = picture.nodes[static_cast<std::size_t>(one)];
        rank = std::min(rank, node.mark == GraphNode::Mark::Cycle ? 0 : node.mark == GraphNode::Mark::Root ? 1 : 2);
    }
    return rank;
}

DotGraph dotGraphOf(const GraphPicture &picture, const std::vector<int> &nodes, const std::vector<int> &arcs)
{
    DotGraph graph;
    std::map<int, qint32> number;
    for (const int one : nodes) {
        number.emplace(one, static_cast<qint32>(graph.boxes.size()));
        graph.boxes.push_back(boxSizeOf(picture.nodes[static_cast<std::size_t>(one)]));
    }
    for (const int one : arcs) {
        // From who is in the way to who waits: whoever blocks stands at the left, where reading begins.
        const auto &arc = picture.arcs[static_cast<std::size_t>(one)];
        const qint32 client = number.at(arc.client), lock = number.at(arc.lock);
        graph.lines.emplace_back(arc.holds ? client : lock, arc.holds ? lock : client);
    }
    return graph;
}

// The columns of a layout, those that were there before in the order that they had; empty if they have it anyway.
QList<QList<qint32>> columnsToKeep(const DotPlaces &places, const std::vector<std::optional<QPointF>> &before)
{
    std::map<long, QList<qint32>> columns;
    for (qsizetype i = 0; i < places.centres.size(); ++i) {
        if (before[static_cast<std::size_t>(i)])
            columns[std::lround(places.centres[i].x())].push_back(static_cast<qint32>(i));
    }
    const auto y = [&places](qint32 one) { return places.centres[one].y(); };
    const auto yBefore = [&before](qint32 one) { return before[static_cast<std::size_t>(one)]->y(); };
    bool isKept = true;
    QList<QList<qint32>> all;
    for (auto &[x, column] : columns) {
        std::ranges::stable_sort(column, {}, yBefore);
        isKept = isKept && std::ranges::is_sorted(column, {}, y);
        all.push_back(std::move(column));
    }
    return isKept ? QList<QList<qint32>>() : all;
}

GraphLine lineOf(QList<QPointF> points, const QRectF &from, const QRectF &to)
{
    GraphLine line;
    if (points.size() < 4) // none was drawn
        points = {from.center(), from.center(), to.center(), to.center()};
    const auto distance = [](QPointF a, QPointF b) { return QLineF(a, b).length(); };
    if (distance(points.front(), from.center()) + distance(points.back(), to.center())
        > distance(points.back(), from.center()) + distance(points.front(), to.center()))
        std::ranges::reverse(points);
    line.path.moveTo(points[0]);
    for (qsizetype i = 3; i < points.size(); i += 3)
        line.path.cubicTo(points[i - 2], points[i - 1], points[i]);
    line.tip = points.back();
    line.tipAngle = -line.path.angleAtPercent(0.98);
    return line;
}

} // namespace

QSizeF boxSizeOf(const GraphNode &node)
{
    constexpr qreal ofTitle = 7.4, ofNote = 6.4, beside = 44; // a letter, about, and what else stands in the line
    const auto width = std::max(ofTitle * qreal(node.title.size()), ofNote * qreal(node.note.size())) + beside;
    // In steps: a second more of waiting is no other layout.
    constexpr qreal step = 20;
    return {std::clamp(std::ceil(width / step) * step, leastWidth, mostWidth), boxHeight};
}

std::vector<GraphLayouter::Part> GraphLayouter::partsOf(const GraphPicture &picture) const
{
    std::vector<int> parent(picture.nodes.size());
    for (std::size_t i = 0; i < parent.size(); ++i)
        parent[i] = static_cast<int>(i);
    const auto root = [&parent](int at) {
        while (parent[static_cast<std::size_t>(at)] != at)
            at = parent[static_cast<std::size_t>(at)] =
                parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(at)])];
        return at;
    };
    for (const auto &arc : picture.arcs) {
        const int a = root(arc.client), b = root(arc.lock);
        parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
    std::map<int, Part> parts;
    for (int i = 0; i < static_cast<int>(parent.size()); ++i)
        parts[root(i)].nodes.push_back(i);
    for (int i = 0; i < static_cast<int>(picture.arcs.size()); ++i)
        parts[root(picture.arcs[static_cast<std::size_t>(i)].client)].arcs.push_back(i);
    std::vector<Part> all;
    for (auto &[first, part] : parts) {
        for (const int one : part.nodes) {
            const auto &node = picture.nodes[static_cast<std::size_t>(one)];
            part.content += node.key + '\n' + QByteArray::number(static_cast<int>(boxSizeOf(node).width())) + '\n';
        }
        for (const int one : part.arcs) {
            const auto &arc = picture.arcs[static_cast<std::size_t>(one)];
            part.content += picture.nodes[static_cast<std::size_t>(arc.client)].key
                            + (arc.holds ? " holds " : " waits ")
                            + picture.nodes[static_cast<std::size_t>(arc.lock)].key + '\n';
        }
        all.push_back(std::move(part));
    }
    // Deadlocks first, then who holds others up; of one kind what was there before, as it stood, then what is new.
    const auto before = [&](const Part &part) {
        int place = std::numeric_limits<int>::max();
        for (const int one : part.nodes) {
            const auto known = m_partBefore.find(picture.nodes[static_cast<std::size_t>(one)].key);
            place = known == m_partBefore.end() ? place : std::min(place, known->second);
        }
        return place;
    };
    std::ranges::stable_sort(all, {},
                             [&](const Part &part) { return std::pair(rankOf(picture, part.nodes), before(part)); });
    return all;
}

Result<QList<DotPlaces>> GraphLayouter::placesOf(const GraphPicture &picture, const std::vector<Part> &parts,
                                                 const std::stop_token &stop) const
{
    QList<DotGraph> graphs;
    for (const auto &part : parts)
        graphs.push_back(dotGraphOf(picture, part.nodes, part.arcs));
    auto places = layOutByDot(graphs, stop);
    if (!places)
        return places.error();
    QList<DotGraph> again;
    std::vector<qsizetype> whose;
    for (qsizetype i = 0; i < graphs.size(); ++i) {
        std::vector<std::optional<QPointF>> before;
        for (const int one : parts[static_cast<std::size_t>(i)].nodes) {
            const auto known = m_before.find(picture.nodes[static_cast<std::size_t>(one)].key);
            before.push_back(known == m_before.end() ? std::nullopt : std::optional(known->second));
        }
        graphs[i].columns = columnsToKeep((*places)[i], before);
        if (graphs[i].columns.empty())
            continue;
        again.push_back(graphs[i]);
        whose.push_back(i);
    }
    // What cannot be laid out in the order it had is laid out in another.
    auto kept = again.empty() ? Result<QList<DotPlaces>>(QList<DotPlaces>()) : layOutByDot(again, stop);
    if (kept) {
        for (std::size_t i = 0; i < whose.size(); ++i)
            (*places)[whose[i]] = std::move((*kept)[static_cast<qsizetype>(i)]);
    }
    return places;
}

GraphLayout GraphLayouter::packed(const GraphPicture &picture, const std::vector<Part> &parts, qreal width) const
{
    GraphLayout layout;
    layout.boxes.resize(picture.nodes.size());
    layout.lines.resize(picture.arcs.size());
    QPointF at(margin, margin);
    qreal lineBottom = margin;
    for (const auto &part : parts) {
        const auto &one = m_placed.at(part.content);
        if (at.x() > margin && at.x() + one.size.width() + margin > width)
            at = {margin, lineBottom + partGap};
        for (std::size_t i = 0; i < part.nodes.size(); ++i) {
            const auto number = static_cast<std::size_t>(part.nodes[i]);
            QRectF box(QPointF(), boxSizeOf(picture.nodes[number]));
            box.moveCenter(at + one.centres[static_cast<qsizetype>(i)]);
            layout.boxes[number] = box;
        }
        for (std::size_t i = 0; i < part.arcs.size(); ++i) {
            const auto number = static_cast<std::size_t>(part.arcs[i]);
            const auto &arc = picture.arcs[number];
            auto points = one.lines[static_cast<qsizetype>(i)];
            for (auto &point : points)
                point += at;
            const auto &client = layout.boxes[static_cast<std::size_t>(arc.client)];
            const auto &lock = layout.boxes[static_cast<std::size_t>(arc.lock)];
            layout.lines[number] = lineOf(std::move(points), arc.holds ? lock : client, arc.holds ? client : lock);
        }
        lineBottom = std::max(lineBottom, at.y() + one.size.height());
        layout.size = {std::max(layout.size.width(), at.x() + one.size.width() + margin), lineBottom + margin};
        at.rx() += one.size.width() + partGap * 2;
    }
    return layout;
}

Result<GraphLayout> GraphLayouter::layOut(const GraphPicture &picture, qreal width, qreal height,
                                          const std::stop_token &stop)
{
    const auto parts = partsOf(picture);
    std::map<QByteArray, DotPlaces> placed;
    std::vector<Part> fresh;
    for (const auto &part : parts) {
        const auto known = m_placed.find(part.content);
        if (known != m_placed.end())
            placed.insert(*known);
        else
            fresh.push_back(part);
    }
    if (!fresh.empty()) {
        auto places = placesOf(picture, fresh, stop);
        if (!places)
            return places.error();
        for (std::size_t i = 0; i < fresh.size(); ++i)
            placed.insert_or_assign(fresh[i].content, std::move((*places)[static_cast<qsizetype>(i)]));
    }
    m_placed = std::move(placed);
    GraphLayout layout;
    bool fits = false;
    for (const qreal factor : {1.0, 1.25, 1.5, 1.8}) {
        layout = packed(picture, parts, width * factor);
        fits = layout.size.height() <= height * factor;
        if (fits)
            break;
    }
    if (!fits) // it scrolls in any case: then at a size that reads well
        layout = packed(picture, parts, width * factorOfWhatScrolls);
    m_before.clear();
    m_partBefore.clear();
    for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
        for (const int node : parts[static_cast<std::size_t>(i)].nodes)
            m_partBefore.insert_or_assign(picture.nodes[static_cast<std::size_t>(node)].key, i);
    }
    for (std::size_t i = 0; i < picture.nodes.size(); ++i)
        m_before.insert_or_assign(picture.nodes[i].key, layout.boxes[i].center());
    return layout;
}

} // namespace lockscope::ui
