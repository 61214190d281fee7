// SPDX-License-Identifier: Apache-2.0
// Connections and sessions of the ensemble: who is connected, who has gone silent, who has expired.
#include "core/world/zookeeper/ensemble.h"

namespace lockscope::world::zookeeper {

namespace {

const std::shared_ptr<const Identities> &withoutCredentials()
{
    static const auto all = std::make_shared<const Identities>(Identities{{"ip", "127.0.0.1"}});
    return all;
}

// On its way to a client: of a herd there are millions.
struct Notification {
    using MovesAsBytes = void;
    LocalWeak<Receiver> client;
    zk::WatchEvent event;
    void operator()() const
    {
        if (const auto alive = client.lock())
            alive->notified(event);
    }
};

} // namespace

void Connection::add(Identity identity)
{
    auto all = *m_identities;
    all.push_back(std::move(identity));
    m_identities = std::make_shared<const Identities>(std::move(all));
}

void Connection::greet(const Hello &hello)
{
    if (m_ensemble)
        m_ensemble->greet(*this, hello);
}

void Connection::receive(quint64 number, const Request &request)
{
    if (m_ensemble)
        m_ensemble->receive(*this, number, request);
}

Ensemble::Ensemble(Network &network, EnsembleOptions options)
    : m_network(network), m_options(options), m_dueTimes(network.world())
{
    const auto isOpen = [this](quint64 connection) { return m_connections.contains(connection); };
    for (int i = 0; i < m_options.members; ++i)
        m_members.emplace_back(isOpen);
    m_reaper.emplace(
        world(), leader().tree, m_options.reapingInterval, [this] { return wallNow(); },
        [this](const ZPath &path) { commitRemovals({path}); });
}

Ensemble::~Ensemble()
{
    for (const auto &[number, connection] : m_connections)
        connection->m_ensemble = nullptr;
}

LocalShared<Connection> Ensemble::accept(int member, LocalShared<NetworkLink> link, LocalWeak<Receiver> client)
{
    auto connection = makeLocalShared<Connection>();
    connection->m_ensemble = this;
    connection->m_number = ++m_lastConnection;
    connection->m_member = member;
    connection->m_link = std::move(link);
    connection->m_client = std::move(client);
    connection->m_identities = withoutCredentials();
    m_connections.emplace(connection->m_number, connection);
    connection->m_link->onBroken(End::Server, [weak = LocalWeak<Connection>(connection)] {
        const auto alive = weak.lock();
        if (alive && alive->m_ensemble)
            alive->m_ensemble->drop(*alive);
    });
    connection->m_link->onHealth(End::Server, [weak = LocalWeak<Connection>(connection)] {
        const auto alive = weak.lock();
        if (alive && alive->m_ensemble)
            alive->m_ensemble->watchSilence(alive->m_session, false);
    });
    return connection;
}

void Ensemble::drop(Connection &connection)
{
    const auto keep = connection.shared_from_this();
    const auto session = std::exchange(connection.m_session, 0);
    connection.m_ensemble = nullptr;
    connection.m_waiting.reset();
    memberOf(connection).waiting.erase(connection.m_number);
    connection.m_link->close(End::Server);
    m_connections.erase(connection.m_number);
    const auto at = m_sessions.find(session);
    if (at == m_sessions.end() || at->second.connection != keep)
        return;
    at->second.connection.reset();
    watchSilence(session, false);
}

void Ensemble::greet(Connection &connection, const Hello &hello)
{
    // Who has seen more than this member must not look back in time.
    if (hello.lastZxidSeen > memberOf(connection).applied) {
        drop(connection);
        return;
    }
    for (const auto &[scheme, secret] : hello.credentials) {
        if (auto identity = identify(scheme, secret))
            connection.add(std::move(*identity));
    }
    if (hello.session.isNone()) {
        openSession(connection, hello);
        return;
    }
    const auto at = m_sessions.find(hello.session.value);
    if (at == m_sessions.end()) {
        sendWelcome(connection, {});
        drop(connection);
        return;
    }
    if (const auto earlier = at->second.connection)
        drop(*earlier);
    attach(connection, at->first);
    sendWelcome(connection, {hello.session, at->second.timeout});
    auto &member = memberOf(connection);
    for (const auto &event : watchAgain(hello, connection.m_number, member.tree, member.data, member.children))
        sendEvent(connection, event.kind, event.path);
}

void Ensemble::openSession(Connection &connection, const Hello &hello)
{
    // The highest byte tells the member, as in the real one.
    const auto id = (static_cast<quint64>(connection.m_member + 1) << 56) | ++m_lastSession;
    const auto timeout = std::clamp(hello.timeout, 2 * m_options.tick, 20 * m_options.tick);
    m_sessions[id].timeout = timeout;
    attach(connection, id);
    const auto stamp = newStamp();
    publish({world().now(), stamp, {}});
    orderly(connection, stamp.zxid, [this, &connection, id, timeout] { sendWelcome(connection, {{id}, timeout}); });
}

void Ensemble::attach(Connection &connection, quint64 session)
{
    connection.m_session = session;
    m_sessions[session].connection = connection.shared_from_this();
    watchSilence(session, true);
}

// The server's clock for a session runs from the last word it had. Pings say so all the time while the link
// carries them.
void Ensemble::watchSilence(quint64 session, bool hasJustSpoken)
{
    const auto at = m_sessions.find(session);
    if (at == m_sessions.end())
        return;
    auto &state = at->second;
    if (state.connection && state.connection->m_link->carries(Direction::ToServer)) {
        state.isSilent = state.connection->m_isSilent = false;
        state.expiry.cancel();
        return;
    }
    if (state.isSilent && !hasJustSpoken)
        return;
    state.isSilent = true;
    if (state.connection)
        state.connection->m_isSilent = true;
    if (!m_isServing)
        return; // nobody counts
    // Sessions expire in heaps, on the tick after their time.
    const Duration tick = m_options.tick;
    const Duration time = (world().now() + state.timeout).time_since_epoch();
    state.expiry = world().callAt(Instant((time / tick + 1) * tick), [this, session] { endSession(session); });
}

void Ensemble::setServing(bool isServing)
{
    m_isServing = isServing;
    std::vector<quint64> numbers;
    for (auto &[number, session] : m_sessions) {
        session.expiry.cancel();
        numbers.push_back(number);
    }
    std::ranges::sort(numbers); // the table's order must not leak into the run
    for (const auto number : numbers)
        watchSilence(number, true);
}

void Ensemble::endSession(quint64 session)
{
    const auto at = m_sessions.find(session);
    if (at == m_sessions.end())
        return;
    const auto connection = at->second.connection;
    const auto timer = std::move(at->second.expiry);
    m_sessions.erase(at);
    commitRemovals(leader().tree.ephemeralsOf(session));
    if (connection && connection->m_ensemble)
        drop(*connection);
}

void Ensemble::sendWelcome(Connection &connection, const Welcome &welcome)
{
    connection.m_link->toClient([client = connection.m_client, welcome] {
        if (const auto alive = client.lock())
            alive->welcomed(welcome);
    });
}

void Ensemble::sendAnswer(Connection &connection, quint64 number, Answer &&answer)
{
    answer.zxid = memberOf(connection).applied;
    connection.m_link->toClient([client = connection.m_client, number, answer = std::move(answer)]() mutable {
        if (const auto alive = client.lock())
            alive->answered(number, std::move(answer));
    });
}

void Ensemble::sendEvent(Connection &connection, zk::EventKind kind, const ZPath &path)
{
    ++m_events;
    connection.m_link->toClient(Notification{connection.m_client, {kind, path}});
}

} // namespace lockscope::world::zookeeper
