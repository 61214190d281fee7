// SPDX-License-Identifier: Apache-2.0
// While it lives this process cannot make a file longer than that: as on a disk that is full.
#pragma once

#include <csignal>
#include <sys/resource.h>

namespace lockscope::testing {

class FilesNoLargerThan {
public:
    explicit FilesNoLargerThan(rlim_t bytes) : m_signal(std::signal(SIGXFSZ, SIG_IGN))
    {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit{bytes, m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FilesNoLargerThan()
    {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_signal);
    }
    FilesNoLargerThan(const FilesNoLargerThan &) = delete;
    FilesNoLargerThan &operator=(const FilesNoLargerThan &) = delete;

private:
    rlimit m_before{};
    sighandler_t m_signal;
};

} // namespace lockscope::testing
