// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "ui/simulator/runpicture.h"

#include <QJsonObject>
#include <QMenu>

#include <functional>

namespace lockscope::ui {

class Runner;

// {"schema", "scenario", "runs"}, as the terminal prints it.
[[nodiscard]] QByteArray resultsJson(const std::vector<PlayedRunPtr> &runs);
// All of it or nothing.
[[nodiscard]] QString saveBytes(const QByteArray &bytes, const QString &file);

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
