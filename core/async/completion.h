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
#include "core/base/result.h"

#include <coroutine>
#include <optional>

namespace lockscope {

template <class T>
class Completion {
    // Small: there are several of them for each of 100,000 waiters.
    using Listener = MoveOnlyFunction<void(const T &), 40>;
    struct State {
        Loop *loop;
        std::optional<T> value;
        std::coroutine_handle<> waiter;
        Listener listener;
        Timer timer;
    };

public:
    explicit Completion(Loop &loop) : m_state(std::allocate_shared<State>(freelist::Allocator<State>()))
    {
        m_state->loop = &loop;
    }

    [[nodiscard]] bool isComplete() const { return m_state->value.has_value(); }
    // Only when complete.
    [[nodiscard]] const T &value() const { return *m_state->value; }
    [[nodiscard]] Loop &loop() const { return *m_state->loop; }

    void complete(T value) const
    {
        if (isComplete())
            return;
        m_state->value = std::move(value);
        m_state->timer.cancel();
        if (!m_state->waiter && !m_state->listener)
            return;
        m_state->loop->post([keep = m_state] {
            if (auto listener = std::exchange(keep->listener, {}))
                listener(*keep->value);
            if (auto waiter = std::exchange(keep->waiter, {}))
                waiter.resume();
        });
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
        m_state->timer = m_state->loop->callAt(
            deadline.when(), [state = std::weak_ptr<State>(m_state), makeLate = std::move(makeLate)] {
                if (auto alive = state.lock())
                    Completion(alive).complete(makeLate());
            });
    }

    // For code that is no coroutine: called once, through the queue, also if complete already.
    void then(Listener listener) const
    {
        m_state->listener = std::move(listener);
        if (!isComplete())
            return;
        m_state->loop->post([keep = m_state] {
            if (auto call = std::exchange(keep->listener, {}))
                call(*keep->value);
        });
    }

    class Awaiter {
    public:
        explicit Awaiter(std::shared_ptr<State> state) : m_state(std::move(state)) {}
        Awaiter(const Awaiter &) = delete;
        Awaiter &operator=(const Awaiter &) = delete;
        ~Awaiter()
        {
            if (m_waiting)
                m_state->waiter = {};
        }
        bool await_ready() const { return m_state->value.has_value(); }
        void await_suspend(std::coroutine_handle<> waiter)
        {
            m_state->waiter = waiter;
            m_waiting = true;
        }
        T await_resume()
        {
            m_waiting = false;
            return *m_state->value;
        }

    private:
        std::shared_ptr<State> m_state;
        bool m_waiting = false;
    };
    Awaiter operator co_await() const { return Awaiter(m_state); }

private:
    explicit Completion(std::shared_ptr<State> state) : m_state(std::move(state)) {}
    std::shared_ptr<State> m_state;
};

// What every request of a port returns: it has been sent already; the answer arrives once.
template <class T>
using Reply = Completion<Result<T>>;

} // namespace lockscope
