// SPDX-License-Identifier: Apache-2.0
#include "core/etcd/gateway.h"

#include "core/etcd/messages.h"

#include <QJsonDocument>

#include <algorithm>

namespace lockscope::etcd {

using namespace Qt::StringLiterals;

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

struct Gateway::Stream : std::enable_shared_from_this<Stream> {
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
                tellLine(status, line);
        }
        if (rest.size() > longestLine)
            tell(Error{ErrorCode::TooLarge, u"a message of the stream is too long"_s});
    }
    void tellLine(int status, const QByteArray &line)
    {
        auto object = readObject(line);
        tell(object && status != 200 ? Result<QJsonObject>(errorOf(status, *object)) : std::move(object));
    }
    void end(const Result<HttpAnswer> &answer)
    {
        if (!rest.trimmed().isEmpty() && answer)
            tellLine(answer->status, std::exchange(rest, {}).trimmed());
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

Gateway::Gateway(Loop &loop, const ClientOptions &options)
    : m_loop(loop), m_options(options), m_needsToken(!options.user.isEmpty())
{
}

void Gateway::tryNextHost()
{
    m_host = (m_host + 1) % m_options.hosts.size();
    std::erase_if(m_connections, [](const auto &one) { return one->isIdle(); });
    for (const auto &one : std::exchange(m_streams, {})) {
        if (const auto alive = one.lock())
            alive->tell(Error{ErrorCode::UnknownOutcome, u"the server does not answer"_s, true});
    }
}

std::shared_ptr<HttpConnection> Gateway::idleConnection()
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

Task<Result<QJsonObject>> Gateway::askOnce(QByteArray path, QByteArray body, Deadline deadline)
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
    const auto answer = co_await answered;
    if (!answer)
        co_return answer.error();
    // A stream of one message ends with a line end.
    auto read = readObject(answer->body.trimmed());
    if (!read && answer->status != 200)
        co_return errorOfText(displayHost(asked), answer->status, answer->body);
    if (read && answer->status != 200)
        co_return errorOf(answer->status, *read);
    co_return read;
}

Task<Result<void>> Gateway::haveToken(Deadline deadline)
{
    const QByteArray path("/v3/auth/authenticate");
    const QJsonObject who{{u"name"_s, m_options.user}, {u"password"_s, m_options.password}};
    const auto body = compact(who);
    m_token.clear();
    auto asking = askOnce(path, body, deadline);
    const auto answer = co_await asking;
    if (!answer && answer.error().message.contains("authentication is not enabled"_L1)) {
        m_needsToken = false; // whoever comes may do everything
        co_return Result<void>();
    }
    if (!answer)
        co_return answer.error();
    m_token = answer->value("token"_L1).toString().toLatin1();
    if (!isFitForHead(m_token)) {
        m_token.clear();
        co_return Error{ErrorCode::AuthFailed, u"etcd gave no token that can be used"_s};
    }
    co_return Result<void>();
}

Task<Result<QJsonObject>> Gateway::ask(QByteArray path, QJsonObject body, Deadline deadline)
{
    const auto bytes = compact(body);
    for (int i = 0;; ++i) {
        if (m_needsToken && m_token.isEmpty()) {
            auto authenticating = haveToken(deadline);
            const auto had = co_await authenticating;
            if (!had)
                co_return had.error();
        }
        auto asking = askOnce(path, bytes, deadline);
        auto answer = co_await asking;
        // A token ends after some minutes in which it was not used, and with its server.
        const bool isOld = !answer && answer.error().code == ErrorCode::AuthFailed && !m_token.isEmpty();
        if (!isOld || i > 0)
            co_return answer;
        m_token.clear();
    }
}

Subscription Gateway::stream(const QByteArray &path, const QJsonObject &body, OnLine onLine)
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

} // namespace lockscope::etcd
