// SPDX-License-Identifier: Apache-2.0
// The real client. Asks once a second whether the cluster is there; where one of its hosts does not answer, the next
// is tried, with back-off.
#include "core/etcd/client.h"

#include "core/async/sleep.h"
#include "core/async/statelisteners.h"
#include "core/etcd/gateway.h"
#include "core/etcd/messages.h"

#include <algorithm>

namespace lockscope::etcd {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr Duration firstBackOff = 50ms, longestBackOff = 2s;

class JsonClient final : public Client {
public:
    JsonClient(Loop &loop, ClientOptions options)
        : m_loop(loop), m_options(std::move(options)), m_gateway(loop, m_options), m_work(loop)
    {
        m_work.launch(lookAfterServer());
    }

    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] ClientState state() const override { return m_state; }
    [[nodiscard]] QString lastError() const override { return m_why.message; }
    [[nodiscard]] bool isExplained() const override { return m_why.isExplained; }
    [[nodiscard]] QByteArray serverVersion() const override { return m_version; }
    Subscription onState(std::function<void(ClientState)> listener) override
    {
        return m_listeners.add(std::move(listener));
    }

    Reply<RangeAnswer> range(RangeRequest request, Deadline deadline) override
    {
        return send<RangeAnswer>("/v3/kv/range", toJson(request), deadline, &readRange);
    }
    Reply<TransactionAnswer> commit(Transaction transaction, Deadline deadline) override
    {
        return send<TransactionAnswer>("/v3/kv/txn", toJson(transaction), deadline, &readTransaction);
    }
    Reply<LeaseAnswer> grant(LeaseId id, std::chrono::seconds ttl, Deadline deadline) override
    {
        const QJsonObject body{{u"ID"_s, QString::number(id)}, {u"TTL"_s, QString::number(ttl.count())}};
        return send<LeaseAnswer>("/v3/lease/grant", body, deadline, &readLease);
    }
    Reply<LeaseAnswer> keepAlive(LeaseId id, Deadline deadline) override
    {
        return send<LeaseAnswer>("/v3/lease/keepalive", bodyOf(id), deadline, [](const QJsonObject &line) {
            const auto result = readStreamed(line);
            return result ? readLease(*result) : Result<LeaseAnswer>(result.error());
        });
    }
    Reply<bool> revoke(LeaseId id, Deadline deadline) override
    {
        return send<bool>("/v3/lease/revoke", bodyOf(id), deadline,
                          [](const QJsonObject &) { return Result<bool>(true); });
    }
    Reply<LeaseAnswer> timeToLive(LeaseId id, bool withKeys, Deadline deadline) override
    {
        auto body = bodyOf(id);
        body.insert(u"keys"_s, withKeys);
        return send<LeaseAnswer>("/v3/lease/timetolive", body, deadline, &readLease);
    }
    Reply<std::vector<LeaseId>> leases(Deadline deadline) override
    {
        return send<std::vector<LeaseId>>("/v3/lease/leases", QJsonObject(), deadline, &readLeases);
    }
    Reply<AccessRights> access(Deadline deadline) override
    {
        const Reply<AccessRights> reply(m_loop);
        m_work.launch(readAccessRights(deadline, reply));
        return reply;
    }
    Subscription watch(WatchRequest request, std::function<void(const WatchNews &)> listener) override
    {
        return m_gateway.stream("/v3/watch", toJson(request), [listener](const Result<QJsonObject> &line) {
            WatchNews news;
            if (line)
                news = readNews(*line);
            else
                news.over = line.error();
            listener(news);
        });
    }

private:
    template <class T>
    using Read = Result<T> (*)(const QJsonObject &);

    static QJsonObject bodyOf(LeaseId id) { return {{u"ID"_s, QString::number(id)}}; }

    template <class T>
    Reply<T> send(QByteArray path, QJsonObject body, Deadline deadline, Read<T> read)
    {
        const Reply<T> reply(m_loop);
        m_work.launch(run<T>(std::move(path), std::move(body), deadline, read, reply));
        return reply;
    }
    template <class T>
    Task<void> run(QByteArray path, QJsonObject body, Deadline deadline, Read<T> read, Reply<T> reply)
    {
        auto asking = m_gateway.ask(path, body, deadline);
        const auto answer = co_await asking;
        reply.complete(answer ? read(*answer) : Result<T>(answer.error()));
    }

    Task<void> readAccessRights(Deadline deadline, Reply<AccessRights> reply);
    Task<void> lookAfterServer();
    Task<Result<void>> look();
    void become(ClientState state, const Error &why);

    Loop &m_loop;
    const ClientOptions m_options;
    ClientState m_state = ClientState::Connecting;
    Error m_why; // it is not connected; without words when it is
    QByteArray m_version;
    StateListeners<ClientState> m_listeners;
    Gateway m_gateway;
    Scope m_work; // last: its coroutines use everything above
};

// Each user may ask for itself and for its own roles; root is a role by its name alone.
Task<void> JsonClient::readAccessRights(Deadline deadline, Reply<AccessRights> reply)
{
    AccessRights access;
    access.areUsersOn = !m_gateway.isAnonymous();
    if (!access.areUsersOn) {
        reply.complete(access);
        co_return;
    }
    access.user = m_options.user.toUtf8();
    const QByteArray userPath("/v3/auth/user/get"), rolePath("/v3/auth/role/get");
    const QJsonObject who{{u"name"_s, m_options.user}};
    auto asking = m_gateway.ask(userPath, who, deadline);
    const auto user = co_await asking;
    if (!user) {
        reply.complete(user.error());
        co_return;
    }
    const auto roles = readRoles(*user);
    access.isRoot = roles.contains("root"_L1);
    for (const auto &role : access.isRoot ? QStringList() : roles) {
        const QJsonObject which{{u"role"_s, role}};
        auto reading = m_gateway.ask(rolePath, which, deadline);
        const auto answer = co_await reading;
        if (!answer) {
            reply.complete(answer.error());
            co_return;
        }
        const auto permissions = readPermissions(*answer);
        access.permissions.insert(access.permissions.end(), permissions.begin(), permissions.end());
    }
    reply.complete(access);
}

// Also whether we may come in at all: the version is told to everybody.
Task<Result<void>> JsonClient::look()
{
    const auto limit = Deadline::after(m_loop, m_options.answersWithin);
    const QByteArray statusPath("/v3/maintenance/status"), rangePath("/v3/kv/range");
    const QJsonObject nothing;
    auto asking = m_gateway.ask(statusPath, nothing, limit);
    const auto status = co_await asking;
    if (!status)
        co_return status.error();
    m_version = status->value("version"_L1).toString().toLatin1().left(40);
    if (m_state == ClientState::Connected)
        co_return Result<void>();
    RangeRequest one;
    one.key = "lockscope-may-i-come-in";
    one.keysOnly = true;
    const auto question = toJson(one);
    auto entering = m_gateway.ask(rangePath, question, limit);
    const auto entered = co_await entering;
    if (entered || entered.error().code == ErrorCode::NoPermission)
        co_return Result<void>();
    co_return entered.error();
}

Task<void> JsonClient::lookAfterServer()
{
    Duration backOff = firstBackOff;
    for (;;) {
        auto looking = look();
        const auto answer = co_await looking;
        if (!answer && answer.error().code == ErrorCode::AuthFailed) {
            become(ClientState::AuthFailed, answer.error());
            co_return;
        }
        if (answer) {
            backOff = firstBackOff;
            become(ClientState::Connected, Error());
        } else {
            m_gateway.tryNextHost();
            become(ClientState::Connecting, answer.error());
        }
        const auto rest = answer ? Duration(m_options.askEvery) : backOff;
        auto pause = sleepFor(m_loop, rest);
        co_await pause;
        if (!answer)
            backOff = std::min(2 * backOff, longestBackOff);
    }
}

// A failed attempt is told, too.
void JsonClient::become(ClientState state, const Error &why)
{
    m_why = why;
    if (state == m_state && state == ClientState::Connected)
        return;
    m_state = state;
    m_listeners.tell(m_loop, state);
}

} // namespace

std::unique_ptr<Client> openClient(Loop &loop, ClientOptions options)
{
    return std::make_unique<JsonClient>(loop, std::move(options));
}

} // namespace lockscope::etcd
