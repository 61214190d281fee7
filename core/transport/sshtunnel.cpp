// SPDX-License-Identifier: Apache-2.0
#include "core/transport/loopbacklistener.h"

#include "core/base/logging.h"
#include "core/base/text.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include <algorithm>
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace lockscope::transport {

namespace {

constexpr std::chrono::milliseconds firstPause = 500ms, longestPause = 30s;
constexpr auto lookEvery = 20ms;
constexpr qsizetype mostSaid = 16 * 1024;
constexpr qsizetype longestFolderName = 80; // sockaddr_un has 108, and ssh adds 17 to a name while it binds

QString forwardTo(const HostPort &server)
{
    return (server.host.contains(u':') ? u"[%1]:%2"_s : u"%1:%2"_s).arg(server.host, QString::number(server.port));
}

std::unique_ptr<QProcess> silentProcess()
{
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environmentWithoutPasswords());
    process->setStandardInputFile(QProcess::nullDevice());
    process->setStandardOutputFile(QProcess::nullDevice());
    return process;
}

QStringList asOptions(const std::vector<QString> &options)
{
    QStringList all;
    for (const auto &option : options)
        all << u"-o"_s << option;
    return all;
}

QByteArray lastLineOf(const QByteArray &said)
{
    QByteArray last;
    for (const auto &raw : said.split('\n')) {
        const auto line = raw.trimmed();
        if (!line.isEmpty() && !line.startsWith("Warning:") && !line.startsWith("debug"))
            last = line;
    }
    return last;
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
    if (m_wish) {
        m_wish->disconnect(this);
        m_wish->kill();
    }
    if (!m_process)
        return;
    m_process->disconnect(this);
    m_process->terminate();
    constexpr int politely = 500; // ms
    if (m_process->state() != QProcess::NotRunning && !m_process->waitForFinished(politely))
        m_process->kill();
}

QStringList SshTunnel::arguments() const
{
    auto all = QStringList{u"-N"_s, u"-T"_s}
               + asOptions({u"BatchMode=yes"_s, u"ExitOnForwardFailure=yes"_s, u"ServerAliveInterval=5"_s,
                            u"ServerAliveCountMax=3"_s, u"ConnectTimeout=10"_s, u"ControlMaster=yes"_s,
                            u"ControlPersist=no"_s, u"ControlPath="_s + wishSocket(), u"StreamLocalBindMask=0177"_s,
                            u"StreamLocalBindUnlink=yes"_s, u"ForwardAgent=no"_s, u"ForwardX11=no"_s,
                            u"PermitLocalCommand=no"_s, u"LogLevel=INFO"_s});
    if (m_ssh.port != 0)
        all << u"-p"_s << QString::number(m_ssh.port);
    if (!m_ssh.user.isEmpty())
        all << u"-l"_s << m_ssh.user;
    return all + forwards(0) << u"--"_s << m_ssh.host;
}

QStringList SshTunnel::forwards(std::size_t from) const
{
    QStringList all;
    for (std::size_t i = from; i < m_servers.size(); ++i)
        all << u"-L"_s << socketOf(i) + u':' + forwardTo(m_servers[i]);
    return all;
}

void SshTunnel::start()
{
    m_state = State::Starting;
    m_said.clear();
    const auto program = QStandardPaths::findExecutable(u"ssh"_s);
    if (program.isEmpty())
        return ended(u"ssh %1: ssh is not installed; Debian's package is openssh-client"_s.arg(m_ssh.target()));
    if (!m_folder.isValid() || m_folder.path().contains(u':') || m_folder.path().size() > longestFolderName)
        return ended(u"ssh %1: could not create its socket folder in %2"_s.arg(m_ssh.target(), QDir::tempPath()));
    m_forwarded = m_servers.size();
    for (std::size_t i = 0; i < m_forwarded; ++i)
        QFile::remove(socketOf(i));
    QFile::remove(wishSocket());
    m_process = silentProcess();
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
    for (std::size_t i = 0; i < m_forwarded; ++i) {
        if (!QFile::exists(socketOf(i)))
            return;
    }
    m_looking.stop();
    m_state = State::Up;
    m_pause = firstPause;
    m_problem->set({});
    notifyWaiting();
    forwardMore();
}

void SshTunnel::ended(const QString &why)
{
    m_looking.stop();
    if (m_problem->text() != why)
        qCInfo(logTransport).noquote() << why;
    m_problem->set(why);
    m_state = State::Down;
    if (m_process) // this may be its signal
        m_process.release()->deleteLater();
    m_again.start(m_pause);
    m_pause = std::min(m_pause * 2, longestPause);
    if (m_wish) {
        m_wish->disconnect(this);
        m_wish->kill();
        m_wish.release()->deleteLater();
    }
    notifyWaiting();
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

// What was asked for since it was started.
void SshTunnel::forwardMore()
{
    if (m_state != State::Up || m_wish || m_forwarded == m_servers.size())
        return;
    for (auto i = m_forwarded; i < m_servers.size(); ++i)
        QFile::remove(socketOf(i));
    m_wish = silentProcess();
    connect(m_wish.get(), &QProcess::finished, this, [this, upTo = m_servers.size()](int status) {
        wereForwarded(upTo, m_wish->exitStatus() == QProcess::NormalExit && status == 0);
    });
    connect(m_wish.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            wereForwarded(m_forwarded, false);
    });
    const auto options = asOptions({u"BatchMode=yes"_s, u"ControlPath="_s + wishSocket()});
    m_wish->start(QStandardPaths::findExecutable(u"ssh"_s), options + QStringList{u"-O"_s, u"forward"_s}
                                                                + forwards(m_forwarded)
                                                                + QStringList{u"--"_s, m_ssh.host});
}

// Those it would not forward to are forgotten: who asks again is asked for again.
void SshTunnel::wereForwarded(std::size_t upTo, bool isAgreed)
{
    const auto said = m_wish->readAllStandardError();
    m_wish.release()->deleteLater(); // this is its signal
    if (isAgreed) {
        m_forwarded = upTo;
        notifyWaiting();
        return forwardMore();
    }
    m_problem->set(sshProblem(m_ssh, said));
    m_servers.resize(m_forwarded);
    notifyWaiting();
}

void SshTunnel::notifyWaiting()
{
    for (auto &waiting : std::exchange(m_waiting, {})) {
        const bool isSettled = m_state == State::Down || waiting.number >= m_servers.size();
        if (m_state == State::Starting || (!isSettled && waiting.number >= m_forwarded))
            m_waiting.push_back(std::move(waiting));
        else if (waiting.context)
            waiting.ready(isSettled ? QString() : socketOf(waiting.number));
    }
}

void SshTunnel::whenUp(const HostPort &server, QObject *context, std::function<void(const QString &)> ready)
{
    const auto known = std::ranges::find(m_servers, server);
    const auto number = static_cast<std::size_t>(known - m_servers.begin());
    if (known == m_servers.end()) {
        if (!isForwardable(server.host)) {
            m_problem->set(u"ssh %1: %2 is not a host name that ssh can forward to"_s.arg(
                m_ssh.target(), label(server.host.toUtf8(), 80)));
            return ready({});
        }
        m_servers.push_back(server);
    }
    m_waiting.push_back({context, std::move(ready), number});
    notifyWaiting();
    forwardMore();
}

bool isForwardable(const QString &host)
{
    static const QString others = u".-_:%"_s;
    return !host.isEmpty() && !host.startsWith(u'-')
           && std::ranges::all_of(host, [](QChar sign) { return sign.isLetterOrNumber() || others.contains(sign); });
}

QString sshProblem(const SshOptions &ssh, const QByteArray &said)
{
    const auto last = lastLineOf(said);
    const auto shown = label(last);
    const auto begin = u"ssh %1: "_s.arg(ssh.target());
    if (said.contains("REMOTE HOST IDENTIFICATION HAS CHANGED"))
        return begin + u"its host key differs from the known key: an attacker may be in between (see known_hosts)"_s;
    if (said.contains("Host key verification failed"))
        return begin + u"its host key is unknown, and ssh cannot ask here; connect once by hand to check it"_s;
    if (last.contains("Permission denied"))
        return begin
               + u"it refused the login (%1); keys come from the agent or from ssh's configuration"_s.arg(shown);
    return last.isEmpty() ? begin + u"it ended without a message"_s : begin + shown;
}

QString sshChannelProblem(const SshOptions &ssh, const QByteArray &line)
{
    const auto at = line.indexOf("open failed: "); // prose: ok (ssh's own text)
    if (at < 0)
        return {};
    return u"ssh %1: the server cannot be reached from there: %2"_s.arg(ssh.target(),
                                                                        label(line.mid(at + 13).trimmed()));
}

} // namespace lockscope::transport
