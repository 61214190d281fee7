// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/pgpoll.h"

#include "core/inspect/knownclients.h"

#include <algorithm>
#include <array>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

// ActiveRecord's MIGRATOR_SALT, times the CRC-32 of the database's name.
constexpr qint64 railsSalt = 2053462845;
// Flyway's LOCK_MAGIC_NUM: "Flyway" in ASCII; a hash of 32 bits of the table's name is added.
constexpr qint64 flywayMagic = 0x466C79776179;

qint64 crc32Of(const QByteArray &text)
{
    quint32 crc = ~0U;
    for (const char byte : text) {
        crc ^= static_cast<quint8>(byte);
        for (int i = 0; i < 8; ++i)
            crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    return static_cast<qint64>(~crc);
}

qint64 wholeOf(const AdvisoryKey &key)
{
    return static_cast<qint64>((static_cast<quint64>(key.classId) << 32) | key.objectId);
}

// The lock modes of a relation, weakest first, and with which of them each is at odds (a bit each).
constexpr std::array<std::pair<const char *, unsigned>, 8> pgModes{{
    {"AccessShareLock", 0b1000'0000},
    {"RowShareLock", 0b1100'0000},
    {"RowExclusiveLock", 0b1111'0000},
    {"ShareUpdateExclusiveLock", 0b1111'1000},
    {"ShareLock", 0b1110'1100},
    {"ShareRowExclusiveLock", 0b1111'1100},
    {"ExclusiveLock", 0b1111'1110},
    {"AccessExclusiveLock", 0b1111'1111},
}};

std::optional<std::size_t> modeNumber(const QByteArray &mode)
{
    for (std::size_t i = 0; i < pgModes.size(); ++i) {
        if (mode == pgModes[i].first)
            return i;
    }
    return std::nullopt;
}

} // namespace

bool conflicts(const QByteArray &held, const QByteArray &asked)
{
    const auto one = modeNumber(held), other = modeNumber(asked);
    // One that is not known is in the way: it is shown rather than left out.
    return !one || !other || (pgModes[*one].second >> *other & 1U) != 0;
}

QByteArray advisoryName(const AdvisoryKey &key, const QByteArray &database)
{
    const auto number = [](quint32 part) { return QByteArray::number(static_cast<qint32>(part)); };
    const QByteArray prefix = database.isEmpty() ? "ADVISORY#" : "ADVISORY@" + database + '#';
    if (key.kind == 1)
        return prefix + QByteArray::number(wholeOf(key));
    const auto two = prefix + number(key.classId) + ',' + number(key.objectId);
    return key.kind == 2 ? two : two + '/' + QByteArray::number(key.kind);
}

std::optional<QString> knownAdvisory(const AdvisoryKey &key, const QByteArray &database)
{
    if (key.kind != 1)
        return std::nullopt;
    constexpr qint64 hashes = qint64(1) << 31;
    const auto whole = wholeOf(key);
    if (whole == railsSalt * crc32Of(database))
        return QString::fromUtf16(clients::railsMigrations.name);
    if (whole >= flywayMagic - hashes && whole < flywayMagic + hashes)
        return QString::fromUtf16(clients::flyway.name);
    return std::nullopt;
}

// Who waits for a lock, as pg_stat_activity says it, and is in no snapshot.
std::vector<Unexplained> unexplainedPgWaits(const PgPoll &look, const std::vector<LockSnapshot> &snapshots)
{
    std::set<quint64> shown;
    for (const auto &lock : snapshots) {
        for (const auto &contender : lock.contenders) {
            if (contender.role == Role::Waiter && contender.session)
                shown.insert(contender.session->toULongLong());
        }
    }
    std::vector<quint64> waiting;
    for (const auto &one : look.sessions) {
        if (one.waitsFor == "Lock" && !shown.contains(one.pid))
            waiting.push_back(one.pid);
    }
    if (waiting.empty())
        return {};
    const auto who = waiting.size() == 1 ? u"1 session waits"_s : u"%1 sessions wait"_s.arg(waiting.size());
    return {
        {qint64(waiting.size()),
         u"%1 for a lock (wait_event_type Lock) that pg_locks does not list, and it is not known who holds it"_s.arg(
             who),
         "backend " + QByteArray::number(waiting.front()), true}};
}

} // namespace lockscope::inspect
