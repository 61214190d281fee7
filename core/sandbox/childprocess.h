// SPDX-License-Identifier: Apache-2.0
// A child process that cannot outlive us: the kernel kills it when the thread that started it ends
// (PR_SET_PDEATHSIG), however that comes about. Start it from the main thread, therefore.
//
// It gets a process group of its own, so that Ctrl+C in a terminal reaches us and not the child: we
// decide in which order things end. It inherits no open files.
#pragma once

#include "core/base/result.h"

#include <QByteArrayList>

#include <sys/types.h>

namespace lockscope::sandbox {

class ChildProcess {
public:
    struct Command {
        QByteArrayList arguments; // the program first, with its path
        QByteArray folder;        // where it runs
        QByteArray output;        // the file that gets what it prints, appended
    };

    ChildProcess() = default;
    ~ChildProcess() { kill(); }
    ChildProcess(const ChildProcess &) = delete;
    ChildProcess &operator=(const ChildProcess &) = delete;

    // An error if it could not be started at all, the program's name being wrong included.
    [[nodiscard]] Result<void> start(const Command &command);
    [[nodiscard]] bool isRunning();
    [[nodiscard]] pid_t pid() const { return m_pid; } // 0 when there is none
    void kill();                                      // SIGKILL, and waits for its end
    void suspend();                                   // SIGSTOP, and waits until it stands still
    void resume();                                    // SIGCONT

private:
    pid_t m_pid = 0;
};

} // namespace lockscope::sandbox
