// SPDX-License-Identifier: Apache-2.0
// A command run under a lock: it gets our terminal, none of our secrets, and our signals.
#pragma once

#include "app/lockscopectl/interrupts.h"
#include "core/base/result.h"

#include <QProcess>

namespace lockscope::ctl {

class ChildCommand {
public:
    // `ended` is called once with the status to return (128 + the signal that ended it).
    ChildCommand(QStringList words, bool stdoutToStderr, std::function<void(int)> ended);
    // The lock and its fencing token are handed over as LOCKSCOPE_LOCK and LOCKSCOPE_FENCING_TOKEN.
    [[nodiscard]] Result<bool> start(const QString &lock, const QString &fencingToken);

    // Passes it on unless the terminal did; the second one kills.
    void heed(Interrupt interrupt);
    void terminate() { m_process.terminate(); }

private:
    QStringList m_words;
    QProcess m_process;
    int m_interrupts = 0;
};

} // namespace lockscope::ctl
