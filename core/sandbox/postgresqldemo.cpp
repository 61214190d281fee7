// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/postgresqldemo.h"

#include "core/recipes/postgresql/make.h"
#include "core/sandbox/sqlscenes.h"

using namespace std::chrono_literals;

namespace lockscope::sandbox {

DemoPostgreSql::DemoPostgreSql(DemoStage &stage, const ConnectionSpec &server)
    : m_stage(stage), m_server(server), m_scope(stage.loop())
{
    m_scope.launch(queueUp(&m_stage, &m_scope, 3, contender("pg-for-update", "public.stock#id=1", 9s)));
    m_scope.launch(queueUp(&m_stage, &m_scope, 2, contender("pg-advisory", "ADVISORY#42", 14s)));
}

JoinQueue DemoPostgreSql::contender(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold)
{
    return [this, recipe, lock, hold](const Completion<bool> &joined) { return contend(recipe, lock, hold, joined); };
}

Task<void> DemoPostgreSql::contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold,
                                   Completion<bool> joined)
{
    mariadb::SessionOptions options;
    options.host = m_server.hosts.front();
    options.user = m_server.user;
    const auto session = postgresql::openSession(m_stage.loop(), options);
    co_await untilConnected(&m_stage, session.get());
    joined.complete(true);
    const auto made = recipes::makePostgreSqlLock(recipe, *session, lock, {});
    if (!made)
        co_return;
    auto turns = takeTurns(&m_stage, made->get(), hold);
    co_await turns;
}

} // namespace lockscope::sandbox
