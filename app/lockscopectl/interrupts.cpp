// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/interrupts.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace lockscope::ctl {

namespace {

constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP};
int pipeEnds[2] = {-1, -1};

void handle(int number, siginfo_t *info, void *)
{
    const int before = errno;
    const Interrupt interrupt{number, info->si_code == SI_KERNEL};
    // A full pipe means that plenty wait already.
    [[maybe_unused]] const auto ignored = ::write(pipeEnds[1], &interrupt, sizeof interrupt);
    errno = before;
}

int openPipe()
{
    if (::pipe2(pipeEnds, O_CLOEXEC | O_NONBLOCK) != 0)
        qFatal("no pipe for signals");
    return pipeEnds[0];
}

} // namespace

Interrupts::Interrupts() : m_notifier(openPipe(), QSocketNotifier::Read)
{
    connect(&m_notifier, &QSocketNotifier::activated, this, &Interrupts::read);
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (const int number : caught)
        ::sigaction(number, &action, nullptr);
    // A reader that went away shows as a failed write; a lock held meanwhile is then given back.
    std::signal(SIGPIPE, SIG_IGN);
}

Interrupts::~Interrupts()
{
    for (const int number : caught)
        std::signal(number, SIG_DFL);
    ::close(pipeEnds[0]);
    ::close(pipeEnds[1]);
}

void Interrupts::read()
{
    Interrupt interrupt;
    while (::read(pipeEnds[0], &interrupt, sizeof interrupt) == sizeof interrupt) {
        // A copy: the handler may set another.
        if (const auto handler = m_handler)
            handler(interrupt);
    }
}

} // namespace lockscope::ctl

#include "moc_interrupts.cpp"
