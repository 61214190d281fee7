// SPDX-License-Identifier: Apache-2.0
// How long sweeps, and the pages of a slow one, rest: nine times as long as they worked; and, while they only make
// sure, as long as what they sent is worth. Loop thread only.
#pragma once

#include "core/inspect/pace.h"
#include "core/inspect/redis/observerreader.h"

#include <functional>

namespace lockscope::inspect {

class SweepRest {
public:
    // What was sent since then.
    struct Span {
        Instant begun{};
        qint64 requests = 0;
    };

    // `isVerificationSweep`: nothing can have changed that was not told. The reader outlives this and its tasks.
    SweepRest(const KeyReader &reader, std::function<bool()> isVerificationSweep)
        : m_reader(reader), m_isOnlyMakingSure(std::move(isVerificationSweep))
    {
    }

    [[nodiscard]] Span begin() const { return {m_reader.loop().now(), m_reader.requests()}; }
    Task<void> afterPage(Span span, Duration least);
    Task<void> afterSweep(Span span, Duration least);
    // The next sweep need not wait, until it begins.
    void cutShort() { m_isCutShort = true; }
    void sweepBegins() { m_isCutShort = false; }

private:
    Task<void> rest(Span span, Duration least, Duration longest);

    const KeyReader &m_reader;
    const std::function<bool()> m_isOnlyMakingSure;
    WorkMeter m_pages;
    bool m_isCutShort = false;
};

} // namespace lockscope::inspect
