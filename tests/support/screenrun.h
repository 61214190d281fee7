// SPDX-License-Identifier: Apache-2.0
// lockscopectl as the foreground program of a terminal, and what that terminal shows.
#pragma once

#include "tests/support/patience.h"

#include <QByteArray>
#include <QDeadlineTimer>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <csignal>
#include <map>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>
#include <vector>

namespace lockscope::testing {

class ScreenRun {
public:
    explicit ScreenRun(const QStringList &arguments, unsigned short columns = 80, unsigned short rows = 24,
                       const std::map<QByteArray, QByteArray> &environment = {})
        : m_columns(columns), m_rows(rows)
    {
        const winsize size{rows, columns, 0, 0};
        if (::openpty(&m_terminal, &m_itsEnd, nullptr, nullptr, &size) != 0)
            qFatal("no terminal");
        QByteArrayList words{QByteArrayLiteral(LOCKSCOPECTL)};
        for (const auto &argument : arguments)
            words << argument.toUtf8();
        std::map<QByteArray, QByteArray> all{{"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}, {"NO_COLOR", "1"}};
        for (char **variable = environ; *variable; ++variable) {
            const auto name = QByteArray(*variable).split('=').front();
            all.try_emplace(name, qgetenv(name.constData()));
        }
        for (const auto &[name, value] : environment)
            all[name] = value;
        QByteArrayList variables;
        for (const auto &[name, value] : all)
            variables << name + '=' + value;
        auto argv = pointersTo(words);
        auto envp = pointersTo(variables);
        m_pid = ::fork();
        if (m_pid == 0) {
            ::login_tty(m_itsEnd); // as its own, so that it gets the signals of the terminal
            ::execve(argv.front(), argv.data(), envp.data());
            ::_exit(127);
        }
        clear();
    }
    ~ScreenRun()
    {
        if (m_pid > 0) {
            ::kill(m_pid, SIGKILL);
            ::waitpid(m_pid, nullptr, 0);
        }
        ::close(m_itsEnd);
        ::close(m_terminal);
    }
    ScreenRun(const ScreenRun &) = delete;
    ScreenRun &operator=(const ScreenRun &) = delete;

    void type(const QByteArray &keys) const
    {
        if (::write(m_terminal, keys.constData(), std::size_t(keys.size())) != keys.size())
            qFatal("the terminal takes no keys");
    }
    void resize(unsigned short columns, unsigned short rows)
    {
        read(0);
        m_columns = columns;
        m_rows = rows;
        clear();
        const winsize size{rows, columns, 0, 0};
        ::ioctl(m_terminal, TIOCSWINSZ, &size);
    }
    void signal(int number) const { ::kill(m_pid, number); }
    // Until the screen satisfies it.
    template <class Condition>
    bool becomes(Condition condition)
    {
        const QDeadlineTimer limit(patienceMs);
        while (!condition() && !limit.hasExpired())
            read(50);
        return condition();
    }
    bool shows(const QString &text)
    {
        return becomes([&] { return screen().contains(text); });
    }
    bool hides(const QString &text)
    {
        return becomes([&] { return !screen().contains(text); });
    }
    // The rows that are shown, without the spaces at their ends.
    [[nodiscard]] QStringList lines() const
    {
        QStringList all;
        for (auto line : m_cells) {
            while (line.endsWith(u' '))
                line.chop(1);
            all << line;
        }
        return all;
    }
    [[nodiscard]] QString screen() const { return lines().join(u'\n'); }
    [[nodiscard]] bool isAlternate() const { return m_isAlternate; }
    // Everything that was written so far.
    [[nodiscard]] const QByteArray &written() const { return m_written; }
    [[nodiscard]] termios settings() const
    {
        termios settings = {};
        ::tcgetattr(m_itsEnd, &settings);
        return settings;
    }
    // Characters that were typed and not read yet.
    [[nodiscard]] int unread() const
    {
        int count = 0;
        ::ioctl(m_itsEnd, FIONREAD, &count);
        return count;
    }
    // Types the keys, and reads nothing, until the terminal takes no more of what they cause.
    bool stalls(const QByteArray &keys) const
    {
        const QDeadlineTimer limit(patienceMs);
        pollfd room{m_itsEnd, POLLOUT, 0};
        while (::poll(&room, 1, 0) > 0 && !limit.hasExpired()) {
            if (unread() == 0)
                type(keys);
            ::usleep(10'000);
        }
        return !limit.hasExpired();
    }
    // The same as finish(), but nothing is read.
    bool ends()
    {
        const QDeadlineTimer limit(patienceMs);
        while (::waitpid(m_pid, nullptr, WNOHANG) == 0) {
            if (limit.hasExpired())
                return false;
            ::usleep(10'000);
        }
        m_pid = -1;
        return true;
    }
    // Its exit status; -1 when it does not end.
    int finish()
    {
        const QDeadlineTimer limit(patienceMs);
        int status = 0;
        while (::waitpid(m_pid, &status, WNOHANG) == 0) {
            if (limit.hasExpired())
                return -1;
            read(20);
        }
        m_pid = -1;
        read(50);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    }

private:
    static std::vector<char *> pointersTo(QByteArrayList &texts)
    {
        std::vector<char *> all;
        for (auto &text : texts)
            all.push_back(text.data());
        all.push_back(nullptr);
        return all;
    }
    void clear() { m_cells = QStringList(m_rows, QString(m_columns, u' ')); }
    void read(int waitMs)
    {
        pollfd ready{m_terminal, POLLIN, 0};
        char bytes[4096];
        while (::poll(&ready, 1, std::exchange(waitMs, 0)) > 0 && (ready.revents & POLLIN) != 0) {
            const QByteArray news(bytes, std::max<ssize_t>(0, ::read(m_terminal, bytes, sizeof bytes)));
            m_written += news;
            m_unshown += news;
        }
        // A sequence or a character that is not complete yet waits for its end.
        auto end = m_unshown.size();
        for (auto i = std::max<qsizetype>(0, end - 16); i < end; ++i) {
            const auto c = static_cast<unsigned char>(m_unshown[i]);
            static const QRegularExpression whole(u"^\x1b\\[\\??[0-9;]*[A-Za-z]"_s);
            const qsizetype length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
            if (i + length > end || (c == 0x1b && !whole.match(QString::fromLatin1(m_unshown.mid(i))).hasMatch()))
                end = i;
        }
        show(QString::fromUtf8(m_unshown.first(end)));
        m_unshown.remove(0, end);
    }
    void show(const QString &text)
    {
        static const QRegularExpression sequence(u"\x1b\\[([?]?)([0-9;]*)([A-Za-z])"_s);
        for (qsizetype i = 0; i < text.size(); ++i) {
            const auto found = text[i] == u'\x1b' ? sequence.match(text, i, QRegularExpression::NormalMatch,
                                                                   QRegularExpression::AnchorAtOffsetMatchOption)
                                                  : QRegularExpressionMatch();
            if (found.hasMatch()) {
                i += found.capturedLength() - 1;
                apply(found.captured(3), found.captured(2));
            } else if (text[i] == u'\n') {
                ++m_row;
            } else if (text[i] == u'\r') {
                m_column = 0;
            } else if (m_row < m_rows && m_column < m_columns) {
                m_cells[m_row][m_column++] = text[i];
            }
        }
    }
    void apply(const QString &command, const QString &numbers)
    {
        if (numbers == "1049"_L1) {
            m_isAlternate = command == "h"_L1;
            clear();
            m_row = m_column = 0;
        } else if (command == "J"_L1) {
            clear();
        } else if (command == "K"_L1 && m_row < m_rows) {
            m_cells[m_row] = m_cells[m_row].first(m_column) + QString(m_columns - m_column, u' ');
        } else if (command == "H"_L1) {
            m_row = numbers.section(u';', 0, 0).toInt() - 1;
            m_column = numbers.section(u';', 1, 1).toInt() - 1;
        }
    }

    int m_terminal = -1, m_itsEnd = -1;
    pid_t m_pid = -1;
    int m_columns, m_rows, m_row = 0, m_column = 0;
    bool m_isAlternate = false;
    QByteArray m_written, m_unshown;
    QStringList m_cells;
};

} // namespace lockscope::testing
