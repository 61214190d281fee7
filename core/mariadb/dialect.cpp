// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/dialect.h"

#include "core/mariadb/sqlerrors.h"

#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QStringDecoder>
#include <QVariant>

namespace lockscope::mariadb {

using namespace Qt::StringLiterals;

namespace {

// Whatever is text goes as text, so that the server compares it as the column does.
QVariant bound(const QByteArray &parameter)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder(parameter);
    return decoder.hasError() ? QVariant(parameter) : QVariant(text.isNull() ? u""_s : text);
}

// Which server it is, and since when it runs; and what of its features comes to light by that.
QByteArray askWhich(QSqlQuery &query, Features &features)
{
    // One question for variables that not every server has: SHOW leaves out what is missing.
    query.exec(u"SHOW SESSION VARIABLES WHERE Variable_name IN "
               "('hostname', 'port', 'server_id', 'server_uid', 'server_uuid', 'in_transaction')"_s);
    QByteArray said;
    while (query.next()) {
        const auto name = query.value(0).toByteArray();
        if (name == "in_transaction")
            features.inTransaction = true;
        else
            said += name + '=' + query.value(1).toByteArray() + '\n';
    }
    if (said.isEmpty())
        return said;
    // Started anew it is another, whose numbers of connections mean others. Both sides of the difference are of one
    // moment.
    for (const auto *schema : {"information_schema", "performance_schema"}) {
        query.exec(u"SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM %1.global_status "
                   "WHERE VARIABLE_NAME = 'Uptime'"_s.arg(QLatin1StringView(schema)));
        if (query.next()) {
            features.statusSchema = schema;
            return said + "started=" + query.value(0).toByteArray() + '\n';
        }
    }
    return said;
}

class OwnDialect final : public Dialect {
public:
    QString driver() const override { return u"QMYSQL"_s; }
    QString driverMissing() const override
    {
        return u"Qt's driver for MariaDB is not installed; Debian's package is libqt6sql6-mysql"_s;
    }
    QString options(std::chrono::seconds readsWithin) const override
    {
        auto timeouts = u"MYSQL_OPT_CONNECT_TIMEOUT=5;MYSQL_OPT_WRITE_TIMEOUT=30"_s;
        if (readsWithin.count() > 0)
            timeouts += u";MYSQL_OPT_READ_TIMEOUT=%1"_s.arg(readsWithin.count());
        return timeouts;
    }
    QString killOptions() const override { return u"MYSQL_OPT_CONNECT_TIMEOUT=5;MYSQL_OPT_READ_TIMEOUT=2"_s; }
    std::optional<Met> meet(QSqlQuery &query) const override
    {
        // A wait ends by our deadlines; giving up after the server's 50 s would lose the place in the queue.
        if (!query.exec(u"SET SESSION autocommit=1, innodb_lock_wait_timeout=100000000"_s))
            return std::nullopt;
        Met met;
        met.features.blocks = query.exec(QString::fromLatin1(greetingInBlock()));
        if (!met.features.blocks && !query.exec(QString::fromLatin1(greeting())))
            return std::nullopt;
        if (!query.next())
            return std::nullopt;
        met.connection = query.value(0).toULongLong();
        met.version = query.value(1).toString().toUtf8();
        met.features.innoDbLocks = query.value(2).toInt() == 2;
        met.features.statementNumbers = query.value(3).toInt() > 0;
        met.features.milliseconds = query.value(4).toInt() > 0;
        met.server = askWhich(query, met.features);
        // Tried, for what is off says nothing, as of somebody without a transaction.
        if (!met.features.inTransaction && query.exec(u"START TRANSACTION"_s)) {
            met.features.transactionEvents = query.exec(QString::fromLatin1(hasTransactionByEvents)) && query.next()
                                             && query.value(0).toInt() == 1;
            if (!query.exec(u"ROLLBACK"_s))
                return std::nullopt;
        }
        return met;
    }
    QByteArray server(const QSqlDatabase &database) const override
    {
        QSqlQuery query(database);
        Features features;
        return askWhich(query, features);
    }
    QByteArray nothing() const override { return "DO 0"; }
    QByteArray killQuery(ConnectionId connection, const QByteArray &) const override
    {
        return "KILL QUERY " + QByteArray::number(connection);
    }
    QByteArray killConnection(ConnectionId connection, const QByteArray &) const override
    {
        return "KILL " + QByteArray::number(connection);
    }
    bool run(QSqlQuery &query, const Statement &statement) const override
    {
        query.setForwardOnly(true);
        if (statement.parameters.isEmpty())
            return query.exec(QString::fromUtf8(statement.text));
        if (!query.prepare(QString::fromUtf8(statement.text)))
            return false;
        for (const auto &parameter : statement.parameters)
            query.addBindValue(bound(parameter));
        return query.exec();
    }
    bool isLost(const QSqlError &error) const override { return isLostConnection(numberOf(error)); }
    Error statementError(const QSqlError &error, bool isLasting) const override
    {
        return mariadb::statementError(error, isLasting);
    }
    Error connectError(const QSqlError &error, Secured secured) const override
    {
        return mariadb::connectError(error, secured);
    }
};

} // namespace

QByteArray greeting()
{
    // Of constants: the server opens no table for it.
    const auto counted = [](const char *from, const QByteArray &where) {
        return QByteArray(", (SELECT COUNT(*) FROM information_schema.") + from
               + " WHERE TABLE_SCHEMA = 'information_schema' AND " + where + ')';
    };
    const auto column = [&counted](const QByteArray &name) {
        return counted("COLUMNS", "TABLE_NAME = 'PROCESSLIST' AND COLUMN_NAME = '" + name + '\'');
    };
    return "SELECT CONNECTION_ID(), VERSION()"
           + counted("TABLES", "TABLE_NAME IN ('INNODB_LOCKS', 'INNODB_LOCK_WAITS')") + column("QUERY_ID")
           + column("TIME_MS");
}

QByteArray greetingInBlock()
{
    return "BEGIN NOT ATOMIC " + greeting() + "; END";
}

const Dialect &ownDialect()
{
    // Never destroyed: threads that end late may need it when static objects are gone.
    static const auto *const instance = new OwnDialect;
    return *instance;
}

} // namespace lockscope::mariadb
