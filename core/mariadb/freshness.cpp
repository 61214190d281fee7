// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/freshness.h"

#include <atomic>

namespace lockscope::mariadb {

namespace {

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
