// SPDX-License-Identifier: Apache-2.0
// What a session sends and what becomes of the answers.
#include "core/zookeeper/callbacks.h"
#include "core/zookeeper/clientsession.h"
#include "core/zookeeper/sendable.h"

namespace lockscope::zk {

namespace {

std::optional<WatchRequest> watchRequest(const std::optional<Watch> &watch, WatchKind kind,
                                         bool alsoWhenMissing = false)
{
    if (!watch)
        return {};
    return WatchRequest{*watch, kind, alsoWhenMissing};
}

template <class T>
Reply<T> refused(Loop &loop, Error error)
{
    Reply<T> reply(loop);
    reply.complete(std::move(error));
    return reply;
}

} // namespace

std::optional<Error> Client::whyNotNow(const Attempt &attempt, qsizetype payloadBytes, Deadline deadline) const
{
    auto state = m_state;
    if (state == SessionState::Connected) {
        // The library may know more than has reached the loop yet.
        const int now = zoo_state(m_handle);
        if (now == ZOO_EXPIRED_SESSION_STATE)
            state = SessionState::Expired;
        else if (now == ZOO_AUTH_FAILED_STATE)
            state = SessionState::AuthFailed;
        else if (now != ZOO_CONNECTED_STATE)
            state = SessionState::Connecting;
    }
    return whyNotSent(state, attempt, payloadBytes, deadline, m_loop);
}

// `send` hands the call to the library and returns its code; from ZOK on the callback owns the call.
template <class T, class C, class Send>
Reply<T> Client::request(Terms terms, std::unique_ptr<C> call, Send send)
{
    const auto &attempt = terms.attempt;
    if (auto why = whyNotNow(attempt, terms.payloadBytes, terms.deadline))
        return refused<T>(m_loop, std::move(*why));
    if (terms.watch && !m_watches.reserve(attempt.path, terms.watch->kind))
        return refused<T>(m_loop, overBudget(attempt, m_watches.budgetBytes()));
    Reply<T> reply(m_loop);
    const auto id = call->id;
    m_mailbox->callSent();
    const int sent = send(call.get());
    if (sent != ZOK) {
        m_mailbox->callAnswered();
        if (terms.watch)
            m_watches.release(attempt.path, terms.watch->kind);
        return refused<T>(m_loop, sent == ZINVALIDSTATE ? overError(attempt) : errorOf(sent, attempt));
    }
    call.release();
    if (!terms.deadline.isNever())
        reply.completeAtWith(terms.deadline, [attempt] { return Result<T>(unansweredInTime(attempt)); });
    m_out.emplace(id, std::make_unique<OutstandingReply<T>>(std::move(terms.attempt), std::move(terms.watch), reply));
    return reply;
}

std::unique_ptr<Call> Client::newCall()
{
    return std::make_unique<Call>(Call{m_mailbox.get(), m_nextId++});
}

Error Client::overError(const Attempt &attempt) const
{
    return notSent(zoo_state(m_handle) == ZOO_AUTH_FAILED_STATE ? SessionState::AuthFailed : SessionState::Expired,
                   attempt);
}

std::unique_ptr<Outstanding> Client::take(quint64 id)
{
    auto at = m_out.find(id);
    if (at == m_out.end())
        return nullptr;
    auto request = std::move(at->second);
    m_out.erase(at);
    return request;
}

std::unique_ptr<Outstanding> Client::takeAnswered(quint64 id, int returnCode)
{
    auto request = take(id);
    if (!request)
        return nullptr;
    settleWatch(*request, returnCode);
    if (returnCode == ZOK)
        return request;
    request->fail(errorOf(returnCode, request->attempt()));
    // The server has closed the session with this answer, and would the next one: it shall not be opened for ever.
    if (returnCode == ZSESSIONCLOSEDREQUIRESASLAUTH)
        endSession(SessionState::AuthFailed);
    return nullptr;
}

void Client::settleWatch(const Outstanding &request, int returnCode)
{
    const auto &watch = request.watch();
    if (!watch)
        return;
    const auto &path = request.attempt().path;
    if (returnCode == ZOK || (returnCode == ZNONODE && watch->alsoWhenMissing))
        m_watches.arm(path, watch->kind, watch->listener);
    else
        m_watches.release(path, watch->kind);
}

void Client::multiFailed(quint64 id, int returnCode, std::size_t part, const Attempt &attempt)
{
    if (const auto request = take(id))
        request->fail(partFailed(returnCode, attempt, part));
}

Reply<Created> Client::create(ZPath path, QByteArray data, CreateMode mode, Acls acls, Deadline deadline)
{
    if (auto why = whyNoTtl(path, mode))
        return refused<Created>(m_loop, std::move(*why));
    const auto payload = data.size() + sizeOf(acls);
    return request<Created>({{"create", path}, deadline, payload, {}}, newCall(), [&](Call *call) {
        callbacks::CAcls list(std::move(acls));
        return zoo_acreate2(m_handle, path.bytes().constData(), data.constData(), static_cast<int>(data.size()),
                            list.vector(), callbacks::libraryMode(mode), callbacks::onCreated, call);
    });
}

Reply<Created> Client::createWithTtl(ZPath path, QByteArray data, CreateMode mode,
                                     std::chrono::milliseconds timeToLive, Acls acls, Deadline deadline)
{
    if (auto why = whyBadTtl(path, mode, timeToLive))
        return refused<Created>(m_loop, std::move(*why));
    const auto payload = data.size() + sizeOf(acls);
    return request<Created>({{"create", path}, deadline, payload, {}}, newCall(), [&](Call *call) {
        callbacks::CAcls list(std::move(acls));
        return zoo_acreate2_ttl(m_handle, path.bytes().constData(), data.constData(), static_cast<int>(data.size()),
                                list.vector(), callbacks::libraryMode(mode), timeToLive.count(), callbacks::onCreated,
                                call);
    });
}

Reply<bool> Client::remove(ZPath path, qint32 version, Deadline deadline)
{
    return request<bool>({{"delete", path}, deadline, 0, {}}, newCall(), [&](Call *call) {
        return zoo_adelete(m_handle, path.bytes().constData(), version, callbacks::onDone, call);
    });
}

Reply<Node> Client::get(ZPath path, std::optional<Watch> watch, Deadline deadline)
{
    return request<Node>(
        {{"read", path}, deadline, 0, watchRequest(watch, WatchKind::Data)}, newCall(), [&](Call *call) {
            return zoo_awget(m_handle, path.bytes().constData(), watch ? callbacks::onDataWatch : nullptr,
                             m_mailbox.get(), callbacks::onNode, call);
        });
}

Reply<Stat> Client::set(ZPath path, QByteArray data, qint32 version, Deadline deadline)
{
    return request<Stat>({{"write", path}, deadline, data.size(), {}}, newCall(), [&](Call *call) {
        return zoo_aset(m_handle, path.bytes().constData(), data.constData(), static_cast<int>(data.size()), version,
                        callbacks::onStat, call);
    });
}

Reply<Stat> Client::exists(ZPath path, std::optional<Watch> watch, Deadline deadline)
{
    Terms terms{{"look for", path}, deadline, 0, watchRequest(watch, WatchKind::Data, true)};
    return request<Stat>(std::move(terms), newCall(), [&](Call *call) {
        return zoo_awexists(m_handle, path.bytes().constData(), watch ? callbacks::onDataWatch : nullptr,
                            m_mailbox.get(), callbacks::onStat, call);
    });
}

Reply<Children> Client::children(ZPath path, std::optional<Watch> watch, Deadline deadline)
{
    Terms terms{{"list", path}, deadline, 0, watchRequest(watch, WatchKind::Children)};
    return request<Children>(std::move(terms), newCall(), [&](Call *call) {
        return zoo_awget_children2(m_handle, path.bytes().constData(), watch ? callbacks::onChildWatch : nullptr,
                                   m_mailbox.get(), callbacks::onChildren, call);
    });
}

Reply<std::vector<OpResult>> Client::multi(std::vector<Op> ops, Deadline deadline)
{
    using Results = std::vector<OpResult>;
    if (auto why = whyNoTransaction(ops))
        return refused<Results>(m_loop, std::move(*why));
    const auto payload = sizeOf(ops);
    Terms terms{{"change", ops.front().path}, deadline, payload, {}};
    auto call =
        std::make_unique<callbacks::MultiCall>(m_mailbox.get(), m_nextId++, std::move(ops), m_options.chroot.size());
    return request<Results>(std::move(terms), std::move(call),
                            [&](callbacks::MultiCall *multi) { return multi->send(m_handle); });
}

Reply<bool> Client::sync(ZPath path, Deadline deadline)
{
    return request<bool>({{"sync", path}, deadline, 0, {}}, newCall(), [&](Call *call) {
        return zoo_async(m_handle, path.bytes().constData(), callbacks::onSynced, call);
    });
}

Reply<NodeAcls> Client::acls(ZPath path, Deadline deadline)
{
    return request<NodeAcls>({{"read the ACL of", path}, deadline, 0, {}}, newCall(), [&](Call *call) {
        return zoo_aget_acl(m_handle, path.bytes().constData(), callbacks::onAcls, call);
    });
}

Reply<bool> Client::setAcls(ZPath path, Acls acls, qint32 version, Deadline deadline)
{
    const auto payload = sizeOf(acls);
    return request<bool>({{"set the ACL of", path}, deadline, payload, {}}, newCall(), [&](Call *call) {
        callbacks::CAcls list(std::move(acls));
        return zoo_aset_acl(m_handle, path.bytes().constData(), version, list.vector(), callbacks::onDone, call);
    });
}

Reply<bool> Client::addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline)
{
    const Attempt attempt{"add credentials of the scheme", ZPath(scheme)};
    return request<bool>({attempt, deadline, credentials.size(), {}}, newCall(), [&](Call *call) {
        return zoo_add_auth(m_handle, scheme.constData(), credentials.constData(),
                            static_cast<int>(credentials.size()), callbacks::onDone, call);
    });
}

Reply<bool> Client::removeWatches(ZPath path, WatchKind kind, Deadline deadline)
{
    auto call = std::make_unique<callbacks::UnwatchCall>(callbacks::UnwatchCall{{m_mailbox.get(), m_nextId++}, kind});
    Terms terms{{"stop watching", path}, deadline, 0, {}};
    return request<bool>(std::move(terms), std::move(call), [&](callbacks::UnwatchCall *unwatch) {
        // The header asks for a pointer to the function's type and means the function.
        auto *const done = reinterpret_cast<void_completion_t *>(callbacks::onUnwatched);
        const auto type = kind == WatchKind::Data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
        return zoo_aremove_all_watches(m_handle, path.bytes().constData(), type, 0, done, unwatch);
    });
}

void Client::unwatched(quint64 id, int returnCode, WatchKind kind)
{
    // That there was none is as good: it has just fired.
    const bool isOff = returnCode == ZOK || returnCode == ZNOWATCHER;
    const auto request = takeAnswered(id, isOff ? ZOK : returnCode);
    if (!request)
        return;
    m_watches.remove(request->attempt().path, kind);
    static_cast<OutstandingReply<bool> &>(*request).succeed(true);
}

} // namespace lockscope::zk
