// SPDX-License-Identifier: Apache-2.0
#include "core/postgresql/dialect.h"

#include "core/base/text.h"

#include <QRegularExpression>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QStringDecoder>
#include <QVariant>

namespace lockscope::postgresql {

using mariadb::ConnectionId;
using mariadb::Statement;

namespace {

QString harmless(const QString &text)
{
    return label(text.toUtf8(), 300);
}

bool isAny(const QString &sqlState, std::initializer_list<QLatin1StringView> states)
{
    return std::ranges::find(states, sqlState) != states.end();
}

QString textOf(const QSqlError &error)
{
    const auto text = error.databaseText().isEmpty() ? error.driverText() : error.databaseText();
    return text.simplified();
}

// TLS is the passage's (core/passage), and is or is not, as it was asked for. Where a connection goes and by which
// password is said by its URI, and not by libpq's files and environment.
const QString libpqOptions =
    u"application_name=lockscope;sslmode=disable;gssencmode=disable;passfile=/nonexistent;hostaddr=''"_s;

// For this backend and no later one of its number.
QByteArray signal(const char *function, ConnectionId connection, const QByteArray &birth)
{
    return QByteArray("SELECT ") + function + "(pid) FROM pg_stat_activity WHERE pid = "
           + QByteArray::number(connection) + " AND " + microseconds("backend_start") + " = " + birth;
}

// Before anything else is asked: who may create functions in a schema of the path could have theirs called, as us.
const QString onlyTheServersOwn = u"SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false)"_s;

// Which of several servers, where that may be asked, and since when it runs.
constexpr const char *withSystem = " || ' system=' || (SELECT system_identifier::text FROM pg_control_system())";

QString whichQuestion(const char *also)
{
    return QString::fromLatin1("SELECT 'started=' || " + microseconds("pg_postmaster_start_time()") + "::text"
                               + also);
}

QByteArray askWhich(QSqlQuery &query)
{
    for (const auto *also : {withSystem, ""}) {
        if (query.exec(whichQuestion(also)) && query.next())
            return query.value(0).toByteArray();
    }
    return {};
}

class PostgreSqlDialect final : public mariadb::Dialect {
public:
    QString driver() const override { return u"QPSQL"_s; }
    QString driverMissing() const override
    {
        return u"Qt's driver for PostgreSQL is not installed; Debian's package is libqt6sql6-psql"_s;
    }
    // libpq has no limit for an answer that does not come: deadlines and a second connection are what ends it.
    QString options(std::chrono::seconds readsWithin) const override
    {
        const auto silence =
            readsWithin.count() > 0 ? u";tcp_user_timeout=%1"_s.arg(readsWithin.count() * 1000) : u""_s;
        return u"connect_timeout=5;"_s + libpqOptions + silence;
    }
    QString killOptions() const override { return u"connect_timeout=5;tcp_user_timeout=2000;"_s + libpqOptions; }
    std::optional<SessionInfo> meet(QSqlQuery &query) const override
    {
        // A wait ends by our deadlines. libpq prints notices on our stderr: nobody there knows what they are about.
        // Qt's driver sets a session to UTC from 6.8 on; times without a zone are of the server's, or the role's.
        const QString setUp = u"SELECT set_config('lock_timeout', '0', false), "
                              "set_config('statement_timeout', '0', false), "
                              "set_config('client_min_messages', 'error', false), "
                              "set_config('timezone', reset_val, false) FROM pg_settings WHERE name = 'TimeZone'"_s;
        const auto whoAmI = "SELECT pg_backend_pid()::text, current_setting('server_version'), "
                            + microseconds("backend_start")
                            + "::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        const auto infoIn = [&query] {
            return SessionInfo{query.value(0).toULongLong(), query.value(1).toString().toUtf8(),
                               query.value(2).toByteArray()};
        };
        // All in one text, one after the other: which server it is not everybody may ask, and then none of it counts.
        const QStringList all{onlyTheServersOwn, setUp, QString::fromLatin1(whoAmI), whichQuestion(withSystem)};
        if (query.exec(all.join(u';')) && query.nextResult() && query.nextResult() && query.next()) {
            auto met = infoIn();
            if (query.nextResult() && query.next()) {
                met.server = query.value(0).toByteArray();
                return met;
            }
        }
        if (!query.exec(onlyTheServersOwn) || !query.exec(setUp) || !query.exec(QString::fromLatin1(whoAmI))
            || !query.next())
            return std::nullopt;
        auto met = infoIn();
        met.server = askWhich(query);
        return met;
    }
    QByteArray server(const QSqlDatabase &database) const override
    {
        QSqlQuery query(database);
        return query.exec(onlyTheServersOwn) ? askWhich(query) : QByteArray();
    }
    QByteArray nothing() const override { return "SELECT 1"; }
    bool runsSeveral() const override { return true; } // in a transaction, which one that fails undoes
    bool readsAllFirst() const override { return true; }
    QByteArray killQuery(ConnectionId connection, const QByteArray &birth) const override
    {
        return signal("pg_cancel_backend", connection, birth);
    }
    QByteArray killConnection(ConnectionId connection, const QByteArray &birth) const override
    {
        return signal("pg_terminate_backend", connection, birth);
    }
    bool run(QSqlQuery &query, const Statement &statement) const override
    {
        query.setForwardOnly(true); // else Qt's driver asks for the table of each column
        const auto text = withParameters(statement);
        // One that the server refuses, with a state that says as much: there is no way to make an error up.
        return text ? query.exec(QString::fromUtf8(*text))
                    : query.exec(u"DO $$ BEGIN RAISE EXCEPTION 'not UTF-8, or a zero byte' USING ERRCODE = '22021'; "
                                 "END $$"_s);
    }
    bool isLost(const QSqlError &error) const override
    {
        return postgresql::isLostConnection(error.nativeErrorCode());
    }
    Error statementError(const QSqlError &error, bool isLasting) const override
    {
        return postgresql::statementError(error.nativeErrorCode(), textOf(error), isLasting);
    }
    // It says itself what is wanted.
    Error connectError(const QSqlError &error, mariadb::Secured) const override
    {
        return postgresql::connectError(textOf(error));
    }
};

} // namespace

const mariadb::Dialect &dialect()
{
    // Never destroyed: see mariadb::ownDialect().
    static const auto *const instance = new PostgreSqlDialect;
    return *instance;
}

bool isLostConnection(const QString &sqlState)
{
    // 57P01 terminated, 57P02 crash, 57P03 not now, 57P05 idle for too long, 25P03 the same inside a transaction.
    return sqlState.isEmpty() || sqlState.startsWith(u"08"_s)
           || isAny(sqlState, {"57P01"_L1, "57P02"_L1, "57P03"_L1, "57P05"_L1, "25P03"_L1});
}

Error statementError(const QString &sqlState, const QString &text, bool isLasting)
{
    const auto said = harmless(text);
    const auto passing = [&said](ErrorCode code, const QString &why) { return Error{code, why.arg(said), true}; };
    if (isLostConnection(sqlState)) {
        if (isLasting)
            return passing(
                ErrorCode::UnknownOutcome,
                u"the connection broke before the server replied; it may or may not have been executed: %1"_s);
        return passing(ErrorCode::SessionExpired, u"the connection was lost, and everything it held with it: %1"_s);
    }
    if (sqlState == "55P03"_L1)
        return passing(ErrorCode::TimedOut, u"another session holds it, and this did not wait: %1"_s);
    if (sqlState == "57014"_L1)
        return passing(ErrorCode::Cancelled, u"the statement was ended from outside: %1"_s);
    if (sqlState == "40P01"_L1)
        return passing(ErrorCode::DeadlockVictim,
                       u"chosen as the victim of a deadlock; everything of this transaction is rolled back: %1"_s);
    if (sqlState == "42501"_L1)
        return Error{ErrorCode::NoPermission, said};
    if (isAny(sqlState, {"42P01"_L1, "42703"_L1, "42883"_L1, "3F000"_L1, "0A000"_L1}))
        return Error{ErrorCode::Unsupported, said};
    // What cannot be read as a number, a date …; and what cannot be told at all.
    if (isAny(sqlState, {"22P02"_L1, "22003"_L1, "22007"_L1, "22021"_L1, "42601"_L1, "42602"_L1}))
        return Error{ErrorCode::BadInput, said};
    return Error{ErrorCode::Server, said};
}

Error connectError(const QString &text)
{
    // libpq names whom it called, which may be a way of ours; whoever tells of the error names the server.
    // Never destroyed: sessions' threads may go on when static objects are.
    static const auto *const called =
        new QRegularExpression(u"^connection to server at \"[^\"]*\"( \\([^)]*\\))?, port \\d+ failed:\\s"_s);
    // And it asks what whoever tells of the error asks as well.
    static const auto *const asked = new QRegularExpression(u"\\s*Is the server running [^?]*\\?"_s);
    const bool isOneAddress = text.count(u"connection to server at "_s) == 1;
    const auto answered = QString(text).remove(*asked).trimmed();
    const auto said = harmless(isOneAddress ? QString(answered).remove(*called) : answered);
    const auto has = [&text](QLatin1StringView words) { return text.contains(words); };
    if (has("requires a valid client certificate"_L1))
        return Error{
            ErrorCode::AuthFailed,
            u"TLS: the server demands a client certificate; name it and its key with cert= and key= (%1)"_s.arg(said),
            false, true};
    // "SSL off" until PostgreSQL 13.
    if (has("pg_hba.conf"_L1) && (has("no encryption"_L1) || has("SSL off"_L1)))
        return Error{ErrorCode::AuthFailed, u"TLS: the server may demand it; try tls=on (%1)"_s.arg(said), false,
                     true};
    if (has("password authentication failed"_L1) || has("no pg_hba.conf entry"_L1) || has("rejects connection"_L1)
        || has("no password supplied"_L1) || has("authentication failed"_L1)
        || (has("role \""_L1) && has("does not exist"_L1)) || has("is not permitted to log in"_L1))
        return Error{ErrorCode::AuthFailed, said};
    if (has("database \""_L1) && has("does not exist"_L1))
        return Error{ErrorCode::Unsupported, said};
    // libpq gives no code: a server's own word begins so.
    return Error{ErrorCode::NotConnected, said, true, has("FATAL"_L1)};
}

namespace {

bool canBeTold(const QByteArray &text)
{
    QStringDecoder decoder(QStringDecoder::Utf8);
    [[maybe_unused]] const QString decoded = decoder(text);
    return !decoder.hasError() && !text.contains('\0');
}

} // namespace

QByteArray quotedName(const QByteArray &name)
{
    QByteArray quoted = name;
    quoted.replace("\"", "\"\"");
    return '"' + quoted + '"';
}

QByteArray quotedText(const QByteArray &text)
{
    QByteArray quoted = text;
    quoted.replace("'", "''");
    if (!quoted.contains('\\'))
        return '\'' + quoted + '\'';
    // Whatever standard_conforming_strings says.
    quoted.replace("\\", "\\\\");
    return " E'" + quoted + '\'';
}

Result<QByteArray> withParameters(const mariadb::Statement &statement)
{
    bool isTellable = canBeTold(statement.text);
    for (const auto &parameter : statement.parameters)
        isTellable = isTellable && canBeTold(parameter);
    if (!isTellable)
        return Error{ErrorCode::BadInput, u"PostgreSQL does not accept text that is not UTF-8 or has a zero byte"_s};
    QByteArray text;
    qsizetype next = 0;
    char quote = 0;
    for (const char byte : statement.text) {
        if (quote != 0)
            quote = byte == quote ? 0 : quote; // a doubled one closes and opens
        else if (byte == '"' || byte == '\'')
            quote = byte;
        if (quote != 0 || byte != '?') {
            text += byte;
            continue;
        }
        if (next == statement.parameters.size())
            return Error{ErrorCode::BadInput, u"a statement wants more parameters than it has"_s};
        text += quotedText(statement.parameters[next++]);
    }
    if (next != statement.parameters.size())
        return Error{ErrorCode::BadInput, u"a statement has more parameters than it wants"_s};
    return text;
}

std::unique_ptr<mariadb::Session> openSession(Loop &loop, mariadb::SessionOptions options)
{
    options.dialect = &dialect();
    return mariadb::openSession(loop, std::move(options));
}

} // namespace lockscope::postgresql
