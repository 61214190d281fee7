// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/interrupts.h"

#include "core/base/text.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace lockscope::ctl {

namespace {

// Whatever else asks a program to end is no reason to leave a lock to its time limit.
constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGWINCH};
constexpr time_t endsAtOnceAfter = 2;
constexpr int stalledAfterMs = 500, restOfKeyAfterMs = 100;
int pipeEnds[2] = {-1, -1};
volatile std::sig_atomic_t isUnread = 0;
volatile time_t unreadSince = 0;

bool isOfTerminal(int number)
{
    return number == SIGWINCH || number == SIGTSTP || number == SIGCONT;
}

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
    if (!isOfTerminal(number) && isLoopBlocked()) {
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

termios beforeScreen = {};
int flagsBeforeScreen = 0;
volatile std::sig_atomic_t isScreen = 0, isKeyboard = 0;

struct Crash {
    int number = 0;
    struct sigaction before = {};
};
Crash crashes[] = {{SIGSEGV}, {SIGABRT}, {SIGBUS}, {SIGFPE}, {SIGILL}};

// The alternate screen, no cursor, and nothing goes on in the next row by itself.
constexpr QByteArrayView enter("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J");
constexpr QByteArrayView leave("\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l");

bool isReady(int file, short events, int withinMs)
{
    const int before = errno;
    pollfd ready{file, events, 0};
    const bool isNews = ::poll(&ready, 1, withinMs) != 0; // an interrupt, too
    errno = before;
    return isNews;
}

// What a terminal that stalls takes at once. Other programs may share its flags: they are changed for that only.
ssize_t writeSome(QByteArrayView bytes)
{
    ::fcntl(STDOUT_FILENO, F_SETFL, flagsBeforeScreen | O_NONBLOCK);
    const auto written = ::write(STDOUT_FILENO, bytes.data(), static_cast<std::size_t>(bytes.size()));
    const int error = errno;
    ::fcntl(STDOUT_FILENO, F_SETFL, flagsBeforeScreen);
    errno = error;
    return written;
}

// Whether all of it was written; errno is EAGAIN where the terminal stalls.
bool writeAll(QByteArrayView bytes)
{
    while (!bytes.isEmpty()) {
        const auto written = writeSome(bytes);
        if (written > 0)
            bytes = bytes.sliced(written);
        else if (errno != EINTR && (errno != EAGAIN || !isReady(STDOUT_FILENO, POLLOUT, stalledAfterMs)))
            return false;
    }
    return true;
}

void handleCrash(int number, siginfo_t *info, void *)
{
    restoreTerminal();
    if (info->si_code <= 0) // of a process: it does not happen again by itself
        ::raise(number);
}

// Also where it is entered already.
void enterScreen()
{
    if (!isScreen && ::tcgetattr(STDIN_FILENO, &beforeScreen) == 0)
        isKeyboard = 1;
    if (isKeyboard) {
        auto raw = beforeScreen;
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN);
        raw.c_iflag &= ~tcflag_t(IXON); // a frame that Ctrl+S holds back would stall
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    if (!isScreen) {
        flagsBeforeScreen = ::fcntl(STDOUT_FILENO, F_GETFL);
        struct sigaction action = {};
        action.sa_sigaction = handleCrash;
        action.sa_flags = SA_SIGINFO | int(SA_RESETHAND);
        for (auto &crash : crashes)
            ::sigaction(crash.number, &action, &crash.before);
    }
    isScreen = 1;
    writeAll(enter);
}

// By the end of their sequences, behind ESC and [ or O.
const std::map<QString, QString> &namedKeys()
{
    static const std::map<QString, QString> all{
        {u"A"_s, u"up"_s},    {u"B"_s, u"down"_s}, {u"H"_s, u"home"_s},     {u"F"_s, u"end"_s},
        {u"1~"_s, u"home"_s}, {u"4~"_s, u"end"_s}, {u"5~"_s, u"page up"_s}, {u"6~"_s, u"page down"_s}};
    return all;
}

// The characters of a key's sequence at the begin of `typed`, which begins with ESC; 0 where more are to come.
qsizetype sequenceLength(const QString &typed)
{
    if (typed.size() < 2) // the rest of a key may arrive apart from its ESC
        return isReady(STDIN_FILENO, POLLIN, restOfKeyAfterMs) ? 0 : 1;
    if (typed[1] != u'[' && typed[1] != u'O')
        return 1;
    for (qsizetype i = 2; i < typed.size(); ++i) {
        if (typed[i] >= u'@' && typed[i] <= u'~')
            return i + 1;
    }
    return 0;
}

} // namespace

Interrupts::Interrupts() : m_notifier(openPipe(), QSocketNotifier::Read)
{
    connect(&m_notifier, &QSocketNotifier::activated, this, &Interrupts::read);
    for (const int number : caught)
        take(number, true);
    // A reader that went away shows as a failed write; a lock held meanwhile is then given back.
    std::signal(SIGPIPE, SIG_IGN);
}

Interrupts::~Interrupts()
{
    for (const int number : caught)
        take(number, false);
    ::close(pipeEnds[0]);
    ::close(pipeEnds[1]);
}

void Interrupts::take(int number, bool isTaken)
{
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (isTaken)
        ::sigaction(number, &action, nullptr);
    else
        std::signal(number, SIG_DFL);
}

void Interrupts::read()
{
    isUnread = 0;
    Interrupt interrupt;
    while (::read(pipeEnds[0], &interrupt, sizeof interrupt) == sizeof interrupt) {
        // A copy: the handler may set another.
        if (const auto handler = m_handler; handler && !isOfTerminal(interrupt.number))
            handler(interrupt);
        else if (isOfTerminal(interrupt.number) && m_terminal)
            m_terminal(interrupt.number);
    }
}

void restoreTerminal()
{
    if (!isScreen)
        return;
    // What a stalled terminal has not taken yet makes room for it.
    if (writeSome(leave) != leave.size() && ::tcflush(STDOUT_FILENO, TCOFLUSH) == 0)
        writeSome(leave);
    if (isKeyboard) {
        ::tcsetattr(STDIN_FILENO, TCSANOW, &beforeScreen);
        ::tcflush(STDIN_FILENO, TCIFLUSH);
    }
    for (const auto &crash : crashes)
        ::sigaction(crash.number, &crash.before, nullptr);
    isScreen = 0;
    isKeyboard = 0;
}

TerminalScreen::TerminalScreen(Interrupts &interrupts, std::function<void()> changed)
    : m_interrupts(interrupts), m_notifier(STDIN_FILENO, QSocketNotifier::Read), m_changed(std::move(changed))
{
    enterScreen();
    m_notifier.setEnabled(isKeyboard); // without a keyboard it can be read, and interrupted
    QObject::connect(&m_notifier, &QSocketNotifier::activated, &m_notifier, [this] { read(); });
    m_interrupts.onTerminal([this](int number) { handleSignal(number); });
    for (const int number : {SIGTSTP, SIGCONT})
        Interrupts::take(number, true);
}

TerminalScreen::~TerminalScreen()
{
    m_interrupts.onTerminal({});
    for (const int number : {SIGTSTP, SIGCONT})
        Interrupts::take(number, false);
    restoreTerminal();
}

void TerminalScreen::handleSignal(int number)
{
    if (number == SIGTSTP) {
        restoreTerminal();
        Interrupts::take(SIGTSTP, false);
        ::raise(SIGTSTP); // returns when the program continues
        Interrupts::take(SIGTSTP, true);
    }
    if (number != SIGWINCH) {
        enterScreen();
        m_size = {};
    }
    m_changed();
}

QSize TerminalScreen::size()
{
    winsize size = {};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return {80, 24};
    return {size.ws_col, size.ws_row};
}

void TerminalScreen::show(const QStringList &rows)
{
    QByteArray frame;
    if (const auto now = size(); m_size != now) {
        m_size = now;
        m_rows.clear();
        frame = "\x1b[2J";
    }
    for (qsizetype row = 0; row < std::max(rows.size(), m_rows.size()); ++row) {
        const auto text = rows.value(row);
        if (row >= m_rows.size() || text != m_rows[row])
            frame += "\x1b[" + QByteArray::number(row + 1) + ";1H\x1b[K" + text.toUtf8();
    }
    m_rows = rows;
    if (writeAll(frame))
        return;
    m_size = {}; // part of a frame is on the screen
    if (errno != EAGAIN)
        m_ended();
}

void TerminalScreen::read()
{
    char bytes[256];
    const auto count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count <= 0) {
        m_notifier.setEnabled(false);
        return m_ended();
    }
    m_typed += m_decoder.decode(QByteArrayView(bytes, count));
    while (!m_typed.isEmpty()) {
        const auto length = m_typed.front() == u'\x1b' ? sequenceLength(m_typed) : 1;
        if (length == 0)
            return;
        const auto key = m_typed.first(length);
        m_typed.remove(0, length);
        const auto name = namedKeys().find(key.mid(2));
        if (key == "\f"_L1)
            m_size = {};
        if (key == "\x1b"_L1)
            m_listener(u"escape"_s);
        else if (key == "\r"_L1 || key == "\n"_L1)
            m_listener(u"enter"_s);
        else if (key == "\x7f"_L1 || key == "\b"_L1)
            m_listener(u"backspace"_s);
        else if (length > 1 && name != namedKeys().end())
            m_listener(name->second);
        else if (length == 1)
            m_listener(key);
    }
}

} // namespace lockscope::ctl

#include "moc_interrupts.cpp"
