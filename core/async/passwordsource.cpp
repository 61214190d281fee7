// SPDX-License-Identifier: Apache-2.0
#include "core/async/passwordsource.h"

#include "core/base/connectionuri.h"
#include "core/base/text.h"

#include <QDeadlineTimer>
#include <QProcess>
#include <QRegularExpression>

#include <csignal>
#include <unistd.h>

#include <sys/prctl.h>

namespace lockscope {

void Workers::start(std::function<void()> work)
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back(std::move(work));
    }
    m_threads.start([this] { runNext(); });
}

void Workers::runNext()
{
    std::function<void()> work;
    {
        const std::lock_guard lock(m_mutex);
        if (m_waiting.empty())
            return; // cleared meanwhile
        work = std::move(m_waiting.front());
        m_waiting.pop_front();
    }
    work();
}

void Workers::clear()
{
    std::deque<std::function<void()>> dropped; // ended without the lock: it may hold anything
    const std::lock_guard lock(m_mutex);
    m_threads.clear();
    dropped.swap(m_waiting);
}

namespace {

constexpr auto isShared = 500ms; // by connections that open together
constexpr auto runsAtMost = 10s;
constexpr qsizetype longestLine = 64 * 1024;

Error commandError(const QString &what)
{
    return {ErrorCode::NotConnected, u"the password command %1"_s.arg(what), true, true};
}

} // namespace

Result<QString> PasswordSource::fetch()
{
    const std::lock_guard lock(m_mutex);
    if (m_password && std::chrono::steady_clock::now() - m_fetchedAt <= isShared)
        return *m_password;
    m_password.reset();
    auto password = run();
    m_fetchedAt = std::chrono::steady_clock::now();
    if (password)
        m_password = *password;
    const std::lock_guard ofProblem(m_problemMutex);
    m_problem = password ? QString() : password.error().message;
    return password;
}

QString PasswordSource::problem() const
{
    const std::lock_guard lock(m_problemMutex);
    return m_problem;
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

// A shell that reports a mistake, or traces what it runs, repeats the command, which may hold a secret.
bool PasswordSource::isPartOfCommand(const QString &line) const
{
    static const QRegularExpression betweenWords(u"[\\s'\"=|;&()<>]+"_s);
    constexpr qsizetype shortest = 4;
    const auto words = m_command.split(betweenWords, Qt::SkipEmptyParts);
    return std::ranges::any_of(
        words, [&line](const QString &word) { return word.size() >= shortest && line.contains(word); });
}

Result<QString> PasswordSource::run() const
{
    QProcess process;
    process.setProcessEnvironment(environmentWithoutPasswords());
    process.setStandardInputFile(QProcess::nullDevice());
    // With all that it starts, so that it can be ended as a whole, and ends with us.
    process.setChildProcessModifier([] {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    });
    process.start(u"/bin/sh"_s, {u"-c"_s, m_command});
    const QDeadlineTimer limit(runsAtMost);
    QByteArray out, said;
    while (process.state() != QProcess::NotRunning && !limit.hasExpired() && !m_isEnding) {
        process.waitForFinished(20);
        out += process.readAllStandardOutput();
        said = (said + process.readAllStandardError()).right(longestLine);
        if (out.size() > longestLine)
            break;
    }
    if (process.state() != QProcess::NotRunning) {
        ::kill(-static_cast<pid_t>(process.processId()), SIGKILL);
        process.waitForFinished();
        return commandError(out.size() > longestLine ? u"printed more than 64 KiB"_s : u"did not end within 10 s"_s);
    }
    out += process.readAllStandardOutput();
    said += process.readAllStandardError();
    if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
        const auto line = label(said.trimmed().split('\n').last());
        const auto why = line.isEmpty() || isPartOfCommand(line) ? QString() : u": "_s + line;
        return commandError(u"ended with status %1%2"_s.arg(QString::number(process.exitCode()), why));
    }
    const auto line = out.split('\n').first();
    const auto password = QString::fromUtf8(line.endsWith('\r') ? line.chopped(1) : line);
    if (password.isEmpty())
        return commandError(u"printed nothing"_s);
    return password;
}

} // namespace lockscope
