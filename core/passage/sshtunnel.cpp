// SPDX-License-Identifier: Apache-2.0
#include "core/passage/sshtunnel.h"

#include "core/base/logging.h"

#include <QDir>
#include <QFile>
#include <QProcessEnvironment>
#include <QStandardPaths>

#include <algorithm>
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace lockscope::passage {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds firstPause = 500ms, longestPause = 30s;
constexpr auto lookEvery = 20ms;
constexpr qsizetype mostSaid = 16 * 1024;
constexpr qsizetype longestSocketName = 100; // sockaddr_un has 108, and ssh adds to it while it binds

QString forwardTo(const HostPort &server)
{
    return (server.host.contains(u':') ? u"[%1]:%2"_s : u"%1:%2"_s).arg(server.host, QString::number(server.port));
}

QProcessEnvironment withoutPasswords()
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

SshTunnel::SshTunnel(SshOptions ssh, std::vector<HostPort> servers, std::shared_ptr<Problem> problem)
    : m_ssh(std::move(ssh)), m_servers(std::move(servers)), m_problem(std::move(problem)),
      // So named that what a crash leaves behind is swept with the sandbox's folders.
      m_folder(u"%1/lockscope-%2-XXXXXX"_s.arg(QDir::tempPath()).arg(::getpid())), m_pause(firstPause)
{
    m_looking.setInterval(lookEvery);
    connect(&m_looking, &QTimer::timeout, this, [this] { look(); });
    m_again.setSingleShot(true);
    connect(&m_again, &QTimer::timeout, this, [this] { start(); });
    start();
}

SshTunnel::~SshTunnel()
{
    if (!m_process)
        return;
    m_process->disconnect(this);
    m_process->terminate();
    constexpr int politely = 500; // ms
    if (m_process->state() != QProcess::NotRunning && !m_process->waitForFinished(politely))
        m_process->kill();
}

QString SshTunnel::socketOf(std::size_t number) const
{
    return m_folder.filePath(QString::number(number));
}

QStringList SshTunnel::arguments() const
{
    QStringList all{u"-N"_s, u"-T"_s};
    for (const auto *option :
         {"BatchMode=yes", "ExitOnForwardFailure=yes", "ServerAliveInterval=5", "ServerAliveCountMax=3",
          "ConnectTimeout=10", "ControlMaster=no", "ControlPath=none", "StreamLocalBindMask=0177",
          "StreamLocalBindUnlink=yes", "ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no", "LogLevel=INFO"})
        all << u"-o"_s << QString::fromLatin1(option);
    if (m_ssh.port != 0)
        all << u"-p"_s << QString::number(m_ssh.port);
    if (!m_ssh.user.isEmpty())
        all << u"-l"_s << m_ssh.user;
    for (std::size_t i = 0; i < m_servers.size(); ++i)
        all << u"-L"_s << socketOf(i) + u':' + forwardTo(m_servers[i]);
    return all << u"--"_s << m_ssh.host;
}

void SshTunnel::start()
{
    m_state = State::Starting;
    m_said.clear();
    const auto program = QStandardPaths::findExecutable(u"ssh"_s);
    if (program.isEmpty())
        return ended(u"ssh %1: ssh is not installed; Debian's package is openssh-client"_s.arg(m_ssh.target()));
    if (!m_folder.isValid() || m_folder.path().contains(u':') || m_folder.path().size() > longestSocketName)
        return ended(u"ssh %1: no folder for its sockets can be made in %2"_s.arg(m_ssh.target(), QDir::tempPath()));
    for (std::size_t i = 0; i < m_servers.size(); ++i)
        QFile::remove(socketOf(i));
    m_process = std::make_unique<QProcess>();
    m_process->setProcessEnvironment(withoutPasswords());
    m_process->setStandardInputFile(QProcess::nullDevice());
    m_process->setStandardOutputFile(QProcess::nullDevice());
    // It ends with us whatever becomes of us, and not by a Ctrl+C that is ours to answer.
    m_process->setChildProcessModifier([parent = ::getpid()] {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent)
            ::_exit(1);
        ::setsid();
    });
    connect(m_process.get(), &QProcess::readyReadStandardError, this, [this] { readErrors(); });
    connect(m_process.get(), &QProcess::finished, this, [this] {
        readErrors();
        ended(sshProblem(m_ssh, m_said));
    });
    connect(m_process.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            ended(u"ssh %1: %2"_s.arg(m_ssh.target(), m_process->errorString()));
    });
    m_process->start(program, arguments());
    m_looking.start();
}

// The sockets are there once the login is done and the forwarding is agreed upon.
void SshTunnel::look()
{
    for (std::size_t i = 0; i < m_servers.size(); ++i) {
        if (!QFile::exists(socketOf(i)))
            return;
    }
    m_looking.stop();
    m_state = State::Up;
    m_pause = firstPause;
    m_problem->set({});
    tellWaiting(true);
}

void SshTunnel::ended(const QString &why)
{
    m_looking.stop();
    if (m_problem->text() != why)
        qCInfo(logPassage).noquote() << why;
    m_problem->set(why);
    m_state = State::Down;
    if (m_process) // this may be its signal
        m_process.release()->deleteLater();
    m_again.start(m_pause);
    m_pause = std::min(m_pause * 2, longestPause);
    tellWaiting(false);
}

void SshTunnel::readErrors()
{
    const auto more = m_process->readAllStandardError();
    m_said = (m_said + more).right(mostSaid);
    for (const auto &line : more.split('\n')) {
        const auto problem = sshChannelProblem(m_ssh, line);
        if (!problem.isEmpty())
            m_problem->set(problem);
    }
}

void SshTunnel::tellWaiting(bool isUp)
{
    for (const auto &waiting : std::exchange(m_waiting, {})) {
        if (waiting.context)
            waiting.ready(isUp ? waiting.socket : QString());
    }
}

void SshTunnel::whenUp(const HostPort &server, QObject *context, std::function<void(const QString &)> ready)
{
    const auto at = std::ranges::find(m_servers, server);
    const auto socket =
        at == m_servers.end() ? QString() : socketOf(static_cast<std::size_t>(at - m_servers.begin()));
    if (m_state == State::Starting && !socket.isEmpty())
        m_waiting.push_back({context, std::move(ready), socket});
    else
        ready(m_state == State::Up ? socket : QString());
}

} // namespace lockscope::passage
