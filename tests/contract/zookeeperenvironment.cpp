// SPDX-License-Identifier: Apache-2.0
// ZooKeeper: a lock is /<name>/<…>; contenders are the ephemeral nodes below.
#include "testenvironment.h"

#include "tests/support/countingsession.h"
#include "tests/support/plannedports.h"

#include <algorithm>

namespace lockscope::contract {

using namespace Qt::StringLiterals;
using testing::await;

namespace {

class ZooKeeperClient : public CabledClient<zk::Session, testing::PlannedSession, testing::CountingSession> {
public:
    ZooKeeperClient(Loop &loop, const HostPort &server, std::chrono::milliseconds timeout) : CabledClient(server)
    {
        use(zk::openSession(loop, {.hosts = {m_cable.address()}, .timeout = timeout}), plan);
    }

    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                const recipes::AcquireOptions &options, Random random) override
    {
        return recipes::makeLock(recipe, *m_counting, ZPath('/' + name + "/orders"), options, std::move(random));
    }
    bool isOver() const override { return !isConnected() && m_real->state() != zk::SessionState::Connecting; }
    int requests() const override { return m_counting->requests(); }
    QByteArray spoken() const override { return m_counting->spoken(); }
    int wakeUps() const override { return m_counting->events(); }
    bool isIdle() const override { return m_counting->out() <= m_planned->held(); }
    int listeners() const override { return m_real->watchCount(); }
    qsizetype held() const override { return m_planned->held(); }
    void letThrough() override { m_planned->letThrough(); }
};

class ZooKeeperEnvironment : public OneServer<zk::Session> {
public:
    using OneServer::OneServer;
    ~ZooKeeperEnvironment() override
    {
        dismissClients();
        m_admin.reset();
        zk::waitForClosingSessions(5s);
    }

    Result<void> start() override
    {
        sandbox::ZooKeeperOptions options{.adminServer = false};
        options.tick = 100ms; // sessions may end after two of them
        if (reapsContainersSoon)
            options.reapingInterval = 500ms;
        if (auto started = startServer(sandbox::makeZooKeeper(options)); !started)
            return started;
        zk::SessionOptions session{.hosts = {m_server->address()}};
        session.timeout = 60s; // the servers are paused and the machine may be busy
        m_admin = zk::openSession(loop(), session);
        if (!eventually([this] { return isConnected(); }))
            return Error{ErrorCode::NotConnected, u"no session"_s};
        return {};
    }

    QByteArrayList claims(const TestName &name) override
    {
        QByteArrayList contenders;
        for (const auto &[path, stat] : below(ZPath('/' + name))) {
            if (isEphemeral(stat))
                contenders << path.bytes();
        }
        std::sort(contenders.begin(), contenders.end());
        return contenders;
    }
    bool confirms(const TestName &, const recipes::Grant &grant) override
    {
        const auto stat = await(m_admin->exists(grant.node, std::nullopt, soon()));
        return stat && (!grant.fencingToken || stat->czxid == *grant.fencingToken);
    }
    bool takeAway(const TestName &, const recipes::Grant &grant) override
    {
        return bool(await(m_admin->remove(grant.node, zk::anyVersion, soon())));
    }
    bool takeAwayClaim(const QByteArray &claim) override
    {
        return bool(await(m_admin->remove(ZPath(claim), zk::anyVersion, soon())));
    }
    QString whatIsForEver(const TestName &, const recipes::Grant &grant) override
    {
        const auto stat = await(m_admin->exists(grant.node, std::nullopt, soon()));
        if (!stat)
            return stat.error().message;
        return isEphemeral(*stat) ? QString() : u"%1 is persistent"_s.arg(QString::fromUtf8(grant.node.bytes()));
    }
    QByteArrayList directories(const TestName &name) override
    {
        QByteArrayList names;
        for (const auto &[path, stat] : below(ZPath('/' + name)))
            names << path.name().bytes();
        return names;
    }
    QByteArrayList everything() override
    {
        QByteArrayList paths;
        for (const auto &[path, stat] : below(ZPath("/")))
            paths << path.bytes();
        std::sort(paths.begin(), paths.end());
        return paths;
    }
    QString addForeign(const TestName &name) override
    {
        const ZPath lock('/' + name + "/orders");
        const bool isDirectory = bool(await(m_admin->exists(lock, std::nullopt, soon())));
        for (const auto *word : {"readme", "note-0000000000", "0000000001"}) {
            const auto path = (isDirectory ? lock : lock.parent()).child(NodeName(word));
            const auto made =
                await(m_admin->create(path, "not a contender", zk::CreateMode::Persistent, zk::openAcl(), soon()));
            if (!made)
                return made.error().message;
        }
        return {};
    }
    void disturb(const TestName &name) override
    {
        for (const auto &claim : claims(name)) {
            const ZPath node(claim);
            const auto now = await(m_admin->get(node, std::nullopt, soon()));
            if (now) // whoever asks for this counts the wake-ups
                (void)await(m_admin->set(node, now->data, zk::anyVersion, soon()));
            const ZPath passing = node.parent().child(NodeName("passing"));
            (void)await(m_admin->create(passing, {}, zk::CreateMode::Persistent, zk::openAcl(), soon()));
            (void)await(m_admin->remove(passing, zk::anyVersion, soon()));
        }
    }
    bool clear(const TestName &name) override
    {
        auto all = below(ZPath('/' + name));
        std::reverse(all.begin(), all.end()); // children before their parents
        bool cleared = true;
        for (const auto &[path, stat] : all) {
            const auto removed = await(m_admin->remove(path, zk::anyVersion, soon()));
            cleared = cleared && removed;
        }
        return cleared;
    }
    std::unique_ptr<Client> powerless(const TestName &name) override
    {
        const zk::Acls readOnly{{zk::perms::read, "world", "anyone"}};
        const auto made = await(m_admin->create(ZPath('/' + name), {}, zk::CreateMode::Persistent, readOnly, soon()));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        auto client = connect(10s);
        eventually([&] { return client->isConnected(); });
        return client;
    }

protected:
    bool answers() override { return bool(await(m_admin->exists(ZPath("/"), std::nullopt, soon()))); }
    std::unique_ptr<Client> connect(std::chrono::milliseconds sessionTimeout) override
    {
        return std::make_unique<ZooKeeperClient>(loop(), m_server->address(), sessionTimeout);
    }

private:
    using Found = std::vector<std::pair<ZPath, zk::Stat>>;

    // Containers and nodes with a TTL have an owner of their own kind, with the top bit set.
    static bool isEphemeral(const zk::Stat &stat)
    {
        return !stat.ephemeralOwner.isNone() && stat.ephemeralOwner.value >> 56 < 0x80;
    }
    [[nodiscard]] Deadline soon() { return Deadline::after(loop(), 15s); }

    // The path itself and all below, parents first; a level of the tree at a time.
    Found below(const ZPath &top)
    {
        Found found;
        std::vector<ZPath> level{top};
        while (!level.empty()) {
            std::vector<Reply<zk::Children>> replies;
            for (const auto &path : level)
                replies.push_back(m_admin->children(path, std::nullopt, soon()));
            std::vector<ZPath> next;
            for (size_t i = 0; i < level.size(); ++i) {
                const auto listed = await(replies[i]);
                if (!listed)
                    continue;
                found.emplace_back(level[i], listed->stat);
                for (const auto &name : listed->names) {
                    if (level[i].isRoot() && name.bytes() == "zookeeper")
                        continue;
                    next.push_back(level[i].child(name));
                }
            }
            level = std::move(next);
        }
        return found;
    }
};

} // namespace

std::unique_ptr<TestEnvironment> makeZooKeeperEnvironment(Loop &loop)
{
    return std::make_unique<ZooKeeperEnvironment>(loop);
}

} // namespace lockscope::contract
