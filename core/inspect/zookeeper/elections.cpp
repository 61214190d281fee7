// SPDX-License-Identifier: Apache-2.0
// Election queues of known systems: Solr, ZooKeeper's LeaderElectionSupport, old ClickHouse.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

std::optional<Claim> claimElection(const ZnodeView &node, const ZPath &)
{
    const quint64 owner = node.stat.ephemeralOwner.value;
    if (owner == 0)
        return std::nullopt;
    const QByteArray &name = node.name.bytes();
    if (name.startsWith(QByteArray::number(static_cast<qint64>(owner)) + '-')) {
        if (const auto solr = recipes::readSequence(node.name, "-n_"))
            return Claim{Layout::SolrElection, *solr, Access::Exclusive, {}};
    }
    if (const auto support = sequenceAt(node.name, 0, "n_"))
        return Claim{Layout::ElectionSupport, *support, Access::Exclusive, {}};
    if (const auto old = sequenceAt(node.name, 0, "leader_election-"))
        return Claim{Layout::ClickHouseElection, *old, Access::Exclusive, {}};
    return std::nullopt;
}

Description describeElection(Layout layout)
{
    Description out;
    out.recipe = "zk-election";
    if (layout == Layout::SolrElection) {
        out.client = u"Solr"_s;
        out.form = u"<session>-<node>-n_<seq>"_s;
        out.note = u"the session in the name is the owner"_s;
        out.confidence = Confidence::High;
        out.watchesAreCertain = true;
    } else if (layout == Layout::ElectionSupport) {
        out.client = u"ZooKeeper's LeaderElectionSupport"_s;
        out.form = u"n_<seq>"_s;
        out.confidence = Confidence::Medium;
        out.watchesAreCertain = true;
    } else {
        out.client = u"ClickHouse before 21.12"_s;
        out.form = u"leader_election-<seq>"_s;
        out.confidence = Confidence::Medium;
    }
    return out;
}

} // namespace lockscope::inspect
