// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedport.h"

#include <numeric>

namespace lockscope::contention {

namespace {

// RESP frames each word with its length and two line ends.
qint64 sizeOf(const QByteArrayList &words)
{
    return std::accumulate(words.begin(), words.end(), qint64(4),
                           [](qint64 sum, const QByteArray &word) { return sum + word.size() + 8; });
}

} // namespace

qint64 RedisMeasures::bytes(const redis::CommandRequest &request)
{
    return sizeOf(request.command);
}

qint64 RedisMeasures::bytes(const redis::PipelineRequest &request)
{
    return std::accumulate(request.commands.begin(), request.commands.end(), qint64(0),
                           [](qint64 sum, const auto &command) { return sum + sizeOf(command); });
}

qint64 RedisMeasures::bytes(const redis::ScriptRequest &request)
{
    return request.script.sha.size() + sizeOf(request.keys) + sizeOf(request.args);
}

qint64 RedisMeasures::answerBytes(const redis::Value &value)
{
    return std::accumulate(value.items.begin(), value.items.end(), qint64(value.text.size() + 4),
                           [](qint64 sum, const redis::Value &item) { return sum + answerBytes(item); });
}

qint64 RedisMeasures::answerBytes(const std::vector<redis::Value> &values)
{
    return std::accumulate(values.begin(), values.end(), qint64(0),
                           [](qint64 sum, const redis::Value &value) { return sum + answerBytes(value); });
}

std::function<void(const redis::Message &)> TracedConnection::observed(
    std::function<void(const redis::Message &)> listener)
{
    return [listener = std::move(listener), tracer = tracer()](const redis::Message &message) {
        tracer->woken(Mark::Message, message.payload, message.channel);
        listener(message);
    };
}

Subscription TracedConnection::kept(const QByteArray &channel, Subscription inner)
{
    const auto note = [channel, tracer = tracer()](const QByteArray &verb) {
        tracer->sent(verb, channel, sizeOf(QByteArrayList{verb, channel}));
        tracer->answered(verb, false, 0);
    };
    note(QByteArrayLiteral("SUBSCRIBE"));
    struct Both {
        Subscription inner;
        std::function<void()> end;
        ~Both() { end(); }
    };
    auto end = [note] { note(QByteArrayLiteral("UNSUBSCRIBE")); };
    return Subscription(std::shared_ptr<Both>(new Both{std::move(inner), std::move(end)}));
}

Subscription TracedConnection::subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener)
{
    auto subscription = inner().subscribe(channel, observed(std::move(listener)));
    return kept(channel, std::move(subscription));
}

Subscription TracedConnection::subscribePattern(QByteArray pattern,
                                                std::function<void(const redis::Message &)> listener)
{
    auto subscription = inner().subscribePattern(pattern, observed(std::move(listener)));
    return kept(pattern, std::move(subscription));
}

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
