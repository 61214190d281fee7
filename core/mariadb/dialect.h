// SPDX-License-Identifier: Apache-2.0
// What differs between the SQL servers that a session of client.h can stand on; the rest of it, from the thread to
// the reconnecting, is the same. All of it is called in the session's own thread, and keeps nothing.
#pragma once

#include "core/mariadb/session.h"

#include <QString>

class QSqlDatabase;
class QSqlError;
class QSqlQuery;

namespace lockscope::mariadb {

// By what a connection proves itself, beside user and password.
enum class Secured { No, ByTls, ByCertificate };

class Dialect {
public:
    // What a connection is told of itself when it stands.
    struct SessionInfo {
        ConnectionId connection = 0;
        QByteArray version;
        QByteArray birth{};  // what tells it from a later one of its number, where numbers come again
        QByteArray server{}; // as server() says
        Features features{};
    };

    virtual ~Dialect() = default;

    [[nodiscard]] virtual QString driver() const = 0;        // of Qt SQL
    [[nodiscard]] virtual QString driverMissing() const = 0; // what to say without it
    // Options of that driver: of a session (reading for ever where that is 0), and of the short connection of a KILL.
    [[nodiscard]] virtual QString options(std::chrono::seconds readsWithin) const = 0;
    [[nodiscard]] virtual QString killOptions() const = 0;
    // Sets a new connection up and asks who it is and where; empty when that failed (the query says why).
    [[nodiscard]] virtual std::optional<SessionInfo> meet(QSqlQuery &query) const = 0;
    // Which server this is and since when it runs; empty if it does not say.
    [[nodiscard]] virtual QByteArray server(const QSqlDatabase &database) const = 0;
    [[nodiscard]] virtual QByteArray nothing() const = 0; // a statement that does nothing
    [[nodiscard]] virtual QByteArray killQuery(ConnectionId connection, const QByteArray &birth) const = 0;
    [[nodiscard]] virtual QByteArray killConnection(ConnectionId connection, const QByteArray &birth) const = 0;
    // Its parameters included.
    [[nodiscard]] virtual bool run(QSqlQuery &query, const Statement &statement) const = 0;
    [[nodiscard]] virtual bool isLost(const QSqlError &error) const = 0;
    [[nodiscard]] virtual Error statementError(const QSqlError &error, bool isLasting) const = 0;
    [[nodiscard]] virtual Error connectError(const QSqlError &error, Secured secured) const = 0;
};

// MariaDB and MySQL.
[[nodiscard]] const Dialect &ownDialect();

// What the server's (and the client library's) error numbers mean.
namespace numbers {
constexpr int queryInterrupted = 1317;
}

[[nodiscard]] int numberOf(const QSqlError &error);
// The connection is gone, whatever became of the statement.
[[nodiscard]] bool isLostConnection(int number);
// Of a statement that was out. The text of the server is made harmless.
[[nodiscard]] Error statementError(const QSqlError &error, bool isLasting);
// Of an attempt to connect: AuthFailed and Unsupported mean that trying again cannot help.
[[nodiscard]] Error connectError(const QSqlError &error, Secured secured);

} // namespace lockscope::mariadb
