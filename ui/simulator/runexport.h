// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/lanepaint.h"

#include <QImage>
#include <QMenu>

namespace lockscope::ui {

// Runs as pictures: all lanes, where the screen has room for a few (of more than a thousand those from the first in
// sight on, and it says which), beside each other with their titles, counters and legend.
struct RunPicture {
    PlayedRunPtr run;
    LaneFrame frame; // as on the screen; its place is chosen by the picture
    std::size_t happened = 0;
    QString title{}; // empty: the recipe's
};

// The same at another moment, as if nobody had been later.
[[nodiscard]] std::vector<RunPicture> picturesAt(std::vector<RunPicture> runs, Moment at);
// Any thread. The legend has the signs of `legendOf`, so that pictures of one run are of one size. Null: no memory.
[[nodiscard]] QImage imageOf(const std::vector<RunPicture> &shown, const Tokens &tokens,
                             const std::vector<RunPicture> &legendOf, double scale);

// Empty, or what went wrong.
[[nodiscard]] QString savePng(const std::vector<RunPicture> &runs, const QString &file);
[[nodiscard]] QString saveSvg(const std::vector<RunPicture> &shown, const QString &file);

class Runner;

// {"schema", "scenario", "runs"}, as the terminal prints it.
[[nodiscard]] QByteArray resultsJson(const std::vector<PlayedRunPtr> &runs);
// All of it or nothing.
[[nodiscard]] QString saveBytes(const QByteArray &bytes, const QString &file);

// In the order of their files' endings.
enum class ExportKind { Png, Svg, Animation, Csv, Json, Recording };

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
