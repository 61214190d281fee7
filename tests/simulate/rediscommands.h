// SPDX-License-Identifier: Apache-2.0
// Random commands for a Redis, on a few keys of all types, mostly right and sometimes wrong.
//
// Nothing in them depends on how fast they are executed: what expires does so at once or in minutes.
#pragma once

#include "core/base/random.h"
#include "core/redis/client.h"

namespace lockscope::testing {

class RandomCommands {
public:
    explicit RandomCommands(quint64 seed) : m_random(seed) {}

    [[nodiscard]] redis::Command next();

private:
    [[nodiscard]] bool chance(quint64 percent) { return m_random.below(100) < percent; }
    [[nodiscard]] QByteArray one(const QByteArrayList &of)
    {
        return of[static_cast<qsizetype>(m_random.below(static_cast<quint64>(of.size())))];
    }
    [[nodiscard]] redis::Command plain();
    [[nodiscard]] redis::Command script();
    // By the message of a pattern.
    [[nodiscard]] QByteArray argument(char kind);
    [[nodiscard]] QByteArray milliseconds();

    Random m_random;
    int m_times = 0;
};

} // namespace lockscope::testing
