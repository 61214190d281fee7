// SPDX-License-Identifier: Apache-2.0
// The command line of the window: the shared options and those that only a window has. See docs/commands.md.
#pragma once

#include "app/commandline.h"
#include "core/lessons/lessons.h"

#include <QSize>

namespace lockscope::app {

struct WindowOptions {
    Connections connections;
    bool demo = false; // fill a sandbox with live locks
    std::optional<inspect::LockName> lock;
    QString page;              // empty: where it was left
    QByteArray lesson;         // its ID; empty: none
    QString replay;            // a recording to show instead of servers
    QString at;                // as of when
    QStringList rules;         // files of recogniser rules
    QString link;              // lockscope://…; it goes to the window that is open, if one is
    std::optional<QSize> size; // said; else what it was last, or usual
    int scalePercent = 100;
    QString theme;                             // auto, light, dark; empty: as it is set
    std::optional<lessons::Language> language; // of lessons and simulator; empty: as it is set
    QString screenshot;                        // empty: stay
    std::chrono::milliseconds after{15'000};
};

[[nodiscard]] const std::vector<OptionSpec> &windowOptions();
// BadInput with one line for a person.
[[nodiscard]] Result<WindowOptions> readWindowOptions(const Arguments &arguments);
[[nodiscard]] QString windowHelp();
// The files and folders of both programs, a line each: a name, and the path whether it exists or not.
[[nodiscard]] QString windowPaths();

} // namespace lockscope::app
