// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/observer.h"

#include "core/inspect/knownclients.h"
#include "core/postgresql/dialect.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

namespace {

// What can be said of a name that no snapshot has.
QString missingPgLockReason(const QByteArray &name, const PgPoll &look, const std::vector<LockSnapshot> &snapshots)
{
    if (name.startsWith("ADVISORY"))
        return u"no client holds or waits for an advisory lock with this key in this database"_s;
    if (isLockRowName(name))
        return u"its row does not say that it is locked, or there is none"_s;
    const auto hash = name.indexOf('#');
    if (hash < 0 || look.keysUnread.isEmpty())
        return u"no client waits for it, and rows and tables are shown only while a client waits for them"_s;
    QStringList places;
    for (const auto &snapshot : snapshots) {
        if (snapshot.lock.name.startsWith(name.left(hash) + "#ctid:") && places.size() < 3)
            places << label(snapshot.lock.name, 80);
    }
    const auto maybe = places.isEmpty() ? QString() : u"it may be %1"_s.arg(places.join(u" or "_s));
    return u"contended rows are named by their place (ctid) for now, because their keys could not be read: %1"_s.arg(
               look.keysUnread)
           + clause(maybe);
}

// A superuser is a member of every role.
const QByteArray postgreSqlMemberships = "SELECT current_user AS who, "
                                         "pg_has_role('pg_read_all_stats', 'USAGE')::text AS sees, "
                                         "pg_has_role('pg_signal_backend', 'USAGE')::text AS ends";

// ActiveRecord's MIGRATOR_SALT, times the CRC-32 of the database's name.
constexpr qint64 railsSalt = 2053462845;
constexpr qint64 migrateSalt = 1486364155; // of golang-migrate
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

Task<Result<SqlObserver::Seen>> PostgreSqlObserver::look(Deadline deadline)
{
    CO_TRY(const auto &look, co_await m_reader.look(deadline));
    Seen seen;
    seen.snapshots = judged(snapshotsOf(look, m_name));
    seen.sessions = sessionsOf(look, seen.snapshots, m_name);
    seen.now = seen.showedAllNamed = look.now;
    m_unexplained = unexplainedPgWaits(look, seen.snapshots);
    co_return seen;
}

Task<Result<LockSnapshot>> PostgreSqlObserver::readNow(QByteArray lock, Deadline deadline)
{
    if (isLockRowName(lock))
        m_reader.readLockRowsAnew();
    CO_TRY(const auto &look, co_await m_reader.look(deadline));
    auto snapshots = judged(snapshotsOf(look, m_name));
    m_unexplained = unexplainedPgWaits(look, snapshots);
    const auto at = std::ranges::find(snapshots, lock, [](const LockSnapshot &one) { return one.lock.name; });
    if (at != snapshots.end())
        co_return std::move(*at);
    // Not "it is free" where it was not seen.
    if (isLockRowName(lock) && !m_reader.lockRowsNotRead().isEmpty())
        co_return Error{ErrorCode::Refused, m_reader.lockRowsNotRead().front(), true};
    const auto hint = missingPgLockReason(lock, look, snapshots);
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(lock, 80), hint)};
}

QString PostgreSqlObserver::coverageDescription() const
{
    return u"every advisory lock, and every row, table or other lock with a waiter. Locked rows of known clients' "
           u"lock tables in this database (ShedLock, Liquibase, Knex, Hangfire and others). Other rows and tables "
           u"without a waiter are not shown"_s;
}

Task<QStringList> postgreSqlRights(mariadb::Session *session, Deadline deadline)
{
    auto asking = session->execute({postgreSqlMemberships, {}, std::nullopt, false}, deadline);
    const auto rows = co_await asking;
    if (!rows)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(rows.error().message)};
    QStringList said{u"user "_s + label(rows->cell(0, "who").value_or(QByteArray()), 120)};
    said << (rows->cell(0, "sees") == "true"
                 ? u"may see when other users' sessions began"_s
                 : u"may not see when other users' sessions began: it is not a member of pg_read_all_stats "
                   u"(pg_monitor includes it)"_s)
         << (rows->cell(0, "ends") == "true"
                 ? u"may end the sessions of others, but for superusers'"_s
                 : u"may not end other users' sessions: it is not a member of pg_signal_backend"_s);
    co_return said;
}

Task<std::optional<QByteArray>> ownBackendId(mariadb::Session *session, QByteArray recipe, Deadline deadline)
{
    const bool isOfTransaction = recipes::recipeOf(recipe).shape != recipes::Shape::NamedLock;
    const auto connection = session->connectionId();
    const mariadb::Statement question{
        "SELECT " + postgresql::microseconds(isOfTransaction ? "xact_start" : "backend_start")
            + "::text AS started FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()",
        {},
        connection,
        false};
    const auto rows = co_await session->execute(question, deadline);
    if (!rows || !rows->cell(0, "started"))
        co_return std::nullopt;
    co_return backendContenderId(connection, rows->cell(0, "started")->toLongLong());
}

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
        return knownClient("rails-migrations").name;
    if (whole >= flywayMagic - hashes && whole < flywayMagic + hashes)
        return knownClient("flyway").name;
    const auto migrations = QByteArrayLiteral("public\0schema_migrations\0") + database; // its usual schema and table
    if (whole == static_cast<quint32>(crc32Of(migrations) * migrateSalt))
        return knownClient("golang-migrate").name;
    const auto named = std::ranges::find_if(knownClients(), [whole](const KnownClient &one) {
        return one.advisoryKeys.contains(QByteArray::number(whole));
    });
    return named == knownClients().end() ? std::nullopt : std::optional(named->name);
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
