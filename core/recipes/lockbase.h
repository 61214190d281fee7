// SPDX-License-Identifier: Apache-2.0
// One acquire or hold at a time, and both ends may let go: whoever waits in acquire(), and whoever
// destroys the lock. What all recipes share, whatever server they talk to.
#pragma once

#include "core/async/scope.h"
#include "core/base/random.h"
#include "core/recipes/lock.h"

namespace lockscope::recipes {

// Keeps something on the server alive that dies by itself: a third of its TTL after it was last
// prolonged it is prolonged again. And says when it may no longer be believed in. Loop thread only.
// Destroying it ends the prolonging.

class KeepAlive {
public:
    // Asks the server for this much more. False: it was not ours any more.
    using Prolong = std::function<Task<Result<bool>>(std::chrono::milliseconds ttl, Deadline deadline)>;

    // `asked`: when the request that began it was sent. The server's clock for it cannot have started
    // earlier, so by then plus the TTL (less what clocks may differ) it may be over. Without `prolong`
    // it ends then in any case. `onEnd` is called at most once, from the loop, and must not destroy this.
    KeepAlive(Loop &loop, std::chrono::milliseconds ttl, Instant asked, Prolong prolong,
              std::function<void(Loss)> onEnd);

    [[nodiscard]] Instant validUntil() const { return m_validUntil; }
    // Whether we may still believe in it.
    [[nodiscard]] bool isOver() const { return m_isEnded || m_loop->now() >= m_validUntil; }
    // It was given this much by a request of somebody else, sent then.
    void restart(std::chrono::milliseconds ttl, Instant asked);
    // What a lease asked for at `asked` may be believed for: 1 % and 2 ms less than its TTL.
    [[nodiscard]] static Instant validUntil(Instant asked, std::chrono::milliseconds ttl);

private:
    Task<void> keep();
    void end(Loss loss);

    Loop *m_loop;
    std::chrono::milliseconds m_ttl;
    Instant m_next; // when to prolong
    Instant m_validUntil;
    Prolong m_prolong;
    std::function<void(Loss)> m_onEnd;
    bool m_isEnded = false;
    Scope m_keeping;
};

// What a lock offers besides whose holds end at a time of their own, which moves on with each renewal.
class Leased {
public:
    virtual ~Leased() = default;
    // The last time known at which it is certainly still held. In the past while nothing is held.
    [[nodiscard]] virtual Instant validUntil() const = 0;
};

class LockBase : public Lock, public OnFreeList {
public:
    Task<Result<Grant>> acquire(Deadline deadline) final;
    [[nodiscard]] int holdCount() const override { return isHeld() ? 1 : 0; }
    [[nodiscard]] Completion<Loss> lost() const final;

protected:
    // `lock` for messages: "/locks/orders".
    LockBase(Loop &loop, QByteArray lock);
    ~LockBase() override;
    // First thing in the destructor of whoever implements take() and letGo().
    void shutDown();

    // Once more by whom it is held by already. BadInput unless the recipe is reentrant.
    virtual Task<Result<Grant>> reenter(Deadline deadline);
    // The recipe. Afterwards the lock is held, or nothing is left of the attempt.
    virtual Task<Result<Grant>> take(Deadline deadline) = 0;
    [[nodiscard]] virtual bool isHeld() const = 0;
    // Gives back what is held (if anything), in the background.
    virtual void letGo() = 0;

    void lose(Loss loss) { lost().complete(loss); }
    [[nodiscard]] bool isAcquiring() const { return m_attempt.has_value(); }
    // "lock /locks/orders". Made when somebody reads it: of 100,000 who wait none does.
    [[nodiscard]] virtual QString name() const;
    // Expires with the lock: for coroutines that may outlive it.
    [[nodiscard]] std::weak_ptr<LockBase *> self();

private:
    class Waiting;

    // In a block of its own, once it is there: of 100,000 who wait each would have room for it.
    using Answer = std::unique_ptr<Result<Grant>>;
    static Answer answer(Result<Grant> what) { return std::make_unique<Result<Grant>>(std::move(what)); }
    Task<void> run(Deadline deadline, Completion<Answer> outcome);
    Task<void> acquireAgain(Deadline deadline, Completion<Answer> outcome);
    [[nodiscard]] Error refused(Error why) const;
    void abandon();

    Loop &m_loop;
    const QByteArray m_lock;
    std::optional<Completion<Answer>> m_attempt;
    Waiting *m_waiting = nullptr;                   // whoever waits for that
    mutable std::optional<Completion<Loss>> m_lost; // once somebody asked
    std::shared_ptr<LockBase *> m_self;             // once somebody asked
    bool m_isShutDown = false;
    SoleTask m_taking;
};

// Work left behind by somebody who did not wait for it, counted so that somebody else can.
//
// A handle: copies share one count. The work itself belongs to the session (or connection) in whose
// background it runs, and goes on when every handle is gone. Loop thread only.
class WaitGroup {
public:
    explicit WaitGroup(Loop &loop) : m_list(freelist::makeShared<List>(List{&loop, 0, false, {}})) {}

    // Starts it at once. Its value says whether it succeeded.
    void add(Scope &background, Task<bool> work) const;
    [[nodiscard]] bool isIdle() const { return m_list->running == 0; }
    // Completes when nothing is left to do: true if everything succeeded since it was asked last,
    // false if not or if the deadline passed first.
    [[nodiscard]] Completion<bool> finished(Deadline deadline) const;

private:
    struct List {
        Loop *loop;
        int running;
        bool failed;
        std::vector<Completion<bool>> waiting;
    };
    static Task<void> run(std::shared_ptr<List> list, Task<bool> work);

    std::shared_ptr<List> m_list;
};

// How those wait who are told nothing: they ask again.

// Before what has failed for want of a connection is sent again: one that comes and goes is not to be spun on.
inline constexpr std::chrono::milliseconds pauseAfterTrouble(50);

// A pause between two tries for a taken lock: 25 to 75 ms at random, so that those who wait do not
// try in step; cut off at the deadline.
[[nodiscard]] Completion<bool> pauseBetweenTries(Loop &loop, Random &random, Deadline deadline);

// When trying again on a new connection can help.

// Nothing was sent, or nobody knows what became of it.
[[nodiscard]] inline bool isConnectionError(const Error &error)
{
    return error.code == ErrorCode::UnknownOutcome || error.code == ErrorCode::NotConnected;
}

// Returns at once when connected. AuthFailed or NotConnected when it never will be, TimedOut. The port outlives it.
template <class Port>
Task<Result<void>> untilConnectedTo(const char16_t *server, Port *port, Deadline deadline)
{
    using State = decltype(port->state());
    for (;;) {
        const auto state = port->state();
        if (state == State::Connected)
            co_return Result<void>();
        if (state == State::AuthFailed)
            co_return Error{ErrorCode::AuthFailed, port->lastError(), false, port->isExplained()};
        if (state == State::Closed)
            co_return Error{ErrorCode::NotConnected, port->lastError(), false, port->isExplained()};
        const Completion<bool> changed(port->loop());
        const auto subscription = port->onState([changed](State) { changed.complete(true); });
        changed.completeAt(deadline, false);
        const bool inTime = co_await changed;
        if (!inTime)
            co_return Error{ErrorCode::TimedOut,
                            u"timed out waiting for a connection to %1"_s.arg(QString::fromUtf16(server)), true};
    }
}

// Of a wait that timed out although the server may have granted the lock since: it is being released.
[[nodiscard]] Error lateGrantError(Error why);

// What makes one claim recognisable among all others, and who made it.

// A random UUID as text, 36 characters: "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11".
[[nodiscard]] QByteArray uuidToken(Random &random);

// What Curator writes into its nodes: this host's address as text ("10.0.3.7"), empty if it has none but loopback.
[[nodiscard]] QByteArray hostAddress();

// Several locks as one: all of them or none. Any recipes, on any servers, together; as Curator's
// InterProcessMultiLock, but not reentrant. Whoever takes some of the same locks must take them in the
// same order, else two can wait for each other until a deadline passes.
class MultiLock : public LockBase {
public:
    MultiLock(Loop &loop, std::vector<std::unique_ptr<Lock>> members);
    ~MultiLock() override { shutDown(); }

    // Every member, the last one first; one that fails does not stop the others. The error is the first
    // one's and names all that failed. Members that refused are held still: release again.
    Task<Result<void>> release(Deadline deadline) override;
    // Whether all are; the first that cannot be asked is the error.
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    // Each member's, in order, as of the last acquire. The grant of the whole has no node and no fencing
    // token, only all ids; every server has tokens of its own.
    [[nodiscard]] const std::vector<Grant> &grants() const { return m_grants; }
    // Told of each member that is had, by its place, while the others are still to come.
    void onMember(std::function<void(std::size_t)> listener) { m_onMember = std::move(listener); }

private:
    class Remainder;

    [[nodiscard]] QString name() const override { return u"%1 locks together"_s.arg(m_members.size()); }
    Task<Result<Grant>> take(Deadline deadline) override;
    [[nodiscard]] bool isHeld() const override { return !m_owed.empty(); }
    void letGo() override;
    void watchForLoss(Lock &member);

    std::vector<std::unique_ptr<Lock>> m_members;
    std::function<void(std::size_t)> m_onMember;
    std::vector<Grant> m_grants;
    std::vector<Lock *> m_owed; // taken and not given back yet, in the order of taking
    Scope m_givingBack;         // last: its coroutines use the members
};

} // namespace lockscope::recipes
