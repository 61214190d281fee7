// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/operate/gate.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

constexpr int mostDataShown = 60;

QString shown(const ZPath &path)
{
    return label(path.bytes());
}

QString shownData(const QByteArray &data)
{
    if (data.isEmpty())
        return u"no data"_s;
    return u"%1 \"%2\""_s.arg(amountOf(data.size(), "byte"_L1, "bytes"_L1), label(data, mostDataShown));
}

QString word(zk::CreateMode mode)
{
    switch (mode) {
    case zk::CreateMode::Persistent: return u"persistent"_s;
    case zk::CreateMode::Ephemeral: return u"ephemeral"_s;
    case zk::CreateMode::PersistentSequential: return u"persistent sequential"_s;
    case zk::CreateMode::EphemeralSequential: return u"ephemeral sequential"_s;
    case zk::CreateMode::Container: return u"container"_s;
    case zk::CreateMode::PersistentWithTtl: return u"persistent with TTL"_s;
    case zk::CreateMode::PersistentSequentialWithTtl: return u"persistent sequential with TTL"_s;
    }
    return {};
}

QString word(zk::EventKind kind)
{
    switch (kind) {
    case zk::EventKind::Created: return u"created"_s;
    case zk::EventKind::Deleted: return u"deleted"_s;
    case zk::EventKind::DataChanged: return u"data changed"_s;
    case zk::EventKind::ChildrenChanged: return u"children changed"_s;
    case zk::EventKind::SessionOver: return u"session over"_s;
    }
    return {};
}

QString word(zk::SessionState state)
{
    switch (state) {
    case zk::SessionState::Connecting: return u"connecting"_s;
    case zk::SessionState::Connected: return u"connected"_s;
    case zk::SessionState::Expired: return u"expired"_s;
    case zk::SessionState::AuthFailed: return u"authentication failed"_s;
    case zk::SessionState::Closed: return u"closed"_s;
    }
    return {};
}

QString versionText(qint32 version)
{
    return version == zk::anyVersion ? u" any version"_s : u" version %1"_s.arg(version);
}

QString opText(const zk::Op &op)
{
    switch (op.kind) {
    case zk::Op::Kind::Create: return u"create %1 %2"_s.arg(shown(op.path), word(op.mode));
    case zk::Op::Kind::Remove: return u"delete "_s + shown(op.path) + versionText(op.version);
    case zk::Op::Kind::Set: return u"setData "_s + shown(op.path) + versionText(op.version);
    case zk::Op::Kind::Check: return u"check "_s + shown(op.path) + versionText(op.version);
    }
    return {};
}

QString multiText(const std::vector<zk::Op> &ops)
{
    constexpr std::size_t mostOpsShown = 4;
    QStringList parts;
    for (std::size_t i = 0; i < std::min(ops.size(), mostOpsShown); ++i)
        parts << opText(ops[i]);
    if (ops.size() > mostOpsShown)
        parts << u"… %1 more"_s.arg(ops.size() - mostOpsShown);
    return u"multi: "_s + parts.join(u"; "_s);
}

bool changesAnything(const std::vector<zk::Op> &ops)
{
    return std::any_of(ops.begin(), ops.end(), [](const zk::Op &op) { return op.kind != zk::Op::Kind::Check; });
}

QString done(bool)
{
    return u"ok"_s;
}
QString statOutcome(const zk::Stat &stat)
{
    return u"ok, version %1"_s.arg(stat.version);
}

class GatedSession final : public zk::ForwardingSession {
public:
    // `owned` is empty when somebody else owns `session`.
    GatedSession(zk::Session &session, std::unique_ptr<zk::Session> owned, Gate &gate)
        : ForwardingSession(session), m_owned(std::move(owned)), m_key(std::make_shared<GateKey>(GateKey{&gate}))
    {
        m_states = session.onState([this](zk::SessionState state) {
            const auto id = inner().id().isNone() ? u"session"_s : u"session "_s + inner().id().text();
            m_key->gate->state(id + u": "_s + word(state));
        });
    }

    Reply<zk::Created> create(ZPath path, QByteArray data, zk::CreateMode mode, zk::Acls acls,
                              Deadline deadline) override
    {
        const auto text = u"create %1 %2, %3"_s.arg(shown(path), word(mode), shownData(data));
        return pass<zk::Created>(
            text, true, [&] { return inner().create(path, data, mode, acls, deadline); },
            [](const zk::Created &made) { return u"ok, "_s + shown(made.path); });
    }
    Reply<zk::Created> createWithTtl(ZPath path, QByteArray data, zk::CreateMode mode,
                                     std::chrono::milliseconds timeToLive, zk::Acls acls, Deadline deadline) override
    {
        const auto text = u"create %1 %2 of %3 ms, %4"_s.arg(shown(path), word(mode),
                                                             QString::number(timeToLive.count()), shownData(data));
        return pass<zk::Created>(
            text, true, [&] { return inner().createWithTtl(path, data, mode, timeToLive, acls, deadline); },
            [](const zk::Created &made) { return u"ok, "_s + shown(made.path); });
    }
    Reply<bool> remove(ZPath path, qint32 version, Deadline deadline) override
    {
        return pass<bool>(
            u"delete "_s + shown(path) + versionText(version), true,
            [&] { return inner().remove(path, version, deadline); }, done);
    }
    Reply<zk::Node> get(ZPath path, std::optional<zk::Watch> watch, Deadline deadline) override
    {
        const auto noted = note(watch);
        return pass<zk::Node>(
            u"getData "_s + shown(path) + watchText(watch), false, [&] { return inner().get(path, noted, deadline); },
            [](const zk::Node &node) { return u"ok, "_s + amountOf(node.data.size(), "byte"_L1, "bytes"_L1); });
    }
    Reply<zk::Stat> set(ZPath path, QByteArray data, qint32 version, Deadline deadline) override
    {
        const auto text = u"setData "_s + shown(path) + versionText(version) + u", "_s + shownData(data);
        return pass<zk::Stat>(
            text, true, [&] { return inner().set(path, data, version, deadline); }, statOutcome);
    }
    Reply<zk::Stat> exists(ZPath path, std::optional<zk::Watch> watch, Deadline deadline) override
    {
        const auto noted = note(watch);
        return pass<zk::Stat>(
            u"exists "_s + shown(path) + watchText(watch), false,
            [&] { return inner().exists(path, noted, deadline); }, statOutcome);
    }
    Reply<zk::Children> children(ZPath path, std::optional<zk::Watch> watch, Deadline deadline) override
    {
        const auto noted = note(watch);
        return pass<zk::Children>(
            u"getChildren "_s + shown(path) + watchText(watch), false,
            [&] { return inner().children(path, noted, deadline); },
            [](const zk::Children &list) {
                return list.names.size() == 1 ? u"ok, 1 child"_s : u"ok, %1 children"_s.arg(list.names.size());
            });
    }
    Reply<std::vector<zk::OpResult>> multi(std::vector<zk::Op> ops, Deadline deadline) override
    {
        return pass<std::vector<zk::OpResult>>(
            multiText(ops), changesAnything(ops), [&] { return inner().multi(ops, deadline); },
            [](const std::vector<zk::OpResult> &results) { return u"ok, %1 parts"_s.arg(results.size()); });
    }
    Reply<bool> sync(ZPath path, Deadline deadline) override
    {
        return pass<bool>(
            u"sync "_s + shown(path), false, [&] { return inner().sync(path, deadline); }, done);
    }
    Reply<zk::NodeAcls> acls(ZPath path, Deadline deadline) override
    {
        return pass<zk::NodeAcls>(
            u"getACL "_s + shown(path), false, [&] { return inner().acls(path, deadline); },
            [](const zk::NodeAcls &node) { return u"ok, %1 entries"_s.arg(node.acls.size()); });
    }
    Reply<bool> setAcls(ZPath path, zk::Acls acls, qint32 version, Deadline deadline) override
    {
        // The entries stay out: a digest id is as good as a password to guess at.
        const auto text = u"setACL "_s + shown(path) + versionText(version) + u", %1 entries"_s.arg(acls.size());
        return pass<bool>(
            text, true, [&] { return inner().setAcls(path, acls, version, deadline); }, done);
    }
    Reply<bool> addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline) override
    {
        return pass<bool>(
            u"addAuth %1 (credentials not shown)"_s.arg(label(scheme)), false,
            [&] { return inner().addAuth(scheme, credentials, deadline); }, done);
    }
    Reply<bool> removeWatches(ZPath path, zk::WatchKind kind, Deadline deadline) override
    {
        const auto what = kind == zk::WatchKind::Children ? u" children"_s : u" data"_s;
        return pass<bool>(
            u"removeWatches "_s + shown(path) + what, false,
            [&] { return inner().removeWatches(path, kind, deadline); }, done);
    }

private:
    template <class T, class Send, class Describe>
    Reply<T> pass(const QString &text, bool write, Send send, Describe describe)
    {
        return passThrough<T>(m_key, inner().loop(), text, write, send, describe);
    }

    static QString watchText(const std::optional<zk::Watch> &watch) { return watch ? u" watch"_s : QString(); }

    // The watch handed on in the caller's place. An event takes as many turns of the queue as a reply
    // does, so their order stays what the server made it.
    std::optional<zk::Watch> note(const std::optional<zk::Watch> &callers) const
    {
        if (!callers)
            return std::nullopt;
        zk::Watch noted(inner().loop());
        noted.event().then([weak = std::weak_ptr(m_key), forward = *callers](const zk::WatchEvent &event) {
            // The end of a session fires every watch; the state says it once.
            const auto alive = weak.lock();
            if (alive && event.kind != zk::EventKind::SessionOver)
                alive->gate->event(u"watch: %1 %2"_s.arg(shown(event.path), word(event.kind)));
            forward.event().complete(event);
        });
        return noted;
    }

    std::unique_ptr<zk::Session> m_owned;
    std::shared_ptr<GateKey> m_key;
    Subscription m_states;
};

} // namespace

std::unique_ptr<zk::Session> gated(zk::Session &session, Gate &gate)
{
    return std::make_unique<GatedSession>(session, nullptr, gate);
}

std::unique_ptr<zk::Session> gated(std::unique_ptr<zk::Session> session, Gate &gate)
{
    auto &inner = *session;
    return std::make_unique<GatedSession>(inner, std::move(session), gate);
}

} // namespace lockscope::operate
