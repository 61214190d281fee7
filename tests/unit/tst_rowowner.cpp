// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by a column: which of them say that they are taken.
#include "core/recipes/mariadb/rowname.h"
#include "tests/support/testmain.h"

using namespace lockscope::recipes;

class TestRowOwner : public QObject {
    Q_OBJECT
private slots:
    void columnsSayWhetherARowIsTaken_data()
    {
        addColumns<QByteArray, QByteArray>("table", "columns");
        QTest::addColumn<QByteArray>("values"); // "-": NULL
        QTest::addColumn<QString>("why");
        const auto row = [](const char *name, const char *table, const char *columns, const char *values,
                            const char *why) {
            QTest::newRow(name) << QByteArray(table) << QByteArray(columns) << QByteArray(values)
                                << QString::fromLatin1(why);
        };
        row("Knex", "knex_migrations_lock", "index is_locked", "1 1", "is_locked = 1");
        row("Knex, free", "knex_migrations_lock", "index is_locked", "1 0", "");
        row("Ghost", "migrations_lock", "lock_key locked acquired_at released_at", "km01 true 2026-11-28T09:00:00 -",
            "locked = true");
        row("Ghost, free", "migrations_lock", "lock_key locked acquired_at released_at",
            "km01 false 2026-11-28T09:00:00 2026-11-28T09:01:00", "");
        row("Hangfire", "lock", "resource updatecount acquired", "jobs 0 2026-11-28T09:00:00",
            "acquired = 2026-11-28T09:00:00");
        row("Liquibase", "DATABASECHANGELOGLOCK", "id locked lockgranted lockedby", "1 1 - -", "locked = 1");
        row("Liquibase, free", "DATABASECHANGELOGLOCK", "id locked lockgranted lockedby", "1 0 - app-1", "");
        row("Liquibase, free, a bit", "DATABASECHANGELOGLOCK", "id locked", "1 \\0", "");
        row("until later", "shedlock", "name lock_until locked_at locked_by",
            "nightly 2026-11-28T11:00:00.000 2026-11-28T09:00:00 app-1", "lock_until = 2026-11-28T11:00:00.000");
        row("over by one zone only", "shedlock", "name lock_until locked_at locked_by",
            "nightly 2026-11-28T08:30:00 2026-11-28T08:00:00 app-1", "lock_until = 2026-11-28T08:30:00");
        row("over by both", "shedlock", "name lock_until locked_at locked_by",
            "nightly 2026-11-28T07:30:00 2026-11-28T07:00:00 app-1", "");
        row("until a number of seconds", "leases", "name expires_at", "a 1795855000", "expires_at = 1795855000");
        row("and of milliseconds, over", "leases", "name expires_at", "a 1795850000000", "");
        row("until what cannot be read", "leases", "name expires_at", "a soon", "expires_at = soon");
        row("until no time", "leases", "name expires_at", "a 0000-00-00", "");
        row("since no time", "lock", "resource acquired", "jobs 0000-00-00", "");
        row("since what cannot be read", "lock", "resource acquired", "jobs unreadable", "acquired = unreadable");
        row("an owner", "jobs", "id state locked_by", "7 ready worker-3", "locked_by = worker-3");
        row("no owner", "jobs", "id state locked_by", "7 ready -", "");
        row("an owner in a table of locks", "app_locks", "name owner", "a host-1", "owner = host-1");
        row("an owner of something else", "documents", "id owner", "7 bob", "");
        row("hostile", "jobs", "id locked_by", "7 \x1b[2J", "locked_by = \\x1B[2J");
        row("a mark", "lock_marks", "name owner created_at", "a 0f3c 2026-11-28T09:00:00", "owner = 0f3c");
        row("a flag", "lock_flags", "ID version status", "1 7 1", "status = 1");
        row("a flag, free", "lock_flags", "id version status", "1 7 0", "");
        row("a status of something else", "orders", "id version status", "1 7 1", "");
        row("a status in a table of locks of other columns", "lock_flags", "id version status owner_name", "1 7 1 x",
            "");
        row("any other row", "stock", "id n version", "1 5 3", "");
    }
    void columnsSayWhetherARowIsTaken()
    {
        QFETCH(QByteArray, table);
        QFETCH(QByteArray, columns);
        QFETCH(QByteArray, values);
        RowName name{.table = table};
        mariadb::Rows rows{.columns = columns.split(' ')};
        auto &row = rows.rows.emplace_back();
        for (const auto &value : values.split(' '))
            row.push_back(value == "-"     ? mariadb::Rows::Cell()
                          : value == "\\0" ? mariadb::Rows::Cell(QByteArray(1, '\0'))
                                           : mariadb::Rows::Cell(value));
        const ServerClock clock{"2026-11-28 10:00:00.000", "2026-11-28 08:00:00.000", 1'795'852'800};
        QTEST(ownedReason(name, rows, clock), "why");
    }
};

LOCKSCOPE_TEST(TestRowOwner)
#include "tst_rowowner.moc"
