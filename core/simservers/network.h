// SPDX-License-Identifier: Apache-2.0
// The network of the simulated world: links between client processes and servers, and what can go wrong on them.
//
// A link is a TCP connection: what is sent in one direction arrives in its order, or the connection breaks.
// A message that is lost for good therefore breaks it (lose-request, lose-reply); a partition only holds back
// what is sent, until it heals or one side gives up. World's thread only.
#pragma once

#include "core/async/virtualloop.h"
#include "core/base/random.h"

#include <deque>
#include <set>

namespace lockscope::sim {

// A client process of the simulated world: a loop of its own on the world's time, with clocks that can be
// wrong, which can be paused (SIGSTOP, a long garbage collection) and killed.
//
// Everything of one client runs on its Process as it would on the I/O thread of a program, so that recipes
// cannot tell the difference. World's thread only; the world's loop outlives it.
class Process : public Loop, public OnFreeList {
public:
    Process(VirtualLoop &world, int number);
    ~Process() override;
    Q_DISABLE_COPY(Process)

    [[nodiscard]] int number() const { return m_number; }

    void post(Call call) override;
    // Its own monotonic clock: goes on while it is paused, and fast or slow by its drift.
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, Call call) override;
    // The moment of the world at which its clock, as it goes now, will say so; now, of one that has passed.
    [[nodiscard]] Instant inWorld(Instant own) const;

    // While it is paused nothing of it runs; what falls due and what arrives runs at resume(), in its order.
    void pause();
    void resume();
    [[nodiscard]] bool isPaused() const;
    // Nothing of it runs any more, for good. Whoever owns objects that live on it may destroy them afterwards:
    // what they still send goes nowhere. Not from inside a call that runs on it.
    void kill();
    [[nodiscard]] bool isAlive() const;
    // Called after each of these changes, in the world; for the network, which notices silence.
    using Listener = MoveOnlyFunction<void(), 16>;
    void onChange(Listener listener) { m_listener = std::move(listener); }

    // A second of its monotonic clock takes 1/rate seconds of the world's. Timers made before keep their moment.
    void setRate(double rate);
    void jumpWallClock(std::chrono::milliseconds by) { m_wallOffset += by; }

private:
    struct State;
    void tell();

    VirtualLoop &m_world;
    const int m_number;
    LocalPtr<State> m_state;
    Listener m_listener;
    double m_rate = 1;
    Instant m_rateSinceWorld{}, m_rateSinceOwn{};
    std::chrono::milliseconds m_wallOffset{0};
};

enum class Direction { ToServer, ToClient };
enum class End { Client, Server };

struct Latency {
    Duration least{200};
    Duration most{300};
};

// What is about to be sent, for whoever decides its delivery.
struct Message {
    int process = 0; // Process::number
    int server = 0;
    Direction direction = Direction::ToServer;
};
struct Delivery {
    bool isLost = false; // never arrives, and the connection breaks
    Duration delay{};    // beside the latency
};

class NetworkLink;

class Network {
public:
    // Draws latencies of its own, so that a fault changes nothing before it happens.
    Network(VirtualLoop &world, Random random, Latency latency);
    ~Network();

    // Open at once: who connects counts the round trip itself, by sending its greeting. Null when the server is
    // down, or not to be reached in both directions.
    [[nodiscard]] LocalShared<NetworkLink> connect(Process &client, int server);

    // Asked for every message; none: all arrive.
    void setJudge(std::function<Delivery(const Message &)> judge) { m_judge = std::move(judge); }
    // Told of every message when it is sent, and when it will arrive; none: it never will. What a partition held
    // back is told once more when it goes on. And of the end of each delivery to a server.
    void setWatcher(std::function<void(const Message &, std::optional<Instant> arrives)> sent,
                    std::function<void()> arrived)
    {
        m_sent = std::move(sent);
        m_arrived = std::move(arrived);
    }
    // Partition between this process and this server, one way; until opened again.
    void block(int process, int server, Direction direction);
    void open(int process, int server, Direction direction);
    [[nodiscard]] bool isBlocked(int process, int server, Direction direction) const;
    // A server that went down: its links break, and none can be made.
    void setDown(int server, bool isDown);
    [[nodiscard]] bool isDown(int server) const { return m_down.contains(server); }
    // Every link of this process breaks, as at the end of a program or after a reset.
    void breakLinks(int process);

    [[nodiscard]] VirtualLoop &world() const { return m_world; }

private:
    friend class NetworkLink;
    void processChanged(Process &process);
    struct Links;
    [[nodiscard]] Links &known(int process);
    [[nodiscard]] std::vector<LocalShared<NetworkLink>> linksOf(int process);
    [[nodiscard]] Duration latency();

    VirtualLoop &m_world;
    Random m_random;
    const Latency m_latency;
    std::function<Delivery(const Message &)> m_judge;
    std::function<void(const Message &, std::optional<Instant>)> m_sent;
    std::function<void()> m_arrived;
    std::set<std::tuple<int, int, Direction>> m_blocked;
    std::set<int> m_down;
    struct Links {
        std::vector<LocalWeak<NetworkLink>, freelist::Allocator<LocalWeak<NetworkLink>>> links; // one, mostly
        bool isListenedTo = false; // we hear of the process's changes
    };
    std::deque<Links> m_links; // by process
};

// Both ends hold it. The last messages are delivered before an end hears that the other closed it.
class NetworkLink : public EnableLocalShared<NetworkLink> {
public:
    // `arrives` runs in the world (ToServer), or on the process (ToClient: not while it is paused, never when it
    // is dead). Sent on a broken link it goes nowhere.
    void toServer(Call &&arrives) { send(Direction::ToServer, std::move(arrives)); }
    void toClient(Call &&arrives) { send(Direction::ToClient, std::move(arrives)); }

    // Each end may listen with what fits into two pointers, and needs no memory for that.
    using Listener = MoveOnlyFunction<void(), 16>;
    // Each end is told once when the link broke or the other end closed it; on the process, and in the world.
    void onBroken(End end, Listener listener);
    // By either end: the other one hears of it after what was sent before.
    void close(End by);
    // Both hear of it, after the latency. What is on its way does not arrive.
    void breakNow();
    [[nodiscard]] bool isUp() const { return m_isUp; }

    // Whether what is sent now gets through: not partitioned, and the process neither paused nor dead. Pings
    // are not simulated one by one: an end that wants to notice silence starts its clock when this turns
    // false, and stops it when it turns true.
    [[nodiscard]] bool carries(Direction direction) const;
    // Called in the world whenever carries() or isUp() may have changed; the server's end first.
    void onHealth(End end, Listener listener);

private:
    friend class Network;
    NetworkLink(Network &network, Process &client, int server);
    using Held = std::vector<std::pair<Duration, Call>>; // with its delay
    struct ReleaseAction {
        void hold(Duration delay, Call &&arrives)
        {
            if (!held)
                held = std::make_unique<Held>();
            held->emplace_back(delay, std::move(arrives));
        }
        Instant lastArrival{};
        std::unique_ptr<Held> held; // by a partition; none: nothing
    };
    void send(Direction direction, Call &&arrives);
    void schedule(Direction direction, Duration delay, Call &&arrives);
    // Only where somebody listens.
    void notifySent(Direction direction, std::optional<Instant> arrives) const;
    void arrive(Direction direction, Call &&message);
    void notifyBroken(End end);
    void healthChanged();
    ReleaseAction &way(Direction direction) { return direction == Direction::ToServer ? m_toServer : m_toClient; }

    Network &m_network;
    Process *m_client; // null when it is gone
    const int m_process, m_server;
    bool m_isUp = true;
    ReleaseAction m_toServer, m_toClient;
    Listener m_clientBroken, m_serverBroken;
    Listener m_clientHealth, m_serverHealth;
};

// Until when each of very many waits for something that nearly always comes long before. One timer for all of them;
// who waits has a place in a list, and takes no memory beside it. World's thread only.
class DueTimes {
public:
    class Waiter {
    public:
        Waiter() = default;
        Q_DISABLE_COPY(Waiter)

    protected:
        virtual ~Waiter() { stopWaiting(); }
        void stopWaiting();

    private:
        friend class DueTimes;
        // Its moment has come; it does not wait any more.
        virtual void isDue() {}

        Waiter *m_before = nullptr, *m_after = nullptr; // null: waits for nothing
        Instant m_due{};
    };

    explicit DueTimes(VirtualLoop &world) : m_world(world) { m_ends.m_before = m_ends.m_after = &m_ends; }

    // From now on until then, by the world's clock. Of one moment whoever was put first is told first. Quick where
    // few who wait already are due after it. The list outlives who waits.
    void put(Waiter &waiter, Instant due);

private:
    struct Ends : Waiter { // before the first and after the last
    };
    void look();

    VirtualLoop &m_world;
    Ends m_ends;
    Timer m_timer; // runs at the earliest, or before
    Instant m_next = Instant::max();
};

} // namespace lockscope::sim
