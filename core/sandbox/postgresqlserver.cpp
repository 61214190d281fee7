// SPDX-License-Identifier: Apache-2.0
// A private PostgreSQL: small, and without any care for what the disk keeps after us.
//
// One process by turns: a shell makes the data folder (initdb), then a role and a table in it (single-user mode, so
// that nobody is let in before), and becomes the server. That refuses to run as root; then all of it runs as a user
// without rights, by util-linux' setpriv, and has a folder of its own below ours.
//
// Whoever reaches it over loopback is "shop": owner of the database of that name, who sees and may end everybody's
// sessions (pg_monitor, pg_signal_backend) but is no superuser, so that nobody gets to our files or programs by
// it; or "onlooker", who may do nothing that is not everybody's.
#include "core/base/fieldreader.h"
#include "core/postgresql/dialect.h"
#include "core/recipes/make.h"
#include "core/sandbox/demo.h"

#include <QDir>
#include <QStandardPaths>

#include <csignal>
#include <thread>

#include <pwd.h>
#include <sys/stat.h>

namespace lockscope::sandbox {

// The PostgreSQL scenes of the demo: clients that queue for a row and for an advisory lock.
class DemoPostgreSql {
public:
    DemoPostgreSql(DemoStage &stage, const ConnectionSpec &server)
        : m_stage(stage), m_server(server), m_scope(stage.loop())
    {
        m_scope.launch(
            queueUp(&m_stage, &m_scope, 3,
                    std::bind_front(&DemoPostgreSql::contend, this, "pg-for-update", "public.stock#id=1", 9s)));
        m_scope.launch(queueUp(&m_stage, &m_scope, 2,
                               std::bind_front(&DemoPostgreSql::contend, this, "pg-advisory", "ADVISORY#42", 14s)));
    }

private:
    Task<void> contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined)
    {
        mariadb::SessionOptions options;
        options.host = m_server.hosts.front();
        options.user = m_server.user;
        const auto session = postgresql::openSession(m_stage.loop(), options);
        co_await untilConnected(&m_stage, session.get());
        joined.complete(true);
        const auto made = recipes::makePostgreSqlLock(recipe, *session, lock, {});
        if (!made)
            co_return;
        co_await takeTurns(&m_stage, made->get(), hold);
    }

    DemoStage &m_stage;
    ConnectionSpec m_server;
    Scope m_scope;
};

namespace {

const QString home = u"home"_s; // of the server's user
const QByteArray pgUser("shop");

const QString tlsFiles[] = {u"ca.pem"_s, u"server.pem"_s, u"server.key"_s};

// Who may run it, when we are root.
const passwd *unprivileged()
{
    for (const auto *name : {"postgres", "nobody"}) {
        const auto *user = ::getpwnam(name);
        if (user && user->pw_uid != 0)
            return user;
    }
    return nullptr;
}

class PostgreSqlKind : public ServerKind {
public:
    // `setPrivileges`: the program, when we are root. `tls`: null without.
    PostgreSqlKind(QByteArray programs, QByteArray setPrivileges, const Certificates *tls, QByteArrayList settings)
        : m_programs(std::move(programs)), m_setPrivileges(std::move(setPrivileges)), m_tls(tls),
          m_settings(std::move(settings))
    {
    }

    QString name() const override { return u"PostgreSQL"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        m_port = port;
        const auto path = QFile::encodeName(folder.file(home));
        if (::mkdir(path.constData(), 0700) != 0 && errno != EEXIST)
            return Error{ErrorCode::Server, u"could not make %1"_s.arg(folder.file(home))};
        TRY_VOID(copyTls(folder));
        if (m_setPrivileges.isEmpty())
            return {};
        // Ours stays ours: the other user may pass through it, and no more.
        const auto *user = unprivileged();
        const bool isHis = user && ::chown(path.constData(), user->pw_uid, user->pw_gid) == 0
                           && ::chmod(QFile::encodeName(folder.path()).constData(), 0711) == 0;
        if (!isHis)
            return Error{ErrorCode::Unsupported, u"no private PostgreSQL: its server does not run as root, and %1 "
                                                 u"could not be given to another user"_s.arg(folder.file(home))};
        return {};
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        QByteArrayList arguments;
        if (!m_setPrivileges.isEmpty()) {
            const auto *user = unprivileged();
            // What makes it die with us is forgotten by the kernel with a change of user, so it is said again.
            arguments << m_setPrivileges << "--reuid=" + QByteArray::number(user->pw_uid)
                      << "--regid=" + QByteArray::number(user->pw_gid) << "--clear-groups"
                      << "--pdeathsig=KILL"
                      << "--no-new-privs"
                      << "--";
        }
        arguments << "/bin/sh"
                  << "-c" << readResource(u"sandbox/postgresql.sh"_s) << "sh" << m_programs
                  << QFile::encodeName(folder.file(home)) << QByteArray::number(m_port);
        auto settings = m_settings;
        if (m_tls) {
            arguments << "hostssl all shop 127.0.0.1/32 trust clientcert=verify-ca";
            settings << "ssl=on"
                     << "ssl_ca_file=../ca.pem"
                     << "ssl_cert_file=../server.pem"
                     << "ssl_key_file=../server.key";
        } else {
            arguments << "host all shop,onlooker 127.0.0.1/32 trust";
        }
        for (const auto &setting : settings)
            arguments << "-c" << setting;
        return arguments;
    }

    // A client's first message, by which it is let in, or told to come later. With TLS that it asks for it: the one
    // who comes too early then is told so afterwards, and comes again.
    QByteArray question() const override
    {
        if (m_tls)
            return QByteArray("\0\0\0\x08\x04\xd2\x16\x2f", 8);
        const QByteArray words =
            QByteArray("\0\3\0\0", 4) + "user" + '\0' + pgUser + '\0' + "database" + '\0' + pgUser + '\0' + '\0';
        return QByteArray("\0\0\0", 3) + static_cast<char>(words.size() + 4) + words;
    }
    bool isReadyAnswer(const QByteArray &answer) const override
    {
        if (m_tls)
            return answer.startsWith('S');
        return answer.startsWith(QByteArray("R\0\0\0\x08\0\0\0\0", 9)); // let in
    }

    // Of its several processes the others end a moment after the first one, and write in their folder so long. So it
    // is told to end at once, and waited for, before that one is killed.
    void end(const TemporaryFolder &folder, ChildProcess &child) const override
    {
        child.resume();
        QFile file(folder.file(home + u"/data/postmaster.pid"_s));
        const pid_t pid = file.open(QIODevice::ReadOnly) ? file.readLine().trimmed().toInt() : 0;
        file.close();
        if (pid <= 1 || pid != child.pid() || ::kill(pid, SIGQUIT) != 0)
            return;
        // The file is the last that it removes.
        for (int i = 0; i < 600 && QFile::exists(file.fileName()); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

private:
    // Its key has to be its own, and nobody else's to read.
    Result<void> copyTls(const TemporaryFolder &folder) const
    {
        if (!m_tls)
            return {};
        const QString from[] = {m_tls->authority(), m_tls->server(), m_tls->serverKey()};
        const auto *user = m_setPrivileges.isEmpty() ? nullptr : unprivileged();
        for (std::size_t i = 0; i < std::size(from); ++i) {
            const auto to = folder.file(home + u'/' + tlsFiles[i]);
            const auto name = QFile::encodeName(to);
            const bool isThere = QFile::exists(to) || QFile::copy(from[i], to);
            if (!isThere || ::chmod(name, 0600) != 0 || (user && ::chown(name, user->pw_uid, user->pw_gid) != 0))
                return Error{ErrorCode::Server, u"could not make %1"_s.arg(to)};
        }
        return {};
    }

    QByteArray m_programs;
    QByteArray m_setPrivileges;
    const Certificates *m_tls;
    const QByteArrayList m_settings;
    quint16 m_port = 0;
};

// Debian has each version in a folder of its own, and none of them in PATH.
QString findPrograms()
{
    const QString program = QStandardPaths::findExecutable(u"postgres"_s);
    if (!program.isEmpty() && QFile::exists(QFileInfo(program).path() + u"/initdb"_s))
        return QFileInfo(program).canonicalPath();
    const QString all = u"/usr/lib/postgresql"_s;
    QString newest;
    int highest = 0;
    for (const auto &version : QDir(all).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        const QString folder = u"%1/%2/bin"_s.arg(all, version);
        if (version.toInt() > highest && QFile::exists(folder + u"/postgres"_s)
            && QFile::exists(folder + u"/initdb"_s)) {
            newest = folder;
            highest = version.toInt();
        }
    }
    return newest;
}

} // namespace

Result<std::unique_ptr<Server>> makePostgreSql(const Certificates *tls, const QByteArrayList &settings)
{
    const QString programs = findPrograms();
    if (programs.isEmpty())
        return Error{
            ErrorCode::Unsupported,
            u"no private PostgreSQL: postgres and initdb are not installed; Debian's package is postgresql"_s};
    QString setPrivileges;
    if (::geteuid() == 0) {
        setPrivileges = QStandardPaths::findExecutable(u"setpriv"_s);
        if (setPrivileges.isEmpty() || !unprivileged())
            return Error{ErrorCode::Unsupported,
                         u"no private PostgreSQL: its server does not run as root, and there is no %1 to run it as "
                         u"another"_s.arg(setPrivileges.isEmpty()
                                              ? u"setpriv (Debian's package util-linux)"_s
                                              : u"user postgres or nobody"_s)}; // prose: ok (users)
    }
    return std::make_unique<Server>(std::make_unique<PostgreSqlKind>(
        QFile::encodeName(programs), QFile::encodeName(setPrivileges), tls, settings));
}

SandboxKit sandboxOfPostgreSql()
{
    const auto make = [](int) { return alone(makePostgreSql()); };
    return {.what = u"a PostgreSQL"_s,
            .most = 1,
            .apart = true,
            .usual = 0,
            .user = QString::fromLatin1(pgUser),
            .make = make,
            .play = playDemo<DemoPostgreSql>,
            .makeWithTls = [](int, const Certificates &certificates) { return alone(makePostgreSql(&certificates)); },
            .isOnlyAskedFor = true};
}

} // namespace lockscope::sandbox
