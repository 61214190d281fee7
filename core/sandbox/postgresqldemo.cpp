// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/postgresqldemo.h"

#include "core/recipes/postgresql/make.h"

using namespace std::chrono_literals;

namespace lockscope::sandbox {

DemoPostgreSql::DemoPostgreSql(DemoStage &stage, const ConnectionSpec &server)
    : m_stage(stage), m_server(server), m_scope(stage.loop())
{
    m_scope.launch(playQueue("pg-for-update", "public.stock#id=1", 3, 9s));
    m_scope.launch(playQueue("pg-advisory", "ADVISORY#42", 2, 14s));
}

// One after the other, so that the queue is in the order they came.
Task<void> DemoPostgreSql::playQueue(QByteArray recipe, QByteArray lock, int clients, std::chrono::milliseconds hold)
{
    m_stage.sceneBegins();
    for (int i = 0; i < clients; ++i) {
        const Completion<bool> joined(m_stage.loop());
        m_scope.launch(contend(recipe, lock, hold, joined));
        co_await joined;
        auto pause = sleepFor(m_stage.loop(), 50ms);
        co_await pause;
    }
    m_stage.sceneIsUp();
}

Task<void> DemoPostgreSql::contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold,
                                   Completion<bool> joined)
{
    mariadb::SessionOptions options;
    options.host = m_server.hosts.front();
    options.user = m_server.user;
    const auto session = postgresql::openSession(m_stage.loop(), options);
    co_await untilConnected(session.get());
    joined.complete(true);
    const auto made = recipes::makePostgreSqlLock(recipe, *session, lock, {});
    const auto never = Deadline::never();
    while (made) {
        const auto grant = co_await (*made)->acquire(never);
        auto pause = m_stage.pauseOfAbout(grant ? hold : 1000ms);
        co_await pause;
        if (!grant)
            continue;
        const auto limit = Deadline::after(m_stage.loop(), 5s);
        const auto released = co_await (*made)->release(limit);
        // Who was terminated while it held comes back a little later.
        auto rest = m_stage.pauseOfAbout(released ? 300ms : 5000ms);
        co_await rest;
    }
}

Task<void> DemoPostgreSql::untilConnected(mariadb::Session *session)
{
    const Completion<bool> done(m_stage.loop());
    const auto subscription = session->onState([done](mariadb::SessionState) { done.complete(true); });
    if (session->state() != mariadb::SessionState::Connecting)
        co_return;
    co_await done;
}

} // namespace lockscope::sandbox
