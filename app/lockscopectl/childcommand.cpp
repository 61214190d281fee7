// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/childcommand.h"

#include "core/base/connectionuri.h"
#include "core/base/text.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

namespace lockscope::ctl {

// All of it runs in a process that was forked from one with threads: only what is safe in a signal handler is called.
namespace {

class Watcher {
public:
    Watcher(pid_t command, bool hasOwnGroup) : m_command(command), m_hasOwnGroup(hasOwnGroup) {}

    [[noreturn]] void run()
    {
        sigset_t ended;
        sigemptyset(&ended);
        sigaddset(&ended, SIGCHLD);
        const int changes = ::signalfd(-1, &ended, SFD_NONBLOCK);
        while (!m_hasEnded) {
            std::array<pollfd, 2> news{{{orders, POLLIN, 0}, {changes, POLLIN, 0}}};
            reap(WNOHANG);
            if (m_hasEnded || ::poll(news.data(), news.size(), -1) < 0)
                continue;
            signalfd_siginfo change{};
            while (::read(changes, &change, sizeof change) == sizeof change) {
            }
            if (news[0].revents != 0)
                takeOrder();
        }
        if (m_endsAll)
            endAll();
        endLikeIt();
    }

    static constexpr int orders = 0, life = 1; // where the pipes are: all else is closed

private:
    void takeOrder()
    {
        auto order = Order::EndAll;
        (void)!::read(orders, &order, sizeof order);
        m_endsAll = m_endsAll || order != Order::Terminate;
        if (order == Order::EndAll)
            endAll();
        else
            ::kill(m_hasOwnGroup ? -::getpgrp() : m_command, SIGTERM); // this process blocks it
    }

    // False when there is no child any more.
    bool reap(int how)
    {
        for (;;) {
            int status = 0;
            const auto child = ::waitpid(-1, &status, how);
            if (child < 0 && errno != EINTR)
                return false;
            if (child == 0)
                return true;
            if (child == m_command) {
                m_hasEnded = true;
                m_status = status;
            }
            if (child > 0)
                how = WNOHANG;
        }
    }

    // Whose parent is killed becomes a child of this process, until there is none. Of another user's there is no
    // killing: those are left.
    void endAll()
    {
        while (killChildren() && reap(0)) {
        }
        if (!m_hasEnded && ::kill(m_command, SIGKILL) == 0)
            ::waitpid(m_command, &m_status, 0);
        m_hasEnded = true;
    }

    // Whether any could be.
    static bool killChildren()
    {
        const int list = ::open("/proc/thread-self/children", O_RDONLY);
        std::array<char, 4096> text;
        pid_t child = 0;
        bool isAny = false;
        for (ssize_t size = 0; list >= 0 && (size = ::read(list, text.data(), text.size())) > 0;) {
            for (const char c : std::string_view(text.data(), static_cast<std::size_t>(size))) {
                if (c >= '0' && c <= '9') {
                    child = child * 10 + (c - '0');
                } else if (child > 0) {
                    isAny = ::kill(child, SIGKILL) == 0 || isAny;
                    child = 0;
                }
            }
        }
        ::close(list);
        return isAny;
    }

    [[noreturn]] void endLikeIt() const
    {
        if (WIFSIGNALED(m_status)) {
            const int number = WTERMSIG(m_status);
            const rlimit none{0, 0};
            ::setrlimit(RLIMIT_CORE, &none);
            ::signal(number, SIG_DFL);
            sigset_t all;
            sigfillset(&all);
            ::raise(number);
            ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
            ::_exit(128 + number);
        }
        ::_exit(WEXITSTATUS(m_status));
    }

    const pid_t m_command;
    const bool m_hasOwnGroup;
    bool m_hasEnded = false;
    bool m_endsAll = false;
    int m_status = 0;
};

} // namespace

void becomeWatched(int orders, int life, bool hasOwnGroup)
{
    // Signals are for the command: one that ended the watcher would leave it alone. Blocked before there are two.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const auto watcher = ::getpid();
    const auto command = ::fork();
    if (command < 0)
        ::_exit(1);
    if (command == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != watcher)
            ::_exit(1);
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        return;
    }
    ::prctl(PR_SET_NAME, "lockscope-watch");
    // Both are moved out of each other's way first.
    const int ordersAbove = ::fcntl(orders, F_DUPFD, Watcher::life + 1);
    const int lifeAbove = ::fcntl(life, F_DUPFD, Watcher::life + 1);
    ::dup2(ordersAbove, Watcher::orders);
    ::dup2(lifeAbove, Watcher::life);
    ::close_range(Watcher::life + 1, UINT_MAX, 0);
    Watcher(command, hasOwnGroup).run();
}

namespace {

// The two ends of a pipe, to read from and to write to. No program that is started has them.
struct Pipe {
    Descriptor from, to;
};
std::optional<Pipe> openPipeForOurselves()
{
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return std::nullopt;
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// As exec() takes them.
std::vector<char *> pointersTo(QByteArrayList &texts)
{
    std::vector<char *> pointers;
    for (auto &text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

QByteArrayList encoded(const QStringList &texts)
{
    return mapped<QByteArrayList>(texts, [&](const auto &text) { return text.toLocal8Bit(); });
}

} // namespace

ChildCommand::ChildCommand(QStringList words, bool stdoutToStderr, std::function<void(int)> ended)
    : m_words(std::move(words)), m_stdoutToStderr(stdoutToStderr), m_ended(std::move(ended))
{
    m_grace.setSingleShot(true);
    QObject::connect(&m_grace, &QTimer::timeout, &m_grace, [this] { tell(Order::EndAll); });
}

// Not by QProcess: it waits for its child to become a program, which the watcher never does.
Result<void> ChildCommand::start(const QString &lock, const QString &fencingToken)
{
    auto environment = environmentWithoutPasswords();
    environment.insert(u"LOCKSCOPE_LOCK"_s, lock);
    if (!fencingToken.isEmpty())
        environment.insert(u"LOCKSCOPE_FENCING_TOKEN"_s, fencingToken);
    auto words = encoded(m_words);
    auto variables = encoded(environment.toStringList());
    const auto arguments = pointersTo(words);
    const auto values = pointersTo(variables);
    const auto failed = [&](int why) {
        return Error{ErrorCode::Server, u"could not run \"%1\": %2"_s.arg(
                                            label(words.value(0)), QString::fromLocal8Bit(std::strerror(why)))};
    };
    auto orders = openPipeForOurselves();
    auto life = openPipeForOurselves();
    auto failure = openPipeForOurselves();
    if (!orders || !life || !failure)
        return failed(errno);
    const bool hasOwnGroup = ::isatty(STDIN_FILENO) == 0;
    const auto watcher = ::fork();
    if (watcher < 0)
        return failed(errno);
    if (watcher == 0) {
        if (hasOwnGroup)
            ::setpgid(0, 0);
        becomeWatched(orders->from.get(), life->to.get(), hasOwnGroup);
        // What we ignore, a child would ignore too.
        ::signal(SIGPIPE, SIG_DFL);
        if (m_stdoutToStderr)
            ::dup2(STDERR_FILENO, STDOUT_FILENO);
        ::execvpe(arguments.front(), arguments.data(), values.data());
        const int why = errno;
        (void)!::write(failure->to.get(), &why, sizeof why);
        ::_exit(127);
    }
    failure->to = Descriptor();
    life->to = Descriptor();
    int why = 0;
    // Ends once the command runs, for its end of the pipe is closed then.
    if (::read(failure->from.get(), &why, sizeof why) == sizeof why) {
        ::waitpid(watcher, nullptr, 0);
        return failed(why);
    }
    m_watcher = watcher;
    m_orders = std::move(orders->to);
    m_life = std::move(life->from);
    m_notifier = std::make_unique<QSocketNotifier>(m_life.get(), QSocketNotifier::Read);
    QObject::connect(m_notifier.get(), &QSocketNotifier::activated, m_notifier.get(), [this] { watcherEnded(); });
    return {};
}

void ChildCommand::watcherEnded()
{
    m_notifier->setEnabled(false);
    int status = 0;
    ::waitpid(std::exchange(m_watcher, -1), &status, 0);
    m_ended(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

void ChildCommand::heed(Interrupt interrupt)
{
    if (m_watcher < 0)
        return;
    if (++m_interrupts > 1)
        tell(Order::EndAll);
    else if (!interrupt.fromTerminal)
        tell(Order::Terminate);
}

void ChildCommand::terminate(std::chrono::milliseconds grace)
{
    tell(Order::TerminateForGood);
    m_grace.start(grace);
}

void ChildCommand::tell(Order order) const
{
    (void)!::write(m_orders.get(), &order, sizeof order); // one that has ended needs none
}

} // namespace lockscope::ctl
