// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session that tells the trace what one contender sends and hears. In the simulated world and on
// real servers alike; several contenders may share what stands behind it. Outlived by both.
#pragma once

#include "core/contention/trace.h"
#include "core/zookeeper/forwardingsession.h"

namespace lockscope::contention {

class TracedSession : public zk::ForwardingSession {
public:
    TracedSession(zk::Session &inner, Trace &trace, int contender)
        : ForwardingSession(inner), m_context(std::make_shared<TraceContext>(TraceContext{&trace, contender}))
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

private:
    // Whom what is heard belongs to; what comes after this session has gone is not written down.
    struct TraceContext {
        Trace *trace;
        int contender;
    };
    // `verb` lives for ever.
    template <class T>
    Reply<T> heard(const QByteArray &verb, Reply<T> reply);
    [[nodiscard]] std::optional<zk::Watch> observed(const std::optional<zk::Watch> &watch);
    void sent(const QByteArray &verb, const ZPath &where, qint64 bytes = 0);

    std::shared_ptr<TraceContext> m_context;
};

} // namespace lockscope::contention
