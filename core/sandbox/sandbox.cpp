// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/sandbox.h"

#include <algorithm>
#include <thread>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

constexpr std::chrono::milliseconds pollEvery{10};
// Long enough for a crashed holder that people want to look at.
constexpr std::chrono::milliseconds longestSession{600'000};

template <class T>
Result<std::unique_ptr<Server>> asServer(Result<std::unique_ptr<T>> made)
{
    if (!made)
        return made.error();
    return std::unique_ptr<Server>(std::move(*made));
}

} // namespace

Sandbox::Sandbox(SandboxOptions options, QObject *parent) : QObject(parent), m_options(options)
{
    m_poll.setInterval(pollEvery);
    connect(&m_poll, &QTimer::timeout, this, &Sandbox::step);
}

Sandbox::~Sandbox() = default;

void Sandbox::begin()
{
    sweepLeftovers();
    m_begunAt = std::chrono::steady_clock::now();
    if (m_options.zooKeeper)
        addZooKeeper();
    for (int number = 1; number <= m_options.redis; ++number)
        add(number == 1 ? QByteArray("redis") : "redis" + QByteArray::number(number), Scheme::Redis, makeRedis());
    if (m_options.mariaDb)
        add("mariadb", Scheme::MariaDb, makeMariaDb());
    // Also when nothing was started: finished() comes through the event loop in any case.
    m_poll.start();
}

Result<bool> Sandbox::start()
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
    return true;
}

void Sandbox::add(const QByteArray &name, Scheme scheme, Result<std::unique_ptr<Server>> made)
{
    if (!made)
        return addProblem(made.error());
    std::vector<std::unique_ptr<Server>> servers;
    servers.push_back(std::move(*made));
    add(name, scheme, std::move(servers));
}

void Sandbox::add(const QByteArray &name, Scheme scheme, std::vector<std::unique_ptr<Server>> servers)
{
    for (const auto &server : servers) {
        auto begun = server->begin();
        if (!begun)
            return addProblem(begun.error());
    }
    m_entries.push_back(std::make_unique<Entry>(Entry{name, std::move(servers), scheme}));
    m_starting.push_back(m_entries.back().get());
}

void Sandbox::addZooKeeper()
{
    ZooKeeperOptions options;
    options.maxSession = longestSession;
    if (m_options.zooKeeperMembers <= 1)
        return add("zk", Scheme::ZooKeeper, asServer(makeZooKeeper(options)));
    options.adminServer = false; // one URI has one port for it; four-letter words say the same
    auto made = makeZooKeeperEnsemble(m_options.zooKeeperMembers, options);
    if (!made)
        return addProblem(made.error());
    std::vector<std::unique_ptr<Server>> servers;
    for (auto &member : *made)
        servers.push_back(std::move(member));
    add("zk", Scheme::ZooKeeper, std::move(servers));
}

// True when each of its servers answers.
Result<bool> Sandbox::Entry::poll()
{
    bool isReady = true;
    for (const auto &server : servers) {
        auto answers = server->poll();
        if (!answers)
            return answers;
        isReady &= *answers;
    }
    return isReady;
}

void Sandbox::addProblem(const Error &error)
{
    m_problems << error.message;
    emit failed(error.message);
}

void Sandbox::step()
{
    const bool isLate = std::chrono::steady_clock::now() - m_begunAt > m_options.atMost;
    const auto starting = std::exchange(m_starting, {});
    for (Entry *entry : starting) {
        auto ready = entry->poll();
        if (ready && !*ready && isLate)
            ready = Error{ErrorCode::TimedOut,
                          u"the private server %1 did not answer within %2 s"_s.arg(QString::fromUtf8(entry->name))
                              .arg(m_options.atMost.count() / 1000)};
        if (ready && *ready) {
            emit answered(specOf(*entry));
        } else if (ready) {
            m_starting.push_back(entry);
        } else {
            addProblem(ready.error());
            std::erase_if(m_entries, [entry](const auto &one) { return one.get() == entry; });
        }
    }
    if (!isFinished())
        return;
    m_poll.stop();
    emit finished();
}

std::vector<ConnectionSpec> Sandbox::connections() const
{
    std::vector<ConnectionSpec> specs;
    for (const auto &entry : m_entries) {
        if (std::ranges::find(m_starting, entry.get()) == m_starting.end())
            specs.push_back(specOf(*entry));
    }
    return specs;
}

quint16 Sandbox::Entry::adminPort() const
{
    const auto *zooKeeper = dynamic_cast<const ZooKeeperServer *>(servers.front().get());
    return zooKeeper ? zooKeeper->adminPort() : quint16(0);
}

ConnectionSpec Sandbox::specOf(const Entry &entry)
{
    ConnectionSpec spec;
    spec.name = ConnectionName(entry.name);
    for (const auto &server : entry.servers)
        spec.hosts.push_back(server->address());
    spec.scheme = entry.scheme;
    if (const auto adminPort = entry.adminPort(); adminPort != 0)
        spec.adminPort = adminPort;
    if (entry.scheme == Scheme::MariaDb)
        spec.user = u"root"_s;
    return spec;
}

QString connectArgument(const ConnectionSpec &connection)
{
    QString argument = QString::fromUtf8(connection.name.bytes()) + u'=' + connection.displayUri();
    if (!connection.user.isEmpty())
        argument.replace(u"://"_s, u"://"_s + connection.user + u'@');
    if (connection.scheme == Scheme::ZooKeeper && connection.hosts.size() == 1)
        argument += u"?admin=%1"_s.arg(connection.adminPort);
    return argument;
}

} // namespace lockscope::sandbox
