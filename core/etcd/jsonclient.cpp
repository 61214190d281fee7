// SPDX-License-Identifier: Apache-2.0
// The real client. Asks once a second whether the cluster is there; where one of its hosts does not answer, the next
// is tried, with back-off.

#include "core/etcd/http.h"

#include <QJsonDocument>

namespace lockscope::etcd {

namespace {

// What is idle beside them is closed.
constexpr std::size_t mostIdle = 4;
constexpr qsizetype longestLine = 64 * 1024 * 1024;

QByteArray compact(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

// It goes into a head of ours.
bool isFitForHead(const QByteArray &token)
{
    return !token.isEmpty() && token.size() < 8192
           && std::ranges::all_of(token, [](char one) { return one > ' ' && one < '\x7f'; });
}

} // namespace

// The JSON gateway of one etcd cluster: requests to whichever of its hosts answers, a token where a user is given,
// and streams. Loop thread only.
class Gateway {
public:
    using OnLine = std::function<void(const Result<QJsonObject> &)>; // an error is the last

    Gateway(Loop &loop, const ClientOptions &options)
        : m_loop(loop), m_options(options), m_needsToken(!options.user.isEmpty())
    {
    }

    // The task must not outlive the gateway.
    Task<Result<QJsonObject>> ask(QByteArray path, QJsonObject body, Deadline deadline)
    {
        const auto bytes = compact(body);
        for (int i = 0;; ++i) {
            if (m_needsToken && m_token.isEmpty()) {
                CO_TRY_VOID(co_await haveToken(deadline));
            }
            auto answer = co_await askOnce(path, bytes, deadline);
            // A token ends after some minutes in which it was not used, and with its server.
            const bool isOld = !answer && answer.error().code == ErrorCode::AuthFailed && !m_token.isEmpty();
            if (!isOld || i > 0)
                co_return answer;
            m_token.clear();
        }
    }
    // With a token that is there, after a request that had an answer. Lines come through the loop's queue.
    [[nodiscard]] Subscription stream(const QByteArray &path, const QJsonObject &body, OnLine onLine)
    {
        const auto stream = std::make_shared<Stream>(m_loop, host(), hostName(), std::move(onLine));
        auto *raw = stream.get(); // it has the connection
        raw->connection.post(
            path, m_token, compact(body), [raw](const Result<HttpAnswer> &answer) { raw->end(answer); },
            [raw](int status, const QByteArray &piece) { raw->take(status, piece); });
        std::erase_if(m_streams, [](const auto &one) { return one.expired(); });
        m_streams.push_back(stream);
        return Subscription(stream);
    }

    // Nobody was named, or users are off there.
    [[nodiscard]] bool isAnonymous() const { return !m_needsToken; }
    [[nodiscard]] const HostPort &host() const { return m_options.hosts[m_host]; }
    // For people, and for the server itself.
    [[nodiscard]] const HostPort &hostName() const
    {
        return m_host < m_options.names.size() ? m_options.names[m_host] : host();
    }
    // That one does not answer: what is open ends.
    void tryNextHost()
    {
        m_host = (m_host + 1) % m_options.hosts.size();
        std::erase_if(m_connections, [](const auto &one) { return one->isIdle(); });
        for (const auto &stream : std::exchange(m_streams, {})) {
            if (const auto alive = stream.lock())
                alive->tell(Error{ErrorCode::UnknownOutcome, u"the server does not answer"_s, true});
        }
    }

private:
    struct Stream : std::enable_shared_from_this<Stream> {
        Stream(Loop &onLoop, HostPort host, HostPort name, OnLine listener)
            : loop(onLoop), onLine(std::move(listener)), connection(std::move(host), std::move(name))
        {
        }
        void take(int status, const QByteArray &piece)
        {
            rest += piece;
            for (auto end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
                const auto line = rest.left(end).trimmed();
                rest.remove(0, end + 1);
                if (!line.isEmpty())
                    deliverLine(status, line);
            }
            if (rest.size() > longestLine)
                tell(Error{ErrorCode::TooLarge, u"a message of the stream is too long"_s});
        }
        void deliverLine(int status, const QByteArray &line)
        {
            auto object = readObject(line);
            tell(object && status != 200 ? Result<QJsonObject>(errorOf(status, *object)) : std::move(object));
        }
        void end(const Result<HttpAnswer> &answer)
        {
            if (!rest.trimmed().isEmpty() && answer)
                deliverLine(answer->status, std::exchange(rest, {}).trimmed());
            tell(answer ? Error{ErrorCode::UnknownOutcome, u"etcd ended the stream"_s, true} : answer.error());
        }
        void tell(Result<QJsonObject> line)
        {
            loop.post([weak = weak_from_this(), line = std::move(line)] {
                const auto alive = weak.lock();
                if (!alive || alive->isOver)
                    return;
                alive->isOver = !line;
                alive->onLine(line);
            });
        }

        Loop &loop;
        OnLine onLine;
        QByteArray rest;
        bool isOver = false;
        HttpConnection connection; // last: what it calls uses all above
    };
    Task<Result<void>> haveToken(Deadline deadline)
    {
        const QByteArray path("/v3/auth/authenticate");
        auto password = m_options.password;
        if (m_options.passwords) {
            const auto fetching = m_options.passwords->fetched(m_loop);
            fetching.completeAt(deadline,
                                Error{ErrorCode::TimedOut, u"the password command has not ended yet"_s, true});
            CO_TRY(password, co_await fetching);
        }
        const QJsonObject who{{u"name"_s, m_options.user}, {u"password"_s, password}};
        const auto body = compact(who);
        m_token.clear();
        const auto answer = co_await askOnce(path, body, deadline);
        if (!answer && answer.error().message.contains("authentication is not enabled"_L1)) {
            m_needsToken = false; // whoever comes may do everything
            co_return Result<void>();
        }
        if (!answer)
            co_return answer.error();
        m_token = answer->value("token"_L1).toString().toLatin1();
        if (!isFitForHead(m_token)) {
            m_token.clear();
            co_return Error{ErrorCode::AuthFailed, u"etcd returned no usable token"_s};
        }
        co_return Result<void>();
    }
    Task<Result<QJsonObject>> askOnce(QByteArray path, QByteArray body, Deadline deadline)
    {
        const auto connection = idleConnection();
        const auto asked = hostName();
        const Completion<Result<HttpAnswer>> answered(m_loop);
        connection->post(path, m_token, body,
                         [answered](const Result<HttpAnswer> &answer) { answered.complete(answer); });
        Timer tooLate;
        if (!deadline.isNever())
            tooLate = m_loop.callAt(deadline.when(), [weak = std::weak_ptr(connection), answered] {
                const auto alive = weak.lock();
                if (alive && !answered.isComplete())
                    alive->giveUp();
            });
        CO_TRY(const auto &answer, co_await answered);
        // A stream of one message ends with a line end.
        auto read = readObject(answer.body.trimmed());
        if (!read && answer.status != 200)
            co_return errorOfText(displayHost(asked), answer.status, answer.body);
        if (read && answer.status != 200)
            co_return errorOf(answer.status, *read);
        co_return read;
    }
    [[nodiscard]] std::shared_ptr<HttpConnection> idleConnection()
    {
        std::erase_if(m_connections, [](const auto &one) { return one->isIdle() && one->isBroken(); });
        std::shared_ptr<HttpConnection> found;
        std::size_t idle = 0;
        std::erase_if(m_connections, [&](const auto &one) {
            if (!one->isIdle())
                return false;
            if (!found && one->host() == host()) {
                found = one;
                return false;
            }
            return ++idle > mostIdle;
        });
        if (!found)
            found = m_connections.emplace_back(std::make_shared<HttpConnection>(host(), hostName()));
        return found;
    }

    Loop &m_loop;
    const ClientOptions m_options;
    std::size_t m_host = 0;
    QByteArray m_token;
    bool m_needsToken;
    std::vector<std::shared_ptr<HttpConnection>> m_connections;
    std::vector<std::weak_ptr<Stream>> m_streams;
};

namespace {

constexpr Duration firstBackOff = 50ms, longestBackOff = 2s;

class JsonClient final : public EndPort<Client> {
public:
    JsonClient(Loop &loop, ClientOptions options)
        : EndPort(loop), m_options(std::move(options)), m_gateway(loop, m_options), m_work(loop)
    {
        m_work.launch(lookAfterServer());
    }

    [[nodiscard]] ClientState state() const override { return m_state; }
    [[nodiscard]] QString lastError() const override { return m_why.message; }
    [[nodiscard]] bool isExplained() const override { return m_why.isExplained; }
    [[nodiscard]] QByteArray serverVersion() const override { return m_version; }

    void send(Request &&request) override
    {
        std::visit([this](const auto &asked) { submit(asked); }, request);
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
    static QJsonObject bodyOf(LeaseId id) { return {{u"ID"_s, QString::number(id)}}; }

    void submit(const Asked<RangeRequest> &asked) { post("/v3/kv/range", toJson(asked.request), asked, &readRange); }
    void submit(const Asked<Transaction> &asked)
    {
        post("/v3/kv/txn", toJson(asked.request), asked, &readTransaction);
    }
    void submit(const Asked<GrantRequest> &asked)
    {
        auto body = bodyOf(asked.request.id);
        body.insert(u"TTL"_s, QString::number(asked.request.ttl.count()));
        post("/v3/lease/grant", body, asked, &readLease);
    }
    void submit(const Asked<KeepAliveRequest> &asked)
    {
        post("/v3/lease/keepalive", bodyOf(asked.request.id), asked, [](const QJsonObject &line) {
            const auto result = readStreamed(line);
            return result ? readLease(*result) : Result<LeaseAnswer>(result.error());
        });
    }
    void submit(const Asked<RevokeRequest> &asked)
    {
        post("/v3/lease/revoke", bodyOf(asked.request.id), asked,
             [](const QJsonObject &) { return Result<bool>(true); });
    }
    void submit(const Asked<TimeToLiveRequest> &asked)
    {
        auto body = bodyOf(asked.request.id);
        body.insert(u"keys"_s, asked.request.withKeys);
        post("/v3/lease/timetolive", body, asked, &readLease);
    }
    void submit(const Asked<LeasesRequest> &asked) { post("/v3/lease/leases", QJsonObject(), asked, &readLeases); }
    void submit(const Asked<AccessRequest> &asked) { m_work.launch(readAccessRights(asked.deadline, asked.reply)); }

    template <class R>
    void post(QByteArray path, QJsonObject body, const Asked<R> &asked,
              Result<typename R::Answer> (*read)(const QJsonObject &))
    {
        m_work.launch(run(std::move(path), std::move(body), asked.deadline, read, asked.reply));
    }
    template <class T>
    Task<void> run(QByteArray path, QJsonObject body, Deadline deadline, Result<T> (*read)(const QJsonObject &),
                   Reply<T> reply)
    {
        const auto answer = co_await m_gateway.ask(path, body, deadline);
        reply.complete(answer ? read(*answer) : Result<T>(answer.error()));
    }

    // Each user may ask for itself and for its own roles; root is a role by its name alone.
    Task<void> readAccessRights(Deadline deadline, Reply<AccessRights> reply)
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
        const auto user = co_await m_gateway.ask(userPath, who, deadline);
        if (!user) {
            reply.complete(user.error());
            co_return;
        }
        const auto roles = readRoles(*user);
        access.isRoot = roles.contains("root"_L1);
        for (const auto &role : access.isRoot ? QStringList() : roles) {
            const QJsonObject which{{u"role"_s, role}};
            const auto answer = co_await m_gateway.ask(rolePath, which, deadline);
            if (!answer) {
                reply.complete(answer.error());
                co_return;
            }
            const auto permissions = readPermissions(*answer);
            access.permissions.insert(access.permissions.end(), permissions.begin(), permissions.end());
        }
        reply.complete(access);
    }
    Task<void> lookAfterServer()
    {
        Duration backOff = firstBackOff;
        for (;;) {
            const auto answer = co_await look();
            const bool isRefused = !answer && answer.error().code == ErrorCode::AuthFailed;
            if (isRefused && !m_options.passwords) {
                become(ClientState::AuthFailed, answer.error());
                co_return;
            }
            if (answer) {
                backOff = firstBackOff;
                become(ClientState::Connected, Error());
            } else {
                m_gateway.tryNextHost();
                become(isRefused ? ClientState::AuthFailed : ClientState::Connecting, answer.error());
            }
            const auto rest = answer ? Duration(m_options.askEvery) : backOff;
            co_await sleepFor(loop(), rest);
            if (!answer)
                backOff = std::min(2 * backOff, longestBackOff);
        }
    }
    // Also whether we may come in at all: the version is told to everybody.
    Task<Result<void>> look()
    {
        // It may take longer than an answer; what is asked for within this look is the same then.
        if (m_options.passwords && m_state != ClientState::Connected) {
            CO_TRY_VOID(co_await m_options.passwords->fetched(loop()));
        }
        const auto limit = Deadline::after(loop(), m_options.answersWithin);
        const QByteArray statusPath("/v3/maintenance/status"), rangePath("/v3/kv/range");
        const QJsonObject nothing;
        CO_TRY(const auto &status, co_await m_gateway.ask(statusPath, nothing, limit));
        m_version = status.value("version"_L1).toString().toLatin1().left(40);
        if (m_state == ClientState::Connected)
            co_return Result<void>();
        const auto question = toJson(RangeRequest{.key = "lockscope-may-i-come-in", .keysOnly = true});
        const auto entered = co_await m_gateway.ask(rangePath, question, limit);
        if (entered || entered.error().code == ErrorCode::NoPermission)
            co_return Result<void>();
        co_return entered.error();
    }
    // A failed attempt is told, too.
    void become(ClientState state, const Error &why)
    {
        m_why = why;
        if (state == m_state && state == ClientState::Connected)
            return;
        m_state = state;
        notifyState(state);
    }

    const ClientOptions m_options;
    ClientState m_state = ClientState::Connecting;
    Error m_why; // it is not connected; without words when it is
    QByteArray m_version;
    Gateway m_gateway;
    Scope m_work; // last: its coroutines use everything above
};

} // namespace

std::unique_ptr<Client> openClient(Loop &loop, ClientOptions options)
{
    return std::make_unique<JsonClient>(loop, std::move(options));
}

} // namespace lockscope::etcd
