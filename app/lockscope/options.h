// SPDX-License-Identifier: Apache-2.0
// How the window is asked for: its command line, with the shared options and those that only a window has (see
// docs/commands.md); and the link that a second start hands over to the window that is open.
#pragma once

#include "app/commandline.h"
#include "core/lessons/lessons.h"

#include <QLocalServer>
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

// A link that was clicked goes to the window that is open already, by a local socket in the folder that only this
// user can enter ($XDG_RUNTIME_DIR). Nothing but a link is taken, and a link only shows.
class Handover : public QObject {
    Q_OBJECT
public:
    // `folder`: where the socket lies; the user's runtime folder unless a test says otherwise.
    explicit Handover(QString folder = runtimeFolder(), QObject *parent = nullptr);

    // Empty where there is none that is the user's alone.
    [[nodiscard]] static QString runtimeFolder();
    // Whether a window took it.
    [[nodiscard]] bool give(const QString &link) const;
    // From now on this window takes them, unless another one does.
    bool listen();

signals:
    void taken(const QString &link);

private:
    void accept();
    [[nodiscard]] QString path() const { return m_folder + u"/window"_s; }

    QString m_folder;
    QLocalServer m_server;
};

} // namespace lockscope::app
