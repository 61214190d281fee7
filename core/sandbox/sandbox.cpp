// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/sandbox.h"

#include "core/base/text.h"
#include "core/sandbox/demo.h"

#include <thread>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace lockscope::sandbox {

constexpr std::chrono::milliseconds pollEvery{10};
constexpr std::chrono::milliseconds watchEvery{250};

const SandboxKit &kitOf(BackendKind backend)
{
#define LOCKSCOPE_SANDBOX(Name) sandboxOf##Name(),
    static const std::array all{LOCKSCOPE_BACKENDS(LOCKSCOPE_SANDBOX)};
#undef LOCKSCOPE_SANDBOX
    return all[static_cast<std::size_t>(backend)];
}

std::map<BackendKind, int> SandboxOptions::usual()
{
    std::map<BackendKind, int> servers;
    for (const auto &backend : allBackends())
        servers[backend.kind] = kitOf(backend.kind).usual;
    return servers;
}

SandboxOptions SandboxOptions::everything()
{
    SandboxOptions options;
    for (auto &[backend, count] : options.servers)
        count = std::max(count, kitOf(backend).isOnlyAskedFor ? 0 : 1);
    return options;
}

Sandbox::Sandbox(SandboxOptions options, QObject *parent) : QObject(parent), m_options(options)
{
    m_poll.setInterval(pollEvery);
    connect(&m_poll, &QTimer::timeout, this, &Sandbox::step);
    m_watch.setInterval(watchEvery);
    connect(&m_watch, &QTimer::timeout, this, &Sandbox::lookAfter);
}

Sandbox::~Sandbox() = default;

void Sandbox::begin()
{
    sweepLeftovers();
    m_begunAt = std::chrono::steady_clock::now();
    if (m_options.tls) {
        auto made = Certificates::make();
        if (!made) {
            addProblem(made.error());
            m_options.servers.clear(); // rather none than in clear
        } else {
            m_certificates = std::move(*made);
        }
    }
    for (const auto &[backend, count] : m_options.servers) {
        const auto name = infoOf(backend).defaultName.toLatin1();
        if (!kitOf(backend).apart && count > 0)
            add(name, backend, count);
        for (int number = 1; kitOf(backend).apart && number <= count; ++number)
            add(number == 1 ? name : name + QByteArray::number(number), backend, 1);
        for (const auto &variant : kitOf(backend).variants) {
            if (m_options.variants.contains(variant.option))
                add(Entry{variant.name, {}, backend, &variant}, variant.make(m_certificates.get()));
        }
    }
    // Also when nothing was started: finished() comes through the event loop in any case.
    m_poll.start();
}

Result<void> Sandbox::start()
{
    begin();
    m_poll.stop();
    step();
    while (!isFinished()) {
        std::this_thread::sleep_for(pollEvery);
        step();
    }
    if (connections().empty())
        return Error{ErrorCode::Unsupported, u"no sandbox: "_s + m_problems.join(u"; "_s), false};
    return {};
}

void Sandbox::add(const QByteArray &name, BackendKind backend, int count)
{
    const auto &kit = kitOf(backend);
    if (m_certificates && !kit.makeWithTls)
        return addProblem(
            Error{ErrorCode::Unsupported, u"no private %1 with TLS in this version"_s.arg(infoOf(backend).title)});
    add(Entry{name, {}, backend}, m_certificates ? kit.makeWithTls(count, *m_certificates) : kit.make(count));
}

void Sandbox::add(Entry entry, Result<std::vector<std::unique_ptr<Server>>> made)
{
    if (!made)
        return addProblem(made.error());
    if (const auto begun = beginAll(*made); !begun)
        return addProblem(begun.error());
    entry.servers = std::move(*made);
    m_entries.push_back(std::make_unique<Entry>(std::move(entry)));
    m_starting.push_back(m_entries.back().get());
}

// True when each of its servers answers.
Result<bool> Sandbox::Entry::poll()
{
    bool isReady = true;
    for (const auto &server : servers) {
        TRY(const auto &answers, server->poll());
        isReady &= answers;
    }
    return isReady;
}

void Sandbox::addProblem(const Error &error)
{
    m_problems << error.message;
    emit failed(error.message);
}

bool Sandbox::Entry::isRunning()
{
    return std::ranges::all_of(servers, [](const auto &server) { return server->isRunning(); });
}

Result<void> Sandbox::Entry::startAgain()
{
    restartAt = {};
    return beginAll(servers);
}

void Sandbox::settle(Entry &entry, const Result<bool> &ready)
{
    if (ready) {
        const bool isAgain = std::exchange(entry.hasAnswered, true);
        entry.nextPause = {};
        if (isAgain)
            emit answeredAgain(specOf(entry));
        else
            emit answered(specOf(entry));
        return;
    }
    if (entry.hasAnswered) { // it was there, and somebody is connected to it
        tryLater(entry, ready.error());
        return;
    }
    addProblem(ready.error());
    std::erase_if(m_entries, [&entry](const auto &one) { return one.get() == &entry; });
}

// What is in its way, such as another program on its port, may go away.
void Sandbox::tryLater(Entry &entry, const Error &error)
{
    constexpr std::chrono::milliseconds longest{60'000};
    const auto pause = std::min(std::max(entry.nextPause, *m_options.restartAfter), longest);
    entry.nextPause = 2 * pause;
    entry.restartAt = std::chrono::steady_clock::now() + pause;
    emit failed(u"%1; it is started again in %2 s"_s.arg(
        error.message, QString::number(std::chrono::duration<double>(pause).count())));
}

void Sandbox::step()
{
    const bool isLate = std::chrono::steady_clock::now() - m_begunAt > m_options.atMost;
    const auto starting = std::exchange(m_starting, {});
    for (Entry *entry : starting) {
        auto ready = entry->poll();
        if (ready && !*ready && isLate)
            ready = Error{ErrorCode::TimedOut,
                          u"the private server %1 did not answer within %2 s"_s.arg(
                              QString::fromUtf8(entry->name), QString::number(m_options.atMost.count() / 1000))};
        if (ready && !*ready)
            m_starting.push_back(entry);
        else
            settle(*entry, ready);
    }
    if (!isFinished())
        return;
    m_poll.stop();
    m_watch.start();
    if (!std::exchange(m_wasFinished, true))
        emit finished();
}

void Sandbox::noteEnd(Entry &entry)
{
    entry.isLeft = !m_options.restartAfter;
    if (m_options.restartAfter)
        entry.restartAt = std::chrono::steady_clock::now() + *m_options.restartAfter;
    QStringList gone;
    for (const auto &server : entry.servers) {
        if (!server->isRunning())
            gone << u"%1:%2"_s.arg(server->address().host).arg(server->address().port);
    }
    const auto name = QString::fromUtf8(entry.name);
    const auto then = m_options.restartAfter ? u"it is started again in %1 s, with what it had on disk"_s.arg(
                          std::chrono::duration<double>(*m_options.restartAfter).count())
                                             : u"it is not started again"_s;
    emit ended(u"%1 (%2) has ended"_s.arg(name, gone.join(u", "_s)) + clause(then));
}

void Sandbox::lookAfter()
{
    constexpr std::chrono::steady_clock::time_point never{};
    const auto now = std::chrono::steady_clock::now();
    for (const auto &entry : m_entries) {
        const bool isStarting = std::ranges::find(m_starting, entry.get()) != m_starting.end();
        if (isStarting || entry->isLeft)
            continue;
        if (entry->restartAt == never) {
            if (!entry->isRunning())
                noteEnd(*entry);
        } else if (now >= entry->restartAt) {
            const auto begun = entry->startAgain();
            if (!begun) {
                settle(*entry, begun.error());
                continue;
            }
            m_begunAt = now;
            m_starting.push_back(entry.get());
            m_poll.start();
        }
    }
}

std::vector<ConnectionSpec> Sandbox::connections() const
{
    std::vector<ConnectionSpec> specs;
    for (const auto &entry : m_entries) {
        if (entry->hasAnswered)
            specs.push_back(specOf(*entry));
    }
    return specs;
}

ConnectionSpec Sandbox::specOf(const Entry &entry) const
{
    ConnectionSpec spec;
    spec.name = ConnectionName(entry.name);
    for (std::size_t i = entry.variant ? entry.variant->unnamed : 0; i < entry.servers.size(); ++i)
        spec.hosts.push_back(entry.servers[i]->address());
    spec.scheme = entry.variant ? entry.variant->scheme : infoOf(entry.backend).schemes.front().scheme;
    spec.service = entry.variant ? entry.variant->service : QString();
    if (m_certificates) {
        spec.transport.tls = m_certificates->forClients();
        const auto &schemes = infoOf(entry.backend).schemes;
        const auto tls = std::ranges::find(schemes, true, &BackendScheme::tls);
        if (tls != schemes.end() && !entry.variant)
            spec.scheme = tls->scheme;
    }
    spec.user = kitOf(entry.backend).user;
    if (const auto adminPort = entry.servers.front()->adminPort(); adminPort != 0)
        spec.adminPort = adminPort;
    return spec;
}

QString connectArgument(const ConnectionSpec &connection)
{
    QString argument = QString::fromUtf8(connection.name.bytes()) + u'=' + connection.displayUri();
    if (!connection.user.isEmpty())
        argument.replace(u"://"_s, u"://"_s + connection.user + u'@');
    return argument;
}

namespace {

constexpr std::array endingSignals{SIGINT, SIGTERM, SIGHUP};
// A handler may do next to nothing: it writes one byte here, and the event loop reads it.
int ends[2] = {-1, -1};

void handle(int number)
{
    const int saved = errno;
    const auto byte = static_cast<char>(number);
    [[maybe_unused]] const auto written = ::write(ends[1], &byte, 1);
    errno = saved;
}

} // namespace

EndSignals::EndSignals(QObject *parent) : QObject(parent)
{
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        qFatal("no pipe for signals");
    m_notifier = new QSocketNotifier(ends[0], QSocketNotifier::Read, this);
    connect(m_notifier, &QSocketNotifier::activated, this, &EndSignals::read);

    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    for (const int number : endingSignals) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        // Whoever started us to go on without it (nohup) meant it.
        if (before.sa_handler != SIG_IGN)
            ::sigaction(number, &action, nullptr);
    }
}

EndSignals::~EndSignals()
{
    for (const int number : endingSignals)
        ::signal(number, SIG_DFL);
    delete m_notifier;
    ::close(ends[0]);
    ::close(ends[1]);
}

void EndSignals::read()
{
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1)
        emit asked(byte);
}

} // namespace lockscope::sandbox

#include "moc_sandbox.cpp"
