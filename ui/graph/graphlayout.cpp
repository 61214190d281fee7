// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphlayout.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QLineF>
#include <QProcess>

#include <cmath>
#include <tuple>

namespace lockscope::ui {

namespace {

constexpr qreal margin = 16;
constexpr qreal partGap = 26;
constexpr qreal columnGap = 40;
constexpr qreal boxHeight = 46;
constexpr qreal leastWidth = 130;
constexpr qreal mostWidth = 330;                                // of a name: what is known of it stands there whole
constexpr qreal mostWidthOfLock = 280, mostWidthOfClient = 200; // beside others

int rankOf(const GraphPicture &picture, const std::vector<int> &nodes)
{
    int rank = 3;
    for (const int one : nodes) {
        const auto &node = picture.nodes[static_cast<std::size_t>(one)];
        rank = std::min(rank, node.mark == GraphNode::Mark::Cycle ? 0 : node.mark == GraphNode::Mark::Root ? 1 : 2);
    }
    return rank;
}

DotGraph dotGraphOf(const GraphPicture &picture, const std::vector<int> &nodes, const std::vector<int> &arcs,
                    bool isAlone)
{
    DotGraph graph;
    std::map<int, qint32> number;
    for (const int node : nodes) {
        number.emplace(node, static_cast<qint32>(graph.boxes.size()));
        graph.boxes.push_back(boxSizeOf(picture.nodes[static_cast<std::size_t>(node)], isAlone));
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

std::shared_ptr<GraphSight> sightOf(const GraphQuestion &question, GraphLayouter &layouter,
                                    const std::stop_token &stop)
{
    auto sight = std::make_shared<GraphSight>();
    const auto facts = graphFactsOf(question.locks, question.labels, question.now);
    sight->heading = headingOf(facts);
    sight->picture = graphPictureOf(facts, question.choice);
    if (sight->heading.client)
        sight->subject =
            sight->picture.find(keyOfClient(facts.graph.clients[static_cast<std::size_t>(*sight->heading.client)]));
    sight->waiting = facts.graph.waiting();
    sight->held = facts.graph.held();
    sight->isCycleOpen = facts.isCycleOpen;
    sight->unseenWaiters = facts.unseenWaiters;
    auto layout = layouter.layOut(sight->picture, question.width, question.height, stop);
    if (layout)
        sight->layout = std::move(*layout);
    else
        sight->failure = layout.error().message;
    return sight;
}

// Where it was installed; then where it is built, beside the window and for tests.
Result<QString> layoutProgram()
{
    const QString here = QCoreApplication::applicationDirPath();
    const QString installed = u"" LOCKSCOPE_LAYOUT_FOLDER ""_s;
    for (const auto &place : {installed, u"../graphlayout"_s, u"../../app/graphlayout"_s}) {
        const QFileInfo file(here + u'/' + place + u"/lockscope-graph-layout"_s);
        if (file.isExecutable())
            return file.canonicalFilePath();
    }
    return Error{ErrorCode::Unsupported, u"the program that lays graphs out is not there: %1"_s.arg(QDir::cleanPath(
                                             here + u'/' + installed + u"/lockscope-graph-layout"_s))};
}

bool answersAll(const QList<DotGraph> &graphs, const QList<DotPlaces> &places)
{
    if (places.size() != graphs.size())
        return false;
    for (qsizetype i = 0; i < places.size(); ++i) {
        if (places[i].centres.size() != graphs[i].boxes.size() || places[i].lines.size() != graphs[i].lines.size())
            return false;
    }
    return true;
}

} // namespace

QSizeF boxSizeOf(const GraphNode &node, bool isAlone)
{
    // A letter, about, and what else stands in the line; a lock's name is in another font, and its box has corners.
    const bool isLock = node.kind == GraphNode::Kind::Lock;
    const qreal ofTitle = isLock ? 7.3 : 7.0, ofNote = 5.6, beside = isLock ? 28 : 44;
    const qreal ofMark = node.mark == GraphNode::Mark::None ? 0 : 16; // before the name
    const auto most = isAlone ? mostWidth : isLock ? mostWidthOfLock : mostWidthOfClient;
    const auto ofName = std::min(ofTitle * qreal(node.title.size()) + beside + ofMark, most);
    const auto width = std::max(ofName, ofNote * qreal(node.note.size()) + beside);
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
            const auto width = static_cast<int>(boxSizeOf(node, parts.size() == 1).width());
            part.content += node.key + '\n' + QByteArray::number(width) + '\n';
        }
        for (const int one : part.arcs) {
            const auto &arc = picture.arcs[static_cast<std::size_t>(one)];
            part.content += picture.nodes[static_cast<std::size_t>(arc.client)].key
                            + (arc.holds ? " holds " : " waits ")
                            + picture.nodes[static_cast<std::size_t>(arc.lock)].key + '\n';
        }
        all.push_back(std::move(part));
    }
    // Deadlocks first, then who holds others up; of one kind what was there before, as it stood, then what is new,
    // the largest first.
    const auto before = [&](const Part &part) {
        int place = std::numeric_limits<int>::max();
        for (const int one : part.nodes) {
            const auto known = m_partBefore.find(picture.nodes[static_cast<std::size_t>(one)].key);
            place = known == m_partBefore.end() ? place : std::min(place, known->second.place);
        }
        return place;
    };
    std::ranges::stable_sort(all, {}, [&](const Part &part) {
        return std::tuple(rankOf(picture, part.nodes), before(part), -static_cast<qsizetype>(part.nodes.size()));
    });
    return all;
}

Result<QList<DotPlaces>> GraphLayouter::placesOf(const GraphPicture &picture, const std::vector<Part> &parts,
                                                 const std::stop_token &stop) const
{
    QList<DotGraph> graphs;
    for (const auto &part : parts)
        graphs.push_back(dotGraphOf(picture, part.nodes, part.arcs, part.nodes.size() == picture.nodes.size()));
    auto places = layOutByDot(graphs, stop);
    if (!places)
        return places.error();
    QList<DotGraph> again;
    std::vector<qsizetype> whose;
    for (qsizetype i = 0; i < graphs.size(); ++i) {
        std::vector<std::optional<QPointF>> before;
        for (const int node : parts[static_cast<std::size_t>(i)].nodes) {
            const auto known = m_before.find(picture.nodes[static_cast<std::size_t>(node)].key);
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

// Each as high as it can stand, and there as far to the left; what was there before keeps its left edge where it can.
std::vector<QPointF> GraphLayouter::packed(const GraphPicture &picture, const std::vector<Part> &parts, qreal width,
                                           Places places) const
{
    std::vector<QRectF> rects;
    std::vector<QPointF> corners;
    const auto topAt = [&rects](qreal left, QSizeF size) { // between others, too
        std::vector<std::pair<qreal, qreal>> taken;
        for (const auto &other : rects) {
            if (other.left() < left + size.width() + columnGap && left < other.right() + columnGap)
                taken.emplace_back(other.top() - partGap, other.bottom() + partGap);
        }
        std::ranges::sort(taken);
        qreal top = margin;
        for (const auto &[from, to] : taken) {
            if (top + size.height() <= from)
                break;
            top = std::max(top, to);
        }
        return top;
    };
    for (const auto &part : parts) {
        const auto size = m_placed.at(part.content).size;
        const auto &key = picture.nodes[static_cast<std::size_t>(part.nodes.front())].key;
        const auto known = m_partBefore.find(key);
        const auto hasRoom = [&](qreal left) { return left + size.width() + margin <= width; };
        std::vector<qreal> lefts{margin};
        if (places == Places::Kept && known != m_partBefore.end() && hasRoom(known->second.left)) {
            lefts = {known->second.left};
        } else {
            for (const auto &other : rects) {
                if (hasRoom(other.right() + columnGap))
                    lefts.push_back(other.right() + columnGap);
            }
        }
        QPointF best(lefts.front(), topAt(lefts.front(), size));
        for (const qreal left : lefts) {
            const qreal top = topAt(left, size);
            if (std::pair(top, left) < std::pair(best.y(), best.x()))
                best = {left, top};
        }
        rects.emplace_back(best, size);
        corners.push_back(best);
    }
    return corners;
}

GraphLayout GraphLayouter::drawn(const GraphPicture &picture, const std::vector<Part> &parts,
                                 const std::vector<QPointF> &corners) const
{
    GraphLayout layout;
    layout.boxes.resize(picture.nodes.size());
    layout.lines.resize(picture.arcs.size());
    for (std::size_t number = 0; number < parts.size(); ++number) {
        const auto &part = parts[number];
        const auto &one = m_placed.at(part.content);
        const auto at = corners[number];
        for (std::size_t i = 0; i < part.nodes.size(); ++i) {
            const auto node = static_cast<std::size_t>(part.nodes[i]);
            QRectF box(QPointF(), boxSizeOf(picture.nodes[node], parts.size() == 1));
            box.moveCenter(at + one.centres[static_cast<qsizetype>(i)]);
            layout.boxes[node] = box;
        }
        for (std::size_t i = 0; i < part.arcs.size(); ++i) {
            const auto line = static_cast<std::size_t>(part.arcs[i]);
            const auto &arc = picture.arcs[line];
            auto points = one.lines[static_cast<qsizetype>(i)];
            for (auto &point : points)
                point += at;
            const auto &client = layout.boxes[static_cast<std::size_t>(arc.client)];
            const auto &lock = layout.boxes[static_cast<std::size_t>(arc.lock)];
            layout.lines[line] = lineOf(std::move(points), arc.holds ? lock : client, arc.holds ? client : lock);
        }
        layout.size =
            layout.size.expandedTo({at.x() + one.size.width() + margin, at.y() + one.size.height() + margin});
    }
    return layout;
}

std::vector<QPointF> GraphLayouter::fitted(const GraphPicture &picture, const std::vector<Part> &parts,
                                           QSizeF view) const
{
    std::vector<QPointF> corners;
    const auto heightIn = [&](qreal width, Places places) {
        corners = packed(picture, parts, width, places);
        qreal bottom = 0;
        for (std::size_t i = 0; i < parts.size(); ++i)
            bottom = std::max(bottom, corners[i].y() + m_placed.at(parts[i].content).size.height());
        return bottom + margin;
    };
    constexpr qreal most = 1 / leastReadableZoom;
    for (const qreal factor : {1.0, 1.1, most}) {
        for (const auto places : {Places::Kept, Places::Anew}) {
            if (heightIn(view.width() * factor, places) <= view.height() * factor)
                return corners;
        }
    }
    // It scrolls in any case: all that was there before moves only where that makes it much shorter.
    constexpr qreal muchHigher = 1.2;
    const auto least = heightIn(view.width() * most, Places::Anew);
    const auto anew = corners;
    return heightIn(view.width() * most, Places::Kept) > least * muchHigher ? anew : corners;
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
        TRY(auto &places, placesOf(picture, fresh, stop));
        for (std::size_t i = 0; i < fresh.size(); ++i)
            placed.insert_or_assign(fresh[i].content, std::move(places[static_cast<qsizetype>(i)]));
    }
    m_placed = std::move(placed);
    const auto corners = fitted(picture, parts, {width, height});
    auto layout = drawn(picture, parts, corners);
    m_before.clear();
    m_partBefore.clear();
    for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
        const PlaceBefore place{i, corners[static_cast<std::size_t>(i)].x()};
        for (const int node : parts[static_cast<std::size_t>(i)].nodes)
            m_partBefore.insert_or_assign(picture.nodes[static_cast<std::size_t>(node)].key, place);
    }
    for (std::size_t i = 0; i < picture.nodes.size(); ++i)
        m_before.insert_or_assign(picture.nodes[i].key, layout.boxes[i].center());
    return layout;
}

GraphMaker::GraphMaker(QObject *parent) : QObject(parent), m_layouter(std::make_shared<GraphLayouter>())
{
    m_worker.setMaxThreadCount(1);
}

GraphMaker::~GraphMaker()
{
    m_stop.request_stop();
    m_worker.waitForDone();
}

void GraphMaker::make(GraphQuestion question)
{
    if (m_isBusy)
        m_next = std::move(question);
    else
        begin(std::move(question));
}

void GraphMaker::begin(GraphQuestion question)
{
    m_isBusy = true;
    auto asked = std::make_shared<const GraphQuestion>(std::move(question));
    m_worker.start([this, asked, layouter = m_layouter, stop = m_stop.get_token()] {
        QElapsedTimer timer;
        timer.start();
        std::shared_ptr<const GraphSight> sight = sightOf(*asked, *layouter, stop);
        const std::chrono::milliseconds took(timer.elapsed());
        QMetaObject::invokeMethod(
            this,
            [this, sight, took] {
                m_took = took;
                m_isBusy = false;
                if (m_next)
                    begin(*std::exchange(m_next, std::nullopt));
                emit made(sight);
            },
            Qt::QueuedConnection);
    });
}

Result<QList<DotPlaces>> layOutByDot(const QList<DotGraph> &graphs, const std::stop_token &stop)
{
    TRY(const auto &program, layoutProgram());
    return layOutBy(program, graphs, stop);
}

Result<QList<DotPlaces>> layOutBy(const QString &program, const QList<DotGraph> &graphs, const std::stop_token &stop)
{
    QProcess process;
    process.start(program, {});
    QByteArray asked;
    QDataStream to(&asked, QIODevice::WriteOnly);
    to.setVersion(dotStreamVersion);
    to << graphs;
    process.write(asked);
    process.closeWriteChannel();
    const QDeadlineTimer end(20s);
    while (process.state() != QProcess::NotRunning && !process.waitForFinished(50)) {
        if (process.state() == QProcess::NotRunning || (!stop.stop_requested() && !end.hasExpired()))
            continue;
        process.kill();
        process.waitForFinished();
        return Error{stop.stop_requested() ? ErrorCode::Cancelled : ErrorCode::TimedOut,
                     u"Graphviz took over 20 s to lay this graph out, and was stopped"_s};
    }
    const bool isStarted = process.error() != QProcess::FailedToStart;
    if (!isStarted || process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
        const auto said = QString::fromUtf8(process.readAllStandardError()).trimmed();
        return Error{ErrorCode::Unsupported, u"Graphviz (%1) could not lay this graph out: %2"_s.arg(
                                                 program, said.isEmpty() ? process.errorString() : said)};
    }
    QDataStream from(process.readAllStandardOutput());
    from.setVersion(dotStreamVersion);
    QList<DotPlaces> places;
    from >> places;
    if (from.status() != QDataStream::Ok || !answersAll(graphs, places))
        return Error{ErrorCode::Unsupported, u"%1 answered something else than what it was asked"_s.arg(program)};
    return places;
}

} // namespace lockscope::ui

#include "moc_graphlayout.cpp"
