// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/messagepaint.h"

#include "ui/simulator/simulatorwords.h"
#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <map>

namespace lockscope::ui {

using contention::SentMessage;

namespace {

constexpr std::ptrdiff_t mostArrows = 240; // in one picture
// Requests and replies that begin within so many pixels: where more do than this, some stand for all, or there would
// be a wall that hides the lanes.
constexpr double crowdWidth = 24;
constexpr int crowd = 24, keptOfCrowd = 6;

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

// Leaves, and does not come.
void drawLost(QPainter &painter, QPointF from, QPointF towards, const QColor &colour)
{
    const QPointF end = from + (towards - from) * 0.55;
    painter.setPen(QPen(colour, 1.4, Qt::DashLine));
    painter.drawLine(from, end);
    painter.setPen(QPen(colour, 2));
    painter.drawLine(end + QPointF(-3.5, -3.5), end + QPointF(3.5, 3.5));
    painter.drawLine(end + QPointF(-3.5, 3.5), end + QPointF(3.5, -3.5));
    painter.setPen(Qt::NoPen);
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
        m_painter.setFont(monoFont(12));
        for (int server = 0; server < servers; ++server) {
            const double y = lineOf(server);
            m_painter.setPen(QPen(m_t.line, 1.5));
            m_painter.drawLine(QPointF(m_frame.lanes.left(), y), QPointF(m_frame.lanes.right(), y));
            m_painter.setPen(m_t.muted);
            const QRectF word(6, y - m_rowHeight / 2, std::max(0.0, m_frame.lanes.left() - 10), m_rowHeight);
            if (m_frame.showsNames)
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
        auto first = from, last = to;
        if (to - from > mostArrows) { // those before the cursor
            last = std::ranges::upper_bound(from, to, m_frame.cursor, {}, &SentMessage::at);
            first = last - std::min(last - from, mostArrows / 8);
        }
        std::map<int, int> left; // of each crowd, those still to come
        for (auto at = first; at != last; ++at)
            left[crowdOf(*at)] += isOrdinary(*at);
        std::erase_if(left, [](const auto &one) { return one.second <= crowd; });
        int drawn = 0;
        for (auto at = first; at != last; ++at) {
            const auto among = isOrdinary(*at) ? left.find(crowdOf(*at)) : left.end();
            if (among != left.end() && among->second-- > keptOfCrowd)
                continue;
            arrow(*at);
            ++drawn;
        }
        return drawn;
    }

private:
    [[nodiscard]] int crowdOf(const SentMessage &message) const
    {
        return static_cast<int>(std::floor((m_frame.xOf(message.at) - m_frame.lanes.left()) / crowdWidth));
    }
    // What is lost, and what nobody asked for, is always there.
    [[nodiscard]] bool isOrdinary(const SentMessage &message) const { return message.arrives && !isEvent(message); }
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
            m_painter.fillRect(QRectF(left, y - 4, right - left, 8), m_t.panel);
            m_painter.setPen(QPen(m_t.critical, 1.4, Qt::DotLine));
            m_painter.drawRect(QRectF(left, y - 4, right - left, 8));
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

    // Of those that come to a client: told without having asked.
    [[nodiscard]] bool isEvent(const SentMessage &message) const
    {
        if (message.toServer || !message.arrives)
            return false;
        const auto told = m_run.signalsOf().momentsOf(message.contender);
        return std::ranges::binary_search(told, *message.arrives);
    }

    void arrow(const SentMessage &message)
    {
        const double lane = m_frame.middleOf(message.contender), line = lineOf(message.server);
        const double left = m_frame.xOf(message.at);
        const double right = m_frame.xOf(message.arrives.value_or(message.at + (m_frame.to - m_frame.from) / 40));
        const QPointF start(left, message.toServer ? lane : line), end(right, message.toServer ? line : lane);
        if (!message.arrives)
            drawLost(m_painter, start, end, m_t.critical);
        else if (isEvent(message))
            drawArrow(m_painter, start, end, m_t.accent, 1.6);
        else
            drawArrow(m_painter, start, end, message.toServer ? m_t.text : m_t.muted, message.toServer ? 1.1 : 0.9);
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
    painter.restore();
    return count;
}

void paintMessageGlyph(QPainter &painter, const QRectF &rect, LaneGlyph glyph, const Tokens &t)
{
    const QPointF low(rect.left() + 1, rect.bottom() - 3), high(rect.right() - 1, rect.top() + 3);
    switch (glyph) {
    case LaneGlyph::SentRequest: drawArrow(painter, low, high, t.text, 1.1); break;
    case LaneGlyph::SentReply:
        drawArrow(painter, QPointF(low.x(), high.y()), QPointF(high.x(), low.y()), t.muted, 1.1);
        break;
    case LaneGlyph::SentEvent:
        drawArrow(painter, QPointF(low.x(), high.y()), QPointF(high.x(), low.y()), t.accent, 1.6);
        break;
    default: drawLost(painter, low, high + (high - low) * 0.6, t.critical);
    }
    painter.setPen(Qt::NoPen);
}

} // namespace lockscope::ui
