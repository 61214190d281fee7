// SPDX-License-Identifier: Apache-2.0
// Election queues of known systems: Solr, ZooKeeper's LeaderElectionSupport, old ClickHouse.
#include "core/inspect/zookeeper/layouts.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

std::optional<LayoutMatch> matchSolr(const Layout &layout, const ZnodeView &node)
{
    const bool isAnybodys = !node.isStatKnown && node.stat.ephemeralOwner.isNone();
    const auto owner = QByteArray::number(static_cast<qint64>(node.stat.ephemeralOwner.value));
    if (!isAnybodys && !node.name.bytes().startsWith(owner + '-'))
        return std::nullopt;
    auto sequence = recipes::readSequence(node.name, "-n_");
    return sequence ? std::optional(LayoutMatch{&layout, std::move(*sequence)}) : std::nullopt;
}

} // namespace

extern const Layout solrElection{
    .isEphemeralOnly = true,
    .matches = matchSolr,
    .description = {.recipe = "zk-election",
                    .client = u"Solr"_s,
                    .form = u"<session>-<node>-n_<seq>"_s,
                    .note = u"the session in the name is the owner"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .mayShareNumbers = true, // it joins at the head
};

extern const Layout electionSupport{
    .names = {{"n_"}},
    .isEphemeralOnly = true,
    .description = {.recipe = "zk-election",
                    .client = u"ZooKeeper's LeaderElectionSupport"_s,
                    .form = u"n_<seq>"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true},
};

extern const Layout clickHouseElection{
    .names = {{"leader_election-"}},
    .isEphemeralOnly = true,
    .description = {.recipe = "zk-election",
                    .client = u"ClickHouse before 21.12"_s,
                    .form = u"leader_election-<seq>"_s,
                    .confidence = Confidence::Medium},
};

} // namespace lockscope::inspect
