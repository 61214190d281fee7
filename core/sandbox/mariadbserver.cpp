// SPDX-License-Identifier: Apache-2.0
// A private MariaDB: one process that makes its own system tables and then serves, small and without
// any care for what the disk keeps after us.
//
// The tables of a new data folder are made by the server itself, from Debian's SQL files, as its init-file: it starts
// without grant tables, makes them, and reads them as the last statement, all of it before the first client is let
// in. That takes one second instead of the five of mariadb-install-db, and one process that dies with us.
#include "core/base/fieldreader.h"
#include "core/mariadb/dialect.h"
#include "core/transport/transport.h"
#include "core/recipes/make.h"
#include "core/sandbox/demo.h"

#include <QDir>

namespace lockscope::sandbox {

namespace {

const QByteArray stockRow = "shop.stock#id=1";

} // namespace

// The MariaDB scenes of the demo: clients that queue for a row, for a named lock, and two that write by a
// version column and get into each other's way.
class DemoMariaDb {
public:
    DemoMariaDb(DemoStage &stage, const ConnectionSpec &server)
        : m_stage(stage), m_server(server), m_transport(server.transport, server.hosts), m_scope(stage.loop())
    {
        m_scope.launch(queueUp(&m_stage, &m_scope, 3,
                               std::bind_front(&DemoMariaDb::contend, this, "sql-for-update", stockRow, 9s)));
        m_scope.launch(
            queueUp(&m_stage, &m_scope, 2,
                    std::bind_front(&DemoMariaDb::contend, this, "sql-get-lock", "GET_LOCK#nightly-report", 14s)));
        m_scope.launch(playConflict("shop.stock#id=2"));
    }

private:
    Task<void> contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined)
    {
        const auto session = openSession();
        co_await untilConnected(&m_stage, session.get());
        joined.complete(true);
        const auto made = recipes::makeLock(recipe, *session, lock, {}, Random::fromSystem());
        if (!made)
            co_return;
        auto turns = takeTurns(&m_stage, made->get(), hold, [&] {
            // Not prepared: of those MariaDB keeps no text, and an operator wants to see one.
            if (lock == stockRow)
                (void)session->execute(
                    {"UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 1", {}, session->connectionId()},
                    Deadline::after(m_stage.loop(), 5s));
        });
        co_await turns;
    }
    // Two read the same version, and both write: one of them in vain. Counted in shop.version_conflicts.
    Task<void> playConflict(QByteArray lock)
    {
        m_stage.sceneBegins();
        const auto session = openSession();
        co_await untilConnected(&m_stage, session.get());
        const auto soon = Deadline::after(m_stage.loop(), 10s);
        const mariadb::Statement create{
            "CREATE TABLE IF NOT EXISTS shop.version_conflicts (happened TIMESTAMP(3) NOT NULL "
            "DEFAULT CURRENT_TIMESTAMP(3), version BIGINT NOT NULL)",
            {},
            {},
            true};
        (void)co_await session->execute(create, soon);
        const auto one = recipes::makeLock("sql-version", *session, lock, {}, Random::fromSystem());
        const auto other = recipes::makeLock("sql-version", *session, lock, {}, Random::fromSystem());
        const auto never = Deadline::never();
        bool isUp = false;
        while (one && other) {
            const auto stale = co_await (*one)->acquire(never);
            const bool written = co_await work(other->get(), 500ms);
            const auto limit = Deadline::after(m_stage.loop(), 5s);
            const auto late = co_await (*one)->release(limit);
            if (stale && written && !late && late.error().code == ErrorCode::BadVersion) {
                const mariadb::Statement note{
                    "INSERT INTO shop.version_conflicts (version) VALUES (?)", {stale->id}, {}, true};
                (void)co_await session->execute(note, limit);
                if (!std::exchange(isUp, true))
                    m_stage.sceneIsUp();
                co_await work(one->get(), 100ms); // once more, from what is there now
            }
            co_await m_stage.rest(2s);
        }
    }
    // whether it could be written
    Task<bool> work(recipes::Lock *lock, std::chrono::milliseconds span)
    {
        const auto limit = Deadline::after(m_stage.loop(), 5s);
        const auto grant = co_await lock->acquire(limit);
        co_await m_stage.sleep(span);
        const auto written = co_await lock->release(limit);
        co_return grant &&written;
    }

    [[nodiscard]] std::unique_ptr<mariadb::Session> openSession()
    {
        mariadb::SessionOptions options;
        options.host = m_transport.throughTls(m_server.hosts.front(), transport::mySqlSpeech.verified);
        options.user = m_server.user;
        // An application asks nothing while it works: what it did last is then its work.
        options.askIdleEvery = 60s;
        return mariadb::openSession(m_stage.loop(), options);
    }

    DemoStage &m_stage;
    ConnectionSpec m_server;
    transport::Transport m_transport;
    Scope m_scope;
};

namespace {

// What both servers have in common.
class SqlKind : public ServerKind {
public:
    SqlKind(QByteArray program, MariaDbOptions options) : m_program(std::move(program)), m_options(std::move(options))
    {
    }

    // The server sends first: a packet of protocol version 10. 0xff instead is an error, "too many connections".
    QByteArray question() const override { return {}; }
    bool isReadyAnswer(const QByteArray &answer) const override { return answer.size() > 5 && answer[4] == '\x0a'; }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        const auto path = [&folder](const QString &name) { return QFile::encodeName(folder.file(name)); };
        // Whoever connects is root here, and the server runs as whoever started it: its LOAD DATA and INTO OUTFILE
        // reach an empty folder and nothing else of that person's.
        auto all =
            QByteArrayList{"--no-defaults", "--datadir=" + path(u"data"_s), "--port=" + QByteArray::number(m_port),
                           "--secure-file-priv=" + path(exchange), "--tmpdir=" + QFile::encodeName(folder.path()),
                           // Who waits for a named lock is on no other record.
                           m_options.performanceSchema ? "--performance-schema=ON" : "--performance-schema=OFF"}
            + readResource(u"sandbox/%1.arguments"_s.arg(name().toLower())).split('\n');
        all.removeIf([](const QByteArray &line) { return !line.startsWith("--"); });
        if (::geteuid() == 0)
            all << "--user=root";
        if (const auto *tls = m_options.tls)
            all << "--ssl-ca=" + QFile::encodeName(tls->authority())
                << "--ssl-cert=" + QFile::encodeName(tls->server())
                << "--ssl-key=" + QFile::encodeName(tls->serverKey()) << "--require-secure-transport=ON";
        return all + m_options.moreArguments;
    }

protected:
    static inline const QString exchange = u"exchange"_s;

    [[nodiscard]] Result<void> clear(const TemporaryFolder &folder, quint16 port)
    {
        m_port = port;
        QDir data(folder.file(u"data"_s));
        if (data.removeRecursively() && data.mkpath(folder.file(exchange)))
            return {};
        return Error{ErrorCode::Server, u"could not make %1"_s.arg(data.path())};
    }

    QByteArray m_program;
    MariaDbOptions m_options;
    quint16 m_port = 0;
};

// A private MySQL in the place of a private MariaDB, for whom wants to see how Lockscope does there.
//
// MySQL makes its system tables in a run of its own (--initialize-insecure), in two or three seconds; then it is
// started, by the same shell, so that whoever waits for it waits for both. Once per folder. Should the shell be
// killed meanwhile, the first run ends by itself when its tables are made, or when their folder goes.
class MySqlKind : public SqlKind {
public:
    using SqlKind::SqlKind;

    QString name() const override { return u"MySQL"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        TRY_VOID(clear(folder, port));
        QFile::remove(folder.file(u"made"_s));
        // Names are not resolved, so that this machine is its number.
        const QByteArray who = "root@'127.0.0.1'";
        return folder.write(u"init.sql"_s, readResource(u"sandbox/tables.sql"_s) + "CREATE USER " + who
                                               + (m_options.tls ? " REQUIRE X509" : "") + ";\nGRANT ALL ON *.* TO "
                                               + who + " WITH GRANT OPTION;\n");
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        const QByteArray makeAndServe =
            "if [ ! -e made ]; then \"$@\" --initialize-insecure --init-file=\"$PWD/init.sql\" && : > made || exit 1; "
            "fi; exec \"$@\"";
        return QByteArrayList{"/bin/sh", "-c", makeAndServe, "sh", m_program} + SqlKind::arguments(folder);
    }
};

// What the files of the server's package begin with: MariaDB 11 (Debian 13) has renamed them.
const QString sqlPrefixes[] = {u"/usr/share/mariadb/mariadb_"_s, u"/usr/share/mysql/mysql_"_s};
const QString sqlFiles[] = {u"system_tables.sql"_s, u"performance_tables.sql"_s, u"system_tables_data.sql"_s};

// Empty when they are not installed.
QString sqlPrefix()
{
    for (const auto &prefix : sqlPrefixes) {
        if (QFile::exists(prefix + sqlFiles[0]))
            return prefix;
    }
    return {};
}

class MariaDbKind : public SqlKind {
public:
    using SqlKind::SqlKind;

    QString name() const override { return u"MariaDB"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        TRY_VOID(clear(folder, port));
        QDir(folder.path()).mkdir(u"data"_s);
        QByteArray sql = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n";
        const QString prefix = sqlPrefix();
        for (const auto &name : sqlFiles) {
            QFile file(prefix + name);
            if (!file.open(QIODevice::ReadOnly))
                return Error{ErrorCode::Unsupported, u"no private MariaDB: %1 cannot be read; Debian's package is "
                                                     u"mariadb-server-core"_s.arg(file.fileName())};
            sql += file.readAll() + '\n';
        }
        // 2 is REQUIRE X509, for which there is no statement before the tables are read.
        const QByteArray withCertificate =
            m_options.tls ? "UPDATE mysql.global_priv SET Priv = JSON_SET(Priv, '$.ssl_type', 2);\n" : "";
        return folder.write(u"init.sql"_s,
                            sql + readResource(u"sandbox/tables.sql"_s) + withCertificate + "FLUSH PRIVILEGES;\n");
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        auto all = QByteArrayList{m_program} + SqlKind::arguments(folder);
        // MariaDB 11.4 and later make a certificate of their own and offer TLS. A sandbox offers it only with --tls.
        if (!m_options.tls)
            all << "--skip-ssl";
        // The last file that is made is missing: nothing was.
        if (!QFile::exists(folder.file(u"data/shop/stock.ibd"_s)))
            all << "--skip-grant-tables"
                << "--init-file=" + QFile::encodeName(folder.file(u"init.sql"_s));
        return all;
    }
};

} // namespace

Result<std::unique_ptr<Server>> makeMariaDb(MariaDbOptions options)
{
    if (auto mySql = qgetenv("LOCKSCOPE_MYSQLD"); !mySql.isEmpty())
        return std::make_unique<Server>(std::make_unique<MySqlKind>(std::move(mySql), std::move(options)));
    const auto package = u"mariadb-server-core"_s;
    TRY(auto &program, findProgram(u"mariadbd"_s, u"MariaDB"_s, package));
    if (sqlPrefix().isEmpty())
        return notInstalled(u"mariadbd"_s, u"MariaDB"_s, package);
    return std::make_unique<Server>(std::make_unique<MariaDbKind>(std::move(program), std::move(options)));
}

SandboxKit sandboxOfMariaDb()
{
    auto kit = kitOfSingle<DemoMariaDb, makeMariaDb, MariaDbOptions>(u"a MariaDB"_s);
    kit.user = u"root"_s;
    return kit;
}

} // namespace lockscope::sandbox
