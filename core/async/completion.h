// SPDX-License-Identifier: Apache-2.0
// Completion<T>: a value that arrives once. The only leaf that coroutines wait on.
//
// Copies share one state: the sender completes it, one coroutine awaits it. The first complete()
// wins, later ones are ignored, so a deadline and an answer may race for it. A coroutine that waits
// is resumed through the loop's queue, never inside complete(): 100,000 hand-offs do not end on one
// stack. Destroying a waiting coroutine simply takes it off; a late answer then finds nobody.
// Loop thread only.
#pragma once

#include <version>

#include "core/async/loop.h"
#include "core/async/slot.h"
#include "core/base/result.h"

#include <coroutine>

namespace lockscope {

namespace detail {

// All of a completion that does not depend on what arrives: compiled once.
struct CompletionState {
    explicit CompletionState(Loop &itsLoop) : loop(&itsLoop) {}
    CompletionState(const CompletionState &) = delete;
    CompletionState &operator=(const CompletionState &) = delete;
    virtual ~CompletionState() = default;
    static void *operator new(std::size_t bytes) { return freelist::take(bytes); }
    static void operator delete(void *state, std::size_t bytes) noexcept { freelist::give(state, bytes); }

    using Shared = std::shared_ptr<CompletionState>;
    [[nodiscard]] static Shared shared(std::unique_ptr<CompletionState> state);
    // The value is there: whoever waits hears of it through the queue.
    static void tell(const Shared &state);

    Loop *loop;
    bool isComplete = false;
    std::coroutine_handle<> waiter;
    // Small: there are several of them for each of 100,000 waiters.
    MoveOnlyFunction<void(), 48> listener;
    Timer timer;
};

class CompletionAwaiter {
public:
    explicit CompletionAwaiter(CompletionState::Shared state) : m_state(std::move(state)) {}
    CompletionAwaiter(const CompletionAwaiter &) = delete;
    CompletionAwaiter &operator=(const CompletionAwaiter &) = delete;
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
    CompletionState::Shared m_state;
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
    explicit Completion(Loop &loop) : m_state(State::shared(std::make_unique<State>(loop))) {}

    [[nodiscard]] bool isComplete() const { return m_state->isComplete; }
    // Only when complete.
    [[nodiscard]] const T &value() const { return valueIn(*m_state); }
    [[nodiscard]] Loop &loop() const { return *m_state->loop; }

    void complete(T value) const
    {
        if (isComplete())
            return;
        static_cast<State &>(*m_state).slot.fill(std::move(value));
        detail::CompletionState::tell(m_state);
    }

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
        m_state->timer =
            m_state->loop->callAt(deadline.when(), [state = std::weak_ptr<detail::CompletionState>(m_state),
                                                    makeLate = std::move(makeLate)] {
                if (auto alive = state.lock())
                    Completion(alive).complete(makeLate());
            });
    }

    // For code that is no coroutine: called once with the value, through the queue, also if complete already.
    template <class Listener>
    void then(Listener listener) const
    {
        m_state->listener = [at = m_state.get(), listener = std::move(listener)]() mutable {
            listener(valueIn(*at));
        };
        if (isComplete())
            detail::CompletionState::tell(m_state);
    }

    // Nobody is called any more.
    void dropListener() const { m_state->listener = {}; }

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

private:
    explicit Completion(detail::CompletionState::Shared state) : m_state(std::move(state)) {}
    detail::CompletionState::Shared m_state;
};

// What every request of a port returns: it has been sent already; the answer arrives once.
template <class T>
using Reply = Completion<Result<T>>;

} // namespace lockscope
