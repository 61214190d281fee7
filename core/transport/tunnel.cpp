// SPDX-License-Identifier: Apache-2.0
#include "core/transport/tunnel.h"

#include "core/base/logging.h"
#include "core/base/text.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QStandardPaths>

#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace lockscope::transport {

constexpr std::chrono::milliseconds firstPause = 500ms, longestPause = 30s;
constexpr qsizetype mostSaid = 16 * 1024;

Tunnel::Tunnel(std::vector<HostPort> servers, std::shared_ptr<Problem> problem)
    : m_servers(std::move(servers)), m_problem(std::move(problem)), m_pause(firstPause)
{
    m_again.setSingleShot(true);
    connect(&m_again, &QTimer::timeout, this, [this] { start(); });
}

void Tunnel::endProcess()
{
    if (!m_process)
        return;
    m_process->disconnect(this);
    m_process->terminate();
    constexpr int politely = 500; // ms
    if (m_process->state() != QProcess::NotRunning && !m_process->waitForFinished(politely))
        m_process->kill();
    m_process.reset();
}

std::unique_ptr<QProcess> Tunnel::makeProcess()
{
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environmentWithoutPasswords());
    process->setStandardInputFile(QProcess::nullDevice());
    return process;
}

void Tunnel::run(const QString &program, const QStringList &arguments, std::unique_ptr<QProcess> process)
{
    m_state = State::Starting;
    m_said.clear();
    m_process = std::move(process);
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
        if (!startsOver())
            return ended(problemOf(m_said));
        m_process.release()->deleteLater(); // this is its signal
        wasEnded();
        start();
    });
    connect(m_process.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            ended(problemOf(m_process->errorString().toUtf8()));
    });
    m_process->start(program, arguments);
}

void Tunnel::isUp()
{
    m_state = State::Up;
    m_pause = firstPause;
    m_problem->set({});
    notifyWaiting();
    forwardMore();
}

void Tunnel::ended(const QString &why)
{
    if (m_problem->text() != why)
        qCInfo(logTransport).noquote() << why;
    m_problem->set(why);
    m_state = State::Down;
    if (m_process) // this may be its signal
        m_process.release()->deleteLater();
    m_again.start(m_pause);
    m_pause = std::min(m_pause * 2, longestPause);
    wasEnded();
    notifyWaiting();
}

void Tunnel::readErrors()
{
    const auto more = m_process->readAllStandardError();
    m_said = (m_said + more).right(mostSaid);
    for (const auto &line : more.split('\n'))
        hasSaid(line);
}

void Tunnel::notifyWaiting()
{
    for (auto &waiting : std::exchange(m_waiting, {})) {
        if (!waiting.context)
            continue;
        const bool isSettled = m_state == State::Down || waiting.number >= m_servers.size();
        if (m_state == State::Starting || (!isSettled && !isForwarded(waiting.number)))
            m_waiting.push_back(std::move(waiting));
        else
            waiting.ready(isSettled ? NearEnd() : nearEndOf(waiting.number));
    }
}

void Tunnel::whenUp(const HostPort &server, QObject *context, std::function<void(const NearEnd &)> ready)
{
    const auto known = std::ranges::find(m_servers, server);
    const auto number = static_cast<std::size_t>(known - m_servers.begin());
    if (known == m_servers.end()) {
        if (const auto refusal = refusalOf(server); !refusal.isEmpty()) {
            m_problem->set(refusal);
            return ready({});
        }
        m_servers.push_back(server);
    }
    m_waiting.push_back({context, std::move(ready), number});
    notifyWaiting();
    forwardMore();
}

KubeTunnel::KubeTunnel(KubeOptions kube, std::vector<HostPort> servers, std::shared_ptr<Problem> problem)
    : Tunnel(std::move(servers), std::move(problem)), m_kube(std::move(kube))
{
    start();
}

void KubeTunnel::start()
{
    const auto program = QStandardPaths::findExecutable(u"kubectl"_s);
    if (program.isEmpty())
        return ended(u"kube %1: kubectl is not installed"_s.arg(m_kube.target()));
    const auto port = m_kube.port != 0 || m_servers.empty() ? m_kube.port : m_servers.front().port;
    const auto kind = !m_kube.kind.isEmpty() ? m_kube.kind : m_isService ? u"svc"_s : u"pod"_s;
    QStringList arguments{u"port-forward"_s, u"--namespace="_s + m_kube.space, u"--address=127.0.0.1"_s};
    if (!m_kube.context.isEmpty())
        arguments << u"--context="_s + m_kube.context;
    arguments << u"%1/%2"_s.arg(kind, m_kube.name) << u":%1"_s.arg(port);
    auto process = makeProcess();
    connect(process.get(), &QProcess::readyReadStandardOutput, this, [this] { readPort(); });
    run(program, arguments, std::move(process));
}

// "Forwarding from 127.0.0.1:41235 -> 6379". What it prints later is of no use, and is read so that it can go on.
void KubeTunnel::readPort()
{
    static const QRegularExpression forwarding(u"^Forwarding from 127\\.0\\.0\\.1:(\\d{1,5}) -> "_s,
                                               QRegularExpression::MultilineOption);
    const auto found = forwarding.match(QString::fromUtf8(m_process->readAllStandardOutput()));
    if (m_port != 0 || !found.hasMatch())
        return;
    m_port = found.captured(1).toUShort();
    isUp();
}

// Older versions of kubectl go on after the pod has gone, and forward nothing any more.
void KubeTunnel::hasSaid(const QByteArray &line)
{
    if (m_state == State::Starting && m_kube.kind.isEmpty() && line.contains("NotFound")) {
        m_isToStartOver = m_isService;
        m_isService = !m_isService;
    }
    if (line.contains("an error occurred forwarding"))
        m_problem->set(problemOf(line));
    if (m_process && (line.contains("lost connection to pod") || line.contains("network namespace")))
        m_process->terminate();
}

QString KubeTunnel::problemOf(const QByteArray &said) const
{
    QByteArray last;
    for (const auto &line : said.split('\n'))
        last = line.trimmed().isEmpty() ? last : line.trimmed();
    return u"kube %1: %2"_s.arg(m_kube.target(), last.isEmpty() ? u"kubectl ended without a message"_s : label(last));
}

QString KubeTunnel::refusalOf(const HostPort &server) const
{
    return u"kube %1: it reaches one pod, and %2 is another server"_s.arg(m_kube.target(), displayHost(server));
}

std::unique_ptr<Tunnel> makeTunnel(const TransportOptions &transport, std::vector<HostPort> servers,
                                   std::shared_ptr<Problem> problem)
{
    if (transport.kube.isOn())
        return std::make_unique<KubeTunnel>(transport.kube, std::move(servers), std::move(problem));
    return std::make_unique<SshTunnel>(transport.ssh, std::move(servers), std::move(problem));
}

namespace {

constexpr auto lookEvery = 20ms;
constexpr qsizetype longestFolderName = 80; // sockaddr_un has 108, and ssh adds 17 to a name while it binds

QString forwardTo(const HostPort &server)
{
    return (server.host.contains(u':') ? u"[%1]:%2"_s : u"%1:%2"_s).arg(server.host, QString::number(server.port));
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
    : Tunnel(std::move(servers), std::move(problem)), m_ssh(std::move(ssh)),
      // So named that what a crash leaves behind is swept with the sandbox's folders.
      m_folder(u"%1/lockscope-%2-XXXXXX"_s.arg(QDir::tempPath()).arg(::getpid()))
{
    m_looking.setInterval(lookEvery);
    connect(&m_looking, &QTimer::timeout, this, [this] { look(); });
    start();
}

SshTunnel::~SshTunnel()
{
    if (m_wish) {
        m_wish->disconnect(this);
        m_wish->kill();
    }
    endProcess();
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
    const auto program = QStandardPaths::findExecutable(u"ssh"_s);
    if (program.isEmpty())
        return ended(u"ssh %1: ssh is not installed; Debian's package is openssh-client"_s.arg(m_ssh.target()));
    if (!m_folder.isValid() || m_folder.path().contains(u':') || m_folder.path().size() > longestFolderName)
        return ended(u"ssh %1: could not create its socket folder in %2"_s.arg(m_ssh.target(), QDir::tempPath()));
    m_forwarded = m_servers.size();
    for (std::size_t i = 0; i < m_forwarded; ++i)
        QFile::remove(socketOf(i));
    QFile::remove(wishSocket());
    auto process = makeProcess();
    process->setStandardOutputFile(QProcess::nullDevice());
    run(program, arguments(), std::move(process));
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
    isUp();
}

void SshTunnel::wasEnded()
{
    m_looking.stop();
    if (m_wish) {
        m_wish->disconnect(this);
        m_wish->kill();
        m_wish.release()->deleteLater();
    }
}

QString SshTunnel::problemOf(const QByteArray &said) const
{
    return sshProblem(m_ssh, said);
}

void SshTunnel::hasSaid(const QByteArray &line)
{
    const auto problem = sshChannelProblem(m_ssh, line);
    if (!problem.isEmpty())
        m_problem->set(problem);
}

QString SshTunnel::refusalOf(const HostPort &server) const
{
    if (isForwardable(server.host))
        return {};
    return u"ssh %1: %2 is not a host name that ssh can forward to"_s.arg(m_ssh.target(),
                                                                          label(server.host.toUtf8(), 80));
}

// What was asked for since it was started.
void SshTunnel::forwardMore()
{
    if (m_state != State::Up || m_wish || m_forwarded == m_servers.size())
        return;
    for (auto i = m_forwarded; i < m_servers.size(); ++i)
        QFile::remove(socketOf(i));
    m_wish = makeProcess();
    m_wish->setStandardOutputFile(QProcess::nullDevice());
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
