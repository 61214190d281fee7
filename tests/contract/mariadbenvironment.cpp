// SPDX-License-Identifier: Apache-2.0
// MariaDB: a lock is a row of shop.contract or a named lock, which live with a connection; or a row of shop.leases,
// which says itself until when; or a row of shop.marks or shop.flags, which nothing ends.
#include "sqlclient.h"

namespace lockscope::contract {

using namespace Qt::StringLiterals;

namespace {

std::unique_ptr<mariadb::Session> openSession(Loop &loop, const HostPort &server, const QString &user)
{
    mariadb::SessionOptions options{.host = server, .user = user, .askIdleEvery = 200ms};
    options.idleAnswersWithin = 30s; // it is paused here for longer than a server may be silent
    return mariadb::openSession(loop, options);
}

class MariaDbEnvironment : public SqlEnvironment {
public:
    using SqlEnvironment::SqlEnvironment;

    Result<void> start() override
    {
        if (auto started = startServer(sandbox::makeMariaDb()); !started)
            return started;
        m_table = "shop.contract";
        return furnishServer(
            openSession(loop(), m_server->address(), u"root"_s),
            {
                "CREATE TABLE shop.contract (name VARCHAR(64) PRIMARY KEY, version BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB",
                "CREATE TABLE shop.leases (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL, locked_at "
                "TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL) ENGINE=InnoDB",
                "CREATE TABLE shop.marks (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(64) NOT NULL, created_at "
                "DATETIME(3) NOT NULL) ENGINE=InnoDB",
                "CREATE TABLE shop.flags (id VARCHAR(64) PRIMARY KEY, version BIGINT NOT NULL DEFAULT 0, status INT "
                "NOT NULL DEFAULT 0) ENGINE=InnoDB",
                "CREATE USER 'onlooker'@'%'",
                "CREATE USER 'onlooker'@'localhost'",
            });
    }

    QByteArrayList claims(const TestName &name) override
    {
        QByteArrayList all;
        const auto named = ask("SELECT t.PROCESSLIST_ID AS id, m.LOCK_STATUS AS status FROM "
                               "performance_schema.metadata_locks m JOIN performance_schema.threads t "
                               "ON t.THREAD_ID = m.OWNER_THREAD_ID WHERE m.OBJECT_TYPE = 'USER LEVEL LOCK' "
                               "AND m.OBJECT_NAME = ?",
                               {name});
        for (size_t row = 0; named && row < named->rows.size(); ++row)
            all << "GET_LOCK " + named->cell(row, "status").value_or("?") + ' '
                       + named->cell(row, "id").value_or("?");
        if (const auto owner = leasedBy(name))
            all << "leased " + name + " by " + *owner;
        if (const auto owner = markedBy(name))
            all << "marked " + name + " by " + *owner;
        if (isRowLocked(name))
            all << "row " + name;
        const auto waiting =
            ask("SELECT ID AS id FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Query', 'Execute') "
                "AND ID <> CONNECTION_ID() AND INFO LIKE '%contract%FOR UPDATE%'");
        for (size_t row = 0; waiting && isRowLocked(name) && row < waiting->rows.size(); ++row)
            all << "waiting " + waiting->cell(row, "id").value_or("?");
        return sorted(all);
    }
    bool confirms(const TestName &name, const recipes::Grant &grant) override
    {
        const auto owner = ask("SELECT IS_USED_LOCK(?) AS owner", {name});
        return leasedBy(name) == grant.id || markedBy(name) == grant.id || isRowLocked(name)
               || (owner && owner->cell(0, "owner") == grant.id);
    }
    // As force-release does: the connection goes, and all it holds.
    bool takeAway(const TestName &name, const recipes::Grant &grant) override
    {
        if (leasedBy(name) == grant.id)
            return bool(ask("UPDATE shop.leases SET lock_until = locked_at WHERE name = ?", {name}));
        if (markedBy(name) == grant.id)
            return ask("DELETE FROM shop.marks WHERE name = ?", {name})
                   && ask("UPDATE shop.flags SET status = 0 WHERE id = ?", {name});
        return bool(ask("KILL " + grant.id));
    }
    bool takeAwayClaim(const QByteArray &claim) override
    {
        return bool(ask("KILL " + claim.mid(claim.lastIndexOf(' ') + 1)));
    }
    std::optional<std::chrono::milliseconds> leaseLeft(const TestName &name) override
    {
        const auto left = ask("SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), lock_until) DIV 1000 AS ms "
                              "FROM shop.leases WHERE name = ? AND lock_until > UTC_TIMESTAMP(3)",
                              {name});
        const auto ms = left ? left->cell(0, "ms") : std::nullopt;
        return ms ? std::optional(std::chrono::milliseconds(ms->toLongLong())) : std::nullopt;
    }
    QByteArrayList everything() override
    {
        QByteArrayList names;
        const auto leased = ask("SELECT name FROM shop.leases WHERE lock_until > UTC_TIMESTAMP(3) UNION ALL SELECT "
                                "name FROM shop.marks UNION ALL SELECT id FROM shop.flags WHERE status = 1");
        for (size_t row = 0; leased && row < leased->rows.size(); ++row)
            names << leased->cell(row, "name").value_or("?");
        const auto named = ask("SELECT OBJECT_NAME AS name FROM performance_schema.metadata_locks "
                               "WHERE OBJECT_TYPE = 'USER LEVEL LOCK'");
        for (size_t row = 0; named && row < named->rows.size(); ++row)
            names << named->cell(row, "name").value_or("?");
        return sorted(names);
    }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override
    {
        return std::make_unique<SqlClient>(loop(), m_server->address(), way(), u"root"_s);
    }

private:
    SqlWay way() override
    {
        return {openSession, recipes::makeLock,
                [](const recipes::RecipeInfo &recipe, const TestName &name) {
                    const bool isNamed = recipe.shape == recipes::Shape::NamedLock;
                    const bool isLeased = recipe.endsBy == recipes::EndsBy::Lease;
                    const bool isMarked = recipe.endsBy == recipes::EndsBy::Never;
                    // A flag counts who has had it, a mark does not.
                    return recipe.namePrefix
                           + (isNamed    ? ""
                              : isLeased ? "shop.leases#"
                              : isMarked ? (recipe.fenced ? "shop.flags#" : "shop.marks#")
                                         : "shop.contract#name=")
                           + name;
                },
                [this](const TestName &name) {
                    if (m_furnished.contains(name))
                        return; // and it may be locked by now
                    m_furnished << name;
                    if (!ask("INSERT IGNORE INTO shop.contract (name) VALUES (?)", {name})
                        || !ask("INSERT IGNORE INTO shop.leases (name, lock_until, locked_at, locked_by) "
                                "VALUES (?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), '')",
                                {name})
                        || !ask("INSERT IGNORE INTO shop.flags (id) VALUES (?)", {name}))
                        qFatal("no row for a lock");
                }};
    }
    std::optional<QByteArray> leasedBy(const TestName &name)
    {
        const auto row = ask(
            "SELECT locked_by AS owner FROM shop.leases WHERE name = ? AND lock_until > UTC_TIMESTAMP(3)", {name});
        return row ? row->cell(0, "owner") : std::nullopt;
    }
    // By whom the row is marked or, of a flag, under which version.
    std::optional<QByteArray> markedBy(const TestName &name)
    {
        const auto row =
            ask("SELECT owner FROM shop.marks WHERE name = ? UNION ALL SELECT CAST(version AS CHAR) FROM "
                "shop.flags WHERE id = ? AND status = 1",
                {name, name});
        return row ? row->cell(0, "owner") : std::nullopt;
    }
};

} // namespace

std::unique_ptr<TestEnvironment> makeMariaDbEnvironment(Loop &loop)
{
    return std::make_unique<MariaDbEnvironment>(loop);
}

} // namespace lockscope::contract
