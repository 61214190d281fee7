// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/interrupts.h"

#include "core/base/text.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <sys/ioctl.h>
#include <termios.h>
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

termios beforeScreen = {};
volatile std::sig_atomic_t isScreen = 0, isKeyboard = 0;

// The alternate screen, no cursor, and nothing goes on in the next row by itself.
constexpr QByteArrayView enter("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J");
constexpr QByteArrayView leave("\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l");

void writeAll(QByteArrayView bytes)
{
    while (!bytes.isEmpty()) {
        const auto written = ::write(STDOUT_FILENO, bytes.data(), static_cast<std::size_t>(bytes.size()));
        if (written <= 0 && errno != EINTR)
            return; // the terminal is gone: its keys report that
        bytes = bytes.sliced(std::max<qsizetype>(0, written));
    }
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
    if (typed.size() < 2 || (typed[1] != u'[' && typed[1] != u'O'))
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

void restoreTerminal()
{
    if (isScreen)
        writeAll(leave);
    if (isKeyboard)
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &beforeScreen);
    isScreen = 0;
    isKeyboard = 0;
}

TerminalScreen::TerminalScreen(Interrupts &interrupts, std::function<void()> resized)
    : m_interrupts(interrupts), m_notifier(STDIN_FILENO, QSocketNotifier::Read)
{
    // Without a keyboard it can be read, and interrupted.
    const bool hasKeys = ::tcgetattr(STDIN_FILENO, &beforeScreen) == 0;
    m_notifier.setEnabled(hasKeys);
    if (hasKeys) {
        auto raw = beforeScreen;
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN);
        raw.c_iflag &= ~tcflag_t(IXON); // a frame that Ctrl+S holds back would block the program
        raw.c_cc[VSUSP] = _POSIX_VDISABLE;
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
        isKeyboard = 1;
    }
    QObject::connect(&m_notifier, &QSocketNotifier::activated, &m_notifier, [this] { read(); });
    m_interrupts.onResize(std::move(resized));
    isScreen = 1;
    writeAll(enter);
}

TerminalScreen::~TerminalScreen()
{
    m_interrupts.onResize({});
    restoreTerminal();
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
    writeAll(frame);
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
