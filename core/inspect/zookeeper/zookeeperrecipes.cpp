// SPDX-License-Identifier: Apache-2.0
// The lock recipes that come with ZooKeeper: x-<session id>-<seq>, decimal in Java, hex in C.
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/names.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using recipes::Access;

std::optional<Claim> claimZooKeeperRecipe(const ZnodeView &node, const ZPath &)
{
    // The id in the name must be the owner's: anybody may call a node x-1-0000000001.
    const quint64 owner = node.stat.ephemeralOwner.value;
    if (owner == 0 || !node.name.bytes().startsWith("x-"))
        return std::nullopt;
    const QByteArray decimal = "x-" + QByteArray::number(static_cast<qint64>(owner)) + '-';
    if (const auto java = sequenceAt(node.name, 0, decimal))
        return Claim{Layout::JavaRecipe, *java, Access::Exclusive, {}};
    const QByteArray hex = "x-" + QByteArray::number(owner, 16).rightJustified(16, '0') + '-';
    if (const auto c = sequenceAt(node.name, 0, hex))
        return Claim{Layout::CRecipe, *c, Access::Exclusive, {}};
    return std::nullopt;
}

Description describeZooKeeperRecipe(Layout layout)
{
    Description out;
    out.recipe = "zookeeper-recipe-lock";
    out.confidence = Confidence::High;
    out.watchesAreCertain = true;
    const bool java = layout == Layout::JavaRecipe;
    out.client = java ? u"ZooKeeper's Java recipe"_s : u"ZooKeeper's C recipe"_s;
    out.form = java ? u"x-<session, decimal>-<seq>"_s : u"x-<session, hex>-<seq>"_s;
    out.note = u"the session in the name is the owner"_s;
    return out;
}

} // namespace lockscope::inspect
