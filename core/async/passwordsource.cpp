// SPDX-License-Identifier: Apache-2.0
#include "core/async/passwordsource.h"

#include "core/base/connectionuri.h"
#include "core/base/text.h"

#include <QDeadlineTimer>
#include <QProcess>

namespace lockscope {

namespace {

constexpr auto isShared = 500ms; // by connections that open together
constexpr auto runsAtMost = 10s;
constexpr qsizetype longestPassword = 64 * 1024;

Error problem(const QString &what)
{
    return {ErrorCode::NotConnected, u"the password command %1"_s.arg(what), true, true};
}

} // namespace

Result<QString> PasswordSource::fetch()
{
    const std::lock_guard lock(m_mutex);
    if (!m_password || std::chrono::steady_clock::now() - m_fetchedAt > isShared) {
        m_password.reset();
        TRY(m_password, run());
        m_fetchedAt = std::chrono::steady_clock::now();
    }
    return *m_password;
}

Completion<Result<QString>> PasswordSource::fetched(Loop &loop)
{
    Completion<Result<QString>> done(loop);
    m_workers.start([this, done, &loop] {
        auto password = fetch();
        loop.post([done, password = std::move(password)] { done.complete(password); });
    });
    return done;
}

Result<QString> PasswordSource::run() const
{
    QProcess process;
    process.setProcessEnvironment(environmentWithoutPasswords());
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(u"/bin/sh"_s, {u"-c"_s, m_command});
    const QDeadlineTimer limit(runsAtMost);
    while (process.state() != QProcess::NotRunning && !limit.hasExpired() && !m_isEnding)
        process.waitForFinished(100);
    if (process.state() != QProcess::NotRunning) {
        process.kill();
        process.waitForFinished();
        return problem(u"did not end within 10 s"_s);
    }
    const auto said = process.readAllStandardError().trimmed().split('\n').last();
    if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
        const auto why = said.isEmpty() ? QString() : u": "_s + label(said);
        return problem(u"ended with status %1%2"_s.arg(QString::number(process.exitCode()), why));
    }
    const auto line = process.readAllStandardOutput().left(longestPassword).split('\n').first();
    const auto password = QString::fromUtf8(line.endsWith('\r') ? line.chopped(1) : line);
    if (password.isEmpty())
        return problem(u"printed nothing"_s);
    return password;
}

} // namespace lockscope
