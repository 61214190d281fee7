// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/lanesview.h"

#include "ui/simulator/playback.h"
#include "ui/simulator/simulatortext.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>

namespace lockscope::ui {

namespace {

constexpr double laneHeight = 26;
constexpr double leastLaneHeight = 20;
constexpr double mostLaneHeight = 60; // of few lanes in a large picture
constexpr double leastHeight = 1.5;   // of a lane in the overview
constexpr double mostHeight = 12;
constexpr double leastLanesHeight = 92; // in sight
constexpr double mostZoom = 10'000;
constexpr int zoomSteps = 1'000'000'000; // of the horizontal bar, over the whole run
constexpr int mostStageLanes = 10;       // with a row each; of more there are one less, and a band
constexpr int fewInBand = 9;

// Rows of a stage, and those of them that the band takes.
std::pair<int, int> rowsOfStage(int lanes)
{
    if (lanes <= mostStageLanes)
        return {std::max(1, lanes), 0};
    const int band = lanes - (mostStageLanes - 1) <= fewInBand ? 1 : 4;
    return {mostStageLanes - 1 + band, band};
}

} // namespace

int LanesView::stageRows() const
{
    return rowsOfStage(m_run ? m_run->lanes() : 1).first;
}

LanesView::LanesView(QWidget *parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Lanes of the contenders"));
    setObjectName(u"lanes"_s);
    setMinimumHeight(120);
    connect(Theme::instance(), &Theme::changed, this, &LanesView::measure);
}

void LanesView::setRun(PlayedRunPtr run, Moment end)
{
    m_run = std::move(run);
    m_end = std::max(end, Moment(1));
    m_showsMessages = m_run && hasMessagesToShow(*m_run);
    if (m_seen)
        m_seen = Moment{};
    if (!m_run || m_chosen >= m_run->lanes())
        m_chosen = contention::nobody;
    measure();
}

// Names are as large as the text is.
void LanesView::measure()
{
    m_gutter = 44;
    if (m_run && m_run->lanes() > 0) {
        const QFontMetricsF metrics(monoFont(fontSize()));
        const double server = m_showsMessages ? metrics.horizontalAdvance(tr("server")) : 0;
        const int others = m_isStage && m_run->lanes() > mostStageLanes ? m_run->lanes() - mostStageLanes + 1 : 0;
        const double more = others > 0 ? metrics.horizontalAdvance(Simulator::tr("%1 more").arg(others)) : 0;
        m_gutter = std::max({metrics.horizontalAdvance(m_run->laneName(m_run->lanes() - 1)), server, more}) + 18;
    }
    double wanted = m_run ? std::min(leastLanesHeight, std::max(2, m_run->lanes()) * laneHeight) : leastLanesHeight;
    if (m_isStage)
        wanted = std::max(wanted, stageRows() * QFontMetricsF(monoFont(fontSize())).height());
    setMinimumHeight(axisHeight() + static_cast<int>(std::ceil(heightOfServers() + wanted))
                     + (m_isStage ? 0 : 14)); // its bar
    updateBars();
}

// In the overview all of them fit, if they can.
double LanesView::heightOfLane(double available) const
{
    const double each = available / std::max(1, m_run ? m_run->lanes() : 1);
    if (m_isStage)
        return std::min(available / stageRows(), mostLaneHeight);
    if (m_isDense)
        return std::clamp(each, leastHeight, mostHeight);
    // Few of them fill the picture; a few more are a little lower, rather than scrolled away.
    if (each >= leastLaneHeight)
        return std::min(each, mostLaneHeight);
    return available / std::max(1.0, std::floor(available / laneHeight)); // none of those in sight is cut
}

// Above the picture; whole ones, where each can be told from the next.
double LanesView::lanesScrolled() const
{
    const double lanes = verticalScrollBar()->value() / heightOfLane(heightForLanes(viewport()->height()));
    return m_isDense ? lanes : std::round(lanes);
}

// A life line for each server, above the lanes.
double LanesView::heightOfServers() const
{
    if (!m_showsMessages || m_isDense || !m_run)
        return 0;
    const int servers = m_run->recording().history.servers;
    return servers > 1 ? (fontSize() + 4.0) * servers + 6 : 28.0;
}

double LanesView::heightForLanes(double height) const
{
    return std::max(1.0, height - axisHeight() - heightOfServers());
}

void LanesView::setShowsMessages(bool isShown)
{
    const bool shows = isShown && m_run && hasMessagesToShow(*m_run);
    if (std::exchange(m_showsMessages, shows) != shows)
        measure();
}

void LanesView::setHidesFuture(bool isHidden)
{
    m_seen = isHidden ? std::optional(m_cursor) : std::nullopt;
    viewport()->update();
}

void LanesView::showUntil(Moment at)
{
    if (m_seen)
        m_seen = std::max(*m_seen, at);
    viewport()->update();
}

LaneFrame LanesView::frameFor(const QSizeF &size) const
{
    LaneFrame frame = m_stage;
    const double top = heightOfServers();
    frame.fontSize = fontSize();
    frame.laneHeight = heightOfLane(heightForLanes(size.height()));
    frame.lanes = QRectF(m_gutter, top, 0, heightForLanes(size.height()));
    const int lanes = m_run ? m_run->lanes() : 0;
    if (const int band = rowsOfStage(lanes).second; m_isStage && band > 0) {
        frame.rows = mostStageLanes - 1;
        frame.bandEach = band * frame.laneHeight / (lanes - frame.rows);
    }
    frame.lanes.setRight(size.width() - 10);
    if (top > 0)
        frame.servers = QRectF(frame.lanes.left(), 0, frame.lanes.width(), top);
    frame.seen = m_seen;
    frame.scrolled = lanesScrolled() * frame.laneHeight;
    const double left = static_cast<double>(horizontalScrollBar()->value()) / zoomSteps;
    frame.from = Moment(std::llround(left * static_cast<double>(m_end.count())));
    frame.to = frame.from + span();
    frame.cursor = m_cursor;
    frame.chosenLane = m_chosen;
    return frame;
}

LaneFrame LanesView::frame() const
{
    LaneFrame frame = frameFor(viewport()->size());
    frame.hasFocus = hasFocus();
    return frame;
}

void LanesView::updateBars()
{
    const int lanes = m_run ? m_run->lanes() : 0;
    const double available = heightForLanes(viewport()->height());
    const double height = m_isStage ? 0 : lanes * heightOfLane(available);
    const int page = std::max(1, static_cast<int>(available));
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(static_cast<int>(laneHeight));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(height)) - page));
    const int shown = static_cast<int>(zoomSteps / m_zoom);
    horizontalScrollBar()->setPageStep(std::max(1, shown));
    horizontalScrollBar()->setSingleStep(std::max(1, shown / 20));
    horizontalScrollBar()->setRange(0, zoomSteps - shown);
    viewport()->update();
}

void LanesView::setStage()
{
    m_isStage = true;
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    measure();
}

void LanesView::setSight(Moment from, Moment to)
{
    m_zoom =
        std::clamp(static_cast<double>(m_end.count()) / static_cast<double>(std::max(Moment(1), to - from).count()),
                   1.0, mostZoom);
    updateBars();
    horizontalScrollBar()->setValue(
        static_cast<int>(static_cast<double>(from.count()) / static_cast<double>(m_end.count()) * zoomSteps));
}

void LanesView::setWakeUps(std::vector<WakeUp> wakeUps)
{
    m_stage.wakeUps = std::move(wakeUps);
    setFlight(1, 1);
}

void LanesView::setFlight(double flight, double fall)
{
    m_stage.flight = flight;
    m_stage.fall = fall;
    viewport()->update();
}

void LanesView::setWatches(std::vector<std::pair<int, int>> watches)
{
    m_stage.watches = std::move(watches);
    viewport()->update();
}

void LanesView::setDense(bool isDense)
{
    const LaneFrame before = frame();
    const int top = before.laneAt(before.lanes.top());
    m_isDense = isDense;
    updateBars();
    verticalScrollBar()->setValue(static_cast<int>(top * frame().laneHeight));
}

double LanesView::fittedZoom() const
{
    if (!m_run || m_isDense || m_run->lanes() == 0)
        return 1;
    LaneFrame first = frame();
    first.scrolled = 0;
    const int lowest = first.laneAt(first.lanes.bottom());
    if (lowest >= m_run->lanes() - 1)
        return 1; // all of them: then the whole run, to its end
    const auto spans = m_run->spans(lowest);
    const Moment last = spans.empty() ? m_end : spans.back().to;
    return std::clamp(static_cast<double>(m_end.count()) / std::max(1.0, 1.15 * static_cast<double>(last.count())),
                      1.0, mostZoom);
}

void LanesView::setZoom(double zoom, Moment around)
{
    const LaneFrame before = frame();
    const double share = static_cast<double>((around - before.from).count()) / static_cast<double>(span().count());
    m_zoom = std::clamp(zoom, 1.0, mostZoom);
    updateBars();
    const double from = static_cast<double>(around.count()) - share * static_cast<double>(span().count());
    horizontalScrollBar()->setValue(static_cast<int>(from / static_cast<double>(m_end.count()) * zoomSteps));
}

void LanesView::setCursor_(Moment at, std::size_t happened)
{
    m_cursor = at;
    if (m_seen)
        m_seen = std::max(*m_seen, at);
    if (!m_isStage)
        follow(happened);
    viewport()->update();
}

// Keeps in sight who holds at the cursor, at the end who did last, and the cursor.
void LanesView::follow(std::size_t happened)
{
    if (!m_run || m_run->eventCount() == 0)
        return;
    int holder = m_run->holderAfter(happened);
    if (happened == m_run->eventCount() && m_zoom > 1)
        holder = std::min(m_run->event(happened - 1).contender, m_run->lanes() - 1);
    m_followed = holder;
    if (holder >= 0)
        reveal(holder);
    const LaneFrame now = frame();
    if (m_zoom > 1 && (m_cursor < now.from || m_cursor > now.to - span() / 10)) {
        const double from =
            static_cast<double>((m_cursor - span() / 10).count()) / static_cast<double>(m_end.count());
        horizontalScrollBar()->setValue(static_cast<int>(from * zoomSteps));
    }
}

void LanesView::reveal(int lane)
{
    const LaneFrame now = frame();
    const double top = lane * now.laneHeight;
    // With a few of those behind it, who wait.
    const double ahead = std::min(3 * now.laneHeight, now.lanes.height() / 3);
    auto *bar = verticalScrollBar();
    if (top < now.scrolled)
        bar->setValue(static_cast<int>(top));
    else if (top + now.laneHeight + ahead > now.scrolled + now.lanes.height() + 0.5)
        bar->setValue(static_cast<int>(std::ceil(top + now.laneHeight + ahead - now.lanes.height())));
}

void LanesView::scrollAlong(double lanes, int horizontal)
{
    const QSignalBlocker quiet(this);
    verticalScrollBar()->setValue(qRound(lanes * frame().laneHeight));
    horizontalScrollBar()->setValue(horizontal);
}

void LanesView::setChosenLane(int lane)
{
    const int last = m_run ? m_run->lanes() - 1 : -1;
    m_chosen = lane < 0 || last < 0 ? contention::nobody : std::min(lane, last);
    if (m_chosen != contention::nobody) {
        reveal(m_chosen);
        setAccessibleDescription(m_run->laneName(m_chosen));
    }
    viewport()->update();
}

void LanesView::keyPressEvent(QKeyEvent *event)
{
    const auto choose = [this](int lane) {
        setChosenLane(lane);
        emit laneChosen(m_chosen);
    };
    const int page = std::max(1, static_cast<int>(frame().lanes.height() / frame().laneHeight) - 1);
    switch (event->key()) {
    case Qt::Key_Up: choose(std::max(0, m_chosen - 1)); return;
    case Qt::Key_Down: choose(m_chosen + 1); return;
    case Qt::Key_PageUp: choose(std::max(0, m_chosen - page)); return;
    case Qt::Key_PageDown: choose(std::max(0, m_chosen) + page); return;
    case Qt::Key_Escape: choose(contention::nobody); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Menu:
        if (m_chosen != contention::nobody) {
            const LaneFrame now = frame();
            const double y = now.lanes.top() + (m_chosen + 1) * now.laneHeight - now.scrolled;
            emit menuRequested(m_chosen, viewport()->mapToGlobal(QPointF(now.xOf(m_cursor), y).toPoint()));
        }
        return;
    default: event->ignore(); // the page's keys: not those of a scroll area
    }
}

void LanesView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || !m_run)
        return;
    const LaneFrame now = frame();
    const int lane = now.laneAt(event->position().y());
    if (event->position().y() < now.lanes.bottom() && lane >= 0 && lane < m_run->lanes() && lane != m_chosen) {
        m_chosen = lane;
        viewport()->update();
        emit laneChosen(lane);
    }
    if (event->position().x() >= now.lanes.left())
        emit momentChosen(std::clamp(now.momentAt(event->position().x()), Moment{}, m_end));
}

void LanesView::mouseMoveEvent(QMouseEvent *event)
{
    if (event->buttons() & Qt::LeftButton && m_run)
        emit momentChosen(std::clamp(frame().momentAt(event->position().x()), Moment{}, m_end));
}

void LanesView::contextMenuEvent(QContextMenuEvent *event)
{
    const int lane = m_run ? frame().laneAt(event->pos().y()) : contention::nobody;
    if (m_run && event->reason() == QContextMenuEvent::Mouse && event->pos().y() < frame().servers.bottom()) {
        askOfServer(*event);
        return;
    }
    if (lane < 0 || lane >= m_run->lanes())
        return;
    setChosenLane(lane);
    emit laneChosen(lane);
    const LaneFrame now = frame();
    if (event->reason() == QContextMenuEvent::Mouse && event->pos().x() >= now.lanes.left())
        emit momentChosen(
            std::clamp(now.momentAt(event->pos().x()), Moment{}, m_end)); // then is when it is to happen
    emit menuRequested(lane, event->globalPos());
}

// On the line of a server.
void LanesView::askOfServer(const QContextMenuEvent &event)
{
    const LaneFrame now = frame();
    const int servers = std::max(1, m_run->recording().history.servers);
    const int server = static_cast<int>((event.pos().y() - now.servers.top()) / now.servers.height() * servers);
    emit momentChosen(std::clamp(now.momentAt(event.pos().x()), Moment{}, m_end));
    emit serverMenuRequested(std::clamp(server, 0, servers - 1), event.globalPos());
}

void LanesView::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ControlModifier) {
        const Moment around = std::clamp(frame().momentAt(event->position().x()), Moment{}, m_end);
        emit zoomed(std::clamp(m_zoom * std::pow(1.2, event->angleDelta().y() / 120.0), 1.0, mostZoom), around);
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

QString LanesView::tipAt(const QPoint &position) const
{
    const LaneFrame now = frame();
    const int lane = now.laneAt(position.y());
    if (!m_run || lane < 0 || lane >= m_run->lanes() || position.y() >= now.lanes.bottom())
        return {};
    QStringList lines{u"%1 · %2"_s.arg(m_run->laneName(lane), momentText(now.momentAt(position.x())))};
    const Moment from = now.momentAt(position.x() - 4);
    const Moment to = now.momentAt(position.x() + 4);
    if (m_seen && from > *m_seen)
        return {}; // not before it was there
    for (const auto *events : {&m_run->signalsOf(), &m_run->requestsOf(), &m_run->writesOf(), &m_run->troublesOf()}) {
        const auto all = events->of(lane);
        const auto first = std::lower_bound(all.begin(), all.end(), from,
                                            [this](quint32 index, Moment at) { return m_run->event(index).at < at; });
        for (auto it = first; it != all.end() && m_run->event(*it).at <= to && it - first < 4; ++it)
            lines << momentText(m_run->event(*it).at) + u"  "_s + eventSentence(*m_run, *it);
    }
    return lines.join(u'\n');
}

bool LanesView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        QToolTip::showText(help->globalPos(), plainToolTip(tipAt(help->pos())), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void LanesView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    auto *bar = verticalScrollBar();
    const bool wasAtEnd = bar->value() > 0 && bar->value() == bar->maximum();
    const double room = heightForLanes(event->oldSize().height()), before = heightOfLane(room);
    const double first = std::round(bar->value() / before);
    const bool wasSeen = m_followed >= first && m_followed + 1 <= first + std::round(room / before);
    updateBars();
    if (wasAtEnd)
        bar->setValue(bar->maximum());
    else if (!m_isDense)
        bar->setValue(static_cast<int>(first * heightOfLane(heightForLanes(viewport()->height()))));
    if (wasSeen)
        reveal(m_followed);
}

void LanesView::scrollContentsBy(int, int)
{
    viewport()->update();
    emit scrolledTo(lanesScrolled(), horizontalScrollBar()->value());
}

void LanesView::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), t.panel);
    m_cost = {};
    if (!m_run)
        return;
    const LaneFrame now = frame();
    if (m_run->eventCount() == 0) {
        painter.setPen(t.muted);
        painter.drawText(viewport()->rect(), Qt::AlignCenter,
                         tr("Its events were not kept: only the counters are known."));
        return;
    }
    m_cost = paintLanes(painter, *m_run, now, t);
    paintTimeAxis(painter, now, t);
    paintCursor(painter, now, t);
    paintWakeUps(painter, now, m_run->recording().history.servers, t);
    if (now.hasFocus) {
        painter.setPen(QPen(t.accent, 1));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

} // namespace lockscope::ui

#include "moc_lanesview.cpp"
