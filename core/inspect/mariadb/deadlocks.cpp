// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/deadlocks.h"

#include "core/inspect/mariadb/readerrows.h"

#include <algorithm>
#include <utility>

namespace lockscope::inspect {

constexpr auto deadlocksKeptFor = 10min;
constexpr std::size_t mostDeadlocksKept = 20;

std::optional<qint64> EndedDeadlocks::risen(const std::optional<qint64> &counted)
{
    const auto before = m_counted;
    if (counted)
        m_counted = counted;
    return counted && before && *counted >= *before ? std::optional(*counted - *before) : std::nullopt;
}

void EndedDeadlocks::add(EndedDeadlock deadlock)
{
    m_all.push_back(std::move(deadlock));
    if (m_all.size() > mostDeadlocksKept)
        m_all.erase(m_all.begin());
}

void EndedDeadlocks::expire(ServerTime now)
{
    std::erase_if(m_all, [now](const EndedDeadlock &one) { return now - one.at > deadlocksKeptFor; });
}

// The log is read where the counter has risen, and once on a connection. It may be printed a little after it is
// counted, so it is read a second time where it is the one of before.
Task<Result<void>> SqlDeadlocks::read(SqlSend sending, const SqlPoll *look, Deadline deadline)
{
    m_ended.expire(look->now);
    if (!look->deadlocks)
        co_return Result<void>();
    const auto risen = m_ended.risen(look->deadlocks);
    m_unlogged += risen.value_or(0);
    const bool isFirst = !risen && *look->deadlocks > 0;
    if (!isFirst && m_unlogged == 0)
        co_return Result<void>();
    const QByteArray question = "SHOW ENGINE INNODB STATUS";
    auto asking = sending(question, deadline, {});
    const auto status = co_await asking;
    if (!status && !isRefusal(status.error()))
        co_return status.error();
    const auto printed = status ? text(*status, 0, "status") : QByteArray();
    const auto section = deadlockSectionOf(printed);
    const bool isNew = !section.isEmpty() && section != m_section;
    if (!isNew && !isFirst && !std::exchange(m_isLogAwaited, true))
        co_return Result<void>();
    m_isLogAwaited = false;
    EndedDeadlock ended{look->now, true, std::exchange(m_unlogged, 0), {}, {}};
    ended.count = std::max<qint64>(ended.count, 1);
    const auto log = isNew ? parseDeadlockLog(printed) : std::nullopt;
    m_section = isNew ? section : m_section;
    if (log) {
        ended.at = std::chrono::floor<std::chrono::seconds>(look->now) - log->age;
        ended.isAtLatest = false;
        auto naming = namedParties(&sending, &*log, deadline);
        ended.parties = co_await naming;
    } else {
        ended.unknown = !status ? u"its log cannot be read: %1"_s.arg(status.error().message)
                        : isNew ? u"its log (LATEST DETECTED DEADLOCK) is not understood"_s
                                : u"its log (LATEST DETECTED DEADLOCK) does not have it"_s;
    }
    if (log || !isFirst) // else it may be of any time
        m_ended.add(std::move(ended));
    m_ended.expire(look->now);
    co_return Result<void>();
}

// A record's key is printed as its bytes: what they mean is a matter of the columns' types. Without these a row is
// named by its place.
Task<std::vector<EndedDeadlock::Party>> SqlDeadlocks::namedParties(const SqlSend *sending, const DeadlockLog *log,
                                                                   Deadline deadline)
{
    constexpr std::size_t mostNamed = 10;
    std::vector<EndedDeadlock::Party> parties;
    IndexColumns named;
    for (const auto &logged : log->parties) {
        auto wait = logged.wait;
        if (!wait.index.isEmpty() && !logged.key.isEmpty() && parties.size() < mostNamed) {
            auto asking = (*sending)(mariadb::sqlText("mariadb-index-columns"), deadline, {wait.table, wait.index});
            const auto rows = co_await asking;
            QByteArrayList columns, values;
            for (std::size_t i = 0; rows && i < rows->rows.size() && values.size() < logged.key.size(); ++i) {
                const auto value = valueOfField(logged.key[values.size()], text(*rows, i, "type"));
                if (!value || rows->cell(i, "cut"))
                    break;
                columns << text(*rows, i, "name");
                values << *value;
            }
            if (!columns.isEmpty() && static_cast<std::size_t>(columns.size()) == rows->rows.size()) {
                named[{wait.table, wait.index}] = columns;
                wait.data = values.join(", ");
            }
        }
        parties.push_back({QString::number(logged.connection), logged.client, logged.statement,
                           innoDbLockName(wait, named), logged.isRolledBack});
    }
    co_return parties;
}

} // namespace lockscope::inspect
