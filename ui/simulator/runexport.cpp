// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runpanel.h"

#include "ui/parts/parts.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/simulatortext.h"

#include <QBuffer>
#include <QDataStream>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonDocument>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <zlib.h>

namespace lockscope::ui {

namespace {

constexpr int animationFrames = 120; // of them all; the last one stays
constexpr std::chrono::milliseconds frameLasts{100}, lastFrameLasts{4000};

// Source: PNG Specification (Third Edition), chunks acTL, fcTL and fdAT: after the still picture, each frame is the
// rectangle that changed, in the same compression. A program that knows no animation shows the still picture.

Error noAnimation(const QString &why)
{
    return Error{ErrorCode::Server, Simulator::tr("the animation cannot be made: %1").arg(why)};
}

// Rows without a filter: on flat areas of few colors, filters save nothing.
QByteArray compressedPixels(const QImage &image)
{
    const QImage rgb = image.convertToFormat(QImage::Format_RGB888);
    QByteArray rows;
    rows.reserve(rgb.sizeInBytes() + rgb.height());
    for (int y = 0; y < rgb.height(); ++y)
        rows.append('\0').append(reinterpret_cast<const char *>(rgb.constScanLine(y)), qsizetype{3} * rgb.width());
    constexpr qsizetype lengthOfQt = 4; // in front of what zlib writes
    return qCompress(rows).sliced(lengthOfQt);
}

// The smallest rectangle with all pixels that differ in two images of one size.
QRect changedArea(const QImage &before, const QImage &after)
{
    QRect area;
    for (int y = 0; y < after.height(); ++y) {
        const auto *from = reinterpret_cast<const QRgb *>(before.constScanLine(y));
        const auto *to = reinterpret_cast<const QRgb *>(after.constScanLine(y));
        const auto left = std::mismatch(to, to + after.width(), from).first - to;
        if (left == after.width())
            continue;
        auto right = after.width() - 1;
        while (to[right] == from[right])
            --right;
        area |= QRect(QPoint(static_cast<int>(left), y), QPoint(right, y));
    }
    return area;
}

class AnimatedPng {
public:
    explicit AnimatedPng(const QImage &still) : m_still(compressedPixels(still)), m_size(still.size()) {}

    // A frame that changes nothing prolongs the one before it.
    void add(const QImage &image, std::chrono::milliseconds shownFor)
    {
        const QRect area = m_last.isNull() ? image.rect() : changedArea(m_last, image);
        if (!area.isEmpty())
            m_frames.push_back({area, compressedPixels(image.copy(area)), {}});
        m_frames.back().shownFor += shownFor;
        m_last = image;
    }

    [[nodiscard]] QByteArray bytes() const
    {
        constexpr quint8 bitsPerChannel = 8;
        constexpr quint8 trueColor = 2;
        constexpr quint16 perSecond = 1000;
        constexpr quint32 playsForever = 0;
        const quint8 none = 0; // no interlacing, no other method, no disposal, no blending
        QByteArray png = QByteArrayLiteral("\x89PNG\r\n\x1a\n");
        append(png, "IHDR", m_size.width(), m_size.height(), bitsPerChannel, trueColor, none, none, none);
        append(png, "acTL", static_cast<quint32>(m_frames.size()), playsForever);
        append(png, "IDAT", m_still);
        quint32 number = 0;
        for (const auto &frame : m_frames) {
            append(png, "fcTL", number++, frame.area.width(), frame.area.height(), frame.area.x(), frame.area.y(),
                   static_cast<quint16>(frame.shownFor.count()), perSecond, none, none);
            append(png, "fdAT", number++, frame.pixels);
        }
        append(png, "IEND");
        return png;
    }

private:
    struct Frame {
        QRect area;
        QByteArray pixels;
        std::chrono::milliseconds shownFor;
    };

    static void write(QDataStream &to, const QByteArray &bytes)
    {
        to.writeRawData(bytes.constData(), static_cast<int>(bytes.size()));
    }
    template <typename Number>
    static void write(QDataStream &to, Number number)
    {
        to << number;
    }

    template <typename... Fields>
    static void append(QByteArray &png, const char *type, const Fields &...fields)
    {
        QByteArray chunk(type);
        QDataStream to(&chunk, QIODevice::Append);
        (write(to, fields), ...);
        QDataStream whole(&png, QIODevice::Append);
        whole << static_cast<quint32>(chunk.size() - qsizetype{4});
        write(whole, chunk);
        whole << static_cast<quint32>(
            crc32(0, reinterpret_cast<const Bytef *>(chunk.constData()), static_cast<uInt>(chunk.size())));
    }

    QByteArray m_still;
    QSize m_size;
    QImage m_last;
    std::vector<Frame> m_frames;
};

// Runs from their beginning to their end, what is to come hidden, as an animated PNG, which browsers play and every
// other program shows as a still picture. Takes seconds; any thread.
Result<QByteArray> animated(const std::vector<RunPicture> &runs, const Tokens &tokens)
{
    Moment end{};
    auto whole = runs;
    for (const auto &picture : whole)
        end = std::max(end, picture.run->end());
    for (auto &picture : whole) {
        picture.frame.from = {};
        picture.frame.to = std::max(end, Moment(1));
        picture.frame.scrolled = 0;
    }
    const auto last = picturesAt(whole, end);
    const auto still = imageOf(last, tokens, last, 1);
    if (still.isNull())
        return noAnimation(Simulator::tr("no memory for a picture of that size"));
    AnimatedPng png(still);
    for (int i = 0; i < animationFrames; ++i) {
        const auto at = end * i / (animationFrames - 1);
        const auto image = imageOf(picturesAt(whole, at), tokens, last, 1);
        if (image.isNull())
            return noAnimation(Simulator::tr("no memory for a picture of that size"));
        // All frames have the size of the still picture, also if the size of the text changes meanwhile.
        png.add(image.copy(still.rect()), i + 1 < animationFrames ? frameLasts : lastFrameLasts);
    }
    return png.bytes();
}

} // namespace

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
    static const QStringList endings{u"png"_s, u"svg"_s, u"animated.png"_s, u"csv"_s, u"json"_s, u"lockscope"_s};
    return endings[static_cast<qsizetype>(kind)];
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
    add(tr("Animation (PNG)"), ExportKind::Animation);
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
    auto *dialog = passing(new QFileDialog(parentWidget(), tr("Export")));
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
    auto *dialog = passing(new QFileDialog(parentWidget(), tr("Open recordings")));
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
    // Pictures cost what they show; the rest may be millions of events, or a hundred pictures.
    switch (kind) {
    case ExportKind::Png: done(savePng(pictures, file)); break;
    case ExportKind::Svg: done(saveSvg(pictures, file)); break;
    case ExportKind::Animation: {
        const auto work = [pictures, tokens = Theme::tokens(), file]() -> QString {
            const auto bytes = animated(pictures, tokens);
            return bytes ? saveBytes(*bytes, file) : bytes.error().message;
        };
        m_runner.inBackground(work, this, done);
        break;
    }
    case ExportKind::Json: {
        const auto runs =
            mapped<std::vector<PlayedRunPtr>>(pictures, [&](const auto &picture) { return picture.run; });
        later([runs] { return resultsJson(runs); });
        break;
    }
    case ExportKind::Csv: later([one = pictures[run].run] { return one->recording().toCsv(); }); break;
    case ExportKind::Recording: later([one = pictures[run].run] { return one->recording().save(); }); break;
    }
}

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
    const auto all = mapped<std::vector<PlayedRunPtr>>(runs, [&](const auto &run) { return run.run; });
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
