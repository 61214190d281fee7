// SPDX-License-Identifier: Apache-2.0
// What a session sends and what becomes of the answers.
#include "core/zookeeper/clientsession.h"
#include "core/zookeeper/sendable.h"

namespace lockscope::zk {

namespace {

// What goes with a request through the library and comes back with its answer.
template <class R>
std::unique_ptr<Call> callFor(R &, Mailbox *mailbox, quint64 id, qsizetype /*prefixBytes*/)
{
    return std::make_unique<Call>(Call{mailbox, id});
}
std::unique_ptr<callbacks::MultiCall> callFor(MultiRequest &request, Mailbox *mailbox, quint64 id,
                                              qsizetype prefixBytes)
{
    return std::make_unique<callbacks::MultiCall>(mailbox, id, std::move(request.ops), prefixBytes);
}

// Each hands its request to the library and returns the library's code.

int hand(CreateRequest &request, zhandle_t *handle, Call *call)
{
    callbacks::CAcls list(std::move(request.acls));
    const auto *const path = request.path.bytes().constData();
    const auto *const data = request.data.constData();
    const auto size = static_cast<int>(request.data.size());
    const auto mode = callbacks::libraryMode(request.mode);
    if (request.timeToLive)
        return zoo_acreate2_ttl(handle, path, data, size, list.vector(), mode, request.timeToLive->count(),
                                callbacks::onCreated, call);
    return zoo_acreate2(handle, path, data, size, list.vector(), mode, callbacks::onCreated, call);
}
int hand(const RemoveRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_adelete(handle, request.path.bytes().constData(), request.version, callbacks::onDone, call);
}
int hand(const GetRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_awget(handle, request.path.bytes().constData(), request.watch ? callbacks::onDataWatch : nullptr,
                     call->mailbox, callbacks::onNode, call);
}
int hand(const SetRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_aset(handle, request.path.bytes().constData(), request.data.constData(),
                    static_cast<int>(request.data.size()), request.version, callbacks::onStat, call);
}
int hand(const ExistsRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_awexists(handle, request.path.bytes().constData(), request.watch ? callbacks::onDataWatch : nullptr,
                        call->mailbox, callbacks::onStat, call);
}
int hand(const ChildrenRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_awget_children2(handle, request.path.bytes().constData(),
                               request.watch ? callbacks::onChildWatch : nullptr, call->mailbox,
                               callbacks::onChildren, call);
}
int hand(const MultiRequest &, zhandle_t *handle, callbacks::MultiCall *call)
{
    return call->send(handle);
}
int hand(const SyncRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_async(handle, request.path.bytes().constData(), callbacks::onSynced, call);
}
int hand(const AclsRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_aget_acl(handle, request.path.bytes().constData(), callbacks::onAcls, call);
}
int hand(SetAclsRequest &request, zhandle_t *handle, Call *call)
{
    callbacks::CAcls list(std::move(request.acls));
    return zoo_aset_acl(handle, request.path.bytes().constData(), request.version, list.vector(), callbacks::onDone,
                        call);
}
int hand(const AddAuthRequest &request, zhandle_t *handle, Call *call)
{
    return zoo_add_auth(handle, request.scheme.constData(), request.credentials.constData(),
                        static_cast<int>(request.credentials.size()), callbacks::onDone, call);
}

} // namespace

std::optional<Error> Client::sendError(const Attempt &attempt, qsizetype payloadBytes, Deadline deadline) const
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
    return preSendError(state, attempt, payloadBytes, deadline, loop());
}

void Client::send(Request &&request)
{
    std::visit([this](auto &asked) { submit(asked); }, request);
}

template <class R>
void Client::submit(Asked<R> &asked)
{
    auto &[request, deadline, reply] = asked;
    if (auto why = whyUnfit(request))
        return reply.complete(std::move(*why));
    auto attempt = attemptOf(request);
    if (auto why = sendError(attempt, payloadOf(request), deadline))
        return reply.complete(std::move(*why));
    std::optional<WatchRequest> watch;
    if (const auto &listener = watchOf(request))
        watch = WatchRequest{*listener, watchKind<R>, std::is_same_v<R, ExistsRequest>};
    if (watch && !m_watches.reserve(attempt.path, watch->kind))
        return reply.complete(overBudget(attempt, m_watches.budgetBytes()));
    auto call = callFor(request, m_mailbox.get(), m_nextId++, m_options.chroot.size());
    const auto id = call->id;
    m_mailbox->callSent();
    const int sent = hand(request, m_handle, call.get());
    if (sent != ZOK) {
        m_mailbox->callAnswered();
        if (watch)
            m_watches.release(attempt.path, watch->kind);
        return reply.complete(sent == ZINVALIDSTATE ? overError(attempt) : errorOf(sent, attempt));
    }
    static_cast<void>(call.release()); // from here on its callback's
    if (!deadline.isNever())
        reply.completeAtWith(deadline, [attempt] { return Result<typename R::Answer>(unansweredInTime(attempt)); });
    m_out.emplace(id, std::make_unique<OutstandingReply<typename R::Answer>>(std::move(attempt), std::move(watch),
                                                                             std::move(reply)));
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

bool WatchRegistry::reserve(const ZPath &path, WatchKind kind)
{
    const auto at = m_slots.find({path, kind});
    if (at != m_slots.end()) {
        ++at->second.reserved;
        return true;
    }
    if (m_bytes + bytesOf(path) > m_budgetBytes)
        return false;
    m_bytes += bytesOf(path);
    m_slots.emplace(Key{path, kind}, WatchSlot{1, {}});
    return true;
}

void WatchRegistry::arm(const ZPath &path, WatchKind kind, Watch listener)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    --at->second.reserved;
    // Listeners of earlier reads that gave up by themselves need not be kept.
    std::erase_if(at->second.listeners, [](const Watch &earlier) { return earlier.event().isComplete(); });
    at->second.listeners.push_back(std::move(listener));
}

void WatchRegistry::release(const ZPath &path, WatchKind kind)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    --at->second.reserved;
    dropIfEmpty(at);
}

void WatchRegistry::fire(const ZPath &path, WatchKind kind, EventKind event)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    const auto listeners = std::exchange(at->second.listeners, {});
    dropIfEmpty(at);
    for (const auto &listener : listeners)
        listener.event().complete({event, path});
}

void WatchRegistry::endSession()
{
    const auto all = std::exchange(m_slots, {});
    m_bytes = 0;
    for (const auto &[key, slot] : all)
        for (const auto &listener : slot.listeners)
            listener.event().complete({EventKind::SessionOver, key.path});
}

void WatchRegistry::dropIfEmpty(WatchSlots::iterator at)
{
    if (at->second.reserved > 0 || !at->second.listeners.empty())
        return;
    m_bytes -= bytesOf(at->first.path);
    m_slots.erase(at);
}

} // namespace lockscope::zk
