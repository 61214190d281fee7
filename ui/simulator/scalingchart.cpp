// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/scalingchart.h"

#include "ui/parts/parts.h"
#include "ui/simulator/simulatortext.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <cmath>

namespace lockscope::ui {

namespace {

constexpr int chartEnd = 200; // contenders
constexpr int chartStep = 50;

// The style distinguishes the lines without color.
QPen penOf(std::size_t run)
{
    const Tokens &t = Theme::tokens();
    const std::array pens{QPen(t.warning, 2), QPen(t.accent, 2, Qt::DashLine), QPen(t.hold, 2, Qt::DashDotLine)};
    return pens.at(run % pens.size());
}

// The smallest 1, 2 or 5 times a power of ten that is not below the value.
double roundUp(double value)
{
    const double ten = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1, 2, 5}) {
        if (value <= step * ten)
            return step * ten;
    }
    return 10 * ten;
}

double valueAt(const ScalingPoint &point, bool isTime)
{
    return isTime ? static_cast<double>(point.elapsed.count()) / 1e6 : static_cast<double>(point.requests);
}

} // namespace

ScalingChart::ScalingChart(QWidget *parent)
    : QFrame(parent), m_title(makeWrapped({}, u"title"_s, this)), m_time(makeChip({}, this)),
      m_canvas(new QWidget(this))
{
    setProperty("look", u"card"_s);
    m_time->setFocusPolicy(Qt::TabFocus);
    connect(m_time, &QPushButton::toggled, this, &ScalingChart::showTime);
    m_title->setMinimumWidth(20);
    m_canvas->setMinimumHeight(120);
    auto *head = makeRow({}, {{m_title, 1}, m_time});
    makeColumn(this, {.margins = {14, 8, 14, 8}, .spacing = 6}, {head, {m_canvas, 1}});
    connect(Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
    updateTexts();
}

void ScalingChart::updateTexts()
{
    m_time->setText(tr("Time"));
    m_time->setToolTip(tr("Time instead of requests"));
    const QString title = m_isTime ? tr("Time to drain the queue, against the number of contenders")
                                   : tr("Requests to drain the queue, against the number of contenders");
    m_title->setText(m_isElsewhere ? tr("%1 · simulated").arg(title) : title);
    m_canvas->setAccessibleName(m_title->text());
    m_canvas->setAccessibleDescription(m_points.empty() ? QString() : readingAt(m_points.back().contenders));
    update();
}

void ScalingChart::begin(const std::vector<QByteArray> &recipes)
{
    m_recipes = recipes;
    m_points.clear();
    updateTexts();
}

void ScalingChart::add(const ScalingPoint &point)
{
    const auto after = std::ranges::upper_bound(m_points, point.contenders, {}, &ScalingPoint::contenders);
    m_points.insert(after, point);
    updateTexts();
}

void ScalingChart::showTime(bool isTime)
{
    m_isTime = isTime;
    updateTexts();
}

void ScalingChart::setIsElsewhere(bool isElsewhere)
{
    m_isElsewhere = isElsewhere;
    updateTexts();
}

double ScalingChart::valueOf(int run, int contenders) const
{
    const auto point = std::ranges::find_if(m_points, [&](const ScalingPoint &candidate) {
        return candidate.run == run && candidate.contenders == contenders;
    });
    return point == m_points.end() ? -1 : valueAt(*point, m_isTime);
}

QString ScalingChart::readingAt(int contenders) const
{
    QStringList lines{Simulator::tr("%1 contenders").arg(formatCount(contenders))};
    for (const auto &point : m_points) {
        if (point.contenders == contenders)
            lines << u"%1: %2"_s.arg(recipeTitle(m_recipes.at(static_cast<std::size_t>(point.run))),
                                     m_isTime ? momentText(point.elapsed) : formatCount(point.requests));
    }
    return lines.join(u'\n');
}

bool ScalingChart::event(QEvent *event)
{
    if (event->type() == QEvent::LanguageChange)
        updateTexts();
    if (event->type() != QEvent::ToolTip)
        return QFrame::event(event);
    const auto &help = static_cast<const QHelpEvent &>(*event);
    const Plot plot = makePlot();
    const auto distance = [&](const ScalingPoint &point) {
        return std::abs(plot.place(point.contenders, 0).x() - help.x());
    };
    const auto nearest = std::ranges::min_element(m_points, {}, distance);
    const bool isNearPoint = nearest != m_points.end() && m_canvas->geometry().contains(help.pos());
    QToolTip::showText(help.globalPos(), isNearPoint ? plainToolTip(readingAt(nearest->contenders)) : QString());
    return true;
}

QPointF ScalingChart::Plot::place(double contenders, double value) const
{
    return {area.left() + contenders / chartEnd * area.width(), area.bottom() - value / end * area.height()};
}

QString ScalingChart::axisLabel(double value) const
{
    return m_isTime ? axisText(Moment(std::llround(value * 1e6))) : formatCount(std::llround(value));
}

ScalingChart::Plot ScalingChart::makePlot() const
{
    const QFont font = textFont(11);
    Plot plot{QRectF(m_canvas->geometry())};
    const double line = QFontMetricsF(font).height();
    plot.area.adjust(0, line / 2, -tabularWidth(font, formatCount(chartEnd)) / 2, -line - 5);
    double most = 0;
    for (const auto &point : m_points)
        most = std::max(most, valueAt(point, m_isTime));
    if (most > 0) {
        plot.end = 1.15 * most; // room for a name above the highest point
        plot.step = roundUp(plot.end / std::max(2.0, plot.area.height() / (2.5 * line)));
    }
    double widest = 0;
    for (double value = 0; value <= plot.end; value += plot.step)
        widest = std::max(widest, tabularWidth(font, axisLabel(value)));
    plot.area.setLeft(plot.area.left() + widest + 8);
    return plot;
}

void ScalingChart::drawGrid(QPainter &painter, const Plot &plot) const
{
    const Tokens &t = Theme::tokens();
    const double line = painter.fontMetrics().height();
    for (double value = 0; value <= plot.end; value += plot.step) {
        const double y = std::round(plot.place(0, value).y()) + 0.5; // between pixels a line would be blurred
        painter.setPen(t.line);
        painter.drawLine(QPointF(plot.area.left(), y), QPointF(plot.area.right(), y));
        painter.setPen(t.muted);
        const QRectF label(m_canvas->x(), y - line / 2, plot.area.left() - 8 - m_canvas->x(), line);
        if (!m_points.empty())
            drawTabular(painter, label, Qt::AlignRight, axisLabel(value));
    }
    for (int contenders = 0; contenders <= chartEnd; contenders += chartStep) {
        const QPointF below = plot.place(contenders, 0) + QPointF(0, 5);
        const QRectF label(below.x() - 50, below.y(), 100, line);
        drawTabular(painter, label, Qt::AlignHCenter, formatCount(contenders));
    }
}

QPolygonF ScalingChart::lineOf(std::size_t run, const Plot &plot) const
{
    QPolygonF line;
    for (const auto &point : m_points) {
        if (point.run == static_cast<int>(run))
            line << plot.place(point.contenders, valueAt(point, m_isTime));
    }
    return line;
}

// Each name is above the end of its line; where the lines meet, the names are stacked and leave the ends free.
void ScalingChart::drawNames(QPainter &painter, const Plot &plot) const
{
    std::vector<QRectF> taken;
    for (std::size_t i = 0; i < m_recipes.size(); ++i) {
        if (const auto line = lineOf(i, plot); !line.isEmpty())
            taken.emplace_back(line.back() - QPointF(4, 4), QSizeF(8, 8));
    }
    for (std::size_t i = 0; i < m_recipes.size(); ++i) {
        const auto line = lineOf(i, plot);
        if (line.isEmpty())
            continue;
        const QString name = recipeTitle(m_recipes[i]);
        const QFontMetricsF metrics(painter.font());
        QRectF place(0, 0, metrics.horizontalAdvance(name), metrics.height());
        place.moveBottomRight(line.back() + QPointF(0, -6));
        place.moveTop(std::max(place.top(), plot.area.top()));
        place.moveLeft(std::max(place.left(), plot.area.left() + 4));
        const auto meets = [&](const QRectF &other) { return other.adjusted(0, -1, 0, 1).intersects(place); };
        double step = -place.height();
        for (int tries = 0; tries < 16 && std::ranges::any_of(taken, meets); ++tries) {
            if (place.top() + step < plot.area.top()) // no room above: the rest goes below
                step = place.height();
            place.translate(0, step);
        }
        taken.push_back(place);
        const QPointF baseline(place.left(), place.top() + metrics.ascent());
        QPainterPath outline;
        outline.addText(baseline, painter.font(), name);
        painter.strokePath(outline, QPen(Theme::tokens().panel, 4)); // a line behind the name does not touch it
        painter.setPen(penOf(i).color());
        painter.drawText(baseline, name);
    }
}

void ScalingChart::paintEvent(QPaintEvent *event)
{
    QFrame::paintEvent(event);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(textFont(11));
    const Plot plot = makePlot();
    drawGrid(painter, plot);
    for (std::size_t i = 0; i < m_recipes.size(); ++i) {
        const auto line = lineOf(i, plot);
        painter.setPen(penOf(i));
        painter.drawPolyline(line);
        painter.setPen(Qt::NoPen);
        painter.setBrush(penOf(i).color());
        for (const auto &point : line)
            painter.drawEllipse(point, 3, 3);
        painter.setBrush(Qt::NoBrush);
    }
    drawNames(painter, plot);
}

} // namespace lockscope::ui

#include "moc_scalingchart.cpp"
