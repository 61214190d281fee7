// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session that stands before another and decides what becomes of each request. Base of the
// counting and the faulty session.
#pragma once

#include "core/zookeeper/forwardingsession.h"
#include "tests/support/faultplan.h"
#include "tests/support/heldback.h"

namespace lockscope::testing {

enum class Request { Create, Remove, Get, Set, Exists, Children, Multi, Sync, Acls, SetAcls, AddAuth, RemoveWatches };

class SessionDecorator : public zk::ForwardingSession {
public:
    explicit SessionDecorator(zk::Session &inner, bool keepsOrder = false)
        : ForwardingSession(inner), m_self(std::make_shared<SessionDecorator *>(this)),
          m_held(std::make_shared<HeldBack>(keepsOrder))
    {
    }

    Reply<zk::Created> create(ZPath path, QByteArray data, zk::CreateMode mode, zk::Acls acls,
                              Deadline deadline) override;
    Reply<zk::Created> createWithTtl(ZPath path, QByteArray data, zk::CreateMode mode,
                                     std::chrono::milliseconds timeToLive, zk::Acls acls, Deadline deadline) override;
    Reply<bool> remove(ZPath path, qint32 version, Deadline deadline) override;
    Reply<zk::Node> get(ZPath path, std::optional<zk::Watch> watch, Deadline deadline) override;
    Reply<zk::Stat> set(ZPath path, QByteArray data, qint32 version, Deadline deadline) override;
    Reply<zk::Stat> exists(ZPath path, std::optional<zk::Watch> watch, Deadline deadline) override;
    Reply<zk::Children> children(ZPath path, std::optional<zk::Watch> watch, Deadline deadline) override;
    Reply<std::vector<zk::OpResult>> multi(std::vector<zk::Op> ops, Deadline deadline) override;
    Reply<bool> sync(ZPath path, Deadline deadline) override;
    Reply<zk::NodeAcls> acls(ZPath path, Deadline deadline) override;
    Reply<bool> setAcls(ZPath path, zk::Acls acls, qint32 version, Deadline deadline) override;
    Reply<bool> addAuth(QByteArray scheme, QByteArray credentials, Deadline deadline) override;
    Reply<bool> removeWatches(ZPath path, zk::WatchKind kind, Deadline deadline) override;

    // Sends and answers what was held back.
    void letThrough() { m_held->letThrough(); }
    [[nodiscard]] qsizetype held() const { return m_held->size(); }

protected:
    // Called for every request, before it is sent.
    virtual RequestFault fateOf(Request kind) = 0;
    virtual void answered() {}
    virtual void fired(const zk::WatchEvent &) {}

private:
    template <class T>
    Reply<T> pass(Request kind, std::function<Reply<T>()> send);
    [[nodiscard]] std::optional<zk::Watch> observed(const std::optional<zk::Watch> &watch);

    std::shared_ptr<SessionDecorator *> m_self;
    std::shared_ptr<HeldBack> m_held;
};

} // namespace lockscope::testing
