// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/lanepaint.h"

#include "ui/simulator/serverstrip.h"
#include "ui/simulator/simulatortext.h"

#include <QPainter>

#include <cmath>

namespace lockscope::ui {

using contention::Mark;

namespace {

constexpr double markGap = 5; // pixels that a mark takes; those nearer to each other are one
constexpr double denseMarkGap = 2;

using Moments = std::span<const Moment>::iterator;

// The first that is not before `moment`; mostly one of the next.
Moments firstFrom(Moments begin, Moments end, Moment moment)
{
    std::ptrdiff_t step = 1;
    while (step < end - begin && begin[step] < moment)
        step *= 2;
    return std::lower_bound(begin + step / 2, begin + std::min(step, end - begin), moment);
}

// One lane, in its rectangle.
class LanePainter {
public:
    LanePainter(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &tokens,
                PaintCost &cost)
        : m_painter(painter), m_run(run), m_frame(frame), m_t(tokens), m_cost(cost)
    {
    }

    void paint(int lane, const QRectF &rect)
    {
        ++m_cost.lanes;
        bars(lane, rect);
        if (!isDense(rect) && m_frame.wakeUps.empty())
            requests(lane, rect);
        if (m_frame.wakeUps.empty())
            signals_(lane, rect);
    }

    // Over the lines of what was broken, too: a token's number is read, not crossed out.
    void paintOver(int lane, const QRectF &rect)
    {
        if (!isDense(rect))
            writes(lane, rect);
        troubles(lane, rect);
    }

private:
    // As all of them, or as those of the band.
    [[nodiscard]] bool isDense(const QRectF &lane) const { return m_frame.isDense() || lane.height() < 14; }

    void bar(const LaneSpan &span, double left, double right, const QRectF &lane)
    {
        const bool isThin = span.state == LaneState::Waits || span.state == LaneState::HasOne;
        const double height = isDense(lane) ? std::max(1.0, lane.height() * (isThin ? 0.5 : 1.0) - (isThin ? 0 : 0.5))
                                            : std::min(lane.height() * (isThin ? 0.24 : 0.58), isThin ? 9.0 : 26.0);
        const QRectF rect(left, lane.center().y() - height / 2, right - left, height);
        ++m_cost.bars;
        if (span.state == LaneState::Dead) {
            m_painter.setPen(QPen(m_t.muted, 1, Qt::DotLine));
            m_painter.drawLine(QPointF(left, lane.center().y()), QPointF(right, lane.center().y()));
            m_painter.setPen(Qt::NoPen);
            return;
        }
        const double radius = isDense(lane) ? 0 : (isThin ? 2 : 3);
        switch (span.state) {
        case LaneState::Works: drawFrame(m_painter, rect, m_t.hold, Qt::DashLine, m_t); break;
        case LaneState::HasOne: drawBar(m_painter, rect, radius, m_t.hold); break;
        case LaneState::Holds:
            if (span.isReader)
                drawFrame(m_painter, rect, m_t.hold, Qt::SolidLine, m_t);
            else
                drawBar(m_painter, rect, radius, m_t.hold);
            break;
        default: drawBar(m_painter, rect, radius, waitFill(m_t));
        }
        if (span.isPaused)
            drawHatch(m_painter, rect, m_t);
    }

    // Of a stage: who holds, where its bar has room for the words.
    void holder(const LaneSpan &span, int lane, const QRectF &rect)
    {
        if (m_frame.fontSize <= 12 || span.state != LaneState::Holds || span.isReader || isDense(rect))
            return;
        const QString text = Simulator::tr("%1 holds").arg(m_run.laneName(lane));
        const QRectF place = rect.adjusted(18, 0, -8, 0); // beside the end of a ray
        if (m_painter.fontMetrics().horizontalAdvance(text) > place.width()
            || m_painter.fontMetrics().height() > std::min(rect.height() * 0.58, 26.0) + 4)
            return;
        m_painter.setPen(m_t.panel);
        m_painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, text);
        m_painter.setPen(Qt::NoPen);
    }

    // Of two locks: which one it has, or both.
    void letter(const LaneSpan &span, int lane, const QRectF &rect)
    {
        const auto &scenario = m_run.recording().scenario;
        const bool isHeld = span.state == LaneState::Holds;
        if (scenario.locks < 2 || isDense(rect) || (!isHeld && span.state != LaneState::HasOne))
            return;
        const QString first = letterOfLock(scenario, lane, false);
        const QString text = isHeld ? first + letterOfLock(scenario, lane, true) : first;
        const QSizeF size(m_painter.fontMetrics().horizontalAdvance(text) + 4, m_painter.fontMetrics().height() - 2);
        if (rect.width() < size.width() + 8)
            return;
        const QRectF place(QPointF(rect.left() + 4, rect.center().y() - size.height() / 2), size);
        m_painter.setBrush(m_t.panel);
        m_painter.drawRoundedRect(place, 2, 2);
        m_painter.setPen(m_t.text);
        m_painter.drawText(place, Qt::AlignCenter, text);
        m_painter.setPen(Qt::NoPen);
    }

    void bars(int lane, const QRectF &rect)
    {
        const auto spans = m_run.spans(lane);
        auto next = std::upper_bound(spans.begin(), spans.end(), m_frame.from,
                                     [](Moment at, const LaneSpan &span) { return at < span.to; });
        while (next != spans.end() && next->from < m_frame.to) {
            const double left = std::max(m_frame.xOf(next->from), rect.left());
            const double right = std::min(std::max(m_frame.xOf(next->to), left + 1), rect.right());
            if (right > left) {
                bar(*next, left, right, rect);
                letter(*next, lane, QRectF(left, rect.top(), right - left, rect.height()));
                if (!m_frame.wakeUps.empty())
                    holder(*next, lane, QRectF(left, rect.top(), right - left, rect.height()));
            }
            // Whatever else ends within this pixel is not seen.
            const Moment seen = m_frame.momentAt(right);
            next = std::upper_bound(next + 1, spans.end(), seen,
                                    [](Moment at, const LaneSpan &span) { return at < span.to; });
        }
    }

    // Calls `draw(x, first, last)` for each group of marks that fall together.
    template <class Draw>
    void groups(const LaneEvents &events, int lane, double gap, Draw draw)
    {
        const auto all = events.momentsOf(lane);
        const double perPixel =
            static_cast<double>((m_frame.to - m_frame.from).count()) / std::max(1.0, m_frame.lanes.width());
        const Moment apart(std::max<Moment::rep>(1, std::llround(std::ceil(gap * perPixel))));
        auto first = std::lower_bound(all.begin(), all.end(), m_frame.from);
        while (first != all.end() && *first <= m_frame.to) {
            const auto last =
                *first < Moment::max() - apart ? firstFrom(first + 1, all.end(), *first + apart) : all.end();
            draw(m_frame.xOf(*first), static_cast<std::size_t>(first - all.begin()),
                 static_cast<std::size_t>(last - all.begin()));
            ++m_cost.marks;
            first = last;
        }
    }

    void requests(int lane, const QRectF &rect)
    {
        QColor colour = m_t.muted;
        groups(m_run.requestsOf(), lane, markGap, [&](double x, std::size_t, std::size_t) {
            m_painter.fillRect(QRectF(x, rect.center().y() + 6, 1, 5), colour);
        });
    }

    void signals_(int lane, const QRectF &rect)
    {
        const auto &events = m_run.signalsOf();
        if (isDense(rect)) {
            denseSignals(lane, rect);
            return;
        }
        groups(events, lane, markGap, [&](double x, std::size_t first, std::size_t last) {
            paintGlyph(m_painter, QRectF(x - 4, rect.center().y() - 4, 8, 8),
                       events.wasted(lane, first, last) > 0 ? LaneGlyph::WokenInVain : LaneGlyph::Woken, m_t);
        });
    }

    // Marks with no pixel between them are one rectangle: in a herd a whole lane is.
    void denseSignals(int lane, const QRectF &rect)
    {
        const auto &events = m_run.signalsOf();
        QRectF mark(0, rect.top(), 0, std::max(1.0, rect.height() - 1));
        bool isInVain = false;
        const auto paintMark = [&] {
            if (mark.width() > 0)
                m_painter.fillRect(mark, isInVain ? m_t.critical : m_t.accent);
        };
        groups(events, lane, denseMarkGap, [&](double x, std::size_t first, std::size_t last) {
            const bool inVain = events.wasted(lane, first, last) > 0;
            if (mark.width() == 0 || inVain != isInVain || x > mark.right() + 1) {
                paintMark();
                mark.setLeft(x);
                isInVain = inVain;
            }
            mark.setRight(x + denseMarkGap);
        });
        paintMark();
    }

    void troubles(int lane, const QRectF &rect)
    {
        const auto &events = m_run.troublesOf();
        const double half = isDense(rect) ? 3 : 5;
        groups(events, lane, 2 * half, [&](double x, std::size_t first, std::size_t last) {
            // The gravest of those that fall together.
            static constexpr Mark byGravity[] = {Mark::GivesUp, Mark::Loses, Mark::Fault, Mark::Dies};
            const auto all = events.of(lane).subspan(first, std::min<std::size_t>(last - first, 8));
            const auto worst = std::ranges::max(all, {}, [this](quint32 index) {
                return std::ranges::find(byGravity, m_run.event(index).mark) - std::begin(byGravity);
            });
            const QPointF centre(x, rect.center().y());
            switch (m_run.event(worst).mark) {
            case Mark::Dies: drawCross(m_painter, centre, half, m_t.text, 2); break;
            case Mark::Fault: drawTriangle(m_painter, centre, half, m_t.warning); break;
            case Mark::Loses: drawLoses(m_painter, centre, half, m_t); break;
            default: drawGivesUp(m_painter, centre, half, m_t);
            }
        });
    }

    struct Written {
        double x = 0;
        std::span<const quint32> events;
    };

    // Each with its token where there is room for it: behind it, or before it where the next one follows too soon.
    void writes(int lane, const QRectF &rect)
    {
        const auto &events = m_run.writesOf();
        std::vector<Written> all;
        groups(events, lane, 9, [&](double x, std::size_t first, std::size_t last) {
            all.push_back({x, events.of(lane).subspan(first, last - first)});
        });
        double free = rect.left();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double next = i + 1 < all.size() ? all[i + 1].x - 6 : rect.right() + 1;
            free = std::max(write(all[i], rect, free, next), all[i].x + 6);
        }
    }

    // The number may take from `free` to `next`. Where it ends.
    double write(const Written &written, const QRectF &rect, double free, double next)
    {
        const auto isWrite = [&](quint32 index) { return m_run.event(index).mark == Mark::Writes; };
        const auto first = std::ranges::find_if(written.events, isWrite);
        const QPointF centre(written.x, rect.bottom() - 6);
        if (first == written.events.end()) {
            drawAct(m_painter, centre, 5, m_t);
            return free;
        }
        // Of those that fall together a refused one is seen.
        const bool isRefused = std::ranges::any_of(
            written.events, [&](quint32 index) { return isWrite(index) && m_run.event(index).what == "refused"; });
        drawWrite(m_painter, centre, 5, isRefused, m_t);
        const auto token = m_run.event(*first).token;
        if (token == 0 || rect.height() < 30)
            return free;
        const QString number = QString::number(token);
        const double wide = m_painter.fontMetrics().horizontalAdvance(number) + 2;
        const double left = written.x + 5 + wide <= next ? written.x + 5 : written.x - 5 - wide;
        if (left < free)
            return free;
        // Read over a bar and over messages, too.
        const QRectF place(left, rect.bottom() - 13, wide, 13);
        m_painter.setBrush(m_t.panel);
        m_painter.drawRoundedRect(place, 2, 2);
        m_painter.setPen(isRefused ? m_t.critical : m_t.text);
        m_painter.drawText(QPointF(left + 1, rect.bottom() - 2), number);
        m_painter.setPen(Qt::NoPen);
        return place.right();
    }

    QPainter &m_painter;
    const PlayedRun &m_run;
    const LaneFrame &m_frame;
    const Tokens &m_t;
    PaintCost &m_cost;
};

void paintName(QPainter &painter, const PlayedRun &run, int lane, const QRectF &rect, const LaneFrame &frame,
               const Tokens &t)
{
    if (lane == frame.chosenLane) {
        painter.setBrush(t.selection);
        painter.drawRoundedRect(QRectF(0, rect.top() + 1, rect.right(), rect.height() - 2), 3, 3);
    }
    // Of thin lanes one in so many has room for its name; those of the band have one together.
    const double nameHeight = frame.fontSize > 12 ? painter.fontMetrics().height() : 14;
    const int each = static_cast<int>(std::ceil(nameHeight / frame.laneHeight));
    if (lane > frame.rows || (lane < frame.rows && lane % each != 0))
        return;
    painter.setPen(lane == frame.chosenLane ? t.text : t.muted);
    const double height = std::max(nameHeight, rect.height());
    const double middle = lane == frame.rows ? (rect.top() + frame.lanes.bottom()) / 2 : rect.center().y();
    painter.drawText(QRectF(6, middle - height / 2, rect.left() - 10, height), Qt::AlignVCenter | Qt::AlignLeft,
                     lane == frame.rows ? Simulator::tr("%1 more").arg(run.lanes() - lane) : run.laneName(lane));
    painter.setPen(Qt::NoPen);
}

// Moments at which an invariant broke, as lines through all lanes.
void paintBreaks(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &t)
{
    double last = -100;
    for (const auto &violation : run.recording().violations) {
        const double x = frame.xOf(violation.at);
        if (violation.at < frame.from || violation.at > frame.to || std::abs(x - last) < 6)
            continue;
        last = x;
        painter.setPen(QPen(t.critical, 1.5, Qt::DashLine));
        painter.drawLine(QPointF(x, frame.lanes.top()), QPointF(x, frame.lanes.bottom()));
        drawCross(painter, QPointF(x, frame.lanes.top() + 5), 3.5, t.critical, 2);
    }
}

} // namespace

double LaneFrame::xOf(Moment at) const
{
    const double whole = static_cast<double>(std::max<Moment::rep>(1, (to - from).count()));
    return lanes.left() + lanes.width() * static_cast<double>((at - from).count()) / whole;
}

Moment LaneFrame::momentAt(double x) const
{
    const double whole = static_cast<double>((to - from).count());
    return from + Moment(std::llround(std::ceil((x - lanes.left()) / std::max(1.0, lanes.width()) * whole)));
}

int LaneFrame::laneAt(double y) const
{
    const double below = y - lanes.top() + scrolled, band = below - rows * laneHeight;
    return band < 0 || bandEach <= 0 ? static_cast<int>(std::floor(below / laneHeight))
                                     : rows + static_cast<int>(std::floor(band / bandEach));
}

QRectF LaneFrame::rectOf(int lane) const
{
    const bool isInBand = lane >= rows;
    const double top = isInBand ? rows * laneHeight + (lane - rows) * bandEach : lane * laneHeight;
    return {lanes.left(), lanes.top() - scrolled + top, lanes.width(), isInBand ? bandEach : laneHeight};
}

QLineF LaneFrame::rayOf(const WakeUp &wakeUp, int serverCount) const
{
    const double line = servers.top() + (wakeUp.server + 0.5) * servers.height() / std::max(1, serverCount);
    return {xOf(wakeUp.sent), line, xOf(wakeUp.ends), middleOf(wakeUp.lane)};
}

PaintCost paintLanes(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &t)
{
    PaintCost cost;
    painter.save();
    painter.setClipRect(QRectF(0, frame.lanes.top(), frame.lanes.right() + 1, frame.lanes.height()));
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(Qt::NoPen);
    painter.setFont(monoFont(frame.fontSize));
    LanePainter lanes(painter, run, frame, t, cost);
    const int first = std::max(0, frame.laneAt(frame.lanes.top()));
    const int last = std::min(run.lanes() - 1, frame.laneAt(frame.lanes.bottom()));
    for (int lane = first; lane <= last; ++lane) {
        paintName(painter, run, lane, frame.rectOf(lane), frame, t);
        lanes.paint(lane, frame.rectOf(lane));
    }
    paintBreaks(painter, run, frame, t);
    painter.setPen(Qt::NoPen);
    for (int lane = first; lane <= last; ++lane)
        lanes.paintOver(lane, frame.rectOf(lane));
    painter.restore();
    cost.arrows = paintMessages(painter, run, frame, t);
    return cost;
}

void paintTimeAxis(QPainter &painter, const LaneFrame &frame, const Tokens &t)
{
    const auto whole = (frame.to - frame.from).count();
    if (whole <= 0 || frame.lanes.width() < 60)
        return;
    painter.save();
    painter.setFont(textFont(frame.fontSize));
    const double label = 7.5 * frame.fontSize;                        // a moment, and what is free beside it
    const double atMost = std::max(2.5, frame.lanes.width() / label); // in a narrow picture another one beside 0
    double step = std::pow(10, std::floor(std::log10(static_cast<double>(whole) / atMost)));
    for (const double factor : {2.0, 2.5, 2.0}) {
        if (static_cast<double>(whole) / step > atMost)
            step *= factor;
    }
    const auto stepBy = std::max<Moment::rep>(1, std::llround(step));
    for (auto at = (frame.from.count() + stepBy - 1) / stepBy * stepBy; at <= frame.to.count(); at += stepBy) {
        const double x = frame.xOf(Moment(at));
        painter.setPen(t.line);
        painter.drawLine(QPointF(x, frame.lanes.bottom()), QPointF(x, frame.lanes.bottom() + 4));
        painter.setPen(t.muted);
        const QRectF word(x - label / 2, frame.lanes.bottom() + 3, label, painter.fontMetrics().height());
        if (word.right() - label / 4 <= frame.lanes.right() + 4)
            painter.drawText(word, Qt::AlignHCenter | Qt::AlignTop, axisText(Moment(at)));
    }
    painter.restore();
}

void paintWakeUps(QPainter &painter, const LaneFrame &frame, int servers, const Tokens &t)
{
    constexpr double fallBack = 6;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const auto &[watcher, owner] : frame.watches) { // longer ones further left, or they would be one
        const double x =
            std::max(frame.xOf(frame.cursor) - 24 - 12 * (std::abs(watcher - owner) - 1), frame.lanes.left() + 14);
        drawArrow(painter, {x, frame.middleOf(watcher) - 5}, {x, frame.middleOf(owner) + 5}, t.accent, 1.6);
    }
    const double half = std::clamp(frame.laneHeight * 0.28, 3.0, 9.0);
    // The useful one over the others.
    for (const bool isWasted : {true, false}) {
        for (const auto &one : frame.wakeUps) {
            if (one.isWasted != isWasted)
                continue;
            const QLineF ray = frame.rayOf(one, servers);
            const double back = isWasted ? frame.fall * fallBack / std::max(fallBack, ray.length()) : 0;
            const QPointF head = ray.pointAt(std::max(0.0, frame.flight - back));
            const QColor colour = isWasted ? t.critical : t.accent;
            QColor tail = colour;
            tail.setAlphaF(frame.flight < 1 ? 0.0f : 0.3f); // it fades while it flies
            QLinearGradient gradient(ray.p1(), head);
            gradient.setColorAt(0, tail);
            gradient.setColorAt(1, colour);
            painter.setPen(QPen(gradient, isWasted ? 2.4 : 3.4));
            painter.drawLine(ray.p1(), head);
            const bool hasLanded = isWasted && frame.flight >= 1;
            painter.setPen(QPen(colour, 2));
            painter.setBrush(hasLanded ? t.panel : colour);
            painter.drawEllipse(head, half, half);
            if (hasLanded)
                drawCross(painter, head, half * 0.4, colour, 2);
        }
    }
    painter.restore();
}

void paintCursor(QPainter &painter, const LaneFrame &frame, const Tokens &t)
{
    const double x = std::clamp(frame.xOf(frame.cursor), frame.lanes.left() - 1, frame.lanes.right() + 1);
    const double top = frame.servers.isEmpty() ? frame.lanes.top() : frame.servers.top();
    if (x < frame.lanes.right() && frame.wakeUps.empty()) { // with those it is seen what becomes of them
        QColor pale = t.panel;
        pale.setAlphaF(0.62f);
        painter.fillRect(QRectF(QPointF(x, top), frame.lanes.bottomRight() + QPointF(1, 0)), pale);
    }
    // Where nobody has been yet there is nothing to be seen.
    if (frame.seen) {
        const double until = std::max(x, frame.xOf(std::max(*frame.seen, frame.cursor))) + 1;
        if (until < frame.lanes.right())
            painter.fillRect(QRectF(QPointF(until, top), frame.lanes.bottomRight() + QPointF(2, 0)), t.panel);
    }
    if (frame.cursor < frame.from || frame.cursor > frame.to)
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    QPen pen(t.text, 1);
    pen.setDashPattern({3, 3});
    painter.setPen(pen);
    painter.drawLine(QPointF(x, top), QPointF(x, frame.lanes.bottom()));
    painter.restore();
}

} // namespace lockscope::ui
