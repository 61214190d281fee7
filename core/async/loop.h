// SPDX-License-Identifier: Apache-2.0
// The queue and the clock that coroutines run on.
//
// Everything that talks to servers lives on one Loop: the I/O thread's in the programs (QtLoop),
// a virtual one in simulations and in tests of timing (VirtualLoop).
#pragma once

#include "core/async/freelist.h"
#include "core/base/clock.h"

#include <cstring>
#include <type_traits>
#include <version>

// moc 6.4 stops at the concepts of <chrono> when they come first in a Q_OBJECT header.

namespace lockscope {

// A call to be made later: what std::function<void()> is, but owned by one, so that what it holds is moved and
// never copied, and small enough things need no memory of their own. A loop makes millions of them.

// What is moved by copying its bytes, and the old place is forgotten: plain values, and who says of itself
// `using MovesAsBytes = void;`, because it holds nothing but pointers and none to itself. A message is moved half a
// dozen times on its way.
template <class T>
concept MovesAsBytes = std::is_trivially_copyable_v<T> || requires
{
    typename T::MovesAsBytes;
};

// `room`: bytes of what needs no memory of its own. With the pointer beside it, one line of a cache.
template <class Signature, std::size_t room = 56>
class MoveOnlyFunction;

template <class Answer, class... Args, std::size_t room>
class MoveOnlyFunction<Answer(Args...), room> {
    template <class Call>
    static constexpr bool fits = sizeof(Call) <= room && alignof(Call) <= alignof(void *)
                                 && std::is_nothrow_move_constructible_v<Call>;

public:
    MoveOnlyFunction() = default;
    template <class Call>
    requires(!std::is_same_v<std::remove_cvref_t<Call>,
                             MoveOnlyFunction> && std::is_invocable_r_v<Answer, std::decay_t<Call> &, Args...>)
        MoveOnlyFunction(Call &&call)
    {
        using Kept = std::decay_t<Call>;
        if constexpr (requires { call == nullptr; }) {
            if (call == nullptr)
                return;
        }
        if constexpr (fits<Kept>)
            new (m_room) Kept(std::forward<Call>(call));
        else
            *reinterpret_cast<Kept **>(m_room) = new (freelist::take(sizeof(Kept))) Kept(std::forward<Call>(call));
        m_manner = &manner<Kept>;
    }
    MoveOnlyFunction(MoveOnlyFunction &&other) noexcept { take(other); }
    MoveOnlyFunction &operator=(MoveOnlyFunction &&other) noexcept
    {
        // What was here goes last: its end may come back to this object.
        MoveOnlyFunction former(std::move(*this));
        take(other);
        return *this;
    }
    ~MoveOnlyFunction()
    {
        if (m_manner && m_manner->end)
            m_manner->end(m_room);
    }

    explicit operator bool() const { return m_manner; }
    Answer operator()(Args... args) const { return m_manner->call(m_room, std::forward<Args>(args)...); }

private:
    struct Manner {
        Answer (*call)(std::byte *at, Args... args);
        void (*move)(std::byte *from, std::byte *to) noexcept; // leaves nothing behind; null: as bytes
        void (*end)(std::byte *at) noexcept;                   // null: nothing has to be done
    };

    template <class Kept>
    static Kept &kept(std::byte *at)
    {
        if constexpr (fits<Kept>)
            return *std::launder(reinterpret_cast<Kept *>(at));
        else
            return **reinterpret_cast<Kept **>(at);
    }
    template <class Kept>
    static Answer invoke(std::byte *at, Args... args)
    {
        return kept<Kept>(at)(std::forward<Args>(args)...);
    }
    template <class Kept>
    static void relocate(std::byte *from, std::byte *to) noexcept
    {
        new (to) Kept(std::move(kept<Kept>(from)));
        kept<Kept>(from).~Kept();
    }
    template <class Kept>
    static void destroy(std::byte *at) noexcept
    {
        auto &ended = kept<Kept>(at);
        ended.~Kept();
        if constexpr (!fits<Kept>)
            freelist::give(&ended, sizeof(Kept));
    }
    template <class Kept>
    static constexpr Manner mannerOf()
    {
        Manner manner{&invoke<Kept>, nullptr, nullptr};
        if constexpr (fits<Kept> && !MovesAsBytes<Kept>)
            manner.move = &relocate<Kept>;
        if constexpr (!fits<Kept> || !std::is_trivially_destructible_v<Kept>)
            manner.end = &destroy<Kept>;
        return manner;
    }
    template <class Kept>
    static constexpr Manner manner = mannerOf<Kept>();

    void take(MoveOnlyFunction &other) noexcept
    {
        m_manner = std::exchange(other.m_manner, nullptr);
        if (!m_manner)
            return;
        if (m_manner->move)
            m_manner->move(other.m_room, m_room);
        else
            std::memcpy(m_room, other.m_room, room);
    }

    const Manner *m_manner = nullptr;
    alignas(void *) mutable std::byte m_room[room];
};

using Call = MoveOnlyFunction<void()>;

using Duration = std::chrono::microseconds;
// Monotonic: never jumps with the wall clock.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// A pending callAt. Destroying it cancels the call. Belongs to the loop's thread.
class Timer {
public:
    Timer() = default;
    explicit Timer(std::shared_ptr<void> keepAlive) : m_keepAlive(std::move(keepAlive)) {}
    void cancel() { m_keepAlive.reset(); }

private:
    std::shared_ptr<void> m_keepAlive; // loops hold a weak reference
};

class Loop {
public:
    virtual ~Loop() = default;

    // Whether whatever has to do with this loop is made, used and let go on one thread, as in a simulated world: who
    // holds it can be counted there in plain steps. A simulated request and its answer would take sixty atomic ones.
    [[nodiscard]] bool isOfOneThread() const { return m_isOfOneThread; }

    // Runs `call` on the loop's thread, after what was posted before. Safe from any thread.
    virtual void post(Call call) = 0;
    // Loop thread only, as everything below.
    [[nodiscard]] virtual Instant now() const = 0;
    // The wall clock, for what is shown to people; never for deadlines.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wallNow() const = 0;
    [[nodiscard]] virtual Timer callAt(Instant when, Call call) = 0;

protected:
    explicit Loop(bool isOfOneThread = false) : m_isOfOneThread(isOfOneThread) {}

private:
    const bool m_isOfOneThread;
};

// The latest moment something may take; computed once and passed on, so that no retry starts the clock again.
class Deadline {
public:
    static Deadline never() { return {}; }
    static Deadline at(Instant when) { return Deadline(when); }
    static Deadline after(const Loop &loop, std::chrono::milliseconds span) { return Deadline(loop.now() + span); }

    [[nodiscard]] bool isNever() const { return m_when == Instant::max(); }
    [[nodiscard]] Instant when() const { return m_when; }
    [[nodiscard]] bool hasPassed(const Loop &loop) const { return !isNever() && loop.now() >= m_when; }
    // Not negative; Duration::max() when there is no limit.
    [[nodiscard]] Duration remaining(const Loop &loop) const
    {
        if (isNever())
            return Duration::max();
        return std::max(Duration::zero(), m_when - loop.now());
    }

private:
    Deadline() = default;
    explicit Deadline(Instant when) : m_when(when) {}
    Instant m_when = Instant::max();
};

// By what a loop's observers and recorders date what they see: its wall clock, less what that was set by meanwhile.

// Goes on evenly when somebody sets the wall clock: ages and spans are differences of such moments. What is written
// for others to compare with their clocks takes loop.wallNow().
[[nodiscard]] inline WallTime datedNow(const Loop &loop)
{
    for (;;) {
        const auto before = programClock().setBy();
        const auto wall = loop.wallNow();
        if (programClock().setBy() == before) // else it was set between the two
            return wall - before;
    }
}

} // namespace lockscope
