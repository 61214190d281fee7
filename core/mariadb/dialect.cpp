// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/dialect.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"

#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QStringDecoder>
#include <QVariant>

namespace lockscope::mariadb {

QByteArray sqlText(const char *name, const QByteArrayList &values)
{
    auto lines = readResource(u"sql/%1.sql"_s.arg(QString::fromLatin1(name))).split('\n');
    lines.removeIf([](const QByteArray &line) { return line.startsWith("--"); });
    const auto text = lines.join(' ').simplified();
    QByteArray full;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const bool isPlace = text[i] == '%' && i + 1 < text.size() && isDigit(text[i + 1]);
        full += isPlace ? values.value(text[++i] - '1') : text.mid(i, 1);
    }
    return full;
}

QByteArray quotedName(const QByteArray &name)
{
    return '`' + QByteArray(name).replace("`", "``") + '`';
}

namespace {

// Whatever is text goes as text, so that the server compares it as the column does.
QVariant bound(const QByteArray &parameter)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder(parameter);
    return decoder.hasError() ? QVariant(parameter) : QVariant(text.isNull() ? u""_s : text);
}

// One question for variables that not every server has: SHOW leaves out what is missing.
const QString whichServer = u"SHOW SESSION VARIABLES WHERE Variable_name IN "
                            "('hostname', 'port', 'server_id', 'server_uid', 'server_uuid', 'in_transaction')"_s;

// Started anew it is another, whose numbers of connections mean others. Both sides of the difference are of one
// moment.
QString startedQuestion(const char *schema)
{
    return u"SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM %1.global_status "
           "WHERE VARIABLE_NAME = 'Uptime'"_s.arg(QLatin1StringView(schema));
}

QByteArray variablesIn(QSqlQuery &query, Features &features)
{
    QByteArray said;
    while (query.next()) {
        const auto name = query.value(0).toByteArray();
        if (name == "in_transaction")
            features.inTransaction = true;
        else
            said += name + '=' + query.value(1).toByteArray() + '\n';
    }
    return said;
}

// Whether it goes on to the next answer that has rows, and has one.
bool nextRow(QSqlQuery &query)
{
    while (query.nextResult()) {
        if (query.isSelect())
            return query.next();
    }
    return false;
}

// Which server it is, and since when it runs; and what of its features comes to light by that.
QByteArray askWhich(QSqlQuery &query, Features &features)
{
    query.exec(whichServer);
    const auto said = variablesIn(query, features);
    if (said.isEmpty())
        return said;
    for (const auto *schema : {"information_schema", "performance_schema"}) {
        query.exec(startedQuestion(schema));
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
    std::optional<SessionInfo> meet(QSqlQuery &query) const override
    {
        // A wait ends by our deadlines; giving up after the server's 50 s would lose the place in the queue. All in
        // one text: a server answers it as far as it understands it.
        if (!query.exec(u"SET SESSION autocommit=1, innodb_lock_wait_timeout=100000000;"_s
                        + QString::fromLatin1(greetingInBlock()) + u';' + startedQuestion("information_schema") + u';'
                        + whichServer))
            return std::nullopt;
        SessionInfo met;
        met.features.blocks = nextRow(query);
        if (!met.features.blocks && !(query.exec(QString::fromLatin1(greeting())) && query.next()))
            return std::nullopt;
        met.connection = query.value(0).toULongLong();
        met.version = query.value(1).toString().toUtf8();
        met.features.innoDbLocks = query.value(2).toInt() == 2;
        met.features.statementNumbers = query.value(3).toInt() > 0;
        met.features.milliseconds = query.value(4).toInt() > 0;
        const auto started = met.features.blocks && nextRow(query) ? query.value(0).toByteArray() : QByteArray();
        if (started.isEmpty()) {
            met.server = askWhich(query, met.features);
        } else if (query.nextResult()) {
            met.server = variablesIn(query, met.features) + "started=" + started + '\n';
            met.features.statusSchema = "information_schema";
        }
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
    bool runsSeveral() const override { return true; } // Qt's driver allows it
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

QString said(const QSqlError &error)
{
    const auto text = error.databaseText().isEmpty() ? error.driverText() : error.databaseText();
    const auto number = numberOf(error);
    const auto harmless = label(text.toUtf8(), 300);
    return number > 0 ? u"%1 (%2)"_s.arg(harmless, QString::number(number)) : harmless;
}

// REQUIRE SSL and REQUIRE X509 are refused in the words of a wrong password.
QString alsoRefused(Secured secured)
{
    switch (secured) {
    case Secured::No: return clause(u"the server reports the same to a user who must use TLS (tls=on)"_s);
    case Secured::ByTls:
        return clause(u"the server reports the same to a user who needs a client certificate (cert= and key=)"_s);
    case Secured::ByCertificate: break;
    }
    return {};
}

// The client library's own are 2000 to 2999.
bool isOfServer(int number)
{
    return number >= 1000 && number / 1000 != 2;
}

struct Printed {
    QByteArray id; // empty while it has none
    ConnectionId connection = 0;
};

// "---TRANSACTION 4711, ACTIVE 3 sec", and below it "MariaDB thread id 12, OS thread handle …".
std::vector<Printed> activeIn(const QByteArray &status)
{
    std::vector<Printed> found;
    bool isActive = false;
    for (const auto &line : status.split('\n')) {
        if (line.startsWith("---TRANSACTION ")) {
            const auto comma = line.indexOf(',');
            const auto id = line.mid(15, comma - 15);
            isActive = comma > 0 && line.mid(comma).startsWith(", ACTIVE");
            if (isActive)
                found.push_back({id.startsWith('(') ? QByteArray() : id, 0});
            continue;
        }
        const auto at = line.startsWith("MariaDB thread id ") ? 18 : line.startsWith("MySQL thread id ") ? 16 : 0;
        if (at > 0 && isActive && found.back().connection == 0)
            found.back().connection = line.mid(at, line.indexOf(',') - at).toULongLong();
    }
    return found;
}

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

int numberOf(const QSqlError &error)
{
    return error.nativeErrorCode().toInt();
}

bool isLostConnection(int number)
{
    constexpr std::array lost{1053,  // the server shuts down
                              1927,  // this connection was killed (MariaDB)
                              2006,  // the server has gone away
                              2013,  // lost while the statement was out
                              2055,  // lost, with what the system said
                              4031}; // closed for having been idle (MySQL)
    return std::ranges::find(lost, number) != lost.end();
}

Error statementError(const QSqlError &error, bool isLasting)
{
    const auto passing = [&](ErrorCode code, const QString &text) {
        return Error{code, text.arg(said(error)), true};
    };
    const int number = numberOf(error);
    if (isLostConnection(number)) {
        if (isLasting)
            return passing(
                ErrorCode::UnknownOutcome,
                u"the connection broke before the server replied; it may or may not have been executed: %1"_s);
        return passing(ErrorCode::SessionExpired, u"the connection was lost, and everything it held with it: %1"_s);
    }
    switch (number) {
    case 1205:
    case 3572: // NOWAIT, MySQL
        return passing(ErrorCode::TimedOut, u"the server's lock wait timeout ended the wait: %1"_s);
    case 1969: // max_statement_time
    case 3024: // max_execution_time
        return passing(ErrorCode::TimedOut, u"the server's time limit ended the statement: %1"_s);
    case 1213: // rows
    case 3058: // named locks, MySQL
        return passing(ErrorCode::DeadlockVictim,
                       u"chosen as the victim of a deadlock; everything of this transaction was rolled back: %1"_s);
    case numbers::queryInterrupted:
        return passing(ErrorCode::Cancelled, u"the statement was ended from outside: %1"_s);
    default: break;
    }
    // 1062: a unique key has this value already; 1094: no such connection to kill; 3057: the name of a named
    // lock, MySQL; 4163: and when it is too long.
    constexpr std::array meanings{std::pair(1044, ErrorCode::NoPermission), std::pair(1095, ErrorCode::NoPermission),
                                  std::pair(1142, ErrorCode::NoPermission), std::pair(1143, ErrorCode::NoPermission),
                                  std::pair(1227, ErrorCode::NoPermission), std::pair(1370, ErrorCode::NoPermission),
                                  std::pair(1049, ErrorCode::Unsupported),  std::pair(1054, ErrorCode::Unsupported),
                                  std::pair(1109, ErrorCode::Unsupported),  std::pair(1146, ErrorCode::Unsupported),
                                  std::pair(1193, ErrorCode::Unsupported),  std::pair(1062, ErrorCode::NodeExists),
                                  std::pair(1094, ErrorCode::NoRow),        std::pair(1059, ErrorCode::BadInput),
                                  std::pair(1064, ErrorCode::BadInput),     std::pair(1411, ErrorCode::BadInput),
                                  std::pair(3057, ErrorCode::BadInput),     std::pair(4163, ErrorCode::BadInput)};
    const auto *meaning = std::ranges::find(meanings, number, &std::pair<int, ErrorCode>::first);
    return Error{meaning == meanings.end() ? ErrorCode::Server : meaning->second, said(error)};
}

Error connectError(const QSqlError &error, Secured secured)
{
    switch (numberOf(error)) {
    case 3159:
        return Error{ErrorCode::AuthFailed, u"TLS: the server demands it; add tls=on (%1)"_s.arg(said(error)), false,
                     true};
    case 1045: return Error{ErrorCode::AuthFailed, said(error) + alsoRefused(secured)};
    case 1049: return Error{ErrorCode::Unsupported, said(error)};
    case 2013:
        return Error{ErrorCode::NotConnected, u"it accepts connections, but does not answer: %1"_s.arg(said(error)),
                     true};
    default: break;
    }
    constexpr std::array refused{1044, 1130, 1251, 1698, 1820, 1862, 4151};
    if (std::ranges::find(refused, numberOf(error)) != refused.end())
        return Error{ErrorCode::AuthFailed, said(error)};
    return Error{ErrorCode::NotConnected, said(error), true, isOfServer(numberOf(error))};
}

QByteArray freshMark()
{
    static std::atomic<quint64> next{1};
    return "lockscope-look-" + QByteArray::number(next++) + '.';
}

QByteArray isMarked(const QByteArray &mark)
{
    return "COALESCE(t.trx_mysql_thread_id = CONNECTION_ID() AND t.trx_query LIKE '%" + mark + "%', 0)";
}

QByteArray serverQuestion(const Session &session)
{
    return "SELECT CONCAT(@@hostname, ':', @@port, ' ', @@server_id) AS server, "
           "CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) AS started FROM "
           + session.features().statusSchema + ".global_status WHERE VARIABLE_NAME = 'Uptime'";
}

InStatus findInStatus(const QByteArray &status, const QByteArray &transaction, ConnectionId connection,
                      ConnectionId ours)
{
    int sameNumber = 0, sameConnection = 0, both = 0, own = 0;
    for (const auto &one : activeIn(status)) {
        const bool isTransaction = !transaction.isEmpty() && one.id == transaction;
        sameNumber += isTransaction ? 1 : 0;
        sameConnection += one.connection == connection ? 1 : 0;
        both += isTransaction && one.connection == connection ? 1 : 0;
        own += one.connection == ours ? 1 : 0;
    }
    if (own != 1 || sameNumber > 1 || sameConnection > 1)
        return InStatus::NotKnown;
    if (both == 1)
        return InStatus::Active;
    // The server cuts the list of transactions at a megabyte, its oldest or newest ones.
    constexpr qsizetype mostPrinted = 1'048'000;
    const bool isCut = status.size() >= mostPrinted || status.contains("... truncated...");
    return isCut ? InStatus::NotKnown : InStatus::NotThere;
}

} // namespace lockscope::mariadb
