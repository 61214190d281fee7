// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/childcommand.h"

#include "core/base/text.h"

#include <QProcessEnvironment>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

QProcessEnvironment environmentWithoutSecrets()
{
    auto environment = QProcessEnvironment::systemEnvironment();
    const auto names = environment.keys();
    for (const auto &name : names) {
        if (name.startsWith("LOCKSCOPE_PASSWORD_"_L1))
            environment.remove(name);
    }
    return environment;
}

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
    QByteArrayList all;
    for (const auto &text : texts)
        all << text.toLocal8Bit();
    return all;
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
    auto environment = environmentWithoutSecrets();
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
