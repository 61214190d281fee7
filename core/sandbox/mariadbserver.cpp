// SPDX-License-Identifier: Apache-2.0
// A private MariaDB: one process that makes its own system tables and then serves, small and without
// any care for what the disk keeps after us.
//
// The tables of a new data folder are made by the server itself, from Debian's SQL files, as its
// init-file: it starts without grant tables, makes them, and reads them as the last statement, all of it
// before the first client is let in. That takes one second instead of the five of mariadb-install-db, and
// one process that dies with us.
#include "core/sandbox/certificates.h"
#include "core/sandbox/demomariadb.h"
#include "core/sandbox/kit.h"
#include "core/sandbox/mysqlserver.h"
#include "core/sandbox/serverprocess.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include <unistd.h>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

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

const QString exchange = u"exchange"_s;
// The file that says that everything was made.
const QString lastFile = u"data/shop/stock.ibd"_s;

class MariaDbKind : public ServerKind {
public:
    MariaDbKind(QByteArray program, MariaDbOptions options)
        : m_program(std::move(program)), m_options(std::move(options))
    {
    }

    QString name() const override { return u"MariaDB"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        m_port = port;
        QDir data(folder.file(u"data"_s));
        if (!data.removeRecursively() || !data.mkpath(u"."_s) || !data.mkpath(folder.file(exchange)))
            return Error{ErrorCode::Server, u"could not make %1"_s.arg(data.path())};
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
        return folder.write(u"init.sql"_s, sql + exampleTables + withCertificate + "FLUSH PRIVILEGES;\n");
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        const auto path = [&folder](const QString &name) { return QFile::encodeName(folder.file(name)); };
        QByteArrayList arguments{
            m_program, "--no-defaults", "--datadir=" + path(u"data"_s), "--bind-address=127.0.0.1",
            "--port=" + QByteArray::number(m_port),
            // Whoever connects is root here, and the server runs as whoever started it: its LOAD DATA and INTO
            // OUTFILE reach an empty folder and nothing else of that person's.
            "--secure-file-priv=" + path(exchange),
            // Below the data folder: no name outside ours, however long that is.
            "--socket=mariadb.sock", "--pid-file=mariadb.pid", "--tmpdir=" + QFile::encodeName(folder.path()),
            "--skip-name-resolve", "--skip-log-bin", "--max-connections=500", "--max-connect-errors=1000000000",
            // Data need only outlive the process, not the machine.
            "--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--innodb-doublewrite=0",
            "--innodb-use-native-aio=0", "--innodb-fast-shutdown=3",
            // Small. MariaDB 11 would begin with three undo tablespaces, of 10 MB each.
            "--innodb-undo-tablespaces=0", "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M",
            "--innodb-autoextend-increment=1", "--innodb-data-file-path=ibdata1:4M:autoextend",
            "--innodb-temp-data-file-path=ibtmp1:2M:autoextend", "--aria-pagecache-buffer-size=1M",
            "--key-buffer-size=64K", "--table-open-cache=200", "--thread-stack=256K",
            // What each connection does now, nothing of what was: 10 MB instead of 26.
            "--performance-schema-digests-size=0", "--performance-schema-max-digest-length=0",
            "--performance-schema-events-statements-history-size=0",
            "--performance-schema-events-statements-history-long-size=0",
            "--performance-schema-events-stages-history-size=0",
            "--performance-schema-events-stages-history-long-size=0",
            "--performance-schema-events-waits-history-size=0",
            "--performance-schema-events-waits-history-long-size=0",
            "--performance-schema-events-transactions-history-size=0",
            "--performance-schema-events-transactions-history-long-size=0",
            // Who waits for a named lock is on no other record.
            m_options.performanceSchema ? "--performance-schema=ON" : "--performance-schema=OFF",
            "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
            // What the holder of a row did last; MySQL keeps it by itself.
            "--performance-schema-consumer-events-statements-current=ON"};
        if (::geteuid() == 0)
            arguments << "--user=root";
        // MariaDB 11.4 and later make a certificate of their own and offer TLS. A sandbox offers it only with --tls.
        if (m_options.tls)
            arguments << tlsArguments(*m_options.tls);
        else
            arguments << "--skip-ssl";
        if (!QFile::exists(folder.file(lastFile)))
            arguments << "--skip-grant-tables"
                      << "--init-file=" + path(u"init.sql"_s);
        return arguments + m_options.moreArguments;
    }

    // It speaks first: a packet of protocol version 10. 0xff instead is an error, "too many connections".
    QByteArray question() const override { return {}; }
    bool isReadyAnswer(const QByteArray &answer) const override { return answer.size() > 5 && answer[4] == '\x0a'; }

private:
    QByteArray m_program;
    MariaDbOptions m_options;
    quint16 m_port = 0;
};

// Servers are no commands of ordinary users: their folder is often not in PATH.
QString findServer()
{
    const QString program = QStandardPaths::findExecutable(u"mariadbd"_s);
    return program.isEmpty() ? QStandardPaths::findExecutable(u"mariadbd"_s, {u"/usr/sbin"_s, u"/usr/local/sbin"_s})
                             : program;
}

} // namespace

Result<std::unique_ptr<Server>> makeMariaDb(MariaDbOptions options)
{
    if (const auto mySql = mySqlProgram(); !mySql.isEmpty())
        return makeMySql(mySql, std::move(options));
    const QString program = findServer();
    if (program.isEmpty() || sqlPrefix().isEmpty())
        return Error{ErrorCode::Unsupported,
                     u"no private MariaDB: mariadbd is not installed; Debian's package is mariadb-server-core"_s,
                     false};
    return ServerProcess::of(std::make_unique<MariaDbKind>(QFile::encodeName(program), std::move(options)));
}

SandboxKit sandboxOfMariaDb()
{
    const auto make = [](int) { return alone(makeMariaDb()); };
    return {.what = u"a MariaDB"_s,
            .most = 1,
            .apart = true,
            .usual = 0,
            .user = u"root"_s,
            .make = make,
            .play =
                [](DemoStage &stage, const ConnectionSpec &server) {
                    return std::shared_ptr<void>(std::make_shared<DemoMariaDb>(stage, server));
                },
            .makeWithTls =
                [](int, const Certificates &certificates) {
                    MariaDbOptions options;
                    options.tls = &certificates;
                    return alone(makeMariaDb(std::move(options)));
                }};
}

} // namespace lockscope::sandbox
