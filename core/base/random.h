// A seeded source of randomness: the same seed gives the same run.
#pragma once

#include <QByteArray>

#include <random>

namespace lockscope {

class Random {
public:
    explicit Random(quint64 seed) : m_engine(seed) {}
    // Seeded from the system: for programs, not for tests.
    static Random fromSystem()
    {
        std::random_device device;
        return Random((static_cast<quint64>(device()) << 32) | device());
    }

    [[nodiscard]] quint64 next() { return m_engine(); }
    // 0 ≤ result < bound
    [[nodiscard]] quint64 below(quint64 bound) { return std::uniform_int_distribution<quint64>(0, bound - 1)(m_engine); }
    [[nodiscard]] QByteArray bytes(qsizetype count)
    {
        QByteArray out(count, Qt::Uninitialized);
        for (auto &byte : out)
            byte = static_cast<char>(next() & 0xff);
        return out;
    }

private:
    std::mt19937_64 m_engine;
};

} // namespace lockscope
