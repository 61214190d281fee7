// One Redis: a lock is every key, field, member and entry that carries its name.
#include "arena.h"

#include "core/redis/client.h"
#include "tests/support/countingredis.h"
#include "tests/support/plannedports.h"

#include <algorithm>

namespace lockscope::contract {

using namespace Qt::StringLiterals;
using redis::Value;
using test::await;
using test::Cable;

namespace {

class RedisClient : public Client {
public:
    RedisClient(Loop &loop, const HostPort &server, const QByteArray &user = {})
    {
        m_cable = std::make_unique<Cable>(server);
        redis::ConnectionOptions options;
        options.host = m_cable->address();
        options.user = user;
        options.password = user.isEmpty() ? QByteArray() : QByteArray("any");
        m_real = redis::openConnection(loop, options);
        m_planned = std::make_unique<testing::PlannedRedis>(*m_real, plan);
        m_counting = std::make_unique<testing::CountingRedis>(*m_planned);
    }

    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TrialName &name,
                                                const recipes::AcquireOptions &options, Random random) override
    {
        return recipes::makeLock(recipe, *m_counting, RedisKey(name), options, std::move(random));
    }
    bool isConnected() const override { return m_real->state() == redis::ConnectionState::Connected; }
    bool isOver() const override { return m_real->state() == redis::ConnectionState::Closed; }
    int requests() const override { return m_counting->requests(); }
    QByteArray spoken() const override { return QByteArray::number(requests()) + " commands"; }
    int wakeUps() const override { return m_planned->messages(); }
    void resetCounts() override
    {
        m_counting->reset();
        m_planned->resetMessages();
    }
    bool isIdle() const override { return m_planned->isIdle(); }
    void cut() override { m_cable->cut(); }
    void mend() override { m_cable->mend(); }
    qsizetype held() const override { return m_planned->held(); }
    void letThrough() override { m_planned->letThrough(); }

private:
    std::unique_ptr<Cable> m_cable;
    std::unique_ptr<redis::Connection> m_real;
    std::unique_ptr<testing::PlannedRedis> m_planned;
    std::unique_ptr<testing::CountingRedis> m_counting;
};

// Keys that stay when the lock is free, or come and go beside it: the counter of fencing tokens, and
// the short-lived notes of finished releases.
bool isFurniture(const QByteArray &key)
{
    return key.startsWith("redisson_lock_token:") || key.startsWith("redisson_unlock_latch:");
}

class RedisArena : public Arena {
public:
    using Arena::Arena;

    Result<bool> start() override
    {
        auto made = sandbox::makeRedis();
        if (!made)
            return made.error();
        m_server = std::move(*made);
        auto started = m_server->start(20s);
        if (!started)
            return started;
        redis::ConnectionOptions options;
        options.host = m_server->address();
        m_admin = redis::openConnection(loop(), options);
        if (!eventually([this] { return m_admin->state() == redis::ConnectionState::Connected; }))
            return Error{ErrorCode::NotConnected, m_admin->lastError()};
        return true;
    }

    QByteArrayList claims(const TrialName &name) override
    {
        QByteArrayList all;
        for (const auto &key : keys('*' + name + '*')) {
            if (!isFurniture(key))
                all << partsOf(key);
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    bool confirms(const TrialName &name, const recipes::Grant &grant) override
    {
        const auto all = claims(name);
        return std::any_of(all.begin(), all.end(), [&](const auto &claim) { return claim.contains(grant.id); });
    }
    bool takeAway(const TrialName &name, const recipes::Grant &grant) override
    {
        bool taken = false;
        for (const auto &key : keys('*' + name + '*')) {
            const auto parts = isFurniture(key) ? QByteArrayList() : partsOf(key);
            const auto ours = std::find_if(parts.begin(), parts.end(),
                                           [&](const auto &part) { return part.contains(grant.id); });
            if (ours != parts.end())
                taken = removePart(key, *ours, parts) || taken;
        }
        return taken;
    }
    bool takeAwayClaim(const QByteArray &claim) override
    {
        return removePart(claim.left(claim.indexOf(" -> ")), claim, {claim});
    }
    QString whatIsForEver(const TrialName &name, const recipes::Grant &) override
    {
        for (const auto &key : keys('*' + name + '*')) {
            if (!isFurniture(key) && ask({"PTTL", key}).integer == -1)
                return u"%1 has no TTL"_s.arg(QString::fromUtf8(key));
        }
        return {};
    }
    QByteArrayList channels(const TrialName &name) override
    {
        QByteArrayList heard;
        for (const auto &channel : ask({"PUBSUB", "CHANNELS", '*' + name + '*'}).items)
            heard << channel.text;
        return heard;
    }
    std::optional<std::chrono::milliseconds> leaseLeft(const TrialName &name) override
    {
        qint64 longest = -1;
        for (const auto &key : keys('*' + name + '*')) {
            if (!isFurniture(key))
                longest = std::max(longest, ask({"PTTL", key}).integer);
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
    QString addForeign(const TrialName &) override { return u"nothing stands beside a key"_s; }
    bool clear(const TrialName &name) override
    {
        for (const auto &key : keys('*' + name + '*'))
            ask({"DEL", key});
        return true;
    }
    std::unique_ptr<Client> powerless(const TrialName &) override
    {
        ask({"ACL", "SETUSER", "onlooker", "on", "nopass", "~*", "&*", "+@read", "+@connection", "+@pubsub"});
        auto client = std::make_unique<RedisClient>(loop(), m_server->address(), "onlooker");
        eventually([&] { return client->isConnected(); });
        return client;
    }

    void pause() override { m_server->pause(); }
    void resume() override { m_server->resume(); }
    Result<bool> restart() override
    {
        m_server->stop();
        auto started = m_server->start(20s);
        eventually([this] { return m_admin->state() != redis::ConnectionState::Connected; }, 1s);
        eventually([this] { return m_admin->state() == redis::ConnectionState::Connected; });
        return started;
    }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override
    {
        return std::make_unique<RedisClient>(loop(), m_server->address());
    }

private:
    Value ask(redis::Command command)
    {
        const auto reply = await(m_admin->command(std::move(command), Deadline::after(loop(), 15s)));
        return reply ? *reply : Value();
    }
    QByteArrayList keys(const QByteArray &pattern)
    {
        QByteArrayList all;
        for (const auto &key : ask({"KEYS", pattern}).items)
            all << key.text;
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
        const auto holders = std::count_if(parts.begin(), parts.end(),
                                           [](const auto &each) { return !each.endsWith(" hash mode"); });
        if (type == "hash" && holders > 1)
            return ask({"HDEL", key, item}).integer > 0;
        if (type == "zset")
            return ask({"ZREM", key, item}).integer > 0;
        if (type == "list")
            return ask({"LREM", key, "0", item}).integer > 0;
        if (type == "set")
            return ask({"SREM", key, item}).integer > 0;
        return ask({"DEL", key}).integer > 0;
    }

    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_admin;
};

} // namespace

std::unique_ptr<Arena> makeRedisArena(Loop &loop)
{
    return std::make_unique<RedisArena>(loop);
}

} // namespace lockscope::contract
