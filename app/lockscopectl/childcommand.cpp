// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/childcommand.h"

#include "core/base/text.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

QProcessEnvironment environmentWithoutSecrets()
{
    auto environment = QProcessEnvironment::systemEnvironment();
    const auto names = environment.keys();
    for (const auto &name : names) {
        if (name.startsWith("LOCKSCOPE_PASSWORD_"_L1))
            environment.remove(name);
    }
    return environment;
}

} // namespace

ChildCommand::ChildCommand(QStringList words, bool stdoutToStderr, std::function<void(int)> ended)
    : m_words(std::move(words)), m_hasOwnGroup(::isatty(STDIN_FILENO) == 0)
{
    m_grace.setSingleShot(true);
    QObject::connect(&m_grace, &QTimer::timeout, &m_grace, [this] { tell(SIGKILL); });
    m_process.setProcessChannelMode(QProcess::ForwardedChannels);
    m_process.setInputChannelMode(QProcess::ForwardedInputChannel);
    m_process.setChildProcessModifier([stdoutToStderr, hasOwnGroup = m_hasOwnGroup, parent = ::getpid()] {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
        if (hasOwnGroup)
            ::setpgid(0, 0);
        // What we ignore, a child would ignore too.
        ::signal(SIGPIPE, SIG_DFL);
        if (stdoutToStderr)
            ::dup2(STDERR_FILENO, STDOUT_FILENO);
    });
    QObject::connect(&m_process, &QProcess::finished, &m_process,
                     [this, ended = std::move(ended)](int code, QProcess::ExitStatus how) {
                         // What it started, and what did not heed SIGTERM, works without a lock as well.
                         if (m_hasOwnGroup && m_isTerminating)
                             ::kill(-m_group, SIGKILL);
                         ended(how == QProcess::CrashExit ? 128 + code : code);
                     });
}

Result<void> ChildCommand::start(const QString &lock, const QString &fencingToken)
{
    auto environment = environmentWithoutSecrets();
    environment.insert(u"LOCKSCOPE_LOCK"_s, lock);
    if (!fencingToken.isEmpty())
        environment.insert(u"LOCKSCOPE_FENCING_TOKEN"_s, fencingToken);
    m_process.setProcessEnvironment(environment);
    m_process.start(m_words.value(0), m_words.mid(1));
    // Forks and reports within milliseconds; nothing else could be done meanwhile anyway.
    if (m_process.waitForStarted()) {
        m_group = static_cast<pid_t>(m_process.processId());
        return {};
    }
    return Error{ErrorCode::Server,
                 u"could not run \"%1\": %2"_s.arg(label(m_words.value(0).toUtf8()), m_process.errorString())};
}

void ChildCommand::heed(Interrupt interrupt)
{
    if (m_process.state() == QProcess::NotRunning)
        return;
    if (++m_interrupts > 1)
        tell(SIGKILL);
    else if (!interrupt.fromTerminal)
        tell(SIGTERM);
}

void ChildCommand::terminate(std::chrono::milliseconds grace)
{
    m_isTerminating = m_group > 0;
    tell(SIGTERM);
    m_grace.start(grace);
}

void ChildCommand::tell(int signal)
{
    const auto process = static_cast<pid_t>(m_process.processId());
    if (m_process.state() != QProcess::NotRunning && process > 0)
        ::kill(m_hasOwnGroup ? -process : process, signal);
}

} // namespace lockscope::ctl
