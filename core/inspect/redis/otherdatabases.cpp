// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/otherdatabases.h"

#include "core/base/text.h"

#include <map>

namespace lockscope::inspect {

namespace {

constexpr std::size_t databasesNamed = 8;

bool areNodesOfCluster(const QByteArray &info)
{
    return info.contains("# Node ");
}

// Of the line "db3:keys=1,expires=0,avg_ttl=0".
std::optional<std::pair<int, qint64>> keysOfDatabase(const QByteArray &line)
{
    constexpr QByteArrayView count("keys=");
    const auto colon = line.indexOf(':');
    if (!line.startsWith("db") || !line.mid(colon + 1).startsWith(count))
        return std::nullopt;
    bool isNumber = false, isCount = false;
    const auto from = colon + 1 + count.size();
    const int number = line.mid(2, colon - 2).toInt(&isNumber);
    const auto keys = line.mid(from, line.indexOf(',') - from).trimmed().toLongLong(&isCount);
    return isNumber && isCount && keys > 0 ? std::optional(std::pair(number, keys)) : std::nullopt;
}

} // namespace

QString otherDatabasesIn(const redis::Value &keyspace, int own, bool withCounts)
{
    const auto &info = keyspace.text;
    if (keyspace.isError() || !info.contains("# Keyspace"))
        return u"other databases not checked for keys: INFO keyspace was not answered%1"_s.arg(
            info.isEmpty() ? QString() : u": "_s + label(info, 80));
    const int selected = areNodesOfCluster(info) ? 0 : own;
    std::map<int, qint64> keys;
    for (const auto &line : info.split('\n')) {
        if (const auto database = keysOfDatabase(line); database && database->first != selected)
            keys[database->first] += database->second;
    }
    QStringList named;
    for (const auto &[number, count] : keys) {
        if (static_cast<std::size_t>(named.size()) == databasesNamed)
            break;
        const auto words = !withCounts  ? u"database %1 has keys"_s
                           : count == 1 ? u"database %1 has 1 key"_s
                                        : u"database %1 has %2 keys"_s;
        named << (withCounts && count != 1 ? words.arg(number).arg(count) : words.arg(number));
    }
    if (named.isEmpty())
        return {};
    const auto more = keys.size() - databasesNamed;
    if (keys.size() > databasesNamed)
        named.back() = u"%1 and %2 more databases"_s.arg(named.back(), QString::number(more));
    return u"%1: not read. A connection reads one database, here %2; another is named as in redis://HOST/%3"_s.arg(
        named.join(u", "_s), QString::number(selected), QString::number(keys.begin()->first));
}

std::optional<qint64> swapsIn(const redis::Value &commandStats)
{
    const auto &info = commandStats.text;
    if (commandStats.isError() || !info.contains("cmdstat_") || areNodesOfCluster(info))
        return std::nullopt;
    const QByteArray word("cmdstat_swapdb:calls=");
    const auto at = info.indexOf(word);
    if (at < 0)
        return 0;
    const auto from = at + word.size();
    return info.mid(from, info.indexOf(',', from) - from).toLongLong();
}

} // namespace lockscope::inspect
