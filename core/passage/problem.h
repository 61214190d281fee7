// SPDX-License-Identifier: Apache-2.0
// What last went wrong behind a door: written by the passages' thread, read by any.
#pragma once

#include <QString>

#include <mutex>

namespace lockscope::passage {

class Problem {
public:
    // Empty: it goes well. Of TLS: somebody is there.
    void set(const QString &text, bool isOfTls = false)
    {
        const std::lock_guard lock(m_mutex);
        m_text = text;
        m_isOfTls = isOfTls;
    }
    [[nodiscard]] QString text() const
    {
        const std::lock_guard lock(m_mutex);
        return m_text;
    }

    [[nodiscard]] bool isOfTls() const
    {
        const std::lock_guard lock(m_mutex);
        return m_isOfTls;
    }

private:
    mutable std::mutex m_mutex;
    QString m_text;
    bool m_isOfTls = false;
};

} // namespace lockscope::passage
