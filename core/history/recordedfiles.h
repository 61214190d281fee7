// SPDX-License-Identifier: Apache-2.0
// Where the files of recorders are, for who reads them.
#pragma once

#include <QStringList>

#include <chrono>
#include <mutex>

namespace lockscope::history {

// The files that can be read now. Any thread.
class RecordedFiles {
public:
    [[nodiscard]] QStringList list() const
    {
        const std::scoped_lock lock(m_mutex);
        return m_files;
    }
    void set(QStringList files)
    {
        const std::scoped_lock lock(m_mutex);
        m_files = std::move(files);
    }

private:
    mutable std::mutex m_mutex;
    QStringList m_files;
};

// A run that ended without tidying up: the files it left, in their order.
struct LeftRecording {
    QStringList files;
    std::chrono::system_clock::time_point last; // when it was written last
};

} // namespace lockscope::history
