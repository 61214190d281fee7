// SPDX-License-Identifier: Apache-2.0
// findings for alerts: an exit status by severity, findings that must last, JSON lines of what begins and ends, and a
// program that is given the same.
#pragma once

#include "app/lockscopectl/foundfindings.h"

#include <QProcess>

namespace lockscope::ctl {

struct AlertOptions {
    std::optional<inspect::Severity> failOn; // --fail-on
    inspect::Severity least{};               // --severity: what is less is not reported
    std::chrono::milliseconds lasting{};     // --for
    QString command;                         // --exec
};
[[nodiscard]] Result<AlertOptions> alertOptionsOf(const CommandContext &context);

// The program of --exec: a shell's command line that gets one JSON object on stdin. One runs at a time, each at most
// 30 s and none earlier than 10 s after the one before began: what happens meanwhile comes together in the next one.
class AlertCommand {
public:
    explicit AlertCommand(QString command);
    // What runs is killed.
    ~AlertCommand();
    Q_DISABLE_COPY(AlertCommand)

    void tell(const QJsonArray &began, const QJsonArray &ended);
    // After the last one ended, if one runs or waits.
    [[nodiscard]] Completion<bool> whenIdle(Loop &loop);

private:
    void startNext();
    void killAll();
    void onEnd(int status, QProcess::ExitStatus how);

    static constexpr qsizetype most = 1000; // findings in one object
    QString m_command;
    QProcess m_process;
    QTimer m_next;    // when another one may begin
    QTimer m_timeout; // of the one that runs
    QJsonArray m_began, m_ended;
    qint64 m_omitted = 0;
    std::optional<Completion<bool>> m_idle;
};

// Looks until each finding has lasted or is gone, and keeps those that lasted.
[[nodiscard]] Task<FindingsLook> lookForLastingFindings(CommandContext &context, AlertOptions options);
// The exit status by --fail-on; `looked` is that of the look itself.
[[nodiscard]] Exit alertStatus(CommandContext &context, const AlertOptions &options, const FindingsLook &look,
                               Exit looked);
// Those that the status is about, for --exec.
[[nodiscard]] QJsonArray failingJson(const AlertOptions &options, const FindingsLook &look);
// Until interrupted: a JSON line for each finding that began, changed or ended.
[[nodiscard]] Task<Exit> watchFindings(CommandContext &context, AlertOptions options);

} // namespace lockscope::ctl
