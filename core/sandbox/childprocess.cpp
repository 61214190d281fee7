// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/childprocess.h"

#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

// Between fork and exec only async-signal-safe calls are allowed: other threads may have held the
// allocator's lock. Everything is prepared before; a failure travels back as its errno.
struct Prepared {
    std::vector<char *> arguments;
    const char *folder = nullptr;
    const char *output = nullptr;
    pid_t parent = 0;
    int failure = -1; // the pipe's writing end, closed by a successful exec
};

[[noreturn]] void giveUp(int pipe)
{
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(pipe, &error, sizeof error);
    ::_exit(127);
}

void redirect(const char *file, int flags, int to, int failure)
{
    const int fd = ::open(file, flags | O_CLOEXEC, 0600);
    if (fd < 0 || ::dup2(fd, to) < 0)
        giveUp(failure);
}

[[noreturn]] void becomeChild(const Prepared &prepared)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Had the parent died before the line above, no signal would ever come.
    if (::getppid() != prepared.parent)
        ::_exit(127);
    ::setpgid(0, 0);

    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGQUIT})
        ::signal(number, SIG_DFL);

    redirect("/dev/null", O_RDONLY, STDIN_FILENO, prepared.failure);
    redirect(prepared.output, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO, prepared.failure);
    if (::dup2(STDOUT_FILENO, STDERR_FILENO) < 0 || ::chdir(prepared.folder) < 0)
        giveUp(prepared.failure);
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    ::execv(prepared.arguments.front(), prepared.arguments.data());
    giveUp(prepared.failure);
}

pid_t waitFor(pid_t pid, int options)
{
    pid_t got = 0;
    do
        got = ::waitpid(pid, nullptr, options);
    while (got < 0 && errno == EINTR);
    return got;
}

Error couldNotStart(const QByteArray &program, int error)
{
    return {ErrorCode::Server,
            u"starting %1 failed: %2"_s.arg(QString::fromLocal8Bit(program),
                                            QString::fromLocal8Bit(std::strerror(error))),
            false};
}

} // namespace

Result<void> ChildProcess::start(const Command &command)
{
    kill();
    const QByteArray program = command.arguments.front();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0)
        return couldNotStart(program, errno);

    QByteArrayList arguments = command.arguments;
    Prepared prepared{{}, command.folder.constData(), command.output.constData(), ::getpid(), ends[1]};
    for (auto &argument : arguments)
        prepared.arguments.push_back(argument.data());
    prepared.arguments.push_back(nullptr);

    const pid_t pid = ::fork();
    if (pid == 0)
        becomeChild(prepared);
    const int forkError = errno;
    ::close(ends[1]);
    if (pid < 0) {
        ::close(ends[0]);
        return couldNotStart(program, forkError);
    }

    int error = 0;
    ssize_t got = 0;
    do
        got = ::read(ends[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    ::close(ends[0]);
    if (got != 0) {
        waitFor(pid, 0);
        return couldNotStart(program, error);
    }
    m_pid = pid;
    return {};
}

bool ChildProcess::isRunning()
{
    if (m_pid != 0 && waitFor(m_pid, WNOHANG) != 0)
        m_pid = 0;
    return m_pid != 0;
}

void ChildProcess::kill()
{
    if (m_pid == 0)
        return;
    ::kill(m_pid, SIGKILL);
    waitFor(m_pid, 0);
    m_pid = 0;
}

void ChildProcess::suspend()
{
    if (!isRunning() || ::kill(m_pid, SIGSTOP) != 0)
        return;
    // The signal is only on its way: a thread of the child that is working answers one more request.
    siginfo_t stopped{};
    while (::waitid(P_PID, static_cast<id_t>(m_pid), &stopped, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
}

void ChildProcess::resume()
{
    if (isRunning())
        ::kill(m_pid, SIGCONT);
}

} // namespace lockscope::sandbox
