// SPDX-License-Identifier: Apache-2.0
// What goes to files from the simulator's page, and comes from them.
#include "ui/pages/simulatorpage.h"

#include "core/base/text.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

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

void SimulatorPage::fillExportMenu(QMenu &menu)
{
    menu.clear();
    const auto &runs = m_playback.runs();
    const auto add = [&](const QString &text, ExportKind kind) {
        if (runs.empty())
            return;
        if (!isOfOneRun(kind) || runs.size() == 1) {
            connect(menu.addAction(text + u"…"_s), &QAction::triggered, this, [this, kind] { askExport(kind, 0); });
            return;
        }
        auto *which = menu.addMenu(text);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            auto *action = which->addAction(label(runs[i]->recording().scenario.recipe, 60) + u"…"_s);
            connect(action, &QAction::triggered, this, [this, kind, i] { askExport(kind, i); });
        }
    };
    add(tr("Picture (PNG)"), ExportKind::Png);
    add(tr("Picture (SVG)"), ExportKind::Svg);
    add(tr("Events (CSV)"), ExportKind::Csv);
    add(tr("Results (JSON)"), ExportKind::Json);
    add(tr("Recording"), ExportKind::Recording);
    menu.addSeparator();
    connect(menu.addAction(tr("Open recordings…")), &QAction::triggered, this, &SimulatorPage::askOpen);
}

void SimulatorPage::askExport(ExportKind kind, std::size_t run)
{
    const auto &runs = m_playback.runs();
    if (run >= runs.size())
        return;
    const auto &scenario = runs[run]->recording().scenario;
    auto *dialog = new QFileDialog(this, tr("Export"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(endingOf(kind));
    dialog->selectFile(u"%1-%2-seed%3.%4"_s.arg(isOfOneRun(kind) ? label(scenario.recipe, 40) : u"simulation"_s)
                           .arg(scenario.contenders)
                           .arg(scenario.seed)
                           .arg(endingOf(kind)));
    connect(dialog, &QFileDialog::fileSelected, this, [this, kind, run](const QString &file) { exportTo(kind, run, file); });
    dialog->open();
}

void SimulatorPage::askOpen()
{
    auto *dialog = new QFileDialog(this, tr("Open recordings"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    dialog->setNameFilters({tr("Recordings (*.lockscope)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList &files) {
        constexpr qsizetype most = 3;
        openRecordings(files.mid(0, most));
    });
    dialog->open();
}

std::vector<RunPicture> SimulatorPage::pictures()
{
    std::vector<RunPicture> all;
    for (std::size_t i = 0; i < m_panels.size(); ++i)
        all.push_back({m_playback.runs()[i], m_panels[i]->lanes().frame(), m_playback.happened(i)});
    return all;
}

void SimulatorPage::exportTo(ExportKind kind, std::size_t run, const QString &file)
{
    const auto runs = m_playback.runs();
    if (run >= runs.size())
        return;
    const auto done = [this, file](const QString &failure) {
        const QString name = QFileInfo(file).fileName();
        say(failure.isEmpty(), failure.isEmpty() ? tr("Saved %1").arg(name) : tr("%1 was not saved: %2").arg(name, failure));
    };
    // Pictures cost what they show; the rest may be millions of events.
    switch (kind) {
    case ExportKind::Png: done(savePng(pictures(), file)); break;
    case ExportKind::Svg: done(saveSvg(pictures(), file)); break;
    case ExportKind::Json:
        m_runner.inBackground([runs, file] { return saveBytes(resultsJson(runs), file); }, this, done);
        break;
    case ExportKind::Csv:
        m_runner.inBackground([one = runs[run], file] { return saveBytes(one->recording().toCsv(), file); }, this, done);
        break;
    case ExportKind::Recording:
        m_runner.inBackground([one = runs[run], file] { return saveBytes(one->recording().save(), file); }, this, done);
        break;
    }
}

} // namespace lockscope::ui
