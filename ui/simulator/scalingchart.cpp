// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/scalingchart.h"

#include "ui/parts/parts.h"
#include "ui/simulator/simulatorwords.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QChart>
#include <QChartView>
#include <QGraphicsSimpleTextItem>
#include <QLabel>
#include <QLineSeries>
#include <QPushButton>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int chartEnd = 200; // contenders

struct LineLook {
    QColor colour;
    Qt::PenStyle style; // to be told apart without colour
};

LineLook lookOf(std::size_t run, const Tokens &t)
{
    switch (run % 3) {
    case 0: return {t.warning, Qt::SolidLine};
    case 1: return {t.accent, Qt::DashLine};
    default: return {t.hold, Qt::DashDotLine};
    }
}

// The next round number.
double roundUp(double value)
{
    const double ten = std::pow(10, std::floor(std::log10(std::max(value, 1e-6))));
    for (const double factor : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
        if (value <= factor * ten)
            return factor * ten;
    }
    return 10 * ten;
}

double valueAt(const ScalingPoint &point, bool isTime)
{
    return isTime ? static_cast<double>(point.elapsed.count()) / 1e6 : static_cast<double>(point.requests);
}

} // namespace

ScalingChart::ScalingChart(QWidget *parent)
    : QFrame(parent), m_title(makeLabel({}, u"title"_s, this)), m_notice(makeLabel({}, u"muted"_s, this)),
      m_time(new QPushButton(this)), m_chart(new QChart), m_view(new QChartView(m_chart, this)),
      m_x(new QValueAxis(m_chart)), m_y(new QValueAxis(m_chart))
{
    setProperty("look", u"card"_s);
    m_time->setProperty("look", u"chip"_s);
    m_time->setCheckable(true);
    m_time->setFocusPolicy(Qt::TabFocus);
    connect(m_time, &QPushButton::toggled, this, &ScalingChart::showTime);
    m_notice->setAlignment(Qt::AlignCenter);
    m_notice->setWordWrap(true);
    m_notice->hide();
    m_title->setMinimumWidth(20);
    m_title->setWordWrap(true);
    auto *head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_time);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(14, 8, 14, 6);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(m_notice, 1);
    column->addWidget(m_view, 1);

    m_chart->legend()->hide();
    m_chart->setMargins({});
    m_chart->setBackgroundRoundness(0);
    m_chart->addAxis(m_x, Qt::AlignBottom);
    m_chart->addAxis(m_y, Qt::AlignLeft);
    m_x->setRange(0, chartEnd);
    m_x->setTickCount(5);
    m_x->setLabelFormat(u"%d"_s);
    m_x->setGridLineVisible(false);
    m_y->setTickCount(3);
    m_view->setRenderHint(QPainter::Antialiasing);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setMinimumHeight(120);
    m_view->setFocusPolicy(Qt::NoFocus);
    connect(m_chart, &QChart::plotAreaChanged, this, &ScalingChart::placeNames);
    connect(Theme::instance(), &Theme::changed, this, &ScalingChart::dress);
    dress();
    sayWords();
}

void ScalingChart::sayWords()
{
    m_time->setText(tr("Time"));
    m_time->setToolTip(tr("Time instead of requests"));
    m_view->setAccessibleName(tr("Requests against the number of contenders"));
    for (std::size_t i = 0; i < m_names.size(); ++i)
        m_names[i]->setText(recipeTitle(m_recipes[i]));
    showTime(m_isTime);
}

void ScalingChart::changeEvent(QEvent *event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::LanguageChange)
        sayWords();
}

void ScalingChart::begin(const std::vector<QByteArray> &recipes, const QString &why)
{
    m_recipes = recipes;
    m_points.clear();
    m_chart->removeAllSeries();
    m_lines.clear();
    qDeleteAll(m_names);
    m_names.clear();
    for (const auto &recipe : recipes) {
        auto *line = new QLineSeries(m_chart);
        line->setPointsVisible(true);
        m_chart->addSeries(line);
        line->attachAxis(m_x);
        line->attachAxis(m_y);
        m_lines.push_back(line);
        m_names.push_back(new QGraphicsSimpleTextItem(recipeTitle(recipe), m_chart));
    }
    m_notice->setText(why);
    m_notice->setVisible(!why.isEmpty());
    m_view->setVisible(why.isEmpty());
    m_time->setVisible(why.isEmpty());
    dress();
    draw();
}

void ScalingChart::add(const ScalingPoint &point)
{
    m_points.push_back(point);
    draw();
}

void ScalingChart::showTime(bool isTime)
{
    m_isTime = isTime;
    showTitle();
    m_y->setLabelFormat(isTime ? Simulator::tr("%1 s").arg(u"%g"_s) : u"%d"_s);
    draw();
}

void ScalingChart::setIsElsewhere(bool isElsewhere)
{
    m_isElsewhere = isElsewhere;
    showTitle();
}

void ScalingChart::showTitle()
{
    const QString title = m_isTime ? tr("Time to drain the queue, against the number of contenders")
                                   : tr("Requests to drain the queue, against the number of contenders");
    m_title->setText(m_isElsewhere ? tr("%1 · simulated").arg(title) : title);
}

double ScalingChart::valueOf(int run, int contenders) const
{
    const auto point = std::find_if(m_points.begin(), m_points.end(), [&](const ScalingPoint &one) {
        return one.run == run && one.contenders == contenders;
    });
    return point == m_points.end() ? -1 : valueAt(*point, m_isTime);
}

void ScalingChart::draw()
{
    double most = 0;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        QList<QPointF> line;
        for (const auto &point : m_points) {
            if (point.run == static_cast<int>(i))
                line << QPointF(point.contenders, valueAt(point, m_isTime));
        }
        std::sort(line.begin(), line.end(), [](QPointF a, QPointF b) { return a.x() < b.x(); });
        for (const auto &point : line)
            most = std::max(most, point.y());
        m_lines[i]->replace(line);
    }
    m_y->setRange(0, most > 0 ? roundUp(1.12 * most) : 1);
    placeNames();
}

// Beside the end of each line, one above the other where the lines meet.
void ScalingChart::placeNames()
{
    std::vector<QRectF> taken;
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        const auto points = m_lines[i]->points();
        m_names[i]->setVisible(!points.isEmpty());
        if (points.isEmpty())
            continue;
        const QPointF end = m_chart->mapToPosition(points.back(), m_lines[i]);
        QRectF place = m_names[i]->boundingRect();
        place.moveBottomRight(end + QPointF(0, -6));
        const QRectF plot = m_chart->plotArea();
        place.moveTop(std::max(place.top(), plot.top()));
        place.moveLeft(std::max(place.left(), plot.left() + 4));
        const auto meets = [&](const QRectF &other) { return other.adjusted(0, -1, 0, 1).intersects(place); };
        const auto isTaken = [&] { return std::any_of(taken.begin(), taken.end(), meets); };
        // Upwards, and from the top on downwards.
        double step = -place.height();
        for (int tries = 0; tries < 8 && isTaken(); ++tries) {
            if (place.top() + step < plot.top())
                step = place.height();
            place.translate(0, step);
        }
        taken.push_back(place);
        m_names[i]->setPos(place.topLeft());
    }
}

void ScalingChart::dress()
{
    const Tokens &t = Theme::tokens();
    m_chart->setBackgroundBrush(t.panel);
    m_chart->setPlotAreaBackgroundVisible(false);
    for (auto *axis : {m_x, m_y}) {
        axis->setLabelsFont(textFont(11));
        axis->setLabelsColor(t.muted);
        axis->setLinePen(QPen(t.line));
        axis->setGridLinePen(QPen(t.line));
    }
    m_y->setLineVisible(false);
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const auto look = lookOf(i, t);
        m_lines[i]->setPen(QPen(look.colour, 2, look.style));
        m_names[i]->setBrush(look.colour);
        m_names[i]->setFont(textFont(11));
    }
    m_view->setBackgroundBrush(t.panel);
}

void ScalingChart::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    placeNames();
}

} // namespace lockscope::ui

#include "moc_scalingchart.cpp"
