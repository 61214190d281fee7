// SPDX-License-Identifier: Apache-2.0
#include "core/client/mariadbserver.h"
#include "core/postgresql/dialect.h"
#include "core/recipes/make.h"

namespace lockscope::client {

namespace {

const SqlParts postgreSqlParts{
    transport::postgreSqlSpeech, postgresql::openSession, [](const Request &request, mariadb::Session &session) {
        return recipes::makePostgreSqlLock(request.recipe, session, request.lock, request.options);
    }};

} // namespace

} // namespace lockscope::client

namespace lockscope::v0::detail {

// <lockscope/postgresql.h> declares it.
bool linkPostgreSql()
{
    return client::addBackend(BackendKind::PostgreSql, [](client::Reach reach) {
        return client::makeSqlServer(std::move(reach), client::postgreSqlParts);
    });
}

} // namespace lockscope::v0::detail
