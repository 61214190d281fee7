// SPDX-License-Identifier: Apache-2.0
// A private sshd on loopback that knows one key of ours, and an `ssh` in front of PATH that uses that key: what the
// user has in ~/.ssh is left alone.
#pragma once

#include "core/sandbox/server.h"
#include "tests/support/patience.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTcpSocket>
#include <QTemporaryDir>

#include <csignal>

#include <pwd.h>
#include <unistd.h>

namespace lockscope::testing {

using namespace Qt::StringLiterals;

class PrivateSshd {
public:
    ~PrivateSshd() { qputenv("PATH", m_path); }

    // What is missing, for a QSKIP; empty when it listens.
    [[nodiscard]] QString start()
    {
        const auto server = QStandardPaths::findExecutable(u"sshd"_s, {u"/usr/sbin"_s, u"/usr/local/sbin"_s});
        m_ssh = QStandardPaths::findExecutable(u"ssh"_s);
        const auto keygen = QStandardPaths::findExecutable(u"ssh-keygen"_s);
        if (server.isEmpty() || m_ssh.isEmpty() || keygen.isEmpty())
            return u"no sshd, ssh or ssh-keygen here; Debian's packages are openssh-server and openssh-client"_s;
        if (::geteuid() == 0 && !QDir().mkpath(u"/run/sshd"_s))
            return u"sshd wants a folder /run/sshd, and it cannot be made"_s;
        for (const auto &key : {u"host"_s, u"user"_s}) {
            if (QProcess::execute(keygen, {u"-q"_s, u"-t"_s, u"ed25519"_s, u"-N"_s, u""_s, u"-f"_s, file(key)}) != 0)
                return u"ssh-keygen makes no key"_s;
        }
        m_port = sandbox::freeLoopbackPort();
        const auto number = QByteArray::number(m_port);
        write(u"authorized"_s, read(u"user.pub"_s));
        write(u"known"_s, "[127.0.0.1]:" + number + ' ' + read(u"host.pub"_s));
        write(u"sshd.conf"_s, "ListenAddress 127.0.0.1\nPort " + number + "\nHostKey " + name(u"host"_s)
                                  + "\nAuthorizedKeysFile " + name(u"authorized"_s)
                                  + "\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\n"
                                    "PidFile none\n");
        write(u"ssh.conf"_s, "IdentityFile " + name(u"user"_s)
                                 + "\nIdentitiesOnly yes\nIdentityAgent none\n"
                                   "GlobalKnownHostsFile /dev/null\nUserKnownHostsFile "
                                 + name(u"known"_s) + '\n');
        // Not of those that only have a word with one that runs.
        write(u"ssh"_s, "#!/bin/sh\ncase \" $* \" in *' -O '*) ;; *) echo $$ > " + name(u"pid"_s) + "; echo $$ >> "
                            + name(u"pids"_s) + ";; esac\nexec " + QFile::encodeName(m_ssh) + " -F "
                            + name(u"ssh.conf"_s) + " \"$@\"\n");
        QFile::setPermissions(file(u"ssh"_s),
                              QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
        const auto begun = m_server.start({{QFile::encodeName(server), "-D", "-e", "-f", name(u"sshd.conf"_s)},
                                           QFile::encodeName(m_folder.path()),
                                           name(u"sshd.log"_s)});
        if (!begun)
            return begun.error().message;
        if (!eventually([this] { return isListening() || !m_server.isRunning(); }) || !m_server.isRunning())
            return u"sshd does not run here: "_s + QString::fromLocal8Bit(read(u"sshd.log"_s)).right(300);
        qputenv("PATH", QFile::encodeName(m_folder.path()) + ':' + m_path);
        return {};
    }

    [[nodiscard]] SshOptions options() const
    {
        return {QString::fromLocal8Bit(::getpwuid(::geteuid())->pw_name), u"127.0.0.1"_s, m_port};
    }
    void forgetHostKey() { write(u"known"_s, {}); }
    // The last ssh that was started.
    [[nodiscard]] qint64 pid() { return read(u"pid"_s).trimmed().toLongLong(); }
    [[nodiscard]] qsizetype started() { return read(u"pids"_s).count('\n'); }
    void killSsh() { ::kill(static_cast<pid_t>(pid()), SIGKILL); }

private:
    [[nodiscard]] QString file(const QString &name) const { return m_folder.filePath(name); }
    [[nodiscard]] QByteArray name(const QString &name) const { return QFile::encodeName(file(name)); }
    void write(const QString &name, const QByteArray &content) const
    {
        QFile out(file(name));
        if (out.open(QIODevice::WriteOnly))
            out.write(content);
    }
    [[nodiscard]] QByteArray read(const QString &name) const
    {
        QFile in(file(name));
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }
    [[nodiscard]] bool isListening() const
    {
        QTcpSocket socket;
        socket.connectToHost(u"127.0.0.1"_s, m_port);
        return socket.waitForConnected(1000);
    }

    QTemporaryDir m_folder;
    QByteArray m_path = qgetenv("PATH");
    QString m_ssh;
    quint16 m_port = 0;
    sandbox::ChildProcess m_server;
};

} // namespace lockscope::testing
