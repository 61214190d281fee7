// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "ui/simulator/lanepaint.h"

#include <QJsonObject>
#include <QMenu>

#include <functional>

namespace lockscope::ui {

class Runner;

// Runs as files: pictures of their lanes, their events, their results.
struct RunPicture {
    PlayedRunPtr run;
    LaneFrame frame; // as on the screen; its place is chosen by the picture
    std::size_t happened = 0;
};

// The lanes beside each other with their titles and counters; both empty, or what went wrong.
[[nodiscard]] QString savePng(const std::vector<RunPicture> &runs, const QString &file);
[[nodiscard]] QString saveSvg(const std::vector<RunPicture> &runs, const QString &file);
// {"schema", "scenario", "runs"}, as the terminal prints it.
[[nodiscard]] QByteArray resultsJson(const std::vector<PlayedRunPtr> &runs);
// All of it or nothing.
[[nodiscard]] QString saveBytes(const QByteArray &bytes, const QString &file);

enum class ExportKind { Png, Svg, Csv, Json, Recording };

// The menu of what goes to files, and comes from them: pictures, events, results, recordings.
class ExportMenu : public QMenu {
    Q_OBJECT
public:
    // `pictures`: the runs that are shown, as they are shown; `runner` writes what is long. Both outlive the menu.
    ExportMenu(std::function<std::vector<RunPicture>()> pictures, Runner &runner, QWidget *parent);

    // `run`: which, for what is of one run. told() follows.
    void save(ExportKind kind, std::size_t run, const QString &file);

signals:
    void told(bool isGood, const QString &text);
    void recordingsChosen(const QStringList &files);

private:
    void fill();
    void askSave(ExportKind kind, std::size_t run);
    void askOpen();

    std::function<std::vector<RunPicture>()> m_pictures;
    Runner &m_runner;
};

} // namespace lockscope::ui
