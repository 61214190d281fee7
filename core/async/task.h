// SPDX-License-Identifier: Apache-2.0
// Task<T>: a lazy coroutine. It starts when it is awaited (or launched in a Scope); destroying it
// cancels it, and the destructors of its locals run.
//
// GCC 12 miscompiles rich expressions around co_await: write one per statement, as `auto x = co_await f(named,
// args);`, `co_await x;` or `co_return …;` (tests/lint enforces it). The parent resumes a child inline from `bool
// await_suspend`: symmetric transfer overflows the stack below -O2.
#pragma once

// moc 6.4 stops at <coroutine> when it comes first in a Q_OBJECT header.
#include <version>

#include "core/async/freelist.h"

#include <coroutine>
#include <exception>
#include <type_traits>

namespace lockscope {

namespace detail {

struct TaskPromiseBase {
    std::coroutine_handle<> parent;

    static void *operator new(std::size_t bytes) { return freelist::take(bytes); }
    static void operator delete(void *frame, std::size_t bytes) noexcept { freelist::give(frame, bytes); }

    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept
    {
        struct ToParent {
            std::coroutine_handle<> parent;
            bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) noexcept
            {
                // The frame may be destroyed by the parent; nothing of it is touched afterwards.
                if (auto next = parent)
                    next.resume();
            }
            void await_resume() noexcept {}
        };
        return ToParent{parent};
    }
    // Failures are values; an exception here is a broken invariant.
    void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
    // Ten words of a grant would be in two of the frames of each of 100,000 who wait.
    static constexpr std::size_t largestInFrame = 9 * sizeof(void *);
    std::conditional_t<(sizeof(T) > largestInFrame), FarSlot<T>, Slot<T>> result;
    std::coroutine_handle<TaskPromise> handle() { return std::coroutine_handle<TaskPromise>::from_promise(*this); }
    auto get_return_object() { return handle(); }
    template <class U>
    void return_value(U &&value)
    {
        result.fill(std::forward<U>(value));
    }
    T take() { return std::move(result.value()); }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
    auto get_return_object() { return std::coroutine_handle<TaskPromise>::from_promise(*this); }
    void return_void() noexcept {}
    void take() {}
};

} // namespace detail

template <class T = void>
class [[nodiscard]] Task {
public:
    using promise_type = detail::TaskPromise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    Task(Handle frame) : m_frame(frame) {}
    Task(Task &&other) noexcept : m_frame(std::exchange(other.m_frame, {})) {}
    Task &operator=(Task &&other) noexcept
    {
        std::swap(m_frame, other.m_frame);
        return *this;
    }
    ~Task()
    {
        if (m_frame)
            m_frame.destroy();
    }

    // Runs until the first wait. True if it ran to its end at once. For Scope.
    bool start()
    {
        m_frame.resume();
        return m_frame.done();
    }

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> parent)
    {
        m_frame.resume();
        if (m_frame.done())
            return false;
        m_frame.promise().parent = parent;
        return true;
    }
    T await_resume() { return m_frame.promise().take(); }

    // For who looks at the value where it is: there is no room for it in the frame that waits.
    class Finish {
    public:
        explicit Finish(Task &task) : m_task(task) {}
        bool await_ready() const noexcept { return false; }
        bool await_suspend(std::coroutine_handle<> parent) { return m_task.await_suspend(parent); }
        void await_resume() noexcept {}

    private:
        Task &m_task;
    };
    [[nodiscard]] Finish finish() { return Finish(*this); }
    // Only when finished.
    [[nodiscard]] auto &value() requires(!std::is_void_v<T>) { return m_frame.promise().result.value(); }

private:
    Handle m_frame;
};

} // namespace lockscope
