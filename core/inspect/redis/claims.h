// SPDX-License-Identifier: Apache-2.0
// Keys that look like somebody's claim and that no rule makes a lock: "not understood" is said of them, by groups, so
// that an empty answer does not say more than was looked at. Loop thread only.
#pragma once

#include "core/inspect/coverage.h"
#include "core/inspect/redis/recognise.h"

namespace lockscope::inspect {

// A random token, in whatever wrapping, or a process on its host: what is written to say "mine".
[[nodiscard]] bool looksLikeClaim(const QByteArray &value, ServerTime now);
// What was read of a key, whatever its type, and no rule reads: such a value; members of such names in a key that
// ends as soon as a lock does; or a name that says lock. Not what the name, or what its client is known to write
// there, explains.
[[nodiscard]] bool looksLikeClaim(const KeyView &view, ServerTime now);

// {"owner": …}: a small object that is about who has something.
[[nodiscard]] bool isObjectOfOwner(const QByteArray &value);

// A client is known to keep something else there, whatever its value says.
[[nodiscard]] bool isNoLockOfClient(const KeyView &view);

class Claims {
public:
    // A value that was read as one of a few of its kind of name, which says nothing.
    void noteSample(const KeyView &view, ServerTime now, int sweep)
    {
        ++m_samples;
        note(view, false, now, sweep);
    }
    // A key that was read for whatever reason. `isExplained`: it is a lock, if one of low confidence, or not there.
    void note(const KeyView &view, bool isExplained, ServerTime now, int sweep);
    // SCAN named this key: what was sampled there is still true, as far as is known.
    void met(const QByteArray &name, int sweep)
    {
        if (const auto at = m_sweeps.find(name); at != m_sweeps.end())
            at->second = sweep;
    }
    void sweepEnds(int sweep);
    // As of the end of the last sweep: what changes all the time would be news all the time.
    [[nodiscard]] const std::vector<Unexplained> &groups() const { return m_groups; }

private:
    std::map<QByteArray, int> m_sweeps; // the sweep that met them last
    qint64 m_samples = 0;
    std::vector<Unexplained> m_groups;
};

} // namespace lockscope::inspect
