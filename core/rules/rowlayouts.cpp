// SPDX-License-Identifier: Apache-2.0
#include "core/rules/rowlayouts.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

const std::vector<RowLayout> &rowLayouts()
{
    static const std::vector<RowLayout> all{
        {.prefix = "LIQUIBASE#",
         .client = u"Liquibase"_s,
         .recipe = "liquibase",
         .columns = {"id", "locked", "lockgranted", "lockedby"},
         .mayHaveMore = true,
         .name = {"id"},
         .only = "1",
         .flag = "locked",
         .owner = "lockedby",
         .since = "lockgranted",
         .sinceTime = RowTime::Server,
         .release = RowRelease::Clear,
         .why = u"the row says LOCKED; since when, LOCKGRANTED says in the server's time zone"_s,
         .notices = u"not at all: its changes go on to their end"},
        {.prefix = "SHEDLOCK#",
         .client = u"ShedLock"_s,
         .recipe = "shedlock",
         .tableSuffix = "shedlock",
         .columns = {"name", "lock_until", "locked_at", "locked_by"},
         .mayHaveMore = true,
         .name = {"name"},
         .owner = "locked_by",
         .since = "locked_at",
         .sinceTime = RowTime::Unclear,
         .ends = "lock_until",
         .endsTime = RowTime::Unclear,
         .release = RowRelease::EndTime,
         .why = u"the row says until when it is locked (lock_until)"_s,
         .notices = u"not at all: the job goes on to its end"},
        {.prefix = "KNEX#",
         .client = u"Knex"_s,
         .tableSuffix = "_lock",
         .columns = {"index", "is_locked"},
         .name = {"index"},
         .flag = "is_locked",
         .release = RowRelease::ResetFlag,
         .why = u"is_locked is 1; the row names no holder and no time, and stays so until it is set to 0"_s},
        {.prefix = "KNEX-MIGRATOR#",
         .client = u"knex-migrator"_s,
         .tableSuffix = "migrations_lock",
         .columns = {"lock_key", "locked", "acquired_at", "released_at"},
         .name = {"lock_key"},
         .flag = "locked",
         .since = "acquired_at",
         .sinceTime = RowTime::Unclear,
         .release = RowRelease::ResetFlag,
         .why = u"locked is 1; the row names no holder, and stays so until it is set to 0; without its row the lock "
                u"counts as held. acquired_at is by its client's clock and zone"_s},
        {.prefix = "HANGFIRE#",
         .client = u"Hangfire"_s,
         .tableSuffix = "lock",
         .columns = {"resource", "updatecount", "acquired"},
         .name = {"resource"},
         .since = "acquired",
         .sinceTime = RowTime::Utc,
         .release = RowRelease::Delete,
         .why =
             u"the row exists; it names no holder and is not renewed. The next client that asks takes it 10 minutes "
             u"after acquired, unless set otherwise"_s},
        {.prefix = "LARAVEL#",
         .client = u"Laravel"_s,
         .tableSuffix = "locks",
         .columns = {"key", "owner", "expiration"},
         .name = {"key"},
         .owner = "owner",
         .isOwnerToken = true,
         .ends = "expiration",
         .endsTime = RowTime::Epoch,
         .release = RowRelease::Delete,
         .why = u"the row says until when it is locked (expiration), by its client's clock"_s},
        {.prefix = "SPRING#",
         .client = u"Spring Integration"_s,
         .tableSuffix = "lock",
         .columns = {"lock_key", "region", "client_id", "created_date"},
         .optional = {"expired_after"},
         .name = {"region", "lock_key"},
         .owner = "client_id",
         .isOwnerToken = true,
         .since = "created_date",
         .sinceTime = RowTime::Unclear,
         .isSinceRenewed = true,
         .ends = "expired_after",
         .endsTime = RowTime::Unclear,
         .release = RowRelease::Delete,
         .why = u"the row exists; CREATED_DATE is when it was taken or renewed. The next client that asks takes it "
                u"10 s after that unless set otherwise, or after EXPIRED_AFTER where the table has that"_s},
        {.prefix = "SYMFONY#",
         .client = u"Symfony Lock"_s,
         .columns = {"key_id", "key_token", "key_expiration"},
         .name = {"key_id"},
         .owner = "key_token",
         .isOwnerToken = true,
         .ends = "key_expiration",
         .endsTime = RowTime::Epoch,
         .release = RowRelease::Delete,
         .why = u"the row says until when it is locked (key_expiration); key_id is a hash of the lock's name"_s},
        {.prefix = "DRUPAL#",
         .client = u"Drupal"_s,
         .tableSuffix = "semaphore",
         .columns = {"name", "value", "expire"},
         .name = {"name"},
         .owner = "value",
         .isOwnerToken = true,
         .ends = "expire",
         .endsTime = RowTime::Epoch,
         .release = RowRelease::Delete,
         .why = u"the row says until when it is locked (expire), by its client's clock"_s},
        {.prefix = "MARK#",
         .recipe = "insert-mark",
         .tableSuffix = "lock_marks",
         .columns = {"name", "owner", "created_at"},
         .name = {"name"},
         .owner = "owner",
         .isOwnerToken = true,
         .since = "created_at",
         .sinceTime = RowTime::Unclear,
         .release = RowRelease::Delete,
         .why = u"the row exists, and stays until it is deleted: nothing ends it"_s},
        {.prefix = "FLAG#",
         .recipe = "status-flag",
         .tableSuffix = "lock_flags",
         .columns = {"id", "version", "status"},
         .name = {"id"},
         .flag = "status",
         .owner = "version",
         .isOwnerToken = true,
         .isOwnerNumber = true,
         .release = RowRelease::ResetFlag,
         .why = u"status is 1; the row names no holder and no time, and stays so until it is set to 0. Each hold has "
                u"a version of its own"_s},
        // Its rows are always there: it locks one FOR UPDATE, which is seen as a row lock.
        {.prefix = "QUARTZ#", .client = u"Quartz"_s, .tableSuffix = "locks", .columns = {"sched_name", "lock_name"}},
    };
    return all;
}

namespace {

// Never destroyed, and nothing is taken out: a row of an earlier rule keeps its layout.
struct UserRowLayouts {
    std::mutex guard;
    std::deque<RowLayout> ever;
    std::vector<const RowLayout *> inForce;
};

UserRowLayouts &userLayouts()
{
    static auto *const all = new UserRowLayouts;
    return *all;
}

} // namespace

void setUserRowLayouts(const std::vector<RowLayout> &layouts)
{
    auto &all = userLayouts();
    const std::scoped_lock lock(all.guard);
    all.inForce.clear();
    for (const auto &layout : layouts) {
        const auto known = std::ranges::find(all.ever, layout);
        all.inForce.push_back(known == all.ever.end() ? &all.ever.emplace_back(layout) : &*known);
    }
}

std::vector<const RowLayout *> userRowLayouts()
{
    auto &all = userLayouts();
    const std::scoped_lock lock(all.guard);
    return all.inForce;
}

const RowLayout *userRowLayoutOf(const QByteArray &table)
{
    const auto all = userRowLayouts();
    const auto found =
        std::ranges::find_if(all, [&table](const RowLayout *one) { return one->table == table.toLower(); });
    return found == all.end() ? nullptr : *found;
}

QByteArrayList missingColumns(const RowLayout &layout, const QByteArrayList &columns)
{
    QByteArrayList missing;
    std::ranges::copy_if(layout.columns, std::back_inserter(missing),
                         [&columns](const QByteArray &column) { return !columns.contains(column); });
    return missing;
}

const RowLayout *rowLayoutOf(const QByteArray &table, const QByteArrayList &columns)
{
    if (const auto *layout = userRowLayoutOf(table); layout && missingColumns(*layout, columns).isEmpty())
        return layout;
    const auto fits = [&](const RowLayout &one) {
        const auto isOfIt = [&one](const QByteArray &column) {
            return one.columns.contains(column) || one.optional.contains(column);
        };
        return table.toLower().endsWith(one.tableSuffix)
               && std::ranges::all_of(one.columns, [&](const QByteArray &wanted) { return columns.contains(wanted); })
               && (one.mayHaveMore || std::ranges::all_of(columns, isOfIt));
    };
    const auto found = std::ranges::find_if(rowLayouts(), fits);
    return found == rowLayouts().end() ? nullptr : &*found;
}

const RowLayout *rowLayoutNamed(const QByteArray &lock)
{
    const auto isOf = [&lock](const RowLayout *one) { return lock.startsWith(one->prefix); };
    const auto users = userRowLayouts();
    if (const auto user = std::ranges::find_if(users, isOf); user != users.end())
        return *user;
    const auto found = std::ranges::find_if(
        rowLayouts(), [&lock](const RowLayout &one) { return !one.name.isEmpty() && lock.startsWith(one.prefix); });
    return found == rowLayouts().end() ? nullptr : &*found;
}

} // namespace lockscope::recipes
