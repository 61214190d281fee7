// SPDX-License-Identifier: Apache-2.0
// What the links of one Redis and of a Redlock set share.
#pragma once

#include "core/redis/client.h"
#include "core/workspace/linkbase.h"

namespace lockscope {

class RedisLinkBase : public LinkBase {
public:
    // A connection of one contender of ours, and the same behind the gate.
    struct OwnConnection {
        std::unique_ptr<redis::Connection> client, gated; // gated stands before client
    };

    // In the order of the URI. Gated.
    [[nodiscard]] virtual std::vector<redis::Connection *> nodes() = 0;
    // A fresh connection to each of them, for a contender of ours.
    [[nodiscard]] std::vector<OwnConnection> openConnections();

    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override;
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override;
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override;
    // Of a set there is no key but one on each of its nodes: those are not edited.
    [[nodiscard]] Task<Result<operate::EditState>> readForEdit(operate::EditRequest request,
                                                               Deadline deadline) override;
    [[nodiscard]] Task<Result<operate::EditSent>> sendEdit(operate::EditPlan plan, Deadline deadline) override;
    [[nodiscard]] bool isCleaningUp() override;
    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override;
    // Once its rights were asked.
    [[nodiscard]] QString serverVersion() override { return m_server; }

protected:
    using LinkBase::LinkBase;
    [[nodiscard]] redis::ConnectionOptions connectionOptions(const HostPort &host) const;
    // To the node there; of a deployment that is one, to all of it.
    [[nodiscard]] std::unique_ptr<redis::Connection> openTo(const HostPort &host) const;
    // The URI may not say so.
    [[nodiscard]] virtual bool isCluster() const { return m_spec.scheme == Scheme::RedisCluster; }
    [[nodiscard]] virtual bool isReplica() const { return false; }
    // For the log; empty of a Redis by itself.
    [[nodiscard]] virtual QString nameOf(const HostPort & /*host*/) const { return {}; }

private:
    QString m_server;
};

[[nodiscard]] std::unique_ptr<LinkBase> makeRedisSetLink(ConnectionSpec spec, LinkContext context);

} // namespace lockscope
