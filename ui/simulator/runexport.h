// SPDX-License-Identifier: Apache-2.0
// Runs as files: pictures of their lanes, their events, their results.
#pragma once

#include "core/base/result.h"
#include "ui/simulator/lanepaint.h"

#include <QJsonObject>

namespace lockscope::ui {

struct RunPicture {
    PlayedRunPtr run;
    LaneFrame frame;       // as on the screen; its place is chosen by the picture
    std::size_t happened = 0;
};

// The lanes beside each other with their titles and counters; both empty, or what went wrong.
[[nodiscard]] QString savePng(const std::vector<RunPicture> &runs, const QString &file);
[[nodiscard]] QString saveSvg(const std::vector<RunPicture> &runs, const QString &file);
// {"schema", "scenario", "runs"}, as the terminal prints it.
[[nodiscard]] QByteArray resultsJson(const std::vector<PlayedRunPtr> &runs);
// All of it or nothing.
[[nodiscard]] QString saveBytes(const QByteArray &bytes, const QString &file);

} // namespace lockscope::ui
