// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/interrupts.h"

#include "app/lockscopectl/terminalscreen.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace lockscope::ctl {

namespace {

// Whatever else asks a program to end is no reason to leave a lock to its time limit.
constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGWINCH};
constexpr time_t endsAtOnceAfter = 2;
int pipeEnds[2] = {-1, -1};
volatile std::sig_atomic_t isUnread = 0;
volatile time_t unreadSince = 0;

// The loop does not run: it is blocked, and has not read a signal for seconds. Then the next one ends the program.
bool isLoopBlocked()
{
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    if (isUnread)
        return now.tv_sec - unreadSince >= endsAtOnceAfter;
    isUnread = 1;
    unreadSince = now.tv_sec;
    return false;
}

void handle(int number, siginfo_t *info, void *)
{
    const int before = errno;
    if (number != SIGWINCH && isLoopBlocked()) {
        restoreTerminal();
        std::signal(number, SIG_DFL);
        ::raise(number);
    }
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
    isUnread = 0;
    Interrupt interrupt;
    while (::read(pipeEnds[0], &interrupt, sizeof interrupt) == sizeof interrupt) {
        // A copy: the handler may set another.
        if (const auto handler = m_handler; handler && interrupt.number != SIGWINCH)
            handler(interrupt);
        else if (interrupt.number == SIGWINCH && m_resized)
            m_resized();
    }
}

} // namespace lockscope::ctl

#include "moc_interrupts.cpp"
