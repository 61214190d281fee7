// SPDX-License-Identifier: Apache-2.0
// Completion<T>: a value that arrives once. The only leaf that coroutines wait on.
//
// Copies share one state: the sender completes it, one coroutine awaits it. The first complete() wins, later ones are
// ignored, so a deadline and an answer may race for it. A coroutine that waits is resumed through the loop's queue,
// never inside complete(): 100,000 hand-offs do not end on one stack. Destroying a waiting coroutine simply takes it
// off; a late answer then finds nobody. Loop thread only.
#pragma once

#include <version>

#include "core/async/loop.h"
#include "core/base/result.h"

#include <QtGlobal>

#include <atomic>
#include <coroutine>

namespace lockscope {

namespace detail {

struct CompletionState;

// Whoever holds a state. One pointer, the count is in the state: there are several of them in each of the frames of
// 100,000 waiters. May be let go on any thread, unless all of the loop is on one.
class SharedState {
public:
    explicit SharedState(CompletionState *state) noexcept;
    SharedState(const SharedState &other) noexcept : SharedState(other.m_state) {}
    SharedState(SharedState &&other) noexcept : m_state(std::exchange(other.m_state, nullptr)) {}
    SharedState &operator=(SharedState other) noexcept
    {
        std::swap(m_state, other.m_state);
        return *this;
    }
    ~SharedState();

    [[nodiscard]] CompletionState *get() const { return m_state; }
    CompletionState &operator*() const { return *m_state; }
    CompletionState *operator->() const { return m_state; }

private:
    CompletionState *m_state; // null when moved from
};

// All of a completion that does not depend on what arrives: compiled once.
struct CompletionState {
    explicit CompletionState(Loop &itsLoop) : loop(&itsLoop), isOfOneThread(itsLoop.isOfOneThread()) {}
    Q_DISABLE_COPY(CompletionState)
    virtual ~CompletionState() = default;
    static void *operator new(std::size_t bytes) { return freelist::take(bytes); }
    static void operator delete(void *state, std::size_t bytes) noexcept { freelist::give(state, bytes); }

    // One more who holds it; one less, and whether that was the last.
    void hold();
    [[nodiscard]] bool isLetGo();
    // The value is there: whoever waits hears of it through the queue.
    static void tell(const SharedState &state);
    // Small: there are several of them for each of 100,000 waiters.
    using Listener = MoveOnlyFunction<void(), 40>;
    // In the former one's place; where somebody observes, after all that are there.
    void setListener(Listener &&next);
    // Before the listener, the one there is and each later one.
    void setObserver(Listener &&observer);

    Loop *loop;
    std::atomic<int> holders = 0;
    const bool isOfOneThread;
    bool isComplete = false, isObserved = false;
    int drops = 0; // of listeners, while somebody observes
    std::coroutine_handle<> waiter;
    Listener listener;
    Timer timer;
};

inline void CompletionState::hold()
{
    if (isOfOneThread)
        holders.store(holders.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
        holders.fetch_add(1, std::memory_order_relaxed);
}

inline bool CompletionState::isLetGo()
{
    if (!isOfOneThread)
        return holders.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const auto left = holders.load(std::memory_order_relaxed) - 1;
    holders.store(left, std::memory_order_relaxed);
    return left == 0;
}

inline SharedState::SharedState(CompletionState *state) noexcept : m_state(state)
{
    if (m_state)
        m_state->hold();
}

inline SharedState::~SharedState()
{
    if (m_state && m_state->isLetGo())
        delete m_state;
}

class CompletionAwaiter {
public:
    explicit CompletionAwaiter(SharedState state) : m_state(std::move(state)) {}
    Q_DISABLE_COPY(CompletionAwaiter)
    ~CompletionAwaiter()
    {
        if (m_isWaiting)
            m_state->waiter = {};
    }
    bool await_ready() const { return m_state->isComplete; }
    void await_suspend(std::coroutine_handle<> waiter)
    {
        m_state->waiter = waiter;
        m_isWaiting = true;
    }

protected:
    SharedState m_state;
    bool m_isWaiting = false;
};

} // namespace detail

template <class T>
class Completion {
    struct State final : detail::CompletionState {
        using CompletionState::CompletionState;
        Slot<T> slot;
    };
    static T &valueIn(detail::CompletionState &state) { return static_cast<State &>(state).slot.value(); }

public:
    explicit Completion(Loop &loop) : m_state(new State(loop)) {}

    [[nodiscard]] bool isComplete() const { return m_state->isComplete; }
    // Only when complete.
    [[nodiscard]] const T &value() const { return valueIn(*m_state); }
    [[nodiscard]] Loop &loop() const { return *m_state->loop; }

    void complete(T &&value) const { fill(std::move(value)); }
    void complete(const T &value) const { fill(value); }

    // Completes with `late` when the deadline passes first.
    void completeAt(Deadline deadline, T late) const
    {
        completeAtWith(deadline, [late = std::move(late)] { return late; });
    }
    // The same, with what is made only then: words about a request are not worth their while for each that is
    // answered in time.
    template <class Make>
    void completeAtWith(Deadline deadline, Make makeLate) const
    {
        if (isComplete() || deadline.isNever())
            return;
        // The call is the state's own: it goes with it.
        m_state->timer =
            m_state->loop->callAt(deadline.when(), [state = m_state.get(), makeLate = std::move(makeLate)] {
                Completion(detail::SharedState(state)).complete(makeLate());
            });
    }

    // For code that is no coroutine: called once with the value, through the queue, also if complete already. In
    // the former listener's place; of one that is observed, after it.
    template <class Listener>
    void then(Listener listener) const
    {
        m_state->setListener([at = m_state.get(), drops = m_state->drops, listener = std::move(listener)]() mutable {
            if (drops == at->drops)
                listener(valueIn(*at));
        });
        if (isComplete())
            detail::CompletionState::tell(m_state);
    }

    // For who writes down what passes, and waits for nothing: called before all who wait, or at once where it is
    // complete already.
    template <class Observer>
    void observe(Observer observer) const
    {
        if (isComplete())
            observer(value());
        else
            m_state->setObserver(
                [at = m_state.get(), observer = std::move(observer)] { observer(std::as_const(valueIn(*at))); });
    }

    // Nobody is called any more but who observes.
    void dropListener() const
    {
        ++m_state->drops;
        if (!m_state->isObserved)
            m_state->listener = {};
    }

    class Awaiter : public detail::CompletionAwaiter {
    public:
        using CompletionAwaiter::CompletionAwaiter;
        T await_resume()
        {
            m_isWaiting = false;
            return valueIn(*m_state);
        }
    };
    Awaiter operator co_await() const { return Awaiter(m_state); }

    // For who looks at the value where it is: there is no room for it in the frame that waits.
    class Arrival : public detail::CompletionAwaiter {
    public:
        using CompletionAwaiter::CompletionAwaiter;
        void await_resume() { m_isWaiting = false; }
    };
    [[nodiscard]] Arrival arrival() const { return Arrival(m_state); }

    // For who alone asks for the value, and once: it is moved to him. A page of a thousand names is not copied,
    // unless who observes it has not seen it yet.
    class Taking : public detail::CompletionAwaiter {
    public:
        using CompletionAwaiter::CompletionAwaiter;
        T await_resume()
        {
            m_isWaiting = false;
            if (m_state->listener)
                return valueIn(*m_state);
            return std::move(valueIn(*m_state));
        }
    };
    [[nodiscard]] Taking taken() const { return Taking(m_state); }

private:
    explicit Completion(detail::SharedState state) : m_state(std::move(state)) {}
    template <class Value>
    void fill(Value &&value) const
    {
        if (isComplete())
            return;
        static_cast<State &>(*m_state).slot.fill(std::forward<Value>(value));
        detail::CompletionState::tell(m_state);
    }
    detail::SharedState m_state;
};

// What every request of a port returns: it has been sent already; the answer arrives once.
template <class T>
using Reply = Completion<Result<T>>;

// Waiting for a moment: `auto woken = sleepUntil(loop, when); co_await woken;`

[[nodiscard]] inline Completion<bool> sleepUntil(Loop &loop, Instant when)
{
    Completion<bool> woken(loop);
    woken.completeAt(Deadline::at(when), true);
    return woken;
}

[[nodiscard]] inline Completion<bool> sleepFor(Loop &loop, Duration span)
{
    return sleepUntil(loop, loop.now() + span);
}

// What only one at a time may do, in the order in which they came. Loop thread only.

struct Turns {
    std::optional<Completion<bool>> last; // completes when all who came have had their turn
    int count = 0;
    Instant over{}; // when the last one ended
};

// Lives in the frame of a task, which may be destroyed half-way, and also while it waits.
class InTurn {
public:
    InTurn(std::shared_ptr<Turns> turns, Loop &loop)
        : m_turns(std::move(turns)), m_loop(loop), m_before(m_turns->last), m_ours(loop)
    {
        m_turns->last = m_ours;
        ++m_turns->count;
    }
    Q_DISABLE_COPY(InTurn)
    ~InTurn()
    {
        if (--m_turns->count == 0)
            m_turns->last.reset();
        if (m_before && !m_before->isComplete()) {
            m_before->then([ours = m_ours](bool) { ours.complete(true); });
        } else {
            m_turns->over = m_loop.now();
            m_ours.complete(true);
        }
    }
    // To be waited for first; nothing: it is our turn.
    [[nodiscard]] const std::optional<Completion<bool>> &before() const { return m_before; }

private:
    const std::shared_ptr<Turns> m_turns;
    Loop &m_loop;
    const std::optional<Completion<bool>> m_before;
    const Completion<bool> m_ours;
};

} // namespace lockscope
