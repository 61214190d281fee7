// SPDX-License-Identifier: Apache-2.0
// A connection of the workspace: what the links of all backends share (spec, gate, proxy, the telling of state
// changes), and what each of them makes: contenders of ours, one by one or those of a run.
#pragma once

#include "core/contention/trace.h"
#include "core/inspect/waits/clients.h"
#include "core/operate/edit.h"
#include "core/operate/forcerelease.h"
#include "core/operate/gate.h"
#include "core/recipes/make.h"
#include "core/transport/transport.h"

namespace lockscope {

struct WorkspaceOptions {
    inspect::ObserverOptions observer;
    bool readOnly = false;                    // --read-only: for every connection, for good
    bool observe = true;                      // false: nothing is looked for, only what is asked is read
    QString auditPath;                        // the default file when empty
    std::vector<inspect::ClientLabel> labels; // what the user calls clients
};

struct HoldRequest {
    inspect::LockName lock;
    QByteArray recipe;
    bool readMode = false;
    int limit = 1;
    std::chrono::milliseconds ttl{30'000};
    bool isLimitGiven = true; // see recipes::AcquireOptions

    [[nodiscard]] recipes::AcquireOptions options() const { return {readMode, limit, ttl, isLimitGiven}; }
};

// One contender of ours on a connection: its lock, with what that stands on and what the backend has beside it. Made
// by the connection's link; HeldLock (hold.h) does with it what is the same for all.
class OwnContender {
public:
    virtual ~OwnContender() = default;

    // A session of its own, as any other client would have, and a little patience until it stands; at once where the
    // link's connection does.
    [[nodiscard]] virtual Task<Result<void>> connect(Deadline) { co_return Result<void>(); }
    // It is outlived by the contender.
    [[nodiscard]] virtual Result<std::unique_ptr<recipes::Lock>> makeLock() = 0;
    // Locks below that name whose leases are parts of one that several may hold at once, the first of them (kazoo's
    // MultiNonBlockingLease: folders 0, 1, …, tried in this order).
    [[nodiscard]] virtual std::vector<QByteArray> leasesBelow() const { return {}; }
    // Other names under which somebody may hold the same, whom the recipe would not wait for.
    [[nodiscard]] virtual std::vector<QByteArray> otherNames() const { return {}; }
    // What the inspector calls our hold, as far as that is the server's to say; asked outside of the recipe's counts.
    [[nodiscard]] virtual Task<QByteArray> idOf(QByteArray granted) { co_return granted; }

    // The time it is held. All outlive what is launched.
    struct Holding {
        Scope &scope;
        recipes::Lock &lock;
        const bool &isReleasing;
        std::function<void(recipes::Loss)> lost;
    };
    // Looks to it, beside the recipe, that we learn when our node or key is taken away.
    virtual void watchOver(const Holding &holding, const recipes::Grant &grant) = 0;
    // Whether what it holds ends with its own session: to close that is no write, and so is done on a connection that
    // was made read-only meanwhile.
    [[nodiscard]] virtual bool isGivenBackBySession() const { return false; }
    // Whether a release that got no answer is still being followed up over a session of its own.
    [[nodiscard]] virtual bool isCleaningUp() const { return false; }
    // What it holds ends by itself so long after the servers last had word of it; zero: by the TTL that was asked
    // for.
    [[nodiscard]] virtual std::chrono::milliseconds sessionTimeout() const { return {}; }
};

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

class Link;

struct LinkContext {
    Loop &loop;
    const WorkspaceOptions &options;
    operate::CommandLog &log;
    inspect::ObserverSink *sink;
    std::function<void(Link &)> changed; // tell the workspace
};

// One connection. A ZooKeeper session that expired is replaced by a new one, with a new observer;
// whoever keeps pointers asks again after whenConnected().
class Link {
public:
    virtual ~Link()
    {
        if (m_passwords)
            m_passwords->end();
    }

    [[nodiscard]] const ConnectionSpec &spec() const { return m_spec; } // password removed
    [[nodiscard]] operate::Gate &gate() { return m_gate; }
    [[nodiscard]] virtual bool isConnected() const = 0;
    // Why it is not connected: NotConnected (refused, name unknown, still trying) or AuthFailed.
    [[nodiscard]] virtual std::optional<Error> problem() const = 0;
    [[nodiscard]] virtual inspect::Observer &observer() = 0;
    // A contender of ours on this connection.
    [[nodiscard]] virtual std::unique_ptr<OwnContender> openContender(const HoldRequest &request) = 0;
    // Those of a run on its servers.
    [[nodiscard]] virtual std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) = 0;
    // The plan with what else goes with the act, as far as the server is to be asked for that. Reads only.
    [[nodiscard]] virtual Task<operate::ForceReleasePlan> withLosses(operate::ForceReleasePlan plan,
                                                                     Deadline deadline);
    // The guarded command of a force-release.
    [[nodiscard]] virtual Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan,
                                                                  Deadline deadline) = 0;
    // What stands there, and the guarded requests that change it: of backends whose entries are edited.
    [[nodiscard]] virtual Task<Result<operate::EditState>> readForEdit(operate::EditRequest request,
                                                                       Deadline deadline);
    [[nodiscard]] virtual Task<Result<operate::EditSent>> sendEdit(operate::EditPlan plan, Deadline deadline);
    // Whether recipes still take away what nobody waits for any more, over the link's own connection.
    [[nodiscard]] virtual bool isCleaningUp() { return false; }
    // What its observer could not see, and what else is not seen here.
    [[nodiscard]] std::vector<inspect::Coverage> coverage() { return m_proxy.withGap(observer().coverage()); }
    // What was found out about it that its URI does not say; empty: nothing.
    [[nodiscard]] virtual QString remark() const { return {}; }
    // What its user may do there, as far as the server tells: a sentence each. The link outlives the task.
    [[nodiscard]] virtual Task<QStringList> rights(Deadline deadline);
    // "MariaDB 10.11.6", where the server has said it.
    [[nodiscard]] virtual QString serverVersion() { return {}; }
    // Round trip of a recent request, once known.
    [[nodiscard]] std::optional<Duration> latency() const { return m_gate.latency(); }
    [[nodiscard]] const inspect::Progress &progress() const { return m_proxy.progress(); }
    [[nodiscard]] const inspect::Cost &cost() const { return m_proxy.cost(); }
    // The last moment this connection's snapshots were known to be true.
    [[nodiscard]] std::chrono::system_clock::time_point heardAt() const { return m_proxy.heardAt(); }
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

protected:
    Link(ConnectionSpec spec, LinkContext context)
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

// The gated ports of a link; null, or none, where it is of another backend.
[[nodiscard]] zk::Session *zooKeeperOf(Link *link);
[[nodiscard]] mariadb::Session *mariaDbOf(Link *link);
[[nodiscard]] std::vector<redis::Connection *> redisNodesOf(Link *link);

// Starts connecting; an error for a URI that names what this backend cannot connect to.
#define LOCKSCOPE_LINK(Name)                                                                                         \
    [[nodiscard]] Result<std::unique_ptr<Link>> make##Name##Link(ConnectionSpec spec, LinkContext context);
LOCKSCOPE_BACKENDS(LOCKSCOPE_LINK)
#undef LOCKSCOPE_LINK

} // namespace lockscope
