// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsession.h"

namespace lockscope::contention {

namespace {

// What a packet takes beside the path, the data and the names in it: header, lengths, flags. By the layout of
// ZooKeeper's jute records; good enough to compare recipes.
constexpr qint64 packetBytes = 24;
constexpr qint64 nameBytes = 4;

namespace verbs {
const QByteArray create("create"), remove("delete"), get("get"), set("set"), exists("exists"), list("list"),
    multi("multi"), sync("sync"), getAcl("getAcl"), setAcl("setAcl"), addAuth("addAuth"),
    removeWatches("removeWatches");
}

template <class T>
qint64 sizeOf(const T &)
{
    return packetBytes;
}
qint64 sizeOf(const zk::Children &children)
{
    if (children.names.empty())
        return packetBytes;
    // All of one length, or nearly so.
    return packetBytes + qint64(children.names.size()) * (nameBytes + children.names.front().bytes().size());
}
qint64 sizeOf(const zk::Node &node)
{
    return packetBytes + node.data.size();
}

QByteArray kindName(zk::EventKind kind)
{
    switch (kind) {
    case zk::EventKind::Created: return QByteArrayLiteral("created");
    case zk::EventKind::Deleted: return QByteArrayLiteral("deleted");
    case zk::EventKind::DataChanged: return QByteArrayLiteral("data changed");
    case zk::EventKind::ChildrenChanged: return QByteArrayLiteral("children changed");
    case zk::EventKind::SessionOver: break;
    }
    return QByteArrayLiteral("session over");
}

} // namespace

void TracedSession::sent(const QByteArray &verb, const ZPath &where, qint64 bytes)
{
    m_context->trace->sent(m_context->contender, verb, where.bytes(), packetBytes + where.bytes().size() + bytes);
}

template <class T>
Reply<T> TracedSession::heard(const QByteArray &verb, Reply<T> inner)
{
    Reply<T> reply(loop());
    inner.then([reply, &verb, weak = std::weak_ptr<TraceContext>(m_context)](const Result<T> &result) {
        if (const auto context = weak.lock())
            context->trace->answered(context->contender, verb, !result, result ? sizeOf(*result) : packetBytes);
        reply.complete(result);
    });
    return reply;
}

std::optional<zk::Watch> TracedSession::observed(const std::optional<zk::Watch> &watch)
{
    if (!watch)
        return watch;
    zk::Watch inner(loop());
    inner.event().then([outer = *watch, weak = std::weak_ptr<TraceContext>(m_context)](const zk::WatchEvent &event) {
        const auto context = weak.lock();
        if (context && event.kind != zk::EventKind::SessionOver)
            context->trace->woken(context->contender, Mark::WatchEvent, kindName(event.kind), event.path.bytes());
        outer.event().complete(event);
    });
    return inner;
}

Reply<zk::Created> TracedSession::create(ZPath path, QByteArray data, zk::CreateMode mode, zk::Acls acls,
                                         Deadline deadline)
{
    sent(verbs::create, path, data.size());
    return heard(verbs::create, inner().create(std::move(path), std::move(data), mode, std::move(acls), deadline));
}

Reply<zk::Created> TracedSession::createWithTtl(ZPath path, QByteArray data, zk::CreateMode mode,
                                                std::chrono::milliseconds timeToLive, zk::Acls acls,
                                                Deadline deadline)
{
    sent(verbs::create, path, data.size());
    return heard(verbs::create, inner().createWithTtl(std::move(path), std::move(data), mode, timeToLive,
                                                      std::move(acls), deadline));
}

Reply<bool> TracedSession::remove(ZPath path, qint32 version, Deadline deadline)
{
    sent(verbs::remove, path);
    return heard(verbs::remove, inner().remove(std::move(path), version, deadline));
}

Reply<zk::Node> TracedSession::get(ZPath path, std::optional<zk::Watch> watch, Deadline deadline)
{
    sent(verbs::get, path);
    return heard(verbs::get, inner().get(std::move(path), observed(watch), deadline));
}

Reply<zk::Stat> TracedSession::set(ZPath path, QByteArray data, qint32 version, Deadline deadline)
{
    sent(verbs::set, path, data.size());
    return heard(verbs::set, inner().set(std::move(path), std::move(data), version, deadline));
}

Reply<zk::Stat> TracedSession::exists(ZPath path, std::optional<zk::Watch> watch, Deadline deadline)
{
    sent(verbs::exists, path);
    return heard(verbs::exists, inner().exists(std::move(path), observed(watch), deadline));
}

Reply<zk::Children> TracedSession::children(ZPath path, std::optional<zk::Watch> watch, Deadline deadline)
{
    sent(verbs::list, path);
    return heard(verbs::list, inner().children(std::move(path), observed(watch), deadline));
}

Reply<std::vector<zk::OpResult>> TracedSession::multi(std::vector<zk::Op> ops, Deadline deadline)
{
    sent(verbs::multi, ops.empty() ? ZPath() : ops.front().path);
    return heard(verbs::multi, inner().multi(std::move(ops), deadline));
}

Reply<bool> TracedSession::sync(ZPath path, Deadline deadline)
{
    sent(verbs::sync, path);
    return heard(verbs::sync, inner().sync(std::move(path), deadline));
}

Reply<zk::NodeAcls> TracedSession::acls(ZPath path, Deadline deadline)
{
    sent(verbs::getAcl, path);
    return heard(verbs::getAcl, inner().acls(std::move(path), deadline));
}

Reply<bool> TracedSession::setAcls(ZPath path, zk::Acls acls, qint32 version, Deadline deadline)
{
    sent(verbs::setAcl, path);
    return heard(verbs::setAcl, inner().setAcls(std::move(path), std::move(acls), version, deadline));
}

Reply<bool> TracedSession::addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline)
{
    sent(verbs::addAuth, ZPath());
    return heard(verbs::addAuth, inner().addAuth(std::move(scheme), std::move(credentials), deadline));
}

Reply<bool> TracedSession::removeWatches(ZPath path, zk::WatchKind kind, Deadline deadline)
{
    sent(verbs::removeWatches, path);
    return heard(verbs::removeWatches, inner().removeWatches(std::move(path), kind, deadline));
}

} // namespace lockscope::contention
