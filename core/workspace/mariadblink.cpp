// SPDX-License-Identifier: Apache-2.0
// A MariaDB or MySQL connection: session, gate, observer. The session reconnects by itself.
#include "core/workspace/mariadblink.h"

#include "core/inspect/mariadb/observer.h"
#include "core/inspect/mariadb/ownid.h"
#include "core/inspect/mariadb/rights.h"
#include "core/mariadb/client.h"
#include "core/operate/killconnection.h"
#include "core/operate/killlosses.h"
#include "core/workspace/linkbase.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class MariaDbContender : public OwnContender {
public:
    MariaDbContender(std::unique_ptr<mariadb::Session> session, HoldRequest request)
        : m_session(std::move(session)), m_request(std::move(request))
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
                        u"no session for the contender: %1"_s.arg(m_session->lastError()), !refused};
    }
    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        const recipes::AcquireOptions options{m_request.readMode, m_request.limit, m_request.ttl,
                                              m_request.isLimitGiven};
        return recipes::makeLock(m_request.recipe, *m_session, m_request.lock.name, options, Random::fromSystem());
    }
    // A connection names a hold only with when it or its transaction began.
    Task<QByteArray> idOf(QByteArray granted) override
    {
        const auto askBy = Deadline::after(m_session->loop(), std::chrono::milliseconds(1500));
        const auto id = co_await inspect::ownContenderId(m_session.get(), m_request.recipe, askBy);
        co_return id.value_or(granted);
    }
    // The session itself asks whether it still stands, and the recipe tells.
    void watchOver(const Holding &, const recipes::Grant &) override {}
    // The optimistic lock's release is a write.
    [[nodiscard]] bool isGivenBackBySession() const override
    {
        return !recipes::recipeOf(m_request.recipe).optimistic;
    }

private:
    std::unique_ptr<mariadb::Session> m_session;
    const HoldRequest m_request;
};

class MariaDbLink : public LinkBase, public MariaDbPort {
public:
    MariaDbLink(ConnectionSpec spec, LinkContext context) : LinkBase(std::move(spec), std::move(context))
    {
        // It looks and kills, and waits for no lock: silence means that nobody answers.
        auto options = sessionOptions();
        options.readsWithin = std::chrono::seconds(15);
        m_session = mariadb::openSession(m_context.loop, std::move(options));
        m_gated = operate::gated(*m_session, m_gate);
        m_observer =
            std::make_unique<inspect::MariaDbObserver>(*m_gated, m_spec.name, m_context.options.observer, m_proxy);
        m_state = m_session->onState([this](mariadb::SessionState state) { stateChanged(state); });
    }

    [[nodiscard]] bool isConnected() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] std::optional<Error> problem() const override
    {
        if (isConnected() || m_session->lastError().isEmpty())
            return std::nullopt;
        const auto why = reason(m_session->lastError());
        if (m_session->state() == mariadb::SessionState::AuthFailed)
            return Error{ErrorCode::AuthFailed, u"%1 refused the credentials: %2"_s.arg(m_spec.displayUri(), why)};
        return Error{ErrorCode::NotConnected, u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), why), true};
    }
    [[nodiscard]] QString serverVersion() override
    {
        const auto version = m_session->serverVersion();
        // For people, by the server's own words; nothing else is concluded from them.
        const auto title = version.contains("MariaDB") ? u"MariaDB "_s : u"MySQL "_s;
        return version.isEmpty() ? QString() : title + QString::fromUtf8(version);
    }
    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override
    {
        return inspect::mariaDbRights(m_gated.get(), deadline);
    }
    [[nodiscard]] mariadb::Session &session() override { return *m_gated; }
    [[nodiscard]] QString uri() const override { return m_spec.displayUri(); }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }

    [[nodiscard]] std::unique_ptr<mariadb::Session> openSession() override
    {
        return operate::gated(mariadb::openSession(m_context.loop, sessionOptions()), m_gate);
    }
    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override
    {
        return std::make_unique<MariaDbContender>(openSession(), request);
    }
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override
    {
        return makeMariaDbPool(*this, context);
    }
    [[nodiscard]] Task<operate::ForceReleasePlan> withLosses(operate::ForceReleasePlan plan,
                                                             Deadline deadline) override
    {
        return operate::withKillLosses(std::move(plan), m_gated.get(), deadline);
    }
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override
    {
        return operate::sendRelease(std::move(plan), m_gated.get(), deadline);
    }

private:
    [[nodiscard]] mariadb::SessionOptions sessionOptions() const
    {
        mariadb::SessionOptions options;
        options.host = m_passage->throughMySqlTls(m_spec.hosts.front());
        options.keep = m_passage;
        const auto &tls = m_spec.transport.tls;
        if (tls.isOn)
            options.secured = tls.cert.isEmpty() ? mariadb::Secured::ByTls : mariadb::Secured::ByCertificate;
        options.user = m_spec.user;
        options.password = m_password;
        options.database = m_spec.databaseName;
        return options;
    }

    void stateChanged(mariadb::SessionState state)
    {
        if (state == mariadb::SessionState::Connected && !m_started && m_context.options.observe) {
            m_started = true;
            m_observer->firstSnapshot().then([this](bool) { m_proxy.firstSnapshotComplete(); });
            m_observer->start();
        }
        m_context.changed(*this);
    }

    std::unique_ptr<mariadb::Session> m_session;
    std::unique_ptr<mariadb::Session> m_gated;
    std::unique_ptr<inspect::MariaDbObserver> m_observer;
    Subscription m_state;
    bool m_started = false;
};

} // namespace

mariadb::Session *mariaDbOf(Link *link)
{
    auto *port = dynamic_cast<MariaDbPort *>(link);
    return port ? &port->session() : nullptr;
}

Result<std::unique_ptr<LinkBase>> makeMariaDbLink(ConnectionSpec spec, LinkContext context)
{
    if (spec.hosts.size() > 1)
        return Error{ErrorCode::BadInput, u"%1: one MariaDB server at a time"_s.arg(spec.displayUri())};
    return std::unique_ptr<LinkBase>(std::make_unique<MariaDbLink>(std::move(spec), std::move(context)));
}

} // namespace lockscope
