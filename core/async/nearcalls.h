// SPDX-License-Identifier: Apache-2.0
// Calls that fall due soon and that nobody cancels: messages of a simulated world, millions of them. A place for
// each of the next thousand microseconds, so that neither who puts one there nor who takes the first asks how many
// wait.
#pragma once

#include "core/async/loop.h"

#include <QtGlobal>

#include <array>

namespace lockscope {

class NearCalls {
public:
    // With room for a message and whose link it is on.
    using NearCall = MoveOnlyFunction<void(), 88>;

    NearCalls() = default;
    NearCalls(const NearCalls &) = delete;
    NearCalls &operator=(const NearCalls &) = delete;
    ~NearCalls();

    [[nodiscard]] static bool isNear(Instant now, Instant when) { return when >= now && when < now + span; }
    // `isNear(now, when)`; whatever was due before now has been taken. `id` grows: calls of one moment are in its
    // order.
    void put(Instant when, unsigned long long id, NearCall &&call);
    [[nodiscard]] bool isEmpty() const { return m_count == 0; }
    // Only when not empty, as below.
    [[nodiscard]] Instant firstWhen() const { return m_first; }
    [[nodiscard]] unsigned long long firstId() const { return m_last[placeOf(m_first)]->next->id; }
    void runFirst();

private:
    static constexpr std::size_t places = 1024, bits = 64;
    static constexpr Duration span{places};
    struct Entry {
        NearCall call;
        unsigned long long id;
        Entry *next; // of the last one: the first
    };
    [[nodiscard]] static std::size_t placeOf(Instant when)
    {
        return static_cast<std::size_t>(when.time_since_epoch().count()) % places;
    }
    [[nodiscard]] std::size_t toNextFrom(std::size_t place) const;
    // It is the caller's then.
    [[nodiscard]] Entry *takeFirst();
    static void drop(Entry *entry);

    std::array<Entry *, places> m_last{};           // of each moment
    std::array<quint64, places / bits> m_isThere{}; // a bit for each of them
    std::size_t m_count = 0;
    Instant m_first{};
};

} // namespace lockscope
