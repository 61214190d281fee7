// SPDX-License-Identifier: Apache-2.0
// What a session sends and what becomes of the answers.
#include "core/zookeeper/clientsession.h"
#include "core/base/logging.h"
#include "core/zookeeper/libraryguard.h"

namespace lockscope::zk::callbacks {

namespace {

Stat statOf(const ::Stat *from)
{
    Stat stat;
    if (!from)
        return stat;
    stat.czxid = from->czxid;
    stat.mzxid = from->mzxid;
    stat.pzxid = from->pzxid;
    stat.ctime = std::chrono::milliseconds(from->ctime);
    stat.mtime = std::chrono::milliseconds(from->mtime);
    stat.version = from->version;
    stat.cversion = from->cversion;
    stat.aversion = from->aversion;
    stat.ephemeralOwner = {static_cast<quint64>(from->ephemeralOwner)};
    stat.dataLength = from->dataLength;
    stat.numChildren = from->numChildren;
    return stat;
}

// What a request handed to the library is ours again.
template <class C>
std::unique_ptr<const C> takeBack(const void *data)
{
    std::unique_ptr<const C> call(static_cast<const C *>(data));
    call->mailbox->callAnswered();
    return call;
}

constexpr qint64 bytesBesideName = 64; // what keeps a name
constexpr qint64 largeAnswer = 64 * 1024;

// `bytes`: what the value takes, where that may be much.
template <class T>
void answer(const void *data, int returnCode, T value, qint64 bytes = 0)
{
    const auto call = takeBack<Call>(data);
    const auto underWay = bytes < largeAnswer ? nullptr : std::make_shared<const AnswerUnderWay>(bytes);
    call->mailbox->post([id = call->id, returnCode, value = std::move(value), underWay](Client &client) {
        client.answered<T>(id, returnCode, value);
    });
}

void onWatch(int type, const char *path, void *mailbox, WatchKind kind)
{
    // Session events reach every watch as well; the session tells its listeners itself.
    auto event = EventKind::SessionOver;
    if (type == ZOO_CREATED_EVENT)
        event = EventKind::Created;
    else if (type == ZOO_DELETED_EVENT)
        event = EventKind::Deleted;
    else if (type == ZOO_CHANGED_EVENT)
        event = EventKind::DataChanged;
    else if (type == ZOO_CHILD_EVENT)
        event = EventKind::ChildrenChanged;
    else
        return;
    static_cast<Mailbox *>(mailbox)->post(
        [path = ZPath(QByteArray(path)), kind, event](Client &client) { client.watchFired(path, kind, event); });
}

} // namespace

void onSession(zhandle_t *handle, int type, int state, const char *, void *mailbox)
{
    if (type != ZOO_SESSION_EVENT)
        return;
    const SessionId id{static_cast<quint64>(zoo_client_id(handle)->client_id)};
    const std::chrono::milliseconds negotiated(zoo_recv_timeout(handle));
    const auto when = programClock().now();
    static_cast<Mailbox *>(mailbox)->post(
        [state, id, negotiated, when](Client &client) { client.stateReported(state, id, negotiated, when); });
}

void onDataWatch(zhandle_t *, int type, int, const char *path, void *mailbox)
{
    onWatch(type, path, mailbox, WatchKind::Data);
}

void onChildWatch(zhandle_t *, int type, int, const char *path, void *mailbox)
{
    onWatch(type, path, mailbox, WatchKind::Children);
}

void onLog(const char *line)
{
    // Its warnings are chatter about every broken connection; what matters comes as a state.
    qCDebug(logZooKeeper, "%s", line);
}

void onCreated(int returnCode, const char *path, const ::Stat *stat, const void *data)
{
    answer(data, returnCode, Created{ZPath(QByteArray(returnCode == ZOK ? path : "")), statOf(stat)});
}

void onDone(int returnCode, const void *data)
{
    answer(data, returnCode, true);
}

void onSynced(int returnCode, const char *, const void *data)
{
    answer(data, returnCode, true);
}

void onNode(int returnCode, const char *value, int length, const ::Stat *stat, const void *data)
{
    Node node;
    node.stat = statOf(stat);
    if (returnCode == ZOK && length > 0)
        node.data = QByteArray(value, length);
    answer(data, returnCode, std::move(node), length);
}

void onStat(int returnCode, const ::Stat *stat, const void *data)
{
    answer(data, returnCode, statOf(stat));
}

void onChildren(int returnCode, const String_vector *names, const ::Stat *stat, const void *data)
{
    Children children;
    children.stat = statOf(stat);
    qint64 bytes = 0;
    if (returnCode == ZOK && names) {
        std::vector<NodeName> list;
        list.reserve(static_cast<std::size_t>(names->count));
        for (int i = 0; i < names->count; ++i) {
            list.emplace_back(QByteArray(names->data[i]));
            bytes += bytesBesideName + list.back().bytes().size();
        }
        children.names = std::move(list);
    }
    answer(data, returnCode, std::move(children), bytes);
}

void onAcls(int returnCode, ACL_vector *acls, ::Stat *stat, const void *data)
{
    NodeAcls node;
    node.stat = statOf(stat);
    if (returnCode == ZOK && acls)
        for (int i = 0; i < acls->count; ++i)
            node.acls.push_back({acls->data[i].perms, acls->data[i].id.scheme, acls->data[i].id.id});
    answer(data, returnCode, std::move(node));
}

void onMulti(int returnCode, const void *data)
{
    const auto call = takeBack<MultiCall>(data);
    if (returnCode == ZOK) {
        call->mailbox->post([id = call->id, results = call->results()](Client &client) {
            client.answered<std::vector<OpResult>>(id, ZOK, results);
        });
        return;
    }
    const auto part = call->failedPart();
    call->mailbox->post([id = call->id, code = call->failedCode(returnCode), part, attempt = call->attempt(part)](
                            Client &client) { client.multiFailed(id, code, part, attempt); });
}

CAcls::CAcls(Acls acls) : m_acls(std::move(acls))
{
    m_entries.reserve(m_acls.size());
    for (auto &acl : m_acls)
        m_entries.push_back({acl.perms, {acl.scheme.data(), acl.id.data()}});
    m_vector.count = static_cast<int>(m_entries.size());
    m_vector.data = m_entries.data();
}

MultiCall::MultiCall(Mailbox *mailboxOfSession, quint64 callId, std::vector<Op> ops, qsizetype prefixBytes)
    : Call{mailboxOfSession, callId}, m_ops(std::move(ops)), m_created(m_ops.size()), m_stats(m_ops.size()),
      m_parts(m_ops.size()), m_results(m_ops.size())
{
    constexpr qsizetype sequenceBytes = 12; // sign, ten digits, the closing zero
    for (std::size_t i = 0; i < m_ops.size(); ++i) {
        const auto &op = m_ops[i];
        const auto length = static_cast<int>(op.data.size());
        switch (op.kind) {
        case Op::Kind::Create:
            m_acls.emplace_back(op.acls);
            m_created[i] = QByteArray(op.path.bytes().size() + prefixBytes + sequenceBytes, '\0');
            zoo_create_op_init(&m_parts[i], op.path.bytes().constData(), op.data.constData(), length,
                               m_acls.back().vector(), libraryMode(op.mode), m_created[i].data(),
                               static_cast<int>(m_created[i].size()));
            break;
        case Op::Kind::Remove: zoo_delete_op_init(&m_parts[i], op.path.bytes().constData(), op.version); break;
        case Op::Kind::Set:
            zoo_set_op_init(&m_parts[i], op.path.bytes().constData(), op.data.constData(), length, op.version,
                            &m_stats[i]);
            break;
        case Op::Kind::Check: zoo_check_op_init(&m_parts[i], op.path.bytes().constData(), op.version); break;
        }
    }
}

int MultiCall::send(zhandle_t *handle)
{
    return zoo_amulti(handle, static_cast<int>(m_parts.size()), m_parts.data(), m_results.data(), onMulti, this);
}

std::vector<OpResult> MultiCall::results() const
{
    std::vector<OpResult> results(m_ops.size());
    for (std::size_t i = 0; i < m_ops.size(); ++i) {
        if (m_ops[i].kind == Op::Kind::Create)
            results[i].created = ZPath(QByteArray(m_created[i].constData()));
        if (m_ops[i].kind == Op::Kind::Set)
            results[i].stat = statOf(&m_stats[i]);
    }
    return results;
}

std::size_t MultiCall::failedPart() const
{
    for (std::size_t i = 0; i < m_results.size(); ++i)
        if (m_results[i].err != ZOK && m_results[i].err != ZRUNTIMEINCONSISTENCY)
            return i;
    return 0;
}

int MultiCall::failedCode(int returnCode) const
{
    const auto code = m_results[failedPart()].err;
    return code == ZOK || code == ZRUNTIMEINCONSISTENCY ? returnCode : code;
}

int libraryMode(CreateMode mode)
{
    switch (mode) {
    case CreateMode::Persistent: return ZOO_PERSISTENT;
    case CreateMode::Ephemeral: return ZOO_EPHEMERAL;
    case CreateMode::PersistentSequential: return ZOO_PERSISTENT_SEQUENTIAL;
    case CreateMode::EphemeralSequential: return ZOO_EPHEMERAL_SEQUENTIAL;
    case CreateMode::Container: return ZOO_CONTAINER;
    case CreateMode::PersistentWithTtl: return ZOO_PERSISTENT_WITH_TTL;
    case CreateMode::PersistentSequentialWithTtl: return ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
    }
    return ZOO_PERSISTENT;
}

} // namespace lockscope::zk::callbacks

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
