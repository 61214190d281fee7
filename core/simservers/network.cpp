// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/network.h"

namespace lockscope::sim {

// Outlives the process in what is queued in the world.
struct Process::State : ExecutorHook, OnFreeList {
    bool isPaused = false;
    bool isAlive = true;
    using Deferred = std::vector<Call>;
    std::unique_ptr<Deferred> deferred; // while it is paused; none: nothing

    void pass(Call &&call) override
    {
        if (!isAlive)
            return;
        if (!isPaused) {
            call();
            return;
        }
        if (!deferred)
            deferred = std::make_unique<Deferred>();
        deferred->push_back(std::move(call));
    }
};

Process::Process(VirtualLoop &world, int number) : Loop(true), m_world(world), m_number(number), m_state(new State) {}

Process::~Process()
{
    kill();
}

void Process::post(Call call)
{
    if (m_state->isAlive)
        m_world.postThrough(LocalPtr<ExecutorHook>(m_state.get()), std::move(call));
}

Instant Process::now() const
{
    const auto world = m_world.now();
    if (m_rate == 1)
        return m_rateSinceOwn + (world - m_rateSinceWorld);
    const auto passed = static_cast<double>((world - m_rateSinceWorld).count()) * m_rate;
    return m_rateSinceOwn + Duration(static_cast<Duration::rep>(passed));
}

std::chrono::system_clock::time_point Process::wallNow() const
{
    return std::chrono::system_clock::time_point(now().time_since_epoch()) + m_wallOffset;
}

Instant Process::inWorld(Instant own) const
{
    auto span = own - now();
    if (m_rate != 1)
        span = Duration(static_cast<Duration::rep>(std::ceil(static_cast<double>(span.count()) / m_rate)));
    return m_world.now() + std::max(span, Duration::zero());
}

Timer Process::callAt(Instant when, Call call)
{
    if (!m_state->isAlive)
        return {};
    // Cancelling has to reach a call also when it is due already but deferred by a pause.
    struct Pending {
        Call call;
        Timer timer;
    };
    auto pending = std::allocate_shared<Pending>(freelist::Allocator<Pending>());
    pending->call = std::move(call);
    pending->timer = m_world.callAt(inWorld(when), [state = m_state, weak = std::weak_ptr<Pending>(pending)] {
        state->pass([weak] {
            if (const auto alive = weak.lock())
                std::exchange(alive->call, {})();
        });
    });
    return Timer(pending);
}

void Process::pause()
{
    if (!m_state->isAlive || std::exchange(m_state->isPaused, true))
        return;
    tell();
}

void Process::resume()
{
    if (!m_state->isAlive || !std::exchange(m_state->isPaused, false))
        return;
    // Through the queue, so that a pause that comes at once finds the rest of them.
    if (const auto deferred = std::exchange(m_state->deferred, {})) {
        for (auto &call : *deferred)
            m_world.postThrough(LocalPtr<ExecutorHook>(m_state.get()), std::move(call));
    }
    tell();
}

bool Process::isPaused() const
{
    return m_state->isPaused;
}

void Process::kill()
{
    if (!std::exchange(m_state->isAlive, false))
        return;
    // Destroyed after the loop over it: a capture's destructor may come back here.
    const auto dropped = std::exchange(m_state->deferred, {});
    tell();
    m_listener = {};
}

bool Process::isAlive() const
{
    return m_state->isAlive;
}

void Process::tell()
{
    if (m_listener)
        m_listener();
}

void Process::setRate(double rate)
{
    m_rateSinceOwn = now();
    m_rateSinceWorld = m_world.now();
    m_rate = rate;
}

Network::Network(VirtualLoop &world, Random random, Latency latency)
    : m_world(world), m_random(random), m_latency(latency)
{
}

// What a partition holds back, and who listens at a link's ends, may hold that link: nobody else would let go of
// them. What is on its way is the world's, and finds a link that is down.
Network::~Network()
{
    for (const auto &its : m_links) {
        for (const auto &weak : its.links) {
            const auto link = weak.lock();
            if (!link)
                continue;
            link->m_isUp = false;
            // Moved out first: what goes with them may come back to the link.
            const auto toServer = std::exchange(link->m_toServer, {});
            const auto toClient = std::exchange(link->m_toClient, {});
            const auto clientBroken = std::exchange(link->m_clientBroken, {});
            const auto serverBroken = std::exchange(link->m_serverBroken, {});
            const auto clientHealth = std::exchange(link->m_clientHealth, {});
            const auto serverHealth = std::exchange(link->m_serverHealth, {});
        }
    }
}

LocalShared<NetworkLink> Network::connect(Process &client, int server)
{
    const auto process = client.number();
    if (m_down.contains(server) || isBlocked(process, server, Direction::ToServer)
        || isBlocked(process, server, Direction::ToClient) || !client.isAlive())
        return {};
    auto &its = known(process);
    if (!std::exchange(its.isListenedTo, true))
        client.onChange([this, &client] { processChanged(client); });
    // In one block with its count; only we make links.
    struct Made : NetworkLink {
        Made(Network &network, Process &itsClient, int itsServer) : NetworkLink(network, itsClient, itsServer) {}
    };
    const LocalShared<NetworkLink> link = makeLocalShared<Made>(*this, client, server);
    std::erase_if(its.links, [](const LocalWeak<NetworkLink> &old) { return old.expired(); });
    its.links.push_back(link);
    return link;
}

void Network::block(int process, int server, Direction direction)
{
    if (!m_blocked.emplace(process, server, direction).second)
        return;
    for (const auto &link : linksOf(process))
        link->healthChanged();
}

void Network::open(int process, int server, Direction direction)
{
    if (m_blocked.erase({process, server, direction}) == 0)
        return;
    for (const auto &link : linksOf(process)) {
        if (link->m_server != server)
            continue;
        // What was held is sent again, in its order.
        if (const auto held = std::exchange(link->way(direction).held, {})) {
            for (auto &[delay, arrives] : *held)
                link->schedule(direction, delay, std::move(arrives));
        }
        link->healthChanged();
    }
}

bool Network::isBlocked(int process, int server, Direction direction) const
{
    return !m_blocked.empty() && m_blocked.contains({process, server, direction});
}

void Network::setDown(int server, bool isDown)
{
    if (!isDown) {
        m_down.erase(server);
        return;
    }
    m_down.insert(server);
    for (std::size_t process = 0; process < m_links.size(); ++process) {
        for (const auto &link : linksOf(static_cast<int>(process))) {
            if (link->m_server == server)
                link->breakNow();
        }
    }
}

void Network::breakLinks(int process)
{
    for (const auto &link : linksOf(process))
        link->breakNow();
}

void Network::processChanged(Process &process)
{
    const bool isAlive = process.isAlive();
    const auto links = linksOf(process.number());
    for (const auto &link : links) {
        if (!isAlive) {
            // The system closes what a dead program had open; a partition keeps that from the server.
            link->m_client = nullptr;
            link->close(End::Client);
        }
        link->healthChanged();
    }
    // Its links stay known: a partition may still hold back their end.
    if (!isAlive)
        known(process.number()).isListenedTo = false;
}

// Processes are numbered from 0.
Network::Links &Network::known(int process)
{
    const auto place = static_cast<std::size_t>(process);
    if (place >= m_links.size())
        m_links.resize(place + 1);
    return m_links[place];
}

std::vector<LocalShared<NetworkLink>> Network::linksOf(int process)
{
    std::vector<LocalShared<NetworkLink>> alive;
    for (const auto &weak : known(process).links) {
        if (auto link = weak.lock())
            alive.push_back(std::move(link));
    }
    return alive;
}

Duration Network::latency()
{
    const auto spread = static_cast<quint64>((m_latency.most - m_latency.least).count());
    return m_latency.least + Duration(static_cast<Duration::rep>(m_random.below(spread + 1)));
}

// --- NetworkLink ------------------------------------------------------------------------------------------

NetworkLink::NetworkLink(Network &network, Process &client, int server)
    : m_network(network), m_client(&client), m_process(client.number()), m_server(server)
{
}

void NetworkLink::onBroken(End end, Listener listener)
{
    (end == End::Client ? m_clientBroken : m_serverBroken) = std::move(listener);
}

void NetworkLink::onHealth(End end, Listener listener)
{
    (end == End::Client ? m_clientHealth : m_serverHealth) = std::move(listener);
}

void NetworkLink::send(Direction direction, Call &&arrives)
{
    if (!m_isUp)
        return;
    auto delay = m_network.latency();
    if (m_network.m_judge) {
        const auto delivery = m_network.m_judge({m_process, m_server, direction});
        if (delivery.isLost) {
            if (m_network.m_sent)
                notifySent(direction, std::nullopt);
            breakNow();
            return;
        }
        delay += delivery.delay;
        if (!m_isUp) // the judge may have killed the sender
            return;
    }
    if (m_network.isBlocked(m_process, m_server, direction)) {
        if (m_network.m_sent)
            notifySent(direction, std::nullopt);
        way(direction).hold(delay, std::move(arrives));
        return;
    }
    schedule(direction, delay, std::move(arrives));
}

void NetworkLink::notifySent(Direction direction, std::optional<Instant> arrives) const
{
    m_network.m_sent({m_process, m_server, direction}, arrives);
}

void NetworkLink::schedule(Direction direction, Duration delay, Call &&arrives)
{
    auto &world = m_network.m_world;
    auto &sent = way(direction);
    sent.lastArrival = std::max(sent.lastArrival, world.now() + delay);
    if (m_network.m_sent)
        notifySent(direction, sent.lastArrival);
    // None overtakes another: what is due at one moment runs as it was sent.
    world.runAt(sent.lastArrival, [self = shared_from_this(), direction, message = std::move(arrives)]() mutable {
        self->arrive(direction, std::move(message));
    });
}

void NetworkLink::arrive(Direction direction, Call &&message)
{
    if (!m_isUp)
        return;
    if (direction == Direction::ToClient) {
        if (m_client)
            m_client->post(std::move(message));
        return;
    }
    message();
    if (m_network.m_arrived)
        m_network.m_arrived();
}

void NetworkLink::close(End by)
{
    if (!m_isUp)
        return;
    const auto direction = by == End::Client ? Direction::ToServer : Direction::ToClient;
    (by == End::Client ? m_clientBroken : m_serverBroken) = {};
    auto end = [self = shared_from_this(), by] {
        if (!std::exchange(self->m_isUp, false))
            return;
        self->notifyBroken(by == End::Client ? End::Server : End::Client);
        self->healthChanged();
    };
    // Told like a message, also when it comes from a dead process: the system sends it.
    const auto delay = m_network.latency();
    if (m_network.isBlocked(m_process, m_server, direction)) {
        way(direction).hold(delay, std::move(end));
        return;
    }
    if (direction == Direction::ToServer) {
        schedule(direction, delay, std::move(end));
        return;
    }
    // Not through the process's queue: a paused one finds a link that is closed already.
    auto &last = m_toClient.lastArrival;
    last = std::max(last, m_network.m_world.now() + delay);
    m_network.m_world.runAt(last, std::move(end));
}

void NetworkLink::breakNow()
{
    if (!std::exchange(m_isUp, false))
        return;
    notifyBroken(End::Client);
    notifyBroken(End::Server);
    healthChanged();
}

void NetworkLink::notifyBroken(End end)
{
    auto listener = std::exchange(end == End::Client ? m_clientBroken : m_serverBroken, {});
    if (!listener)
        return;
    auto &world = m_network.m_world;
    world.runAt(world.now() + m_network.latency(),
                [self = shared_from_this(), end, listener = std::move(listener)]() mutable {
                    if (end == End::Server)
                        listener();
                    else if (self->m_client)
                        self->m_client->post(std::move(listener));
                });
}

bool NetworkLink::carries(Direction direction) const
{
    const bool isRunning = m_client && m_client->isAlive() && !m_client->isPaused();
    return m_isUp && isRunning && !m_network.isBlocked(m_process, m_server, direction);
}

void NetworkLink::healthChanged()
{
    if (m_serverHealth)
        m_serverHealth();
    if (m_clientHealth)
        m_clientHealth();
}

void DueTimes::Waiter::stopWaiting()
{
    if (!m_after)
        return;
    m_before->m_after = m_after;
    m_after->m_before = m_before;
    m_before = m_after = nullptr;
}

void DueTimes::put(Waiter &waiter, Instant due)
{
    waiter.stopWaiting();
    auto *before = m_ends.m_before;
    while (before != &m_ends && before->m_due > due)
        before = before->m_before;
    waiter.m_due = due;
    waiter.m_before = before;
    waiter.m_after = std::exchange(before->m_after, &waiter);
    waiter.m_after->m_before = &waiter;
    if (due >= m_next)
        return;
    m_next = due;
    m_timer = m_world.callAt(due, [this] { look(); });
}

// Who had what it waited for is not in the list any more, so that this may be before the earliest.
void DueTimes::look()
{
    m_next = Instant::max();
    while (m_ends.m_after != &m_ends && m_ends.m_after->m_due <= m_world.now()) {
        auto *const first = m_ends.m_after;
        first->stopWaiting();
        first->isDue();
    }
    if (m_ends.m_after == &m_ends || m_ends.m_after->m_due >= m_next)
        return;
    m_next = m_ends.m_after->m_due;
    m_timer = m_world.callAt(m_next, [this] { look(); });
}

} // namespace lockscope::sim
