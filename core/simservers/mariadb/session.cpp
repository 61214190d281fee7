// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/server.h"

#include "core/mariadb/dialect.h"

#include <QSqlError>

namespace lockscope::sim {

using mariadb::ConnectionId;

// Kept by the link's listeners, by the server's connection and by what is on its way.
struct SqlLink::Far : std::enable_shared_from_this<Far> {
    SqlServer *server = nullptr;
    Network *network = nullptr;
    SqlLinkOptions options;
    int process = 0;
    LocalWeak<NetworkLink> networkLink;
    ConnectionId connection = 0;
    quint64 silences = 0;

    void greet()
    {
        connection = server->connect([weak = networkLink] {
            if (const auto alive = weak.lock())
                alive->close(End::Server);
        });
    }
    [[nodiscard]] bool isCut() const
    {
        return network->isBlocked(process, options.server, Direction::ToServer)
               || network->isBlocked(process, options.server, Direction::ToClient);
    }
    // The clocks of an end that hears nothing start now, unless it hears again.
    void healthChanged()
    {
        const auto now = ++silences;
        const auto alive = networkLink.lock();
        if (!alive || !alive->isUp() || connection == 0)
            return;
        auto &world = network->world();
        if (isCut()) {
            world.runAt(world.now() + options.keepAlive, [self = shared_from_this(), now] {
                const auto still = self->networkLink.lock();
                if (now == self->silences && still)
                    still->breakNow();
            });
        }
        if (!alive->carries(Direction::ToServer))
            watchIdle(now);
    }
    void watchIdle(quint64 silence)
    {
        const auto since = server->idleSince(connection);
        auto &world = network->world();
        const auto ends = since.value_or(world.now()) + options.idleAtMost;
        if (since && ends <= world.now()) {
            server->kill(connection);
            return;
        }
        world.runAt(ends, [self = shared_from_this(), silence] {
            if (silence == self->silences)
                self->watchIdle(silence);
        });
    }
};

std::shared_ptr<SqlLink::Far> SqlLink::accept(SqlLink &link)
{
    auto far = std::make_shared<Far>();
    far->server = &link.m_server;
    far->network = &link.m_network;
    far->options = link.m_options;
    far->process = link.m_process;
    far->networkLink = link.m_networkLink;
    link.m_networkLink->onBroken(End::Server, [far] { far->server->disconnected(far->connection); });
    link.m_networkLink->onHealth(End::Server, [far] { far->healthChanged(); });
    return far;
}

std::shared_ptr<SqlLink> SqlLink::dial(Process &process, SqlServer &server, Network &network,
                                       const SqlLinkOptions &options)
{
    auto networkLink = network.connect(process, options.server);
    if (!networkLink)
        return {};
    std::shared_ptr<SqlLink> link(new SqlLink(server, network, options, process.number()));
    link->m_networkLink = std::move(networkLink);
    link->m_far = accept(*link);
    link->m_networkLink->onBroken(End::Client, [weak = std::weak_ptr<SqlLink>(link)] {
        if (const auto alive = weak.lock()) {
            alive->m_isBroken = true;
            if (const auto broken = std::exchange(alive->m_broken, {}))
                broken();
        }
    });
    link->m_networkLink->toServer(
        [networkLink = link->m_networkLink, far = link->m_far, weak = std::weak_ptr<SqlLink>(link)] {
            far->greet();
            networkLink->toClient([weak, connection = far->connection] {
                const auto alive = weak.lock();
                if (!alive)
                    return;
                if (const auto greeted = std::exchange(alive->m_greeted, {}))
                    greeted(connection);
            });
        });
    return link;
}

void SqlLink::send(const mariadb::Statement &statement, std::function<void(const SqlAnswer &)> heard)
{
    m_networkLink->toServer(
        [networkLink = m_networkLink, far = m_far, weak = weak_from_this(), statement, heard = std::move(heard)] {
            far->server->execute(far->connection, statement.text, statement.parameters,
                                 [networkLink, weak, heard](const SqlAnswer &answer) {
                                     networkLink->toClient([weak, heard, answer] {
                                         if (!weak.expired())
                                             heard(answer);
                                     });
                                 });
        });
}

void SqlLink::close()
{
    m_greeted = {};
    m_broken = {};
    m_networkLink->close(End::Client);
}

using mariadb::Rows;
using mariadb::SessionState;
using mariadb::Statement;

namespace {

constexpr Duration leastBackOff = 50ms, mostBackOff = 5s;
constexpr Duration connectTakesAtMost = 5s, killAnswersWithin = 2s, killTakesAtMost = 3s;

Error notSent(const Statement &statement, const QString &why)
{
    return {statement.connection ? ErrorCode::SessionExpired : ErrorCode::NotConnected, u"nothing was sent: "_s + why,
            true};
}

QSqlError sqlError(int number, const QByteArray &message)
{
    return {u"simulated"_s, QString::fromUtf8(message), QSqlError::StatementError, QString::number(number)};
}

class SimulatedSession final : public mariadb::EndSession {
public:
    SimulatedSession(Process &process, SqlServer &server, Network &network, SqlLinkOptions options)
        : EndSession(process, killTakesAtMost), m_process(process), m_server(server), m_network(network),
          m_options(options)
    {
        m_process.post([this, alive = std::weak_ptr<bool>(m_alive)] {
            if (!alive.expired())
                dial();
        });
        m_look = in(m_options.askIdleEvery, &SimulatedSession::lookAfterIdle);
    }
    ~SimulatedSession() override
    {
        static_cast<void>(leave());
        finishAll(Error{ErrorCode::NotConnected, u"the session was closed"_s});
    }

    mariadb::Features features() const override { return SqlServer::features(); }

private:
    struct Job {
        quint64 number = 0;
        Statement statement;
    };
    struct Killing {
        std::shared_ptr<SqlLink> link;
        Timer timer;
    };

    // What is asked of it.

    void run(quint64 number, Statement statement, Deadline) override
    {
        m_jobs.push_back({number, std::move(statement)});
        pump();
    }
    bool takeBack(quint64 number) override
    {
        if (std::erase_if(m_jobs, [number](const Job &job) { return job.number == number; }) > 0)
            return true;
        if (m_running && m_running->number == number)
            killQuery();
        return false;
    }
    void giveUpOnServer(const QString &why) override
    {
        const auto unsent = leave();
        m_lastError = why;
        become(SessionState::Connecting);
        for (const auto &job : unsent)
            finish(job.number, notSent(job.statement, why));
        finishAll(Error{ErrorCode::UnknownOutcome, why, true});
        m_backOff = {};
        dial();
    }
    // What runs is ended by KILL, except what is to last; the server hears that nobody is there any more. Returns
    // what was queued and is not going to be sent.
    [[nodiscard]] std::deque<Job> leave()
    {
        if (m_link && m_running && !m_running->statement.isLasting)
            sendKill("KILL " + QByteArray::number(m_connection), {});
        for (const auto &[number, killing] : std::exchange(m_killings, {})) {
            if (killing.link)
                killing.link->close();
        }
        if (m_link)
            m_link->close();
        m_link.reset();
        m_running.reset();
        m_isHarmless = false;
        m_question = 0;
        m_connection = 0;
        return std::exchange(m_jobs, {});
    }
    void lookAfterIdle()
    {
        m_look = in(m_options.askIdleEvery, &SimulatedSession::lookAfterIdle);
        checkIdle(m_options.askIdleEvery, m_options.idleAnswersWithin,
                  u"the idle connection has not replied to a check"_s, {"DO 0", {}, std::nullopt, false});
    }
    // On a connection of its own. What is sent next waits until this is over, or has taken too long.
    void killQuery()
    {
        m_wasKilled = true;
        const auto killing = ++m_lastNumber;
        auto done = [this, killing, alive = std::weak_ptr<bool>(m_alive)] {
            if (!alive.expired())
                killEnds(killing);
        };
        auto &entry = m_killings[killing];
        entry.timer = m_process.callAt(m_process.now() + killAnswersWithin, done);
        entry.link = sendKill("KILL QUERY " + QByteArray::number(m_connection), done);
    }
    void killEnds(quint64 killing)
    {
        const auto at = m_killings.find(killing);
        if (at == m_killings.end())
            return;
        if (at->second.link)
            at->second.link->close();
        m_killings.erase(at);
        pump();
    }
    // Without `done` nobody waits for the answer: it keeps itself until it was sent.
    std::shared_ptr<SqlLink> sendKill(const QByteArray &text, std::function<void()> done)
    {
        auto link = SqlLink::dial(m_process, m_server, m_network, m_options);
        if (!link)
            return {};
        const Statement kill{text, {}, {}, false};
        if (!done) {
            link->send(kill, [](const SqlAnswer &) {});
            link->close();
            return link;
        }
        link->onGreeting([weak = std::weak_ptr<SqlLink>(link), kill, done](ConnectionId) {
            if (const auto alive = weak.lock())
                alive->send(kill, [done](const SqlAnswer &) { done(); });
        });
        link->onBroken(done);
        return link;
    }

    // The connection.

    void dial()
    {
        m_connecting = in(connectTakesAtMost, &SimulatedSession::wireBroke);
        m_link = SqlLink::dial(m_process, m_server, m_network, m_options);
        if (m_link) {
            m_link->onGreeting([this](ConnectionId connection) { greeted(connection); });
            m_link->onBroken([this] { wireBroke(); });
            return;
        }
        // A partition does not refuse: it is silent until the time for connecting is over.
        const auto number = m_process.number();
        const bool isSilent = m_network.isBlocked(number, m_options.server, Direction::ToServer)
                              || m_network.isBlocked(number, m_options.server, Direction::ToClient);
        if (!isSilent)
            cannotConnect(u"the server refused the connection"_s);
    }
    void greeted(ConnectionId connection)
    {
        m_connecting.cancel();
        // Never waits, and cannot fail: it goes before whatever is sent first.
        m_link->send({"SET SESSION autocommit=1, innodb_lock_wait_timeout=100000000", {}, {}, false},
                     [](const SqlAnswer &) {});
        m_backOff = {};
        m_wasKilled = false;
        m_connection = connection;
        m_version = SqlServer::version();
        m_lastError.clear();
        become(SessionState::Connected);
        pump();
    }
    void cannotConnect(const QString &why)
    {
        if (m_link)
            m_link->close();
        m_link.reset();
        m_lastError = why;
        become(SessionState::Connecting);
        m_backOff = std::clamp(2 * m_backOff, leastBackOff, mostBackOff);
        m_connecting = in(m_backOff, &SimulatedSession::dial);
    }
    // One statement at a time. After a KILL QUERY first one for it to hit, should it be late.
    void pump()
    {
        if (m_connection == 0 || m_running || m_isHarmless || !m_killings.empty() || (m_jobs.empty() && !m_wasKilled))
            return;
        m_isHarmless = std::exchange(m_wasKilled, false);
        Statement statement{"DO 0", {}, std::nullopt, false};
        if (!m_isHarmless) {
            m_running = std::move(m_jobs.front());
            m_jobs.pop_front();
            statement = m_running->statement;
        }
        if (m_link->isBroken())
            wireBroke();
        else
            m_link->send(statement, [this](const SqlAnswer &answer) { heard(answer); });
    }
    void heard(const SqlAnswer &answer)
    {
        m_isHarmless = false;
        if (const auto done = std::exchange(m_running, std::nullopt)) {
            finish(done->number, answer.error == 0
                                     ? Result<Rows>(answer.rows)
                                     : Result<Rows>(mariadb::statementError(sqlError(answer.error, answer.message),
                                                                            done->statement.isLasting)));
        }
        pump();
    }
    // Noticed by whoever is using the connection. Who does not use it finds out when it asks.
    void wireBroke()
    {
        if (m_connection == 0)
            cannotConnect(u"no connection to the server"_s);
        else if (m_running || m_isHarmless)
            lost(mariadb::statementError(sqlError(2013, "Lost connection to server"), false));
    }
    void lost(const Error &why)
    {
        const auto running = std::exchange(m_running, std::nullopt);
        const auto unsent = leave();
        m_lastError = why.message;
        become(SessionState::Connecting);
        for (const auto &job : unsent)
            finish(job.number, notSent(job.statement, why.message));
        if (running)
            finish(running->number, mariadb::statementError(sqlError(2013, "Lost connection to server"),
                                                            running->statement.isLasting));
        m_backOff = {};
        m_connecting = in(Duration::zero(), &SimulatedSession::dial);
    }
    [[nodiscard]] Timer in(Duration span, void (SimulatedSession::*what)())
    {
        return m_process.callAt(m_process.now() + span, [this, what] { (this->*what)(); });
    }

    Process &m_process;
    SqlServer &m_server;
    Network &m_network;
    const SqlLinkOptions m_options;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);

    std::deque<Job> m_jobs; // not sent yet
    std::optional<Job> m_running;
    bool m_wasKilled = false;  // a KILL QUERY may have come too late for its statement
    bool m_isHarmless = false; // what is out is there for it to hit
    std::map<quint64, Killing> m_killings;

    std::shared_ptr<SqlLink> m_link;
    Duration m_backOff{};
    Timer m_look, m_connecting;
};

} // namespace

std::unique_ptr<mariadb::Session> openSession(Process &process, SqlServer &server, Network &network,
                                              const SqlLinkOptions &options)
{
    return std::make_unique<SimulatedSession>(process, server, network, options);
}

} // namespace lockscope::sim
