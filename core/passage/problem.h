// SPDX-License-Identifier: Apache-2.0
// What last went wrong behind a door: written by the passages' thread, read by any.
#pragma once

#include <QString>

#include <mutex>

namespace lockscope::passage {

class Problem {
public:
    // Empty: it goes well.
    void set(const QString &text)
    {
        const std::lock_guard lock(m_mutex);
        m_text = text;
    }
    [[nodiscard]] QString text() const
    {
        const std::lock_guard lock(m_mutex);
        return m_text;
    }

private:
    mutable std::mutex m_mutex;
    QString m_text;
};

} // namespace lockscope::passage
