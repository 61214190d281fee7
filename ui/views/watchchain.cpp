// SPDX-License-Identifier: Apache-2.0
#include "ui/views/watchchainview.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/workspace/values.h"

#include <QHash>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lockscope::ui {

using inspect::Contender;
using inspect::Evidence;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

constexpr qreal lineWidest = 330;
constexpr qreal gapX = 54;
constexpr qreal gapY = 38;
constexpr qreal arcHeight = 20; // of arrows that pass over boxes
constexpr int herdFrom = 4;

// How large things are. A view that has no room for one line of boxes as usual gets lower ones, and no more of them
// than it shows: what is cut through at an edge reads as if it ended there.
struct ChainScale {
    bool isLow;
    qreal margin;
    QSizeF box;
    qreal name;
    qreal line; // one of a herd
    qreal lineGap;
};
constexpr ChainScale usualScale{false, 12, {118, 74}, 19, 26, 5}; // taller, where clients have names
constexpr ChainScale lowScale{true, 6, {118, 52}, 15, 24, 3};
constexpr qreal lowBelow = usualScale.box.height() + usualScale.name + 2 * usualScale.margin + arcHeight;
// Of a herd: what everybody watches, above or below who holds it.
constexpr qreal herdGap = 16;
constexpr qreal herdLowBelow = 2 * (usualScale.box.height() + usualScale.name) + herdGap + 2 * usualScale.margin;
constexpr QSizeF lowHolderSize(306, lowScale.line); // beside a herd

// The contenders that are drawn: all, or the head and the tail of a long queue with a gap between.
struct Drawn {
    std::vector<const Contender *> head, tail;
    int hidden = 0;
};

Drawn drawn(const LockSnapshot &lock, bool whole, std::size_t headCount, std::size_t tailCount, std::size_t foldAbove)
{
    Drawn result;
    const auto &all = lock.contenders;
    if (whole || all.size() <= foldAbove) {
        for (const auto &c : all)
            result.head.push_back(&c);
        return result;
    }
    for (std::size_t i = 0; i < headCount; ++i)
        result.head.push_back(&all[i]);
    for (std::size_t i = all.size() - tailCount; i < all.size(); ++i)
        result.tail.push_back(&all[i]);
    result.hidden = static_cast<int>(all.size() - headCount - tailCount);
    return result;
}

ChainBox boxOf(const Contender &contender, const LockSnapshot &lock, SystemTime now)
{
    ChainBox box;
    box.contender = contender.id;
    box.pill = pillOf(contender, lock);
    box.title = shortId(contender.id);
    if (contender.mode == Mode::Read || contender.mode == Mode::Write)
        box.title += contender.mode == Mode::Read ? u" R"_s : u" W"_s;
    box.who = whoIs(contender);
    if (const auto self = inspect::nameBeside(contender, lock.backend))
        box.name = inspect::nameLabel(*self);
    const bool holds = contender.role == Role::Holder;
    const auto since = holds ? contender.heldSince : contender.waitingSince;
    box.age = holds ? u"holds"_s : u"waits"_s;
    if (since)
        box.age += (holds && contender.heldAtMost ? u" ≤ "_s : u" "_s)
                   + formatDuration(duration_cast<milliseconds>(now - ourTime(*since, lock)));
    return box;
}

ChainBox moreBox(int hidden)
{
    ChainBox box;
    box.kind = ChainBox::Kind::More;
    box.pill = {PillShape::None, Tone::Free, {}};
    box.title = u"… %1 more …"_s.arg(hidden);
    box.who = u"show all"_s;
    return box;
}

// What more than half of them are, if anything is (Boyer and Moore): what is left when those that differ go in pairs.
// Of a queue of 10,000 a table of all took a tenth of a frame, at each change.
const QByteArray *majorityOf(const std::vector<const QByteArray *> &all)
{
    const QByteArray *left = nullptr;
    int lead = 0;
    for (const auto *one : all) {
        if (lead == 0)
            left = one;
        lead += *one == *left ? 1 : -1;
    }
    return left;
}

Herd herdOf(const LockSnapshot &lock)
{
    std::vector<const QByteArray *> targets;
    targets.reserve(lock.contenders.size());
    int childWatchers = 0;
    int waiters = 0;
    for (const auto &c : lock.contenders) {
        if (c.role != Role::Waiter)
            continue;
        ++waiters;
        for (const auto &edge : c.watches) {
            if (edge.children)
                ++childWatchers;
            else
                targets.push_back(&edge.target);
        }
    }
    if (childWatchers >= herdFrom && childWatchers * 2 > waiters)
        return {true, true, {}};
    const auto isHerd = [waiters](std::ptrdiff_t watchers) { return watchers >= herdFrom && watchers * 2 > waiters; };
    if (std::ssize(targets) > waiters) { // some watch several: none of those need be the most watched
        QHash<QByteArray, int> watchers;
        for (const auto *target : targets)
            ++watchers[*target];
        for (auto it = watchers.cbegin(); it != watchers.cend(); ++it) {
            if (isHerd(it.value()))
                return {true, false, it.key()};
        }
        return {};
    }
    const auto *most = majorityOf(targets);
    const bool is = most && isHerd(std::ranges::count_if(targets, [most](const auto *one) { return *one == *most; }));
    return is ? Herd{true, false, *most} : Herd{};
}

// How many waiters the release of one holder wakes at most, as far as watches tell.
int wokenByRelease(const LockSnapshot &lock)
{
    std::ptrdiff_t most = 0;
    for (const auto &holder : lock.contenders) {
        if (holder.role != Role::Holder)
            continue;
        const auto woken = std::count_if(lock.contenders.begin(), lock.contenders.end(), [&](const Contender &c) {
            return std::any_of(c.watches.begin(), c.watches.end(), [&](const inspect::WatchEdge &edge) {
                return edge.children || edge.target == holder.id;
            });
        });
        most = std::max(most, woken);
    }
    return static_cast<int>(most);
}

QString captionOf(const LockSnapshot &lock, const Herd &herd)
{
    const bool hasWatches = std::any_of(lock.contenders.begin(), lock.contenders.end(),
                                        [](const Contender &c) { return !c.watches.empty(); });
    const bool hasWaiters = std::any_of(lock.contenders.begin(), lock.contenders.end(),
                                        [](const Contender &c) { return c.role == Role::Waiter; });
    if (lock.contenders.empty())
        return u"Free: no client holds this lock or waits for it."_s;
    const auto wakeUp = recipes::recipeOf(lock.recipe).wakeUp;
    if (wakeUp == recipes::WakeUp::Message)
        return u"Waiters block on a channel. A release must also publish a message; otherwise they keep waiting."_s;
    if (!lock.waitersKnown)
        return u"No server knows who waits: clients of this recipe ask again and again."_s;
    if (!hasWaiters)
        return u"No client waits. A release wakes no client."_s;
    if (wakeUp == recipes::WakeUp::Answer)
        return u"Queue: an arrow points at who is ahead of a waiter. The server itself lets the next one in."_s;
    if (!hasWatches)
        return u"No watch is known: no server said who watches, and the recipe does not tell."_s;
    const int woken = wokenByRelease(lock);
    if (herd.is)
        return u"Herd: every waiter watches %1. One release wakes %2."_s
            .arg(herd.children ? u"the children of the queue"_s : u"the holder"_s)
            .arg(woken);
    const QString wakes = lock.holderCount() > 1 ? u"A release wakes at most %1."_s : u"One release wakes %1."_s;
    return u"Watch chain: an arrow points at what a waiter watches. "_s + wakes.arg(woken);
}

ChainArrow straight(const QRectF &from, const QRectF &to, bool seen)
{
    ChainArrow arrow;
    arrow.seen = seen;
    const QPointF start(from.left() - 2, from.center().y());
    arrow.tip = {to.right() + 2, to.center().y()};
    arrow.tipAngle = 180;
    arrow.path.moveTo(start);
    arrow.path.lineTo(arrow.tip);
    arrow.wordAt = {(start.x() + arrow.tip.x()) / 2, start.y() - 10};
    return arrow;
}

// Over the boxes between them: a reader that watches a writer further ahead.
ChainArrow over(const QRectF &from, const QRectF &to, bool seen)
{
    ChainArrow arrow;
    arrow.seen = seen;
    const QPointF start(from.center().x() - 8, from.top() - 2);
    arrow.tip = {to.center().x() + 8, to.top() - 2};
    arrow.tipAngle = 90;
    arrow.path.moveTo(start);
    arrow.path.cubicTo(start - QPointF(0, 34), arrow.tip - QPointF(0, 34), arrow.tip);
    arrow.wordAt = {(start.x() + arrow.tip.x()) / 2, start.y() - 30};
    arrow.showWord = true;
    return arrow;
}

// From one line of boxes to the line above.
ChainArrow upwards(const QRectF &from, const QRectF &to, bool seen)
{
    ChainArrow arrow;
    arrow.seen = seen;
    const QPointF start(from.center().x(), from.top() - 2);
    arrow.tip = {to.center().x(), to.bottom() + 2};
    arrow.tipAngle = -90;
    const qreal middle = from.top() - gapY / 2;
    arrow.path.moveTo(start);
    arrow.path.lineTo(start.x(), middle);
    arrow.path.lineTo(arrow.tip.x(), middle);
    arrow.path.lineTo(arrow.tip);
    arrow.wordAt = {start.x() + 40, middle - 8};
    return arrow;
}

struct Builder {
    const LockSnapshot &lock;
    SystemTime now;
    ChainScale scale;
    ChainPicture result;
    QHash<QByteArray, std::size_t> boxOfContender;

    void add(ChainBox box)
    {
        if (box.kind == ChainBox::Kind::Contender)
            boxOfContender.insert(box.contender, result.boxes.size());
        result.boxes.push_back(std::move(box));
    }

    void finish()
    {
        QRectF all;
        for (const auto &box : result.boxes)
            all |= box.box;
        for (const auto &arrow : result.arrows)
            all |= arrow.path.boundingRect();
        result.size = {all.right() + scale.margin, all.bottom() + scale.margin};
    }

    // Of these tall ones, which are equally high.
    [[nodiscard]] QSizeF tallSize(const std::vector<ChainBox> &boxes) const
    {
        const bool hasNames = std::ranges::any_of(boxes, [](const ChainBox &box) { return !box.name.isEmpty(); });
        return scale.box + QSizeF(0, hasNames ? scale.name : 0);
    }

    // A second line would be cut through, and a box that is cut through reads as if it ended there.
    [[nodiscard]] bool showsOneLineOnly(qreal height) const
    {
        const auto &all = lock.contenders;
        const auto drawnAtMost = all.begin() + std::min(std::ssize(all), std::ptrdiff_t(chainFoldAbove));
        const bool hasNames = std::any_of(all.begin(), drawnAtMost, [this](const Contender &one) {
            return inspect::nameBeside(one, lock.backend).has_value();
        });
        const qreal line = scale.box.height() + (hasNames ? scale.name : 0);
        return scale.isLow || height < 2 * scale.margin + 2 * line + gapY;
    }

    // Of a queue: the head and the tail, as many as the view shows where that is one line.
    [[nodiscard]] Drawn queueDrawn(std::size_t perLine, qreal height, bool whole) const
    {
        if (perLine >= 3 && showsOneLineOnly(height)) {
            const std::size_t tail = perLine > 3 ? 1 : 0; // who is first comes before who is last
            return drawn(lock, whole, perLine - 1 - tail, tail, perLine);
        }
        return drawn(lock, whole, 11, 4, chainFoldAbove);
    }

    void queue(QSizeF view, bool whole)
    {
        const auto fitting = (view.width() - 2 * scale.margin + gapX) / (scale.box.width() + gapX);
        const int perLine = std::max(1, static_cast<int>(fitting));
        const Drawn some = queueDrawn(static_cast<std::size_t>(perLine), view.height(), whole);
        result.hidden = some.hidden;
        for (const auto *contender : some.head)
            add(boxOf(*contender, lock, now));
        if (some.hidden > 0)
            add(moreBox(some.hidden));
        for (const auto *contender : some.tail)
            add(boxOf(*contender, lock, now));

        bool arcs = false;
        const auto size = tallSize(result.boxes);
        for (std::size_t i = 0; i < result.boxes.size(); ++i) {
            const int column = static_cast<int>(i) % perLine;
            const int line = static_cast<int>(i) / perLine;
            result.boxes[i].box = QRectF(
                QPointF(scale.margin + column * (size.width() + gapX), scale.margin + line * (size.height() + gapY)),
                size);
        }
        for (const auto *shown : {&some.head, &some.tail}) {
            for (const auto *contender : *shown)
                arcs |= addQueueArrows(*contender);
        }
        if (arcs)
            moveDown(arcHeight);
    }

    // Whether one of them passes over other boxes.
    bool addQueueArrows(const Contender &contender)
    {
        bool arcs = false;
        const auto from = boxOfContender.value(contender.id);
        for (const auto &edge : contender.watches) {
            const auto found = boxOfContender.constFind(edge.target);
            if (edge.children || found == boxOfContender.constEnd())
                continue;
            const QRectF &start = result.boxes[from].box;
            const QRectF &end = result.boxes[*found].box;
            const bool seen = edge.evidence == Evidence::Server;
            if (*found + 1 == from && start.top() == end.top()) {
                result.arrows.push_back(straight(start, end, seen));
            } else if (start.top() == end.top()) {
                result.arrows.push_back(over(start, end, seen));
                arcs = true;
            } else {
                result.arrows.push_back(upwards(start, end, seen));
            }
        }
        return arcs;
    }

    void moveDown(qreal by)
    {
        for (auto &box : result.boxes)
            box.box.translate(0, by);
        for (auto &arrow : result.arrows) {
            arrow.path.translate(0, by);
            arrow.tip.ry() += by;
            arrow.wordAt.ry() += by;
        }
    }

    void herd(const Herd &herd, QSizeF view, bool whole)
    {
        const auto lines = static_cast<std::size_t>(
            std::clamp((view.height() - 2 * scale.margin + scale.lineGap) / (scale.line + scale.lineGap),
                       scale.isLow ? 2.0 : 6.0, 24.0));
        // The holder takes no line of them. Who is first comes before who is last.
        const std::size_t tail = !scale.isLow ? 2 : lines > 2 ? 1 : 0;
        const Drawn some = drawn(lock, whole, lines - tail, tail, lines + 1);
        result.hidden = some.hidden;
        const qreal linesLeft = scale.margin + (scale.isLow ? lowHolderSize.width() + 68 : scale.box.width() + 110);
        const qreal lineWidth = std::clamp(view.width() - linesLeft - scale.margin, 210.0, lineWidest);
        qreal y = scale.margin;
        std::vector<ChainBox> apart; // holders: drawn at the left
        const auto addLine = [&](ChainBox box) {
            makeCompact(box);
            box.box = {linesLeft, y, lineWidth, scale.line};
            y += scale.line + scale.lineGap;
            add(std::move(box));
        };
        const auto addContender = [&](const Contender *contender) {
            ChainBox box = boxOf(*contender, lock, now);
            if (contender->role == Role::Holder || contender->id == herd.target)
                apart.push_back(std::move(box));
            else
                addLine(std::move(box));
        };
        for (const auto *contender : some.head)
            addContender(contender);
        if (some.hidden > 0)
            addLine(moreBox(some.hidden));
        for (const auto *contender : some.tail)
            addContender(contender);
        const QRectF target = placeHerdTarget(herd, std::move(apart), y);
        addHerdArrows(herd, target);
    }

    static void makeCompact(ChainBox &box)
    {
        box.compact = true;
        if (!box.name.isEmpty())
            box.who = std::exchange(box.name, {}) + u" · "_s + box.who;
    }

    QRectF placeHerdTarget(const Herd &herd, std::vector<ChainBox> apart, qreal bottom)
    {
        if (herd.children) {
            ChainBox children;
            children.kind = ChainBox::Kind::Children;
            children.pill = {PillShape::None, Tone::Free, {}};
            children.title = u"children"_s;
            children.who = u"of the queue"_s;
            apart.push_back(std::move(children));
        }
        const auto size = scale.isLow ? lowHolderSize : tallSize(apart);
        const qreal gap = scale.isLow ? 8 : herdGap;
        const qreal height = static_cast<qreal>(apart.size()) * (size.height() + gap) - gap;
        qreal y = std::max(scale.margin, (scale.margin + bottom - scale.lineGap - height) / 2);
        QRectF target;
        for (auto &box : apart) {
            if (scale.isLow)
                makeCompact(box);
            box.box = {QPointF(scale.margin, y), size};
            y += size.height() + gap;
            if (herd.children ? box.kind == ChainBox::Kind::Children : box.contender == herd.target)
                target = box.box;
            add(std::move(box));
        }
        return target;
    }

    void addHerdArrows(const Herd &herd, const QRectF &target)
    {
        if (target.isEmpty())
            return;
        bool isFirst = true;
        for (const auto &contender : lock.contenders) {
            const auto from = boxOfContender.constFind(contender.id);
            if (from == boxOfContender.constEnd())
                continue;
            for (const auto &edge : contender.watches) {
                if (edge.children != herd.children || (!edge.children && edge.target != herd.target))
                    continue;
                const QRectF &line = result.boxes[*from].box;
                ChainArrow arrow;
                arrow.seen = edge.evidence == Evidence::Server;
                const QPointF start(line.left() - 2, line.center().y());
                arrow.tip = {target.right() + 2, target.center().y()};
                arrow.tipAngle = 180;
                arrow.path.moveTo(start);
                arrow.path.cubicTo(start - QPointF(50, 0), arrow.tip + QPointF(56, 0), arrow.tip);
                arrow.wordAt = {(start.x() + arrow.tip.x()) / 2 + (scale.isLow ? 0 : 22), start.y() - 9};
                arrow.showWord = std::exchange(isFirst, false);
                result.arrows.push_back(std::move(arrow));
            }
        }
    }
};

} // namespace

ChainFacts chainFactsOf(const LockSnapshot &lock)
{
    auto herd = herdOf(lock);
    auto caption = captionOf(lock, herd);
    return {std::move(herd), std::move(caption)};
}

ChainPicture layOutChain(const LockSnapshot &lock, const ChainFacts &facts, SystemTime now, QSizeF view, bool whole)
{
    const bool isLow = view.height() < (facts.herd.is ? herdLowBelow : lowBelow);
    Builder builder{lock, now, isLow ? lowScale : usualScale, {}, {}};
    if (facts.herd.is)
        builder.herd(facts.herd, view, whole);
    else
        builder.queue(view, whole);
    builder.result.caption = facts.caption;
    builder.finish();
    return std::move(builder.result);
}

} // namespace lockscope::ui
