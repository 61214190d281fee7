// SPDX-License-Identifier: Apache-2.0
#include "ui/models/queuerails.h"

#include <QHash>

#include <algorithm>
#include <map>

namespace lockscope::ui {

using inspect::Evidence;

namespace {

constexpr int beforeTheFirst = -1;     // the children of the queue's directory, which no row stands for
constexpr std::size_t mostRuns = 2000; // beyond, lines that skip rows are not drawn: they would tell nothing

// All that watch one target from further away.
struct Run {
    int target = 0;
    int from = 0, to = 0;
    std::vector<std::pair<int, RailPart>> watchers;
};

RailPart partOf(Evidence evidence)
{
    return evidence == Evidence::Server ? RailPart::Seen : RailPart::Inferred;
}

void draw(const Run &run, std::size_t lane, std::vector<RailRow> &rows)
{
    const bool isSeen =
        std::ranges::all_of(run.watchers, [](const auto &watcher) { return watcher.second == RailPart::Seen; });
    const auto part = isSeen ? RailPart::Seen : RailPart::Inferred;
    for (int row = std::max(0, run.from); row <= run.to; ++row) {
        auto &at = rows[static_cast<std::size_t>(row)].lanes[lane];
        at.above = row > run.from ? part : at.above;
        at.below = row < run.to ? part : at.below;
    }
    for (const auto &[row, evidence] : run.watchers)
        rows[static_cast<std::size_t>(row)].lanes[lane].tick = evidence;
    if (run.target != beforeTheFirst) {
        auto &target = rows[static_cast<std::size_t>(run.target)].lanes[lane];
        target.tick = part;
        target.isTarget = true;
    }
}

} // namespace

std::vector<RailRow> railsOf(const inspect::LockSnapshot &lock)
{
    std::vector<RailRow> rows(lock.contenders.size());
    QHash<QByteArray, int> places;
    places.reserve(std::ssize(lock.contenders));
    for (std::size_t row = 0; row < rows.size(); ++row)
        places.insert(lock.contenders[row].id, static_cast<int>(row));
    std::map<int, Run> runs;
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        for (const auto &watch : lock.contenders[static_cast<std::size_t>(row)].watches) {
            const int target = watch.children ? beforeTheFirst : places.value(watch.target, row);
            const auto part = partOf(watch.evidence);
            if (target == row)
                continue; // itself, or one that is not in the queue
            if (!watch.children && target == row - 1) {
                rows[static_cast<std::size_t>(row)].up = part;
                rows[static_cast<std::size_t>(target)].down = part;
                continue;
            }
            auto &run = runs.try_emplace(target, Run{target, target, target, {}}).first->second;
            run.from = std::min(run.from, row);
            run.to = std::max(run.to, row);
            run.watchers.emplace_back(row, part);
        }
    }
    if (runs.size() > mostRuns)
        return rows;
    std::vector<const Run *> ordered;
    for (const auto &[target, run] : runs)
        ordered.push_back(&run);
    std::ranges::stable_sort(ordered, {}, &Run::from);
    std::array<int, RailRow::laneCount> free{beforeTheFirst - 1, beforeTheFirst - 1, beforeTheFirst - 1};
    for (const auto *run : ordered) {
        std::size_t lane = 0;
        while (lane + 1 < free.size() && free[lane] >= run->from)
            ++lane;
        free[lane] = std::max(free[lane], run->to);
        draw(*run, lane, rows);
    }
    return rows;
}

} // namespace lockscope::ui
