// SPDX-License-Identifier: Apache-2.0
// A seeded source of randomness: the same seed gives the same run. 32 bytes, so that each of many
// thousand contenders can have its own. Source: Blackman and Vigna, "Scrambled linear pseudorandom number
// generators" (2018): xoshiro256**, seeded by splitmix64. Not for cryptography.
#pragma once

#include <QByteArray>

#include <array>
#include <bit>
#include <random>

namespace lockscope {

class Random {
public:
    explicit Random(quint64 seed)
    {
        for (auto &word : m_state) {
            seed += 0x9e3779b97f4a7c15;
            quint64 mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
            word = mixed ^ (mixed >> 31);
        }
    }
    // Seeded from the system, with as many bits as there are in a UUID: for programs, not for tests.
    static Random fromSystem()
    {
        std::random_device device;
        Random random(0);
        for (auto &word : random.m_state)
            word ^= (static_cast<quint64>(device()) << 32) | device();
        return random;
    }

    [[nodiscard]] quint64 next()
    {
        const quint64 result = std::rotl(m_state[1] * 5, 7) * 9;
        const quint64 shifted = m_state[1] << 17;
        m_state[2] ^= m_state[0];
        m_state[3] ^= m_state[1];
        m_state[1] ^= m_state[2];
        m_state[0] ^= m_state[3];
        m_state[2] ^= shifted;
        m_state[3] = std::rotl(m_state[3], 45);
        return result;
    }
    // 0 ≤ result < bound
    // Source: D. Lemire, "Fast random integer generation in an interval" (2019). As the library's distribution does
    // it, whose layers the compiler does not see through.
    [[nodiscard]] quint64 below(quint64 bound)
    {
        __extension__ using Wide = unsigned __int128;
        auto product = static_cast<Wide>(next()) * bound;
        if (static_cast<quint64>(product) < bound) {
            const auto unfair = -bound % bound;
            while (static_cast<quint64>(product) < unfair)
                product = static_cast<Wide>(next()) * bound;
        }
        return static_cast<quint64>(product >> 64);
    }
    [[nodiscard]] QByteArray bytes(qsizetype count)
    {
        QByteArray out(count, Qt::Uninitialized);
        for (auto &byte : out)
            byte = static_cast<char>(next() >> 56);
        return out;
    }

    // What the standard's distributions ask of a generator.
    using result_type = quint64;
    static constexpr quint64 min() { return 0; }
    static constexpr quint64 max() { return ~quint64(0); }
    quint64 operator()() { return next(); }

private:
    std::array<quint64, 4> m_state{};
};

} // namespace lockscope
