// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/dotlayout.h"

#include <QByteArray>
#include <QString>

#include <clocale>
#include <mutex>

#include <gvc.h>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr qreal pointsPerInch = 72;

char *text(const char *words)
{
    return const_cast<char *>(words); // it writes to none of them
}

void set(void *object, const char *name, const QByteArray &value)
{
    agsafeset(object, text(name), text(value.constData()), text(""));
}

// Numbers have points, whatever the user's language; for this thread alone.
class PlainNumbers {
public:
    PlainNumbers() : m_plain(newlocale(LC_ALL_MASK, "C", nullptr)), m_before(uselocale(m_plain)) {}
    PlainNumbers(const PlainNumbers &) = delete;
    PlainNumbers &operator=(const PlainNumbers &) = delete;
    ~PlainNumbers()
    {
        uselocale(m_before);
        freelocale(m_plain);
    }

private:
    locale_t m_plain;
    locale_t m_before;
};

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
    explicit DotRun(const DotGraph &asked) : m_graph(agopen(text("waits"), Agdirected, nullptr))
    {
        set(m_graph, "rankdir", "LR");
        set(m_graph, "nodesep", "0.2");
        set(m_graph, "ranksep", "0.75");
        for (std::size_t i = 0; i < asked.boxes.size(); ++i) {
            auto *node = agnode(m_graph, text(QByteArray::number(qulonglong(i)).constData()), 1);
            set(node, "shape", "box");
            set(node, "label", "");
            set(node, "fixedsize", "true");
            set(node, "width", QByteArray::number(asked.boxes[i].width() / pointsPerInch, 'f', 4));
            set(node, "height", QByteArray::number(asked.boxes[i].height() / pointsPerInch, 'f', 4));
            m_nodes.push_back(node);
        }
        for (std::size_t i = 0; i < asked.lines.size(); ++i) {
            const auto [from, to] = asked.lines[i];
            m_edges.push_back(line(from, to, 'e' + QByteArray::number(qulonglong(i))));
        }
        for (std::size_t i = 0; i < asked.columns.size(); ++i)
            keepInOrder(asked.columns[i], static_cast<int>(i));
    }
    DotRun(const DotRun &) = delete;
    DotRun &operator=(const DotRun &) = delete;
    ~DotRun()
    {
        if (m_isLaidOut)
            gvFreeLayout(context(), m_graph);
        agclose(m_graph);
    }

    Result<DotPlaces> places()
    {
        if (gvLayout(context(), m_graph, "dot") != 0)
            return Error{ErrorCode::Unsupported, u"Graphviz has no layout \"dot\" here"_s};
        m_isLaidOut = true;
        const auto frame = GD_bb(m_graph);
        const auto place = [&frame](pointf at) { return QPointF(at.x - frame.LL.x, frame.UR.y - at.y); };
        DotPlaces places;
        places.size = {frame.UR.x - frame.LL.x, frame.UR.y - frame.LL.y};
        for (auto *node : m_nodes)
            places.centres.push_back(place(ND_coord(node)));
        for (auto *edge : m_edges) {
            auto &points = places.lines.emplace_back();
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
        auto *edge = agedge(m_graph, m_nodes[static_cast<std::size_t>(from)], m_nodes[static_cast<std::size_t>(to)],
                            text(key.constData()), 1);
        set(edge, "dir", "none");
        return edge;
    }
    void keepInOrder(const std::vector<int> &column, int number)
    {
        auto *same = agsubg(m_graph, text(("column" + QByteArray::number(number)).constData()), 1);
        set(same, "rank", "same");
        for (std::size_t i = 0; i < column.size(); ++i) {
            agsubnode(same, m_nodes[static_cast<std::size_t>(column[i])], 1);
            if (i == 0)
                continue;
            auto *order = line(column[i - 1], column[i],
                               'o' + QByteArray::number(number) + '-' + QByteArray::number(qulonglong(i)));
            set(order, "style", "invis");
            set(order, "weight", "1"); // without any it is not heeded
        }
    }

    Agraph_t *m_graph;
    std::vector<Agnode_t *> m_nodes;
    std::vector<Agedge_t *> m_edges;
    bool m_isLaidOut = false;
};

} // namespace

Result<DotPlaces> layOutByDot(const DotGraph &graph)
{
    static std::mutex one;
    const std::lock_guard alone(one);
    const PlainNumbers plain;
    if (!context())
        return Error{ErrorCode::Unsupported, u"Graphviz does not start here"_s};
    return DotRun(graph).places();
}

} // namespace lockscope::ui
