// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/sqlconnection.h"

#include <QSqlQuery>

#include <atomic>

namespace lockscope::mariadb {

using namespace Qt::StringLiterals;

namespace {

QString freshName()
{
    static std::atomic<quint64> next{1};
    return u"lockscope-%1"_s.arg(next++);
}

} // namespace

SqlConnection::SqlConnection(const SessionOptions &options, const QString &timeouts) : m_name(freshName())
{
    auto database = QSqlDatabase::addDatabase(u"QMYSQL"_s, m_name);
    database.setHostName(options.host.host);
    database.setPort(options.host.port);
    database.setUserName(options.user);
    database.setPassword(options.password);
    database.setDatabaseName(options.database);
    database.setConnectOptions(timeouts);
}

SqlConnection::~SqlConnection()
{
    QSqlDatabase::removeDatabase(m_name);
}

bool SqlConnection::open()
{
    return database().open();
}

void SqlConnection::close()
{
    database().close();
}

QByteArray SqlConnection::server() const
{
    // One question for variables that not every server has: SHOW leaves out what is missing.
    QSqlQuery query(database());
    query.exec(u"SHOW GLOBAL VARIABLES WHERE Variable_name IN "
               "('hostname', 'port', 'server_id', 'server_uid', 'server_uuid')"_s);
    QByteArray said;
    while (query.next())
        said += query.value(0).toByteArray() + '=' + query.value(1).toByteArray() + '\n';
    if (said.isEmpty())
        return said;
    // Since when it runs: started anew it is another, whose numbers of connections mean others. Both sides of the
    // difference are of one moment.
    for (const auto *schema : {"information_schema", "performance_schema"}) {
        query.exec(u"SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM %1.global_status "
                   "WHERE VARIABLE_NAME = 'Uptime'"_s.arg(QLatin1StringView(schema)));
        if (query.next())
            return said + "started=" + query.value(0).toByteArray() + '\n';
    }
    return said;
}

QSqlDatabase SqlConnection::database() const
{
    return QSqlDatabase::database(m_name, false);
}

} // namespace lockscope::mariadb
