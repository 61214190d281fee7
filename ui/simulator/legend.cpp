// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/lanesview.h"
#include "ui/parts/parts.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWidgetAction>

#include <cmath>

namespace lockscope::ui {

using contention::Mark;

namespace {

constexpr double glyphWidth = 18;
constexpr double gap = 16;
constexpr double legendLine = 19;

std::vector<std::pair<LaneGlyph, QString>> entries()
{
    return {{LaneGlyph::Waits, Legend::tr("waits")},
            {LaneGlyph::Holds, Legend::tr("holds")},
            {LaneGlyph::Reads, Legend::tr("holds to read")},
            {LaneGlyph::HasOne, Legend::tr("has a part of what it wants")},
            {LaneGlyph::Works, Legend::tr("works without keeping others out")},
            {LaneGlyph::Paused, Legend::tr("paused")},
            {LaneGlyph::Dead, Legend::tr("dies")},
            {LaneGlyph::Woken, Legend::tr("is woken")},
            {LaneGlyph::WokenInVain, Legend::tr("is woken without getting the lock")},
            {LaneGlyph::GivesUp, Legend::tr("gives up")},
            {LaneGlyph::Loses, Legend::tr("learns that it lost it")},
            {LaneGlyph::Write, Legend::tr("writes, with its token")},
            {LaneGlyph::WriteRefused, Legend::tr("write refused")},
            {LaneGlyph::Act, Legend::tr("does something else")},
            {LaneGlyph::Fault, Legend::tr("fault")},
            {LaneGlyph::ServerDown, Legend::tr("server is down")},
            {LaneGlyph::Breaks, Legend::tr("a guarantee is violated")},
            {LaneGlyph::Request, Legend::tr("request")},
            {LaneGlyph::SentRequest, Legend::tr("on its way to the server")},
            {LaneGlyph::SentReply, Legend::tr("reply")},
            {LaneGlyph::SentEvent, Legend::tr("event")},
            {LaneGlyph::SentInVain, Legend::tr("lost or held back")}};
}

double widthOf(const QFontMetricsF &metrics, const QString &word)
{
    return glyphWidth + 5 + metrics.horizontalAdvance(word);
}

} // namespace

SignTimes::SignTimes(const PlayedRun &run)
{
    readScenario(run.recording().scenario);
    readEvents(run);
    if (hasMessagesToShow(run))
        readMessages(run);
}

void SignTimes::see(LaneGlyph sign, contention::Moment at)
{
    const auto [known, isNew] = m_first.try_emplace(sign, at);
    if (!isNew)
        known->second = std::min(known->second, at);
}

void SignTimes::readScenario(const contention::Scenario &scenario)
{
    for (const auto always : {LaneGlyph::Waits, LaneGlyph::Holds, LaneGlyph::Request})
        see(always);
    if (scenario.readersPercent > 0)
        see(LaneGlyph::Reads);
    if (scenario.locks > 1 || scenario.acquires > 1)
        see(LaneGlyph::HasOne);
    if (contention::isOptimistic(scenario.recipe))
        see(LaneGlyph::Works);
}

void SignTimes::readEvents(const PlayedRun &run)
{
    const auto crash = nameOf(contention::FaultKind::Crash);
    const bool showsMessages = hasMessagesToShow(run);
    for (const auto &event : run.recording().events) {
        switch (event.mark) {
        case Mark::WatchEvent:
        case Mark::Message:
            see(event.isWasted ? LaneGlyph::WokenInVain : LaneGlyph::Woken, event.at);
            if (showsMessages)
                see(LaneGlyph::SentEvent, event.at);
            break;
        case Mark::Pauses: see(LaneGlyph::Paused, event.at); break;
        case Mark::Dies: see(LaneGlyph::Dead, event.at); break;
        case Mark::GivesUp: see(LaneGlyph::GivesUp, event.at); break;
        case Mark::Loses: see(LaneGlyph::Loses, event.at); break;
        case Mark::Breaks: see(LaneGlyph::Breaks, event.at); break;
        case Mark::Writes: see(LaneGlyph::Write, event.at); break;
        case Mark::Acts: see(LaneGlyph::Act, event.at); break;
        // On a lane; whoever crashes has the sign of the dead there.
        case Mark::Fault:
            if (event.contender >= 0 && event.what != crash)
                see(LaneGlyph::Fault, event.at);
            break;
        default: break;
        }
        if (event.what == "refused")
            see(LaneGlyph::WriteRefused, event.at);
    }
}

void SignTimes::readMessages(const PlayedRun &run)
{
    see(LaneGlyph::SentRequest);
    see(LaneGlyph::SentReply);
    if (!run.serverFaults().empty())
        see(LaneGlyph::Fault, run.serverFaults().front());
    const auto &history = run.recording().history;
    for (const auto &change : history.changes) {
        if (change.line.name.isEmpty() && change.line.text == "down")
            see(LaneGlyph::ServerDown, change.at);
    }
    for (const auto &message : history.messages) {
        if (!message.arrives)
            see(LaneGlyph::SentInVain, message.at);
    }
}

Legend::Legend(QWidget *parent) : QWidget(parent), m_signs(signsOf({}, {}))
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(Theme::instance(), &Theme::changed, this, &QWidget::updateGeometry);
    sayInEachLanguage(this, [this] {
        updateGeometry();
        update();
    });
}

void Legend::setRuns(const std::vector<PlayedRunPtr> &runs, std::optional<Moment> until,
                     const std::vector<LaneGlyph> &without)
{
    auto signs = signsOf(runs, until);
    std::erase_if(signs, [&](LaneGlyph sign) { return std::ranges::find(without, sign) != without.end(); });
    if (signs == m_signs)
        return;
    m_signs = std::move(signs);
    updateGeometry();
    update();
}

Legend::Signs Legend::signsOf(const std::vector<PlayedRunPtr> &runs, std::optional<Moment> until)
{
    Signs all;
    for (const auto &[sign, word] : entries()) {
        const auto has = [sign = sign, until](const PlayedRunPtr &run) { return run->signs().isSeen(sign, until); };
        if (runs.empty() || std::ranges::any_of(runs, has))
            all.push_back(sign);
    }
    return all;
}

double Legend::paint(QPainter *painter, QPointF at, double width, const Tokens &t, const Signs &signs, int fontSize,
                     bool isFolded)
{
    const QFont font = textFont(fontSize);
    const QFontMetricsF metrics(font);
    const double line = std::max(legendLine, metrics.height() + 3);
    double x = 4, y = 0;
    if (painter)
        painter->setFont(font);
    for (const auto &[glyph, word] : entries()) {
        if (std::ranges::find(signs, glyph) == signs.end())
            continue;
        const double wide = widthOf(metrics, word);
        if (isFolded && x > 4 && x + wide + gap > width) {
            if (painter)
                painter->drawText(QRectF(at + QPointF(x, 0), QSizeF(gap, line)), Qt::AlignVCenter, u"…"_s);
            break;
        }
        if (x > 4 && x + wide > width) {
            x = 4;
            y += line;
        }
        if (painter) {
            paintGlyph(*painter, QRectF(at + QPointF(x, y), QSizeF(glyphWidth, line)), glyph, t);
            painter->setPen(t.muted);
            painter->drawText(QRectF(at + QPointF(x + glyphWidth + 5, y), QSizeF(wide, line)), Qt::AlignVCenter,
                              word);
        }
        x += wide + gap;
    }
    return y + line;
}

void Legend::setFolded(bool isFolded)
{
    if (std::exchange(m_isFolded, isFolded) == isFolded)
        return;
    updateGeometry();
    update();
}

void Legend::mousePressEvent(QMouseEvent *event)
{
    if (!m_isFolded)
        return;
    auto *menu = makePassingMenu(u"legendMenu"_s, this);
    auto *whole = new Legend(menu);
    whole->m_signs = m_signs;
    whole->m_fontSize = m_fontSize;
    whole->setFixedSize(width() / 2, whole->heightForWidth(width() / 2));
    auto *action = new QWidgetAction(menu);
    action->setDefaultWidget(whole);
    menu->addAction(action);
    menu->popup(event->globalPosition().toPoint());
}

int Legend::heightForWidth(int width) const
{
    return static_cast<int>(std::ceil(paint(nullptr, {}, width, Theme::tokens(), m_signs, m_fontSize, m_isFolded)));
}

void Legend::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if (height() != heightForWidth(width()))
        updateGeometry(); // it was asked when it had another width
}

void Legend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paint(&painter, {}, width(), Theme::tokens(), m_signs, m_fontSize, m_isFolded);
}

} // namespace lockscope::ui
