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
const std::array<QByteArray, std::variant_size_v<zk::Session::Request>> ZooKeeperMeasures::verbs{
    QByteArrayLiteral("create"), QByteArrayLiteral("delete"), QByteArrayLiteral("get"),    QByteArrayLiteral("set"),
    QByteArrayLiteral("exists"), QByteArrayLiteral("list"),   QByteArrayLiteral("multi"),  QByteArrayLiteral("sync"),
    QByteArrayLiteral("getAcl"), QByteArrayLiteral("setAcl"), QByteArrayLiteral("addAuth")};

qint64 ZooKeeperMeasures::answerBytes(const zk::Children &children)
{
    if (children.names.empty())
        return packetBytes;
    // All of one length, or nearly so.
    return packetBytes + qint64(children.names.size()) * (nameBytes + children.names.front().bytes().size());
}

void TracedSession::send(Request &&request)
{
    const auto &watch = std::visit(
        [](const auto &asked) -> const auto & { return zk::watchOf(asked.request); }, request);
    if (watch)
        watch->event().observe([tracer = tracer()](const zk::WatchEvent &event) {
            if (event.kind != zk::EventKind::SessionOver)
                tracer->woken(Mark::WatchEvent, kindName(event.kind), event.path.bytes());
        });
    TracedPort::send(std::move(request));
}

} // namespace lockscope::contention
