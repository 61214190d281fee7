// SPDX-License-Identifier: Apache-2.0
// MySQL makes its system tables in a run of its own (--initialize-insecure), in two or three seconds; then it is
// started, by the same shell, so that whoever waits for it waits for both.
#include "core/sandbox/mysqlserver.h"

#include "core/sandbox/certificates.h"
#include "core/sandbox/serverprocess.h"

#include <QDir>
#include <QFile>

#include <unistd.h>

using namespace Qt::StringLiterals;

namespace lockscope::sandbox {

namespace {

// Once per folder. Should the shell be killed meanwhile, the first run ends by itself when its tables are made, or
// when their folder goes.
const QByteArray makeAndServe =
    "if [ ! -e made ]; then \"$@\" --initialize-insecure --init-file=\"$PWD/init.sql\" && : > made || exit 1; fi; "
    "exec \"$@\"";

class MySqlKind : public ServerKind {
public:
    MySqlKind(QByteArray program, MariaDbOptions options)
        : m_program(std::move(program)), m_options(std::move(options))
    {
    }

    QString name() const override { return u"MySQL"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        m_port = port;
        QDir data(folder.file(u"data"_s));
        if (!data.removeRecursively() || !data.mkpath(folder.file(u"exchange"_s)))
            return Error{ErrorCode::Server, u"could not make %1"_s.arg(data.path())};
        QFile::remove(folder.file(u"made"_s));
        // Names are not resolved, so that this machine is its number.
        const QByteArray who = "root@'127.0.0.1'";
        return folder.write(u"init.sql"_s, exampleTables + "CREATE USER " + who
                                               + (m_options.tls ? " REQUIRE X509" : "") + ";\nGRANT ALL ON *.* TO "
                                               + who + " WITH GRANT OPTION;\n");
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        const auto path = [&folder](const QString &name) { return QFile::encodeName(folder.file(name)); };
        QByteArrayList arguments{
            "/bin/sh", "-c", makeAndServe, "sh", m_program, "--no-defaults", "--datadir=" + path(u"data"_s),
            "--bind-address=127.0.0.1", "--port=" + QByteArray::number(m_port), "--mysqlx=OFF",
            // As for MariaDB (mariadbserver.cpp).
            "--secure-file-priv=" + path(u"exchange"_s), "--socket=mysql.sock", "--pid-file=mysql.pid",
            "--tmpdir=" + QFile::encodeName(folder.path()), "--skip-name-resolve", "--disable-log-bin",
            "--max-connections=500", "--max-connect-errors=1000000000", "--innodb-flush-log-at-trx-commit=2",
            "--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--innodb-use-native-aio=0",
            "--innodb-buffer-pool-size=16M", "--innodb-redo-log-capacity=16M", "--table-open-cache=200",
            m_options.performanceSchema ? "--performance-schema=ON" : "--performance-schema=OFF"};
        if (::geteuid() == 0)
            arguments << "--user=root";
        if (m_options.tls)
            arguments << tlsArguments(*m_options.tls);
        return arguments + m_options.moreArguments;
    }

    // As MariaDB's.
    QByteArray question() const override { return {}; }
    bool isReadyAnswer(const QByteArray &answer) const override { return answer.size() > 5 && answer[4] == '\x0a'; }

private:
    QByteArray m_program;
    MariaDbOptions m_options;
    quint16 m_port = 0;
};

} // namespace

// Something to lock: what the examples of the manual and the demo call by name.
const QByteArray exampleTables =
    "CREATE DATABASE shop;\n"
    "CREATE TABLE shop.shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL, locked_at "
    "TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL) ENGINE=InnoDB;\n"
    "CREATE TABLE shop.stock (id INT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, quantity INT NOT NULL, "
    "version INT NOT NULL DEFAULT 1) ENGINE=InnoDB;\n"
    "INSERT INTO shop.stock (id, name, quantity) VALUES (1, 'kettle', 40), (2, 'teapot', 12), (3, 'cup', 300), "
    "(4, 'saucer', 280);\n";

QByteArrayList tlsArguments(const Certificates &tls)
{
    return {"--ssl-ca=" + QFile::encodeName(tls.authority()), "--ssl-cert=" + QFile::encodeName(tls.server()),
            "--ssl-key=" + QFile::encodeName(tls.serverKey()), "--require-secure-transport=ON"};
}

QByteArray mySqlProgram()
{
    return qgetenv("LOCKSCOPE_MYSQLD");
}

std::unique_ptr<Server> makeMySql(const QByteArray &program, MariaDbOptions options)
{
    return ServerProcess::of(std::make_unique<MySqlKind>(program, std::move(options)));
}

} // namespace lockscope::sandbox
