// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/sqlconnection.h"

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

SqlConnection::SqlConnection(const SessionOptions &options, const QString &timeouts)
    : m_dialect(*options.dialect), m_name(freshName())
{
    auto database = QSqlDatabase::addDatabase(m_dialect.driver(), m_name);
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
    return m_dialect.server(database());
}

QSqlDatabase SqlConnection::database() const
{
    return QSqlDatabase::database(m_name, false);
}

} // namespace lockscope::mariadb
