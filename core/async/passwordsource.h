// SPDX-License-Identifier: Apache-2.0
// A password that a command of the user prints: a token that lasts for minutes only, as of AWS or Entra. It is asked
// for at each connect and reconnect.
#pragma once

#include "core/async/completion.h"

#include <QThreadPool>

#include <deque>

namespace lockscope {

// Threads for work that blocks or computes for long.

// Work waits in a queue behind a mutex of the standard library; the pool's own lock is Qt's, which a thread sanitizer
// does not see, so that whatever a piece of work holds would look shared without a lock.
// Any thread may call; the work runs on one of `atMost` threads, in the order it was started. Ends when all is done.
class Workers {
public:
    explicit Workers(int atMost) { m_threads.setMaxThreadCount(atMost); }
    ~Workers() { waitForDone(); }
    Q_DISABLE_COPY(Workers)

    void start(std::function<void()> work);
    // What has not begun is dropped; what is under way goes on.
    void clear();
    void waitForDone() { m_threads.waitForDone(); }

private:
    void runNext();

    std::mutex m_mutex;
    std::deque<std::function<void()>> m_waiting;
    QThreadPool m_threads; // last: ends while the queue is there
};

// Any thread.
class PasswordSource {
public:
    // `command` is for /bin/sh.
    explicit PasswordSource(QString command) : m_command(std::move(command)) {}
    ~PasswordSource() { end(); }
    Q_DISABLE_COPY(PasswordSource)
    // Ends a command that still runs; there is no password any more.
    void end() { m_isEnding = true; }

    // The first line that the command prints. Blocks for at most 10 s. Connections that open together share one run.
    [[nodiscard]] Result<QString> fetch();
    // The same without blocking.
    [[nodiscard]] Completion<Result<QString>> fetched(Loop &loop);
    // Of the last run; empty: it succeeded.
    [[nodiscard]] QString problem() const;

private:
    [[nodiscard]] Result<QString> run() const;
    [[nodiscard]] bool isPartOfCommand(const QString &line) const;

    const QString m_command;
    std::atomic_bool m_isEnding = false;
    mutable std::mutex m_problemMutex;
    QString m_problem;
    std::mutex m_mutex; // of what follows, and while the command runs
    std::optional<QString> m_password;
    std::chrono::steady_clock::time_point m_fetchedAt;
    Workers m_workers{1}; // last: waits for what it runs
};

} // namespace lockscope
