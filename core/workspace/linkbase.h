// SPDX-License-Identifier: Apache-2.0
// What the links of all backends share: spec, gate, proxy, the telling of state changes.
#pragma once

#include "core/contention/trace.h"
#include "core/transport/transport.h"
#include "core/recipes/make.h"
#include "core/workspace/workspace.h"

#include <map>

namespace lockscope {

// Stands between an observer and the program's sink, and outlives observers: a ZooKeeper session that expired gets a
// new observer, whose first snapshot must not look like news, and what vanished meanwhile must be told as removed.
class ObserverProxy : public inspect::ObserverSink {
public:
    // `sink` may be null; then snapshots are only kept.
    ObserverProxy(ConnectionName connection, inspect::ObserverSink *sink)
        : m_connection(std::move(connection)), m_sink(sink)
    {
    }

    void take(inspect::Change::What change) override;

    // What stands before how it is followed: "Redis Cluster". Empty: nothing.
    void describe(const QString &what) { m_what = what; }
    // Besides what the observer could not see; empty: nothing. Told at once.
    void addGap(const QString &message);
    [[nodiscard]] std::vector<inspect::Coverage> withGap(std::vector<inspect::Coverage> coverage) const;
    // A new observer starts from nothing; `known` is what the one before told.
    void observerReplaced(std::vector<inspect::LockSnapshot> known);
    // Its first snapshot is complete: what only the old one knew is gone.
    void firstSnapshotComplete();
    // From the proxy of a connection that this one replaces: what that told is known, until the first snapshot.
    void takeOver(ObserverProxy &before, std::vector<inspect::LockSnapshot> known);
    // The connection is removed: everything of it is gone.
    void removeAll(std::vector<inspect::LockSnapshot> known);

    [[nodiscard]] const inspect::Progress &progress() const { return m_progress; }
    [[nodiscard]] const inspect::Cost &cost() const { return m_cost; }
    // The last moment this connection's snapshots were known to be true.
    [[nodiscard]] std::chrono::system_clock::time_point heardAt() const { return m_heardAt; }

private:
    void tell(inspect::Change::What change);

    ConnectionName m_connection;
    inspect::ObserverSink *m_sink;
    std::map<inspect::LockName, inspect::LockSnapshot> m_unconfirmed; // of the observer before
    QString m_what;
    QString m_gap;
    std::vector<inspect::Coverage> m_coverage; // the observer's own
    inspect::Progress m_progress;
    inspect::Cost m_cost;
    std::chrono::system_clock::time_point m_heardAt{};
    // The last moment all of them were, as told: a lock that changed says nothing of the others.
    inspect::Moment m_confirmedAt{};
};

struct LinkContext {
    Loop &loop;
    const WorkspaceOptions &options;
    operate::CommandLog &log;
    inspect::ObserverSink *sink;
    std::function<void(Link &)> changed; // tell the workspace
};

class LinkBase : public Link {
public:
    [[nodiscard]] const ConnectionSpec &spec() const override { return m_spec; }
    [[nodiscard]] operate::Gate &gate() override { return m_gate; }
    [[nodiscard]] bool isCleaningUp() override { return false; }
    [[nodiscard]] std::vector<inspect::Coverage> coverage() override
    {
        return m_proxy.withGap(observer().coverage());
    }
    [[nodiscard]] std::optional<Duration> latency() const override { return m_gate.latency(); }
    [[nodiscard]] const inspect::Progress &progress() const override { return m_proxy.progress(); }
    [[nodiscard]] const inspect::Cost &cost() const override { return m_proxy.cost(); }
    [[nodiscard]] std::chrono::system_clock::time_point heardAt() const override { return m_proxy.heardAt(); }
    [[nodiscard]] ObserverProxy &proxy() { return m_proxy; }
    // With the password, and as it is armed by now: to connect anew.
    [[nodiscard]] ConnectionSpec wholeSpec() const
    {
        auto spec = m_spec;
        spec.password = m_password;
        spec.readOnly = m_gate.isReadOnly();
        spec.armed = !spec.readOnly;
        return spec;
    }

    ~LinkBase() override
    {
        if (m_passwords)
            m_passwords->end();
    }

protected:
    LinkBase(ConnectionSpec spec, LinkContext context)
        : m_context(std::move(context)), m_password(spec.password), m_spec(withoutPassword(std::move(spec))),
          m_gate(m_spec.name, (m_spec.readOnly || m_spec.production) && !m_spec.armed, m_spec.production,
                 m_context.log),
          m_proxy(m_spec.name, m_context.sink),
          m_passwords(m_spec.transport.passwordCommand.isEmpty()
                          ? nullptr
                          : std::make_shared<PasswordSource>(m_spec.transport.passwordCommand)),
          m_transport(std::make_shared<transport::Transport>(m_spec.transport, serversOf(m_spec)))
    {
        if (m_context.options.readOnly)
            m_gate.lockReadOnly();
    }

    static ConnectionSpec withoutPassword(ConnectionSpec spec)
    {
        spec.password.clear();
        return spec;
    }

    // Why it is not connected: what went wrong on the way says more than what a client was left with.
    [[nodiscard]] QString reason(const QString &lastError) const
    {
        const auto problem = m_transport->problem();
        return problem.isEmpty() ? lastError : problem;
    }
    // Of a client that has none; `isExplained`: by whoever answered it.
    [[nodiscard]] Error notConnected(const QString &lastError, bool isExplained) const
    {
        return {ErrorCode::NotConnected, u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), reason(lastError)),
                true, isExplained || m_transport->isProblemOfTls()};
    }
    [[nodiscard]] Error refused(const QString &why, bool isExplained) const
    {
        return {ErrorCode::AuthFailed, u"%1 refused the credentials: %2"_s.arg(m_spec.displayUri(), why), false,
                isExplained};
    }
    template <class Client>
    [[nodiscard]] std::optional<Error> problemOf(const Client &client) const
    {
        if (isConnected() || client.lastError().isEmpty())
            return std::nullopt;
        using State = decltype(client.state());
        return client.state() == State::AuthFailed ? refused(client.lastError(), client.isExplained())
                                                   : notConnected(client.lastError(), client.isExplained());
    }
    // The connection's state changed: what there is to be seen is looked for once it stands.
    void stateChanged(bool isUp)
    {
        if (isUp)
            startObserving();
        m_context.changed(*this);
    }
    void startObserving()
    {
        if (m_started || !m_context.options.observe)
            return;
        m_started = true;
        observer().firstSnapshot().then([this](bool) { m_proxy.firstSnapshotComplete(); });
        observer().start();
    }
    // What goes through its ssh from the first on.
    static std::vector<HostPort> serversOf(const ConnectionSpec &spec)
    {
        auto servers = spec.hosts;
        const auto backend = backendOf(spec.scheme);
        if (backend && infoOf(*backend).hasAdminPort && !spec.transport.tls.isOn && !spec.transport.kube.isOn()) {
            for (const auto &host : spec.hosts)
                servers.push_back({host.host, spec.adminPort});
        }
        return servers;
    }

    LinkContext m_context;
    QString m_password;
    ConnectionSpec m_spec;
    operate::Gate m_gate;
    ObserverProxy m_proxy;
    std::shared_ptr<PasswordSource> m_passwords;       // null: m_password it is
    std::shared_ptr<transport::Transport> m_transport; // kept by whatever connects through it, too
    bool m_started = false;                            // observing
};

// Starts connecting; an error for a URI that names what this backend cannot connect to.
#define LOCKSCOPE_LINK(Name)                                                                                         \
    [[nodiscard]] Result<std::unique_ptr<LinkBase>> make##Name##Link(ConnectionSpec spec, LinkContext context);
LOCKSCOPE_BACKENDS(LOCKSCOPE_LINK)
#undef LOCKSCOPE_LINK

// What the contenders of a run on real servers use: sessions of their own, behind the connection's gate and the
// run's trace. One implementation per backend, made by its link.
class ContenderPool {
public:
    virtual ~ContenderPool() = default;
    [[nodiscard]] virtual bool isReady() const = 0;
    // Makes what the lock needs on the server.
    [[nodiscard]] virtual Task<Result<void>> prepare(Deadline deadline) = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) = 0;
    // What is there of the lock now that everybody gave it back; then takes all of it away.
    [[nodiscard]] virtual Task<std::vector<QByteArray>> tidy(Deadline deadline) = 0;
};

struct ContenderPoolContext {
    const contention::Scenario &scenario;
    contention::Trace &trace;
    int sessions;    // so many at most
    QByteArray name; // of this run alone: letters and digits
};

} // namespace lockscope
