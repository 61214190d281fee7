// SPDX-License-Identifier: Apache-2.0
// lockscope-graph-layout, which the window runs for its graphs (ui/graph/dotlayout.h says why it is a program):
// graphs on stdin, their places on stdout. It stays in the C locale, as dot's numbers have points.
#include "app/graphlayout/dot.h"

#include <QFile>

#include <cstdio>
#include <utility>

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
