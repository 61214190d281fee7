// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/server.h"

#include "core/base/logging.h"
#include "core/base/random.h"

#include <QFile>
#include <QStandardPaths>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

namespace lockscope::sandbox {

namespace {

sockaddr_in loopbackAddress(quint16 port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

const sockaddr *generic(const sockaddr_in &address)
{
    return reinterpret_cast<const sockaddr *>(&address);
}

bool isFree(quint16 port)
{
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const auto address = loopbackAddress(port);
    const bool bound = ::bind(fd, generic(address), sizeof address) == 0;
    ::close(fd);
    return bound;
}

} // namespace

quint16 freeLoopbackPort()
{
    constexpr quint16 first = 10'240, last = 32'000;
    auto random = Random::fromSystem();
    for (int tries = 0; tries < 1000; ++tries) {
        const auto port = static_cast<quint16>(first + random.below(last - first));
        if (isFree(port))
            return port;
    }
    return 0;
}

quint16 freeLoopbackPort(std::set<quint16> &taken)
{
    auto port = freeLoopbackPort();
    while (port != 0 && !taken.insert(port).second)
        port = freeLoopbackPort();
    return port;
}

// Sends a few bytes and collects the answer, one non-blocking step at a time.
class LoopbackQuestion {
public:
    LoopbackQuestion(quint16 port, QByteArray words) : m_unsent(std::move(words))
    {
        m_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const auto address = loopbackAddress(port);
        if (m_socket >= 0 && ::connect(m_socket, generic(address), sizeof address) < 0 && errno != EINPROGRESS)
            close();
    }
    // The same at a socket in the file system.
    LoopbackQuestion(const QByteArray &path, QByteArray words) : m_unsent(std::move(words))
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= qsizetype(sizeof address.sun_path))
            return;
        std::ranges::copy(path, address.sun_path);
        m_socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const auto *named = reinterpret_cast<const sockaddr *>(&address);
        if (m_socket >= 0 && ::connect(m_socket, named, sizeof address) < 0)
            close();
    }
    ~LoopbackQuestion() { close(); }
    Q_DISABLE_COPY(LoopbackQuestion)

    // What has come so far. Empty when nobody listens, or the other side closed without a word: then
    // ask again with a new question.
    [[nodiscard]] const QByteArray &answer() const { return m_answer; }
    [[nodiscard]] bool isOver() const { return m_socket < 0; }
    void step()
    {
        if (isOver())
            return;
        if (!m_unsent.isEmpty()) {
            const auto sent =
                ::send(m_socket, m_unsent.constData(), static_cast<size_t>(m_unsent.size()), MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN)
                return close();
            if (sent > 0)
                m_unsent.remove(0, sent);
        }
        char part[4096];
        for (;;) {
            const auto got = ::recv(m_socket, part, sizeof part, 0);
            if (got > 0)
                m_answer.append(part, got);
            else if (got == 0 || errno != EAGAIN)
                return close();
            else
                return;
        }
    }

private:
    void close()
    {
        if (m_socket >= 0)
            ::close(m_socket);
        m_socket = -1;
    }

    int m_socket = -1;
    QByteArray m_unsent;
    QByteArray m_answer;
};

namespace {

// Between fork and exec only async-signal-safe calls are allowed: other threads may have held the
// allocator's lock. Everything is prepared before; a failure travels back as its errno.
struct Prepared {
    std::vector<char *> arguments;
    const char *folder = nullptr;
    const char *output = nullptr;
    pid_t parent = 0;
    int failure = -1; // the pipe's writing end, closed by a successful exec
};

[[noreturn]] void giveUp(int pipe)
{
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(pipe, &error, sizeof error);
    ::_exit(127);
}

void redirect(const char *file, int flags, int to, int failure)
{
    const int fd = ::open(file, flags | O_CLOEXEC, 0600);
    if (fd < 0 || ::dup2(fd, to) < 0)
        giveUp(failure);
}

[[noreturn]] void becomeChild(const Prepared &prepared)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Had the parent died before the line above, no signal would ever come.
    if (::getppid() != prepared.parent)
        ::_exit(127);
    ::setpgid(0, 0);

    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGQUIT})
        ::signal(number, SIG_DFL);

    redirect("/dev/null", O_RDONLY, STDIN_FILENO, prepared.failure);
    redirect(prepared.output, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO, prepared.failure);
    if (::dup2(STDOUT_FILENO, STDERR_FILENO) < 0 || ::chdir(prepared.folder) < 0)
        giveUp(prepared.failure);
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    ::execv(prepared.arguments.front(), prepared.arguments.data());
    giveUp(prepared.failure);
}

pid_t waitFor(pid_t pid, int options)
{
    pid_t got = 0;
    do
        got = ::waitpid(pid, nullptr, options);
    while (got < 0 && errno == EINTR);
    return got;
}

Error couldNotStart(const QByteArray &program, int error)
{
    return {ErrorCode::Server,
            u"starting %1 failed: %2"_s.arg(QString::fromLocal8Bit(program),
                                            QString::fromLocal8Bit(std::strerror(error))),
            false};
}

} // namespace

Result<void> ChildProcess::start(const Command &command)
{
    kill();
    const QByteArray program = command.arguments.front();
    int errorPipe[2];
    if (::pipe2(errorPipe, O_CLOEXEC) < 0)
        return couldNotStart(program, errno);

    QByteArrayList arguments = command.arguments;
    Prepared prepared{{}, command.folder.constData(), command.output.constData(), ::getpid(), errorPipe[1]};
    for (auto &argument : arguments)
        prepared.arguments.push_back(argument.data());
    prepared.arguments.push_back(nullptr);

    const pid_t pid = ::fork();
    if (pid == 0)
        becomeChild(prepared);
    const int forkError = errno;
    ::close(errorPipe[1]);
    if (pid < 0) {
        ::close(errorPipe[0]);
        return couldNotStart(program, forkError);
    }

    int error = 0;
    ssize_t got = 0;
    do
        got = ::read(errorPipe[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    ::close(errorPipe[0]);
    if (got != 0) {
        waitFor(pid, 0);
        return couldNotStart(program, error);
    }
    m_pid = pid;
    return {};
}

bool ChildProcess::isRunning()
{
    if (m_pid != 0 && waitFor(m_pid, WNOHANG) != 0)
        m_pid = 0;
    return m_pid != 0;
}

void ChildProcess::kill()
{
    if (m_pid == 0)
        return;
    ::kill(m_pid, SIGKILL);
    waitFor(m_pid, 0);
    m_pid = 0;
}

void ChildProcess::suspend()
{
    if (!isRunning() || ::kill(m_pid, SIGSTOP) != 0)
        return;
    // The signal is only on its way: a thread of the child that is working answers one more request.
    siginfo_t stopped{};
    while (::waitid(P_PID, static_cast<id_t>(m_pid), &stopped, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
}

void ChildProcess::resume()
{
    if (isRunning())
        ::kill(m_pid, SIGCONT);
}

namespace {

const QString outputFile = u"output.log"_s;

// What both servers, and the libraries below them, say when somebody else has the port.
bool saysAddressInUse(const QString &log)
{
    return log.contains(u"address already in use"_s, Qt::CaseInsensitive) || log.contains(u"BindException"_s);
}

} // namespace

QByteArray tlsQuestion()
{
    // Version 1.2, 32 bytes of nonce, no session, ECDHE-ECDSA-AES128-GCM-SHA256, no compression; P-256, uncompressed
    // points, ECDSA with SHA-256.
    const auto hello = QByteArray::fromHex("0303") + QByteArray(32, 'L')
                       + QByteArray::fromHex("00"
                                             "0002c02b"
                                             "0100"
                                             "0018"
                                             "000a000400020017"
                                             "000b00020100"
                                             "000d000400020403");
    const auto message = QByteArray::fromHex("0100") + QByteArray(1, '\0') + char(hello.size()) + hello;
    return QByteArray::fromHex("160301") + QByteArray(1, '\0') + char(message.size()) + message;
}

bool isTlsAnswer(const QByteArray &answer)
{
    constexpr char handshake = 0x16, alert = 0x15;
    return answer.size() > 2 && (answer[0] == handshake || answer[0] == alert) && answer[1] == 3;
}

Error notInstalled(const QString &program, const QString &server, const QString &package)
{
    return {ErrorCode::Unsupported,
            u"no private %1: %2 is not installed; Debian's package is %3"_s.arg(server, program, package), false};
}

Result<QByteArray> findProgram(const QString &program, const QString &server, const QString &package)
{
    auto found = QStandardPaths::findExecutable(program);
    if (found.isEmpty())
        found = QStandardPaths::findExecutable(program, {u"/usr/sbin"_s, u"/usr/local/sbin"_s});
    if (found.isEmpty())
        return notInstalled(program, server, package);
    return QFile::encodeName(found);
}

Result<void> beginAll(const std::vector<std::unique_ptr<Server>> &servers)
{
    for (const auto &server : servers) {
        TRY_VOID(server->begin());
    }
    return {};
}

Result<void> Server::begin()
{
    if (m_child.isRunning())
        return {};
    if (!m_folder) {
        TRY(auto &folder, TemporaryFolder::make());
        m_folder = std::move(folder);
    }
    if (!m_hasAnswered) {
        TRY_VOID(prepareElsewhere());
    }
    return launch();
}

Result<void> Server::prepareElsewhere()
{
    m_port = m_kind->fixedPort() != 0 ? m_kind->fixedPort() : freeLoopbackPort();
    if (m_port == 0)
        return gaveUp(u"no free port was found on 127.0.0.1"_s);
    return m_kind->prepare(*m_folder, m_port);
}

Result<void> Server::launch()
{
    m_isReady = false;
    m_question.reset();
    QFile::remove(m_folder->file(outputFile));
    return m_child.start({m_kind->arguments(*m_folder), QFile::encodeName(m_folder->path()),
                          QFile::encodeName(m_folder->file(outputFile))});
}

Result<bool> Server::poll()
{
    if (!m_child.isRunning()) {
        constexpr int mostPortTries = 5;
        if (m_hasAnswered || !saysAddressInUse(log()) || ++m_portTries > mostPortTries)
            return gaveUp(u"it ended"_s);
        qCInfo(logSandbox).noquote() << m_kind->name() << "found its port taken, trying another";
        TRY_VOID(prepareElsewhere());
        TRY_VOID(launch());
    }
    if (m_isReady)
        return true;
    // ZooKeeper never answers what it was asked in its first moments, so ask again now and then.
    const auto now = std::chrono::steady_clock::now();
    if (!m_question || m_question->isOver() || now - m_askedAt > std::chrono::milliseconds(200)) {
        m_question = ask();
        m_askedAt = now;
    }
    m_question->step();
    if (!m_kind->isReadyAnswer(m_question->answer()))
        return false;
    m_question.reset();
    m_isReady = m_hasAnswered = true;
    return true;
}

std::unique_ptr<LoopbackQuestion> Server::ask() const
{
    const auto socket = m_kind->questionSocket();
    if (socket.isEmpty())
        return std::make_unique<LoopbackQuestion>(m_port, m_kind->question());
    return std::make_unique<LoopbackQuestion>(QFile::encodeName(m_folder->file(socket)), m_kind->question());
}

Result<void> Server::start(std::chrono::milliseconds atMost)
{
    TRY_VOID(begin());
    const auto until = std::chrono::steady_clock::now() + atMost;
    for (;;) {
        TRY(auto &ready, poll());
        if (ready)
            return {};
        if (std::chrono::steady_clock::now() >= until) {
            stop();
            return gaveUp(u"it did not answer within %1 s"_s.arg(std::chrono::duration<double>(atMost).count()));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

Error Server::gaveUp(const QString &how) const
{
    const QString said = log().trimmed().section(u'\n', -3).simplified().left(400);
    return {ErrorCode::Server,
            u"starting a private %1 on 127.0.0.1:%2 failed: %3%4"_s.arg(
                m_kind->name(), QString::number(m_port), how, said.isEmpty() ? QString() : u"; it said: "_s + said),
            true};
}

void Server::stop()
{
    if (m_folder)
        m_kind->end(*m_folder, m_child);
    m_child.kill();
}

QString Server::log() const
{
    if (!m_folder)
        return {};
    QFile file(m_folder->file(outputFile));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace lockscope::sandbox
