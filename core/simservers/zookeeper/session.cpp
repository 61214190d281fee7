// SPDX-License-Identifier: Apache-2.0
// The life of a simulated session: connecting, silence, the end. What it sends is in sessionrequests.cpp.
#include "core/simservers/zookeeper/simulatedsession.h"

namespace lockscope::sim::zookeeper {

// One per connection, so that what a former one still brings finds nobody.
class SimulatedSession::Inbox : public Receiver {
public:
    explicit Inbox(SimulatedSession *session) : m_session(session) {}
    void close() { m_session = nullptr; }
    [[nodiscard]] SimulatedSession *session() const { return m_session; }

    void welcomed(const Welcome &welcome) override
    {
        if (m_session)
            m_session->welcomed(welcome);
    }
    void answered(quint64 number, Answer &&answer) override
    {
        if (m_session)
            m_session->answered(number, std::move(answer));
    }
    void notified(const zk::WatchEvent &event) override
    {
        if (m_session)
            m_session->m_watches.fire(event);
    }

private:
    SimulatedSession *m_session;
};

std::unique_ptr<zk::Session> openSession(Process &process, Ensemble &ensemble, SessionOptions options)
{
    return std::make_unique<SimulatedSession>(process, ensemble, std::move(options));
}

SimulatedSession::SimulatedSession(Process &process, Ensemble &ensemble, SessionOptions options)
    : EndPort(process), m_process(process), m_ensemble(ensemble), m_random(options.random),
      m_askedTimeout(options.timeout), m_retryLeast(options.retryLeast), m_retryMost(options.retryMost),
      m_watches(options.watchBudgetBytes)
{
    const auto count = static_cast<quint64>(ensemble.memberCount());
    m_member = options.member ? *options.member : static_cast<int>(m_random.below(count));
    if (!options.user.isEmpty())
        m_credentials.emplace_back("digest", options.user + ':' + options.password);
    m_timer = m_process.callAt(m_process.now(), [this] { connect(); });
}

void SimulatedSession::connect()
{
    m_timer.cancel();
    auto link = m_ensemble.network().connect(m_process, m_ensemble.serverOf(m_member));
    if (!link) {
        connectLater();
        return;
    }
    m_inbox = makeLocalShared<Inbox>(this);
    m_link = link;
    m_connection = m_ensemble.accept(m_member, link, m_inbox);
    Hello hello{m_id, m_askedTimeout, m_lastZxid, m_credentials, {}, {}, {}};
    m_watches.putInto(hello);
    // No answer to the greeting is silence as well.
    m_silentSince.reset();
    m_timer = m_process.callAt(m_process.now() + patience(), [this] { disconnected(); });
    listenTo(link);
    link->toServer([connection = m_connection, hello = std::move(hello)] { connection->greet(hello); });
}

void SimulatedSession::connectLater()
{
    m_member = (m_member + 1) % m_ensemble.memberCount();
    const auto spread = static_cast<quint64>((m_retryMost - m_retryLeast).count());
    const auto pause = m_retryLeast + Duration(static_cast<Duration::rep>(m_random.below(spread + 1)));
    m_timer = m_process.callAt(m_process.now() + pause, [this] { connect(); });
}

void SimulatedSession::listenTo(const LocalShared<NetworkLink> &link)
{
    link->onBroken(End::Client, [inbox = m_inbox] {
        if (auto *const session = inbox->session())
            session->disconnected();
    });
    link->onHealth(End::Client, [weak = LocalWeak<Inbox>(m_inbox)] {
        const auto inbox = weak.lock();
        if (inbox && inbox->session())
            inbox->session()->healthChanged();
    });
}

// A client that hears nothing for two thirds of its timeout looks for another server. A third before that it
// would send a ping; here it counts from the moment at which pings, or their answers, no longer get through.
Duration SimulatedSession::patience() const
{
    const Duration timeout = m_timeout.count() > 0 ? m_timeout : m_askedTimeout;
    return timeout * 2 / 3;
}

// In the world, while the process may be paused.
void SimulatedSession::healthChanged()
{
    if (m_state != zk::SessionState::Connected || !m_link || !m_link->isUp())
        return;
    const auto now = m_process.now();
    if (m_link->carries(Direction::ToServer) && m_link->carries(Direction::ToClient)) {
        const auto since = std::exchange(m_silentSince, {});
        m_timer.cancel();
        // Whoever was paused for so long finds out when it goes on, whatever has come meanwhile.
        if (since && now - *since >= patience())
            m_timer = m_process.callAt(now, [this] { disconnected(); });
    } else if (!m_silentSince) {
        m_silentSince = now;
        m_timer = m_process.callAt(now + patience(), [this] { disconnected(); });
    }
}

// In the world, while the process may be paused: then it finds out when it goes on.
void SimulatedSession::isDue()
{
    if (!m_process.isAlive())
        return;
    if (!m_process.isPaused()) {
        giveUpOverdue();
        return;
    }
    m_process.post([weak = LocalWeak<Inbox>(m_inbox)] {
        const auto inbox = weak.lock();
        if (inbox && inbox->session())
            inbox->session()->giveUpOverdue();
    });
}

void SimulatedSession::hangUp()
{
    noneIsOut();
    if (m_inbox)
        m_inbox->close();
    m_inbox.reset();
    m_connection.reset();
    m_silentSince.reset();
    m_timer.cancel();
    if (const auto link = std::exchange(m_link, {}))
        link->close(End::Client);
}

void SimulatedSession::disconnected()
{
    hangUp();
    changeState(zk::SessionState::Connecting);
    for (const auto &request : std::exchange(m_out, {}))
        fail(request, zk::errorOf(static_cast<int>(Code::ConnectionLoss), request.attempt));
    connectLater();
}

void SimulatedSession::welcomed(const Welcome &welcome)
{
    if (welcome.session.isNone()) {
        endSession(zk::SessionState::Expired);
        return;
    }
    m_timer.cancel();
    m_id = welcome.session;
    m_timeout = welcome.timeout;
    m_connectedAt = m_process.wallNow();
    changeState(zk::SessionState::Connected);
    healthChanged(); // one direction may have been cut meanwhile
}

void SimulatedSession::changeState(zk::SessionState state)
{
    if (state == m_state)
        return;
    m_state = state;
    notifyState(state);
}

void SimulatedSession::endSession(zk::SessionState state)
{
    if (state == zk::SessionState::Closed && m_state == zk::SessionState::Connected && m_process.isAlive())
        m_link->toServer([connection = m_connection] {
            zookeeper::Request farewell;
            farewell.verb = Verb::Close;
            connection->receive(0, farewell);
        });
    hangUp();
    changeState(state);
    for (const auto &request : std::exchange(m_out, {}))
        fail(request, state == zk::SessionState::Closed
                          ? zk::errorOf(static_cast<int>(Code::Closing), request.attempt)
                          : zk::notSent(state, request.attempt));
    m_watches.endSession();
}

std::optional<std::chrono::system_clock::time_point> SimulatedSession::connectedAt() const
{
    if (m_state != zk::SessionState::Connected)
        return {};
    return m_connectedAt;
}

bool ClientWatches::reserve(const ZPath &path, zk::WatchKind kind)
{
    const auto at = m_slots.find(Sought{path, kind});
    if (at != m_slots.end()) {
        ++at->second.reserved;
        return true;
    }
    if (m_bytes + path.bytes().size() > m_budgetBytes)
        return false;
    m_bytes += path.bytes().size();
    if (m_spare && m_spare.key().kind == kind && m_spare.key().path == path) {
        auto &slot = m_spare.mapped();
        slot.reserved = 1;
        slot.onNode = slot.onMissing = false;
        m_slots.insert(std::move(m_spare));
    } else {
        m_slots[{path, kind}].reserved = 1;
    }
    return true;
}

void ClientWatches::arm(const ZPath &path, zk::WatchKind kind, bool isMissing, zk::Watch listener)
{
    const auto at = m_slots.find(Sought{path, kind});
    if (at == m_slots.end())
        return;
    auto &slot = at->second;
    --slot.reserved;
    (isMissing ? slot.onMissing : slot.onNode) = true;
    // Listeners of earlier reads that gave up by themselves need not be kept.
    std::erase_if(slot.listeners, [](const zk::Watch &earlier) { return earlier.event().isComplete(); });
    slot.listeners.push_back(std::move(listener));
}

void ClientWatches::release(const ZPath &path, zk::WatchKind kind)
{
    const auto at = m_slots.find(Sought{path, kind});
    if (at == m_slots.end())
        return;
    --at->second.reserved;
    dropIfEmpty(at);
}

void ClientWatches::fire(const zk::WatchEvent &event)
{
    if (event.kind != zk::EventKind::ChildrenChanged)
        fireOne(event, zk::WatchKind::Data);
    if (event.kind == zk::EventKind::ChildrenChanged || event.kind == zk::EventKind::Deleted)
        fireOne(event, zk::WatchKind::Children);
}

void ClientWatches::fireOne(const zk::WatchEvent &event, zk::WatchKind kind)
{
    const auto at = m_slots.find(Sought{event.path, kind});
    if (at == m_slots.end())
        return;
    const auto listeners = std::exchange(at->second.listeners, {});
    at->second.onNode = at->second.onMissing = false;
    dropIfEmpty(at);
    for (const auto &listener : listeners)
        listener.event().complete(event);
}

void ClientWatches::endSession()
{
    const auto all = std::exchange(m_slots, {});
    m_bytes = 0;
    for (const auto &[key, slot] : all) {
        for (const auto &listener : slot.listeners)
            listener.event().complete({zk::EventKind::SessionOver, key.path});
    }
}

void ClientWatches::putInto(Hello &hello) const
{
    for (const auto &[key, slot] : m_slots) {
        const auto &[path, kind] = key;
        if (slot.onNode)
            (kind == zk::WatchKind::Data ? hello.dataWatches : hello.childWatches).push_back(path);
        if (slot.onMissing)
            hello.missingWatches.push_back(path);
    }
}

void ClientWatches::dropIfEmpty(WatchSlots::iterator at)
{
    if (at->second.reserved > 0 || !at->second.listeners.empty())
        return;
    m_bytes -= at->first.path.bytes().size();
    if (at->first.kind == zk::WatchKind::Children)
        m_spare = m_slots.extract(at);
    else
        m_slots.erase(at);
}

} // namespace lockscope::sim::zookeeper
