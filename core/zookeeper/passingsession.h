// SPDX-License-Identifier: Apache-2.0
// A session whose every request passes one function of whoever derives, which counts it, writes it down, loses it …
#pragma once

#include "core/zookeeper/session.h"

namespace lockscope::zk {

enum class Request {
    Create,
    Remove,
    Get,
    Set,
    Exists,
    Children,
    Multi,
    Sync,
    GetAcls,
    SetAcls,
    AddAuth,
    RemoveWatches
};

// Derived has
//     Reply<T> pass<T>(Request, const ZPath &, qsizetype bytes, send): of send(), which it calls when it likes, once;
//     std::optional<Watch> observed(std::optional<Watch>): what is handed on in the caller's place.
template <class Derived>
class PassingSession : public ForwardingSession {
public:
    using ForwardingSession::ForwardingSession;

    Reply<Created> create(ZPath path, QByteArray data, CreateMode mode, Acls acls, Deadline deadline) override
    {
        return self().template pass<Created>(Request::Create, path, data.size(), [=, this]() mutable {
            return inner().create(std::move(path), std::move(data), mode, std::move(acls), deadline);
        });
    }
    Reply<Created> createWithTtl(ZPath path, QByteArray data, CreateMode mode, std::chrono::milliseconds timeToLive,
                                 Acls acls, Deadline deadline) override
    {
        return self().template pass<Created>(Request::Create, path, data.size(), [=, this] {
            return inner().createWithTtl(path, data, mode, timeToLive, acls, deadline);
        });
    }
    Reply<bool> remove(ZPath path, qint32 version, Deadline deadline) override
    {
        return self().template pass<bool>(Request::Remove, path, 0,
                                          [=, this] { return inner().remove(path, version, deadline); });
    }
    Reply<Node> get(ZPath path, std::optional<Watch> watch, Deadline deadline) override
    {
        return self().template pass<Node>(Request::Get, path, 0, [=, this]() mutable {
            return inner().get(std::move(path), self().observed(std::move(watch)), deadline);
        });
    }
    Reply<Stat> set(ZPath path, QByteArray data, qint32 version, Deadline deadline) override
    {
        return self().template pass<Stat>(Request::Set, path, data.size(),
                                          [=, this] { return inner().set(path, data, version, deadline); });
    }
    Reply<Stat> exists(ZPath path, std::optional<Watch> watch, Deadline deadline) override
    {
        return self().template pass<Stat>(
            Request::Exists, path, 0, [=, this] { return inner().exists(path, self().observed(watch), deadline); });
    }
    Reply<Children> children(ZPath path, std::optional<Watch> watch, Deadline deadline) override
    {
        return self().template pass<Children>(Request::Children, path, 0, [=, this]() mutable {
            return inner().children(std::move(path), self().observed(std::move(watch)), deadline);
        });
    }
    Reply<std::vector<OpResult>> multi(std::vector<Op> ops, Deadline deadline) override
    {
        return self().template pass<std::vector<OpResult>>(Request::Multi, ops.empty() ? ZPath() : ops.front().path,
                                                           0, [=, this] { return inner().multi(ops, deadline); });
    }
    Reply<bool> sync(ZPath path, Deadline deadline) override
    {
        return self().template pass<bool>(Request::Sync, path, 0, [=, this] { return inner().sync(path, deadline); });
    }
    Reply<NodeAcls> acls(ZPath path, Deadline deadline) override
    {
        return self().template pass<NodeAcls>(Request::GetAcls, path, 0,
                                              [=, this] { return inner().acls(path, deadline); });
    }
    Reply<bool> setAcls(ZPath path, Acls acls, qint32 version, Deadline deadline) override
    {
        return self().template pass<bool>(Request::SetAcls, path, 0,
                                          [=, this] { return inner().setAcls(path, acls, version, deadline); });
    }
    Reply<bool> addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline) override
    {
        return self().template pass<bool>(Request::AddAuth, ZPath(), 0,
                                          [=, this] { return inner().addAuth(scheme, credentials, deadline); });
    }
    Reply<bool> removeWatches(ZPath path, WatchKind kind, Deadline deadline) override
    {
        return self().template pass<bool>(Request::RemoveWatches, path, 0,
                                          [=, this] { return inner().removeWatches(path, kind, deadline); });
    }

private:
    [[nodiscard]] Derived &self() { return static_cast<Derived &>(*this); }
};

} // namespace lockscope::zk
