// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runexport.h"

#include "core/base/text.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/simulatorwords.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBuffer>
#include <QFileDialog>
#include <QFileInfo>
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
        most =
            std::max(most, one.frame.servers.height() + one.run->lanes() * one.frame.laneHeight - one.frame.scrolled);
    return std::clamp(most, 40.0, mostLanesHeight);
}

Legend::Signs signsOf(const std::vector<RunPicture> &runs)
{
    std::vector<PlayedRunPtr> all;
    for (const auto &one : runs)
        all.push_back(one.run);
    return Legend::signsOf(all, runs.empty() ? std::nullopt : runs.front().frame.seen);
}

double legendHeight(const std::vector<RunPicture> &runs, double width)
{
    return Legend::paint(nullptr, {}, width - 2 * margin, Theme::tokens(), signsOf(runs));
}

QSizeF sizeOf(const std::vector<RunPicture> &runs)
{
    const double width = margin + static_cast<double>(runs.size()) * (runWidth + margin);
    return {width, headHeight + lanesHeight(runs) + exportedAxisHeight + 2 * margin + legendHeight(runs, width)};
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
                         .arg(label(recording.scenario.recipe, 40),
                              recording.world == "sim" ? tr("simulated, seed %1").arg(recording.scenario.seed)
                                                       : tr("played on %1").arg(label(recording.world, 40)),
                              countText(recording.scenario.contenders), countText(tally.requests),
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
        const double above = frame.servers.height();
        frame.lanes = QRectF(frame.lanes.left(), above, runWidth - frame.lanes.left(), height - above);
        if (above > 0)
            frame.servers = QRectF(frame.lanes.left(), 0, frame.lanes.width(), above);
        frame.hasFocus = false;
        frame.chosenLane = contention::nobody;
        paintLanes(painter, *one.run, frame, t);
        paintTimeAxis(painter, frame, t);
        if (frame.cursor < one.run->end())
            paintCursor(painter, frame, t);
        painter.restore();
        x += runWidth + margin;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    Legend::paint(&painter, {margin, headHeight + height + exportedAxisHeight + margin},
                  sizeOf(runs).width() - 2 * margin, t, signsOf(runs));
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
    for (const auto &run : runs) {
        auto entry = run->recording().toJson();
        if (runs.size() > 1) // else it is the one below
            entry.insert(u"scenario"_s, run->recording().scenario.toJson());
        results.append(entry);
    }
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

namespace {

QString endingOf(ExportKind kind)
{
    switch (kind) {
    case ExportKind::Png: return u"png"_s;
    case ExportKind::Svg: return u"svg"_s;
    case ExportKind::Csv: return u"csv"_s;
    case ExportKind::Json: return u"json"_s;
    case ExportKind::Recording: return u"lockscope"_s;
    }
    return {};
}

bool isOfOneRun(ExportKind kind)
{
    return kind == ExportKind::Csv || kind == ExportKind::Recording;
}

} // namespace

ExportMenu::ExportMenu(std::function<std::vector<RunPicture>()> pictures, Runner &runner, QWidget *parent)
    : QMenu(parent), m_pictures(std::move(pictures)), m_runner(runner)
{
    connect(this, &QMenu::aboutToShow, this, &ExportMenu::fill);
}

void ExportMenu::fill()
{
    clear();
    const auto runs = m_pictures();
    const auto add = [&](const QString &text, ExportKind kind) {
        if (runs.empty())
            return;
        if (!isOfOneRun(kind) || runs.size() == 1) {
            connect(addAction(text + u"…"_s), &QAction::triggered, this, [this, kind] { askSave(kind, 0); });
            return;
        }
        auto *which = addMenu(text);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            auto *action = which->addAction(label(runs[i].run->recording().scenario.recipe, 60) + u"…"_s);
            connect(action, &QAction::triggered, this, [this, kind, i] { askSave(kind, i); });
        }
    };
    add(tr("Picture (PNG)"), ExportKind::Png);
    add(tr("Picture (SVG)"), ExportKind::Svg);
    add(tr("Events (CSV)"), ExportKind::Csv);
    add(tr("Results (JSON)"), ExportKind::Json);
    add(tr("Recording"), ExportKind::Recording);
    addSeparator();
    connect(addAction(tr("Open recordings…")), &QAction::triggered, this, &ExportMenu::askOpen);
}

void ExportMenu::askSave(ExportKind kind, std::size_t run)
{
    const auto runs = m_pictures();
    if (run >= runs.size())
        return;
    const auto &scenario = runs[run].run->recording().scenario;
    auto *dialog = new QFileDialog(parentWidget(), tr("Export"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(endingOf(kind));
    dialog->selectFile(u"%1-%2-seed%3.%4"_s.arg(isOfOneRun(kind) ? label(scenario.recipe, 40) : u"simulation"_s,
                                                QString::number(scenario.contenders), QString::number(scenario.seed),
                                                endingOf(kind)));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, kind, run](const QString &file) { save(kind, run, file); });
    dialog->open();
}

void ExportMenu::askOpen()
{
    auto *dialog = new QFileDialog(parentWidget(), tr("Open recordings"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    dialog->setNameFilters({tr("Recordings (*.lockscope)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList &files) {
        constexpr qsizetype most = 3;
        emit recordingsChosen(files.mid(0, most));
    });
    dialog->open();
}

void ExportMenu::save(ExportKind kind, std::size_t run, const QString &file)
{
    const auto pictures = m_pictures();
    if (run >= pictures.size())
        return;
    const auto done = [this, file](const QString &failure) {
        const QString name = QFileInfo(file).fileName();
        emit told(failure.isEmpty(),
                  failure.isEmpty() ? tr("Saved %1").arg(name) : tr("%1 was not saved: %2").arg(name, failure));
    };
    const auto later = [&](std::function<QByteArray()> bytes) {
        m_runner.inBackground([bytes = std::move(bytes), file] { return saveBytes(bytes(), file); }, this, done);
    };
    // Pictures cost what they show; the rest may be millions of events.
    switch (kind) {
    case ExportKind::Png: done(savePng(pictures, file)); break;
    case ExportKind::Svg: done(saveSvg(pictures, file)); break;
    case ExportKind::Json: {
        std::vector<PlayedRunPtr> runs;
        for (const auto &picture : pictures)
            runs.push_back(picture.run);
        later([runs] { return resultsJson(runs); });
        break;
    }
    case ExportKind::Csv: later([one = pictures[run].run] { return one->recording().toCsv(); }); break;
    case ExportKind::Recording: later([one = pictures[run].run] { return one->recording().save(); }); break;
    }
}

} // namespace lockscope::ui
