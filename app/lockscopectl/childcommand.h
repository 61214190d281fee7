// SPDX-License-Identifier: Apache-2.0
// A command run under a lock: it gets our terminal, none of our secrets, and our signals. It is killed when we are:
// without us nobody would tell it that the lock is lost.
#pragma once

#include "app/lockscopectl/interrupts.h"
#include "core/base/result.h"

#include <QProcess>
#include <QTimer>

#include <chrono>
#include <sys/types.h>

namespace lockscope::ctl {

class ChildCommand {
public:
    // `ended` is called once with the status to return (128 + the signal that ended it).
    ChildCommand(QStringList words, bool stdoutToStderr, std::function<void(int)> ended);
    // The lock and its fencing token are handed over as LOCKSCOPE_LOCK and LOCKSCOPE_FENCING_TOKEN.
    [[nodiscard]] Result<void> start(const QString &lock, const QString &fencingToken);

    // Passes it on unless the terminal did; the second one kills.
    void heed(Interrupt interrupt);
    // It works without a lock: SIGTERM, and SIGKILL when it still runs after the grace, and to what outlives it.
    void terminate(std::chrono::milliseconds grace);

private:
    // To all of its process group. On a terminal it shares ours, so that Ctrl+Z stops both: there only to itself.
    void tell(int signal);

    QStringList m_words;
    bool m_hasOwnGroup;
    QTimer m_grace;
    QProcess m_process;
    pid_t m_group = 0;
    bool m_isTerminating = false;
    int m_interrupts = 0;
};

} // namespace lockscope::ctl
