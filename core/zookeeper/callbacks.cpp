// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/clientsession.h"

#include "core/base/clock.h"
#include "core/base/logging.h"
#include "core/zookeeper/libraryguard.h"
#include "core/zookeeper/sendable.h"

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
