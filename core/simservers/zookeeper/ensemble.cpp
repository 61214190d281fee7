// SPDX-License-Identifier: Apache-2.0
// Connections and sessions of the ensemble: who is connected, who has gone silent, who has expired.
#include "core/simservers/zookeeper/ensemble.h"

namespace lockscope::sim::zookeeper {

namespace {

bool isSpent(const Znode &node)
{
    return node.kind == NodeKind::Container && node.childCount() == 0 && node.creates > 0;
}

} // namespace

void Reaper::noteChange(const Change &change)
{
    const auto look = [this](const Znode *node) {
        if (!node || node->childCount() > 0)
            return;
        if (isSpent(*node))
            plan(m_world.now());
        else if (node->kind == NodeKind::TimeToLive)
            plan(m_world.now() + (node->mtime + node->timeToLive - m_wallNow()));
    };
    if (change.kind == Change::Kind::Remove)
        look(m_tree.find(change.path.parent()));
    else if (change.nodeKind == NodeKind::TimeToLive)
        look(m_tree.find(change.path));
}

void Reaper::lookAgain()
{
    if (!m_tree.mortals().empty())
        plan(m_world.now());
}

void Reaper::plan(Instant due)
{
    const auto when = Instant((due.time_since_epoch() / m_interval + 1) * m_interval);
    if (m_dueAt && *m_dueAt <= when && *m_dueAt > m_world.now())
        return;
    m_dueAt = when;
    m_timer = m_world.callAt(when, [this] { reap(); });
}

void Reaper::reap()
{
    std::vector<ZPath> spent;
    std::optional<std::chrono::milliseconds> nextEnd;
    for (const auto &[serial, node] : m_tree.mortals()) {
        if (isSpent(*node)) {
            spent.push_back(node->path());
        } else if (node->kind == NodeKind::TimeToLive && node->childCount() == 0) {
            const auto left = node->mtime + node->timeToLive - m_wallNow();
            if (left.count() < 0)
                spent.push_back(node->path());
            else
                nextEnd = std::min(nextEnd.value_or(left), left);
        }
    }
    m_dueAt.reset();
    if (nextEnd)
        plan(m_world.now() + *nextEnd);
    // One transaction each: a container may have become the next one's only child.
    for (const auto &path : spent)
        m_remove(path);
}

void WatchLists::sort(std::vector<quint64> &watchers)
{
    std::sort(watchers.begin(), watchers.end());
    watchers.erase(std::unique(watchers.begin(), watchers.end()), watchers.end());
}

void WatchLists::tidy(std::vector<quint64> &watchers) const
{
    sort(watchers);
    std::erase_if(watchers, [this](quint64 connection) { return !m_isOpen(connection); });
}

void WatchLists::add(const ZPath &path, quint64 connection)
{
    if (!m_last || m_last->first != path) {
        const auto [at, isNew] = m_lists.try_emplace(path);
        m_last = &*at;
        if (isNew)
            at->second.tidyAt = m_tidyAt;
    }
    auto &list = m_last->second;
    list.watchers.push_back(connection);
    if (list.watchers.size() < list.tidyAt)
        return;
    tidy(list.watchers);
    list.tidyAt = std::max(leastTidy, 2 * list.watchers.size());
}

std::vector<quint64> WatchLists::take(const ZPath &path)
{
    if (m_lists.empty())
        return {};
    const auto at = m_lists.find(path);
    if (at == m_lists.end())
        return {};
    auto watchers = std::move(at->second.watchers);
    m_last = nullptr;
    m_lists.erase(at);
    sort(watchers);
    m_tidyAt = std::max(leastTidy, 2 * watchers.size());
    return watchers;
}

std::vector<quint64> WatchLists::of(const ZPath &path) const
{
    const auto at = m_lists.find(path);
    if (at == m_lists.end())
        return {};
    auto watchers = at->second.watchers;
    tidy(watchers);
    return watchers;
}

qint64 WatchLists::count() const
{
    qint64 count = 0;
    for (const auto &[path, list] : m_lists) {
        auto watchers = list.watchers;
        tidy(watchers);
        count += static_cast<qint64>(watchers.size());
    }
    return count;
}

std::vector<zk::WatchEvent> watchAgain(const Hello &hello, quint64 connection, const Tree &tree, WatchLists &data,
                                       WatchLists &children)
{
    std::vector<zk::WatchEvent> events;
    for (const auto &path : hello.dataWatches) {
        const auto *const node = tree.find(path);
        if (!node)
            events.push_back({zk::EventKind::Deleted, path});
        else if (node->mzxid > hello.lastZxidSeen)
            events.push_back({zk::EventKind::DataChanged, path});
        else
            data.add(path, connection);
    }
    for (const auto &path : hello.missingWatches) {
        if (tree.find(path))
            events.push_back({zk::EventKind::Created, path});
        else
            data.add(path, connection);
    }
    for (const auto &path : hello.childWatches) {
        const auto *const node = tree.find(path);
        if (!node)
            events.push_back({zk::EventKind::Deleted, path});
        else if (node->pzxid > hello.lastZxidSeen)
            events.push_back({zk::EventKind::ChildrenChanged, path});
        else
            children.add(path, connection);
    }
    return events;
}

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

} // namespace lockscope::sim::zookeeper
