// SPDX-License-Identifier: Apache-2.0
#include "core/transport/tunnel.h"

#include "core/base/logging.h"
#include "core/base/text.h"

#include <QRegularExpression>
#include <QStandardPaths>

#include <algorithm>
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

} // namespace lockscope::transport
