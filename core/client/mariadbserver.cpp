// SPDX-License-Identifier: Apache-2.0
#include "core/client/mariadbserver.h"

#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::client {

namespace {

class SqlContender : public Contender {
public:
    SqlContender(const SqlParts &parts, std::unique_ptr<mariadb::Session> session, Request request)
        : m_parts(parts), m_session(std::move(session)), m_request(std::move(request))
    {
    }

    Task<Result<void>> connect(Deadline deadline) override
    {
        auto connected = co_await recipes::untilConnected(m_session.get(), deadline);
        co_return connected;
    }
    Result<std::unique_ptr<recipes::Lock>> makeLock() override { return m_parts.makeLock(m_request, *m_session); }
    [[nodiscard]] bool isCleaningUp() const override { return !m_session->background().isIdle(); }

private:
    const SqlParts &m_parts;
    const std::unique_ptr<mariadb::Session> m_session;
    const Request m_request;
};

class SqlServer : public Server {
public:
    SqlServer(Reach reach, const SqlParts &parts) : m_reach(std::move(reach)), m_parts(parts), m_first(openSession())
    {
    }

    Task<Result<void>> connect(Deadline deadline) override
    {
        if (m_reach.spec.hosts.size() > 1)
            co_return Error{ErrorCode::BadInput, u"%1: one server at a time"_s.arg(m_reach.spec.displayUri())};
        auto connected = co_await untilUp(&m_reach, m_first.get(), deadline);
        co_return connected;
    }
    std::unique_ptr<Contender> open(const Request &request) override
    {
        auto session = m_first ? std::move(m_first) : openSession();
        return std::make_unique<SqlContender>(m_parts, std::move(session), request);
    }

private:
    [[nodiscard]] std::unique_ptr<mariadb::Session> openSession() const
    {
        const auto &spec = m_reach.spec;
        mariadb::SessionOptions options;
        options.host = m_reach.transport->throughSql(spec.hosts.front(), m_parts.speech, spec.hasPassword());
        options.keep = m_reach.transport;
        options.user = spec.user;
        options.password = spec.password;
        options.passwords = m_reach.passwords;
        options.database = spec.databaseName;
        const auto &tls = spec.transport.tls;
        if (tls.isOn)
            options.secured = tls.cert.isEmpty() ? mariadb::Secured::ByTls : mariadb::Secured::ByCertificate;
        return m_parts.open(m_reach.loop, std::move(options));
    }

    const Reach m_reach;
    const SqlParts &m_parts;
    std::unique_ptr<mariadb::Session> m_first; // shows whether the server can be reached; the first lock has it then
};

const SqlParts mariaDbParts{
    transport::mySqlSpeech, mariadb::openSession, [](const Request &request, mariadb::Session &session) {
        return recipes::makeLock(request.recipe, session, request.lock, request.options, Random::fromSystem());
    }};

} // namespace

std::unique_ptr<Server> makeSqlServer(Reach reach, const SqlParts &parts)
{
    return std::make_unique<SqlServer>(std::move(reach), parts);
}

} // namespace lockscope::client

namespace lockscope::v0::detail {

// <lockscope/mariadb.h> declares it.
bool linkMariaDb()
{
    return client::addBackend(BackendKind::MariaDb, [](client::Reach reach) {
        return client::makeSqlServer(std::move(reach), client::mariaDbParts);
    });
}

} // namespace lockscope::v0::detail
