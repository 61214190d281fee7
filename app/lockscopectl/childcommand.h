// SPDX-License-Identifier: Apache-2.0
// A command run under a lock: it gets our terminal, none of our secrets, and our signals. It is killed when we are,
// with all that it started: without us nobody would tell it that the lock is lost.
#pragma once

#include "app/lockscopectl/interrupts.h"
#include "core/base/fieldreader.h"

#include <QTimer>

#include <sys/types.h>

namespace lockscope::ctl {

// A small process between us and a command: whatever the command starts belongs to it, in sessions of their own, too
// (it is their subreaper). It ends all of them when told, and when we are gone, even killed.

// One byte each, through a pipe. The end of the pipe is EndAll.
enum class Order : char {
    Terminate = 't',        // SIGTERM for the command
    TerminateForGood = 'g', // the same, and SIGKILL for all that outlives it
    EndAll = 'k',           // SIGKILL for the command and all that it started
};

// Called in a child that was just forked. Returns in a child of its own, which is to become the command; the caller
// stays as the watcher, takes orders, and ends as the command does. `life`: kept open until then. `hasOwnGroup`:
// SIGTERM is for the process group.
void becomeWatched(int orders, int life, bool hasOwnGroup);

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
    // SIGTERM goes to all of its process group. On a terminal it shares ours, so that Ctrl+Z stops both: there only
    // to itself.
    void tell(Order order) const;
    void watcherEnded();

    QStringList m_words;
    bool m_stdoutToStderr;
    std::function<void(int)> m_ended;
    QTimer m_grace;
    pid_t m_watcher = -1; // which ends as the command does; -1: none runs
    Descriptor m_orders;  // to it
    Descriptor m_life;    // ends with it
    std::unique_ptr<QSocketNotifier> m_notifier;
    int m_interrupts = 0;
};

} // namespace lockscope::ctl
