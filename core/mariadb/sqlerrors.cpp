// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/sqlerrors.h"

#include "core/base/text.h"

#include <QSqlError>

namespace lockscope::mariadb {

using namespace Qt::StringLiterals;

namespace {

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
    case Secured::No: return u"; the server says the same to a user who has to come over TLS (tls=on)"_s;
    case Secured::ByTls:
        return u"; the server says the same to a user who has to show a client certificate (cert= and key=)"_s;
    case Secured::ByCertificate: break;
    }
    return {};
}

// The client library's own are 2000 to 2999.
bool isOfServer(int number)
{
    return number >= 1000 && number / 1000 != 2;
}

} // namespace

int numberOf(const QSqlError &error)
{
    return error.nativeErrorCode().toInt();
}

bool isLostConnection(int number)
{
    switch (number) {
    case 1053: // the server shuts down
    case 1927: // this connection was killed (MariaDB)
    case 2006: // the server has gone away
    case 2013: // lost while the statement was out
    case 2055: // lost, with what the system said
    case 4031: // closed for having been idle (MySQL)
        return true;
    default: return false;
    }
}

Error statementError(const QSqlError &error, bool isLasting)
{
    const int number = numberOf(error);
    if (isLostConnection(number)) {
        if (isLasting)
            return Error{
                ErrorCode::UnknownOutcome,
                u"the connection broke while this was out, it may or may not have been done: "_s + said(error), true};
        return Error{ErrorCode::SessionExpired,
                     u"the connection was lost, and everything it held with it: "_s + said(error), true};
    }
    switch (number) {
    case 1205:
    case 3572: // NOWAIT, MySQL
        return Error{ErrorCode::TimedOut, u"the server's lock wait timeout ended the wait: "_s + said(error), true};
    case 1969: // max_statement_time
    case 3024: // max_execution_time
        return Error{ErrorCode::TimedOut, u"the server's time limit ended the statement: "_s + said(error), true};
    case 1213: // rows
    case 3058: // named locks, MySQL
        return Error{ErrorCode::DeadlockVictim,
                     u"chosen as the victim of a deadlock; everything of this transaction was rolled back: "_s
                         + said(error),
                     true};
    case numbers::queryInterrupted:
        return Error{ErrorCode::Cancelled, u"the statement was ended from outside: "_s + said(error), true};
    case 1044:
    case 1095:
    case 1142:
    case 1143:
    case 1227:
    case 1370: return Error{ErrorCode::NoPermission, said(error)};
    case 1049:
    case 1054:
    case 1109:
    case 1146:
    case 1193: return Error{ErrorCode::Unsupported, said(error)};
    case 1094: // no such connection to kill
        return Error{ErrorCode::NoRow, said(error)};
    case 1059:
    case 1064:
    case 1411:
    case 3057: // the name of a named lock, MySQL; and when it is too long
    case 4163: return Error{ErrorCode::BadInput, said(error)};
    default: return Error{ErrorCode::Server, said(error)};
    }
}

Error connectError(const QSqlError &error, Secured secured)
{
    switch (numberOf(error)) {
    case 3159:
        return Error{ErrorCode::AuthFailed, u"TLS: the server demands it; add tls=on (%1)"_s.arg(said(error)), false,
                     true};
    case 1045: return Error{ErrorCode::AuthFailed, said(error) + alsoRefused(secured)};
    case 1044:
    case 1130:
    case 1251:
    case 1698:
    case 1820:
    case 1862:
    case 4151: return Error{ErrorCode::AuthFailed, said(error)};
    case 1049: return Error{ErrorCode::Unsupported, said(error)};
    case 2013:
        return Error{ErrorCode::NotConnected, u"it takes connections, and does not answer: "_s + said(error), true};
    default: return Error{ErrorCode::NotConnected, said(error), true, isOfServer(numberOf(error))};
    }
}

} // namespace lockscope::mariadb
