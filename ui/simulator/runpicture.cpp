// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runexport.h"

#include "core/base/text.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/simulatortext.h"
#include "ui/theme/theme.h"

#include <QBuffer>
#include <QPainter>
#include <QSvgGenerator>

namespace lockscope::ui {

namespace {

constexpr double runWidth = 720;
constexpr double headHeight = 64;
constexpr double exportedAxisHeight = 22;
constexpr double usualLanesHeight = 1400; // more lanes are thinner, so that they fit
constexpr double thinnestLane = 3;
constexpr double namedLane = 16;         // of few lanes that are thin on the screen: each has its name
constexpr double mostLanesHeight = 3000; // where they cannot be thinner; of more those from the first in sight on
constexpr double margin = 16;

double lanesHeight(const std::vector<RunPicture> &runs)
{
    double most = 0;
    for (const auto &run : runs)
        most =
            std::max(most, run.frame.servers.height() + run.run->lanes() * run.frame.laneHeight - run.frame.scrolled);
    return std::clamp(most, 40.0, mostLanesHeight);
}

// With all of their lanes, whatever the screen has room for; of those beside each other all as high as the thinnest.
std::vector<RunPicture> wholeOf(std::vector<RunPicture> runs)
{
    double height = usualLanesHeight;
    for (const auto &one : runs) {
        const double room = usualLanesHeight - one.frame.servers.height();
        height = std::min(
            {height, std::max(one.frame.laneHeight, namedLane), std::max(thinnestLane, room / one.run->lanes())});
    }
    for (auto &[run, frame, happened, title] : runs) {
        const int first = frame.laneAt(frame.lanes.top());
        frame.rows = std::numeric_limits<int>::max(); // a file has room for all
        frame.laneHeight = height;
        const bool hasAll = frame.servers.height() + run->lanes() * height <= mostLanesHeight;
        frame.scrolled = hasAll ? 0 : first * height;
    }
    return runs;
}

// "c120 … c1119 of 5,000"; empty where all are there.
QString lanesText(const RunPicture &one, double height)
{
    const int first = one.frame.laneAt(one.frame.lanes.top());
    const int last =
        std::min(one.run->lanes(), first + int((height - one.frame.servers.height()) / one.frame.laneHeight));
    return first == 0 && last == one.run->lanes()
               ? QString()
               : Simulator::tr("%1 … %2 of %3")
                     .arg(one.run->laneName(first), one.run->laneName(last - 1), formatCount(one.run->lanes()));
}

Legend::Signs signsOf(const std::vector<RunPicture> &runs)
{
    std::vector<PlayedRunPtr> all;
    for (const auto &run : runs)
        all.push_back(run.run);
    return Legend::signsOf(all, runs.empty() ? std::nullopt : runs.front().frame.seen);
}

QSizeF sizeOf(const std::vector<RunPicture> &runs, const Tokens &t, const Legend::Signs &signs)
{
    const double width = margin + static_cast<double>(runs.size()) * (runWidth + margin);
    const double legend = Legend::paint(nullptr, {}, width - 2 * margin, t, signs);
    return {width, headHeight + lanesHeight(runs) + exportedAxisHeight + 2 * margin + legend};
}

void paintHead(QPainter &painter, const RunPicture &one, double height, const Tokens &t)
{
    const auto &recording = one.run->recording();
    const auto tally = one.run->tallyAfter(one.happened);
    const auto counted = [&](qint64 Tally::*what) { return tally ? formatCount((*tally).*what) : QString(u'–'); };
    painter.setFont(textFont(15, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(QPointF(8, 28), one.title.isEmpty() ? recipeTitle(recording.scenario.recipe) : one.title);
    painter.setFont(textFont(12));
    painter.setPen(t.muted);
    painter.drawText(QRectF(0, 12, runWidth, 20), Qt::AlignRight | Qt::AlignVCenter, lanesText(one, height));
    painter.drawText(
        QPointF(8, 48),
        Simulator::tr("%1 · %2 · contenders: %3 · requests: %4 · watch events: %5 · wasted: %6 · wait p99 %7")
            .arg(label(recording.scenario.recipe, 40),
                 recording.world == "sim" ? Simulator::tr("simulated, seed %1").arg(recording.scenario.seed)
                                          : Simulator::tr("played on %1").arg(label(recording.world, 40)),
                 formatCount(recording.scenario.contenders), counted(&Tally::requests), counted(&Tally::watchEvents),
                 tally && tally->watchEvents > 0 ? counted(&Tally::wastedWakeups) : QString(u'–'),
                 momentText(one.run->waitP99After(one.happened, one.frame.cursor))));
}

void paintRuns(QPainter &painter, const std::vector<RunPicture> &runs, const Tokens &t, const Legend::Signs &signs)
{
    const QSizeF size = sizeOf(runs, t, signs);
    painter.fillRect(QRectF(QPointF(), size), t.panel);
    const double height = lanesHeight(runs);
    double x = margin;
    for (const auto &run : runs) {
        painter.save();
        painter.translate(x, 0);
        paintHead(painter, run, height, t);
        painter.translate(0, headHeight);
        LaneFrame frame = run.frame;
        const double above = frame.servers.height();
        frame.lanes = QRectF(frame.lanes.left(), above, runWidth - frame.lanes.left(), height - above);
        if (above > 0)
            frame.servers = QRectF(frame.lanes.left(), 0, frame.lanes.width(), above);
        frame.hasFocus = false;
        frame.chosenLane = contention::nobody;
        paintLanes(painter, *run.run, frame, t);
        paintTimeAxis(painter, frame, t);
        if (frame.cursor < run.run->end())
            paintCursor(painter, frame, t);
        paintWakeUps(painter, frame, run.run->recording().history.servers, t);
        painter.restore();
        x += runWidth + margin;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    Legend::paint(&painter, {margin, headHeight + height + exportedAxisHeight + margin}, size.width() - 2 * margin, t,
                  signs);
}

} // namespace

std::vector<RunPicture> picturesAt(std::vector<RunPicture> runs, Moment at)
{
    for (auto &run : runs) {
        run.frame.cursor = at;
        run.frame.seen = at;
        run.happened = run.run->countUntil(at);
    }
    return runs;
}

QImage imageOf(const std::vector<RunPicture> &shown, const Tokens &tokens, const std::vector<RunPicture> &legendOf,
               double scale)
{
    const auto runs = wholeOf(shown);
    const auto signs = signsOf(legendOf);
    QImage image((sizeOf(runs, tokens, signs) * scale).toSize(), QImage::Format_RGB32);
    if (image.isNull())
        return image;
    image.setDevicePixelRatio(scale);
    QPainter painter(&image);
    paintRuns(painter, runs, tokens, signs);
    return image;
}

QString savePng(const std::vector<RunPicture> &runs, const QString &file)
{
    constexpr double scale = 2; // for slides
    const QImage image = imageOf(runs, Theme::tokens(), runs, scale);
    if (image.isNull())
        return Simulator::tr("no memory for a picture of that size");
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    if (!image.save(&bytes, "PNG"))
        return Simulator::tr("the picture cannot be made");
    return saveBytes(bytes.data(), file);
}

QString saveSvg(const std::vector<RunPicture> &shown, const QString &file)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&bytes);
    generator.setTitle(Simulator::tr("Lockscope: contenders of a lock"));
    const Tokens &tokens = Theme::tokens();
    const auto runs = wholeOf(shown);
    const auto signs = signsOf(runs);
    const QSizeF size = sizeOf(runs, tokens, signs);
    generator.setSize(size.toSize());
    generator.setViewBox(QRectF(QPointF(), size));
    QPainter painter(&generator);
    paintRuns(painter, runs, tokens, signs);
    painter.end();
    return saveBytes(bytes.data(), file);
}

} // namespace lockscope::ui
