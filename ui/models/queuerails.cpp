// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "ui/models/queuemodel.h"

#include <QHash>

namespace lockscope::ui {

using inspect::Contender;
using inspect::Evidence;
using inspect::Role;

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

// How many contenders the release of one holder wakes at most, as far as watches tell; and those of them that watch
// the children of the queue.
std::pair<qsizetype, qsizetype> wokenByRelease(const inspect::LockSnapshot &lock)
{
    const auto watchesChildren = [](const Contender &contender) {
        return std::ranges::any_of(contender.watches, &inspect::WatchEdge::children);
    };
    const auto children = std::ranges::count_if(lock.contenders, watchesChildren);
    QHash<QByteArray, qsizetype> watchers; // of one contender, by those that do not watch the children
    for (const auto &contender : lock.contenders) {
        auto targets = mapped<QSet<QByteArray>>(contender.watches, [&](const auto &watch) { return watch.target; });
        for (const auto &target : watchesChildren(contender) ? QSet<QByteArray>() : targets)
            ++watchers[target];
    }
    qsizetype most = 0;
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            most = std::max(most, watchers.value(contender.id));
    }
    const bool isHeld = lock.holderCount() > 0;
    return {isHeld ? most + children : 0, isHeld ? children : 0};
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

QString wakeUpText(const inspect::LockSnapshot &lock)
{
    const auto hasWatches = [](const Contender &contender) { return !contender.watches.isEmpty(); };
    const auto isWaiter = [](const Contender &contender) { return contender.role == Role::Waiter; };
    if (lock.contenders.empty())
        return u"Free: no client holds this lock or waits for it."_s;
    const auto wakeUp = recipes::recipeOf(lock.recipe).wakeUp;
    if (wakeUp == recipes::WakeUp::Message)
        return u"Waiters block on a channel. A release must also publish a message; otherwise they keep waiting."_s;
    if (!lock.waitersKnown)
        return u"No server knows who waits: clients of this recipe ask again and again."_s;
    const auto waiters = std::ranges::count_if(lock.contenders, isWaiter);
    if (waiters == 0)
        return u"No client waits. A release wakes no client."_s;
    if (wakeUp == recipes::WakeUp::Answer)
        return u"Queue: an arrow points at who is ahead of a waiter. The server itself lets the next one in."_s;
    if (std::ranges::none_of(lock.contenders, hasWatches))
        return u"No watch is known: no server said who watches, and the recipe does not tell."_s;
    const auto [woken, children] = wokenByRelease(lock);
    constexpr int herdFrom = 4;
    if (woken >= herdFrom && woken * 2 > waiters)
        return u"Herd: %1 waiters watch %2. One release wakes %1."_s.arg(woken).arg(
            children * 2 > woken ? u"the children of the queue"_s : u"the holder"_s);
    const QString wakes = lock.holderCount() > 1 ? u"A release wakes at most %1."_s : u"One release wakes %1."_s;
    return u"Watch chain: an arrow points at what a waiter watches. "_s + wakes.arg(woken);
}

} // namespace lockscope::ui
