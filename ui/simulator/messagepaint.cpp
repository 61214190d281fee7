// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/lanepaint.h"

#include "ui/simulator/simulatortext.h"

#include <QPainter>

#include <cmath>

namespace lockscope::ui {

using contention::SentMessage;

void drawArrow(QPainter &painter, QPointF from, QPointF to, const QColor &colour, double width)
{
    painter.setPen(QPen(colour, width));
    painter.drawLine(from, to);
    const QPointF along = to - from;
    const double length = std::hypot(along.x(), along.y());
    if (length < 4)
        return;
    const QPointF unit = along / length, across(-unit.y(), unit.x());
    const QPointF head[] = {to, to - unit * 6 + across * 2.6, to - unit * 6 - across * 2.6};
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(head, 3);
}

namespace {

constexpr std::ptrdiff_t mostArrows = 240; // in one picture, without choosing
// Messages that begin within so many pixels: where more do than this, some stand for all, or there would be a wall
// that hides the lanes.
constexpr double crowdWidth = 24;
constexpr int crowd = 24, leastKept = 6, mostUnusual = 12;

// Leaves, and does not come.
void drawLost(QPainter &painter, QPointF from, QPointF towards, const QColor &colour)
{
    const QPointF end = from + (towards - from) * 0.55;
    painter.setPen(QPen(colour, 1.4, Qt::DashLine));
    painter.drawLine(from, end);
    drawCross(painter, end, 3.5, colour, 2);
}

void drawDown(QPainter &painter, const QRectF &rect, const Tokens &t)
{
    painter.fillRect(rect, t.panel);
    painter.setPen(QPen(t.critical, 1.4, Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect);
}

class MessagePainter {
public:
    MessagePainter(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &tokens)
        : m_painter(painter), m_run(run), m_frame(frame), m_t(tokens),
          m_rowHeight(frame.servers.height() / std::max(1, run.recording().history.servers))
    {
    }

    void lifeLines()
    {
        const int servers = m_run.recording().history.servers;
        m_painter.setFont(monoFont(m_frame.fontSize));
        for (int server = 0; server < servers; ++server) {
            const double y = lineOf(server);
            m_painter.setPen(m_frame.fontSize > 12 ? QPen(m_t.text, 2) : QPen(m_t.line, 1.5));
            m_painter.drawLine(QPointF(m_frame.lanes.left(), y), QPointF(m_frame.lanes.right(), y));
            m_painter.setPen(m_t.muted);
            const QRectF word(6, y - m_rowHeight / 2, std::max(0.0, m_frame.lanes.left() - 10), m_rowHeight);
            m_painter.drawText(word, Qt::AlignVCenter | Qt::AlignLeft,
                               servers == 1 ? Simulator::tr("server") : Simulator::tr("s%1").arg(server + 1));
        }
        outages(servers);
    }

    int arrows()
    {
        const auto &all = m_run.recording().history.messages;
        const auto from = std::ranges::lower_bound(all, m_frame.from, {}, &SentMessage::at);
        const auto to = std::ranges::upper_bound(all, m_frame.to, {}, &SentMessage::at);
        const std::ptrdiff_t most = to - from > mostArrows ? keptOfCrowd() : crowd;
        if (!m_frame.wakeUps.empty())
            return aroundWakeUps(from, to);
        int drawn = 0;
        for (auto at = from; at < to;) {
            const auto next = endOfCrowd(at, to);
            drawn += ofCrowd(at, next, next - at <= most ? static_cast<int>(most) : keptOfCrowd());
            at = next;
        }
        return drawn;
    }

    // Those of a server alone are the restarts that are drawn as such.
    void faults()
    {
        const bool isOne = m_run.recording().history.servers == 1;
        const double y = isOne ? lineOf(0) : m_frame.servers.bottom() - 5;
        for (const Moment at : m_run.serverFaults()) {
            if (at >= m_frame.from && at <= m_frame.to)
                drawTriangle(m_painter, QPointF(m_frame.xOf(at), y), 5, m_t.warning);
        }
    }

private:
    using Messages = std::vector<SentMessage>::const_iterator;

    // An acquire at all of several servers is seen whole.
    [[nodiscard]] int keptOfCrowd() const { return std::max(leastKept, 2 * m_run.recording().history.servers); }
    [[nodiscard]] Messages endOfCrowd(Messages at, Messages to) const
    {
        const double within = std::floor((m_frame.xOf(at->at) - m_frame.lanes.left()) / crowdWidth);
        const Moment end = m_frame.momentAt(m_frame.lanes.left() + (within + 1) * crowdWidth);
        return std::max(at + 1, std::ranges::lower_bound(at, to, end, {}, &SentMessage::at));
    }
    // What made the event, and what was lost: the rest is in the rays.
    int aroundWakeUps(Messages at, Messages end)
    {
        int drawn = 0;
        for (; at < end; ++at) {
            if (at->arrives && !(at->toServer && at->at == m_frame.wakeUps.front().cause))
                continue;
            drawn += arrow(*at);
        }
        return drawn;
    }

    // The first of them, or those before the cursor; and what was lost, or what nobody asked for, is always there.
    int ofCrowd(Messages at, Messages end, int kept)
    {
        auto first = at;
        if (end - at > kept && at->at <= m_frame.cursor && m_frame.cursor < (end - 1)->at) {
            const auto last = std::ranges::upper_bound(at, end, m_frame.cursor, {}, &SentMessage::at);
            first = last - std::min<std::ptrdiff_t>(last - at, kept);
        }
        int drawn = 0;
        auto next = first;
        for (; next != end && drawn < kept; ++next)
            drawn += arrow(*next);
        const auto begin = m_run.recording().history.messages.begin();
        const auto &unusual = m_run.unusualMessages();
        auto index = std::ranges::lower_bound(unusual, static_cast<quint32>(at - begin));
        int told = 0, lost = 0;
        for (; index != unusual.end() && begin + *index < end && told + lost < 2 * mostUnusual; ++index) {
            const auto one = begin + *index;
            const bool isDrawn = one >= first && one < next;
            if (isDrawn || (one->arrives ? told : lost)++ >= mostUnusual)
                continue;
            drawn += arrow(*one);
        }
        return drawn;
    }
    [[nodiscard]] double lineOf(int server) const { return m_frame.servers.top() + (server + 0.5) * m_rowHeight; }

    // While it is down there is no line, and what comes back after that has nothing.
    void outages(int servers)
    {
        std::vector<std::optional<Moment>> downSince(static_cast<std::size_t>(servers));
        const auto close = [this](int server, Moment since, Moment until) {
            const double y = lineOf(server);
            const double left = std::max(m_frame.xOf(since), m_frame.lanes.left());
            const double right = std::min(std::max(m_frame.xOf(until), left + 3), m_frame.lanes.right());
            if (right < m_frame.lanes.left() || left > m_frame.lanes.right())
                return;
            drawDown(m_painter, QRectF(left, y - 4, right - left, 8), m_t);
        };
        for (const auto &change : m_run.recording().history.changes) {
            if (!change.line.name.isEmpty())
                continue;
            auto &since = downSince[static_cast<std::size_t>(change.line.server)];
            if (change.line.text == "down")
                since = change.at;
            else if (since)
                close(change.line.server, *std::exchange(since, std::nullopt), change.at);
        }
        for (int server = 0; server < servers; ++server) {
            if (const auto since = downSince[static_cast<std::size_t>(server)])
                close(server, *since, m_frame.to);
        }
    }

    // How many were drawn: none of what is in no counter.
    int arrow(const SentMessage &message)
    {
        if (!m_run.isCounted(message))
            return 0;
        const double lane = m_frame.middleOf(message.contender), line = lineOf(message.server);
        const double left = m_frame.xOf(message.at);
        const double right = m_frame.xOf(message.arrives.value_or(message.at + (m_frame.to - m_frame.from) / 40));
        const QPointF start(left, message.toServer ? lane : line), end(right, message.toServer ? line : lane);
        if (!message.arrives)
            drawLost(m_painter, start, end, m_t.critical);
        else if (m_run.isTold(message))
            drawArrow(m_painter, start, end, m_t.accent, 1.6);
        else
            drawArrow(m_painter, start, end, message.toServer ? m_t.text : m_t.muted, message.toServer ? 1.1 : 0.9);
        return 1;
    }

    QPainter &m_painter;
    const PlayedRun &m_run;
    const LaneFrame &m_frame;
    const Tokens &m_t;
    const double m_rowHeight;
};

} // namespace

int paintMessages(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &t)
{
    if (frame.servers.isEmpty() || !run.recording().history.isKept)
        return 0;
    painter.save();
    painter.setClipRect(QRectF(QPointF(0, frame.servers.top()), frame.lanes.bottomRight() + QPointF(1, 0)));
    painter.setRenderHint(QPainter::Antialiasing, true);
    MessagePainter messages(painter, run, frame, t);
    messages.lifeLines();
    painter.setClipRect(
        QRectF(QPointF(frame.lanes.left() - 2, frame.servers.top()), frame.lanes.bottomRight() + QPointF(2, 0)));
    const int count = messages.arrows();
    messages.faults();
    painter.restore();
    return count;
}

QColor blend(const QColor &over, const QColor &under, float amount)
{
    const auto mix = [amount](float a, float b) { return a * amount + b * (1 - amount); };
    return QColor::fromRgbF(mix(over.redF(), under.redF()), mix(over.greenF(), under.greenF()),
                            mix(over.blueF(), under.blueF()));
}

QColor waitFill(const Tokens &t)
{
    return blend(t.wait, t.panel, t.dark ? 0.42f : 0.36f);
}

void drawCross(QPainter &painter, QPointF centre, double half, const QColor &colour, double width)
{
    painter.setPen(QPen(colour, width, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(centre + QPointF(-half, -half), centre + QPointF(half, half));
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
    painter.setPen(Qt::NoPen);
}

void drawBar(QPainter &painter, const QRectF &rect, double radius, const QColor &colour)
{
    painter.setBrush(colour);
    if (radius <= 0 || rect.width() < 2 * radius)
        painter.fillRect(rect, colour);
    else
        painter.drawRoundedRect(rect, radius, radius);
}

void drawFrame(QPainter &painter, const QRectF &rect, const QColor &colour, Qt::PenStyle style, const Tokens &t)
{
    painter.fillRect(rect, blend(colour, t.panel, 0.22f));
    if (rect.width() < 3 || rect.height() < 4)
        return;
    painter.setPen(QPen(colour, 1.6, style));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(0.8, 0.8, -0.8, -0.8));
    painter.setPen(Qt::NoPen);
}

void drawHatch(QPainter &painter, const QRectF &rect, const Tokens &t)
{
    QBrush hatch(t.panel, Qt::BDiagPattern);
    painter.fillRect(rect, hatch);
    painter.setPen(QPen(t.warning, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.setPen(Qt::NoPen);
}

void drawTriangle(QPainter &painter, QPointF centre, double half, const QColor &colour)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const QPointF corners[] = {centre + QPointF(0, -half), centre + QPointF(half, half * 0.8),
                               centre + QPointF(-half, half * 0.8)};
    painter.drawPolygon(corners, 3);
}

void drawWrite(QPainter &painter, QPointF centre, double half, bool isRefused, const Tokens &t)
{
    const QPointF corners[] = {centre + QPointF(0, -half), centre + QPointF(half * 0.8, 0), centre + QPointF(0, half),
                               centre + QPointF(-half * 0.8, 0)};
    painter.setPen(QPen(t.panel, 1));
    painter.setBrush(isRefused ? t.panel : t.text);
    painter.drawPolygon(corners, 4);
    painter.setPen(Qt::NoPen);
    if (!isRefused)
        return;
    painter.setPen(QPen(t.critical, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolygon(corners, 4);
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
    painter.setPen(Qt::NoPen);
}

void drawAct(QPainter &painter, QPointF centre, double half, const Tokens &t)
{
    const QPointF prompt[] = {centre + QPointF(-half * 0.8, -half * 0.8), centre,
                              centre + QPointF(-half * 0.8, half * 0.8)};
    painter.setBrush(Qt::NoBrush);
    for (const auto &pen : {QPen(t.panel, 4), QPen(t.text, 1.8)}) { // first what it stands on
        painter.setPen(pen);
        painter.drawPolyline(prompt, 3);
        painter.drawLine(centre + QPointF(1, half * 0.8), centre + QPointF(half, half * 0.8));
    }
    painter.setPen(Qt::NoPen);
}

void drawGivesUp(QPainter &painter, QPointF centre, double half, const Tokens &t)
{
    painter.setPen(QPen(t.text, 2));
    painter.drawLine(centre + QPointF(0, -half), centre + QPointF(0, half));
    painter.drawLine(centre + QPointF(-half, 0), centre);
    painter.setPen(Qt::NoPen);
}

void drawLoses(QPainter &painter, QPointF centre, double half, const Tokens &t)
{
    painter.setPen(QPen(t.warning, 1.8));
    painter.setBrush(t.panel);
    painter.drawRect(QRectF(centre - QPointF(half, half) * 0.75, QSizeF(1.5 * half, 1.5 * half)));
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
    painter.setPen(Qt::NoPen);
}

void paintGlyph(QPainter &painter, const QRectF &rect, LaneGlyph glyph, const Tokens &t)
{
    painter.setPen(Qt::NoPen);
    const QPointF c = rect.center();
    const double left = rect.left() + 1, right = rect.right() - 1, top = rect.top() + 3, bottom = rect.bottom() - 3;
    const auto centred = [&](double height) { return QRectF(rect.left(), c.y() - height / 2, rect.width(), height); };
    switch (glyph) {
    case LaneGlyph::Waits: drawBar(painter, centred(5), 2, waitFill(t)); break;
    case LaneGlyph::Holds: drawBar(painter, centred(11), 3, t.hold); break;
    case LaneGlyph::Paused:
        drawBar(painter, centred(11), 0, t.hold);
        drawHatch(painter, centred(11), t);
        break;
    case LaneGlyph::Dead: drawCross(painter, c, 4, t.text, 2); break;
    case LaneGlyph::Woken:
        painter.setBrush(t.accent);
        painter.drawEllipse(c, 3.6, 3.6);
        break;
    case LaneGlyph::WokenInVain: // hollow
        painter.setPen(QPen(t.critical, 1.7));
        painter.setBrush(t.panel);
        painter.drawEllipse(c, 2.9, 2.9);
        break;
    case LaneGlyph::Request: painter.fillRect(QRectF(c.x(), c.y() - 3, 1, 6), t.muted); break;
    case LaneGlyph::Fault: drawTriangle(painter, c, 5, t.warning); break;
    case LaneGlyph::HasOne: drawBar(painter, centred(5), 2, t.hold); break;
    case LaneGlyph::Reads: drawFrame(painter, centred(11), t.hold, Qt::SolidLine, t); break;
    case LaneGlyph::Works: drawFrame(painter, centred(11), t.hold, Qt::DashLine, t); break;
    case LaneGlyph::Write: drawWrite(painter, c, 5, false, t); break;
    case LaneGlyph::WriteRefused: drawWrite(painter, c, 5, true, t); break;
    case LaneGlyph::Act: drawAct(painter, c, 5, t); break;
    case LaneGlyph::GivesUp: drawGivesUp(painter, c, 5, t); break;
    case LaneGlyph::Loses: drawLoses(painter, c, 5, t); break;
    case LaneGlyph::Breaks:
        painter.setPen(QPen(t.critical, 1.5, Qt::DashLine));
        painter.drawLine(QPointF(c.x(), rect.top() + 2), QPointF(c.x(), rect.bottom() - 1));
        drawCross(painter, c, 3.5, t.critical, 2);
        break;
    case LaneGlyph::ServerDown: drawDown(painter, centred(8).adjusted(1, 0, -1, 0), t); break;
    case LaneGlyph::SentRequest: drawArrow(painter, {left, bottom}, {right, top}, t.text, 1.1); break;
    case LaneGlyph::SentReply: drawArrow(painter, {left, top}, {right, bottom}, t.muted, 1.1); break;
    case LaneGlyph::SentEvent: drawArrow(painter, {left, top}, {right, bottom}, t.accent, 1.6); break;
    case LaneGlyph::SentInVain:
        drawLost(painter, {left, bottom}, QPointF(left, bottom) + 1.6 * QPointF(right - left, top - bottom),
                 t.critical);
        break;
    }
    painter.setPen(Qt::NoPen);
}

} // namespace lockscope::ui
