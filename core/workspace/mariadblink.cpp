// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/observer.h"
#include "core/operate/sql.h"
#include "core/workspace/sqllink.h"

namespace lockscope {

namespace {

// A row of our own needs a table of our own, and that a database.
SqlRunLock mariaDbRunLock(const recipes::RecipeInfo &recipe, const QByteArray &name)
{
    if (recipe.shape == recipes::Shape::NamedLock) {
        const auto lock = "GET_LOCK#" + name;
        return {lock, {}, {"SELECT IS_USED_LOCK(?) IS NOT NULL AS held", {name}, {}, false}, lock};
    }
    SqlRunLock row{
        name + ".row#id=1", {"CREATE DATABASE " + name}, {"DROP DATABASE " + name, {}, {}, true}, "database " + name};
    if (recipe.endsBy == recipes::EndsBy::Lease) {
        row.name = "SHEDLOCK#" + name + ".shedlock#sim";
        row.making << "CREATE TABLE " + name
                          + ".shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL, locked_at "
                            "TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL) "
                            "ENGINE=InnoDB";
    } else if (recipe.endsBy == recipes::EndsBy::Never) {
        const bool isFlag = !recipes::rowLayoutNamed(recipe.namePrefix)->flag.isEmpty();
        row.name = recipe.namePrefix + name + (isFlag ? ".lock_flags#1" : ".lock_marks#sim");
        row.making
            << "CREATE TABLE " + name
                   + ".lock_marks (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(64) NOT NULL, created_at "
                     "DATETIME(3) NOT NULL) ENGINE=InnoDB"
            << "CREATE TABLE " + name
                   + ".lock_flags (id INT PRIMARY KEY, version BIGINT NOT NULL, status INT NOT NULL) ENGINE=InnoDB"
            << "INSERT INTO " + name + ".lock_flags VALUES (1, 0, 0)";
    } else {
        row.making << "CREATE TABLE " + name + ".row (id INT PRIMARY KEY, version BIGINT NOT NULL) ENGINE=InnoDB"
                   << "INSERT INTO " + name + ".row VALUES (1, 0)";
    }
    return row;
}

const SqlKit mariaDbKit{
    .speech = transport::mySqlSpeech,
    .open = mariadb::openSession,
    .observe = [](mariadb::Session &session, const ConnectionName &name, const inspect::ObserverOptions &options,
                  inspect::ObserverSink &sink) -> std::unique_ptr<inspect::Observer> {
        return std::make_unique<inspect::MariaDbObserver>(session, name, options, sink);
    },
    // For people, by the server's own words; nothing else is concluded from them.
    .title = [](const QByteArray &version) { return version.contains("MariaDB") ? u"MariaDB"_s : u"MySQL"_s; },
    .writeWords = [] { return operate::SqlWriteWords(); }, // those the gate knows are its own
    .rights = inspect::mariaDbRights,
    .makeLock =
        [](const QByteArray &recipe, mariadb::Session &session, const QByteArray &lock,
           const recipes::AcquireOptions &options) {
            return recipes::makeLock(recipe, session, lock, options, Random::fromSystem());
        },
    .ownId = inspect::ownContenderId,
    .withLosses = operate::withKillLosses,
    .sendRelease = operate::sendRelease,
    .runLock = mariaDbRunLock,
};

} // namespace

mariadb::Session *mariaDbOf(Link *link)
{
    auto *sql = dynamic_cast<SqlLink *>(link);
    return sql && &sql->kit() == &mariaDbKit ? &sql->session() : nullptr;
}

Result<std::unique_ptr<Link>> makeMariaDbLink(ConnectionSpec spec, LinkContext context)
{
    return makeSqlLink(std::move(spec), std::move(context), mariaDbKit, u"MariaDB"_s);
}

} // namespace lockscope
