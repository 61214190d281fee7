// SPDX-License-Identifier: Apache-2.0
// The simulated session, as its own files see it; everybody else uses openSession().
#pragma once

#include "core/simservers/zookeeper/ensemble.h"
#include "core/zookeeper/sendable.h"

namespace lockscope::sim::zookeeper {

// The watches of one simulated session: who listens on which path, how many bytes of paths that makes, and
// what has to be watched again after a reconnect. As zk::WatchRegistry, but walked in the order of the paths.
class ClientWatches {
public:
    explicit ClientWatches(qsizetype budgetBytes) : m_budgetBytes(budgetBytes) {}

    // Before a read with a watch leaves: books its place. False when the budget does not allow it.
    [[nodiscard]] bool reserve(const ZPath &path, zk::WatchKind kind);
    // The read is answered: it set the watch, on a node that is there or on one that is missing; or it did not.
    void arm(const ZPath &path, zk::WatchKind kind, bool isMissing, zk::Watch listener);
    void release(const ZPath &path, zk::WatchKind kind);

    // To all whom it concerns: both kinds, when the node is gone.
    void fire(const zk::WatchEvent &event);
    // The session is over: everybody is told so.
    void endSession();
    void putInto(Hello &hello) const;

    [[nodiscard]] qsizetype bytes() const { return m_bytes; }
    [[nodiscard]] qsizetype budgetBytes() const { return m_budgetBytes; }
    [[nodiscard]] int count() const { return static_cast<int>(m_slots.size()); }

private:
    struct WatchSlot {
        int reserved = 0;                       // reads under way
        bool onNode = false, onMissing = false; // what the servers watch
        std::vector<zk::Watch, freelist::Allocator<zk::Watch>> listeners;
    };
    struct Key {
        ZPath path;
        zk::WatchKind kind;
    };
    // To be looked for by: a path is not copied for that.
    struct Sought {
        const ZPath &path;
        zk::WatchKind kind;
    };
    struct IsBefore {
        using is_transparent = void;
        bool operator()(const auto &a, const auto &b) const
        {
            // Mostly one and the same: who waits at a lock keeps its path for as long.
            const auto &its = a.path.bytes(), &others = b.path.bytes();
            if (its.constData() == others.constData() && its.size() == others.size())
                return a.kind < b.kind;
            const auto order = a.path <=> b.path;
            return order < 0 || (order == 0 && a.kind < b.kind);
        }
    };
    using WatchSlots = std::map<Key, WatchSlot, IsBefore, freelist::Allocator<std::pair<const Key, WatchSlot>>>;
    void fireOne(const zk::WatchEvent &event, zk::WatchKind kind);
    void dropIfEmpty(WatchSlots::iterator at);

    qsizetype m_budgetBytes;
    qsizetype m_bytes = 0;
    WatchSlots m_slots;
    // The last one of a directory that was given up: that is watched again and again, a predecessor once.
    WatchSlots::node_type m_spare;
};

class SimulatedSession : public EndPort<zk::Session>, public OnFreeList, private DueTimes::Waiter {
public:
    SimulatedSession(Process &process, Ensemble &ensemble, SessionOptions options);
    ~SimulatedSession() override { endSession(zk::SessionState::Closed); }

    [[nodiscard]] zk::SessionState state() const override { return m_state; }
    [[nodiscard]] zk::SessionId id() const override { return m_id; }
    [[nodiscard]] std::chrono::milliseconds timeout() const override { return m_timeout; }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> connectedAt() const override;

    void send(zk::Session::Request &&request) override;

    [[nodiscard]] qsizetype watchedBytes() const override { return m_watches.bytes(); }
    [[nodiscard]] qsizetype watchBudgetBytes() const override { return m_watches.budgetBytes(); }
    [[nodiscard]] int watchCount() const override { return m_watches.count(); }

private:
    class Inbox;

    // One for each kind of answer.
    using AnyReply = std::variant<Reply<bool>, Reply<zk::Created>, Reply<zk::Node>, Reply<zk::Stat>,
                                  Reply<zk::Children>, Reply<zk::NodeAcls>, Reply<std::vector<zk::OpResult>>>;
    // A request that is out.
    struct Outstanding {
        quint64 number = 0; // grows
        zk::Attempt attempt;
        std::vector<zk::Attempt> parts; // of a transaction
        std::optional<zk::Watch> watch;
        Verb verb = Verb::Check;
        Instant due = Instant::max(); // by the process's clock; afterwards nobody waits for the answer any more
        AnyReply reply;
    };
    template <class R>
    void submit(Verb verb, Asked<R> &asked);
    void settle(const Outstanding &outstanding, Answer &&answer);
    void fail(const Outstanding &outstanding, const Error &error);
    void giveUpAt(Instant due);
    void isDue() override;
    void giveUpOverdue();
    void noneIsOut();

    void connect();
    void connectLater();
    void listenTo(const LocalShared<NetworkLink> &link);
    void healthChanged();
    void disconnected();
    void hangUp();
    void welcomed(const Welcome &welcome);
    void answered(quint64 number, Answer &&answer);
    void changeState(zk::SessionState state);
    void endSession(zk::SessionState state);
    [[nodiscard]] Duration patience() const;

    Process &m_process;
    Ensemble &m_ensemble;
    Random m_random;
    const std::chrono::milliseconds m_askedTimeout;
    const Duration m_retryLeast, m_retryMost;
    zk::SessionState m_state = zk::SessionState::Connecting;
    zk::SessionId m_id;
    std::chrono::milliseconds m_timeout{};
    std::chrono::system_clock::time_point m_connectedAt;
    qint64 m_lastZxid = 0;
    int m_member = 0;
    std::vector<std::pair<QByteArray, QByteArray>> m_credentials;
    ClientWatches m_watches;

    // The present connection, or attempt at one.
    LocalShared<Inbox> m_inbox;
    LocalShared<NetworkLink> m_link;
    LocalShared<Connection> m_connection;
    std::optional<Instant> m_silentSince; // by the process's clock
    Timer m_timer;                        // until a silent connection is given up, or the next attempt

    quint64 m_lastNumber = 0;
    std::list<Outstanding, freelist::Allocator<Outstanding>> m_out; // as they were sent, and are answered
    // Of them, by the process's clock; nearly all are answered long before.
    Instant m_earliestDue = Instant::max();
};

} // namespace lockscope::sim::zookeeper
