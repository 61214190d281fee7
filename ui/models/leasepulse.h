// SPDX-License-Identifier: Apache-2.0
// The pulse of a lease: when it was renewed, as far as this window saw it, the last of it. Pure.
#pragma once

#include <QString>

#include <chrono>
#include <deque>

namespace lockscope::ui {

class LeasePulse {
public:
    using Time = std::chrono::system_clock::time_point;
    struct Beat {
        Time at;      // we heard of it
        Time expires; // until when it lives since then
    };

    // It lives until `expires` now; whether that is later than before is what tells a renewal.
    void heard(Time expires, Time now);
    [[nodiscard]] const std::deque<Beat> &beats() const { return m_beats; }
    // "renewed 12 times in 58 s, every 5.0 s; the last time 2.1 s ago"
    [[nodiscard]] QString text(Time now) const;

private:
    std::deque<Beat> m_beats;
};

} // namespace lockscope::ui
