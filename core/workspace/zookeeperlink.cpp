// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper connection: session, gate, evidence, observer. A session that expired is replaced.
#include "core/contention/traced/tracedport.h"
#include "core/inspect/zookeeper/observer.h"
#include "core/operate/zookeeper.h"
#include "core/recipes/zookeeper/locks.h"
#include "core/workspace/link.h"
#include "core/zookeeper/client.h"
#include "core/zookeeper/exchange.h"
#include "core/zookeeper/sendable.h"

namespace lockscope {

namespace {

constexpr int acceptedInVain = 5; // times, 2 s from one to the next

class ZooKeeperContender : public OwnContender {
public:
    ZooKeeperContender(std::unique_ptr<zk::Session> session, HoldRequest request, QString uri)
        : m_session(std::move(session)), m_request(std::move(request)), m_uri(std::move(uri))
    {
    }

    Task<Result<void>> connect(Deadline deadline) override
    {
        Completion<zk::SessionState> settled(m_session->loop());
        settled.completeAt(deadline, zk::SessionState::Connecting);
        auto subscription = m_session->onState([settled](zk::SessionState state) {
            if (state != zk::SessionState::Connecting)
                settled.complete(state);
        });
        if (m_session->state() == zk::SessionState::Connected)
            co_return Result<void>();
        const auto state = co_await settled;
        if (state == zk::SessionState::Connected)
            co_return Result<void>();
        const bool refused = state == zk::SessionState::AuthFailed;
        co_return Error{refused ? ErrorCode::AuthFailed : ErrorCode::NotConnected,
                        u"no session for the contender at %1"_s.arg(m_uri), !refused};
    }
    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        return recipes::makeLock(m_request.recipe, *m_session, ZPath(m_request.lock.name), m_request.options(),
                                 Random::fromSystem());
    }
    void watchOver(const Holding &holding, const recipes::Grant &grant) override
    {
        holding.scope.launch(recipes::watchOwnNode(m_session.get(), &holding.lock, grant)); // and the lock tells
    }
    [[nodiscard]] bool isGivenBackBySession() const override { return true; }
    [[nodiscard]] bool isCleaningUp() const override { return !m_session->background().isIdle(); }
    [[nodiscard]] std::chrono::milliseconds sessionTimeout() const override { return m_session->timeout(); }
    [[nodiscard]] std::vector<QByteArray> leasesBelow() const override
    {
        return {ZPath(m_request.lock.name).child(NodeName("0")).bytes()};
    }

private:
    std::unique_ptr<zk::Session> m_session;
    const HoldRequest m_request;
    const QString m_uri;
};

class ZooKeeperLink : public Link {
public:
    ZooKeeperLink(ConnectionSpec spec, LinkContext context)
        : Link(std::move(spec), std::move(context)), m_evidence(m_context.loop, m_spec.hosts, adminPort(), reach()),
          m_reachability(m_context.loop, m_spec.hosts), m_scope(m_context.loop)
    {
        open();
        m_scope.launch(watchReachability());
    }

    [[nodiscard]] bool isConnected() const override { return m_session->state() == zk::SessionState::Connected; }
    [[nodiscard]] std::optional<Error> problem() const override { return isConnected() ? std::nullopt : m_problem; }
    [[nodiscard]] zk::Session &session() { return *m_gated; } // gated
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }

    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override
    {
        auto asking = m_evidence.ask({"srvr"}, deadline);
        const auto said = co_await asking;
        if (said)
            m_server = serverOf(*said);
        co_return QStringList{
            u"ZooKeeper checks permissions per node; a denied request is reported where it happens"_s};
    }
    // Once it was asked; empty where no member says it.
    [[nodiscard]] QString serverVersion() override { return m_server; }
    // A fresh one for a contender of ours, gated and logged as this link's.
    [[nodiscard]] std::unique_ptr<zk::Session> openSession()
    {
        return operate::gated(zk::openSession(m_context.loop, sessionOptions()), m_gate);
    }
    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override
    {
        return std::make_unique<ZooKeeperContender>(openSession(), request, m_spec.displayUri());
    }
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override;
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override
    {
        return operate::sendRelease(std::move(plan), m_gated.get(), deadline);
    }
    [[nodiscard]] Task<Result<operate::EditState>> readForEdit(operate::EditRequest request,
                                                               Deadline deadline) override
    {
        return operate::readForEdit(std::move(request), m_gated.get(), deadline);
    }
    [[nodiscard]] Task<Result<operate::EditSent>> sendEdit(operate::EditPlan plan, Deadline deadline) override
    {
        return operate::sendEdit(std::move(plan), m_gated.get(), deadline);
    }

private:
    [[nodiscard]] zk::SessionOptions sessionOptions() const
    {
        zk::SessionOptions options;
        for (const auto &host : m_spec.hosts)
            options.hosts.push_back(m_transport->throughTls(host));
        options.keep = m_transport;
        options.chroot = m_spec.chroot;
        options.user = m_spec.user.toUtf8();
        options.password = m_password.toUtf8();
        options.passwords = m_passwords;
        return options;
    }

    [[nodiscard]] static QString serverOf(const zk::Evidence &said)
    {
        const auto answer = said.answers.find("srvr");
        const int asked = answer == said.answers.end() ? 0 : answer->second.members;
        const int heard = static_cast<int>(said.members.size());
        return zk::serverWords(said.members, std::max(0, asked - heard));
    }

    // It speaks HTTP in clear: whoever asks for TLS is not to have its answers read on the way.
    // And kubectl forwards to one port.
    [[nodiscard]] quint16 adminPort() const
    {
        const auto &way = m_spec.transport;
        return way.tls.isOn || way.kube.isOn() ? quint16(0) : m_spec.adminPort;
    }
    // Who is asked for evidence, and how: through TLS or ssh only those that the URI names.
    [[nodiscard]] zk::EvidenceSource::Reach reach() const
    {
        if (m_transport->isDirect())
            return {};
        return [transport = m_transport, named = m_spec.hosts,
                admin = adminPort()](const HostPort &place) -> std::optional<HostPort> {
            const auto isNamed = std::ranges::any_of(named, [&](const HostPort &host) {
                return place == host || (place.host == host.host && place.port == admin);
            });
            return isNamed ? std::optional(transport->throughTls(place)) : std::nullopt;
        };
    }

    // What was read through a session that is over. Questions may still be waiting inside it, so it
    // stays until the longest of them has ended.
    struct Retired {
        std::unique_ptr<zk::Session> session;
        std::unique_ptr<zk::Session> gated;
        std::unique_ptr<inspect::ZooKeeperObserver> observer;
        Timer end;
    };

    void retire()
    {
        const auto end = m_context.loop.now() + std::chrono::seconds(60);
        m_retired.push_back({std::move(m_session), std::move(m_gated), std::move(m_observer),
                             m_context.loop.callAt(end, [this] { m_retired.pop_front(); })});
    }

    void open()
    {
        m_state = {};
        if (m_session)
            retire();
        m_session = zk::openSession(m_context.loop, sessionOptions());
        m_gated = operate::gated(*m_session, m_gate);
        m_observer = std::make_unique<inspect::ZooKeeperObserver>(*m_gated, m_evidence, m_spec.name, m_spec.chroot,
                                                                  m_context.options.observer, m_proxy);
        m_started = false;
        m_state = m_session->onState([this](zk::SessionState state) { stateChanged(state); });
    }

    void stateChanged(zk::SessionState state)
    {
        if (state == zk::SessionState::Connected) {
            m_problem.reset();
            startObserving();
            if (m_context.options.observe)
                m_scope.launch(learnServer());
        } else if (state == zk::SessionState::Expired) {
            m_proxy.observerReplaced(m_observer->snapshots());
            m_context.loop.post([alive = std::weak_ptr<int>(m_alive), this] {
                if (!alive.expired())
                    open();
            });
        } else if (state == zk::SessionState::AuthFailed) {
            m_problem =
                Error{ErrorCode::AuthFailed, m_spec.displayUri() + u' ' + zk::refusal(), false, /*isExplained=*/true};
        } else if (state == zk::SessionState::Connecting) {
            m_scope.launch(watchReachability());
        }
        m_context.changed(*this);
    }

    // What notes and recordings say of it. Each time: it may have been another version's before.
    Task<void> learnServer()
    {
        co_await rights(Deadline::after(m_context.loop, std::chrono::seconds(5)));
        m_context.changed(*this);
    }

    // Its client says nothing of a server that closes each connection.
    void showWithoutSession()
    {
        m_problem = Error{
            ErrorCode::NotConnected,
            u"could not open a ZooKeeper session on %1: the TCP connection is accepted but no session starts. The port may require TLS (tls=on), the server may be starting, or the ensemble may have no quorum"_s
                .arg(m_spec.displayUri()),
            true, /*isExplained=*/true};
        m_context.changed(*this);
    }

    // Says why nothing connects; keeps asking until something does.
    Task<void> watchReachability()
    {
        if (m_probing)
            co_return;
        m_probing = true;
        int accepted = 0; // so many times in a row somebody listened, and no session came of it
        while (!isConnected()) {
            Result<bool> reachable = true;
            const auto noPassword = m_passwords ? m_passwords->problem() : QString();
            if (!noPassword.isEmpty()) {
                reachable = Error{ErrorCode::NotConnected, noPassword, true, /*isExplained=*/true};
            } else if (m_transport->isDirect()) {
                const auto limit = Deadline::after(m_context.loop, std::chrono::seconds(5));
                const auto answer = co_await m_reachability.check(limit);
                reachable = answer;
            } else if (const auto why = m_transport->problem(); !why.isEmpty()) {
                // A door opens to whoever knocks; what is behind it is another matter.
                reachable = Error{ErrorCode::NotConnected, why, true, m_transport->isProblemOfTls()};
            }
            if (!reachable && !isConnected()) {
                auto why = reachable.error().message;
                const auto only = displayHost(m_spec.hosts.front()) + u": "_s;
                if (m_spec.hosts.size() == 1 && why.startsWith(only)) // the URI names it
                    why.remove(0, only.size());
                m_problem =
                    Error{ErrorCode::NotConnected, u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), why),
                          true, reachable.error().isExplained};
                m_context.changed(*this);
            } else if (reachable && (!m_transport->isDirect() || ++accepted < acceptedInVain)) {
                m_problem.reset(); // somebody listens: the client gets on with it
            } else if (reachable && !isConnected()) {
                showWithoutSession();
            }
            if (!reachable)
                accepted = 0;
            const auto span =
                m_transport->isDirect() ? std::chrono::milliseconds(2000) : std::chrono::milliseconds(250);
            co_await sleepFor(m_context.loop, span);
        }
        m_probing = false;
    }

    zk::EvidenceSource m_evidence;
    zk::Reachability m_reachability;
    std::deque<Retired> m_retired; // oldest first
    QString m_server;
    std::unique_ptr<zk::Session> m_session;
    std::unique_ptr<zk::Session> m_gated;
    std::unique_ptr<inspect::ZooKeeperObserver> m_observer;
    Subscription m_state;
    std::optional<Error> m_problem;
    bool m_probing = false;
    std::shared_ptr<int> m_alive = std::make_shared<int>(0);
    Scope m_scope;
};

class ZooKeeperPool : public ContenderPool {
public:
    ZooKeeperPool(ZooKeeperLink &link, const ContenderPoolContext &context)
        : m_link(link), m_scenario(context.scenario), m_root("/lockscope-simulate-" + context.name),
          m_lock(m_root.bytes() + "/lock")
    {
        for (int i = 0; i < context.sessions; ++i)
            m_sessions.push_back(m_link.openSession());
        for (int i = 0; i < m_scenario.contenders; ++i)
            m_traced.push_back(std::make_unique<contention::TracedSession>(
                *m_sessions[std::size_t(i % context.sessions)], context.trace, i));
    }

    [[nodiscard]] bool isReady() const override
    {
        return std::ranges::all_of(
            m_sessions, [](const auto &session) { return session->state() == zk::SessionState::Connected; });
    }

    // A container goes by itself should we not get to it; before 3.5 servers know none.
    Task<Result<void>> prepare(Deadline deadline) override
    {
        const auto open = zk::openAcl();
        auto making = m_link.session().create(m_root, {}, zk::CreateMode::Container, open, deadline);
        auto made = co_await making;
        if (!made && made.error().code == ErrorCode::Unsupported) {
            auto again = m_link.session().create(m_root, {}, zk::CreateMode::Persistent, open, deadline);
            made = co_await again;
        }
        if (!made)
            co_return made.error();
        co_return Result<void>();
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return recipes::makeLock(m_scenario.recipe, *m_traced[std::size_t(contender)], m_lock, options,
                                 Random::fromSystem());
    }

    // Nodes of contenders count; the directories that recipes keep do not.
    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        std::vector<ZPath> open{m_root}, all;
        auto *session = &m_link.session();
        while (!open.empty()) {
            const auto path = open.back();
            open.pop_back();
            all.push_back(path);
            const auto children = co_await session->children(path, std::nullopt, deadline);
            for (const auto &name : children ? children->names : std::vector<NodeName>())
                open.push_back(path.child(name));
            const auto stat = co_await session->exists(path, std::nullopt, deadline);
            if (stat && !stat->ephemeralOwner.isNone())
                left.push_back(path.bytes());
        }
        for (auto path = all.rbegin(); path != all.rend(); ++path) {
            const auto removed = co_await session->remove(*path, zk::anyVersion, deadline);
            (void)removed; // what cannot be removed goes with its session, or as an empty container
        }
        co_return left;
    }

private:
    ZooKeeperLink &m_link;
    const contention::Scenario m_scenario;
    const ZPath m_root, m_lock;
    std::vector<std::unique_ptr<zk::Session>> m_sessions;
    std::vector<std::unique_ptr<contention::TracedSession>> m_traced; // by contender
};

std::unique_ptr<ContenderPool> ZooKeeperLink::openPool(const ContenderPoolContext &context)
{
    return std::make_unique<ZooKeeperPool>(*this, context);
}

} // namespace

zk::Session *zooKeeperOf(Link *link)
{
    auto *zooKeeper = dynamic_cast<ZooKeeperLink *>(link);
    return zooKeeper ? &zooKeeper->session() : nullptr;
}

Result<std::unique_ptr<Link>> makeZooKeeperLink(ConnectionSpec spec, LinkContext context)
{
    return std::unique_ptr<Link>(std::make_unique<ZooKeeperLink>(std::move(spec), std::move(context)));
}

} // namespace lockscope
