// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runexport.h"

#include "core/base/text.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/simulatorwords.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>

#include <webp/encode.h>
#include <webp/mux.h>

#include <algorithm>
#include <memory>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// Runs as a moving picture: animated WebP, which browsers and slides play.
struct AnimationPace {
    int frames = 120; // of them all; the last one stays
    std::chrono::milliseconds each{100};
    std::chrono::milliseconds lastFor{4000};
};

// From their beginning to their end, what is to come hidden. Takes seconds; any thread.
[[nodiscard]] Result<QByteArray> animated(const std::vector<RunPicture> &runs, const Tokens &tokens,
                                          const AnimationPace &pace = {});

// Source: libwebp's container API, WebPAnimEncoder (src/webp/mux.h): a frame is added with the moment at which it
// begins, and a last call without one says when it ends.

using Encoder = std::unique_ptr<WebPAnimEncoder, decltype(&WebPAnimEncoderDelete)>;

Error noAnimation(const QString &why)
{
    return Error{ErrorCode::Server, Simulator::tr("the animation cannot be made: %1").arg(why)};
}

// What is drawn in few colours stays sharp, and small, without loss.
bool add(WebPAnimEncoder &encoder, const QImage &image, int atMs)
{
    WebPConfig config;
    WebPPicture picture;
    if (!WebPConfigInit(&config) || !WebPConfigLosslessPreset(&config, 2) || !WebPPictureInit(&picture))
        return false;
    picture.use_argb = 1;
    picture.width = image.width();
    picture.height = image.height();
    const bool isAdded = WebPPictureImportBGRX(&picture, image.constBits(), static_cast<int>(image.bytesPerLine()))
                         && WebPAnimEncoderAdd(&encoder, &picture, atMs, &config);
    WebPPictureFree(&picture);
    return isAdded;
}

Result<QByteArray> assembled(WebPAnimEncoder &encoder)
{
    WebPData data;
    WebPDataInit(&data);
    if (!WebPAnimEncoderAssemble(&encoder, &data))
        return noAnimation(QString::fromUtf8(WebPAnimEncoderGetError(&encoder)));
    const QByteArray bytes(reinterpret_cast<const char *>(data.bytes), static_cast<qsizetype>(data.size));
    WebPDataClear(&data);
    return bytes;
}

Result<QByteArray> animated(const std::vector<RunPicture> &runs, const Tokens &tokens, const AnimationPace &pace)
{
    Moment end{};
    auto whole = runs;
    for (const auto &one : whole)
        end = std::max(end, one.run->end());
    for (auto &one : whole) {
        one.frame.from = {};
        one.frame.to = std::max(end, Moment(1));
        one.frame.scrolled = 0;
    }
    const auto legendOf = picturesAt(whole, end);
    WebPAnimEncoderOptions options;
    if (!WebPAnimEncoderOptionsInit(&options))
        return noAnimation(Simulator::tr("another version of libwebp"));
    options.minimize_size = 0;
    Encoder encoder(nullptr, &WebPAnimEncoderDelete);
    for (int i = 0; i < pace.frames; ++i) {
        const auto at = end * i / std::max(1, pace.frames - 1);
        const auto image = imageOf(picturesAt(whole, at), tokens, legendOf, 1);
        if (image.isNull())
            return noAnimation(Simulator::tr("no memory for a picture of that size"));
        if (!encoder)
            encoder.reset(WebPAnimEncoderNew(image.width(), image.height(), &options));
        if (!encoder || !add(*encoder, image, static_cast<int>(pace.each.count()) * i))
            return noAnimation(encoder ? QString::fromUtf8(WebPAnimEncoderGetError(encoder.get()))
                                       : Simulator::tr("no memory for a picture of that size"));
    }
    const auto ends = pace.each * (pace.frames - 1) + pace.lastFor;
    if (!encoder || !WebPAnimEncoderAdd(encoder.get(), nullptr, static_cast<int>(ends.count()), nullptr))
        return noAnimation(Simulator::tr("there is nothing to show"));
    return assembled(*encoder);
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
    switch (kind) {
    case ExportKind::Png: return u"png"_s;
    case ExportKind::Svg: return u"svg"_s;
    case ExportKind::Animation: return u"webp"_s;
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
    add(tr("Animation (WebP)"), ExportKind::Animation);
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

#include "moc_runexport.cpp"
