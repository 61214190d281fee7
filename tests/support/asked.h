// SPDX-License-Identifier: Apache-2.0
// lockscopectl on a terminal, where it asks: what it says there, and what somebody types.
#pragma once

#include "tests/support/patience.h"

#include <QByteArray>
#include <QProcess>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <map>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

namespace lockscope::testing {

class AskedCommand {
public:
    // With `columns`, stdout is that terminal, too, and stderr is none.
    explicit AskedCommand(const QStringList &arguments, unsigned short columns = 0,
                          const std::map<QString, QString> &environment = {})
    {
        const winsize size{40, columns, 0, 0};
        if (::openpty(&m_terminal, &m_itsEnd, nullptr, nullptr, columns > 0 ? &size : nullptr) != 0)
            qFatal("no terminal");
        m_process.setChildProcessModifier([itsEnd = m_itsEnd, columns] {
            ::dup2(itsEnd, STDIN_FILENO);
            ::dup2(itsEnd, columns > 0 ? STDOUT_FILENO : STDERR_FILENO);
        });
        auto variables = QProcessEnvironment::systemEnvironment();
        for (const auto &[name, value] : environment)
            variables.insert(name, value);
        m_process.setProcessEnvironment(variables);
        m_process.start(QStringLiteral(LOCKSCOPECTL), arguments);
    }
    ~AskedCommand()
    {
        m_process.kill();
        m_process.waitForFinished();
        ::close(m_itsEnd);
        ::close(m_terminal);
    }
    AskedCommand(const AskedCommand &) = delete;
    AskedCommand &operator=(const AskedCommand &) = delete;

    // Until it has said so; false when it does not.
    bool says(const QByteArray &words)
    {
        return QTest::qWaitFor([&] { return said().contains(words); }, patienceMs);
    }
    // All so far, what is typed included.
    const QByteArray &said()
    {
        pollfd ready{m_terminal, POLLIN, 0};
        char bytes[4096];
        while (::poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) != 0)
            m_said.append(bytes, std::max<ssize_t>(0, ::read(m_terminal, bytes, sizeof bytes)));
        return m_said;
    }
    // Everything, once it has ended.
    QByteArray whole()
    {
        (void)QTest::qWaitFor([&] { return said(), m_process.state() == QProcess::NotRunning; }, patienceMs);
        return said();
    }
    // With what was typed; its exit status, -1 when it did not end.
    int answer(const QByteArray &line)
    {
        if (::write(m_terminal, (line + '\n').constData(), static_cast<std::size_t>(line.size() + 1)) < 0)
            return -1;
        return status();
    }
    // As by Ctrl-C.
    int interrupt()
    {
        ::kill(static_cast<pid_t>(m_process.processId()), SIGINT);
        return status();
    }

private:
    int status()
    {
        const bool isOver = QTest::qWaitFor([&] { return m_process.state() == QProcess::NotRunning; }, patienceMs);
        return isOver ? m_process.exitCode() : -1;
    }

    int m_terminal = -1;
    int m_itsEnd = -1;
    QByteArray m_said;
    QProcess m_process;
};

} // namespace lockscope::testing
