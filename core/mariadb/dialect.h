// SPDX-License-Identifier: Apache-2.0
// What differs between the SQL servers that a session of client.h can stand on; the rest of it, from the thread to
// the reconnecting, is the same. All of it is called in the session's own thread, and keeps nothing.
#pragma once

#include "core/async/passwordsource.h"
#include "core/base/connectionuri.h"
#include "core/mariadb/session.h"

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
    // Whether it runs statements behind one another that come as one text, up to the first that fails.
    [[nodiscard]] virtual bool runsSeveral() const { return false; }
    // It reads all of such a text before it runs any: the first may have failed for what a later one says.
    [[nodiscard]] virtual bool readsAllFirst() const { return false; }
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

// The real SQL session: Qt SQL on a thread of its own, because Qt SQL blocks.
//
// Reconnects by itself with back-off (first at once, then doubling from 50 ms to 2 s); a wrong password is
// AuthFailed and a missing database Closed, and neither is retried. An idle connection is asked once a
// second whether it still stands, so that a session learns soon that it was killed, and within seconds that
// the network is silent. A server that does not answer KILL QUERY either counts as gone.
//
// Destroying a session ends what it runs (KILL) and closes it in the background: its transaction is rolled back and
// its named locks are free. KILL goes over a connection of its own, and only when that leads to the same server.

struct SessionOptions {
    HostPort host;    // or the door that leads to it: Qt's driver checks no certificate's name
    QString user;     // the login name when empty
    QString password; // never logged
    std::shared_ptr<PasswordSource> passwords{}; // asked at each connect; null: `password` it is
    QString database;                            // none when empty
    std::chrono::milliseconds askIdleEvery{1000};
    // Or the connection counts as gone, and what it holds as lost; a server that only hangs a while is waited for.
    std::chrono::milliseconds idleAnswersWithin{10'000};
    // An attempt to connect that has led to nothing by then, not even to a refusal, is given up for another.
    std::chrono::milliseconds connectsWithin{15'000};
    // How long the network may be silent inside of an answer; 0: for ever, as who waits for a lock has to.
    std::chrono::seconds readsWithin{0};
    Secured secured = Secured::No;
    std::shared_ptr<void> keep;             // what has to live for as long as it may connect
    const Dialect *dialect = &ownDialect(); // lives for ever
};

// Returns at once, in state Connecting. Loop thread only.
[[nodiscard]] std::unique_ptr<Session> openSession(Loop &loop, SessionOptions options);

// Any thread: until all sessions that were destroyed have closed, or that time has passed.
void waitForClosingSessions(std::chrono::milliseconds atMost);

} // namespace lockscope::mariadb
