// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/demomariadb.h"

#include "core/passage/mysqlprelude.h"
#include "core/recipes/make.h"
#include "core/sandbox/sqlscenes.h"

using namespace std::chrono_literals;

namespace lockscope::sandbox {

namespace {

const QByteArray stockRow = "shop.stock#id=1";

} // namespace

DemoMariaDb::DemoMariaDb(DemoStage &stage, const ConnectionSpec &server)
    : m_stage(stage), m_server(server), m_passage(server.transport, server.hosts), m_scope(stage.loop())
{
    m_scope.launch(queueUp(&m_stage, &m_scope, 3, contender("sql-for-update", stockRow, 9s)));
    m_scope.launch(queueUp(&m_stage, &m_scope, 2, contender("sql-get-lock", "GET_LOCK#nightly-report", 14s)));
    m_scope.launch(playConflict("shop.stock#id=2"));
}

std::unique_ptr<mariadb::Session> DemoMariaDb::openSession()
{
    mariadb::SessionOptions options;
    options.host = m_passage.throughTls(m_server.hosts.front(), passage::mySqlSpeech.verified);
    options.user = m_server.user;
    // An application asks nothing while it works: what it did last is then its work.
    options.askIdleEvery = 60s;
    return mariadb::openSession(m_stage.loop(), options);
}

JoinQueue DemoMariaDb::contender(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold)
{
    return [this, recipe, lock, hold](const Completion<bool> &joined) { return contend(recipe, lock, hold, joined); };
}

Task<void> DemoMariaDb::contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold,
                                Completion<bool> joined)
{
    const auto session = openSession();
    co_await untilConnected(&m_stage, session.get());
    joined.complete(true);
    const auto made = recipes::makeLock(recipe, *session, lock, {}, Random::fromSystem());
    if (!made)
        co_return;
    auto turns = takeTurns(&m_stage, made->get(), hold, [&] {
        // Not prepared: of those MariaDB keeps no text, and an operator wants to see one.
        if (lock == stockRow)
            (void)session->execute(
                {"UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 1", {}, session->connectionId()},
                Deadline::after(m_stage.loop(), 5s));
    });
    co_await turns;
}

Task<void> DemoMariaDb::playConflict(QByteArray lock)
{
    m_stage.sceneBegins();
    const auto session = openSession();
    co_await untilConnected(&m_stage, session.get());
    const auto soon = Deadline::after(m_stage.loop(), 10s);
    const mariadb::Statement create{
        "CREATE TABLE IF NOT EXISTS shop.version_conflicts (happened TIMESTAMP(3) NOT NULL "
        "DEFAULT CURRENT_TIMESTAMP(3), version BIGINT NOT NULL)",
        {},
        {},
        true};
    auto creating = session->execute(create, soon);
    (void)co_await creating;
    const auto one = recipes::makeLock("sql-version", *session, lock, {}, Random::fromSystem());
    const auto other = recipes::makeLock("sql-version", *session, lock, {}, Random::fromSystem());
    const auto never = Deadline::never();
    bool isUp = false;
    while (one && other) {
        const auto stale = co_await (*one)->acquire(never);
        const bool written = co_await work(other->get(), 500ms);
        const auto limit = Deadline::after(m_stage.loop(), 5s);
        const auto late = co_await (*one)->release(limit);
        if (stale && written && !late && late.error().code == ErrorCode::BadVersion) {
            const mariadb::Statement note{
                "INSERT INTO shop.version_conflicts (version) VALUES (?)", {stale->id}, {}, true};
            auto noting = session->execute(note, limit);
            (void)co_await noting;
            if (!std::exchange(isUp, true))
                m_stage.sceneIsUp();
            co_await work(one->get(), 100ms); // once more, from what is there now
        }
        auto rest = m_stage.pauseOfAbout(2s);
        co_await rest;
    }
}

Task<bool> DemoMariaDb::work(recipes::Lock *lock, std::chrono::milliseconds span)
{
    const auto limit = Deadline::after(m_stage.loop(), 5s);
    const auto grant = co_await lock->acquire(limit);
    auto pause = sleepFor(m_stage.loop(), span);
    co_await pause;
    const auto written = co_await lock->release(limit);
    co_return grant &&written;
}

} // namespace lockscope::sandbox
