// SPDX-License-Identifier: Apache-2.0
#include "core/transport/transport.h"

#include "core/async/closing.h"
#include "core/transport/loopbacklistener.h"
#include "core/transport/thread.h"

#include <QCoreApplication>
#include <QThread>
#include <algorithm>
#include <condition_variable>
#include <deque>

namespace lockscope::transport {

struct Transport::Inside {
    std::shared_ptr<Tunnel> tunnel; // null without ssh and kubectl
    std::vector<std::unique_ptr<LoopbackListener>> doors;
};

Transport::Transport(TransportOptions transport, std::vector<HostPort> servers) : m_transport(std::move(transport))
{
    if (isDirect())
        return;
    m_inUse.emplace(InUse::By::Owner);
    m_inside = std::make_shared<Inside>();
    if (!m_transport.isTunnelled())
        return;
    onTransportThread(
        [inside = m_inside, transport = m_transport, servers = std::move(servers), problem = m_problem] {
            // Not deleted where its own signal, or that of what goes through it, is being handled.
            inside->tunnel = {makeTunnel(transport, servers, problem).release(),
                              [](Tunnel *gone) { gone->deleteLater(); }};
        });
}

Transport::~Transport()
{
    if (m_doors.empty() && !m_transport.isTunnelled())
        return;
    // Its last reference is that of the transports' thread.
    onTransportThread([inside = std::exchange(m_inside, nullptr)]() mutable { inside.reset(); });
}

HostPort Transport::door(const HostPort &server, Speech speech)
{
    if (!m_inside) { // it would have been direct
        m_inUse.emplace(InUse::By::Owner);
        m_inside = std::make_shared<Inside>();
    }
    const auto known = std::ranges::find_if(
        m_doors, [&](const Opened &one) { return one.server == server && one.speech == speech; });
    if (known != m_doors.end())
        return known->door;
    const auto dialled = !speech.isTls ? server : through(server);
    const auto open = openPort();
    if (open.port == 0) {
        m_problem->set(QStringLiteral("no port on 127.0.0.1 is available"));
        return {QStringLiteral("127.0.0.1"), 0};
    }
    onTransportThread([inside = m_inside, open, server, dialled, speech, tls = m_transport.tls, problem = m_problem] {
        Route route{server, dialled, speech, tls, nullptr, problem};
        if (!speech.isTls)
            route.tunnel = inside->tunnel;
        inside->doors.push_back(std::make_unique<LoopbackListener>(open, std::move(route)));
    });
    m_doors.push_back({server, speech, {QStringLiteral("127.0.0.1"), open.port}});
    return m_doors.back().door;
}

HostPort Transport::through(const HostPort &server)
{
    return m_transport.isTunnelled() ? door(server, asItIs) : server;
}

HostPort Transport::throughSql(const HostPort &server, const SqlSpeech &speech, bool hasPassword)
{
    const auto &tls = m_transport.tls;
    if (hasPassword && !tls.isOn)
        return door(server, speech.plain);
    return throughTls(server, hasPassword && !tls.isVerified ? speech.unverified : speech.verified);
}

HostPort Transport::throughTls(const HostPort &server, Speech speech)
{
    return m_transport.tls.isOn ? door(server, speech) : through(server);
}

namespace {

// Never destroyed: what is carried may go on when static objects are. The work waits behind a mutex of the standard
// library (core/async/workers.h says why).
struct Hub {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    QThread *thread = nullptr;
    QObject *there = nullptr;
    bool isWorking = false;
    bool isOver = false; // the program's end: no work is done any more
    int owners = 0;
    int carried = 0;
    [[nodiscard]] bool isIdle() const { return carried == 0 && !isWorking && work.empty(); }
};

Hub &hub()
{
    static auto *const instance = new Hub;
    return *instance;
}

void runNext()
{
    std::function<void()> work;
    {
        const std::lock_guard lock(hub().mutex);
        if (hub().work.empty())
            return;
        work = std::move(hub().work.front());
        hub().work.pop_front();
        hub().isWorking = true;
    }
    work();
    work = {}; // and what it held
    const std::lock_guard lock(hub().mutex);
    hub().isWorking = false;
    hub().changed.notify_all();
}

// Without the mutex, which its work takes.
void end(QThread *thread, QObject *there)
{
    if (!thread)
        return;
    thread->quit();
    thread->wait();
    delete there;
    delete thread;
}

// When the application object goes, whatever is still carried: after main() Qt's own objects are destroyed, and what
// runs on among them crashes. What comes later is kept and not done.
void endForGood()
{
    auto &here = hub();
    std::unique_lock lock(here.mutex);
    here.isOver = true;
    QThread *thread = std::exchange(here.thread, nullptr);
    QObject *there = std::exchange(here.there, nullptr);
    lock.unlock();
    end(thread, there);
}

} // namespace

void onTransportThread(std::function<void()> work)
{
    auto &here = hub();
    const std::lock_guard lock(here.mutex);
    if (here.isOver) {
        here.work.push_back(std::move(work));
        return;
    }
    if (!here.thread) {
        static const bool isToEnd = (qAddPostRoutine(&endForGood), true);
        Q_UNUSED(isToEnd)
        here.thread = new QThread;
        here.thread->setObjectName(QStringLiteral("lockscope-transport"));
        here.there = new QObject;
        here.there->moveToThread(here.thread);
        here.thread->start();
    }
    here.work.push_back(std::move(work));
    QMetaObject::invokeMethod(here.there, &runNext, Qt::QueuedConnection);
}

InUse::InUse(By by) : m_by(by)
{
    addClosing(&waitForTransports, ClosePhase::Ways);
    const std::lock_guard lock(hub().mutex);
    ++(m_by == By::Owner ? hub().owners : hub().carried);
}

InUse::~InUse()
{
    const std::lock_guard lock(hub().mutex);
    --(m_by == By::Owner ? hub().owners : hub().carried);
    hub().changed.notify_all();
}

void waitForTransports(std::chrono::milliseconds atMost)
{
    auto &here = hub();
    std::unique_lock lock(here.mutex);
    if (here.owners > 0 || here.isOver)
        return;
    const bool isIdle = here.changed.wait_for(lock, atMost, [&here] { return here.isIdle(); });
    if (!isIdle || !here.thread)
        return;
    QThread *thread = std::exchange(here.thread, nullptr);
    QObject *there = std::exchange(here.there, nullptr);
    lock.unlock();
    end(thread, there);
}

} // namespace lockscope::transport
