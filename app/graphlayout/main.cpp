// SPDX-License-Identifier: Apache-2.0
// lockscope-graph-layout, which the window runs for its graphs (ui/graph/dotgraph.h says why it is a program):
// graphs on stdin, their places on stdout. It stays in the C locale, as dot's numbers have points.
#include "ui/graph/dotgraph.h"

#include <QByteArray>
#include <QFile>

#include <gvc.h>

#include <cstdio>

namespace lockscope {

namespace {

// Graphviz' "dot", as a library. One thread: libgvc has state of its own.

constexpr qreal pointsPerInch = 72;

char *text(const char *words)
{
    return const_cast<char *>(words); // it writes to none of them
}

void set(void *object, const char *name, const QByteArray &value)
{
    agsafeset(object, text(name), text(value.constData()), text(""));
}

int swallow(char *)
{
    return 0;
}

// Made once: it reads which plugins there are. Kept for as long as the program runs.
GVC_t *context()
{
    static GVC_t *const one = [] {
        agseterrf(swallow);
        return gvContext();
    }();
    return one;
}

class DotRun {
public:
    explicit DotRun(const ui::DotGraph &asked) : m_graph(agopen(text("waits"), Agdirected, nullptr))
    {
        set(m_graph, "rankdir", "LR");
        set(m_graph, "nodesep", "0.2");
        set(m_graph, "ranksep", "0.5");
        for (qsizetype i = 0; i < asked.boxes.size(); ++i) {
            auto *node = agnode(m_graph, text(QByteArray::number(i).constData()), 1);
            set(node, "shape", "box");
            set(node, "label", "");
            set(node, "fixedsize", "true");
            set(node, "width", QByteArray::number(asked.boxes[i].width() / pointsPerInch, 'f', 4));
            set(node, "height", QByteArray::number(asked.boxes[i].height() / pointsPerInch, 'f', 4));
            m_nodes.push_back(node);
        }
        for (qsizetype i = 0; i < asked.lines.size(); ++i) {
            const auto [from, to] = asked.lines[i];
            m_edges.push_back(line(from, to, 'e' + QByteArray::number(i)));
        }
        for (qsizetype i = 0; i < asked.columns.size(); ++i)
            keepInOrder(asked.columns[i], i);
    }
    Q_DISABLE_COPY(DotRun)
    ~DotRun()
    {
        if (m_isLaidOut)
            gvFreeLayout(context(), m_graph);
        agclose(m_graph);
    }

    Result<ui::DotPlaces> places()
    {
        if (gvLayout(context(), m_graph, "dot") != 0)
            return Error{ErrorCode::Unsupported, u"Graphviz has no layout \"dot\" here"_s};
        m_isLaidOut = true;
        const auto frame = GD_bb(m_graph);
        const auto place = [&frame](pointf at) { return QPointF(at.x - frame.LL.x, frame.UR.y - at.y); };
        ui::DotPlaces places;
        places.size = {frame.UR.x - frame.LL.x, frame.UR.y - frame.LL.y};
        for (auto *node : m_nodes)
            places.centres.push_back(place(ND_coord(node)));
        for (auto *edge : m_edges) {
            auto &points = places.lines.emplaceBack();
            const auto *splines = ED_spl(edge);
            if (!splines || splines->size == 0)
                continue;
            const auto &curve = splines->list[0];
            for (int i = 0; i < curve.size; ++i)
                points.push_back(place(curve.list[i]));
        }
        return places;
    }

private:
    Agedge_t *line(int from, int to, const QByteArray &key)
    {
        auto *edge = agedge(m_graph, m_nodes.at(from), m_nodes.at(to), text(key.constData()), 1);
        set(edge, "dir", "none");
        return edge;
    }
    void keepInOrder(const QList<qint32> &column, qsizetype number)
    {
        auto *same = agsubg(m_graph, text(("column" + QByteArray::number(number)).constData()), 1);
        set(same, "rank", "same");
        for (qsizetype i = 0; i < column.size(); ++i) {
            agsubnode(same, m_nodes.at(column[i]), 1);
            if (i == 0)
                continue;
            auto *order =
                line(column[i - 1], column[i], 'o' + QByteArray::number(number) + '-' + QByteArray::number(i));
            set(order, "style", "invis");
            set(order, "weight", "1"); // without any it is not heeded
        }
    }

    Agraph_t *m_graph;
    QList<Agnode_t *> m_nodes;
    QList<Agedge_t *> m_edges;
    bool m_isLaidOut = false;
};

Result<ui::DotPlaces> placesByDot(const ui::DotGraph &graph)
{
    if (!context())
        return Error{ErrorCode::Unsupported, u"Graphviz does not start here"_s};
    return DotRun(graph).places();
}

} // namespace

} // namespace lockscope

using namespace lockscope;

int main()
{
    QFile in, out;
    if (!in.open(stdin, QIODevice::ReadOnly) || !out.open(stdout, QIODevice::WriteOnly))
        return 1;
    QDataStream from(&in);
    from.setVersion(ui::dotStreamVersion);
    QList<ui::DotGraph> graphs;
    from >> graphs;
    if (from.status() != QDataStream::Ok) {
        std::fputs("this program is run by lockscope: it reads graphs as that writes them\n", stderr);
        return 1;
    }
    QList<ui::DotPlaces> all;
    for (const auto &graph : std::as_const(graphs)) {
        auto places = placesByDot(graph);
        if (!places) {
            std::fprintf(stderr, "%s\n", qPrintable(places.error().message));
            return 1;
        }
        all.push_back(std::move(*places));
    }
    QDataStream to(&out);
    to.setVersion(ui::dotStreamVersion);
    to << all;
    return out.flush() && to.status() == QDataStream::Ok ? 0 : 1;
}
