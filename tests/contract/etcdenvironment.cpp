// SPDX-License-Identifier: Apache-2.0
// etcd: a lock is the keys below its name, each with a lease of its own.
#include "testenvironment.h"

#include "core/etcd/client.h"
#include "core/recipes/make.h"
#include "core/sandbox/server.h"
#include "tests/support/plannedports.h"

#include <algorithm>

namespace lockscope::contract {

using namespace Qt::StringLiterals;
using etcd::Operation;
using testing::await;

namespace {

class CountingEtcd final : public etcd::ForwardingClient {
public:
    using ForwardingClient::ForwardingClient;

    void send(Request &&request) override
    {
        ++m_requests;
        inner().send(std::move(request));
    }
    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
    {
        ++m_requests;
        return inner().watch(std::move(request), [listener, counted = m_events](const etcd::WatchNews &news) {
            *counted += int(news.events.size());
            listener(news);
        });
    }
    [[nodiscard]] int requests() const { return m_requests; }
    [[nodiscard]] int events() const { return *m_events; }
    void reset() { m_requests = *m_events = 0; }

private:
    int m_requests = 0;
    std::shared_ptr<int> m_events = std::make_shared<int>(0);
};

class EtcdClient : public CabledClient<etcd::Client, testing::PlannedEtcd, CountingEtcd> {
public:
    EtcdClient(Loop &loop, const HostPort &server) : CabledClient(server)
    {
        use(etcd::openClient(loop, {.hosts = {m_cable.address()}}), plan);
    }
    Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                const recipes::AcquireOptions &options, Random random) override
    {
        return recipes::makeLock(recipe, *m_counting, name, options, std::move(random));
    }
    int requests() const override { return m_counting->requests(); }
    QByteArray spoken() const override { return QByteArray::number(requests()) + " requests"; }
    int wakeUps() const override { return m_counting->events(); }
    bool isIdle() const override { return m_planned->isIdle(); }
    qsizetype held() const override { return m_planned->held(); }
    void letThrough() override { m_planned->letThrough(); }
};

class EtcdEnvironment : public OneServer<etcd::Client> {
public:
    using OneServer::OneServer;
    ~EtcdEnvironment() override { dismissClients(); }

    Result<void> start() override
    {
        if (auto started = startServer(sandbox::makeEtcd()); !started)
            return started;
        etcd::ClientOptions options{.hosts = {m_server->address()}};
        m_admin = etcd::openClient(loop(), options);
        if (!eventually([this] { return isConnected(); }))
            return Error{ErrorCode::NotConnected, m_admin->lastError()};
        return {};
    }

    QByteArrayList claims(const TestName &name) override
    {
        QByteArrayList all;
        for (const auto &entry : below(name + '/'))
            all << entry.key;
        std::sort(all.begin(), all.end());
        return all;
    }
    bool confirms(const TestName &name, const recipes::Grant &grant) override
    {
        const auto all = below(name + '/');
        return std::any_of(all.begin(), all.end(), [&](const etcd::KeyValue &entry) {
            return entry.key == name + '/' + leaseOf(grant) && grant.fencingToken == entry.created;
        });
    }
    bool takeAway(const TestName &name, const recipes::Grant &grant) override
    {
        // What stands for the hold is its lease; the key goes with it.
        return confirms(name, grant) && bool(await(m_admin->revoke(leaseOf(grant).toLongLong(nullptr, 16), soon())));
    }
    bool takeAwayClaim(const QByteArray &claim) override { return write(Operation::Kind::Remove, claim); }
    QString whatIsForEver(const TestName &name, const recipes::Grant &) override
    {
        for (const auto &entry : below(name + '/')) {
            if (entry.lease == 0)
                return u"%1 has no lease"_s.arg(QString::fromUtf8(entry.key));
        }
        return {};
    }
    std::optional<std::chrono::milliseconds> leaseLeft(const TestName &name) override
    {
        const auto all = below(name + '/');
        if (all.empty())
            return std::nullopt;
        const auto lease = await(m_admin->timeToLive(all.front().lease, false, soon()));
        return lease && lease->ttl > 0s ? std::optional<std::chrono::milliseconds>(lease->ttl) : std::nullopt;
    }
    QByteArrayList everything() override { return claimsOf({}); }
    QString addForeign(const TestName &name) override
    {
        return write(Operation::Kind::Put, name + "/config") ? QString() : u"could not put a key"_s;
    }
    // Who waits watches a key: it is written, and stays.
    void disturb(const TestName &name) override
    {
        for (const auto &entry : below(name + '/')) {
            etcd::Transaction transaction;
            transaction.conditions.push_back({entry.key, entry.created, entry.lease});
            transaction.then.resize(1);
            transaction.then.front().kind = Operation::Kind::Put;
            transaction.then.front().range.key = entry.key;
            transaction.then.front().lease = entry.lease;
            static_cast<void>(await(m_admin->commit(transaction, soon())));
        }
    }
    bool clear(const TestName &name) override
    {
        for (const auto &entry : below(name + '/')) {
            if (!takeAwayClaim(entry.key))
                return false;
        }
        return true;
    }
    std::unique_ptr<Client> powerless(const TestName &) override { return connect({}); }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override
    {
        return std::make_unique<EtcdClient>(loop(), m_server->address());
    }

private:
    [[nodiscard]] Deadline soon() { return Deadline::after(loop(), 15s); }
    static QByteArray leaseOf(const recipes::Grant &grant) { return grant.id.left(grant.id.indexOf('@')); }
    QByteArrayList claimsOf(const QByteArray &prefix)
    {
        QByteArrayList all;
        for (const auto &entry : below(prefix))
            all << entry.key;
        return all;
    }
    // The oldest first.
    std::vector<etcd::KeyValue> below(const QByteArray &prefix)
    {
        etcd::RangeRequest request{
            .key = prefix, .end = etcd::endOfPrefix(prefix), .order = etcd::Order::OldestFirst};
        const auto answer = await(m_admin->range(request, soon()));
        return answer ? answer->entries : std::vector<etcd::KeyValue>();
    }
    bool write(Operation::Kind kind, const QByteArray &key)
    {
        etcd::Transaction transaction;
        transaction.then.resize(1);
        transaction.then.front().kind = kind;
        transaction.then.front().range.key = key;
        return bool(await(m_admin->commit(transaction, soon())));
    }
};

} // namespace

std::unique_ptr<TestEnvironment> makeEtcdEnvironment(Loop &loop)
{
    return std::make_unique<EtcdEnvironment>(loop);
}

} // namespace lockscope::contract
