// SPDX-License-Identifier: Apache-2.0
// A MariaDB or MySQL connection: session, gate, observer. The session reconnects by itself.
#include "core/inspect/mariadb/observer.h"
#include "core/mariadb/client.h"
#include "core/workspace/linkbase.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class MariaDbLink : public LinkBase {
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
        if (m_session->state() == mariadb::SessionState::AuthFailed)
            return Error{ErrorCode::AuthFailed,
                         u"%1 refused the credentials: %2"_s.arg(m_spec.displayUri(), m_session->lastError())};
        return Error{ErrorCode::NotConnected,
                     u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), m_session->lastError()), true};
    }
    [[nodiscard]] mariadb::Session *mariadb() override { return m_gated.get(); }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }

    [[nodiscard]] std::unique_ptr<mariadb::Session> openSqlSession() override
    {
        return operate::gated(mariadb::openSession(m_context.loop, sessionOptions()), m_gate);
    }

private:
    [[nodiscard]] mariadb::SessionOptions sessionOptions() const
    {
        mariadb::SessionOptions options;
        options.host = m_spec.hosts.front();
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
    mariadb::Subscription m_state;
    bool m_started = false;
};

} // namespace

std::unique_ptr<LinkBase> makeMariaDbLink(ConnectionSpec spec, LinkContext context)
{
    return std::make_unique<MariaDbLink>(std::move(spec), std::move(context));
}

} // namespace lockscope
