// SPDX-License-Identifier: Apache-2.0
#include "core/transport/tunnel.h"

#include "core/base/text.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include <algorithm>

#include <unistd.h>

namespace lockscope::transport {

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
