// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/endsignals.h"

#include <QSocketNotifier>

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace lockscope::sandbox {

namespace {

constexpr std::array endingSignals{SIGINT, SIGTERM, SIGHUP};
// A handler may do next to nothing: it writes one byte here, and the event loop reads it.
int ends[2] = {-1, -1};

void handle(int number)
{
    const int saved = errno;
    const auto byte = static_cast<char>(number);
    [[maybe_unused]] const auto written = ::write(ends[1], &byte, 1);
    errno = saved;
}

} // namespace

EndSignals::EndSignals(QObject *parent) : QObject(parent)
{
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        qFatal("no pipe for signals");
    m_notifier = new QSocketNotifier(ends[0], QSocketNotifier::Read, this);
    connect(m_notifier, &QSocketNotifier::activated, this, &EndSignals::read);

    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    for (const int number : endingSignals) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        // Whoever started us to go on without it (nohup) meant it.
        if (before.sa_handler != SIG_IGN)
            ::sigaction(number, &action, nullptr);
    }
}

EndSignals::~EndSignals()
{
    for (const int number : endingSignals)
        ::signal(number, SIG_DFL);
    delete m_notifier;
    ::close(ends[0]);
    ::close(ends[1]);
}

void EndSignals::read()
{
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1)
        emit asked(byte);
}

} // namespace lockscope::sandbox

#include "moc_endsignals.cpp"
