// SPDX-License-Identifier: Apache-2.0
// The link to a server that is spoken to in SQL: session, gate, observer, and contenders of ours. The session
// reconnects by itself. What differs between such servers is an SqlKit.
#include "core/contention/traced/tracedport.h"
#include "core/inspect/postgresql/observer.h"
#include "core/operate/sql.h"
#include "core/postgresql/dialect.h"
#include "core/recipes/mariadb/rowname.h"
#include "core/workspace/link.h"

namespace lockscope {

namespace {

// What a run on a real server contends for.
struct SqlRunLock {
    QByteArray name;           // as its recipe is given it
    QByteArrayList making;     // statements; none for what is there by its name alone
    mariadb::Statement ending; // takes away what was made; else answers 1 in the column "held" while somebody has it
    QByteArray left;           // what there is still of it when that failed, or answered so
};

// Of each SQL server its own; all of it is what its own rooms offer.
struct SqlKit {
    transport::SqlSpeech speech; // where TLS begins in its protocol, and what its login may ask for
    std::unique_ptr<mariadb::Session> (*open)(Loop &loop, mariadb::SessionOptions options);
    std::unique_ptr<inspect::Observer> (*observe)(mariadb::Session &session, const ConnectionName &name,
                                                  const inspect::ObserverOptions &options,
                                                  inspect::ObserverSink &sink);
    QString (*title)(const QByteArray &version); // "PostgreSQL", before the version itself
    operate::SqlWriteWords (*writeWords)();      // of its dialect, for the gate
    Task<QStringList> (*rights)(mariadb::Session *session, Deadline deadline);
    Result<std::unique_ptr<recipes::Lock>> (*makeLock)(const QByteArray &recipe, mariadb::Session &session,
                                                       const QByteArray &lock,
                                                       const recipes::AcquireOptions &options);
    // A connection names a hold only with when it or its transaction began.
    Task<std::optional<QByteArray>> (*ownId)(mariadb::Session *session, QByteArray recipe, Deadline deadline);
    Task<operate::ForceReleasePlan> (*withLosses)(operate::ForceReleasePlan plan, mariadb::Session *session,
                                                  Deadline deadline);
    Task<Result<operate::Sent>> (*sendRelease)(operate::ForceReleasePlan plan, mariadb::Session *session,
                                               Deadline deadline);
    // `name`: of the run alone, of letters, digits and _.
    SqlRunLock (*runLock)(const recipes::RecipeInfo &recipe, const QByteArray &name);
};

// The name of a row that is a lock by what stands in it: who holds that has no lock on the row.
std::optional<QByteArray> nameByWhatStandsIn(const QByteArray &lock)
{
    const auto row = recipes::readRowName(lock);
    if (!row || row->columns.size() != 1)
        return std::nullopt;
    const auto isOf = [&row](const char *table, const char *column) {
        return row->table.compare(table, Qt::CaseInsensitive) == 0
               && row->columns.front().compare(column, Qt::CaseInsensitive) == 0;
    };
    QByteArray prefix = isOf("shedlock", "name")              ? "SHEDLOCK#"
                        : isOf("databasechangeloglock", "id") ? "LIQUIBASE#"
                                                              : "";
    for (const auto &one : recipes::rowLayouts()) { // of our own recipes
        if (one.client.isEmpty() && one.name == QByteArrayList{row->columns.front().toLower()}
            && row->table.toLower().endsWith(one.tableSuffix))
            prefix = one.prefix;
    }
    const inspect::SqlLockRow held{
        .layout = recipes::rowLayoutNamed(prefix), .schema = row->schema, .table = row->table, .names = row->values};
    return held.layout ? std::optional(inspect::lockRowName(held)) : std::nullopt;
}

class SqlContender : public OwnContender {
public:
    SqlContender(std::unique_ptr<mariadb::Session> session, HoldRequest request, const SqlKit &kit)
        : m_session(std::move(session)), m_request(std::move(request)), m_kit(kit)
    {
    }

    Task<Result<void>> connect(Deadline deadline) override
    {
        auto &loop = m_session->loop();
        while (m_session->state() == mariadb::SessionState::Connecting && !deadline.hasPassed(loop)) {
            const Completion<bool> changed(loop);
            changed.completeAt(deadline, false);
            const auto subscription =
                m_session->onState([changed](mariadb::SessionState) { changed.complete(true); });
            co_await changed;
        }
        if (m_session->state() == mariadb::SessionState::Connected)
            co_return Result<void>();
        const bool refused = m_session->state() == mariadb::SessionState::AuthFailed;
        co_return Error{refused ? ErrorCode::AuthFailed : ErrorCode::NotConnected,
                        u"no session for the contender: %1"_s.arg(m_session->lastError()), !refused,
                        m_session->isExplained()};
    }
    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        return m_kit.makeLock(m_request.recipe, *m_session, m_request.lock.name, m_request.options());
    }
    Task<QByteArray> idOf(QByteArray granted) override
    {
        const auto askBy = Deadline::after(m_session->loop(), std::chrono::milliseconds(1500));
        const auto id = co_await m_kit.ownId(m_session.get(), m_request.recipe, askBy);
        co_return id.value_or(granted);
    }
    [[nodiscard]] std::vector<QByteArray> otherNames() const override
    {
        const auto name = nameByWhatStandsIn(m_request.lock.name);
        return name ? std::vector{*name} : std::vector<QByteArray>();
    }
    // The session itself asks whether it still stands, and the recipe tells.
    void watchOver(const Holding &, const recipes::Grant &) override {}
    [[nodiscard]] bool isCleaningUp() const override { return !m_session->background().isIdle(); }
    // The optimistic lock's release is a write.
    [[nodiscard]] bool isGivenBackBySession() const override
    {
        return !recipes::recipeOf(m_request.recipe).optimistic;
    }

private:
    std::unique_ptr<mariadb::Session> m_session;
    const HoldRequest m_request;
    const SqlKit &m_kit;
};

class SqlLink final : public Link {
public:
    // The kit lives for ever.
    SqlLink(ConnectionSpec spec, LinkContext context, const SqlKit &kit)
        : Link(std::move(spec), std::move(context)), m_kit(kit)
    {
        // It looks and kills, and waits for no lock: silence means that nobody answers.
        auto options = sessionOptions();
        options.readsWithin = std::chrono::seconds(15);
        m_session = m_kit.open(m_context.loop, std::move(options));
        m_gated = operate::gated(*m_session, m_gate, m_kit.writeWords());
        m_observer = m_kit.observe(*m_gated, m_spec.name, m_context.options.observer, m_proxy);
        m_state = m_session->onState(
            [this](mariadb::SessionState state) { stateChanged(state == mariadb::SessionState::Connected); });
    }

    [[nodiscard]] const SqlKit &kit() const { return m_kit; }
    [[nodiscard]] mariadb::Session &session() { return *m_gated; } // gated
    // A fresh one for a contender of ours, gated and logged as this link's.
    [[nodiscard]] std::unique_ptr<mariadb::Session> openSession()
    {
        return operate::gated(m_kit.open(m_context.loop, sessionOptions()), m_gate, m_kit.writeWords());
    }

    [[nodiscard]] bool isConnected() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] std::optional<Error> problem() const override
    {
        const bool isRefused = m_session->state() == mariadb::SessionState::AuthFailed;
        if (isRefused && !m_session->lastError().isEmpty() && m_transport->isProblemOfTls()) // ours, of the login
            return Error{ErrorCode::AuthFailed,
                         u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), m_transport->problem()), false,
                         true};
        return isRefused && !m_session->lastError().isEmpty()
                   ? refused(reason(m_session->lastError()), m_session->isExplained())
                   : problemOf(*m_session);
    }
    [[nodiscard]] QString serverVersion() override
    {
        const auto version = m_session->serverVersion();
        return version.isEmpty() ? QString() : m_kit.title(version) + u' ' + QString::fromUtf8(version);
    }
    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override
    {
        return m_kit.rights(m_gated.get(), deadline);
    }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }
    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override
    {
        return std::make_unique<SqlContender>(openSession(), request, m_kit);
    }
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override;
    [[nodiscard]] Task<operate::ForceReleasePlan> withLosses(operate::ForceReleasePlan plan,
                                                             Deadline deadline) override
    {
        return m_kit.withLosses(std::move(plan), m_gated.get(), deadline);
    }
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override
    {
        return m_kit.sendRelease(std::move(plan), m_gated.get(), deadline);
    }

private:
    [[nodiscard]] mariadb::SessionOptions sessionOptions() const
    {
        mariadb::SessionOptions options;
        options.host =
            m_transport->throughSql(m_spec.hosts.front(), m_kit.speech, !m_password.isEmpty() || m_passwords);
        options.keep = m_transport;
        options.user = m_spec.user;
        options.password = m_password;
        options.passwords = m_passwords;
        options.database = m_spec.databaseName;
        const auto &tls = m_spec.transport.tls;
        if (tls.isOn)
            options.secured = tls.cert.isEmpty() ? mariadb::Secured::ByTls : mariadb::Secured::ByCertificate;
        return options;
    }

    const SqlKit &m_kit;
    std::unique_ptr<mariadb::Session> m_session;
    std::unique_ptr<mariadb::Session> m_gated;
    std::unique_ptr<inspect::Observer> m_observer;
    Subscription m_state;
};

class SqlPool : public ContenderPool {
public:
    SqlPool(SqlLink &link, const ContenderPoolContext &context)
        : m_link(link), m_scenario(context.scenario),
          m_lock(link.kit().runLock(recipes::recipeOf(context.scenario.recipe), "lockscope_simulate_" + context.name))
    {
        for (int i = 0; i < m_scenario.contenders; ++i) {
            m_sessions.push_back(m_link.openSession());
            m_traced.push_back(std::make_unique<contention::TracedSql>(*m_sessions.back(), context.trace, i));
        }
    }

    [[nodiscard]] bool isReady() const override
    {
        return std::ranges::all_of(
            m_sessions, [](const auto &session) { return session->state() == mariadb::SessionState::Connected; });
    }

    Task<Result<void>> prepare(Deadline deadline) override
    {
        for (const auto &text : m_lock.making) {
            const mariadb::Statement statement{text, {}, {}, true};
            const auto done = co_await m_link.session().execute(statement, deadline);
            if (!done)
                co_return Error{done.error().code,
                                u"simulate needs a row of its own, and could not make it on %1: %2"_s.arg(
                                    m_link.spec().displayUri(), done.error().message)};
        }
        co_return Result<void>();
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return m_link.kit().makeLock(m_scenario.recipe, *m_traced[std::size_t(contender)], m_lock.name, options);
    }

    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        const auto done = co_await m_link.session().execute(m_lock.ending, deadline);
        const bool isLeft =
            m_lock.making.isEmpty() ? done && done->cell(0, "held") == QByteArray("1") : !done.operator bool();
        co_return isLeft ? std::vector{m_lock.left} : std::vector<QByteArray>();
    }

private:
    SqlLink &m_link;
    const contention::Scenario m_scenario;
    const SqlRunLock m_lock;
    std::vector<std::unique_ptr<mariadb::Session>> m_sessions;
    std::vector<std::unique_ptr<contention::TracedSql>> m_traced; // by contender
};

std::unique_ptr<ContenderPool> SqlLink::openPool(const ContenderPoolContext &context)
{
    return std::make_unique<SqlPool>(*this, context);
}

Result<std::unique_ptr<Link>> makeSqlLink(ConnectionSpec spec, LinkContext context, const SqlKit &kit,
                                          const QString &server)
{
    if (spec.hosts.size() > 1)
        return Error{ErrorCode::BadInput, u"%1: one %2 server at a time"_s.arg(spec.displayUri(), server)};
    return std::unique_ptr<Link>(std::make_unique<SqlLink>(std::move(spec), std::move(context), kit));
}

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

// A row of our own needs a table of our own, and that a schema.
SqlRunLock postgreSqlRunLock(const recipes::RecipeInfo &recipe, const QByteArray &name)
{
    if (recipe.shape == recipes::Shape::NamedLock) {
        const auto key = QByteArray::number(static_cast<qint64>(Random::fromSystem().next() >> 1));
        const auto lock = "ADVISORY#" + key;
        // Free if it can be had; what is had by that ends with the statement's own transaction.
        return {lock, {}, {"SELECT (NOT pg_try_advisory_xact_lock(?))::int AS held", {key}, {}, false}, lock};
    }
    return {name + ".row#id=1",
            {"CREATE SCHEMA " + name, "CREATE TABLE " + name + ".row (id INT PRIMARY KEY)",
             "INSERT INTO " + name + ".row VALUES (1)"},
            {"DROP SCHEMA " + name + " CASCADE", {}, {}, true},
            "schema " + name};
}

const SqlKit postgreSqlKit{
    .speech = transport::postgreSqlSpeech,
    .open = postgresql::openSession,
    .observe = [](mariadb::Session &session, const ConnectionName &name, const inspect::ObserverOptions &options,
                  inspect::ObserverSink &sink) -> std::unique_ptr<inspect::Observer> {
        return std::make_unique<inspect::PostgreSqlObserver>(session, name, options, sink);
    },
    .title = [](const QByteArray &) { return u"PostgreSQL"_s; },
    .writeWords = operate::postgreSqlWriteWords,
    .rights = inspect::postgreSqlRights,
    .makeLock = recipes::makePostgreSqlLock,
    .ownId = inspect::ownBackendId,
    .withLosses = operate::withBackendLosses,
    .sendRelease = operate::sendPostgreSqlRelease,
    .runLock = postgreSqlRunLock,
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

Result<std::unique_ptr<Link>> makePostgreSqlLink(ConnectionSpec spec, LinkContext context)
{
    return makeSqlLink(std::move(spec), std::move(context), postgreSqlKit, u"PostgreSQL"_s);
}

} // namespace lockscope
