// SPDX-License-Identifier: Apache-2.0
// A call to be made later: what std::function<void()> is, but owned by one, so that what it holds is moved and
// never copied, and small enough things need no memory of their own. A loop makes millions of them.
#pragma once

#include <version>

#include "core/async/freelist.h"

#include <cstring>
#include <type_traits>

namespace lockscope {

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

} // namespace lockscope
