// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observerreader.h"

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

constexpr int servedEvery = 5; // beats
constexpr std::chrono::seconds silentAfter(2);

} // namespace

std::optional<qint64> commandsServedIn(const QByteArray &info)
{
    const QByteArray word("total_commands_processed:");
    if (areNodesOfCluster(info))
        return {};
    for (const auto &line : info.split('\n')) {
        bool isNumber = false;
        const auto count = line.startsWith(word) ? line.mid(word.size()).trimmed().toLongLong(&isNumber) : 0;
        if (isNumber)
            return count;
    }
    return {};
}

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

std::vector<redis::Command> ServerPulse::questions(bool isCount) const
{
    std::vector<redis::Command> all;
    all.push_back(m_tellsSwaps ? redis::Command{"INFO", "commandstats"} : redis::Command{"PING"});
    if (isCount)
        all.push_back(redis::Command{"INFO", "keyspace"});
    if (isCount && m_tellsServed)
        all.push_back(redis::Command{"INFO", "stats"});
    return all;
}

Task<ServerPulse::Heard> ServerPulse::beat()
{
    const bool isCount = ++m_beats % servedEvery == 0;
    m_silence = m_loop.callAt(m_loop.now() + silentAfter, [this] {
        m_isSilent = true;
        m_wentSilent();
    });
    const auto answers = co_await m_reader.send(questions(isCount));
    m_silence.cancel();
    m_isSilent = !answers;
    const auto now = m_loop.now();
    Heard heard;
    heard.isAnswered = static_cast<bool>(answers);
    if (answers && m_tellsSwaps) {
        const auto swaps = swapsIn(answers->front());
        m_tellsSwaps = swaps.has_value();
        heard.isSwapped = swaps && m_swaps && *swaps != *m_swaps;
        m_swaps = swaps;
    }
    if (answers && isCount)
        m_databases.note((*answers)[1]);
    if (isCount && m_tellsServed) {
        std::optional<qint64> served;
        if (answers && !answers->back().isError())
            served = commandsServedIn(answers->back().text);
        m_tellsServed = served || !answers;
        m_asked.noteServed(now, m_reader.requests(), served);
    }
    m_asked.note(now, m_reader.requests());
    co_return heard;
}

} // namespace lockscope::inspect
