// SPDX-License-Identifier: Apache-2.0
// One Redis: a lock is every key, field, member and entry that carries its name.
#include "testenvironment.h"

#include "core/redis/client.h"
#include "tests/support/countingredis.h"
#include "tests/support/plannedports.h"

#include <algorithm>

namespace lockscope::contract {

using namespace Qt::StringLiterals;
using redis::Value;
using testing::await;

namespace {

class RedisClient : public CabledClient<redis::Connection, testing::PlannedRedis, testing::CountingRedis> {
public:
    // `shared`: the plan of a client of several nodes, in place of its own.
    RedisClient(Loop &loop, const HostPort &server, const QByteArray &user = {}, testing::FaultPlan *shared = nullptr)
        : CabledClient(server)
    {
        redis::ConnectionOptions options{
            .host = m_cable.address(), .user = user, .password = user.isEmpty() ? QByteArray() : QByteArray("any")};
        use(redis::openConnection(loop, options), shared ? *shared : plan);
    }

    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                const recipes::AcquireOptions &options, Random random) override
    {
        return recipes::makeLock(recipe, *m_counting, RedisKey(name), options, std::move(random));
    }
    redis::Connection &connection() { return *m_counting; }
    bool isOver() const override { return m_real->state() == redis::ConnectionState::Closed; }
    int requests() const override { return m_counting->requests() + m_planned->unsubscriptions(); }
    QByteArray spoken() const override { return QByteArray::number(requests()) + " commands"; }
    int wakeUps() const override { return m_planned->messages(); }
    void resetCounts() override
    {
        m_counting->reset();
        m_planned->resetMessages();
    }
    bool isIdle() const override { return m_planned->isIdle(); }
    void deafen() override { m_planned->deafen(); }
    qsizetype held() const override { return m_planned->held(); }
    void letThrough() override { m_planned->letThrough(); }
};

// Stays when the lock is free: the counter of fencing tokens, and how many permits of a semaphore are left.
bool isFurniture(const QByteArray &key)
{
    return key.startsWith("redisson_lock_token:") || key.endsWith("-permits");
}

// Redisson's permits are bytes, and shown in hex.
bool isOf(const QByteArray &claim, const recipes::Grant &grant)
{
    return claim.contains(grant.id) || (grant.id.size() == 32 && claim.contains(QByteArray::fromHex(grant.id)));
}

class RedisEnvironment : public OneServer<redis::Connection> {
public:
    using OneServer::OneServer;
    ~RedisEnvironment() override { dismissClients(); }

    Result<void> start() override
    {
        if (auto started = startServer(sandbox::makeRedis()); !started)
            return started;
        redis::ConnectionOptions options{.host = m_server->address()};
        m_admin = redis::openConnection(loop(), options);
        if (!eventually([this] { return isConnected(); }))
            return Error{ErrorCode::NotConnected, m_admin->lastError()};
        return {};
    }

    QByteArrayList claims(const TestName &name) override
    {
        QByteArrayList all;
        for (const auto &key : keys('*' + name + '*')) {
            if (!isFurniture(key))
                all << partsOf(key);
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    bool confirms(const TestName &name, const recipes::Grant &grant) override
    {
        const auto all = claims(name);
        return std::any_of(all.begin(), all.end(), [&](const auto &claim) { return isOf(claim, grant); });
    }
    bool takeAway(const TestName &name, const recipes::Grant &grant) override
    {
        bool taken = false;
        for (const auto &key : keys('*' + name + '*')) {
            const auto parts = isFurniture(key) ? QByteArrayList() : partsOf(key);
            const auto ours =
                std::find_if(parts.begin(), parts.end(), [&](const auto &part) { return isOf(part, grant); });
            if (ours != parts.end())
                taken = removePart(key, *ours, parts) || taken;
        }
        return taken;
    }
    bool takeAwayClaim(const QByteArray &claim) override
    {
        return removePart(claim.left(claim.indexOf(" -> ")), claim, {claim});
    }
    QString whatIsForEver(const TestName &name, const recipes::Grant &) override
    {
        for (const auto &key : keys('*' + name + '*')) {
            if (!isFurniture(key) && ask({"PTTL", key}).integer == -1)
                return u"%1 has no TTL"_s.arg(QString::fromUtf8(key));
        }
        return {};
    }
    QByteArrayList channels(const TestName &name) override
    {
        QByteArrayList heard;
        for (const auto &channel : ask({"PUBSUB", "CHANNELS", '*' + name + '*'}).items)
            heard << channel.text;
        return heard;
    }
    std::optional<std::chrono::milliseconds> leaseLeft(const TestName &name) override
    {
        qint64 longest = -1;
        for (const auto &key : keys('*' + name + '*')) {
            if (!isFurniture(key))
                longest = std::max(longest, ask({"PTTL", key}).integer);
            if (key.endsWith(":timeout")) { // a semaphore's permits, by the moment they end
                const auto ends = ask({"ZRANGE", key, "-1", "-1", "WITHSCORES"}).items;
                const auto now = ask({"TIME"}).items;
                if (ends.size() == 2 && now.size() == 2)
                    longest = std::max(longest, qint64(ends[1].text.toDouble()) - now[0].text.toLongLong() * 1000
                                                    - now[1].text.toLongLong() / 1000);
            }
        }
        if (longest < 0)
            return std::nullopt;
        return std::chrono::milliseconds(longest);
    }
    QByteArrayList everything() override
    {
        auto all = keys("*");
        for (const auto &channel : ask({"PUBSUB", "CHANNELS"}).items)
            all << "channel " + channel.text;
        std::sort(all.begin(), all.end());
        return all;
    }
    QString addForeign(const TestName &) override { return u"nothing stands beside a key"_s; }
    void disturb(const TestName &name) override
    {
        for (const auto &channel : channels(name))
            ask({"PUBLISH", channel, "1"});
    }
    bool clear(const TestName &name) override
    {
        for (const auto &key : keys('*' + name + '*'))
            ask({"DEL", key});
        return true;
    }
    std::unique_ptr<Client> powerless(const TestName &) override
    {
        auto client = connectFor(nullptr, "onlooker");
        eventually([&] { return client->isConnected(); });
        return client;
    }

    std::unique_ptr<RedisClient> connectFor(testing::FaultPlan *plan, const QByteArray &user = {})
    {
        if (!user.isEmpty())
            letReadOnly(user);
        return std::make_unique<RedisClient>(loop(), m_server->address(), user, plan);
    }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override { return connectFor(nullptr); }

private:
    void letReadOnly(const QByteArray &user)
    {
        ask({"ACL", "SETUSER", user, "on", "nopass", "~*", "&*", "+@read", "+@connection", "+@pubsub"});
    }
    Value ask(redis::Command command)
    {
        const auto reply = await(m_admin->command(std::move(command), Deadline::after(loop(), 15s)));
        return reply ? *reply : Value();
    }
    QByteArrayList keys(const QByteArray &pattern)
    {
        QByteArrayList all;
        for (const auto &key : ask({"KEYS", pattern}).items) {
            // The short-lived notes of finished releases mean nothing to anybody else.
            if (!key.text.startsWith("redisson_unlock_latch:"))
                all << key.text;
        }
        return all;
    }
    // "key -> string value", "key -> hash field", "key -> list entry", "key -> zset member".
    QByteArrayList partsOf(const QByteArray &key)
    {
        const auto type = ask({"TYPE", key}).text;
        QByteArrayList parts;
        if (type == "string")
            parts << ask({"GET", key}).text;
        for (const auto &item : itemsOf(type, key))
            parts << item.text;
        for (auto &part : parts)
            part = key + " -> " + type + ' ' + part;
        return parts;
    }
    std::vector<Value> itemsOf(const QByteArray &type, const QByteArray &key)
    {
        if (type == "hash")
            return ask({"HKEYS", key}).items;
        if (type == "list")
            return ask({"LRANGE", key, "0", "-1"}).items;
        if (type == "zset")
            return ask({"ZRANGE", key, "0", "-1"}).items;
        if (type == "set")
            return ask({"SMEMBERS", key}).items;
        return {};
    }
    bool removePart(const QByteArray &key, const QByteArray &part, const QByteArrayList &parts)
    {
        const QByteArray rest = part.mid(key.size() + 4);
        const QByteArray type = rest.left(rest.indexOf(' '));
        const QByteArray item = rest.mid(type.size() + 1);
        // A read/write lock's hash says its mode beside its holders.
        const auto holders =
            std::count_if(parts.begin(), parts.end(), [](const auto &each) { return !each.endsWith(" hash mode"); });
        if (type == "hash" && holders > 1)
            return ask({"HDEL", key, item}).integer > 0;
        if (type == "zset" && key.startsWith('{') && key.endsWith("-permits}:timeout"))
            ask({"INCR", key.mid(1, key.size() - 10)}); // the permit goes back
        if (type == "zset")
            return ask({"ZREM", key, item}).integer > 0;
        if (type == "list")
            return ask({"LREM", key, "0", item}).integer > 0;
        if (type == "set")
            return ask({"SREM", key, item}).integer > 0;
        return ask({"DEL", key}).integer > 0;
    }
};

// One client of several nodes; whatever is planned counts over all of them.
class SeveralClient : public Client {
public:
    SeveralClient(std::vector<std::unique_ptr<RedisEnvironment>> &nodes, const QByteArray &user)
    {
        for (auto &node : nodes)
            m_nodes.push_back(node->connectFor(&plan, user));
    }

    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                const recipes::AcquireOptions &options, Random random) override
    {
        std::vector<redis::Connection *> connections;
        for (auto &node : m_nodes)
            connections.push_back(&node->connection());
        return recipes::makeLock(recipe, connections, RedisKey(name), options, std::move(random));
    }
    bool isConnected() const override
    {
        return std::all_of(m_nodes.begin(), m_nodes.end(), [](const auto &node) { return node->isConnected(); });
    }
    int requests() const override
    {
        return sum([](const RedisClient &node) { return node.requests(); });
    }
    QByteArray spoken() const override { return QByteArray::number(requests()) + " commands"; }
    int wakeUps() const override
    {
        return sum([](const RedisClient &node) { return node.wakeUps(); });
    }
    void resetCounts() override { each(&RedisClient::resetCounts); }
    bool isIdle() const override
    {
        return std::all_of(m_nodes.begin(), m_nodes.end(), [](const auto &node) { return node->isIdle(); });
    }
    void cut() override { each(&RedisClient::cut); }
    void mend() override { each(&RedisClient::mend); }
    qsizetype held() const override
    {
        return sum([](const RedisClient &node) { return int(node.held()); });
    }
    void letThrough() override { each(&RedisClient::letThrough); }

private:
    void each(void (RedisClient::*act)())
    {
        for (auto &node : m_nodes)
            (node.get()->*act)();
    }
    int sum(const std::function<int(const RedisClient &)> &part) const
    {
        int all = 0;
        for (const auto &node : m_nodes)
            all += part(*node);
        return all;
    }

    std::vector<std::unique_ptr<RedisClient>> m_nodes;
};

// Three independent Redis. A lock is what a majority of them says.
class SeveralEnvironment : public TestEnvironment {
public:
    explicit SeveralEnvironment(Loop &loop) : TestEnvironment(loop)
    {
        for (int i = 0; i < 3; ++i)
            m_nodes.push_back(std::make_unique<RedisEnvironment>(loop));
    }

    Result<void> start() override { return each(&RedisEnvironment::start); }
    QByteArrayList claims(const TestName &name) override
    {
        return gather([&](RedisEnvironment &node) { return node.claims(name); });
    }
    bool confirms(const TestName &name, const recipes::Grant &grant) override
    {
        return std::count_if(m_nodes.begin(), m_nodes.end(), [&](auto &node) { return node->confirms(name, grant); })
               >= 2;
    }
    bool takeAway(const TestName &name, const recipes::Grant &grant) override
    {
        for (auto &node : m_nodes)
            node->takeAway(name, grant);
        // By now it may be another's, who asks again and again.
        return std::ranges::none_of(m_nodes, [&](auto &node) { return node->confirms(name, grant); });
    }
    bool takeAwayClaim(const QByteArray &) override { return false; }
    QString whatIsForEver(const TestName &name, const recipes::Grant &grant) override
    {
        QString wrong;
        for (auto &node : m_nodes)
            wrong += node->whatIsForEver(name, grant);
        return wrong;
    }
    QByteArrayList channels(const TestName &name) override
    {
        return gather([&](RedisEnvironment &node) { return node.channels(name); });
    }
    std::optional<std::chrono::milliseconds> leaseLeft(const TestName &name) override
    {
        return m_nodes.front()->leaseLeft(name);
    }
    QByteArrayList everything() override
    {
        return gather([](RedisEnvironment &node) { return node.everything(); });
    }
    QString addForeign(const TestName &) override { return u"nothing stands beside a key"_s; }
    bool clear(const TestName &name) override
    {
        for (auto &node : m_nodes)
            node->clear(name);
        return true;
    }
    std::unique_ptr<Client> powerless(const TestName &) override
    {
        auto client = std::make_unique<SeveralClient>(m_nodes, "onlooker");
        eventually([&] { return client->isConnected(); });
        return client;
    }
    void pause() override
    {
        for (auto &node : m_nodes)
            node->pause();
    }
    void resume() override
    {
        for (auto &node : m_nodes)
            node->resume();
    }
    Result<void> restart() override { return each(&RedisEnvironment::restart); }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override
    {
        return std::make_unique<SeveralClient>(m_nodes, QByteArray());
    }

private:
    Result<void> each(Result<void> (RedisEnvironment::*act)())
    {
        for (auto &node : m_nodes) {
            auto done = (node.get()->*act)();
            if (!done)
                return done;
        }
        return {};
    }
    QByteArrayList gather(const std::function<QByteArrayList(RedisEnvironment &)> &part)
    {
        QByteArrayList all;
        for (size_t i = 0; i < m_nodes.size(); ++i) {
            for (const auto &entry : part(*m_nodes[i]))
                all << "node " + QByteArray::number(qint64(i)) + ": " + entry;
        }
        return all;
    }

    std::vector<std::unique_ptr<RedisEnvironment>> m_nodes;
};

} // namespace

std::unique_ptr<TestEnvironment> makeRedisEnvironment(Loop &loop)
{
    return std::make_unique<RedisEnvironment>(loop);
}

std::unique_ptr<TestEnvironment> makeSeveralRedisEnvironment(Loop &loop)
{
    return std::make_unique<SeveralEnvironment>(loop);
}

} // namespace lockscope::contract
