// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsession.h"

namespace lockscope::contention {

namespace {

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

// Literals, which nobody counts the holders of.
const std::array<QByteArray, 12> TracedSession::verbs{
    QByteArrayLiteral("create"), QByteArrayLiteral("delete"),  QByteArrayLiteral("get"),
    QByteArrayLiteral("set"),    QByteArrayLiteral("exists"),  QByteArrayLiteral("list"),
    QByteArrayLiteral("multi"),  QByteArrayLiteral("sync"),    QByteArrayLiteral("getAcl"),
    QByteArrayLiteral("setAcl"), QByteArrayLiteral("addAuth"), QByteArrayLiteral("removeWatches")};

qint64 TracedSession::sizeOf(const zk::Children &children)
{
    if (children.names.empty())
        return packetBytes;
    // All of one length, or nearly so.
    return packetBytes + qint64(children.names.size()) * (nameBytes + children.names.front().bytes().size());
}

std::optional<zk::Watch> TracedSession::observed(std::optional<zk::Watch> watch)
{
    if (!watch)
        return watch;
    watch->event().observe([context = m_context](const zk::WatchEvent &event) {
        if (context->trace && event.kind != zk::EventKind::SessionOver)
            context->trace->woken(context->contender, Mark::WatchEvent, kindName(event.kind), event.path.bytes());
    });
    return watch;
}

} // namespace lockscope::contention
