// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runexport.h"

#include "core/base/text.h"
#include "ui/simulator/words.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBuffer>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double runWidth = 720;
constexpr double headHeight = 64;
constexpr double exportedAxisHeight = 22;
constexpr double mostLanesHeight = 1400; // of one picture; the lanes from the first in sight on
constexpr double margin = 16;

double lanesHeight(const std::vector<RunPicture> &runs)
{
    double most = 0;
    for (const auto &one : runs)
        most = std::max(most, one.run->lanes() * one.frame.laneHeight - one.frame.scrolled);
    return std::clamp(most, 40.0, mostLanesHeight);
}

QSizeF sizeOf(const std::vector<RunPicture> &runs)
{
    return {margin + static_cast<double>(runs.size()) * (runWidth + margin),
            headHeight + lanesHeight(runs) + exportedAxisHeight + margin};
}

void paintHead(QPainter &painter, const RunPicture &one, const Tokens &t)
{
    const auto &recording = one.run->recording();
    const Tally tally = one.run->tallyAfter(one.happened);
    painter.setFont(textFont(15, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(QPointF(8, 28), recipeTitle(recording.scenario.recipe));
    painter.setFont(textFont(12));
    painter.setPen(t.muted);
    painter.drawText(QPointF(8, 48),
                     tr("%1 · %2 · %3 contenders · %4 requests · %5 watch events · %6 in vain · wait p99 %7")
                         .arg(label(recording.scenario.recipe, 40))
                         .arg(recording.world == "sim" ? tr("simulated, seed %1").arg(recording.scenario.seed)
                                                       : tr("played on %1").arg(label(recording.world, 40)))
                         .arg(countText(recording.scenario.contenders), countText(tally.requests),
                              countText(tally.watchEvents), countText(tally.wastedWakeups),
                              momentText(one.run->waitP99After(one.happened))));
}

void paintRuns(QPainter &painter, const std::vector<RunPicture> &runs)
{
    const Tokens &t = Theme::tokens();
    painter.fillRect(QRectF(QPointF(), sizeOf(runs)), t.panel);
    const double height = lanesHeight(runs);
    double x = margin;
    for (const auto &one : runs) {
        painter.save();
        painter.translate(x, 0);
        paintHead(painter, one, t);
        painter.translate(0, headHeight);
        LaneFrame frame = one.frame;
        frame.lanes = QRectF(frame.lanes.left(), 0, runWidth - frame.lanes.left(), height);
        frame.hasFocus = false;
        frame.chosenLane = simulate::nobody;
        paintLanes(painter, *one.run, frame, t);
        paintTimeAxis(painter, frame, t);
        if (frame.cursor < one.run->end())
            paintCursor(painter, frame, t);
        painter.restore();
        x += runWidth + margin;
    }
}

} // namespace

QString savePng(const std::vector<RunPicture> &runs, const QString &file)
{
    constexpr double scale = 2; // for slides
    QImage image((sizeOf(runs) * scale).toSize(), QImage::Format_RGB32);
    if (image.isNull())
        return tr("no memory for a picture of that size");
    image.setDevicePixelRatio(scale);
    QPainter painter(&image);
    paintRuns(painter, runs);
    painter.end();
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    if (!image.save(&bytes, "PNG"))
        return tr("the picture cannot be made");
    return saveBytes(bytes.data(), file);
}

QString saveSvg(const std::vector<RunPicture> &runs, const QString &file)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&bytes);
    generator.setTitle(tr("Lockscope: contenders of a lock"));
    generator.setSize(sizeOf(runs).toSize());
    generator.setViewBox(QRectF(QPointF(), sizeOf(runs)));
    QPainter painter(&generator);
    paintRuns(painter, runs);
    painter.end();
    return saveBytes(bytes.data(), file);
}

QByteArray resultsJson(const std::vector<PlayedRunPtr> &runs)
{
    QJsonArray results;
    for (const auto &run : runs)
        results.append(run->recording().toJson());
    QJsonObject whole{{u"schema"_s, u"lockscope/1"_s}, {u"runs"_s, results}};
    if (!runs.empty())
        whole[u"scenario"_s] = runs.front()->recording().scenario.toJson();
    return QJsonDocument(whole).toJson();
}

QString saveBytes(const QByteArray &bytes, const QString &file)
{
    QSaveFile to(file);
    if (!to.open(QIODevice::WriteOnly) || to.write(bytes) != bytes.size() || !to.commit())
        return to.errorString();
    return {};
}

} // namespace lockscope::ui
